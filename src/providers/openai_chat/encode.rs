//! A request as Chat Completions JSON. Knows nothing of the answer.

use serde_json::{Value, json};

use crate::protocol::{AssistantMessage, Attachment, ModelError, ModelRequest, Part, Source, ToolOffer};
use crate::providers::history::{Said, Settled, Turn, arguments_text, system, turns};
use crate::providers::media::{self, Piece};
use crate::providers::names::WireIds;
use crate::providers::sealed::{open, put};
use crate::providers::target::{Writing, is_closed};
use crate::providers::vendor::Output;

/// The body of `POST …/chat/completions`.
pub(in crate::providers) fn encode(request: &ModelRequest, to: &Writing<'_>) -> Result<Value, ModelError> {
    let mut body = json!({ "model": to.model, "stream": true, "messages": messages(request, to)? });
    if to.vendor.usage {
        body["stream_options"] = json!({ "include_usage": true });
    }
    // An empty list is refused by some, and `parallel_tool_calls` without tools by others.
    if !request.tools.is_empty() {
        body["tools"] = request.tools.iter().map(|offer| tool(offer, to)).collect();
        if to.vendor.parallel {
            // Off by default in llama.cpp.
            body["parallel_tool_calls"] = json!(true);
        }
    }
    if let Some(output) = to.form(request) {
        let form = json!({ "name": output.name, "schema": output.schema, "strict": is_closed(output) });
        body["response_format"] = json!({ "type": "json_schema", "json_schema": form });
    } else if to.vendor.output == Output::Object && request.output.is_some() && request.tools.is_empty() {
        body["response_format"] = json!({ "type": "json_object" });
    }
    Ok(body)
}

// Every call is followed by exactly one `tool` message, whatever the thread looks like: servers refuse anything else.
fn messages(request: &ModelRequest, to: &Writing<'_>) -> Result<Vec<Value>, ModelError> {
    let mut out = Vec::new();
    let system = system(request, to.form(request).is_none());
    if !system.is_empty() {
        out.push(json!({ "role": "system", "content": system }));
    }
    let mut ids = WireIds::new(to.vendor.call_ids);
    for turn in turns(request) {
        let is_answer = matches!(turn, Turn::Answer(..));
        if to.vendor.bridge && !is_answer && out.last().is_some_and(|last| last["role"] == "tool") {
            out.push(json!({ "role": "assistant", "content": NO_ANSWER }));
        }
        match turn {
            Turn::User(said) => say(content(said, to)?, &mut out),
            Turn::Told(words) => say(Value::from(words), &mut out),
            Turn::Answer(answer, settled) => {
                let ids = ids.take_all(&settled, to.names);
                let mut portions = settled.chunks(MAX_CALLS).zip(ids.chunks(MAX_CALLS));
                let (first, first_ids) = portions.next().unwrap_or_default();
                let written = assistant(answer, first, first_ids, to);
                // Many servers refuse an answer without words or calls; thoughts alone are none.
                if written["content"] == "" && settled.is_empty() {
                    continue;
                }
                out.push(written);
                results(first, first_ids, &mut out);
                for (more, ids) in portions {
                    let wordless = AssistantMessage { id: answer.id.clone(), parts: Vec::new(), status: answer.status };
                    out.push(assistant(&wordless, more, ids, to));
                    results(more, ids, &mut out);
                }
            }
        }
    }
    Ok(out)
}

// What the user says twice in a row is one message: templates of local models want the two to take turns.
fn say(content: Value, out: &mut Vec<Value>) {
    let Some(last) = out.last_mut().filter(|last| last["role"] == "user") else {
        return out.push(json!({ "role": "user", "content": content }));
    };
    last["content"] = match (last["content"].take(), content) {
        (Value::String(words), Value::String(more)) => Value::from(format!("{words}\n\n{more}")),
        (before, more) => [before, more].into_iter().flat_map(parts).collect(),
    };
}

