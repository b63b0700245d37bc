//! Sees that the configuration changed: by its files' sizes and times, or because somebody says so.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};
use std::time::{Duration, SystemTime};

use tokio::sync::Notify;

use crate::gateway::catalog::{Catalog, file};

/// Loads the catalog again whenever its files change or `asked` is notified. Ends with the catalog. `seen` is how the
/// files were before they were read first.
pub(in crate::gateway) async fn watch(
    catalog: Weak<Catalog>,
    path: PathBuf,
    mut seen: Seen,
    every: Duration,
    asked: Arc<Notify>,
) {
    loop {
        let told = tokio::select! {
            () = tokio::time::sleep(every) => false,
            () = asked.notified() => true,
        };
        let Some(catalog) = catalog.upgrade() else { return };
        let of = path.clone();
        let now = tokio::task::spawn_blocking(move || look(&of)).await.unwrap_or_default();
        if told || now != seen {
            seen = now;
            // Reading files and compiling schemas is no work for an async thread.
            let _ = tokio::task::spawn_blocking(move || catalog.reload()).await;
        }
    }
}

/// Files with their sizes and times.
pub(in crate::gateway) type Seen = Vec<(PathBuf, u64, Option<SystemTime>)>;

/// How the files that count are now.
pub(in crate::gateway) fn look(path: &Path) -> Seen {
    let seen = |file: PathBuf| {
        let known = std::fs::metadata(&file).ok();
        (file, known.as_ref().map_or(0, std::fs::Metadata::len), known.and_then(|known| known.modified().ok()))
    };
    file::watched(path).into_iter().map(seen).collect()
}
