//! JavaScript's callbacks before and after each model and tool call. Knows nothing of when they are asked.

use std::rc::Rc;

use js_sys::{Function, Promise};
use serde_json::{Value, json};
use wasm_bindgen::JsValue;
use wasm_bindgen_futures::JsFuture;

use crate::agent::ToolRequest;
use crate::browser::tools::thrown_words;
use crate::js::{from_js, to_js};
use crate::protocol::{Answer, Outcome, ToolError};
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
                Ok(value) => reply(&from_js(&value).ok()?),
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
            json!({
                "threadId": request.thread, "runId": request.run, "instructions": request.instructions,
                "messages": request.messages.len(), "tools": tools,
            })
        }
        Moment::AfterModel(answer) => {
            let calls: Vec<Value> =
                answer.calls().map(|call| json!({ "name": call.name, "arguments": call.arguments })).collect();
            json!({ "messageId": answer.id, "text": answer.text(), "calls": calls })
        }
        Moment::BeforeTool(request) => call(request),
        Moment::AfterTool(request, answer) | Moment::ToolError(request, answer) => {
            let mut told = call(request);
            match &answer.outcome {
                Outcome::Result(result) => told["result"] = result.clone(),
                Outcome::Error(error) => told["error"] = error.to_json(),
                Outcome::Interim(job) => told["job"] = json!({ "id": job.id, "state": job.state }),
                Outcome::NeedsApproval { reason, .. } => told["needsApproval"] = Value::from(reason.as_str()),
            }
            told
        }
        Moment::ModelError(error) => json!({ "model": { "code": error.kind.as_str(), "message": error.message } }),
    }
}

fn call(request: &ToolRequest) -> Value {
    json!({
        "callId": request.call, "name": request.name, "scope": request.scope.as_str(), "owner": request.definition.owner,
        "risk": request.definition.risk.as_str(), "arguments": request.arguments, "runId": request.run, "step": request.step,
    })
}

/// `{text}` in a model's place; `{result}` or `{error}` in a tool's.
fn reply(value: &Value) -> Option<Reply> {
    if let Some(text) = value.get("text").and_then(Value::as_str) {
        return Some(Reply::Text(text.to_owned()));
    }
    answer(value).map(|answer| Reply::Outcome(answer.outcome))
}

/// An answer in a tool's place: `{result}`, or `{error: {code, message, retryable}}`.
pub(super) fn answer(value: &Value) -> Option<Answer> {
    if let Some(result) = value.get("result") {
        return Some(Outcome::Result(result.clone()).into());
    }
    let error = value.get("error")?;
    let text = |name: &str| error.get(name).and_then(Value::as_str).map(str::to_owned);
    let message = error.as_str().map(str::to_owned).or_else(|| text("message")).unwrap_or_default();
    let told = ToolError {
        code: text("code").unwrap_or_else(|| "tool_error".to_owned()).into(),
        message,
        operator: text("operator"),
        retryable: error.get("retryable").and_then(Value::as_bool).unwrap_or_default(),
    };
    Some(Outcome::Error(told).into())
}
