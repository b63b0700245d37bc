//! A request as Chat Completions JSON. Knows nothing of the answer.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::protocol::{AssistantMessage, Message, ModelRequest, ToolCallId, ToolOffer};

// OpenAI refuses longer ones.
const MAX_CALL_ID: usize = 40;

const NO_RESULT: &str =
    r#"{"status":"error","code":"interrupted","message":"no result was produced","retryable":false}"#;

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
        body["tools"] = request.tools.iter().map(|offer| tool(offer)).collect();
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
    let mut ids = WireIds::default();
    for (at, message) in request.messages.iter().enumerate() {
        match message {
            Message::User { content, .. } => out.push(json!({ "role": "user", "content": content })),
            Message::Job { name, message } => {
                out.push(json!({ "role": "user", "content": message.told_as_job(name) }));
            }
            Message::Assistant(answer) => {
                let ids: Vec<String> = answer.calls().map(|call| ids.take(&call.id)).collect();
                out.push(assistant(answer, &ids));
                for (call, id) in answer.calls().zip(ids) {
                    let content = result_of(&call.id, &request.messages[at + 1..]).unwrap_or(NO_RESULT);
                    out.push(json!({ "role": "tool", "tool_call_id": id, "content": content }));
                }
            }
            // Written behind its call.
            Message::Tool(_) => {}
        }
    }
    out
}

// The first answer to a call; what stands behind another call of the same id is that one's.
fn result_of<'a>(call: &ToolCallId, later: &'a [Message]) -> Option<&'a str> {
    let calls_again = |message: &&Message| matches!(message, Message::Assistant(answer) if answer.calls().any(|other| other.id == *call));
    later.iter().take_while(|message| !calls_again(message)).find_map(|message| match message {
        Message::Tool(tool) if tool.result.call == *call => Some(tool.result.content.as_str()),
        Message::User { .. } | Message::Assistant(_) | Message::Tool(_) | Message::Job { .. } => None,
    })
}

/// The ids of the calls of one request: the call's own, unless it is empty, too long or was there before.
#[derive(Default)]
struct WireIds {
    used: BTreeSet<String>,
}

impl WireIds {
    fn take(&mut self, id: &ToolCallId) -> String {
        let own = Some(id.0.clone()).filter(|id| !id.is_empty() && id.len() <= MAX_CALL_ID && !self.used.contains(id));
        let id = own.unwrap_or_else(|| {
            let mut number = self.used.len();
            while self.used.contains(&format!("call_{number}")) {
                number += 1;
            }
            format!("call_{number}")
        });
        self.used.insert(id.clone());
        id
    }
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

fn assistant(answer: &AssistantMessage, ids: &[String]) -> Value {
    let calls: Vec<Value> = answer
        .calls()
        .zip(ids)
        .map(|(call, id)| {
            let function = json!({ "name": call.name, "arguments": arguments(&call.arguments) });
            json!({ "id": id, "type": "function", "function": function })
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

fn tool(offer: &ToolOffer) -> Value {
    let function = json!({ "name": offer.name, "description": offer.description, "parameters": *offer.parameters });
    json!({ "type": "function", "function": function })
}
