//! A request as Anthropic's JSON. Knows nothing of the answer.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::protocol::{AssistantMessage, Attachment, ModelError, ModelRequest, Part, Source};
use crate::providers::history::{GO_ON, Said, Settled, Turn, arguments, system, turns};
use crate::providers::media::{self, Piece};
use crate::providers::names::WireIds;
use crate::providers::sealed::{open, put};
use crate::providers::target::Writing;

// The API wants a limit; this one is what every model of the last years takes.
const MAX_TOKENS: u32 = 8192;

/// The body of `POST …/v1/messages`.
pub(in crate::providers) fn encode(request: &ModelRequest, to: &Writing<'_>) -> Result<Value, ModelError> {
    let mut body = json!({
        "model": to.model, "max_tokens": MAX_TOKENS, "stream": true, "messages": messages(request, to)?,
    });
    let form = to.form(request);
    let system = system(request, form.is_none());
    if !system.is_empty() {
        body["system"] = json!(system);
    }
    let tools = tools(request, to);
    if !tools.is_empty() {
        body["tools"] = Value::from(tools);
    }
    if let Some(output) = form {
        body["output_config"] = json!({ "format": { "type": "json_schema", "schema": output.schema } });
    }
    Ok(body)
}

fn tools(request: &ModelRequest, to: &Writing<'_>) -> Vec<Value> {
    if request.tools.is_empty() {
        let called = request.messages.iter().filter_map(|message| message.answer()).flat_map(AssistantMessage::calls);
        let names: BTreeSet<&str> = called.map(|call| to.names.wire(&call.name)).collect();
        let closed = "Not available any more.";
        return names
            .into_iter()
            .map(|name| json!({ "name": name, "description": closed, "input_schema": { "type": "object" } }))
            .collect();
    }
    let tool = |offer: &std::sync::Arc<crate::protocol::ToolOffer>| {
        json!({
            "name": to.names.wire(&offer.name), "description": offer.description, "input_schema": *offer.parameters,
        })
    };
    request.tools.iter().map(tool).collect()
}

fn messages(request: &ModelRequest, to: &Writing<'_>) -> Result<Vec<Value>, ModelError> {
    let mut out = Vec::new();
    let mut said: Vec<Value> = Vec::new();
    let mut ids = WireIds::new(to.vendor.call_ids);
    for turn in turns(request) {
        match turn {
            Turn::User(message) => said.append(&mut content(message, to)?),
            // What the server's tools left unfinished goes on by itself (`pause_turn`).
            Turn::Told(words) if words == GO_ON && said.is_empty() && out.last().is_some_and(is_paused) => {}
            Turn::Told(words) => said.push(json!({ "type": "text", "text": words })),
            Turn::Answer(answer, settled) => {
                let ids = ids.take_all(&settled, to.names);
                let blocks = blocks(answer, &ids, to);
                if blocks.is_empty() {
                    continue;
                }
                speak(&mut said, &mut out);
                out.push(json!({ "role": "assistant", "content": blocks }));
                said.extend(settled.iter().zip(ids).map(|(one, id)| result(one, &id)));
            }
        }
    }
    speak(&mut said, &mut out);
    leave_out_unfinished(&mut out);
    Ok(out)
}

/// Takes the wish to think out of a body whose thread does not allow it: the answer that the last results belong to must
/// begin with the thoughts that led to it, and those of another model are not there.
pub(in crate::providers) fn settle_thinking(body: &mut Value) {
    if body["thinking"]["type"] != "enabled" {
        return;
    }
    let mut last = body["messages"].as_array().into_iter().flatten().rev();
    let mut blocks = || last.next().and_then(|message| message["content"].as_array()).into_iter().flatten();
    let open = blocks().any(|block| block["type"] == "tool_result");
    let thought = blocks().next().is_some_and(is_thought);
    if open
        && !thought
        && let Some(body) = body.as_object_mut()
    {
        body.remove("thinking");
    }
}

fn is_thought(block: &Value) -> bool {
    matches!(block["type"].as_str(), Some("thinking" | "redacted_thinking"))
}

