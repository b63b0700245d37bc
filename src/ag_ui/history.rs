//! The messages of a `RunAgentInput`, both ways. Knows nothing of the rest of it.
//!
//! The protocol has one text and a list of calls in an answer, and thoughts as messages before it. A model's answer is
//! parts in any order, some with a value that only its provider can read; so the order stands beside it in `metadata`
//! wherever it is another than the protocol's:
//!
//! ```json
//! {"role": "assistant", "content": "Checking both.", "toolCalls": [{…}],
//!  "metadata": {"pagehand": {"parts": [{"text": 14, "encryptedValue": "…"}, {"reasoning": 0}, {"call": 0}]}}}
//! ```
//!
//! `text` is how many characters of `content` the part has; the others number the thoughts before it and its calls.

use serde_json::{Value, json};

use crate::ag_ui::input::{InputError, text};
use crate::ag_ui::snapshot::content_text;
use crate::ag_ui::{LOCAL_ID, METADATA, NAME, PARTS};
use crate::protocol::{
    AssistantMessage, Attachment, Message, MessageId, MessageStatus, ModelRequest, Names, Part, Source, ToolCall,
    ToolCallId, ToolMessage, ToolResult, UserMessage,
};

const ENCRYPTED: &str = "encryptedValue";

/// Writes the messages of a thread.
pub(super) fn write(thread: &[Message], messages: &mut Vec<Value>) {
    let ids = wire_ids(thread);
    for message in thread {
        write_message(message, &ids, messages);
    }
}

/// Reads them, and the instructions among them.
pub(super) fn read(messages: &[Value], request: &mut ModelRequest) -> Result<(), InputError> {
    let mut thoughts = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        read_message(message, &format!("/messages/{at}"), &mut thoughts, request)?;
    }
    Ok(())
}

// The model's own id goes back to it; ours stands in where it gave none, or one that an earlier call already has.
fn wire_ids(messages: &[Message]) -> Names<String> {
    let mut used = Names::default();
    let mut ids = Names::default();
    for call in messages.iter().filter_map(Message::answer).flat_map(AssistantMessage::calls) {
        let given = call.wire_id.clone().filter(|id| !used.contains(id));
        let id = given.unwrap_or_else(|| call.id.0.clone());
        used.add(id.clone());
        ids.insert(call.id.0.clone(), id);
    }
    ids
}

fn write_message(message: &Message, ids: &Names<String>, out: &mut Vec<Value>) {
    out.push(match message {
        Message::User(said) => json!({ "id": said.id, "role": "user", "content": write_content(said) }),
        Message::Job { name, message } => {
            json!({ "id": message.id, "role": "user", "content": message.told_as_job(name) })
        }
        Message::Notice { id, content } => json!({ "id": id, "role": "user", "content": content }),
        Message::Assistant(answer) => return write_answer(answer, ids, out),
        Message::Tool(ToolMessage { id, result }) => {
            let call = ids.get(result.call.as_str()).unwrap_or(&result.call.0);
            let mut written = json!({ "id": id, "role": "tool", "toolCallId": call, "content": result.content });
            if let Some(code) = &result.error {
                written["error"] = json!(code);
            }
            written
        }
    });
}

fn write_content(said: &UserMessage) -> Value {
    if said.attachments.is_empty() {
        return Value::from(said.content.as_str());
    }
    let mut parts = Vec::new();
    if !said.content.is_empty() {
        parts.push(json!({ "type": "text", "text": said.content }));
    }
    for file in &said.attachments {
        let source = match &file.source {
            Source::Data(data) => json!({ "type": "data", "value": **data, "mimeType": file.media_type }),
            Source::Url(url) => json!({ "type": "url", "value": url, "mimeType": file.media_type }),
        };
        let mut part = json!({ "type": kind_of(&file.media_type), "source": source });
        if !file.name.is_empty() {
            part["metadata"] = json!({ METADATA: { NAME: file.name } });
        }
        parts.push(part);
    }
    Value::from(parts)
}

fn kind_of(media_type: &str) -> &'static str {
    match media_type.split('/').next() {
        Some("image") => "image",
        Some("audio") => "audio",
        Some("video") => "video",
        _ => "document",
    }
}

