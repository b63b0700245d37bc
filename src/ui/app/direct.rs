//! A model that the page asks by itself, and the user's key for it. Knows nothing of how it is asked.

use crate::browser::Direct;
use crate::ui::App;

impl App {
    /// Has the page itself ask this model. Without a key, one that was remembered is used; where there is none and the
    /// model wants one, the panel asks the user.
    pub fn ask_directly(&self, direct: Direct, key: Option<String>, remember: bool) {
        let remembered = if key.is_some() { None } else { stored(&direct.key_name()) };
        let info = direct.info();
        self.ask_elsewhere(direct.answers(), info);
        *self.inner.direct.borrow_mut() = Some(direct);
        self.give_key(key.or(remembered), remember);
    }

    /// Takes the user's key; keeps it in this browser where they want that.
    pub fn give_key(&self, key: Option<String>, remember: bool) {
        let direct = self.inner.direct.borrow();
        let Some(direct) = &*direct else { return };
        if let Some(key) = key.as_deref().filter(|_| remember) {
            store(&direct.key_name(), Some(key));
        }
        direct.set_key(key);
        self.store.wants_key.set(direct.wants_key().then(|| direct.vendor().label.to_owned()));
    }

    /// Forgets it, in memory and in storage.
    pub fn forget_key(&self) {
        if let Some(direct) = &*self.inner.direct.borrow() {
            store(&direct.key_name(), None);
        }
        self.give_key(None, false);
    }
}

fn storage() -> Option<web_sys::Storage> {
    web_sys::window()?.local_storage().ok().flatten()
}

fn stored(name: &str) -> Option<String> {
    storage()?.get_item(name).ok().flatten()
}

fn store(name: &str, key: Option<&str>) {
    if let Some(storage) = storage() {
        let _ = match key {
            Some(key) => storage.set_item(name, key),
            None => storage.remove_item(name),
        };
    }
}
