//! A call the user is asked about: by the policy, or by the tool itself. Each with a scripted model.

use pagehand::protocol::{Entry, Event, Outcome};
use serde_json::{Value, json};

use crate::support::loop_driver::{Loop, OSLO, ROME, fine};
use crate::support::tools;

#[test]
fn a_tool_that_asks_while_it_runs_is_called_again_once_approved() {
    let mut world = Loop::called(&[("a", "asks_itself", OSLO)]);
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
    assert_eq!(world.codes(), [r#"{"fine":true}"#]);
}

#[test]
fn a_tool_that_asks_while_it_runs_and_is_denied_has_its_result() {
    let mut world = Loop::called(&[("a", "asks_itself", OSLO)]);
    world.outcome(
        &world.id("asks_itself"),
        Outcome::NeedsApproval { reason: "Click.".to_owned(), payload: Value::Null },
    );
    world.deny("asks_itself", None);
    assert_eq!(world.ran(), ["asks_itself"]);
    assert_eq!(world.codes(), ["denied"]);
    assert_eq!(world.life("asks_itself").last(), Some(&"denied"));
}

#[test]
fn a_tool_that_asks_again_after_its_approval_has_failed() {
    let mut world = Loop::called(&[("a", "asks_itself", OSLO)]);
    for _ in 0..2 {
        world.outcome(
            &world.id("asks_itself"),
            Outcome::NeedsApproval { reason: "Click.".to_owned(), payload: Value::Null },
        );
        world.approve("asks_itself", None);
    }
    assert_eq!(world.codes(), ["tool_error"]);
}

#[test]
fn changed_arguments_that_fit_run_and_the_model_is_told() {
    let mut world = Loop::called(&[("a", "order_refund", OSLO)]);
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
    let mut world = Loop::called(&[("a", "order_refund", OSLO)]);
    world.approve("order_refund", Some("{ \"city\" : \"Oslo\" }"));
    world.works("order_refund", &json!({ "refunded": 10 }));
    assert_eq!(world.last_result(), json!({ "refunded": 10 }));
}

#[test]
fn changed_arguments_that_do_not_fit_are_refused_and_the_question_stays() {
    let mut world = Loop::called(&[("a", "order_refund", OSLO)]);
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
    let mut world = Loop::called(&[("a", "order_refund", OSLO)]);
    world.tools(tools::registry(Vec::new()));
    world.approve("order_refund", Some("{}"));
    assert_eq!(world.ran(), [""; 0], "nobody checked these arguments");
    world.approve("order_refund", Some(ROME));
    assert_eq!(world.ran(), ["order_refund"]);
}

#[test]
fn a_decision_on_a_call_that_asks_nothing_changes_nothing() {
    let mut world = Loop::called(&[("a", "weather_read", OSLO)]);
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
        let mut world = Loop::called(&[("a", name, OSLO)]);
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
    let mut world = Loop::called(&[("a", "note_write", OSLO), ("b", "note_write", ROME), ("c", "order_refund", OSLO)]);
    assert!(world.ran().is_empty());
    world.approve("note_write", None);
    assert_eq!(world.ran().len(), 2, "both notes run, the refund still asks");
    assert_eq!(world.life("order_refund").last(), Some(&"approval-requested"));
}

#[test]
fn a_denied_write_asks_again() {
    let mut world = Loop::called(&[("a", "note_write", OSLO)]);
    world.deny("note_write", None);
    world.step(&[("b", "note_write", ROME)]);
    assert_eq!(world.life("note_write").last(), Some(&"approval-requested"));
}

#[test]
fn a_grant_ends_with_the_page() {
    let mut world = Loop::called(&[("a", "note_write", OSLO)]);
    world.approve("note_write", None);
    world.works("note_write", &fine());
    world.answer("Noted.");
    world.reload();
    world.user("Again.");
    world.step(&[("b", "note_write", ROME)]);
    assert_eq!(world.life("note_write").last(), Some(&"approval-requested"));
}
