//! A thread that one vendor's model began and another's goes on with: every ordered pair of them, with all that a thread may
//! hold. What is sent breaks none of the target's rules, and nothing that only the source can read goes elsewhere.

use pagehand::protocol::{
    AssistantMessage, Message, MessageId, MessageStatus, ModelError, ModelErrorKind, ModelRequest, Part, ToolCall,
    ToolCallId, ToolMessage, ToolResult,
};
use pagehand::providers::{Api, Vendor, error};
use pagehand::wire::retry::RetryAdvice;
use serde_json::{Value, json};

use super::rules::violations;
use super::threads::{kept, over_ag_ui};
use super::{asked, result, target, user};
use crate::support::fixture;

// What a vendor's model has said in its time.
fn fixtures(vendor: &Vendor) -> &'static [&'static str] {
    match (vendor.api, vendor.name) {
        (Api::Messages, _) => &[
            "anthropic/two_calls.sse",
            "anthropic/pause_turn.sse",
            "anthropic/thoughts_between.sse",
            "anthropic/server_tool.sse",
            "anthropic/max_tokens_cut_tool.sse",
            "anthropic/max_tokens_no_args.sse",
            "anthropic/no_arg_tool.sse",
            "anthropic/unknown_kinds.sse",
            "anthropic/redacted_thinking.sse",
        ],
        (Api::GenerateContent, _) => &[
            "gemini/two_calls.sse",
            "gemini/continuation.sse",
            "gemini/sig_everywhere.sse",
            "gemini/code_and_pictures.sse",
            "gemini/sig_on_empty_text.sse",
            "gemini/stop_first.sse",
        ],
        (Api::Interactions, _) => &[
            "gemini_interactions/two_calls.sse",
            "gemini_interactions/unknown_steps.sse",
            "gemini_interactions/thoughts.sse",
            "gemini_interactions/picture.sse",
            "gemini_interactions/placeholder_args.sse",
        ],
        (Api::Responses, _) => &[
            "openai_responses/two_calls.sse",
            "openai_responses/unknown_items.sse",
            "openai_responses/thoughts.sse",
            "openai_responses/thoughts_by_id.sse",
            "openai_responses/refusal.sse",
            "openai_responses/incomplete_call.sse",
            "openai_responses/no_call_id.sse",
        ],
        (Api::OllamaChat, _) => &[
            "ollama/two_calls.ndjson",
            "ollama/no_ids.ndjson",
            "ollama/thinking.ndjson",
            "ollama/call_with_more.ndjson",
        ],
        (Api::ChatCompletions, "openrouter") => &["openai_chat/reasoning_details.sse", "openai_chat/two_calls.sse"],
        (Api::ChatCompletions, "gemini_openai") => &["openai_chat/extra_content.sse", "openai_chat/two_calls.sse"],
        (Api::ChatCompletions, "kimi") => &["openai_chat/kimi.sse", "openai_chat/reasoning_twice.sse"],
        (Api::ChatCompletions, _) => &[
            "openai_chat/two_calls.sse",
            "openai_chat/id_missing.sse",
            "openai_chat/arguments_whole.sse",
            "openai_chat/args_double_encoded.sse",
            "openai_chat/reasoning_twice.sse",
            "openai_chat/calls_without_calls.sse",
        ],
    }
}

/// An answer of this vendor's, with ids of our own that no other answer of the thread has.
fn said(vendor: &Vendor, file: &str, number: usize) -> AssistantMessage {
    renamed(kept(&target(vendor.name), &asked(), &fixture(&format!("providers/{file}"))), number)
}

fn renamed(mut answer: AssistantMessage, number: usize) -> AssistantMessage {
    answer.id = MessageId(format!("a{number}"));
    for (at, part) in answer.parts.iter_mut().enumerate() {
        if let Part::Call(call) = part {
            call.id = ToolCallId(format!("c{number}x{at}"));
        }
    }
    answer
}

/// The answer and what came of its calls; the last failed.
fn settled(answer: &AssistantMessage) -> Vec<Message> {
    let mut messages = vec![Message::Assistant(answer.clone())];
    let last = answer.calls().count().saturating_sub(1);
    for (at, call) in answer.calls().enumerate() {
        let error = (at == last).then(|| "broken".to_owned());
        let content = if at == last { "no clock" } else { "{\"tempC\":4}" }.to_owned();
        let result = ToolResult { call: call.id.clone(), content, error };
        messages.push(Message::Tool(ToolMessage { id: MessageId(format!("{}r", call.id)), result }));
    }
    messages
}

