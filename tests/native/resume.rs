//! A run that a reload cut off, and how it is taken up. Each with a scripted model.

use pagehand::agent::{Input, Limits};
use pagehand::protocol::{Entry, Outcome, Scope};
use serde_json::{Value, json};

use crate::support::loop_driver::{Asked, Loop, OSLO, ROME, fine};
use crate::support::tools;

/// A run that a reload cut off after its model made these calls, taken up again.
fn resumed(calls: &[Asked<'_>], before: impl Fn(&mut Loop)) -> Loop {
    let mut world = Loop::called(calls);
    before(&mut world);
    world.reload();
    assert!(world.run.is_interrupted() && world.run.can_retry());
    world.started.clear();
    world.give(Input::Resume);
    world
}

#[test]
fn a_run_that_is_not_taken_up_ends_and_answers_its_calls() {
    let mut world = Loop::called(&[("a", "weather_read", OSLO), ("b", "order_refund", OSLO)]);
    world.reload();
    assert_eq!(world.ends(), [""; 0], "it waits");
    world.user("Forget it.");
    assert_eq!(world.ends(), ["superseded"]);
    assert_eq!(world.codes(), ["interrupted", "interrupted"]);
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
    let mut world = Loop::called(&[("a", "asks_itself", OSLO), ("b", "weather_read", ROME)]);
    world.reload();
    world.started.clear();
    world.give(Input::Resume);
    assert_eq!(world.ran(), ["weather_read"]);
    world.works("weather_read", &fine());
    assert_eq!(world.codes(), ["interrupted", r#"{"fine":true}"#]);
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
    assert_eq!(world.codes(), [r#""it was made""#]);
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
    assert_eq!(world.codes(), [r#""of Oslo""#, r#""of Rome""#]);
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
    let mut world = Loop::called(&[("a", "weather_read", OSLO)]);
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
    let mut world = Loop::called(&[("a", "weather_read", OSLO), ("b", "order_refund", OSLO)]);
    world.reload();
    world.tools(tools::registry(vec![]));
    world.give(Input::Resume);
    assert_eq!(world.codes(), ["unknown_tool", "unknown_tool"]);
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
    let mut world = Loop::called(&[("a", "weather_read", OSLO)]);
    world.reload();
    world.stop();
    assert_eq!(world.ends(), ["stopped"]);
    world.give(Input::Resume);
    assert_eq!(world.ran().len(), 1, "there is nothing to take up any more");
}
