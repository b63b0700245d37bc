//! The rules of the loop, each with a scripted model.

use pagehand::agent::{Input, Limits};
use pagehand::protocol::{
    Entry, Event, FinishReason, Message, MessageStatus, ModelError, ModelErrorKind, ModelEvent, Outcome, Part, Scope,
    Usage,
};
use serde_json::{Value, json};

use crate::support::loop_driver::{Asked, Loop, OSLO, ROME, fine};
use crate::support::tools;

/// A run whose model made these calls.
fn called(calls: &[Asked<'_>]) -> Loop {
    let mut world = Loop::asked();
    world.step(calls);
    world
}

fn codes(world: &Loop) -> Vec<String> {
    world.results().into_iter().map(|(_, code)| code).collect()
}

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
    assert_eq!(answer.parts[0], Part::Reasoning { text: "Hm.".to_owned() });
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
            Part::Text { text } | Part::Reasoning { text } => text.as_str(),
            Part::Call(call) => call.arguments.as_str(),
        })
        .collect();
    assert_eq!(order, ["First.", OSLO, "Second.", "Third."]);
}

#[test]
fn the_next_step_is_sent_every_result() {
    let mut world = called(&[("a", "weather_read", OSLO)]);
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
    assert_eq!(codes(&world), ["4 degrees", r#"{"fine":true}"#]);
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
    let world = called(&[("a", "weather_read", OSLO), ("a", "weather_read", OSLO)]);
    assert_eq!(world.ran(), ["weather_read"]);
    assert!(world.notes()[0].contains("twice under one id"), "{:?}", world.notes());
}

#[test]
fn the_same_tool_with_other_arguments_is_another_call() {
    for ids in [["a", "b"], ["", ""]] {
        let world = called(&[(ids[0], "weather_read", OSLO), (ids[1], "weather_read", ROME)]);
        assert_eq!(world.ran(), ["weather_read", "weather_read"]);
        assert_ne!(world.started[0].call, world.started[1].call);
    }
}

#[test]
fn the_same_call_under_another_id_is_another_call() {
    let world = called(&[("a", "weather_read", OSLO), ("b", "weather_read", OSLO)]);
    assert_eq!(world.ran(), ["weather_read", "weather_read"]);
}

#[test]
fn a_call_that_comes_again_in_a_later_step_is_answered_without_being_run() {
    let mut world = called(&[("a", "weather_read", OSLO)]);
    world.works("weather_read", &fine());
    world.step(&[("a", "weather_read", OSLO)]);
    assert_eq!(world.ran(), ["weather_read"]);
    assert_eq!(codes(&world)[1], "duplicate_call");
    assert!(world.run.is_running(), "the model is told and goes on");
}

#[test]
fn an_id_that_a_later_step_gives_to_another_call_is_another_call() {
    let mut world = called(&[("call_0", "weather_read", OSLO)]);
    world.works("weather_read", &fine());
    world.step(&[("call_0", "weather_read", ROME)]);
    world.works("weather_read", &fine());
    world.step(&[("call_0", "page_look", ROME)]);
    assert_eq!(world.ran(), ["weather_read", "weather_read", "page_look"]);
}

#[test]
fn a_missing_id_stays_missing() {
    let mut world = called(&[("", "weather_read", OSLO), ("a", "page_look", OSLO)]);
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
    let world = called(&[("a", "weather_read", OSLO), ("b", "page_look", OSLO), ("c", "weather_read", ROME)]);
    let scopes: Vec<Scope> = world.started.iter().map(|request| request.scope).collect();
    assert_eq!(scopes, [Scope::Server, Scope::Browser, Scope::Server]);
}

#[test]
fn results_go_back_in_call_order_whatever_order_they_come_in() {
    let orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
    for order in orders {
        let mut world = called(&[("a", "weather_read", OSLO), ("b", "page_look", OSLO), ("c", "weather_read", ROME)]);
        let calls: Vec<_> = world.started.iter().map(|request| request.call.clone()).collect();
        for at in order {
            assert_eq!(world.requests.len(), 1, "the model waits for all of them");
            world.outcome(&calls[at], Outcome::Result(json!(at)));
        }
        assert_eq!(codes(&world), ["0", "1", "2"], "{order:?}");
        assert_eq!(world.requests.len(), 2);
    }
}

#[test]
fn a_call_that_is_asked_about_does_not_hold_up_the_others() {
    let mut world = called(&[("a", "order_refund", OSLO), ("b", "weather_read", OSLO)]);
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
        let mut world = called(&[*call]);
        happens(&mut world);
        assert_eq!(codes(&world), [*code], "{call:?}");
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
    let world = called(&[("a", "weather_read", r#""{\"city\":\"Oslo\"}""#)]);
    assert_eq!(world.started[0].arguments, json!({ "city": "Oslo" }));
    let world = called(&[("a", "weather_read", r#"{"city":"Oslo","days":null}"#)]);
    assert_eq!(world.started[0].arguments, json!({ "city": "Oslo" }), "an optional null is an absence");
}

#[test]
fn a_null_result_is_a_result() {
    let mut world = called(&[("a", "weather_read", OSLO)]);
    world.works("weather_read", &Value::Null);
    assert_eq!(codes(&world), ["null"]);
    assert_eq!(world.life("weather_read").last(), Some(&"result-available"));
}

// ---- asking the user ----

#[test]
fn a_tool_that_asks_while_it_runs_is_called_again_once_approved() {
    let mut world = called(&[("a", "asks_itself", OSLO)]);
    assert!(!world.started[0].approved);
    world.outcome(
        &world.id("asks_itself"),
        Outcome::NeedsApproval { reason: "The browser wants a click.".to_owned(), payload: Value::Null },
    );
    assert_eq!(world.life("asks_itself").last(), Some(&"approval-requested"));
    world.approve("asks_itself", None);
    assert!(world.started[1].approved);
    assert_eq!(world.started[0].call, world.started[1].call);
    world.works("asks_itself", &fine());
    assert_eq!(codes(&world), [r#"{"fine":true}"#]);
}

#[test]
fn a_tool_that_asks_while_it_runs_and_is_denied_has_its_result() {
    let mut world = called(&[("a", "asks_itself", OSLO)]);
    world.outcome(
        &world.id("asks_itself"),
        Outcome::NeedsApproval { reason: "Click.".to_owned(), payload: Value::Null },
    );
    world.deny("asks_itself", None);
    assert_eq!(world.ran(), ["asks_itself"]);
    assert_eq!(codes(&world), ["denied"]);
    assert_eq!(world.life("asks_itself").last(), Some(&"denied"));
}

#[test]
fn a_tool_that_asks_again_after_its_approval_has_failed() {
    let mut world = called(&[("a", "asks_itself", OSLO)]);
    for _ in 0..2 {
        world.outcome(
            &world.id("asks_itself"),
            Outcome::NeedsApproval { reason: "Click.".to_owned(), payload: Value::Null },
        );
        world.approve("asks_itself", None);
    }
    assert_eq!(codes(&world), ["tool_error"]);
}

#[test]
fn changed_arguments_that_fit_run_and_the_model_is_told() {
    let mut world = called(&[("a", "order_refund", OSLO)]);
    world.approve("order_refund", Some(ROME));
    assert_eq!(world.started[0].arguments, json!({ "city": "Rome" }));
    world.works("order_refund", &json!({ "refunded": 10 }));
    let told = world.last_result();
    assert_eq!(told["arguments"], json!({ "city": "Rome" }));
    assert_eq!(told["result"], json!({ "refunded": 10 }));
    assert!(told["note"].as_str().unwrap().contains("changed the arguments"));
}

#[test]
fn changed_arguments_that_say_the_same_are_no_change() {
    let mut world = called(&[("a", "order_refund", OSLO)]);
    world.approve("order_refund", Some("{ \"city\" : \"Oslo\" }"));
    world.works("order_refund", &json!({ "refunded": 10 }));
    assert_eq!(world.last_result(), json!({ "refunded": 10 }));
}

#[test]
fn changed_arguments_that_do_not_fit_are_refused_and_the_question_stays() {
    let mut world = called(&[("a", "order_refund", OSLO)]);
    for (text, words) in
        [("{}", "city is missing"), ("{", "not a JSON object"), (r#"{"city":"x","y":1}"#, "y is not a")]
    {
        world.approve("order_refund", Some(text));
        let Some(Event::DecisionRefused { reason, .. }) = world.events.last() else { panic!("taken: {text}") };
        assert!(reason.contains(words), "{reason}");
        assert_eq!(world.ran(), [""; 0]);
    }
    assert!(!world.journal.iter().any(|entry| matches!(entry, Entry::Decision { .. })));
    world.approve("order_refund", None);
    assert_eq!(world.ran(), ["order_refund"]);
}

#[test]
fn changed_arguments_are_held_against_the_tools_the_step_began_with() {
    let mut world = called(&[("a", "order_refund", OSLO)]);
    world.tools(tools::registry(Vec::new()));
    world.approve("order_refund", Some("{}"));
    assert_eq!(world.ran(), [""; 0], "nobody checked these arguments");
    world.approve("order_refund", Some(ROME));
    assert_eq!(world.ran(), ["order_refund"]);
}

#[test]
fn a_decision_on_a_call_that_asks_nothing_changes_nothing() {
    let mut world = called(&[("a", "weather_read", OSLO)]);
    let before = (world.journal.len(), world.events.len());
    world.approve("weather_read", None);
    world.deny("weather_read", None);
    assert_eq!((world.journal.len(), world.events.len()), before);
}

#[test]
fn a_write_asks_once_a_session_and_the_irreversible_always() {
    for (name, asks_again) in
        [("note_write", false), ("order_refund", true), ("always_asks", true), ("weather_read", false)]
    {
        let mut world = called(&[("a", name, OSLO)]);
        let asked_first = world.ran().is_empty();
        assert_eq!(asked_first, name != "weather_read", "{name}");
        if asked_first {
            world.approve(name, None);
        }
        world.works(name, &fine());
        world.step(&[("b", name, ROME)]);
        assert_eq!(world.ran().len() == 1, asks_again, "{name}");
    }
}

#[test]
fn a_yes_to_one_write_holds_for_the_others_of_its_tool_that_wait() {
    let mut world = called(&[("a", "note_write", OSLO), ("b", "note_write", ROME), ("c", "order_refund", OSLO)]);
    assert!(world.ran().is_empty());
    world.approve("note_write", None);
    assert_eq!(world.ran().len(), 2, "both notes run, the refund still asks");
    assert_eq!(world.life("order_refund").last(), Some(&"approval-requested"));
}

#[test]
fn a_denied_write_asks_again() {
    let mut world = called(&[("a", "note_write", OSLO)]);
    world.deny("note_write", None);
    world.step(&[("b", "note_write", ROME)]);
    assert_eq!(world.life("note_write").last(), Some(&"approval-requested"));
}

#[test]
fn a_grant_ends_with_the_page() {
    let mut world = called(&[("a", "note_write", OSLO)]);
    world.approve("note_write", None);
    world.works("note_write", &fine());
    world.answer("Noted.");
    world.reload();
    world.user("Again.");
    world.step(&[("b", "note_write", ROME)]);
    assert_eq!(world.life("note_write").last(), Some(&"approval-requested"));
}

// ---- limits ----

#[test]
fn too_many_steps_end_the_run() {
    let mut world = Loop::asked_within(Limits { max_steps: 2, ..Limits::default() });
    for (id, city) in [("a", OSLO), ("b", ROME)] {
        world.step(&[(id, "weather_read", city)]);
        world.works("weather_read", &fine());
    }
    assert_eq!(world.ends(), ["max-steps"]);
    assert_eq!(world.requests.len(), 2);
}

#[test]
fn too_many_calls_in_a_step_run_none_of_them() {
    let mut world = Loop::asked_within(Limits { max_calls: 2, ..Limits::default() });
    world.step(&[("a", "weather_read", OSLO), ("b", "weather_read", ROME), ("c", "xyzzy", "{")]);
    assert_eq!(world.ran(), [""; 0]);
    assert_eq!(codes(&world), ["too_many_calls"; 3]);
    assert_eq!(world.ends(), ["max-calls"]);
}

#[test]
fn too_much_working_time_ends_the_run_wherever_it_is() {
    let limits = Limits { max_run_ms: 10_000, model_idle_ms: 60_000, ..Limits::default() };
    let mut world = Loop::asked_within(limits);
    assert_eq!(world.run.wake_at(), Some(world.at + 10_000));
    world.wait(4_000);
    world.step(&[("a", "weather_read", OSLO), ("b", "order_refund", OSLO)]);
    world.wait(5_999);
    assert!(world.run.is_running());
    world.wait(1);
    assert_eq!(world.ends(), ["max-time"]);
    assert_eq!(codes(&world), ["cancelled", "cancelled"]);
    assert_eq!(world.cancelled_tools, [world.id("weather_read")]);

    let mut world = Loop::asked_within(limits);
    world.words("It");
    world.wait(10_000);
    assert_eq!(world.ends(), ["max-time"]);
    assert_eq!(world.cancelled_models, [1]);
    assert_eq!(world.answers(), [("It".to_owned(), MessageStatus::Stopped)]);
}

#[test]
fn waiting_for_the_user_costs_no_time() {
    let mut world = Loop::asked_within(Limits { max_run_ms: 10_000, ..Limits::default() });
    world.step(&[("a", "order_refund", OSLO)]);
    assert_eq!(world.run.wake_at(), None);
    world.wait(3_600_000);
    assert!(world.run.is_running());
    world.approve("order_refund", None);
    assert_eq!(world.run.wake_at(), Some(world.at + 10_000));
    world.wait(9_999);
    assert!(world.run.is_running());
    world.wait(1);
    assert_eq!(world.ends(), ["max-time"]);
}

#[test]
fn a_call_past_its_own_time_is_let_go_of_and_the_model_goes_on() {
    let mut world = called(&[("a", "slow_read", OSLO), ("b", "weather_read", OSLO)]);
    assert_eq!(world.run.wake_at(), Some(world.at + 1_000));
    world.wait(1_000);
    assert_eq!(world.cancelled_tools, [world.id("slow_read")]);
    assert_eq!(world.life("slow_read").last(), Some(&"failed"));
    world.works("weather_read", &fine());
    assert_eq!(codes(&world), ["timeout", r#"{"fine":true}"#]);
    assert_eq!(world.requests.len(), 2);
}

#[test]
fn the_same_call_again_and_again_ends_the_run() {
    let mut world = Loop::asked();
    for id in ["a", "b", "c"] {
        // Another spelling of the same arguments.
        world.step(&[(id, "weather_read", &format!("{}{OSLO}", " ".repeat(id.len())))]);
        world.works("weather_read", &fine());
    }
    world.step(&[("d", "page_look", OSLO), ("e", "weather_read", OSLO), ("f", "weather_read", ROME)]);
    assert_eq!(world.ran(), ["weather_read"; 3]);
    assert_eq!(codes(&world)[3..], ["cancelled", "repeated_call", "cancelled"]);
    assert_eq!(world.ends(), ["repeated-call"]);
}

#[test]
fn a_new_run_may_repeat_what_an_earlier_one_did() {
    let mut world = Loop::within(Limits { max_repeats: 1, ..Limits::default() });
    for id in ["a", "b"] {
        world.user("Again?");
        world.step(&[(id, "weather_read", OSLO)]);
        world.works("weather_read", &fine());
        world.answer("Sunny.");
    }
    assert_eq!(world.ends(), ["completed", "completed"]);
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
    let mut world = called(&[("a", "weather_read", OSLO), ("b", "page_look", OSLO), ("c", "order_refund", OSLO)]);
    world.works("page_look", &fine());
    world.stop();
    assert_eq!(codes(&world), ["cancelled", r#"{"fine":true}"#, "cancelled"]);
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
    let mut world = called(&[("a", "weather_read", OSLO)]);
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
    let mut world = called(&[("a", "weather_read", OSLO)]);
    let old = world.id("weather_read");
    world.user("Never mind. Rome?");
    world.step(&[("b", "weather_read", ROME)]);
    world.outcome(&old, Outcome::Result(json!("late")));
    assert_eq!(world.requests.len(), 2, "the new call is still open");
    world.works("weather_read", &json!("new"));
    assert_eq!(codes(&world), ["cancelled", "\"new\""]);
}

#[test]
fn a_second_result_of_a_call_has_no_effect() {
    let mut world = called(&[("a", "weather_read", OSLO), ("b", "page_look", OSLO)]);
    world.works("weather_read", &json!(1));
    world.works("weather_read", &json!(2));
    world.works("page_look", &json!(3));
    assert_eq!(codes(&world), ["1", "3"]);
}

#[test]
fn a_message_while_calls_are_open_settles_them_first() {
    let mut world = called(&[("a", "weather_read", OSLO), ("b", "order_refund", OSLO)]);
    world.user("Never mind.");
    assert_eq!(world.ends(), ["superseded"]);
    assert_eq!(codes(&world), ["cancelled", "cancelled"]);
    let sent = &world.requests.last().unwrap().messages;
    assert!(matches!(sent.last(), Some(Message::User { content, .. }) if content == "Never mind."));
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
fn the_finish_reason_decides_nothing() {
    let reasons = [
        FinishReason::Done,
        FinishReason::Calls,
        FinishReason::Length,
        FinishReason::Refused,
        FinishReason::Other("x".to_owned()),
    ];
    for reason in reasons {
        let mut world = Loop::asked();
        world.calls(&[("a", "weather_read", OSLO)]);
        world.model(ModelEvent::Finish(reason.clone()));
        assert_eq!(world.ran(), ["weather_read"], "{reason:?} with a call");
        let mut world = Loop::asked();
        world.words("Sunny.");
        world.model(ModelEvent::Finish(reason.clone()));
        assert_eq!(world.ends(), ["completed"], "{reason:?} without");
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
    let mut world = called(&[("a", "weather_read", OSLO)]);
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
    let usage =
        |input_tokens, output_tokens| ModelEvent::Usage(Usage { input_tokens, output_tokens, cost_micros: None });
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
        Event::Usage(usage) => Some((usage.input_tokens, usage.output_tokens)),
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

// ---- reload ----

// ---- a reload in the middle ----

/// A run that a reload cut off after its model made these calls, taken up again.
fn resumed(calls: &[Asked<'_>], before: impl Fn(&mut Loop)) -> Loop {
    let mut world = called(calls);
    before(&mut world);
    world.reload();
    assert!(world.run.is_interrupted() && world.run.can_retry());
    world.started.clear();
    world.give(Input::Resume);
    world
}

#[test]
fn a_run_that_is_not_taken_up_ends_and_answers_its_calls() {
    let mut world = called(&[("a", "weather_read", OSLO), ("b", "order_refund", OSLO)]);
    world.reload();
    assert_eq!(world.ends(), [""; 0], "it waits");
    world.user("Forget it.");
    assert_eq!(world.ends(), ["superseded"]);
    assert_eq!(codes(&world), ["interrupted", "interrupted"]);
    assert!(world.last_result()["message"].as_str().unwrap().contains("It was not run"));
    world.answer("I was interrupted.");
    assert_eq!(world.ends(), ["superseded", "completed"]);
}

#[test]
fn what_changes_nothing_is_run_again_under_its_own_id() {
    let world = resumed(&[("a", "weather_read", OSLO)], |_| ());
    assert_eq!(world.ran(), ["weather_read"]);
    assert!(world.started[0].resumed);
    assert_eq!(world.started[0].arguments, json!({ "city": "Oslo" }));
}

#[test]
fn what_may_have_taken_effect_in_the_page_is_never_run_again() {
    let mut world = called(&[("a", "asks_itself", OSLO), ("b", "weather_read", ROME)]);
    world.reload();
    world.started.clear();
    world.give(Input::Resume);
    assert_eq!(world.ran(), ["weather_read"]);
    world.works("weather_read", &fine());
    assert_eq!(codes(&world), ["interrupted", r#"{"fine":true}"#]);
    let told = &world.requests.last().unwrap().messages;
    assert!(format!("{told:?}").contains("whether it took effect is unknown"));
    world.answer("I can not say.");
    assert_eq!(world.ends(), ["completed"]);
}

#[test]
fn what_may_have_taken_effect_behind_the_gateway_is_asked_about() {
    let mut world = resumed(&[("a", "order_refund", OSLO)], |world| world.approve("order_refund", None));
    assert_eq!(world.life("order_refund").last(), Some(&"running"), "nobody is asked for it a second time");
    assert!(world.started[0].resumed && world.started[0].approved);
    world.works("order_refund", &json!("it was made"));
    assert_eq!(codes(&world), [r#""it was made""#]);
}

#[test]
fn a_question_that_was_open_is_open_again() {
    let mut world = resumed(&[("a", "order_refund", OSLO)], |_| ());
    assert_eq!(world.life("order_refund").last(), Some(&"approval-requested"));
    assert_eq!(world.ran(), [""; 0]);
    world.approve("order_refund", Some(ROME));
    assert_eq!(world.started[0].arguments, json!({ "city": "Rome" }));
}

#[test]
fn what_the_user_had_said_to_a_tool_is_said_again() {
    let mut idempotent = tools::tool("asks_itself", Scope::Browser, pagehand::protocol::Risk::Write);
    idempotent.approval = pagehand::tools::Approval::Tool;
    idempotent.replay = pagehand::protocol::Replay::Idempotent;
    let registry = tools::registry(vec![idempotent]);
    let mut world = Loop::asked();
    world.tools(std::sync::Arc::clone(&registry));
    world.stop();
    world.user("Again.");
    world.step(&[("a", "asks_itself", OSLO)]);
    world.outcome(&world.id("asks_itself"), Outcome::NeedsApproval { reason: "Why.".to_owned(), payload: Value::Null });
    let decision = pagehand::agent::Decision::Approve { arguments: None, payload: json!({ "limit": 10 }) };
    world.give(Input::Decision { call: world.id("asks_itself"), decision });
    world.reload();
    world.tools(registry);
    world.give(Input::Resume);
    let again = world.started.last().unwrap();
    assert_eq!((again.resumed, again.approved, &again.payload), (true, true, &json!({ "limit": 10 })));
}

#[test]
fn what_the_user_had_refused_stays_refused() {
    let world = resumed(&[("a", "order_refund", OSLO), ("b", "weather_read", OSLO)], |world| {
        world.deny("order_refund", Some("Not today."));
    });
    assert_eq!(world.ran(), ["weather_read"]);
    assert_eq!(world.life("order_refund").last(), Some(&"denied"));
}

#[test]
fn results_that_were_there_are_kept_and_not_told_twice() {
    let mut world = resumed(&[("a", "weather_read", OSLO), ("b", "weather_read", ROME)], |world| {
        world.works("weather_read", &json!("of Rome"));
    });
    assert_eq!(world.started.len(), 1);
    world.works("weather_read", &json!("of Oslo"));
    assert_eq!(codes(&world), [r#""of Oslo""#, r#""of Rome""#]);
}

#[test]
fn a_model_that_was_still_answering_is_asked_again() {
    let mut world = Loop::asked();
    world.words("It is ");
    world.reload();
    world.give(Input::Resume);
    assert_eq!(world.requests.len(), 2);
    assert_eq!(world.requests[0].messages, world.requests[1].messages);
    world.answer("It is sunny.");
    assert_eq!(world.ends(), ["completed"]);
    assert_eq!(world.answers().len(), 1, "nothing is there twice");
}

#[test]
fn a_run_between_two_steps_goes_on_with_the_next() {
    let mut world = called(&[("a", "weather_read", OSLO)]);
    world.works("weather_read", &fine());
    world.journal.pop();
    assert!(matches!(world.journal.last(), Some(Entry::Result { .. })), "{:?}", world.journal.last());
    world.reload();
    world.give(Input::Resume);
    world.answer("Sunny.");
    assert_eq!(world.ends(), ["completed"]);
}

#[test]
fn a_tool_that_is_gone_meanwhile_is_unknown_and_one_that_ran_is_of_unknown_outcome() {
    let mut world = called(&[("a", "weather_read", OSLO), ("b", "order_refund", OSLO)]);
    world.reload();
    world.tools(tools::registry(vec![]));
    world.give(Input::Resume);
    assert_eq!(codes(&world), ["unknown_tool", "unknown_tool"]);
    world.answer("They are gone.");
    assert_eq!(world.ends(), ["completed"]);
}

#[test]
fn the_steps_of_a_run_count_on_over_a_reload() {
    let mut world = Loop::within(Limits { max_steps: 24, ..Limits::default() });
    world.user("Hello.");
    for _ in 0..23 {
        world.step(&[("", "weather_read", OSLO)]);
        world.outcome(&world.id("weather_read"), Outcome::Result(fine()));
        world.reload();
        world.give(Input::Resume);
    }
    world.step(&[("", "weather_read", OSLO)]);
    world.works("weather_read", &fine());
    assert_eq!(world.ends(), ["max-steps"]);
}

#[test]
fn stop_ends_a_run_that_waits_to_be_taken_up() {
    let mut world = called(&[("a", "weather_read", OSLO)]);
    world.reload();
    world.stop();
    assert_eq!(world.ends(), ["stopped"]);
    world.give(Input::Resume);
    assert_eq!(world.ran().len(), 1, "there is nothing to take up any more");
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
