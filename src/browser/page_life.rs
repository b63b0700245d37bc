//! When a page is left, and when one that was left comes back as it was (the back/forward cache). Knows nothing of what
//! is to be done then.

use wasm_bindgen::JsCast;
use wasm_bindgen::closure::Closure;
use web_sys::{Event, Window};

/// Hears of the page's life as long as it is held.
pub struct PageLife {
    window: Window,
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

impl PageLife {
    /// Calls this whenever the page is left or comes back.
    pub fn listen(happened: impl Fn(Life) + 'static) -> Option<Self> {
        let window = web_sys::window()?;
        let hear = Closure::<dyn Fn(Event)>::new(move |event: Event| {
            let persisted = js_sys::Reflect::get(&event, &"persisted".into()).is_ok_and(|flag| flag.is_truthy());
            match event.type_().as_str() {
                "pagehide" => happened(Life::Left),
                _ if persisted => happened(Life::Returned),
                _ => {}
            }
        });
        let life = Self { window, hear };
        for name in ["pagehide", "pageshow"] {
            life.window.add_event_listener_with_callback(name, life.hear.as_ref().unchecked_ref()).ok()?;
        }
        Some(life)
    }
}

impl Drop for PageLife {
    fn drop(&mut self) {
        for name in ["pagehide", "pageshow"] {
            let _ = self.window.remove_event_listener_with_callback(name, self.hear.as_ref().unchecked_ref());
        }
    }
}