fn parts(content: Value) -> Vec<Value> {
    match content {
        Value::Array(parts) => parts,
        words => vec![json!({ "type": "text", "text": words })],
    }
}

fn results(settled: &[Settled<'_>], ids: &[String], out: &mut Vec<Value>) {
    out.extend(
        settled
            .iter()
            .zip(ids)
            .map(|(one, id)| json!({ "role": "tool", "tool_call_id": id, "content": one.content() })),
    );
}

// As many calls as OpenAI takes in one answer; more go back as several.
const MAX_CALLS: usize = 128;

// What the model said to results that the user did not wait for.
const NO_ANSWER: &str = "[No answer.]";

fn content(said: Said<'_>, to: &Writing<'_>) -> Result<Value, ModelError> {
    let pieces = media::pieces(said, &to.vendor.media, to.vendor.label)?;
    // Words alone are a string, as there are servers that take no list.
    let words: Option<Vec<&str>> =
        pieces.iter().map(|piece| if let Piece::Text(words) = piece { Some(&**words) } else { None }).collect();
    if let Some(words) = words {
        return Ok(json!(words.join("\n\n")));
    }
    let piece = |piece: Piece<'_>| match piece {
        Piece::Text(words) => json!({ "type": "text", "text": words }),
        Piece::File(file) => file_part(file),
    };
    Ok(pieces.into_iter().map(piece).collect())
}

fn file_part(file: &Attachment) -> Value {
    match (&file.source, file.media_type.as_str()) {
        (Source::Data(data), "audio/wav") => {
            json!({ "type": "input_audio", "input_audio": { "data": **data, "format": "wav" } })
        }
        (Source::Data(data), "audio/mpeg" | "audio/mp3") => {
            json!({ "type": "input_audio", "input_audio": { "data": **data, "format": "mp3" } })
        }
        _ if file.is_image() => json!({ "type": "image_url", "image_url": { "url": media::address(file) } }),
        _ => {
            let name = if file.name.is_empty() { "file" } else { &file.name };
            json!({ "type": "file", "file": { "filename": name, "file_data": media::address(file) } })
        }
    }
}

fn assistant(answer: &AssistantMessage, settled: &[Settled<'_>], ids: &[String], to: &Writing<'_>) -> Value {
    // Some servers want "" rather than null, and none refuses it.
    let mut written = json!({ "role": "assistant", "content": answer.text() });
    let calls: Vec<Value> =
        settled.iter().zip(ids).enumerate().map(|(at, (one, id))| call(one, id, at == 0, to)).collect();
    if let Some((field, none)) = to.vendor.thoughts.filter(|_| !calls.is_empty()) {
        // Wanted with every answer that has calls, also where it was another's and there is none.
        written[field] = json!(none);
    }
    if !calls.is_empty() {
        written["tool_calls"] = Value::from(calls);
    }
    let mut thoughts = String::new();
    for part in &answer.parts {
        let Part::Reasoning { text, encrypted_value } = part else { continue };
        if let Some(fields) = open(encrypted_value.as_deref(), to.route) {
            thoughts.push_str(text);
            put(&mut written, fields);
        }
    }
    if let Some((field, _)) = to.vendor.thoughts.filter(|_| !thoughts.is_empty()) {
        written[field] = json!(thoughts);
    }
    written
}

fn call(settled: &Settled<'_>, id: &str, first: bool, to: &Writing<'_>) -> Value {
    let call = settled.call;
    let function = json!({ "name": to.names.wire(&call.name), "arguments": arguments_text(&call.arguments) });
    let mut written = json!({ "id": id, "type": "function", "function": function });
    let own = open(call.encrypted_value.as_deref(), to.route);
    put(&mut written, own.or_else(|| to.first_call().filter(|_| first)).unwrap_or_default());
    written
}

fn tool(offer: &ToolOffer, to: &Writing<'_>) -> Value {
    let function = json!({
        "name": to.names.wire(&offer.name), "description": offer.description, "parameters": *offer.parameters,
    });
    json!({ "type": "function", "function": function })
}
