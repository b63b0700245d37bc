//! Whether the browser says that there is a network. Knows nothing of what waits for it.
//!
//! A hint: it says no in a machine that talks to itself, and yes behind a café's sign-in page.

use wasm_bindgen::JsCast;
use wasm_bindgen::closure::Closure;
use web_sys::{Event, Window};

const NAMES: [&str; 2] = ["online", "offline"];

/// Hears of the network going and coming as long as it is held.
pub struct Network {
    window: Window,
    hear: Closure<dyn Fn(Event)>,
}

impl Network {
    /// Calls this whenever it goes (`false`) or comes.
    pub fn listen(changed: impl Fn(bool) + 'static) -> Option<Self> {
        let window = web_sys::window()?;
        let hear = Closure::<dyn Fn(Event)>::new(move |event: Event| changed(event.type_() == "online"));
        let heard = Self { window, hear };
        for name in NAMES {
            heard.window.add_event_listener_with_callback(name, heard.hear.as_ref().unchecked_ref()).ok()?;
        }
        Some(heard)
    }

    /// What the browser says now.
    #[must_use]
    pub fn is_there() -> bool {
        web_sys::window().is_none_or(|window| window.navigator().on_line())
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        for name in NAMES {
            let _ = self.window.remove_event_listener_with_callback(name, self.hear.as_ref().unchecked_ref());
        }
    }
}
