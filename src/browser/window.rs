//! What the window tells a page: that it is left or comes back as it was (the back/forward cache), that the network goes or
//! comes. Knows nothing of what is to be done then.

use js_sys::Reflect;
use wasm_bindgen::JsCast;
use wasm_bindgen::closure::Closure;
use web_sys::{Event, Window};

use crate::browser::interface::property;

/// Hears of something as long as it is held.
pub struct Listener {
    window: Window,
    names: [&'static str; 2],
    hear: Closure<dyn Fn(Event)>,
}

/// What happened to the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Life {
    /// It is being left, and may come back: it must hold nothing that stands in the way.
    Left,
    /// It came back out of the cache.
    Returned,
}

impl Listener {
    /// Calls this whenever the page is left or comes back.
    pub fn of_page(happened: impl Fn(Life) + 'static) -> Option<Self> {
        Self::of(["pagehide", "pageshow"], move |event: Event| {
            let persisted = Reflect::get(&event, &"persisted".into()).is_ok_and(|flag| flag.is_truthy());
            match event.type_().as_str() {
                "pagehide" => happened(Life::Left),
                _ if persisted => happened(Life::Returned),
                _ => {}
            }
        })
    }

    /// Calls this whenever the network goes (`false`) or comes.
    pub fn of_network(changed: impl Fn(bool) + 'static) -> Option<Self> {
        Self::of(["online", "offline"], move |event: Event| changed(event.type_() == "online"))
    }

    fn of(names: [&'static str; 2], heard: impl Fn(Event) + 'static) -> Option<Self> {
        let listener = Self { window: web_sys::window()?, names, hear: Closure::new(heard) };
        let hear = listener.hear.as_ref().unchecked_ref();
        for name in names {
            listener.window.add_event_listener_with_callback(name, hear).ok()?;
        }
        Some(listener)
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        for name in self.names {
            let _ = self.window.remove_event_listener_with_callback(name, self.hear.as_ref().unchecked_ref());
        }
    }
}

/// Whether the browser says that there is a network. A hint: it says no in a machine that talks to itself, and yes behind a
/// café's sign-in page.
#[must_use]
pub fn is_online() -> bool {
    web_sys::window().is_none_or(|window| property(&window.navigator(), "onLine") != false)
}
