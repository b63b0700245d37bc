//! The journal, in the tab's session storage. Knows nothing of what its lines mean.
//!
//! Session storage is written at once and belongs to one tab, so a line is safe before the effect it allows, and no
//! other tab can run the same thread. Each line is a key of its own: appending costs what the line costs.

use std::cell::Cell;

use web_sys::Storage;

use crate::protocol::{Entry, ThreadId};

/// The journal of one thread in one tab.
#[derive(Debug)]
pub struct Journal {
    storage: Option<Storage>,
    prefix: String,
    next: Cell<u32>,
    failed: Cell<bool>,
    retired: Cell<bool>,
}

/// What a journal held.
#[derive(Debug, Default)]
pub struct Opened {
    /// Its lines, up to the first that can not be read.
    pub entries: Vec<Entry>,
    /// Whether a line could not be read.
    pub damaged: bool,
}

impl Journal {
    /// The tab's journal of this thread.
    #[must_use]
    pub fn open(thread: &ThreadId) -> (Self, Opened) {
        let storage = storage();
        let prefix = format!("pagehand:{thread}:");
        let mut opened = Opened::default();
        let mut next = 0;
        if let Some(storage) = &storage {
            while let Ok(Some(line)) = storage.get_item(&format!("{prefix}{next}")) {
                match serde_json::from_str(&line).ok().as_ref().and_then(Entry::from_json) {
                    Some(entry) => opened.entries.push(entry),
                    None => {
                        opened.damaged = true;
                        // What stands behind it would follow whatever is written in its place.
                        forget(storage, &prefix, next);
                        break;
                    }
                }
                next += 1;
            }
        }
        let failed = Cell::new(storage.is_none());
        (Self { storage, prefix, next: Cell::new(next), failed, retired: Cell::new(false) }, opened)
    }

    /// Adds a line; `false` from the first one that could not be written (storage full, or switched off).
    pub fn append(&self, entry: &Entry) -> bool {
        if self.retired.get() {
            return true;
        }
        if self.failed.get() {
            return false;
        }
        let at = self.next.get();
        let line = entry.to_json().to_string();
        let written = self
            .storage
            .as_ref()
            .is_some_and(|storage| storage.set_item(&format!("{}{at}", self.prefix), &line).is_ok());
        self.next.set(at + 1);
        // A journal with a hole in it would fold to a wrong thread: it ends where the first line is missing.
        self.failed.set(!written);
        written
    }

    /// Whether lines are still written.
    #[must_use]
    pub fn is_kept(&self) -> bool {
        !self.failed.get()
    }

    /// Forgets the thread, for good: what is still said of it is not written down any more.
    pub fn retire(&self) {
        self.retired.set(true);
        if let Some(storage) = &self.storage {
            forget(storage, &self.prefix, 0);
        }
    }

    /// The thread this tab had open under a name (the element's), if any.
    #[must_use]
    pub fn current(name: &str) -> Option<ThreadId> {
        storage()?.get_item(&format!("pagehand.thread:{name}")).ok().flatten().map(ThreadId)
    }

    /// Remembers the thread this tab has open under a name.
    pub fn set_current(name: &str, thread: &ThreadId) {
        if let Some(storage) = storage() {
            let _ = storage.set_item(&format!("pagehand.thread:{name}"), thread.as_str());
        }
    }
}

fn forget(storage: &Storage, prefix: &str, from: u32) {
    let mut at = from;
    while let Ok(Some(_)) = storage.get_item(&format!("{prefix}{at}")) {
        let _ = storage.remove_item(&format!("{prefix}{at}"));
        at += 1;
    }
}

// Reading the property itself throws where storage is switched off.
pub(super) fn storage() -> Option<Storage> {
    web_sys::window()?.session_storage().ok().flatten()
}
