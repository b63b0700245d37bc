//! A JavaScript function as a tool. Whatever it returns or throws becomes an outcome.

use std::rc::Rc;

use js_sys::{Function, Promise};
use serde_json::Value;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;

use crate::browser::tools::{BrowserTool, ToolContext, thrown_name, thrown_words};
use crate::js::definition::field;
use crate::js::{MAX_CHARACTERS, NotJson, context, to_js, to_json};
use crate::protocol::{Job, Outcome, ToolError};
use crate::tools::error;

/// A tool that calls `run(args, context)` and waits for what it returns.
pub(super) fn executor(name: &str, run: JsValue) -> BrowserTool {
    let name: Rc<str> = name.into();
    Rc::new(move |arguments, context| {
        let (name, run) = (Rc::clone(&name), run.clone());
        Box::pin(async move { call(&name, &run, &arguments, context).await })
    })
}

async fn call(name: &str, run: &JsValue, arguments: &Value, context: ToolContext) -> Outcome {
    let Some(run) = run.dyn_ref::<Function>() else {
        return Outcome::Error(error::tool_error(name, "it is no function"));
    };
    let signal = context.signal.clone();
    let object = context::object(&context);
    let returned = match run.call2(&JsValue::UNDEFINED, &to_js(arguments), &object.value) {
        Ok(value) => JsFuture::from(Promise::resolve(&value)).await,
        Err(thrown) => Err(thrown),
    };
    if let Some(asked) = object.asked() {
        return asked;
    }
    match returned {
        Ok(value) => match object.job() {
            Some(job) => begun(name, job, &value),
            None => outcome(name, &value),
        },
        Err(thrown) if thrown_name(&thrown) == "AbortError" && signal.is_some_and(|signal| signal.aborted()) => {
            Outcome::Error(error::cancelled(name, true))
        }
        Err(thrown) => Outcome::Error(thrown_error(name, &thrown)),
    }
}

/// A thrown value as a tool's error. An `Error` may say its `code`, whether it is `retryable`, and words for the
/// `operator`.
pub(super) fn thrown_error(name: &str, thrown: &JsValue) -> ToolError {
    let mut told = error::tool_error(name, &thrown_words(thrown));
    told.retryable = field(thrown, "retryable").is_truthy();
    told.operator = field(thrown, "operator").as_string();
    // A DOMException's code is a number of another age.
    if let Some(code) = field(thrown, "code").as_string().filter(|code| !code.is_empty()) {
        told.code = code.into();
    }
    told
}

fn begun(name: &str, job: String, value: &JsValue) -> Outcome {
    match outcome(name, value) {
        Outcome::Result(state) => Outcome::Interim(Job { id: job, state }),
        other => other,
    }
}

/// What a function returned, as JSON.
pub(super) fn outcome(name: &str, value: &JsValue) -> Outcome {
    match to_json(value, MAX_CHARACTERS) {
        Ok(result) => Outcome::Result(result),
        Err(NotJson::TooLong) => Outcome::Error(error::result_too_large(name, MAX_CHARACTERS)),
        Err(NotJson::Words(why)) => {
            let words = format!("\"{name}\" ran, but its result can not be sent: {why}. Do not repeat the call.");
            Outcome::Error(ToolError::new("unserializable_result", words))
        }
    }
}
