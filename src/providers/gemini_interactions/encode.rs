//! A request as Interactions JSON. Knows nothing of the answer.

use serde_json::{Value, json};

use crate::protocol::{AssistantMessage, Attachment, ModelError, ModelRequest, Part, Source};
use crate::providers::gemini::is_without_arguments;
use crate::providers::gemini_interactions::decode::TOKEN;
use crate::providers::history::{GO_ON, Said, Settled, Turn, arguments, system, turns};
use crate::providers::media::{self, Piece};
use crate::providers::names::WireIds;
use crate::providers::sealed::{open, put};
use crate::providers::target::Writing;

/// The body of `POST …/interactions`.
pub(in crate::providers) fn encode(request: &ModelRequest, to: &Writing<'_>) -> Result<Value, ModelError> {
    let token = token(request, to);
    let input = input(request, token.is_some(), to)?;
    let mut body = json!({ "model": to.model, "stream": true, "store": false, "input": input });
    if let Some(token) = token {
        body[TOKEN] = token;
    }
    let form = to.form(request);
    let system = system(request, form.is_none());
    if !system.is_empty() {
        body["system_instruction"] = json!(system);
    }
    if !request.tools.is_empty() {
        body["tools"] = request
            .tools
            .iter()
            .map(|offer| {
                let name = to.names.wire(&offer.name);
                let mut tool = json!({ "type": "function", "name": name, "description": offer.description });
                if !is_without_arguments(offer) {
                    tool["parameters"] = (*offer.parameters).clone();
                }
                tool
            })
            .collect();
    }
    if let Some(output) = form {
        body["response_format"] = json!({ "type": "text", "mime_type": "application/json", "schema": output.schema });
    }
    Ok(body)
}

// What the last answer goes on with, where nothing has been said since.
fn token(request: &ModelRequest, to: &Writing<'_>) -> Option<Value> {
    let last = request.messages.last()?.answer()?.parts.last()?;
    let Part::Reasoning { encrypted_value, .. } = last else { return None };
    open(encrypted_value.as_deref(), to.route)?.remove(TOKEN)
}

// `goes_on`: by its token, so that nobody need say it.
fn input(request: &ModelRequest, goes_on: bool, to: &Writing<'_>) -> Result<Vec<Value>, ModelError> {
    let mut out = Vec::new();
    let mut ids = WireIds::new(to.vendor.call_ids);
    for turn in turns(request) {
        match turn {
            Turn::User(said) => out.push(json!({ "type": "user_input", "content": content(said, to)? })),
            Turn::Told(words) if goes_on && words == GO_ON => {}
            Turn::Told(words) => {
                out.push(json!({ "type": "user_input", "content": [{ "type": "text", "text": words }] }));
            }
            Turn::Answer(answer, settled) => {
                let ids = ids.take_all(&settled, to.names);
                steps(answer, &ids, to, &mut out);
                out.extend(settled.iter().zip(ids).map(|(one, id)| result(one, &id, to)));
            }
        }
    }
    Ok(out)
}

fn content(said: Said<'_>, to: &Writing<'_>) -> Result<Vec<Value>, ModelError> {
    let pieces = media::pieces(said, &to.vendor.media, to.vendor.label)?;
    let part = |piece: Piece<'_>| match piece {
        Piece::Text(words) => json!({ "type": "text", "text": words }),
        Piece::File(file) => file_content(file),
    };
    Ok(pieces.into_iter().map(part).collect())
}

fn file_content(file: &Attachment) -> Value {
    let kind = file.media_type.split('/').next().filter(|kind| matches!(*kind, "image" | "audio" | "video"));
    let kind = kind.unwrap_or("document");
    let mut written = json!({ "type": kind, "mime_type": file.media_type });
    match &file.source {
        Source::Data(data) => written["data"] = json!(**data),
        Source::Url(url) => written["uri"] = json!(url),
    }
    written
}

fn steps(answer: &AssistantMessage, ids: &[String], to: &Writing<'_>, out: &mut Vec<Value>) {
    let mut ids = ids.iter();
    for part in &answer.parts {
        match part {
            Part::Text { text, encrypted_value } => {
                let sealed = open(encrypted_value.as_deref(), to.route).unwrap_or_default();
                if text.is_empty() && sealed.is_empty() {
                    continue;
                }
                let mut step = if sealed.contains_key("content") {
                    json!({})
                } else {
                    json!({ "type": "model_output", "content": [{ "type": "text", "text": text }] })
                };
                put(&mut step, sealed);
                out.push(step);
            }
            Part::Reasoning { encrypted_value, .. } => {
                if let Some(sealed) = open(encrypted_value.as_deref(), to.route)
                    && !sealed.contains_key(TOKEN)
                {
                    out.push(Value::Object(sealed));
                }
            }
            Part::Call(call) => {
                let Some(id) = ids.next() else { continue };
                let mut step = json!({
                    "type": "function_call", "id": id, "name": to.names.wire(&call.name),
                    "arguments": arguments(&call.arguments),
                });
                put(&mut step, open(call.encrypted_value.as_deref(), to.route).unwrap_or_default());
                out.push(step);
            }
        }
    }
}

fn result(settled: &Settled<'_>, id: &str, to: &Writing<'_>) -> Value {
    let result = match serde_json::from_str(settled.content()) {
        Ok(result @ Value::Object(_)) => result,
        _ => Value::from(settled.content()),
    };
    let mut step = json!({
        "type": "function_result", "call_id": id, "name": to.names.wire(&settled.call.name), "result": result,
    });
    if settled.is_error() {
        step["is_error"] = json!(true);
    }
    step
}
