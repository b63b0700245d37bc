//! What a `MESSAGES_SNAPSHOT` says that the stream did not: whole arguments, results, unstreamed answers.
//!
//! Some servers lose the arguments that arrive with a tool's name and tell them only here; others stream nothing at all.

use serde_json::Value;

use crate::protocol::Names;

/// One thing a snapshot adds.
#[derive(Debug, PartialEq)]
pub(super) enum Found<'a> {
    /// Words of an answer that was not streamed.
    Text(&'a str),
    /// A call of such an answer, or the whole arguments of a streamed one.
    Call { id: &'a str, name: &'a str, arguments: String },
    /// What came of a call.
    Result { id: &'a str, content: String },
}

/// Reads the messages a snapshot adds to those in `known` (ids of messages and calls that were sent or streamed whole).
pub(super) fn read<'a>(messages: &'a [Value], known: &Names, streamed: &Names) -> Vec<Found<'a>> {
    let mut found = Vec::new();
    for message in messages {
        let id = text(message, "id");
        match text(message, "role") {
            "assistant" if !known.contains(id) => {
                // A subagent's words are its own.
                let foreign = message.get("subagentRunId").is_some_and(Value::is_string);
                if !foreign && !streamed.contains(id) && !text(message, "content").is_empty() {
                    found.push(Found::Text(text(message, "content")));
                }
                let calls = message.get("toolCalls").and_then(Value::as_array);
                found.extend(calls.into_iter().flatten().filter_map(call).filter(|call| match call {
                    Found::Call { id, .. } => !known.contains(id),
                    Found::Text(_) | Found::Result { .. } => true,
                }));
            }
            "tool" if !known.contains(id) => {
                let call = text(message, "toolCallId");
                // Without a call's id, its own id says whether the result was told before.
                let told = if call.is_empty() { streamed.contains(id) } else { known.contains(call) };
                if !told {
                    found.push(Found::Result { id: call, content: content_text(message.get("content")) });
                }
            }
            _ => {}
        }
    }
    found
}

/// A message's content as text: a string, or the text parts of a list.
pub(super) fn content_text(content: Option<&Value>) -> String {
    match content {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => parts.iter().map(|part| text(part, "text")).collect(),
        Some(other) => other.to_string(),
        None => String::new(),
    }
}

fn call(call: &Value) -> Option<Found<'_>> {
    let function = call.get("function")?;
    let arguments = match function.get("arguments") {
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
        None => String::new(),
    };
    Some(Found::Call { id: call.get("id")?.as_str()?, name: function.get("name")?.as_str()?, arguments })
}

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}
