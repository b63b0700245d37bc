//! Floor 6, in the page: what JavaScript can call. `JsValue` to our types and back, here and nowhere else.
//!
//! The contract is `www/types.d.ts`; the element that calls this is `www/page-hand.js`.

mod definition;
mod events;
mod tool;

use std::rc::Rc;

use js_sys::Function;
use leptos::mount::{UnmountHandle, mount_to};
use leptos::prelude::*;
use serde_json::Value;
use wasm_bindgen::prelude::*;
use web_sys::HtmlElement;

use crate::browser::Watcher;
use crate::ui::{App, Live, Options, Panel, STYLE};

/// A panel at work in an element.
#[wasm_bindgen]
pub struct Instance {
    app: App,
    label: Live<String>,
    owner: Owner,
    view: Option<Box<dyn FnOnce()>>,
}

/// The panel's style sheet, for an adopted sheet of the element's shadow root.
#[wasm_bindgen]
#[must_use]
pub fn style() -> String {
    STYLE.to_owned()
}

#[wasm_bindgen]
impl Instance {
    /// Mounts a panel. `close` is called by its close button; without it there is none.
    ///
    /// # Errors
    /// Options of another shape.
    #[wasm_bindgen(constructor)]
    pub fn new(
        element: &HtmlElement,
        mount: HtmlElement,
        options: JsValue,
        close: Option<Function>,
    ) -> Result<Self, JsValue> {
        let options: Value =
            serde_wasm_bindgen::from_value(options).map_err(|why| error("invalid_options", &why.to_string()))?;
        let text = |name: &str| options.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        let owner = Owner::new();
        let (app, label, view) = owner.with(|| {
            let watcher: Watcher = events::dispatcher(element.clone());
            let label = Live::new(text("label"));
            let setup = Options { gateway: text("gateway"), instructions: text("instructions"), name: text("name") };
            // The executor that drives the session is the one `mount_to` installs.
            let _ = any_spawner_ready();
            let app = App::open(element, setup, watcher);
            let (shown, named) = (app.clone(), label.clone());
            let close = close.map(|close| -> Rc<dyn Fn()> { Rc::new(move || drop(close.call0(&JsValue::UNDEFINED))) });
            let view = mount_to(mount, move || Panel(&shown, named, close));
            (app, label, view)
        });
        Ok(Self { app, label, owner, view: Some(unmounting(view)) })
    }

    /// Sends a message, as the user would.
    pub fn send(&self, text: &str) {
        self.app.send(text);
    }

    /// Stops what is at work.
    pub fn stop(&self) {
        self.app.stop();
    }

    /// Begins an empty thread.
    #[wasm_bindgen(js_name = newThread)]
    pub fn new_thread(&self) {
        self.app.new_thread();
    }

    /// Adds a tool that runs in the page.
    ///
    /// # Errors
    /// An `Error` with the code `invalid_tool` and every fault of the definition.
    #[wasm_bindgen(js_name = registerTool)]
    pub fn register_tool(&self, definition: JsValue, run: JsValue) -> Result<(), JsValue> {
        let (definition, faults) = definition::read(definition, &run);
        let name = definition.name.clone();
        let problems = if faults.is_empty() {
            let run = tool::executor(&name, run);
            self.app.register(definition, run).err().unwrap_or_default()
        } else {
            self.app.check(definition)
        };
        let faults = faults.iter().map(|fault| format!("tool \"{name}\": {fault}"));
        let all: Vec<String> = faults.chain(problems.iter().map(ToString::to_string)).collect();
        if all.is_empty() { Ok(()) } else { Err(error("invalid_tool", &all.join("\n"))) }
    }

    /// Takes a tool of the page out; `false` where there is none of that name.
    #[wasm_bindgen(js_name = unregisterTool)]
    #[must_use]
    pub fn unregister_tool(&self, name: &str) -> bool {
        self.app.unregister(name)
    }

    /// The names of all tools there are now, with their scopes.
    #[must_use]
    pub fn tools(&self) -> JsValue {
        to_js(&self.app.registry().definitions().map(|tool| tool.to_json()).collect())
    }

    /// The id of the thread at work.
    #[wasm_bindgen(getter)]
    #[must_use]
    pub fn thread(&self) -> String {
        self.app.thread().0
    }

    /// What the panel is called.
    #[wasm_bindgen(js_name = setLabel)]
    pub fn set_label(&self, label: String) {
        self.label.set(label);
    }

    /// Takes the panel down and lets go of everything: run, connections, listeners, signals.
    pub fn unmount(&mut self) {
        if let Some(unmount) = self.view.take() {
            unmount();
            self.app.close();
            self.owner.cleanup();
        }
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        self.unmount();
    }
}

fn unmounting<M: leptos::tachys::view::Mountable + 'static>(view: UnmountHandle<M>) -> Box<dyn FnOnce()> {
    Box::new(move || drop(view))
}

fn any_spawner_ready() -> bool {
    any_spawner::Executor::init_wasm_bindgen().is_ok()
}

/// A real `Error` with a `code`.
fn error(code: &str, message: &str) -> JsValue {
    let error = js_sys::Error::new(message);
    let _ = js_sys::Reflect::set(&error, &JsValue::from_str("code"), &JsValue::from_str(code));
    error.into()
}

/// JSON as JavaScript has it. By its text, so that a key such as `__proto__` is a plain property of its object.
fn to_js(value: &serde_json::Value) -> JsValue {
    js_sys::JSON::parse(&value.to_string()).unwrap_or(JsValue::NULL)
}
