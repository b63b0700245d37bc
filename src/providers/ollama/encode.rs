//! A request as Ollama's JSON. Knows nothing of the answer.

use serde_json::{Value, json};

use crate::protocol::{AssistantMessage, ModelError, ModelRequest, Part, Source};
use crate::providers::history::{Said, Settled, Turn, arguments, system, turns};
use crate::providers::media::{self, Piece};
use crate::providers::sealed::{open, put};
use crate::providers::target::Writing;

/// The body of `POST …/api/chat`.
pub(in crate::providers) fn encode(request: &ModelRequest, to: &Writing<'_>) -> Result<Value, ModelError> {
    let form = to.form(request);
    let mut messages = Vec::new();
    let system = system(request, form.is_none());
    if !system.is_empty() {
        messages.push(json!({ "role": "system", "content": system }));
    }
    for turn in turns(request) {
        match turn {
            Turn::User(said) => messages.push(user(said, to)?),
            Turn::Told(words) => messages.push(json!({ "role": "user", "content": words })),
            Turn::Answer(answer, settled) => {
                let written = assistant(answer, &settled, to);
                if written["content"] == "" && settled.is_empty() {
                    continue;
                }
                messages.push(written);
                messages.extend(settled.iter().map(|one| result(one, to)));
            }
        }
    }
    let mut body = json!({ "model": to.model, "stream": true, "messages": messages });
    if !request.tools.is_empty() {
        body["tools"] = request
            .tools
            .iter()
            .map(|offer| {
                let name = to.names.wire(&offer.name);
                let function =
                    json!({ "name": name, "description": offer.description, "parameters": *offer.parameters });
                json!({ "type": "function", "function": function })
            })
            .collect();
    }
    if let Some(output) = form {
        body["format"] = output.schema.clone();
    }
    Ok(body)
}

fn user(said: Said<'_>, to: &Writing<'_>) -> Result<Value, ModelError> {
    let mut words = Vec::new();
    let mut images = Vec::new();
    for piece in media::pieces(said, &to.vendor.media, to.vendor.label)? {
        match piece {
            Piece::Text(text) => words.push(text),
            Piece::File(file) => {
                if let Source::Data(data) = &file.source {
                    images.push(Value::from(&**data));
                }
            }
        }
    }
    let mut message = json!({ "role": "user", "content": words.join("\n\n") });
    if !images.is_empty() {
        message["images"] = Value::from(images);
    }
    Ok(message)
}

fn assistant(answer: &AssistantMessage, settled: &[Settled<'_>], to: &Writing<'_>) -> Value {
    let mut message = json!({ "role": "assistant", "content": answer.text() });
    let thoughts = answer.parts.iter().filter_map(|part| match part {
        Part::Reasoning { text, encrypted_value } => open(encrypted_value.as_deref(), to.route).map(|_| text.as_str()),
        Part::Text { .. } | Part::Call(_) => None,
    });
    let thoughts: String = thoughts.collect();
    if !thoughts.is_empty() {
        message["thinking"] = json!(thoughts);
    }
    if !settled.is_empty() {
        message["tool_calls"] = settled.iter().enumerate().map(|(at, one)| call(at, one, to)).collect();
    }
    message
}

fn call(at: usize, settled: &Settled<'_>, to: &Writing<'_>) -> Value {
    let call = settled.call;
    let function = json!({ "index": at, "name": to.names.wire(&call.name), "arguments": arguments(&call.arguments) });
    let mut written = json!({ "function": function });
    if let Some(id) = &call.wire_id {
        written["id"] = json!(id);
    }
    put(&mut written, open(call.encrypted_value.as_deref(), to.route).unwrap_or_default());
    written
}

fn result(settled: &Settled<'_>, to: &Writing<'_>) -> Value {
    let name = to.names.wire(&settled.call.name);
    let mut written = json!({ "role": "tool", "tool_name": name, "content": settled.content() });
    if let Some(id) = &settled.call.wire_id {
        written["tool_call_id"] = json!(id);
    }
    written
}
