//! Codecs: what each vendor's stream becomes, and the exact bodies that are sent.
//!
//! A fixture says in its first line where its bytes come from.

mod anthropic;
mod gemini;
mod gemini_interactions;
mod mutations;
mod names;
mod ollama;
mod openai_chat;
mod openai_responses;
mod retry_evidence;
mod rules;
mod switching;
mod target;
mod thoughts;
mod threads;
mod transport;

use std::sync::Arc;

use pagehand::protocol::{
    AssistantMessage, Attachment, Message, MessageId, MessageStatus, ModelError, ModelEvent, ModelRequest,
    OutputFormat, Part, RunId, Source, ThreadId, ToolCall, ToolCallId, ToolMessage, ToolOffer, ToolResult, UserMessage,
};
use pagehand::providers::{Target, Vendor};
use serde_json::{Map, Value, json};

use crate::support::words::words;
use crate::support::{fixture, whole_and_in_pieces};

/// A model named `small` of a vendor.
fn target(vendor: &str) -> Target {
    let vendor = Vendor::find(vendor).unwrap_or_else(|| panic!("there is no vendor {vendor}"));
    let url = vendor.url.unwrap_or("http://localhost:1");
    Target::new(vendor, url, "small", Map::new(), None)
}

/// The events of an answer in these pieces.
fn events(target: &Target, request: &ModelRequest, pieces: &[&[u8]]) -> Vec<ModelEvent> {
    let mut decoder = target.decoder(request);
    let mut events = Vec::new();
    for piece in pieces {
        decoder.push(piece);
        events.extend(std::iter::from_fn(|| decoder.next()));
    }
    decoder.finish();
    events.extend(std::iter::from_fn(|| decoder.next()));
    events
}

/// The same in words; what is sealed without its route.
fn heard(vendor: &str, pieces: &[&[u8]]) -> Vec<String> {
    let mut events = events(&target(vendor), &request(Vec::new()), pieces);
    for event in &mut events {
        if let ModelEvent::TextEncrypted(value)
        | ModelEvent::ReasoningEncrypted(value)
        | ModelEvent::CallEncrypted { value, .. } = event
            && let Some((_, fields)) = value.split_once(':')
        {
            *value = fields.to_owned();
        }
    }
    words(&events)
}

/// Decodes bytes whole, byte by byte and in pieces, with equal results; and cut before each place where a mark of an end
/// stands for the first time, where it must never say that it is done.
fn check_bytes(vendor: &str, bytes: &[u8], ends: &[&str], expected: &[&str]) {
    assert_eq!(whole_and_in_pieces(bytes, |pieces| heard(vendor, pieces)), expected);
    let text = String::from_utf8_lossy(bytes);
    let Some(first) = ends.iter().filter_map(|mark| text.find(mark)).min() else { return };
    for at in 0..first {
        let cut = heard(vendor, &[&bytes[..at]]);
        assert!(!cut.iter().any(|word| word.starts_with("finish")), "cut at {at}: {cut:?}");
    }
}

/// A fixture of a vendor, by its file's name.
fn check_file(vendor: &str, file: &str, ends: &[&str], expected: &[&str]) {
    let expected = [&["start"], expected].concat();
    check_bytes(vendor, &fixture(&format!("providers/{file}")), ends, &expected);
}

/// The error that a body is.
fn error_in(vendor: &str, body: &Value) -> Option<ModelError> {
    let events = events(&target(vendor), &request(Vec::new()), &[body.to_string().as_bytes()]);
    events.into_iter().find_map(|event| if let ModelEvent::Error(error) = event { Some(error) } else { None })
}

/// The body that is sent.
fn body(vendor: &str, request: &ModelRequest) -> Value {
    serde_json::from_str(&target(vendor).write(request).expect("a body").body).unwrap()
}

// ---- requests ----

/// A request with the tool `get_weather`, and nothing said beside the thread.
fn request(messages: Vec<Message>) -> ModelRequest {
    ModelRequest {
        messages,
        tools: vec![Arc::new(ToolOffer {
            name: "get_weather".to_owned(),
            description: "Reads the weather.".to_owned(),
            parameters: Arc::new(json!({ "type": "object" })),
        })],
        ..ModelRequest::new(ThreadId::from("t"), RunId::from("r"))
    }
}

