//! A request as Responses JSON. Knows nothing of the answer.

use serde_json::{Value, json};

use crate::protocol::{AssistantMessage, Attachment, ModelError, ModelRequest, Part};
use crate::providers::history::{Said, Turn, arguments_text, system, turns};
use crate::providers::media::{self, Piece};
use crate::providers::names::WireIds;
use crate::providers::sealed::{open, put};
use crate::providers::target::{Writing, is_closed};

/// The body of `POST …/responses`.
pub(in crate::providers) fn encode(request: &ModelRequest, to: &Writing<'_>) -> Result<Value, ModelError> {
    let mut body = json!({
        "model": to.model, "stream": true, "store": false, "include": ["reasoning.encrypted_content"],
        "input": input(request, to)?,
    });
    let form = to.form(request);
    let system = system(request, form.is_none());
    if !system.is_empty() {
        body["instructions"] = json!(system);
    }
    if !request.tools.is_empty() {
        body["tools"] = request
            .tools
            .iter()
            .map(|offer| {
                json!({
                    "type": "function", "name": to.names.wire(&offer.name), "description": offer.description,
                    "parameters": *offer.parameters, "strict": false,
                })
            })
            .collect();
        body["parallel_tool_calls"] = json!(true);
    }
    if let Some(output) = form {
        body["text"] = json!({ "format": {
            "type": "json_schema", "name": output.name, "schema": output.schema, "strict": is_closed(output),
        } });
    }
    Ok(body)
}

fn input(request: &ModelRequest, to: &Writing<'_>) -> Result<Vec<Value>, ModelError> {
    let mut out = Vec::new();
    let mut ids = WireIds::new(to.vendor.call_ids);
    for turn in turns(request) {
        match turn {
            Turn::User(said) => out.push(user(&content(said, to)?)),
            Turn::Told(words) => out.push(user(&[json!({ "type": "input_text", "text": words })])),
            Turn::Answer(answer, settled) => {
                let ids = ids.take_all(&settled, to.names);
                items(answer, &ids, to, &mut out);
                for (one, id) in settled.iter().zip(ids) {
                    out.push(json!({ "type": "function_call_output", "call_id": id, "output": one.content() }));
                }
            }
        }
    }
    Ok(out)
}

fn user(content: &[Value]) -> Value {
    json!({ "type": "message", "role": "user", "content": content })
}

fn content(said: Said<'_>, to: &Writing<'_>) -> Result<Vec<Value>, ModelError> {
    let pieces = media::pieces(said, &to.vendor.media, to.vendor.label)?;
    let part = |piece: Piece<'_>| match piece {
        Piece::Text(words) => json!({ "type": "input_text", "text": words }),
        Piece::File(file) => file_part(file),
    };
    Ok(pieces.into_iter().map(part).collect())
}

fn file_part(file: &Attachment) -> Value {
    let address = media::address(file);
    if file.is_image() {
        return json!({ "type": "input_image", "image_url": address, "detail": "auto" });
    }
    if address.starts_with("data:") {
        let name = if file.name.is_empty() { "file" } else { &file.name };
        return json!({ "type": "input_file", "filename": name, "file_data": address });
    }
    json!({ "type": "input_file", "file_url": address })
}

fn items(answer: &AssistantMessage, ids: &[String], to: &Writing<'_>, out: &mut Vec<Value>) {
    let mut ids = ids.iter();
    for part in &answer.parts {
        match part {
            Part::Text { text, encrypted_value } => {
                let sealed = open(encrypted_value.as_deref(), to.route).unwrap_or_default();
                if text.is_empty() && sealed.is_empty() {
                    continue;
                }
                let mut item = if sealed.contains_key("content") {
                    json!({})
                } else {
                    let content = json!([{ "type": "output_text", "text": text, "annotations": [] }]);
                    json!({ "type": "message", "role": "assistant", "content": content })
                };
                put(&mut item, sealed);
                out.push(item);
            }
            Part::Reasoning { encrypted_value, .. } => {
                if let Some(sealed) = open(encrypted_value.as_deref(), to.route) {
                    out.push(Value::Object(sealed));
                }
            }
            Part::Call(call) => {
                let Some(id) = ids.next() else { continue };
                let mut item = json!({
                    "type": "function_call", "call_id": id, "name": to.names.wire(&call.name),
                    "arguments": arguments_text(&call.arguments),
                });
                put(&mut item, open(call.encrypted_value.as_deref(), to.route).unwrap_or_default());
                out.push(item);
            }
        }
    }
    // A thought without the item it led to is refused.
    while out.last().is_some_and(|item| item["type"] == "reasoning") {
        out.pop();
    }
}
