//! What a tab remembers: which thread an element has open, what its last page left unsaid. Knows nothing of what that is.
//!
//! In session storage: it belongs to one tab, outlives a reload, and a tab that is duplicated begins with a copy of it.

use web_sys::Storage;

use crate::protocol::ThreadId;

/// The thread this tab had open under a name (the element's), if any.
#[must_use]
pub fn current_thread(name: &str) -> Option<ThreadId> {
    storage()?.get_item(&key(name)).ok().flatten().map(ThreadId)
}

/// Remembers the thread this tab has open under a name.
pub fn set_current_thread(name: &str, thread: &ThreadId) {
    if let Some(storage) = storage() {
        let _ = storage.set_item(&key(name), thread.as_str());
    }
}

/// The model the user of this tab chose under a name (the element's); empty for none.
#[must_use]
pub fn chosen_model(name: &str) -> String {
    storage().and_then(|storage| storage.get_item(&model(name)).ok().flatten()).unwrap_or_default()
}

/// Remembers the model the user of this tab chose.
pub fn set_chosen_model(name: &str, chosen: &str) {
    if let Some(storage) = storage() {
        let _ = storage.set_item(&model(name), chosen);
    }
}

/// Whether a page of this tab was running the thread when it was last heard of.
#[must_use]
pub fn had_thread(thread: &ThreadId) -> bool {
    storage().is_some_and(|storage| storage.get_item(&owned(thread)).ok().flatten().is_some())
}

/// Remembers whether a page of this tab runs the thread.
pub fn set_had_thread(thread: &ThreadId, had: bool) {
    if let Some(storage) = storage() {
        let _ = if had { storage.set_item(&owned(thread), "1") } else { storage.remove_item(&owned(thread)) };
    }
}

/// What the last page of this tab that had the thread could not write into its journal.
#[must_use]
pub fn left_behind(thread: &ThreadId) -> Option<String> {
    storage()?.get_item(&left(thread)).ok()?
}

/// Keeps what a page could not write before it was left, in place of what an earlier one could not; `None` for nothing.
pub fn set_left_behind(thread: &ThreadId, lines: Option<&str>) {
    if let Some(storage) = storage() {
        let key = left(thread);
        let _ = lines.map_or_else(|| storage.remove_item(&key), |lines| storage.set_item(&key, lines));
    }
}

/// What was written in a thread of this tab and not sent; empty for nothing.
#[must_use]
pub fn draft(thread: &ThreadId) -> String {
    storage().and_then(|storage| storage.get_item(&drafted(thread)).ok().flatten()).unwrap_or_default()
}

/// Remembers what is written in a thread and not sent; forgets it where there is nothing.
pub fn set_draft(thread: &ThreadId, text: &str) {
    if let Some(storage) = storage() {
        let key = drafted(thread);
        let _ = if text.is_empty() { storage.remove_item(&key) } else { storage.set_item(&key, text) };
    }
}

fn drafted(thread: &ThreadId) -> String {
    format!("pagehand.draft:{thread}")
}

fn left(thread: &ThreadId) -> String {
    format!("pagehand.left:{thread}")
}

fn owned(thread: &ThreadId) -> String {
    format!("pagehand.owned:{thread}")
}

fn model(name: &str) -> String {
    format!("pagehand.model:{name}")
}

fn key(name: &str) -> String {
    format!("pagehand.thread:{name}")
}

// Reading the property itself throws where storage is switched off.
fn storage() -> Option<Storage> {
    web_sys::window()?.session_storage().ok().flatten()
}
