//! Answers of a given form, parts that only a provider can read, pauses: what the loop makes of them.

use std::sync::Arc;

use pagehand::agent::Input;
use pagehand::protocol::{
    EndReason, Event, FinishReason, Message, MessageStatus, ModelEvent, OutputFormat, Part, Prompt, Usage,
};
use serde_json::{Value, json};

use crate::support::loop_driver::{Loop, OSLO};

fn wanted() -> Option<Arc<OutputFormat>> {
    let schema = json!({
        "type": "object", "required": ["city", "degrees"], "additionalProperties": false,
        "properties": { "city": { "type": "string" }, "degrees": { "type": "integer" } },
    });
    Some(Arc::new(OutputFormat { name: "weather".to_owned(), schema }))
}

fn asked() -> Loop {
    let mut world = Loop::new();
    world.give(Input::UserMessage(Prompt { output: wanted(), ..Prompt::from("How warm is Oslo?") }));
    world
}

fn outputs(world: &Loop) -> Vec<&Value> {
    world
        .events
        .iter()
        .filter_map(|event| if let Event::Output { value, .. } = event { Some(value) } else { None })
        .collect()
}

fn notices(world: &Loop) -> usize {
    world.run.transcript().messages().iter().filter(|message| matches!(message, Message::Notice { .. })).count()
}

#[test]
fn an_answer_of_the_form_that_was_asked_for_is_its_value() {
    for text in [
        r#"{"city":"Oslo","degrees":4}"#,
        "  {\"city\":\"Oslo\",\"degrees\":4}\n",
        "```json\n{\"city\":\"Oslo\",\"degrees\":4}\n```",
    ] {
        let mut world = asked();
        assert_eq!(world.requests[0].output, wanted());
        world.answer(text);
        assert_eq!(outputs(&world), [&json!({ "city": "Oslo", "degrees": 4 })], "{text}");
        assert_eq!((world.ends(), notices(&world)), (vec!["completed"], 0));
    }
}

