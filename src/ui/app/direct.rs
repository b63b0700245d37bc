//! A model that the page asks by itself, and the user's key for it. Knows nothing of how it is asked.
//!
//! A key that is kept stands in the browser's local storage, by whose it is and where it is sent.

use web_sys::Storage;

use crate::browser::Direct;
use crate::ui::App;

// What every kept key begins with.
const KEYS: &str = "pagehand.key:";

impl App {
    /// Has the page itself ask this model. Without a key, one that was kept is used; where there is none and the model
    /// wants one, the panel asks the user.
    pub fn ask_directly(&self, direct: Direct, key: Option<String>, keep: bool) {
        let info = direct.info();
        self.ask_elsewhere(direct.answers(), info);
        *self.inner.direct.borrow_mut() = Some(direct);
        if key.is_some() { self.give_key(key, keep) } else { self.change_key() }
    }

    /// Takes the user's key, in the place of one that was kept; keeps it in this browser where they want that.
    pub fn give_key(&self, key: Option<String>, keep: bool) {
        if let Some(name) = self.key_name() {
            store(&name, key.as_deref().filter(|_| keep));
        }
        self.set_key(key);
    }

    /// Another user is there: their own key is used, where one was kept.
    pub(super) fn change_key(&self) {
        let kept = self.key_name().and_then(|name| storage()?.get_item(&name).ok().flatten());
        self.set_key(kept);
    }

    /// Forgets every key, in memory and in storage.
    pub fn forget_key(&self) {
        if let Some(storage) = storage() {
            let count = storage.length().unwrap_or_default();
            let names = (0..count).filter_map(|at| storage.key(at).ok().flatten());
            let keys: Vec<String> = names.filter(|name| name.starts_with(KEYS)).collect();
            keys.iter().for_each(|name| drop(storage.remove_item(name)));
        }
        self.set_key(None);
    }

    fn set_key(&self, key: Option<String>) {
        let direct = self.inner.direct.borrow();
        let Some(direct) = &*direct else { return };
        direct.set_key(key);
        self.store.wants_key.set(direct.wants_key().then(|| direct.vendor().label.to_owned()));
    }

    fn key_name(&self) -> Option<String> {
        let user = self.services().user_id();
        let place = self.inner.direct.borrow().as_ref().map(Direct::origin)?;
        Some(format!("{KEYS}{user}@{place}"))
    }
}

fn storage() -> Option<Storage> {
    web_sys::window()?.local_storage().ok().flatten()
}

fn store(name: &str, key: Option<&str>) {
    if let Some(storage) = storage() {
        let _ = match key {
            Some(key) => storage.set_item(name, key),
            None => storage.remove_item(name),
        };
    }
}
