//! Interfaces of the browser that may be absent or refuse, asked by name.
//!
//! A generated binding lets what such an interface throws pass through the module's own frames, and a module that was left
//! that way is dead. Asked from here, an interface that is absent, throws at once or rejects later is an `Err`.

use js_sys::{Array, Function, Promise, Reflect};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;

/// A property, `undefined` where there is none or it throws.
pub(super) fn property(of: &JsValue, name: &str) -> JsValue {
    Reflect::get(of, &name.into()).unwrap_or_default()
}

/// Calls a method.
///
/// # Errors
/// What it threw, or a `TypeError` where there is no such method.
pub(super) fn call(of: &JsValue, name: &str, arguments: &[&JsValue]) -> Result<JsValue, JsValue> {
    let method: Function = Reflect::get(of, &name.into())?.dyn_into().map_err(|_| {
        let error = js_sys::TypeError::new(&format!("this browser has no {name} here"));
        JsValue::from(error)
    })?;
    method.apply(of, &arguments.iter().copied().collect::<Array>())
}

/// Calls a method and waits for what its promise comes to.
///
/// # Errors
/// As for [`call`], and what the promise was rejected with.
pub(super) async fn ask(of: &JsValue, name: &str, arguments: &[&JsValue]) -> Result<JsValue, JsValue> {
    let asked = call(of, name, arguments)?;
    JsFuture::from(Promise::resolve(&asked)).await
}
