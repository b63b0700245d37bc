//! What an AG-UI agent says, written by hand: the wire, and not our own encoder, is what a page must understand.

use serde_json::{Value, json};

/// One event of an event stream.
pub(crate) fn frame(event: &Value) -> String {
    format!("data: {event}\n\n")
}

pub(crate) fn started() -> String {
    frame(&json!({ "type": "RUN_STARTED", "threadId": "t", "runId": "r", "protocolVersion": "1.0" }))
}

pub(crate) fn finished() -> String {
    frame(&json!({ "type": "RUN_FINISHED", "threadId": "t", "runId": "r", "outcome": { "type": "success" } }))
}

pub(crate) fn text_start() -> String {
    frame(&json!({ "type": "TEXT_MESSAGE_START", "messageId": "m1", "role": "assistant" }))
}

pub(crate) fn text(delta: &str) -> String {
    frame(&json!({ "type": "TEXT_MESSAGE_CONTENT", "messageId": "m1", "delta": delta }))
}

pub(crate) fn text_end() -> String {
    frame(&json!({ "type": "TEXT_MESSAGE_END", "messageId": "m1" }))
}

pub(crate) fn call(id: &str, name: &str, arguments: &Value) -> String {
    [
        json!({ "type": "TOOL_CALL_START", "toolCallId": id, "toolCallName": name }),
        json!({ "type": "TOOL_CALL_ARGS", "toolCallId": id, "delta": arguments.to_string() }),
        json!({ "type": "TOOL_CALL_END", "toolCallId": id }),
    ]
    .iter()
    .map(frame)
    .collect()
}

/// A whole answer in words.
pub(crate) fn saying(words: &str) -> String {
    [started(), text_start(), text(words), text_end(), finished()].concat()
}

/// A whole answer that asks for calls: id, tool and arguments of each.
pub(crate) fn calling(calls: &[(&str, &str, Value)]) -> String {
    let calls: String = calls.iter().map(|(id, name, arguments)| call(id, name, arguments)).collect();
    [started(), calls, finished()].concat()
}
