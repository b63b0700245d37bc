//! A request as Chat Completions JSON. Knows nothing of the answer.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::protocol::{AssistantMessage, Message, ModelRequest, ToolCallId, ToolOffer};

// OpenAI refuses longer ones.
const MAX_CALL_ID: usize = 40;

/// The body of `POST …/chat/completions`.
///
/// Every call is followed by exactly one `tool` message, whatever the thread looks like: servers refuse anything else.
#[must_use]
pub fn encode(request: &ModelRequest, model: &str) -> Value {
    let mut body = json!({
        "model": model, "stream": true, "stream_options": { "include_usage": true }, "messages": messages(request),
    });
    // An empty list is refused by some, and `parallel_tool_calls` without tools by others.
    if !request.tools.is_empty() {
        body["tools"] = request.tools.iter().map(tool).collect();
        // Off by default in llama.cpp.
        body["parallel_tool_calls"] = json!(true);
    }
    body
}

fn messages(request: &ModelRequest) -> Vec<Value> {
    let mut out = Vec::new();
    let system = system(request);
    if !system.is_empty() {
        out.push(json!({ "role": "system", "content": system }));
    }
    let results: BTreeMap<&ToolCallId, &str> = request
        .messages
        .iter()
        .filter_map(|message| match message {
            Message::Tool(tool) => Some((&tool.result.call, tool.result.content.as_str())),
            Message::User { .. } | Message::Assistant(_) => None,
        })
        .collect();
    for message in &request.messages {
        match message {
            Message::User { content, .. } => out.push(json!({ "role": "user", "content": content })),
            Message::Assistant(answer) => {
                out.push(assistant(answer));
                for call in answer.calls() {
                    let content = results.get(&call.id).copied();
                    let content = content.unwrap_or(r#"{"status":"error","code":"interrupted","message":"no result was produced","retryable":false}"#);
                    out.push(json!({ "role": "tool", "tool_call_id": call_id(&call.id), "content": content }));
                }
            }
            // Written behind its call.
            Message::Tool(_) => {}
        }
    }
    out
}

fn system(request: &ModelRequest) -> String {
    let facts = request.context.iter().map(|item| format!("{}: {}", item.description, item.value));
    let facts = facts.collect::<Vec<_>>().join("\n");
    [request.instructions.as_str(), facts.as_str()]
        .into_iter()
        .filter(|text| !text.is_empty())
        .collect::<Vec<_>>()
        .join("\n\n")
}

fn assistant(answer: &AssistantMessage) -> Value {
    let calls: Vec<Value> = answer
        .calls()
        .map(|call| {
            let function = json!({ "name": call.name, "arguments": arguments(&call.arguments) });
            json!({ "id": call_id(&call.id), "type": "function", "function": function })
        })
        .collect();
    // Some servers want "" rather than null, and none refuses it.
    let mut written = json!({ "role": "assistant", "content": answer.text() });
    if !calls.is_empty() {
        written["tool_calls"] = Value::from(calls);
    }
    written
}

// Ollama and llama.cpp answer 400 or 500 to a history whose arguments are not JSON.
fn arguments(text: &str) -> String {
    match serde_json::from_str::<Value>(text) {
        Ok(Value::Object(_)) => text.to_owned(),
        Ok(Value::String(inner)) if matches!(serde_json::from_str(&inner), Ok(Value::Object(_))) => inner,
        _ if text.trim().is_empty() => "{}".to_owned(),
        _ => json!({ "_raw": text }).to_string(),
    }
}

fn call_id(id: &ToolCallId) -> String {
    id.0.chars().take(MAX_CALL_ID).collect()
}

fn tool(offer: &ToolOffer) -> Value {
    let function = json!({ "name": offer.name, "description": offer.description, "parameters": *offer.parameters });
    json!({ "type": "function", "function": function })
}
