//! What tools remember beyond a thread (`app:…`, `user:…`), in the origin's local storage. Knows nothing of tools.

use serde_json::Value;
use web_sys::Storage;

use crate::protocol::{Delta, Lifetime, State};

const APP: &str = "pagehand.state.app";

/// What is remembered for everyone, and for this user (by an id of the host's; empty for nobody known). `None` where the
/// browser keeps nothing.
#[must_use]
pub fn load(user: &str) -> Option<State> {
    let storage = storage()?;
    let mut state = State::default();
    for (key, lifetime) in places(user) {
        state.apply(read(&storage, &key).values(), |one| one == lifetime);
    }
    Some(state)
}

/// Writes changes down. They are read anew first: another tab may have written meanwhile.
pub(super) fn save(user: &str, changes: &Delta) {
    let Some(storage) = storage() else { return };
    for (key, lifetime) in places(user) {
        if changes.iter().any(|(name, _)| Lifetime::of(name) == lifetime) {
            let mut kept = read(&storage, &key);
            kept.apply(changes, |one| one == lifetime);
            let _ = storage.set_item(&key, &kept.to_json(|_| true).to_string());
        }
    }
}

fn places(user: &str) -> [(String, Lifetime); 2] {
    [(APP.to_owned(), Lifetime::App), (format!("pagehand.state.user:{user}"), Lifetime::User)]
}

fn read(storage: &Storage, key: &str) -> State {
    let text = storage.get_item(key).ok().flatten();
    let json: Value = text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
    State::from_json(&json)
}

fn storage() -> Option<Storage> {
    web_sys::window()?.local_storage().ok().flatten()
}