fn job(call: &str) -> Message {
    let Message::Tool(message) = result(call, "done") else { unreachable!("a result is a tool's message") };
    Message::Job { name: "get_weather".to_owned(), message }
}

fn notice() -> Message {
    Message::Notice { id: MessageId::from("n"), content: "Your answer does not fit.".to_owned() }
}

/// What a thread with this vendor may look like.
fn threads(vendor: &Vendor) -> Vec<(String, Vec<Message>)> {
    let mut threads = Vec::new();
    let mut long = Vec::new();
    for (number, file) in fixtures(vendor).iter().enumerate() {
        let answer = said(vendor, file, number);
        let after = settled(&answer);
        threads.push((format!("{file}, results last"), [&[user("Go.")], &after[..]].concat()));
        threads.push((format!("{file}, then a job and a notice"), {
            [&[user("Go.")], &after[..], &[job("c0x1"), notice(), user("And now?")]].concat()
        }));
        threads.push((format!("{file}, first of all"), [&after[..], &[user("And now?")]].concat()));
        threads.push((format!("{file}, no results"), vec![user("Go."), after[0].clone(), user("Never mind.")]));
        // Two answers of one model with the same ids, as servers give that count anew in every answer.
        let again = settled(&renamed(answer.clone(), number + 50));
        threads.push((format!("{file}, twice"), [&[user("Go.")], &after[..], &again[..]].concat()));
        let paused = file.contains("pause") || file.contains("continuation");
        if !paused {
            long.push(user("Go on."));
        }
        long.extend(after);
    }
    // An answer that was paused goes on in the next one.
    let paused = fixtures(vendor).iter().position(|file| file.contains("pause") || file.contains("continuation"));
    if let Some(at) = paused {
        let next = settled(&said(vendor, fixtures(vendor)[0], 90));
        let thread = [&[user("Go."), Message::Assistant(said(vendor, fixtures(vendor)[at], 91))], &next[..]].concat();
        threads.push(("paused".to_owned(), thread));
    }
    // As a model does that has lost its way.
    let mut many = said(vendor, fixtures(vendor)[0], 92);
    let Some(Part::Call(call)) = many.parts.iter().find(|part| matches!(part, Part::Call(_))).cloned() else {
        unreachable!("the first fixture of each has calls")
    };
    many.parts.extend((0..200).map(|at| {
        let id = format!("many{at}");
        Part::Call(ToolCall { id: ToolCallId(id.clone()), wire_id: call.wire_id.as_ref().map(|_| id), ..call.clone() })
    }));
    threads.push(("many calls".to_owned(), [&[user("Go.")], &settled(&many)[..], &[user("Oh.")]].concat()));
    long.push(job("c0x1"));
    threads.push(("all of them".to_owned(), long));
    threads.extend(cut(vendor));
    threads
}

/// Answers that broke off, everywhere in a stream where an event ends.
fn cut(vendor: &Vendor) -> Vec<(String, Vec<Message>)> {
    let file = fixtures(vendor)[0];
    let bytes = fixture(&format!("providers/{file}"));
    let border = |at: &usize| bytes[..*at].ends_with(b"\n");
    let mut found = Vec::new();
    for at in (bytes.len() / 4..bytes.len()).filter(border) {
        let events = super::events(&target(vendor.name), &asked(), &[&bytes[..at]]);
        if !events.iter().any(|event| matches!(event, pagehand::protocol::ModelEvent::TextDelta(_))) {
            continue;
        }
        let answer = AssistantMessage {
            status: MessageStatus::Truncated,
            ..renamed(kept(&target(vendor.name), &asked(), &bytes[..at]), 0)
        };
        found.push((format!("{file} cut at {at}"), vec![user("Go."), Message::Assistant(answer), user("Go on.")]));
    }
    found
}