// A tool of the server's own whose result never came, as where the user stopped it, is refused; in the last answer it is
// what the server goes on with.
fn leave_out_unfinished(messages: &mut Vec<Value>) {
    let blocks = messages.iter().filter_map(|message| message["content"].as_array()).flatten();
    let done: BTreeSet<String> = blocks.filter_map(|block| block["tool_use_id"].as_str().map(str::to_owned)).collect();
    let unfinished = |block: &Value| {
        let kind = block["type"].as_str().unwrap_or_default();
        kind != "tool_use" && kind.ends_with("tool_use") && block["id"].as_str().is_none_or(|id| !done.contains(id))
    };
    let last = messages.len().saturating_sub(1);
    for (at, message) in messages.iter_mut().enumerate() {
        if at < last
            && let Some(content) = message["content"].as_array_mut()
        {
            content.retain(|block| !unfinished(block));
        }
    }
    // Thoughts alone are no answer.
    messages.retain(|message| {
        message["role"] != "assistant"
            || message["content"].as_array().is_some_and(|content| !content.iter().all(is_thought))
    });
}

fn is_paused(message: &Value) -> bool {
    let ours = |block: &Value| {
        matches!(block["type"].as_str(), Some("text" | "thinking" | "redacted_thinking" | "tool_use" | "tool_result"))
    };
    message["content"].as_array().is_some_and(|content| !content.iter().all(ours))
}

fn speak(said: &mut Vec<Value>, out: &mut Vec<Value>) {
    if !said.is_empty() {
        out.push(json!({ "role": "user", "content": std::mem::take(said) }));
    }
}

fn result(settled: &Settled<'_>, id: &str) -> Value {
    let mut block = json!({ "type": "tool_result", "tool_use_id": id, "content": settled.content() });
    if settled.is_error() {
        block["is_error"] = json!(true);
    }
    block
}

fn content(said: Said<'_>, to: &Writing<'_>) -> Result<Vec<Value>, ModelError> {
    let pieces = media::pieces(said, &to.vendor.media, to.vendor.label)?;
    let block = |piece: Piece<'_>| match piece {
        // An empty block is refused.
        Piece::Text(words) if words.trim().is_empty() => None,
        Piece::Text(words) => Some(json!({ "type": "text", "text": words })),
        Piece::File(file) => Some(file_block(file)),
    };
    let mut blocks: Vec<Value> = pieces.into_iter().filter_map(block).collect();
    if blocks.is_empty() {
        blocks.push(json!({ "type": "text", "text": "(no words)" }));
    }
    Ok(blocks)
}

fn file_block(file: &Attachment) -> Value {
    let source = match &file.source {
        Source::Data(data) => json!({ "type": "base64", "media_type": file.media_type, "data": **data }),
        Source::Url(url) => json!({ "type": "url", "url": url }),
    };
    let kind = if file.is_image() { "image" } else { "document" };
    let mut block = json!({ "type": kind, "source": source });
    if kind == "document" && !file.name.is_empty() {
        block["title"] = json!(file.name);
    }
    block
}

fn blocks(answer: &AssistantMessage, ids: &[String], to: &Writing<'_>) -> Vec<Value> {
    let mut ids = ids.iter();
    let mut blocks = Vec::new();
    for part in &answer.parts {
        match part {
            Part::Text { text, encrypted_value } => {
                // Refused, whatever else is in it.
                if text.trim().is_empty() {
                    continue;
                }
                let mut block = json!({ "type": "text", "text": text });
                put(&mut block, open(encrypted_value.as_deref(), to.route).unwrap_or_default());
                blocks.push(block);
            }
            Part::Reasoning { text, encrypted_value } => {
                let Some(sealed) = open(encrypted_value.as_deref(), to.route) else { continue };
                let mut block = if sealed.contains_key("type") {
                    json!({})
                } else {
                    json!({ "type": "thinking", "thinking": text })
                };
                put(&mut block, sealed);
                blocks.push(block);
            }
            Part::Call(call) => {
                let Some(id) = ids.next() else { continue };
                let mut block = json!({
                    "type": "tool_use", "id": id, "name": to.names.wire(&call.name), "input": arguments(&call.arguments),
                });
                put(&mut block, open(call.encrypted_value.as_deref(), to.route).unwrap_or_default());
                blocks.push(block);
            }
        }
    }
    // Thoughts alone are no answer.
    if !blocks.iter().all(is_thought) { blocks } else { Vec::new() }
}
