//! The rules of the loop, each with a scripted model.

use pagehand::agent::{Input, Limits};
use pagehand::protocol::{
    Attachment, EndReason, Entry, Event, FinishReason, Message, MessageStatus, ModelError, ModelErrorKind, ModelEvent,
    Outcome, Part, Prompt, Scope, Source, Usage, UserMessage,
};
use serde_json::{Value, json};

use crate::support::loop_driver::{Asked, Loop, OSLO, ROME, fine};
use crate::support::tools;

// ---- collect ----

#[test]
fn no_call_runs_before_the_step_ends() {
    let mut world = Loop::asked();
    world.words("Looking.");
    world.calls(&[("a", "weather_read", OSLO), ("b", "page_look", ROME)]);
    assert_eq!(world.ran(), [""; 0]);
    assert_eq!(world.life("weather_read"), ["input-streaming", "input-available"]);
    world.model(ModelEvent::Finish(FinishReason::Calls));
    assert_eq!(world.ran(), ["weather_read", "page_look"]);
}

#[test]
fn an_answer_without_calls_ends_the_run() {
    let mut world = Loop::asked();
    world.model(ModelEvent::Start);
    world.model(ModelEvent::ReasoningStart);
    world.model(ModelEvent::ReasoningDelta("Hm.".to_owned()));
    world.model(ModelEvent::ReasoningEnd);
    world.answer("Sunny.");
    assert_eq!(world.ends(), ["completed"]);
    assert_eq!(world.answers(), [("Sunny.".to_owned(), MessageStatus::Complete)]);
    let Some(Message::Assistant(answer)) = world.run.transcript().messages().last() else { panic!("no answer") };
    assert_eq!(answer.parts[0], Part::reasoning("Hm.".to_owned()));
}

#[test]
fn text_that_turns_out_to_be_thoughts_is_kept_as_thoughts_and_not_sent_as_words() {
    let mut world = Loop::asked();
    world.model(ModelEvent::Start);
    world.model(ModelEvent::TextStart);
    world.model(ModelEvent::TextDelta("Hm.".to_owned()));
    world.model(ModelEvent::TextWasReasoning);
    world.model(ModelEvent::TextWasReasoning);
    world.model(ModelEvent::TextEnd);
    let told: Vec<&Event> =
        world.events.iter().filter(|event| matches!(event, Event::TextWasReasoning { .. })).collect();
    let [event] = told[..] else { panic!("it is told once: {told:?}") };
    assert_eq!(event.to_json().and_then(|event| Event::from_json(&event)).as_ref(), Some(event), "to another tab");
    world.model(ModelEvent::TextStart);
    world.model(ModelEvent::TextDelta("Sunny.".to_owned()));
    let parts = [Part::reasoning("Hm."), Part::text("Sunny.")];
    let kept =
        world.journal.iter().filter_map(|entry| if let Entry::Part { part, .. } = entry { Some(part) } else { None });
    assert_eq!(kept.collect::<Vec<_>>(), [&parts[0]]);
    world.model(ModelEvent::TextEnd);
    world.model(ModelEvent::Finish(FinishReason::Done));
    assert_eq!(world.answers(), [("Sunny.".to_owned(), MessageStatus::Complete)]);
    world.reload();
    let parts_of = |message: &Message| message.answer().map(|answer| answer.parts.clone());
    assert_eq!(world.run.transcript().messages().last().and_then(parts_of), Some(parts.to_vec()), "after a reload");
    world.user("And tomorrow?");
    let sent = &world.requests.last().unwrap().messages;
    assert_eq!(sent.iter().find_map(parts_of), Some(parts.to_vec()), "and to the gateway");
}

#[test]
fn parts_keep_the_order_they_came_in() {
    let mut world = Loop::asked();
    world.words("First.");
    world.model(ModelEvent::CallStart { slot: 0, id: None, name: "page_look".to_owned() });
    world.words("Second.");
    world.words("Third.");
    world.model(ModelEvent::CallDelta { slot: 0, text: OSLO.to_owned() });
    world.model(ModelEvent::Finish(FinishReason::Calls));
    let Some(Message::Assistant(answer)) = world.run.transcript().messages().last() else { panic!("no answer") };
    let order: Vec<&str> = answer
        .parts
        .iter()
        .map(|part| match part {
            Part::Text { text, .. } | Part::Reasoning { text, .. } => text.as_str(),
            Part::Call(call) => call.arguments.as_str(),
        })
        .collect();
    assert_eq!(order, ["First.", OSLO, "Second.", "Third."]);
}

