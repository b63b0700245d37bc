//! Texts that tools keep beside a thread, in versions. Knows nothing of what they are.
//!
//! Kept in the database, beside the journal; where that can not be used, in memory, until the page is left.

use std::cell::RefCell;
use std::rc::Rc;

use futures::future::LocalBoxFuture;
use serde_json::Value;

use crate::browser::Journal;
use crate::browser::journal::artifacts_to_json;
use crate::protocol::Names;

/// The artifacts of one thread.
pub struct Artifacts {
    journal: Rc<Journal>,
    // Those that are on their way to the database, or could not be kept there.
    in_memory: Rc<RefCell<Names<String>>>,
}

/// What is known of an artifact without reading it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Artifact {
    /// What it is, as a media type: `text/plain`, `application/json`, …
    pub media_type: String,
    /// How many versions there are, counted from 1.
    pub versions: u32,
    /// Characters of the latest.
    pub characters: usize,
}

impl Artifacts {
    /// Those of a thread.
    #[must_use]
    pub fn of(journal: &Rc<Journal>) -> Self {
        Self { journal: Rc::clone(journal), in_memory: Rc::default() }
    }

    /// Keeps a text as the next version of a name. The version, and what resolves when it is kept.
    pub fn save(&self, name: &str, text: String, media_type: &str) -> (u32, LocalBoxFuture<'static, ()>) {
        let row = self.journal.row();
        let version = row.borrow().artifacts.get(name).map_or(0, |artifact| artifact.versions) + 1;
        let artifact =
            Artifact { media_type: media_type.to_owned(), versions: version, characters: text.chars().count() };
        row.borrow_mut().artifacts.insert(name.to_owned(), artifact);
        let key = key(name, version);
        self.in_memory.borrow_mut().insert(key.clone(), text.clone());
        let (journal, in_memory, name) = (Rc::clone(&self.journal), Rc::clone(&self.in_memory), name.to_owned());
        let keeping = async move {
            if journal.save_artifact(name, version, text).await {
                in_memory.borrow_mut().remove(&key);
            }
        };
        (version, Box::pin(keeping))
    }

    /// A version's text, the latest where none is asked for.
    pub async fn load(&self, name: &str, version: Option<u32>) -> Option<(u32, String)> {
        let latest = self.versions(name);
        let version = version.unwrap_or(latest);
        if latest == 0 || version > latest {
            return None;
        }
        let held = self.in_memory.borrow().get(&key(name, version)).cloned();
        match held {
            Some(text) => Some((version, text)),
            None => self.journal.artifact(name, version).await.map(|text| (version, text)),
        }
    }

    /// How many versions a name has.
    #[must_use]
    pub fn versions(&self, name: &str) -> u32 {
        self.journal.row().borrow().artifacts.get(name).map_or(0, |artifact| artifact.versions)
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.journal.row().borrow().artifacts.is_empty()
    }

    /// All of them: name → `{mediaType, versions, characters}`.
    #[must_use]
    pub fn list(&self) -> Value {
        artifacts_to_json(&self.journal.row().borrow().artifacts)
    }
}

fn key(name: &str, version: u32) -> String {
    format!("{version}:{name}")
}
