//! A thread as codecs write it: turns, each call with its one result. Knows nothing of any vendor.

use serde_json::{Map, Value, json};

use crate::protocol::{AssistantMessage, Message, ModelRequest, ToolCall, ToolResult, UserMessage};

/// One turn of a thread.
pub(super) enum Turn<'a> {
    /// What the user said.
    User(Said<'a>),
    /// What the model is told in the user's place.
    Told(String),
    /// What the model answered; its calls with what came of them.
    Answer(&'a AssistantMessage, Vec<Settled<'a>>),
}

/// What the user said.
#[derive(Clone, Copy)]
pub(super) struct Said<'a> {
    /// The message.
    pub(super) message: &'a UserMessage,
    /// Whether the user has said something since.
    pub(super) earlier: bool,
}

/// A call and what came of it.
pub(super) struct Settled<'a> {
    /// The call.
    pub(super) call: &'a ToolCall,
    result: Option<&'a ToolResult>,
}

const NO_RESULT: &str =
    r#"{"status":"error","code":"interrupted","message":"no result was produced","retryable":false}"#;

impl Settled<'_> {
    /// What the model reads. Every call has something, whatever the thread looks like: servers refuse anything else.
    pub(super) fn content(&self) -> &str {
        self.result.map_or(NO_RESULT, |result| result.content.as_str())
    }

    /// Whether it failed.
    pub(super) fn is_error(&self) -> bool {
        self.result.is_none_or(|result| result.error.is_some())
    }
}

/// What stands in the user's place behind an answer that is to go on.
pub(super) const GO_ON: &str = "[Go on.]";

/// The turns of a request's thread. The user has the first word and the last, which may be results: many vendors refuse
/// a thread that begins or ends with what the model said.
pub(super) fn turns(request: &ModelRequest) -> Vec<Turn<'_>> {
    let mut turns = Vec::new();
    let last = request.messages.iter().rposition(|message| matches!(message, Message::User(_)));
    for (at, message) in request.messages.iter().enumerate() {
        let turn = match message {
            Message::User(message) => Turn::User(Said { message, earlier: last.is_some_and(|last| at < last) }),
            Message::Job { name, message } => Turn::Told(message.told_as_job(name)),
            Message::Notice { content, .. } => Turn::Told(content.clone()),
            Message::Assistant(answer) => {
                if turns.is_empty() {
                    turns.push(Turn::Told("[The conversation goes on.]".to_owned()));
                }
                let settled = |call| Settled { call, result: result_of(call, &request.messages[at + 1..]) };
                Turn::Answer(answer, answer.calls().map(settled).collect())
            }
            // Stands behind its call.
            Message::Tool(_) => continue,
        };
        turns.push(turn);
    }
    if matches!(turns.last(), Some(Turn::Answer(_, settled)) if settled.is_empty()) {
        turns.push(Turn::Told(GO_ON.to_owned()));
    }
    turns
}

// The first answer to a call; what stands behind another call of the same id is that one's.
fn result_of<'a>(call: &ToolCall, later: &'a [Message]) -> Option<&'a ToolResult> {
    let again =
        |message: &&Message| message.answer().is_some_and(|answer| answer.calls().any(|other| other.id == call.id));
    later.iter().take_while(|message| !again(message)).find_map(|message| match message {
        Message::Tool(tool) if tool.result.call == call.id => Some(&tool.result),
        _ => None,
    })
}

/// What the model is told about its work: the instructions, facts about the page, the form of the answer where its
/// provider has no way of its own to ask for one.
pub(super) fn system(request: &ModelRequest, form_in_words: bool) -> String {
    let facts = request.context.iter().map(|item| format!("{}: {}", item.description, item.value));
    let facts = facts.collect::<Vec<_>>().join("\n");
    let form = request.output.as_ref().filter(|_| form_in_words).map(|output| {
        format!(
            "Your final answer must be one JSON value that fits this JSON Schema, without any other words and without a \
             code fence:\n{}",
            output.schema
        )
    });
    let parts = [request.instructions.as_str(), facts.as_str(), form.as_deref().unwrap_or_default()];
    parts.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n\n")
}

/// The arguments of a call as an object. What is none is told as what it is: a history whose arguments are no object is
/// refused.
pub(super) fn arguments(text: &str) -> Map<String, Value> {
    match serde_json::from_str(text) {
        Ok(Value::Object(arguments)) => arguments,
        // Encoded twice.
        Ok(Value::String(inner)) if matches!(serde_json::from_str(&inner), Ok(Value::Object(_))) => arguments(&inner),
        Ok(Value::Null) => Map::new(),
        _ if text.trim().is_empty() => Map::new(),
        _ => Map::from_iter([("_raw".to_owned(), Value::from(text))]),
    }
}

/// The arguments of a call as the text of an object: as it came where it is one. Ollama and llama.cpp answer 400 or 500 to
/// a history whose arguments are not JSON.
pub(super) fn arguments_text(text: &str) -> String {
    match serde_json::from_str::<Map<String, Value>>(text) {
        Ok(_) => text.to_owned(),
        Err(_) => Value::Object(arguments(text)).to_string(),
    }
}

/// A result as an object: itself where it is one, or else under the name `output`.
pub(super) fn result_object(settled: &Settled<'_>) -> Value {
    let name = if settled.is_error() { "error" } else { "output" };
    let value = serde_json::from_str(settled.content()).unwrap_or_else(|_| Value::from(settled.content()));
    json!({ name: value })
}