#[test]
fn the_next_step_is_sent_every_result() {
    let mut world = Loop::called(&[("a", "weather_read", OSLO)]);
    world.works("weather_read", &json!({ "celsius": 4 }));
    let request = world.requests.last().unwrap();
    assert_eq!(world.requests.len(), 2);
    assert_eq!(request.instructions, "Be brief.");
    assert_eq!(request.tools.len(), 7);
    let Some(Message::Tool(tool)) = request.messages.last() else { panic!("no result is sent") };
    assert_eq!(tool.result.content, r#"{"celsius":4}"#);
}

// ---- streams that break off ----

#[test]
fn an_answer_that_breaks_off_runs_nothing_and_is_asked_for_again() {
    let mut world = Loop::asked_within(Limits { max_retries: 1, ..Limits::default() });
    world.words("It is");
    world.calls(&[("a", "weather_read", OSLO)]);
    world.cut();
    assert_eq!(world.ran(), [""; 0]);
    assert_eq!(world.life("weather_read").last(), Some(&"cancelled"));
    assert_eq!(world.answers(), [("It is".to_owned(), MessageStatus::Superseded)]);
    world.again();
    assert_eq!(world.requests.len(), 2);
    assert_eq!(world.requests[1].messages, world.requests[0].messages, "the half answer is not sent back");
    world.words("It was");
    world.cut();
    assert_eq!(world.requests.len(), 2, "not for ever");
    assert_eq!(world.ends(), ["truncated"]);
    assert_eq!(world.answers()[1], ("It was".to_owned(), MessageStatus::Truncated));
}

#[test]
fn an_answer_without_anything_in_it_is_said_so_and_may_be_tried_again() {
    let mut world = Loop::new();
    world.user("Weather?");
    world.words("");
    world.model(ModelEvent::Finish(FinishReason::Done));
    assert_eq!((world.ends(), world.answers()), (vec!["empty"], vec![]));
    world.give(Input::Retry);
    world.answer("Rain.");
    assert_eq!(world.ends(), ["empty", "completed"]);
    assert_eq!(world.requests.last().map(|request| request.messages.len()), Some(1));
}

#[test]
fn an_answer_that_breaks_off_before_its_first_word_leaves_no_message() {
    let mut world = Loop::asked();
    for _ in 0..4 {
        world.cut();
        world.again();
    }
    world.cut();
    assert_eq!(world.answers(), []);
    assert_eq!(world.ends(), ["truncated"]);
}

#[test]
fn what_the_agent_ran_in_an_answer_that_broke_off_is_kept() {
    let mut world = Loop::asked();
    world.calls(&[("a", "their_tool", "{}"), ("b", "weather_read", OSLO)]);
    world.model(ModelEvent::CallResult { slot: 0, content: "done".to_owned() });
    world.cut();
    assert_eq!(world.requests.len(), 1);
    assert_eq!(world.ends(), ["truncated"]);
    assert_eq!(world.results(), [("their_tool".to_owned(), "done".to_owned())], "what it ran is kept, the rest is not");
    assert_eq!(world.ran(), [""; 0]);
}

#[test]
fn a_call_the_agent_ran_itself_is_not_run_again() {
    let mut world = Loop::asked();
    world.calls(&[("a", "weather_read", OSLO), ("b", "page_look", ROME)]);
    world.model(ModelEvent::CallResult { slot: 0, content: "4 degrees".to_owned() });
    world.model(ModelEvent::Finish(FinishReason::Calls));
    assert_eq!(world.ran(), ["page_look"]);
    world.works("page_look", &fine());
    assert_eq!(world.codes(), ["4 degrees", r#"{"fine":true}"#]);
    world.calls(&[("c", "weather_read", ROME)]);
    world.model(ModelEvent::CallResult { slot: 0, content: "9 degrees".to_owned() });
    world.model(ModelEvent::Finish(FinishReason::Calls));
    assert_eq!(world.ends(), ["completed"], "with nothing left for us the run ends");
}

#[test]
fn a_model_that_is_silent_too_long_is_asked_once_more_and_then_given_up() {
    let mut world = Loop::asked_within(Limits { model_idle_ms: 5_000, ..Limits::default() });
    world.wait(4_000);
    world.words("It");
    assert_eq!(world.run.wake_at(), Some(world.at + 5_000));
    world.wait(4_999);
    assert_eq!(world.cancelled_models, [0u64; 0]);
    world.wait(1);
    assert_eq!(world.cancelled_models, [1]);
    world.again();
    assert_eq!(world.requests.len(), 2);
    world.wait(5_000);
    assert_eq!(world.cancelled_models, [1, 2]);
    assert_eq!(world.ends(), ["truncated"]);
    assert_eq!(world.run.wake_at(), None);
}

#[test]
fn what_a_cancelled_stream_still_says_is_ignored() {
    let mut world = Loop::asked();
    world.cut();
    world.again();
    let told = world.events.len();
    world.give(Input::Model { call: 1, event: ModelEvent::TextDelta("late".to_owned()) });
    world.give(Input::Model { call: 1, event: ModelEvent::Finish(FinishReason::Done) });
    world.give(Input::Model { call: 1, event: ModelEvent::Error(ModelError::new(ModelErrorKind::Network, "late")) });
    world.give(Input::ModelClosed { call: 1 });
    assert_eq!(world.events.len(), told);
    world.answer("Sunny.");
    assert_eq!(world.ends(), ["completed"]);
    world.cut();
    assert_eq!(world.ends(), ["completed"], "the end of a stream that finished says nothing new");
}

// ---- ids ----

#[test]
fn one_id_twice_in_a_step_is_one_call() {
    let world = Loop::called(&[("a", "weather_read", OSLO), ("a", "weather_read", OSLO)]);
    assert_eq!(world.ran(), ["weather_read"]);
    assert!(world.notes()[0].contains("twice under one id"), "{:?}", world.notes());
}

#[test]
fn the_same_tool_with_other_arguments_is_another_call() {
    for ids in [["a", "b"], ["", ""]] {
        let world = Loop::called(&[(ids[0], "weather_read", OSLO), (ids[1], "weather_read", ROME)]);
        assert_eq!(world.ran(), ["weather_read", "weather_read"]);
        assert_ne!(world.started[0].call, world.started[1].call);
    }
}

#[test]
fn the_same_call_under_another_id_is_another_call() {
    let world = Loop::called(&[("a", "weather_read", OSLO), ("b", "weather_read", OSLO)]);
    assert_eq!(world.ran(), ["weather_read", "weather_read"]);
}

#[test]
fn a_call_that_comes_again_in_a_later_step_is_answered_without_being_run() {
    let mut world = Loop::called(&[("a", "weather_read", OSLO)]);
    world.works("weather_read", &fine());
    world.step(&[("a", "weather_read", OSLO)]);
    assert_eq!(world.ran(), ["weather_read"]);
    assert_eq!(world.codes()[1], "duplicate_call");
    assert!(world.run.is_running(), "the model is told and goes on");
    // A server that counts anew in every answer gives the same id to what the user has asked for again.
    world.answer("Fine.");
    world.user("Look again.");
    world.step(&[("a", "weather_read", OSLO)]);
    assert_eq!(world.ran(), ["weather_read", "weather_read"]);
}

#[test]
fn a_model_that_says_it_is_at_work_is_waited_for() {
    let mut world = Loop::asked();
    for _ in 0..4 {
        world.wait(100_000);
        world.model(ModelEvent::Alive);
    }
    assert_eq!(world.cancelled_models, [0; 0]);
    world.wait(119_999);
    assert_eq!(world.cancelled_models, [0; 0]);
    world.wait(1);
    assert_eq!(world.cancelled_models, [1], "two minutes without a sign");
}

#[test]
fn an_id_that_a_later_step_gives_to_another_call_is_another_call() {
    let mut world = Loop::called(&[("call_0", "weather_read", OSLO)]);
    world.works("weather_read", &fine());
    world.step(&[("call_0", "weather_read", ROME)]);
    world.works("weather_read", &fine());
    world.step(&[("call_0", "page_look", ROME)]);
    assert_eq!(world.ran(), ["weather_read", "weather_read", "page_look"]);
}

#[test]
fn a_missing_id_stays_missing() {
    let mut world = Loop::called(&[("", "weather_read", OSLO), ("a", "page_look", OSLO)]);
    world.works("weather_read", &fine());
    world.works("page_look", &fine());
    let sent = &world.requests.last().unwrap().messages;
    let Some(Message::Assistant(answer)) = sent.iter().find(|message| matches!(message, Message::Assistant(_))) else {
        panic!("no answer is sent")
    };
    let ids: Vec<Option<&str>> = answer.calls().map(|call| call.wire_id.as_deref()).collect();
    assert_eq!(ids, [None, Some("a")]);
    assert!(answer.calls().all(|call| !call.id.0.is_empty() && call.id.0 != "a"));
}

// ---- calls at once ----

#[test]
fn calls_of_both_scopes_run_at_once() {
    let world = Loop::called(&[("a", "weather_read", OSLO), ("b", "page_look", OSLO), ("c", "weather_read", ROME)]);
    let scopes: Vec<Scope> = world.started.iter().map(|request| request.scope).collect();
    assert_eq!(scopes, [Scope::Server, Scope::Browser, Scope::Server]);
}

#[test]
fn results_go_back_in_call_order_whatever_order_they_come_in() {
    let orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
    for order in orders {
        let mut world =
            Loop::called(&[("a", "weather_read", OSLO), ("b", "page_look", OSLO), ("c", "weather_read", ROME)]);
        let calls: Vec<_> = world.started.iter().map(|request| request.call.clone()).collect();
        for at in order {
            assert_eq!(world.requests.len(), 1, "the model waits for all of them");
            world.outcome(&calls[at], Outcome::Result(json!(at)));
        }
        assert_eq!(world.codes(), ["0", "1", "2"], "{order:?}");
        assert_eq!(world.requests.len(), 2);
    }
}

#[test]
fn a_call_that_is_asked_about_does_not_hold_up_the_others() {
    let mut world = Loop::called(&[("a", "order_refund", OSLO), ("b", "weather_read", OSLO)]);
    assert_eq!(world.ran(), ["weather_read"]);
    world.works("weather_read", &fine());
    assert_eq!(world.requests.len(), 1);
    world.approve("order_refund", None);
    world.works("order_refund", &fine());
    assert_eq!(world.requests.len(), 2);
}

// ---- exactly one result a call ----

// A call, what happens to it, and what the model reads: the code, whether to repeat the call, some of the words.
type Failure<'a> = (Asked<'a>, fn(&mut Loop), &'a str, bool, &'a str);

#[test]
fn every_way_to_fail_is_one_result_the_model_can_act_on() {
    let cases: &[Failure<'_>] = &[
        (("a", "weather_raed", OSLO), |_| {}, "unknown_tool", false, "The nearest names are: weather_read."),
        (("a", "xyzzy", OSLO), |_| {}, "unknown_tool", false, "There is no tool with a similar name."),
        (("a", "", OSLO), |_| {}, "unknown_tool", false, "Do not call"),
        (("a", "weather_read", "{\"city\":"), |_| {}, "invalid_json", true, "one complete JSON object"),
        (("a", "weather_read", "[1]"), |_| {}, "invalid_json", true, "not an object"),
        (("a", "weather_read", "{}"), |_| {}, "invalid_arguments", true, "city is missing"),
        (("a", "weather_read", r#"{"city":4}"#), |_| {}, "invalid_arguments", true, "city must be a string"),
        (
            ("a", "weather_read", OSLO),
            |world| world.fails("weather_read", "No such city."),
            "tool_error",
            false,
            "No such city.",
        ),
        (("a", "slow_read", OSLO), |world| world.wait(1_000), "timeout", false, "do not simply repeat"),
        (
            ("a", "order_refund", OSLO),
            |world| world.deny("order_refund", Some("too much")),
            "denied",
            false,
            "too much",
        ),
        (("a", "order_refund", OSLO), |world| world.deny("order_refund", None), "denied", false, "Do not repeat"),
        (("a", "weather_read", OSLO), Loop::stop, "cancelled", false, "whether it took effect is unknown"),
        (("a", "order_refund", OSLO), Loop::stop, "cancelled", false, "It was not run"),
    ];
    for (call, happens, code, retryable, words) in cases {
        let mut world = Loop::called(&[*call]);
        happens(&mut world);
        assert_eq!(world.codes(), [*code], "{call:?}");
        let told = world.last_result();
        assert_eq!(told["status"], "error", "{call:?}");
        assert_eq!(told["code"], *code, "{call:?}");
        assert_eq!(told["retryable"], *retryable, "{call:?}");
        assert!(told["message"].as_str().unwrap().contains(words), "{call:?}: {told}");
    }
}

#[test]
fn what_models_write_for_no_arguments_is_taken_as_none() {
    let mut bare = tools::tool("page_look", Scope::Browser, pagehand::protocol::Risk::Read);
    bare.parameters = std::sync::Arc::new(json!({ "type": "object", "properties": {} }));
    for text in ["", "  ", "null", "{}", "\"{}\""] {
        let mut world = Loop::new();
        world.tools(tools::registry(vec![bare.clone()]));
        world.user("Look.");
        world.step(&[("a", "page_look", text)]);
        assert_eq!(world.started[0].arguments, json!({}), "{text:?}");
    }
}

#[test]
fn arguments_that_were_encoded_twice_or_hold_nulls_are_read() {
    let world = Loop::called(&[("a", "weather_read", r#""{\"city\":\"Oslo\"}""#)]);
    assert_eq!(world.started[0].arguments, json!({ "city": "Oslo" }));
    let world = Loop::called(&[("a", "weather_read", r#"{"city":"Oslo","days":null}"#)]);
    assert_eq!(world.started[0].arguments, json!({ "city": "Oslo" }), "an optional null is an absence");
}

#[test]
fn a_null_result_is_a_result() {
    let mut world = Loop::called(&[("a", "weather_read", OSLO)]);
    world.works("weather_read", &Value::Null);
    assert_eq!(world.codes(), ["null"]);
    assert_eq!(world.life("weather_read").last(), Some(&"result-available"));
}

// ---- stop, and the next message ----

#[test]
fn stop_while_the_model_writes_keeps_its_words_and_lets_go_of_its_calls() {
    let mut world = Loop::asked();
    world.words("It is");
    world.calls(&[("a", "weather_read", OSLO)]);
    world.stop();
    assert_eq!(world.cancelled_models, [1]);
    assert_eq!(world.answers(), [("It is".to_owned(), MessageStatus::Stopped)]);
    assert_eq!(world.life("weather_read").last(), Some(&"cancelled"));
    assert_eq!(world.ends(), ["stopped"]);
    world.model(ModelEvent::Finish(FinishReason::Calls));
    assert_eq!(world.ran(), [""; 0]);
}

#[test]
fn stop_while_tools_run_settles_every_call_at_once() {
    let mut world = Loop::called(&[("a", "weather_read", OSLO), ("b", "page_look", OSLO), ("c", "order_refund", OSLO)]);
    world.works("page_look", &fine());
    world.stop();
    assert_eq!(world.codes(), ["cancelled", r#"{"fine":true}"#, "cancelled"]);
    assert_eq!(world.cancelled_tools, [world.id("weather_read")], "only what runs is told");
    assert_eq!(world.ends(), ["stopped"]);
}

#[test]
fn stop_without_a_run_changes_nothing() {
    let mut world = Loop::new();
    world.stop();
    assert_eq!((world.journal.len(), world.events.len()), (0, 0));
}

#[test]
fn a_result_that_comes_late_is_written_down_and_has_no_effect() {
    let mut world = Loop::called(&[("a", "weather_read", OSLO)]);
    world.stop();
    let (thread, requests) = (world.run.transcript().clone(), world.requests.len());
    world.works("weather_read", &json!({ "celsius": 4 }));
    world.fails("weather_read", "No such city.");
    world.outcome(
        &world.id("weather_read"),
        Outcome::NeedsApproval { reason: "Click.".to_owned(), payload: Value::Null },
    );
    assert_eq!(world.run.transcript(), &thread);
    assert_eq!(world.requests.len(), requests);
    assert!(!world.run.is_running());
    let late: Vec<&str> = world
        .journal
        .iter()
        .filter_map(|entry| match entry {
            Entry::LateResult(result) => Some(result.error.as_deref().unwrap_or(&result.content)),
            _ => None,
        })
        .collect();
    assert_eq!(late, [r#"{"celsius":4}"#, "tool_error", "cancelled"]);
}

#[test]
fn a_result_that_comes_late_into_the_next_run_has_no_effect_there() {
    let mut world = Loop::called(&[("a", "weather_read", OSLO)]);
    let old = world.id("weather_read");
    world.user("Never mind. Rome?");
    world.step(&[("b", "weather_read", ROME)]);
    world.outcome(&old, Outcome::Result(json!("late")));
    assert_eq!(world.requests.len(), 2, "the new call is still open");
    world.works("weather_read", &json!("new"));
    assert_eq!(world.codes(), ["cancelled", "\"new\""]);
}

#[test]
fn a_second_result_of_a_call_has_no_effect() {
    let mut world = Loop::called(&[("a", "weather_read", OSLO), ("b", "page_look", OSLO)]);
    world.works("weather_read", &json!(1));
    world.works("weather_read", &json!(2));
    world.works("page_look", &json!(3));
    assert_eq!(world.codes(), ["1", "3"]);
}

#[test]
fn a_message_while_calls_are_open_settles_them_first() {
    let mut world = Loop::called(&[("a", "weather_read", OSLO), ("b", "order_refund", OSLO)]);
    world.user("Never mind.");
    assert_eq!(world.ends(), ["superseded"]);
    assert_eq!(world.codes(), ["cancelled", "cancelled"]);
    let sent = &world.requests.last().unwrap().messages;
    assert!(matches!(sent.last(), Some(Message::User(UserMessage { content, .. })) if content == "Never mind."));
    assert_eq!(sent.len(), 5, "question, calls, two results, the new message");
}

#[test]
fn a_message_while_the_model_writes_keeps_what_it_wrote() {
    let mut world = Loop::asked();
    world.words("It is");
    world.user("In Rome, I mean.");
    assert_eq!(world.ends(), ["superseded"]);
    assert_eq!(world.cancelled_models, [1]);
    let sent = &world.requests[1].messages;
    assert_eq!(sent.len(), 3);
    world.answer("Sunny.");
    assert_eq!(world.ends(), ["superseded", "completed"]);
}

// ---- the end of a step ----

#[test]
fn calls_run_whatever_the_reason_and_an_answer_cut_short_ends_so() {
    let reasons = [
        (FinishReason::Done, "completed"),
        (FinishReason::Calls, "completed"),
        (FinishReason::Length, "length"),
        (FinishReason::Other("x".to_owned()), "completed"),
    ];
    for (reason, end) in reasons {
        let mut world = Loop::asked();
        world.calls(&[("a", "weather_read", OSLO)]);
        world.model(ModelEvent::Finish(reason.clone()));
        assert_eq!(world.ran(), ["weather_read"], "{reason:?} with a call");
        let mut world = Loop::asked();
        world.words("Sunny.");
        world.model(ModelEvent::Finish(reason.clone()));
        assert_eq!(world.ends(), [end], "{reason:?} without");
    }
}

#[test]
fn what_a_model_refused_runs_nothing_and_is_not_sent_again_unless_it_is_asked_for() {
    let mut world = Loop::asked();
    world.answer("Hello.");
    world.user("Something bad.");
    world.words("Well");
    world.calls(&[("a", "weather_read", OSLO)]);
    world.model(ModelEvent::Finish(FinishReason::Refused("attack".to_owned())));
    assert_eq!(world.run.last_end(), Some(&EndReason::Refused { why: "attack".to_owned() }));
    assert_eq!(world.ran(), [""; 0]);
    let asked = |world: &Loop| -> Vec<String> {
        let said = |message: &Message| match message {
            Message::User(said) => said.content.clone(),
            Message::Assistant(answer) => answer.text(),
            other => format!("{other:?}"),
        };
        world.requests.last().unwrap().messages.iter().map(said).collect()
    };
    let first = asked(&world)[0].clone();
    // After a reload it is known, too.
    world.reload();
    world.user("Something good.");
    assert_eq!(asked(&world), [first.as_str(), "Hello.", "Something good."]);
    world.model(ModelEvent::Finish(FinishReason::Refused(String::new())));
    assert_eq!(world.ends().last(), Some(&"refused"), "without a word, too");
    world.retry();
    assert_eq!(asked(&world), [first.as_str(), "Hello.", "Something good."], "as the user wishes");
    world.answer("Good.");
    world.user("Thanks.");
    assert_eq!(asked(&world), [first.as_str(), "Hello.", "Something good.", "Good.", "Thanks."]);
    assert_eq!(world.run.transcript().messages().len(), 7, "all of it is shown");
}

#[test]
fn what_tools_did_before_a_refusal_is_remembered() {
    let mut world = Loop::asked();
    world.step(&[("a", "weather_read", OSLO)]);
    world.works("weather_read", &fine());
    world.words("Well");
    world.model(ModelEvent::Finish(FinishReason::Refused(String::new())));
    for reloads in 0..2 {
        world.user("In other words.");
        let sent = &world.requests.last().unwrap().messages;
        let kinds: Vec<&str> = sent
            .iter()
            .map(|message| match message {
                Message::User(_) => "user",
                Message::Assistant(_) => "assistant",
                _ => "tool",
            })
            .collect();
        assert_eq!(kinds, [&["user", "assistant", "tool"][..], &["user"].repeat(reloads + 1)].concat());
        world.stop();
        world.reload();
    }
}

#[test]
fn a_model_error_keeps_the_words_and_retry_asks_again() {
    let mut world = Loop::asked();
    world.words("It is");
    world.calls(&[("a", "weather_read", OSLO)]);
    let mut error = ModelError::new(ModelErrorKind::RateLimit, "Too many requests.");
    error.retry_after_ms = Some(90_000);
    world.model(ModelEvent::Error(error.clone()));
    assert_eq!(world.ends(), ["error"]);
    assert!(
        matches!(world.journal.last(), Some(Entry::RunEnd { reason: pagehand::protocol::EndReason::Error(kept), .. }) if *kept == error)
    );
    assert_eq!(world.answers(), [("It is".to_owned(), MessageStatus::Truncated)]);
    assert_eq!(world.ran(), [""; 0]);
    assert!(world.run.can_retry());
    world.retry();
    assert_eq!(world.requests[1].messages, world.requests[0].messages, "the half answer is not sent");
    assert_eq!(world.answers(), [("It is".to_owned(), MessageStatus::Superseded)]);
    world.answer("Sunny.");
    assert_eq!(world.ends(), ["error", "completed"]);
}

#[test]
fn a_model_error_after_a_step_of_calls_is_taken_up_where_it_stopped() {
    let mut world = Loop::called(&[("a", "weather_read", OSLO)]);
    world.works("weather_read", &fine());
    world.model(ModelEvent::Error(ModelError::new(ModelErrorKind::Protocol, "It talks nonsense.")));
    assert_eq!(world.ends(), ["error"]);
    world.retry();
    assert_eq!(world.requests[2].messages, world.requests[1].messages, "the calls are not made again");
    assert_eq!(world.ran(), ["weather_read"]);
}

#[test]
fn a_reload_remembers_how_the_last_run_ended() {
    let mut world = Loop::asked();
    world.model(ModelEvent::Error(ModelError::new(ModelErrorKind::Auth, "It is locked.")));
    for _ in 0..2 {
        world.reload();
        assert_eq!(world.run.last_end().map(pagehand::protocol::EndReason::as_str), Some("error"));
        assert!(world.run.can_retry());
    }
    world.retry();
    world.reload();
    assert_eq!(world.run.last_end().map(pagehand::protocol::EndReason::as_str), Some("interrupted"));
}

#[test]
fn retry_without_anything_to_answer_is_only_noted() {
    let mut world = Loop::new();
    world.retry();
    assert_eq!(world.notes(), ["There is nothing to try again."]);
    world.user("Hello.");
    world.retry();
    assert_eq!(world.requests.len(), 1, "a run is at work");
    world.answer("Hello.");
    assert!(!world.run.can_retry());
    world.retry();
    assert_eq!(world.requests.len(), 1);
}

#[test]
fn tokens_are_added_up_over_the_steps() {
    let usage = |input_tokens, output_tokens| {
        ModelEvent::Usage(Usage { input_tokens, output_tokens, cost_micros: None, ..Usage::default() })
    };
    let mut world = Loop::asked();
    world.model(usage(10, 1));
    world.model(usage(10, 3));
    world.cut();
    world.again();
    world.model(usage(10, 5));
    world.step(&[("a", "weather_read", OSLO)]);
    world.works("weather_read", &fine());
    world.model(usage(20, 7));
    world.answer("Sunny.");
    let last = world.events.iter().rev().find_map(|event| match event {
        Event::Usage { run, .. } => Some((run.input_tokens, run.output_tokens)),
        _ => None,
    });
    assert_eq!(last, Some((40, 15)));
}

#[test]
fn a_step_keeps_the_tools_it_began_with() {
    let mut world = Loop::asked();
    world.tools(tools::registry(vec![tools::tool("clock_read", Scope::Browser, pagehand::protocol::Risk::Read)]));
    world.step(&[("a", "weather_read", OSLO), ("b", "clock_read", OSLO)]);
    assert_eq!(world.ran(), ["weather_read"]);
    world.works("weather_read", &fine());
    assert_eq!(world.requests[1].tools.len(), 1);
    world.step(&[("c", "clock_read", OSLO)]);
    assert_eq!(world.ran(), ["weather_read", "clock_read"]);
}

#[test]
fn later_whole_arguments_replace_those_that_were_streamed() {
    let mut world = Loop::asked();
    world.calls(&[("a", "weather_read", "\"Oslo\"}")]);
    world.model(ModelEvent::CallArguments { slot: 0, text: OSLO.to_owned() });
    world.model(ModelEvent::CallEncrypted { slot: 0, value: "opaque".to_owned() });
    world.model(ModelEvent::Finish(FinishReason::Calls));
    assert_eq!(world.started[0].arguments, json!({ "city": "Oslo" }));
    world.works("weather_read", &fine());
    let Message::Assistant(answer) = &world.requests[1].messages[1] else { panic!("no answer is sent") };
    assert_eq!(answer.calls().next().unwrap().encrypted_value.as_deref(), Some("opaque"));
}

// Every input a session can give, chosen by a byte; whatever they say, what `Loop` checks must hold.
fn happen(world: &mut Loop, choice: u8) {
    let tool = ["weather_read", "order_refund", "note_write", "asks_itself", "xyzzy"][usize::from(choice / 16) % 5];
    let id = ["a", "b", "", "c"][usize::from(choice / 64)];
    let called = world.events.iter().any(|event| matches!(event, Event::Call(view) if view.name == tool));
    match choice % 16 {
        0 if choice > 128 => world.give(Input::Online(choice.is_multiple_of(32))),
        0 => world.user("Hello."),
        1 => world.retry(),
        2 => world.stop(),
        3 => world.cut(),
        4 => world.wait(u64::from(choice) * 400),
        5 => world.answer("Words."),
        6 => world.step(&[(id, tool, OSLO), ("d", "weather_read", ROME), (id, tool, "{")]),
        7 => world.words("Words."),
        8 => world.calls(&[(id, tool, OSLO)]),
        9 => world.model(ModelEvent::CallResult { slot: 0, content: "theirs".to_owned() }),
        10 => world.model(ModelEvent::Error(ModelError::new(ModelErrorKind::Upstream, "Overloaded."))),
        11 if called => world.works(tool, &fine()),
        12 if called => {
            world
                .outcome(&world.id(tool), Outcome::NeedsApproval { reason: "Click.".to_owned(), payload: Value::Null });
        }
        13 if called => world.approve(tool, (choice > 128).then_some(ROME)),
        14 if called => world.deny(tool, None),
        15 if choice > 200 => world.reload(),
        15 if choice > 100 => world.give(Input::Resume),
        _ => world.step(&[(id, tool, OSLO)]),
    }
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig { cases: 200, failure_persistence: None, ..Default::default() })]

    #[test]
    fn whatever_happens_the_thread_stays_valid_and_a_reload_finds_it(choices in proptest::collection::vec(0u8.., 1..40)) {
        let mut world = Loop::within(Limits { max_steps: 6, max_calls: 4, max_parallel: 2, max_retries: 2, ..Limits::default() });
        world.user("Hello.");
        for choice in choices {
            happen(&mut world, choice);
        }
    }
}

// ---- files ----

#[test]
fn a_thread_of_many_files_is_asked_with_those_that_fit_the_newest_first() {
    let mut world = Loop::new();
    let files = |name: &str, mib: usize| {
        let source = Source::Data("A".repeat(mib * 1024 * 1024).into());
        Prompt {
            attachments: vec![Attachment { name: name.to_owned(), media_type: "image/png".to_owned(), source }],
            ..Prompt::from("Look.")
        }
    };
    for (name, mib) in [("old", 12), ("small", 4), ("new", 12)] {
        world.give(Input::UserMessage(files(name, mib)));
        world.answer("I see.");
    }
    let sent: Vec<(String, usize)> = world.requests[2]
        .messages
        .iter()
        .filter_map(|message| match message {
            Message::User(said) => Some((said.content.clone(), said.attachments.len())),
            _ => None,
        })
        .collect();
    let whole = || ("Look.".to_owned(), 1);
    let named = ("Look.\n\n[old, image/png: left out, there are too many files]".to_owned(), 0);
    assert_eq!(sent, [named, whole(), whole()]);
    let Message::User(kept) = &world.run.transcript().messages()[0] else { panic!("no message of the user") };
    assert_eq!(kept.attachments.len(), 1, "the thread itself keeps it");
}