#[test]
fn tools_are_called_before_the_form_is_looked_at() {
    let mut world = asked();
    world.words("I look.");
    world.step(&[("a", "weather_read", OSLO)]);
    world.works("weather_read", &json!(4));
    assert_eq!(world.requests[1].output, wanted(), "every step of the run is asked for it");
    world.answer(r#"{"city":"Oslo","degrees":4}"#);
    assert_eq!(outputs(&world).len(), 1);
}

#[test]
fn words_on_the_way_to_the_value_are_not_held_against_it() {
    let mut world = asked();
    world.words("I look.");
    world.model(ModelEvent::TextEnd);
    world.model(ModelEvent::TextStart);
    world.answer(r#"{"city":"Oslo","degrees":4}"#);
    assert_eq!((outputs(&world).len(), world.ends(), notices(&world)), (1, vec!["completed"], 0));
}

#[test]
fn an_answer_of_another_form_is_mended_once() {
    for (text, told) in [
        ("It is four degrees.", "It is not JSON"),
        (r#"{"city":"Oslo","degrees":"four"}"#, "degrees"),
        (r#"{"city":"Oslo"}"#, "degrees"),
    ] {
        let mut world = asked();
        world.answer(text);
        let Some(Message::Notice { content, .. }) = world.requests[1].messages.last() else {
            panic!("the model is not told: {:?}", world.requests[1].messages);
        };
        assert!(content.contains(told), "{content}");
        world.answer(r#"{"city":"Oslo","degrees":4}"#);
        assert_eq!((outputs(&world).len(), world.ends(), notices(&world)), (1, vec!["completed"], 1));
    }
    let mut world = asked();
    world.answer("Four.");
    world.answer("Still four.");
    assert_eq!((outputs(&world).len(), world.ends(), notices(&world)), (0, vec!["output-mismatch"], 1));
    let Some(EndReason::OutputMismatch { why }) = world.run.last_end() else { panic!("{:?}", world.run.last_end()) };
    assert!(why.contains("It is not JSON"), "{why}");
}

#[test]
fn a_reload_in_the_middle_asks_for_the_same_form_and_mends_once_in_all() {
    let mut world = asked();
    world.answer("Four.");
    world.reload();
    world.give(Input::Resume);
    assert_eq!(world.requests.last().unwrap().output, wanted());
    assert!(matches!(world.requests.last().unwrap().messages.last(), Some(Message::Notice { .. })));
    world.answer("Four, I said.");
    assert_eq!((world.ends().pop(), notices(&world)), (Some("output-mismatch"), 1));
    // What is said next is asked for in no form.
    world.user("Thank you.");
    assert_eq!(world.requests.last().unwrap().output, None);
}

#[test]
fn a_model_that_pauses_is_asked_again_with_what_it_said() {
    let mut world = Loop::asked();
    world.words("I am still");
    world.model(ModelEvent::Finish(FinishReason::Paused));
    assert_eq!(world.requests.len(), 2);
    assert!(
        matches!(world.requests[1].messages.last(), Some(Message::Assistant(answer)) if answer.text() == "I am still")
    );
    world.answer("searching.");
    assert_eq!(world.ends(), ["completed"]);
}

#[test]
fn parts_keep_their_borders_and_what_only_their_provider_reads() {
    let sealed = |value: &str| Some(value.to_owned());
    let mut world = Loop::asked();
    for event in [
        ModelEvent::ReasoningStart,
        ModelEvent::ReasoningEncrypted("whole".to_owned()),
        ModelEvent::ReasoningEnd,
        ModelEvent::ReasoningStart,
        ModelEvent::ReasoningDelta("Hm.".to_owned()),
        ModelEvent::ReasoningEnd,
        // After its end, as some agents do.
        ModelEvent::ReasoningEncrypted("signed".to_owned()),
        ModelEvent::TextStart,
        ModelEvent::TextDelta("One".to_owned()),
        ModelEvent::TextEnd,
        ModelEvent::TextStart,
        ModelEvent::TextDelta(" two".to_owned()),
        ModelEvent::TextEncrypted("first".to_owned()),
        ModelEvent::TextEncrypted("second".to_owned()),
        ModelEvent::TextEnd,
        ModelEvent::TextStart,
        ModelEvent::TextEncrypted("empty".to_owned()),
        ModelEvent::TextEnd,
        ModelEvent::TextStart,
        ModelEvent::TextEnd,
    ] {
        world.model(event);
    }
    world.model(ModelEvent::Finish(FinishReason::Done));
    let expected = [
        Part::Reasoning { text: String::new(), encrypted_value: sealed("whole") },
        Part::Reasoning { text: "Hm.".to_owned(), encrypted_value: sealed("signed") },
        Part::text("One"),
        Part::Text { text: " two".to_owned(), encrypted_value: sealed("second") },
        Part::Text { text: String::new(), encrypted_value: sealed("empty") },
    ];
    let parts = |world: &Loop| world.run.transcript().messages()[1].answer().map(|answer| answer.parts.clone());
    assert_eq!(parts(&world).as_deref(), Some(&expected[..]));
    let whole = parts(&world);
    world.reload();
    assert_eq!(parts(&world), whole, "the journal has all of it");
}

#[test]
fn thoughts_that_must_come_back_are_sent_and_those_that_need_not_are_not() {
    let mut world = Loop::asked();
    world.model(ModelEvent::ReasoningDelta("Hm.".to_owned()));
    world.cut();
    world.again();
    assert!(!world.requests[1].messages.iter().any(|message| matches!(message, Message::Assistant(_))));
    let statuses: Vec<MessageStatus> = world.answers().into_iter().map(|(_, status)| status).collect();
    assert_eq!(statuses, [MessageStatus::Superseded]);
}

#[test]
fn tokens_are_added_up_with_those_of_the_cache_and_of_thinking() {
    let mut world = Loop::asked();
    let usage = |input, output, cached, reasoning| Usage {
        input_tokens: input,
        output_tokens: output,
        cached_tokens: cached,
        reasoning_tokens: reasoning,
        cost_micros: None,
    };
    world.model(ModelEvent::Usage(usage(10, 5, 0, 2)));
    world.step(&[("a", "weather_read", OSLO)]);
    world.works("weather_read", &json!(4));
    world.model(ModelEvent::Usage(usage(20, 3, 10, 0)));
    let told = world
        .events
        .iter()
        .rev()
        .find_map(|event| if let Event::Usage { run, .. } = event { Some(*run) } else { None });
    assert_eq!(told, Some(usage(30, 8, 10, 2)));
    // What a reload reads of the steps before.
    world.reload();
    world.give(Input::Resume);
    world.model(ModelEvent::Usage(usage(1, 1, 1, 1)));
    let told = world
        .events
        .iter()
        .rev()
        .find_map(|event| if let Event::Usage { run, .. } = event { Some(*run) } else { None });
    assert_eq!(told, Some(usage(11, 6, 1, 3)));
}