/// Two tools, one of them without arguments, instructions, and a question.
fn asked() -> ModelRequest {
    let offer = |name: &str, description: &str, parameters: Value| {
        Arc::new(ToolOffer {
            name: name.to_owned(),
            description: description.to_owned(),
            parameters: Arc::new(parameters),
        })
    };
    let mut asked = request(vec![user("Weather and time?")]);
    asked.instructions = "Be brief.".to_owned();
    asked.tools =
        vec![offer("get_weather", "Reads the weather.", city()), offer("get_time", "Reads the clock.", no_arguments())];
    asked
}

fn city() -> Value {
    json!({
        "type": "object", "properties": { "city": { "type": "string" } }, "required": ["city"],
        "additionalProperties": false,
    })
}

fn no_arguments() -> Value {
    json!({ "type": "object", "properties": {} })
}

/// What `asked` was answered with, by a model with these ids for its calls: words, two calls, of which the second failed.
fn followed(ids: Option<[&str; 2]>) -> ModelRequest {
    let call = |at: usize, name: &str, arguments: &str| {
        Part::Call(ToolCall {
            id: ToolCallId(format!("local{at}")),
            wire_id: ids.map(|ids| ids[at].to_owned()),
            name: name.to_owned(),
            arguments: arguments.to_owned(),
            encrypted_value: None,
        })
    };
    let parts =
        vec![Part::text("Checking both."), call(0, "get_weather", r#"{"city":"Oslo"}"#), call(1, "get_time", "")];
    let answer = AssistantMessage { id: MessageId::from("a"), parts, status: MessageStatus::Complete };
    let failed = ToolResult {
        call: ToolCallId::from("local1"),
        content: "no clock".to_owned(),
        error: Some("broken".to_owned()),
    };
    let failed = Message::Tool(ToolMessage { id: MessageId::from("f"), result: failed });
    let mut followed = asked();
    followed.messages.extend([Message::Assistant(answer), result("local0", r#"{"tempC":4}"#), failed]);
    followed
}

fn attached(files: &[(&str, &str, Source)]) -> ModelRequest {
    let attachments = files.iter().map(|(name, media_type, source)| Attachment {
        name: (*name).to_owned(),
        media_type: (*media_type).to_owned(),
        source: source.clone(),
    });
    let mut said = UserMessage::new(MessageId::from("u"), "Look.");
    said.attachments = attachments.collect();
    let mut request = request(vec![Message::User(said)]);
    request.tools.clear();
    request
}

/// A file that is here, of which the bytes are `hæ`.
fn here(name: &'static str, media_type: &'static str) -> (&'static str, &'static str, Source) {
    (name, media_type, Source::Data("aMOm".into()))
}

/// One at an address.
fn there(name: &'static str, media_type: &'static str) -> (&'static str, &'static str, Source) {
    (name, media_type, Source::Url(format!("https://example.org/{name}")))
}

/// Why a vendor takes a file not.
fn refusal(vendor: &str, file: (&str, &str, Source)) -> String {
    target(vendor).write(&attached(&[file])).expect_err("a refusal").message
}

/// A form that is wanted of the answer.
fn formed(mut request: ModelRequest, schema: Value) -> ModelRequest {
    request.output = Some(Arc::new(OutputFormat { name: "weather".to_owned(), schema }));
    request
}

fn without_tools(mut request: ModelRequest) -> ModelRequest {
    request.tools.clear();
    request
}

/// What stands beside the instructions where a form is told in words.
fn form_in_words(schema: &Value) -> String {
    format!(
        "Be brief.\n\nYour final answer must be one JSON value that fits this JSON Schema, without any other words and \
         without a code fence:\n{schema}"
    )
}

fn user(text: &str) -> Message {
    Message::User(UserMessage::new(MessageId::from("u"), text))
}

fn answer(text: &str, calls: &[(&str, &str)]) -> Message {
    let text = (!text.is_empty()).then(|| Part::text(text));
    let call = |(id, arguments): &(&str, &str)| {
        Part::Call(ToolCall {
            id: ToolCallId::from(*id),
            wire_id: None,
            name: "get_weather".to_owned(),
            arguments: (*arguments).to_owned(),
            encrypted_value: None,
        })
    };
    let parts = text.into_iter().chain(calls.iter().map(call)).collect();
    Message::Assistant(AssistantMessage { id: MessageId::from("a"), parts, status: MessageStatus::Complete })
}

fn result(call: &str, content: &str) -> Message {
    let result = ToolResult { call: ToolCallId::from(call), content: content.to_owned(), error: None };
    Message::Tool(ToolMessage { id: MessageId(format!("{call}r")), result })
}
