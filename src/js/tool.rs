//! A JavaScript function as a tool. Whatever it returns or throws becomes an outcome.

use std::rc::Rc;

use js_sys::{Function, JSON, Object, Promise, Reflect};
use serde_json::Value;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;

use crate::browser::tools::{BrowserTool, ToolContext, thrown_name, thrown_words};
use crate::js::to_js;
use crate::protocol::{Outcome, ToolError};
use crate::tools::error;

// More than this is of no use to a model, and would fill the journal.
const MAX_RESULT_CHARACTERS: usize = 256 * 1024;

/// A tool that calls `run(args, context)` and waits for what it returns.
pub(super) fn executor(name: &str, run: JsValue) -> BrowserTool {
    let name: Rc<str> = name.into();
    Rc::new(move |arguments, context| {
        let (name, run) = (Rc::clone(&name), run.clone());
        Box::pin(async move { call(&name, &run, &arguments, &context).await })
    })
}

async fn call(name: &str, run: &JsValue, arguments: &Value, context: &ToolContext) -> Outcome {
    let Some(run) = run.dyn_ref::<Function>() else {
        return Outcome::Error(error::tool_error(name, "it is no function"));
    };
    let returned = match run.call2(&JsValue::UNDEFINED, &to_js(arguments), &context_object(context)) {
        Ok(value) => JsFuture::from(Promise::resolve(&value)).await,
        Err(thrown) => Err(thrown),
    };
    match returned {
        Ok(value) => result(name, &value),
        Err(thrown) if thrown_name(&thrown) == "AbortError" && is_aborted(context) => {
            Outcome::Error(error::cancelled(name, true))
        }
        Err(thrown) => {
            let mut error = error::tool_error(name, &thrown_words(&thrown));
            error.retryable = Reflect::get(&thrown, &JsValue::from_str("retryable")).is_ok_and(|flag| flag.is_truthy());
            Outcome::Error(error)
        }
    }
}

fn result(name: &str, value: &JsValue) -> Outcome {
    if value.is_undefined() {
        return Outcome::Result(Value::Null);
    }
    let unserializable = |why: &str| {
        let words = format!("\"{name}\" ran, but its result can not be sent: {why}. Do not repeat the call.");
        Outcome::Error(ToolError::new("unserializable_result", words))
    };
    let text = match JSON::stringify(value) {
        Ok(text) => match text.as_string() {
            Some(text) => text,
            // Functions and symbols have no JSON.
            None => return unserializable("it is not JSON"),
        },
        Err(thrown) => return unserializable(&thrown_words(&thrown)),
    };
    if text.len() > MAX_RESULT_CHARACTERS {
        return unserializable("it is longer than 256 KiB");
    }
    match serde_json::from_str(&text) {
        Ok(result) => Outcome::Result(result),
        Err(why) => unserializable(&why.to_string()),
    }
}

fn context_object(context: &ToolContext) -> JsValue {
    let object = Object::new();
    let set = |name: &str, value: &JsValue| drop(Reflect::set(&object, &JsValue::from_str(name), value));
    set("callId", &JsValue::from_str(context.call.as_str()));
    set("approved", &JsValue::from_bool(context.approved));
    if let Some(signal) = &context.signal {
        set("signal", signal);
    }
    object.into()
}

fn is_aborted(context: &ToolContext) -> bool {
    context.signal.as_ref().is_some_and(web_sys::AbortSignal::aborted)
}
