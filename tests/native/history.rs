//! What AG-UI carries of a thread beyond its own words: the order of parts, what only a provider can read, files, the
//! model and the form of the answer.

use std::sync::Arc;

use pagehand::ag_ui::{AgUiDecoder, AgUiEncoder, read_input, write_input};
use pagehand::protocol::{
    AssistantMessage, Attachment, FinishReason, Message, MessageId, MessageStatus, ModelEvent, ModelRequest,
    OutputFormat, Part, Prompt, RunId, Source, ThreadId, ToolCall, ToolCallId, Usage, UserMessage,
};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::support::words::words;

fn request(messages: Vec<Message>) -> ModelRequest {
    ModelRequest { messages, ..ModelRequest::new(ThreadId::from("t"), RunId::from("r")) }
}

fn answer(parts: Vec<Part>) -> Message {
    Message::Assistant(AssistantMessage { id: MessageId::from("a"), parts, status: MessageStatus::Complete })
}

fn call(number: usize, encrypted_value: Option<String>) -> Part {
    let id = format!("call_{number}");
    let (name, arguments) = ("look".to_owned(), "{}".to_owned());
    Part::Call(ToolCall { wire_id: Some(id.clone()), id: ToolCallId(id), name, arguments, encrypted_value })
}

fn carried(messages: Vec<Message>) -> Vec<Message> {
    read_input(&write_input(&request(messages))).expect("it reads what it wrote").messages
}

fn sealed(value: &str) -> Option<String> {
    Some(value.to_owned())
}

#[test]
fn an_answer_in_the_protocols_own_order_is_written_plainly() {
    let parts = vec![
        Part::Reasoning { text: "Hm.".to_owned(), encrypted_value: sealed("s") },
        Part::text("Hi."),
        call(0, sealed("c")),
    ];
    let written = write_input(&request(vec![answer(parts.clone())]));
    assert_eq!(
        written["messages"],
        json!([
            { "id": "at0", "role": "reasoning", "content": "Hm.", "encryptedValue": "s" },
            { "id": "a", "role": "assistant", "content": "Hi.", "toolCalls": [{
                "id": "call_0", "type": "function", "function": { "name": "look", "arguments": "{}" }, "encryptedValue": "c" }] },
        ])
    );
    assert_eq!(carried(vec![answer(parts.clone())]), [answer(parts)]);
}

#[test]
fn an_order_that_does_not_fit_is_not_believed() {
    let said = |parts: Value| {
        let message =
            json!({ "id": "a", "role": "assistant", "content": "Hæ.", "metadata": { "pagehand": { "parts": parts } } });
        let input = json!({ "threadId": "t", "runId": "r", "messages": [message] });
        read_input(&input).unwrap().messages
    };
    assert_eq!(said(json!([{ "text": 1 }, { "text": 2 }])), [answer(vec![Part::text("H"), Part::text("æ.")])]);
    for parts in
        [json!([{ "text": 2 }]), json!([{ "call": 0 }]), json!([{ "text": 3 }, { "reasoning": 0 }]), json!([7])]
    {
        assert_eq!(said(parts.clone()), [answer(vec![Part::text("Hæ.")])], "{parts}");
    }
}

proptest! {
    /// Whatever order parts are in, and whatever only a provider can read of them: all of it comes through.
    #[test]
    fn every_order_of_parts_comes_through(kinds in prop::collection::vec((0..3u8, any::<bool>(), "[a-zæ日]{0,3}"), 0..8)) {
        let mut calls = 0;
        let mut parts: Vec<Part> = Vec::new();
        for (kind, has, text) in kinds {
            let value = has.then(|| format!("v{}", parts.len()));
            match kind {
                0 if !text.is_empty() || has => parts.push(Part::Text { text, encrypted_value: value }),
                // Thoughts that need not come back are not sent.
                1 => parts.push(Part::Reasoning { text, encrypted_value: Some(format!("r{}", parts.len())) }),
                2 => {
                    parts.push(call(calls, value));
                    calls += 1;
                }
                _ => {}
            }
        }
        prop_assert_eq!(carried(vec![answer(parts.clone())]), [answer(parts)]);
    }
}

