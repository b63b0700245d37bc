//! `RunAgentInput`, written by a page and read by a gateway. Knows nothing of the answer to it.

use std::fmt;
use std::sync::Arc;

use serde_json::{Value, json};

use crate::ag_ui::snapshot::content_text;
use crate::ag_ui::{LOCAL_ID, METADATA, PROTOCOL_VERSION};
use crate::protocol::{
    AssistantMessage, ContextItem, Message, MessageId, MessageStatus, ModelRequest, Names, Part, RunId, State,
    ThreadId, ToolCall, ToolCallId, ToolMessage, ToolOffer, ToolResult, delta_from_json, delta_to_json,
};

/// A request that is not a `RunAgentInput`: what is wrong, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputError {
    /// Where, as a JSON Pointer.
    pub path: String,
    /// What is wrong.
    pub message: String,
}

/// Writes a request.
#[must_use]
pub fn write_input(request: &ModelRequest) -> Value {
    let ids = wire_ids(&request.messages);
    let mut messages = Vec::with_capacity(request.messages.len() + 1);
    if !request.instructions.is_empty() {
        messages.push(json!({ "id": "instructions", "role": "system", "content": request.instructions }));
    }
    messages.extend(request.messages.iter().map(|message| write_message(message, &ids)));
    let tools: Vec<Value> = request
        .tools
        .iter()
        .map(|tool| json!({ "name": tool.name, "description": tool.description, "parameters": *tool.parameters }))
        .collect();
    json!({
        "threadId": request.thread, "runId": request.run, "protocolVersion": PROTOCOL_VERSION, "state": request.state.to_json(|_| true),
        "messages": messages, "tools": tools, "context": request.context, "forwardedProps": delta_to_json(&request.options),
    })
}

/// Reads a request.
///
/// # Errors
/// The first place that does not fit.
pub fn read_input(input: &Value) -> Result<ModelRequest, InputError> {
    if !input.is_object() {
        return Err(InputError::new("", "must be a JSON object (RunAgentInput)"));
    }
    let mut request = ModelRequest {
        thread: ThreadId(text(input, "", "threadId")?),
        run: RunId(text(input, "", "runId")?),
        instructions: String::new(),
        messages: Vec::new(),
        tools: read_list(input, "tools", read_tool)?,
        context: read_list(input, "context", read_context)?,
        state: State::from_json(input.get("state").unwrap_or(&Value::Null)),
        options: delta_from_json(input.get("forwardedProps").unwrap_or(&Value::Null)),
    };
    let messages = input.get("messages").and_then(Value::as_array);
    let messages = messages.ok_or_else(|| InputError::new("/messages", "must be an array"))?;
    for (at, message) in messages.iter().enumerate() {
        read_message(message, &format!("/messages/{at}"), &mut request)?;
    }
    Ok(request)
}

impl InputError {
    fn new(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self { path: path.into(), message: message.into() }
    }
}

impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = if self.path.is_empty() { "the body" } else { &self.path };
        write!(f, "{place} {}", self.message)
    }
}

// The model's own id goes back to it; ours stands in where it gave none, or one that an earlier call already has.
fn wire_ids(messages: &[Message]) -> Names<String> {
    let mut used = Names::default();
    let mut ids = Names::default();
    for message in messages {
        let Message::Assistant(answer) = message else { continue };
        for call in answer.calls() {
            let given = call.wire_id.clone().filter(|id| !used.contains(id));
            let id = given.unwrap_or_else(|| call.id.0.clone());
            used.add(id.clone());
            ids.insert(call.id.0.clone(), id);
        }
    }
    ids
}

fn write_message(message: &Message, ids: &Names<String>) -> Value {
    match message {
        Message::User { id, content } => json!({ "id": id, "role": "user", "content": content }),
        Message::Job { name, message } => {
            json!({ "id": message.id, "role": "user", "content": message.told_as_job(name) })
        }
        Message::Assistant(answer) => {
            let mut written = json!({ "id": answer.id, "role": "assistant" });
            let text = answer.text();
            if !text.is_empty() {
                written["content"] = Value::from(text);
            }
            let calls: Vec<Value> = answer.calls().map(|call| write_call(call, ids)).collect();
            if !calls.is_empty() {
                written["toolCalls"] = Value::from(calls);
            }
            written
        }
        Message::Tool(ToolMessage { id, result }) => {
            let call = ids.get(result.call.as_str()).unwrap_or(&result.call.0);
            let mut written = json!({ "id": id, "role": "tool", "toolCallId": call, "content": result.content });
            if let Some(code) = &result.error {
                written["error"] = json!(code);
            }
            written
        }
    }
}

