//! When a page that was left comes back as it was (the back/forward cache). Knows nothing of what is to be done then.

use wasm_bindgen::JsCast;
use wasm_bindgen::closure::Closure;
use web_sys::{Event, Window};

/// Hears of the page's return as long as it is held.
pub struct Returns {
    window: Window,
    hear: Closure<dyn Fn(Event)>,
}

impl Returns {
    /// Calls this whenever the page comes back out of the cache.
    pub fn listen(returned: impl Fn() + 'static) -> Option<Self> {
        let window = web_sys::window()?;
        let hear = Closure::<dyn Fn(Event)>::new(move |event: Event| {
            let persisted = js_sys::Reflect::get(&event, &"persisted".into()).is_ok_and(|flag| flag.is_truthy());
            if persisted {
                returned();
            }
        });
        window.add_event_listener_with_callback("pageshow", hear.as_ref().unchecked_ref()).ok()?;
        Some(Self { window, hear })
    }
}

impl Drop for Returns {
    fn drop(&mut self) {
        let _ = self.window.remove_event_listener_with_callback("pageshow", self.hear.as_ref().unchecked_ref());
    }
}
