//! Texts that tools keep beside a thread, in versions. Knows nothing of what they are.
//!
//! Kept in the tab's session storage, as the journal is; where that is full or switched off, in memory, until the page
//! is left.

use std::cell::RefCell;

use serde_json::Value;
use web_sys::Storage;

use crate::browser::storage::storage;
use crate::protocol::{Names, ThreadId, object};

/// The artifacts of one thread.
#[derive(Debug)]
pub struct Artifacts {
    storage: Option<Storage>,
    prefix: String,
    index: RefCell<Names<Artifact>>,
    in_memory: RefCell<Names<String>>,
}

/// What is known of an artifact without reading it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Artifact {
    /// What it is, as a media type: `text/plain`, `application/json`, …
    pub media_type: String,
    /// How many versions there are, counted from 1.
    pub versions: u32,
    /// Characters of the latest.
    pub characters: usize,
}

impl Artifacts {
    /// Those of this thread.
    #[must_use]
    pub fn open(thread: &ThreadId) -> Self {
        let storage = storage();
        let prefix = format!("pagehand.artifacts:{thread}");
        let told = storage.as_ref().and_then(|storage| storage.get_item(&prefix).ok().flatten());
        let told: Value = told.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
        let mut index = Names::default();
        for (name, one) in told.as_object().into_iter().flatten() {
            let number = |field: &str| one.get(field).and_then(Value::as_u64).unwrap_or_default();
            let artifact = Artifact {
                media_type: one.get("mediaType").and_then(Value::as_str).unwrap_or("text/plain").to_owned(),
                versions: number("versions") as u32,
                characters: number("characters") as usize,
            };
            index.insert(name.clone(), artifact);
        }
        Self { storage, prefix, index: RefCell::new(index), in_memory: RefCell::default() }
    }

    /// Keeps a text as the next version of a name; the version comes back.
    pub fn save(&self, name: &str, text: String, media_type: &str) -> u32 {
        let version = self.index.borrow().get(name).map_or(0, |artifact| artifact.versions) + 1;
        let characters = text.chars().count();
        let artifact = Artifact { media_type: media_type.to_owned(), versions: version, characters };
        self.index.borrow_mut().insert(name.to_owned(), artifact);
        let key = self.key(name, version);
        if !self.write(&key, &text) {
            self.in_memory.borrow_mut().insert(key, text);
        }
        self.write(&self.prefix, &self.list().to_string());
        version
    }

    /// A version's text, the latest where none is asked for.
    #[must_use]
    pub fn load(&self, name: &str, version: Option<u32>) -> Option<(u32, String)> {
        let latest = self.index.borrow().get(name)?.versions;
        let version = version.unwrap_or(latest);
        let key = self.key(name, version);
        if let Some(text) = self.in_memory.borrow().get(&key) {
            return Some((version, text.clone()));
        }
        self.storage.as_ref()?.get_item(&key).ok().flatten().map(|text| (version, text))
    }

    /// How many versions a name has.
    #[must_use]
    pub fn versions(&self, name: &str) -> u32 {
        self.index.borrow().get(name).map_or(0, |artifact| artifact.versions)
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.index.borrow().is_empty()
    }

    /// All of them: name → `{mediaType, versions, characters}`.
    #[must_use]
    pub fn list(&self) -> Value {
        let index = self.index.borrow();
        let mut list = Vec::new();
        for (name, artifact) in index.iter() {
            list.push((
                name,
                object(vec![
                    ("mediaType", artifact.media_type.as_str().into()),
                    ("versions", artifact.versions.into()),
                    ("characters", artifact.characters.into()),
                ]),
            ));
        }
        object(list)
    }

    /// Forgets all of them, for good.
    pub fn retire(&self) {
        if let Some(storage) = &self.storage {
            for (name, artifact) in self.index.borrow().iter() {
                for version in 1..=artifact.versions {
                    let _ = storage.remove_item(&self.key(name, version));
                }
            }
            let _ = storage.remove_item(&self.prefix);
        }
        self.index.borrow_mut().clear();
        self.in_memory.borrow_mut().clear();
    }

    fn key(&self, name: &str, version: u32) -> String {
        format!("{}:{version}:{name}", self.prefix)
    }

    fn write(&self, key: &str, text: &str) -> bool {
        self.storage.as_ref().is_some_and(|storage| storage.set_item(key, text).is_ok())
    }
}