fn write_call(call: &ToolCall, ids: &Names<String>) -> Value {
    let id = ids.get(call.id.as_str()).unwrap_or(&call.id.0);
    let function = json!({ "name": call.name, "arguments": call.arguments });
    let mut written = json!({ "id": id, "type": "function", "function": function });
    if let Some(value) = &call.encrypted_value {
        written["encryptedValue"] = json!(value);
    }
    if call.wire_id.is_none() {
        written["metadata"] = json!({ METADATA: { LOCAL_ID: true } });
    }
    written
}

fn read_message(message: &Value, path: &str, request: &mut ModelRequest) -> Result<(), InputError> {
    let id = MessageId(text(message, path, "id")?);
    match text(message, path, "role")?.as_str() {
        "system" | "developer" => {
            if !request.instructions.is_empty() {
                request.instructions.push_str("\n\n");
            }
            request.instructions.push_str(&text(message, path, "content")?);
        }
        "user" => request.messages.push(Message::User { id, content: user_content(message, path)? }),
        "assistant" => request.messages.push(Message::Assistant(read_assistant(id, message, path)?)),
        "tool" => {
            let call = ToolCallId(text(message, path, "toolCallId")?);
            let content = content_text(message.get("content"));
            let error = message.get("error").and_then(Value::as_str).map(str::to_owned);
            let result = ToolResult { call, content, error };
            request.messages.push(Message::Tool(ToolMessage { id, result }));
        }
        // Not for a model: activity is a view's, and reasoning goes back only where its provider asks for it.
        "activity" | "reasoning" => {}
        other => return Err(InputError::new(format!("{path}/role"), format!("\"{other}\" is no role of AG-UI"))),
    }
    Ok(())
}

fn user_content(message: &Value, path: &str) -> Result<String, InputError> {
    let foreign = |part: &Value| part.get("type").and_then(Value::as_str) != Some("text");
    match message.get("content") {
        Some(Value::String(text)) => Ok(text.clone()),
        Some(Value::Array(parts)) if parts.iter().any(foreign) => {
            Err(InputError::new(format!("{path}/content"), "has a part that is not text; this gateway takes text only"))
        }
        Some(content @ Value::Array(_)) => Ok(content_text(Some(content))),
        _ => Err(InputError::new(format!("{path}/content"), "must be a string or an array of parts")),
    }
}

fn read_assistant(id: MessageId, message: &Value, path: &str) -> Result<AssistantMessage, InputError> {
    let mut parts = Vec::new();
    let words = content_text(message.get("content").filter(|content| !content.is_null()));
    if !words.is_empty() {
        parts.push(Part::Text { text: words });
    }
    if let Some(calls) = message.get("toolCalls").and_then(Value::as_array) {
        for (at, call) in calls.iter().enumerate() {
            parts.push(Part::Call(read_call(call, &format!("{path}/toolCalls/{at}"))?));
        }
    }
    Ok(AssistantMessage { id, parts, status: MessageStatus::Complete })
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
        encrypted_value: call.get("encryptedValue").and_then(Value::as_str).map(str::to_owned),
    })
}

fn read_tool(tool: &Value, path: &str) -> Result<Arc<ToolOffer>, InputError> {
    let parameters = tool.get("parameters").filter(|schema| !schema.is_null()).cloned();
    let parameters = parameters.unwrap_or_else(|| json!({ "type": "object", "properties": {} }));
    Ok(Arc::new(ToolOffer {
        name: text(tool, path, "name")?,
        description: text(tool, path, "description")?,
        parameters: Arc::new(parameters),
    }))
}

fn read_context(item: &Value, path: &str) -> Result<ContextItem, InputError> {
    Ok(ContextItem { description: text(item, path, "description")?, value: text(item, path, "value")? })
}

fn read_list<T>(
    input: &Value,
    name: &str,
    read: impl Fn(&Value, &str) -> Result<T, InputError>,
) -> Result<Vec<T>, InputError> {
    match input.get(name) {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::Array(list)) => {
            list.iter().enumerate().map(|(at, one)| read(one, &format!("/{name}/{at}"))).collect()
        }
        Some(_) => Err(InputError::new(format!("/{name}"), "must be an array")),
    }
}

fn text(value: &Value, path: &str, name: &str) -> Result<String, InputError> {
    let found = value.get(name).and_then(Value::as_str);
    found.map(str::to_owned).ok_or_else(|| InputError::new(format!("{path}/{name}"), "must be a string"))
}