fn write_answer(answer: &AssistantMessage, ids: &Names<String>, out: &mut Vec<Value>) {
    let mut written = json!({ "id": answer.id, "role": "assistant" });
    let text = answer.text();
    if !text.is_empty() {
        written["content"] = Value::from(text);
    }
    let calls: Vec<Value> = answer.calls().map(|call| write_call(call, ids)).collect();
    if !calls.is_empty() {
        written["toolCalls"] = Value::from(calls);
    }
    let mut order = Vec::new();
    let (mut thoughts, mut calls, mut rank, mut plain) = (0, 0, 0, true);
    for part in &answer.parts {
        let (place, its_rank) = match part {
            // Thoughts go back only where their provider asks for them.
            Part::Reasoning { encrypted_value: None, .. } => continue,
            Part::Reasoning { text, encrypted_value: Some(value) } => {
                let id = format!("{}t{thoughts}", answer.id);
                out.push(json!({ "id": id, "role": "reasoning", "content": text, ENCRYPTED: value }));
                thoughts += 1;
                (json!({ "reasoning": thoughts - 1 }), 1)
            }
            Part::Text { text, encrypted_value } => {
                let mut place = json!({ "text": text.chars().count() });
                if let Some(value) = encrypted_value {
                    place[ENCRYPTED] = json!(value);
                    plain = false;
                }
                // A second text would be one with the first.
                plain &= rank < 2;
                (place, 2)
            }
            Part::Call(_) => {
                calls += 1;
                (json!({ "call": calls - 1 }), 3)
            }
        };
        plain &= its_rank >= rank;
        rank = its_rank;
        order.push(place);
    }
    if !plain {
        written["metadata"] = json!({ METADATA: { PARTS: order } });
    }
    out.push(written);
}

fn write_call(call: &ToolCall, ids: &Names<String>) -> Value {
    let id = ids.get(call.id.as_str()).unwrap_or(&call.id.0);
    let function = json!({ "name": call.name, "arguments": call.arguments });
    let mut written = json!({ "id": id, "type": "function", "function": function });
    if let Some(value) = &call.encrypted_value {
        written[ENCRYPTED] = json!(value);
    }
    if call.wire_id.is_none() {
        written["metadata"] = json!({ METADATA: { LOCAL_ID: true } });
    }
    written
}

fn read_message(
    message: &Value,
    path: &str,
    thoughts: &mut Vec<Part>,
    request: &mut ModelRequest,
) -> Result<(), InputError> {
    let id = MessageId(text(message, path, "id")?);
    let role = text(message, path, "role")?;
    if !matches!(role.as_str(), "assistant" | "reasoning") {
        thoughts.clear();
    }
    match role.as_str() {
        "system" | "developer" => {
            if !request.instructions.is_empty() {
                request.instructions.push_str("\n\n");
            }
            request.instructions.push_str(&text(message, path, "content")?);
        }
        "user" => {
            let (content, attachments) = read_content(message, path)?;
            request.messages.push(Message::User(UserMessage { attachments, ..UserMessage::new(id, content) }));
        }
        "assistant" => {
            let thoughts = std::mem::take(thoughts);
            request.messages.push(Message::Assistant(read_answer(id, message, path, thoughts)?));
        }
        "tool" => {
            let call = ToolCallId(text(message, path, "toolCallId")?);
            let content = content_text(message.get("content"));
            let error = message.get("error").and_then(Value::as_str).map(str::to_owned);
            let result = ToolResult { call, content, error };
            request.messages.push(Message::Tool(ToolMessage { id, result }));
        }
        // What nobody asked to have back is not for a model.
        "reasoning" => {
            let encrypted_value = message.get(ENCRYPTED).and_then(Value::as_str).map(str::to_owned);
            if encrypted_value.is_some() {
                thoughts.push(Part::Reasoning { text: content_text(message.get("content")), encrypted_value });
            }
        }
        // A view's.
        "activity" => {}
        other => return Err(InputError::new(format!("{path}/role"), format!("\"{other}\" is no role of AG-UI"))),
    }
    Ok(())
}

fn read_content(message: &Value, path: &str) -> Result<(String, Vec<Attachment>), InputError> {
    let path = format!("{path}/content");
    match message.get("content") {
        Some(Value::String(text)) => Ok((text.clone(), Vec::new())),
        Some(content @ Value::Array(parts)) => {
            let files = parts.iter().enumerate().filter(|(_, part)| part.get("type") != Some(&json!("text")));
            let files = files.map(|(at, part)| read_attachment(part, &format!("{path}/{at}")));
            Ok((content_text(Some(content)), files.collect::<Result<_, _>>()?))
        }
        _ => Err(InputError::new(path, "must be a string or an array of parts")),
    }
}

