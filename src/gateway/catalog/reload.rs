//! Sees that the configuration changed: by its files' sizes and times, or because somebody says so.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};
use std::time::{Duration, SystemTime};

use tokio::sync::Notify;

use crate::gateway::catalog::{Catalog, file};

/// Loads the catalog again whenever its files change or `asked` is notified. Ends with the catalog.
pub(in crate::gateway) async fn watch(catalog: Weak<Catalog>, path: PathBuf, every: Duration, asked: Arc<Notify>) {
    let mut seen = look(&path).await;
    loop {
        let told = tokio::select! {
            () = tokio::time::sleep(every) => false,
            () = asked.notified() => true,
        };
        let Some(catalog) = catalog.upgrade() else { return };
        let now = look(&path).await;
        if told || now != seen {
            seen = now;
            // Reading files and compiling schemas is no work for an async thread.
            let _ = tokio::task::spawn_blocking(move || catalog.reload()).await;
        }
    }
}

type Seen = Vec<(PathBuf, u64, Option<SystemTime>)>;

async fn look(path: &Path) -> Seen {
    let path = path.to_owned();
    let looking = tokio::task::spawn_blocking(move || {
        let seen = |file: PathBuf| {
            let known = std::fs::metadata(&file).ok();
            (file, known.as_ref().map_or(0, std::fs::Metadata::len), known.and_then(|known| known.modified().ok()))
        };
        file::watched(&path).into_iter().map(seen).collect()
    });
    looking.await.unwrap_or_default()
}
