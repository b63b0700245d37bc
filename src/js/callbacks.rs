//! JavaScript's callbacks before and after each model and tool call. Knows nothing of when they are asked.

use std::rc::Rc;

use js_sys::{Function, Promise};
use serde_json::Value;
use wasm_bindgen::JsValue;
use wasm_bindgen_futures::JsFuture;

use crate::agent::ToolRequest;
use crate::browser::tools::thrown_words;
use crate::js::definition::field;
use crate::js::{to_js, tool};
use crate::protocol::{Outcome, ToolCall, object};
use crate::session::{Callback, Moment, Reply};

/// A function as a callback. What it throws is said in the console; it has then nothing to say.
pub(super) fn callback(function: Function) -> Callback {
    Rc::new(move |moment: Rc<Moment>| {
        let function = function.clone();
        Box::pin(async move {
            let heard = to_js(&described(&moment));
            let returned = match function.call1(&JsValue::UNDEFINED, &heard) {
                Ok(value) => JsFuture::from(Promise::resolve(&value)).await,
                Err(thrown) => Err(thrown),
            };
            match returned {
                Ok(value) if value.is_undefined() || value.is_null() => None,
                Ok(value) => reply(&moment, &value),
                Err(thrown) => {
                    web_sys::console::warn_1(&format!("pagehand: a callback threw: {}", thrown_words(&thrown)).into());
                    None
                }
            }
        })
    })
}

fn described(moment: &Moment) -> Value {
    match moment {
        Moment::BeforeModel(request) => {
            let tools: Vec<&str> = request.tools.iter().map(|tool| tool.name.as_str()).collect();
            object(vec![
                ("threadId", request.thread.as_str().into()),
                ("runId", request.run.as_str().into()),
                ("instructions", request.instructions.as_str().into()),
                ("messages", request.messages.len().into()),
                ("tools", tools.into()),
            ])
        }
        Moment::AfterModel(answer) => {
            let call = |call: &ToolCall| {
                object(vec![("name", call.name.as_str().into()), ("arguments", call.arguments.as_str().into())])
            };
            let calls: Vec<Value> = answer.calls().map(call).collect();
            object(vec![
                ("messageId", answer.id.as_str().into()),
                ("text", answer.text().into()),
                ("calls", calls.into()),
            ])
        }
        Moment::BeforeTool(request) => call(request),
        Moment::AfterTool(request, answer) | Moment::ToolError(request, answer) => {
            let mut told = call(request);
            match &answer.outcome {
                Outcome::Result(result) => told["result"] = result.clone(),
                Outcome::Error(error) => told["error"] = error.to_json(),
                Outcome::Interim(job) => {
                    told["job"] = object(vec![("id", job.id.as_str().into()), ("state", job.state.clone())]);
                }
                Outcome::NeedsApproval { reason, .. } => told["needsApproval"] = Value::from(reason.as_str()),
            }
            told
        }
        Moment::ModelError(error) => {
            let told = vec![("code", error.kind.as_str().into()), ("message", error.message.as_str().into())];
            object(vec![("model", object(told))])
        }
    }
}

fn call(request: &ToolRequest) -> Value {
    object(vec![
        ("callId", request.call.as_str().into()),
        ("name", request.name.as_str().into()),
        ("scope", request.scope.as_str().into()),
        ("owner", request.definition.owner.as_str().into()),
        ("risk", request.definition.risk.as_str().into()),
        ("arguments", request.arguments.clone()),
        ("runId", request.run.as_str().into()),
        ("step", request.step.into()),
    ])
}

/// `{text}` in a model's place; `{result}` or `{error}` in a tool's.
fn reply(moment: &Moment, value: &JsValue) -> Option<Reply> {
    if let Some(text) = field(value, "text").as_string() {
        return Some(Reply::Text(text));
    }
    let name = match moment {
        Moment::BeforeTool(request) | Moment::AfterTool(request, _) | Moment::ToolError(request, _) => &request.name,
        Moment::BeforeModel(_) | Moment::AfterModel(_) | Moment::ModelError(_) => "",
    };
    answer(name, value).map(Reply::Outcome)
}

/// An answer in a tool's place: `{result}`, or `{error}`: a text, an `Error`, or `{code, message, retryable}`. A result
/// that is not JSON is an error in the tool's place, not silence: the tool must not run after all.
pub(super) fn answer(name: &str, value: &JsValue) -> Option<Outcome> {
    let has = |key: &str| js_sys::Reflect::has(value, &JsValue::from_str(key)).unwrap_or_default();
    if has("result") {
        return Some(tool::outcome(name, &field(value, "result")));
    }
    if !has("error") {
        return None;
    }
    let thrown = field(value, "error");
    let mut told = tool::thrown_error(name, &thrown);
    told.message = thrown_words(&thrown);
    Some(Outcome::Error(told))
}