#[test]
fn a_thread_of_any_vendor_is_taken_by_every_other() {
    for source in Vendor::all() {
        for (name, messages) in threads(source) {
            let request = ModelRequest { messages, ..asked() };
            let carried = over_ag_ui(&request);
            for vendor in Vendor::all() {
                for request in [&request, &carried] {
                    let body = target(vendor.name).write(request).expect("a body").body;
                    if vendor.name != source.name {
                        assert!(!body.contains("SEALED"), "{} → {}, {name}: {body}", source.name, vendor.name);
                    }
                    let body: Value = serde_json::from_str(&body).unwrap();
                    let found = violations(vendor, &body);
                    assert!(found.is_empty(), "{} → {}, {name}: {found:?}\n{body:#}", source.name, vendor.name);
                }
            }
        }
    }
}

#[test]
fn a_server_that_can_not_read_what_it_sealed_is_asked_without() {
    let mut left_out = 0;
    for vendor in Vendor::all() {
        let refusal = ModelError::new(ModelErrorKind::BadRequest, "Invalid `signature` in `thinking` block");
        for (name, messages) in threads(vendor) {
            let request = ModelRequest { messages, ..asked() };
            let target = target(vendor.name);
            let sealed = target.write(&request).expect("a body");
            let Some(unsealed) = target.unsealed(&request, &refusal) else {
                assert!(!sealed.body.contains("SEALED"), "{}, {name}", vendor.name);
                continue;
            };
            left_out += 1;
            let post = unsealed.write(&request).expect("a body");
            assert!(unsealed.unsealed(&request, &refusal).is_none(), "once is enough");
            assert!(post != sealed && !post.body.contains("SEALED"), "{}, {name}: {}", vendor.name, post.body);
            let body: Value = serde_json::from_str(&post.body).unwrap();
            let found = violations(vendor, &body);
            assert!(found.is_empty(), "{}, {name}: {found:?}\n{body:#}", vendor.name);
        }
    }
    assert!(left_out > 100, "{left_out}");
}

// The words as users of these APIs report them.
#[test]
fn what_is_refused_because_of_what_was_sealed_is_known_by_its_words() {
    let vendor = Vendor::find("openai_responses").unwrap();
    let messages = vec![user("Go."), Message::Assistant(said(vendor, "openai_responses/thoughts.sse", 0)), user("On.")];
    let request = ModelRequest { messages, ..asked() };
    let refused = |status: u16, body: &Value| {
        let refusal = error::of_answer(status, RetryAdvice::default(), &body.to_string());
        target(vendor.name).unsealed(&request, &refusal).is_some()
    };
    let asks_without = |status: u16, words: &str| refused(status, &json!({ "error": { "message": words } }));
    for (status, words) in [
        (400, "messages.1.content.0: Invalid `signature` in `thinking` block"),
        (400, "`thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified"),
        (400, "Corrupted thought signature."),
        (400, "Function call is missing a thought_signature in functionCall parts"),
        (400, "The encrypted content gAAA could not be verified."),
        (400, "Could not decrypt the provided encrypted_content."),
        (404, "Item with id 'rs_1' not found. Items are not persisted when `store` is set to false."),
    ] {
        assert!(asks_without(status, words), "{status} {words}");
    }
    for (status, words) in [
        (400, "Unknown parameter: 'input[0].phase'"),
        (500, "Invalid `signature` in `thinking` block"),
        (401, "Bad signature"),
        (429, "too many signatures"),
    ] {
        assert!(!asks_without(status, words), "{status} {words}");
    }
    // As OpenRouter hands on what the provider behind it said.
    for raw in ["Corrupted thought signature.", r#"{"error":{"message":"Invalid `signature` in `thinking` block"}}"#] {
        let body =
            json!({ "error": { "message": "Provider returned error", "code": 400, "metadata": { "raw": raw } } });
        assert!(refused(400, &body), "{raw}");
    }
}

#[test]
fn a_thread_that_went_round_every_vendor_is_taken_by_each() {
    let mut messages = vec![user("Go.")];
    for (number, source) in Vendor::all().iter().enumerate() {
        messages.extend(settled(&said(source, fixtures(source)[0], number)));
        messages.push(user("Go on."));
    }
    let request = ModelRequest { messages, ..asked() };
    for vendor in Vendor::all() {
        let body = target(vendor.name).write(&over_ag_ui(&request)).expect("a body").body;
        let found = violations(vendor, &serde_json::from_str(&body).unwrap());
        assert!(found.is_empty(), "{}: {found:?}\n{body}", vendor.name);
    }
}