fn read_attachment(part: &Value, path: &str) -> Result<Attachment, InputError> {
    let kind = text(part, path, "type")?;
    let place = format!("{path}/source");
    let source = part.get("source").ok_or_else(|| InputError::new(place.as_str(), "is missing"))?;
    let (value, source_kind) = (text(source, &place, "value")?, text(source, &place, "type")?);
    let stated = source.get("mimeType").and_then(Value::as_str);
    let media_type = match (stated, kind.as_str()) {
        (Some(stated), _) => stated.to_owned(),
        (None, "image" | "audio" | "video") => format!("{kind}/*"),
        (None, _) => "application/octet-stream".to_owned(),
    };
    let source = match source_kind.as_str() {
        "data" => Source::Data(value.into()),
        "url" => Source::Url(value),
        other => {
            let words = format!("\"{other}\" is no source that this gateway can give a model; it takes data and url");
            return Err(InputError::new(format!("{place}/type"), words));
        }
    };
    let name = part.pointer(&format!("/metadata/{METADATA}/{NAME}")).and_then(Value::as_str).unwrap_or_default();
    Ok(Attachment { name: name.to_owned(), media_type, source })
}

fn read_answer(
    id: MessageId,
    message: &Value,
    path: &str,
    mut thoughts: Vec<Part>,
) -> Result<AssistantMessage, InputError> {
    let words = content_text(message.get("content").filter(|content| !content.is_null()));
    let mut calls = Vec::new();
    for (at, call) in message.get("toolCalls").and_then(Value::as_array).into_iter().flatten().enumerate() {
        calls.push(Part::Call(read_call(call, &format!("{path}/toolCalls/{at}"))?));
    }
    let order = message.pointer(&format!("/metadata/{METADATA}/{PARTS}")).and_then(Value::as_array);
    let ordered = order.and_then(|order| in_order(order, &words, &thoughts, &calls));
    let parts = ordered.unwrap_or_else(|| {
        if !words.is_empty() {
            thoughts.push(Part::text(words));
        }
        thoughts.append(&mut calls);
        thoughts
    });
    Ok(AssistantMessage { id, parts, status: MessageStatus::Complete })
}

// `None` where the order does not fit what it orders, each part once.
fn in_order(order: &[Value], words: &str, thoughts: &[Part], calls: &[Part]) -> Option<Vec<Part>> {
    let mut rest = words.chars();
    let (mut used_thoughts, mut used_calls) = (0, 0);
    let mut parts = Vec::new();
    for place in order {
        let number = |name: &str| place.get(name)?.as_u64().and_then(|number| usize::try_from(number).ok());
        parts.push(if let Some(length) = number("text") {
            let text: String = rest.by_ref().take(length).collect();
            let encrypted_value = place.get(ENCRYPTED).and_then(Value::as_str).map(str::to_owned);
            Part::Text { text, encrypted_value }
        } else if number("reasoning") == Some(used_thoughts) {
            used_thoughts += 1;
            thoughts.get(used_thoughts - 1)?.clone()
        } else if number("call") == Some(used_calls) {
            used_calls += 1;
            calls.get(used_calls - 1)?.clone()
        } else {
            return None;
        });
    }
    let whole = rest.next().is_none() && used_thoughts == thoughts.len() && used_calls == calls.len();
    whole.then_some(parts)
}

fn read_call(call: &Value, path: &str) -> Result<ToolCall, InputError> {
    let id = text(call, path, "id")?;
    let function = call.get("function").ok_or_else(|| InputError::new(format!("{path}/function"), "is missing"))?;
    let place = format!("{path}/function");
    let local = call.pointer(&format!("/metadata/{METADATA}/{LOCAL_ID}")) == Some(&Value::Bool(true));
    Ok(ToolCall {
        wire_id: (!local).then(|| id.clone()),
        id: ToolCallId(id),
        name: text(function, &place, "name")?,
        arguments: text(function, &place, "arguments")?,
        encrypted_value: call.get(ENCRYPTED).and_then(Value::as_str).map(str::to_owned),
    })
}
