//! `RunAgentInput`, written by a page and read by a gateway. Knows nothing of the messages in it, nor of the answer.

use std::fmt;
use std::sync::Arc;

use serde_json::{Value, json};

use crate::ag_ui::{METADATA, MODEL, OUTPUT, PROTOCOL_VERSION, history};
use crate::protocol::{
    ContextItem, ModelRequest, OutputFormat, RunId, State, ThreadId, ToolOffer, delta_from_json, delta_to_json,
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
    let mut messages = Vec::with_capacity(request.messages.len() + 1);
    if !request.instructions.is_empty() {
        messages.push(json!({ "id": "instructions", "role": "system", "content": request.instructions }));
    }
    history::write(&request.messages, &mut messages);
    let tools: Vec<Value> = request
        .tools
        .iter()
        .map(|tool| json!({ "name": tool.name, "description": tool.description, "parameters": *tool.parameters }))
        .collect();
    let mut input = json!({
        "threadId": request.thread, "runId": request.run, "protocolVersion": PROTOCOL_VERSION, "state": request.state.to_json(|_| true),
        "messages": messages, "tools": tools, "context": request.context, "forwardedProps": delta_to_json(&request.options),
    });
    if !request.model.is_empty() {
        input["forwardedProps"][METADATA][MODEL] = json!(request.model);
    }
    if let Some(output) = &request.output {
        input["forwardedProps"][METADATA][OUTPUT] = json!({ "name": output.name, "schema": output.schema });
    }
    input
}

/// Reads a request.
///
/// # Errors
/// The first place that does not fit.
pub fn read_input(input: &Value) -> Result<ModelRequest, InputError> {
    if !input.is_object() {
        return Err(InputError::new("", "must be a JSON object (RunAgentInput)"));
    }
    let ours = input.pointer(&format!("/forwardedProps/{METADATA}")).unwrap_or(&Value::Null);
    let mut request = ModelRequest {
        model: ours.get(MODEL).and_then(Value::as_str).unwrap_or_default().to_owned(),
        output: ours.get(OUTPUT).map(read_output).transpose()?.map(Arc::new),
        thread: ThreadId(text(input, "", "threadId")?),
        run: RunId(text(input, "", "runId")?),
        instructions: String::new(),
        messages: Vec::new(),
        tools: read_list(input, "tools", read_tool)?,
        context: read_list(input, "context", read_context)?,
        state: State::from_json(input.get("state").unwrap_or(&Value::Null)),
        options: delta_from_json(input.get("forwardedProps").unwrap_or(&Value::Null)),
    };
    request.options.retain(|name| name != METADATA);
    let messages = input.get("messages").and_then(Value::as_array);
    let messages = messages.ok_or_else(|| InputError::new("/messages", "must be an array"))?;
    history::read(messages, &mut request)?;
    Ok(request)
}

impl InputError {
    pub(super) fn new(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self { path: path.into(), message: message.into() }
    }
}

impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = if self.path.is_empty() { "the body" } else { &self.path };
        write!(f, "{place} {}", self.message)
    }
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

fn read_output(output: &Value) -> Result<OutputFormat, InputError> {
    let path = format!("/forwardedProps/{METADATA}/{OUTPUT}");
    let schema = output.get("schema").filter(|schema| schema.is_object()).cloned();
    let schema = schema.ok_or_else(|| InputError::new(format!("{path}/schema"), "must be a JSON Schema"))?;
    Ok(OutputFormat { name: text(output, &path, "name")?, schema })
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

pub(super) fn text(value: &Value, path: &str, name: &str) -> Result<String, InputError> {
    let found = value.get(name).and_then(Value::as_str);
    found.map(str::to_owned).ok_or_else(|| InputError::new(format!("{path}/{name}"), "must be a string"))
}