#[test]
fn what_only_a_provider_can_read_reaches_the_page_with_its_part() {
    let said = vec![
        ModelEvent::Start,
        ModelEvent::ReasoningStart,
        ModelEvent::ReasoningDelta("Hm.".to_owned()),
        ModelEvent::ReasoningEncrypted("thought".to_owned()),
        ModelEvent::ReasoningEnd,
        ModelEvent::ReasoningStart,
        ModelEvent::ReasoningEncrypted("whole".to_owned()),
        ModelEvent::ReasoningEnd,
        ModelEvent::TextStart,
        ModelEvent::TextDelta("Hi.".to_owned()),
        ModelEvent::TextEncrypted("text".to_owned()),
        ModelEvent::TextEnd,
        ModelEvent::CallStart { slot: 0, id: Some("c".to_owned()), name: "look".to_owned() },
        ModelEvent::CallEncrypted { slot: 0, value: "call".to_owned() },
        ModelEvent::CallEnd { slot: 0 },
        ModelEvent::Usage(Usage {
            input_tokens: 9,
            output_tokens: 7,
            cached_tokens: 5,
            reasoning_tokens: 3,
            cost_micros: Some(2),
        }),
        ModelEvent::Finish(FinishReason::Paused),
    ];
    let mut encoder = AgUiEncoder::new(ThreadId::from("t"), RunId::from("r"), 1);
    let mut decoder = AgUiDecoder::new(&request(Vec::new()));
    for event in said.clone() {
        decoder.push(encoder.encode(event).as_bytes());
    }
    decoder.finish();
    let heard: Vec<ModelEvent> = std::iter::from_fn(|| decoder.next()).collect();
    assert_eq!(words(&heard), words(&said));
}

#[test]
fn files_the_model_and_the_form_of_the_answer_reach_the_gateway() {
    let file = |name: &str, media_type: &str, source| Attachment {
        name: name.to_owned(),
        media_type: media_type.to_owned(),
        source,
    };
    let attachments = vec![
        file("a.png", "image/png", Source::Data("AAAA".into())),
        file("", "application/pdf", Source::Url("https://example.org/a.pdf".to_owned())),
    ];
    for text in ["Look.", ""] {
        let prompt = Prompt { attachments: attachments.clone(), ..Prompt::from(text) };
        let said = Message::User(UserMessage::of(MessageId::from("u"), prompt));
        assert_eq!(carried(vec![said.clone()]), [said]);
    }
    let mut asked = request(Vec::new());
    asked.model = "clever".to_owned();
    asked.output = Some(Arc::new(OutputFormat { name: "x".to_owned(), schema: json!({ "type": "object" }) }));
    asked.options.insert("mine".to_owned(), json!(1));
    let read = read_input(&write_input(&asked)).unwrap();
    assert_eq!((read.model, read.output), (asked.model, asked.output));
    assert_eq!(read.options.iter().collect::<Vec<_>>(), [("mine", &json!(1))]);
    let bad = json!({ "threadId": "t", "runId": "r", "messages": [], "forwardedProps": { "pagehand": { "output": { "name": "x" } } } });
    assert_eq!(
        read_input(&bad).unwrap_err().to_string(),
        "/forwardedProps/pagehand/output/schema must be a JSON Schema"
    );
}

#[test]
fn a_part_that_is_no_file_is_refused_with_its_place() {
    let with = |part: Value| {
        let message = json!({ "id": "u", "role": "user", "content": [{ "type": "text", "text": "x" }, part] });
        read_input(&json!({ "threadId": "t", "runId": "r", "messages": [message] }))
    };
    let place = "/messages/0/content/1/source";
    for (part, expected) in [
        (json!({ "type": "image" }), format!("{place} is missing")),
        (json!({ "type": "image", "source": { "type": "data" } }), format!("{place}/value must be a string")),
        (
            json!({ "type": "image", "source": { "type": "file", "value": "f1" } }),
            format!("{place}/type \"file\" is no source that this gateway can give a model; it takes data and url"),
        ),
    ] {
        assert_eq!(with(part).unwrap_err().to_string(), expected);
    }
    let read = with(json!({ "type": "image", "source": { "type": "url", "value": "https://example.org/a" } })).unwrap();
    let Message::User(said) = &read.messages[0] else { panic!("no user") };
    assert_eq!(said.attachments[0].media_type, "image/*");
}
