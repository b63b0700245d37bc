//! How far a run may go: calls at once, tokens, money, arguments, depth. Each with a scripted model.

use pagehand::agent::{Input, Limits};
use pagehand::protocol::{EndReason, Entry, Event, MessageStatus, ModelEvent, Outcome, Usage, parse_json};
use serde_json::{Value, json};

use crate::support::loop_driver::{Asked, Loop, OSLO, ROME, fine};

/// Arguments that no other call has.
fn city(at: usize) -> String {
    json!({ "city": format!("City {at}") }).to_string()
}

// ---- steps, calls, time, repeats ----

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
    assert_eq!(world.codes(), ["too_many_calls"; 3]);
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
    assert_eq!(world.codes(), ["cancelled", "cancelled"]);
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
    let mut world = Loop::called(&[("a", "slow_read", OSLO), ("b", "weather_read", OSLO)]);
    assert_eq!(world.run.wake_at(), Some(world.at + 1_000));
    world.wait(1_000);
    assert_eq!(world.cancelled_tools, [world.id("slow_read")]);
    assert_eq!(world.life("slow_read").last(), Some(&"failed"));
    world.works("weather_read", &fine());
    assert_eq!(world.codes(), ["timeout", r#"{"fine":true}"#]);
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
    assert_eq!(world.codes()[3..], ["cancelled", "repeated_call", "cancelled"]);
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

// ---- calls at once ----

fn called_at_once(count: usize, limits: Limits) -> Loop {
    let mut world = Loop::asked_within(limits);
    let arguments: Vec<String> = (0..count).map(city).collect();
    let calls: Vec<Asked<'_>> = arguments.iter().map(|arguments| ("", "weather_read", arguments.as_str())).collect();
    world.step(&calls);
    world
}

fn cities(world: &Loop) -> Vec<&str> {
    world.started.iter().map(|request| request.arguments["city"].as_str().unwrap()).collect()
}

#[test]
fn so_many_run_at_once_and_the_others_follow_in_their_order() {
    let mut world = called_at_once(5, Limits { max_parallel: 2, ..Limits::default() });
    assert_eq!(cities(&world), ["City 0", "City 1"]);
    // Whichever is done makes room for the next.
    for (done, started) in [(1, 3), (2, 4), (0, 5), (4, 5), (3, 5)] {
        let call = world.started[done].call.clone();
        world.outcome(&call, Outcome::Result(json!(done)));
        assert_eq!(world.started.len(), started);
    }
    assert_eq!(cities(&world), ["City 0", "City 1", "City 2", "City 3", "City 4"]);
    assert_eq!(world.codes(), ["0", "1", "2", "3", "4"]);
    assert_eq!(world.requests.len(), 2);
}

#[test]
fn eight_run_at_once_unless_said_otherwise_and_one_at_least() {
    assert_eq!(called_at_once(12, Limits::default()).started.len(), 8);
    assert_eq!(called_at_once(2, Limits { max_parallel: 1, ..Limits::default() }).started.len(), 1);
}

#[test]
fn the_time_of_a_call_that_waits_has_not_begun() {
    let mut world =
        called_at_once(2, Limits { max_parallel: 1, tool_timeout_ms: 5_000, max_run_ms: 60_000, ..Limits::default() });
    world.wait(5_000);
    assert_eq!(world.started.len(), 2, "the first has run out of time, and makes room");
    world.wait(4_999);
    let call = world.started[1].call.clone();
    world.outcome(&call, Outcome::Result(fine()));
    assert_eq!(world.codes(), ["timeout", r#"{"fine":true}"#]);
}

#[test]
fn what_the_user_is_asked_about_takes_no_room_and_waits_for_some_when_it_may_run() {
    let mut world = Loop::asked_within(Limits { max_parallel: 1, ..Limits::default() });
    world.step(&[("a", "order_refund", OSLO), ("b", "weather_read", OSLO), ("c", "weather_read", ROME)]);
    assert_eq!(world.ran(), ["weather_read"]);
    world.approve("order_refund", None);
    assert_eq!(world.ran(), ["weather_read"]);
    assert_eq!(world.life("order_refund").last(), Some(&"input-available"), "it is asked about no more");
    let first = world.started[0].call.clone();
    world.outcome(&first, Outcome::Result(fine()));
    assert_eq!(world.ran(), ["weather_read", "order_refund"], "in the order they were asked for");
    assert!(world.started[1].approved);
    // A tool that asks makes room, too.
    world.outcome(
        &world.started[1].call.clone(),
        Outcome::NeedsApproval { reason: "Click.".to_owned(), payload: Value::Null },
    );
    assert_eq!(world.ran(), ["weather_read", "order_refund", "weather_read"]);
}

#[test]
fn a_call_that_waits_for_room_is_not_run_after_stop() {
    let mut world = called_at_once(2, Limits { max_parallel: 1, ..Limits::default() });
    world.stop();
    assert_eq!((world.started.len(), world.cancelled_tools.len()), (1, 1));
    assert!(world.last_result()["message"].as_str().unwrap().contains("It was not run"));
}

#[test]
fn calls_that_waited_for_room_run_after_a_reload() {
    let mut world = called_at_once(10, Limits::default());
    world.reload();
    world.started.clear();
    world.give(Input::Resume);
    assert_eq!(world.started.len(), 8);
    for at in 0..10 {
        let call = world.started[at].call.clone();
        world.outcome(&call, Outcome::Result(json!(at)));
    }
    assert_eq!(world.codes(), ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"]);
}

#[test]
fn a_thousand_calls_in_a_step_are_all_answered_and_none_runs() {
    let mut world = Loop::asked_within(Limits::default());
    let arguments: Vec<String> = (0..1_000).map(city).collect();
    for (slot, text) in arguments.into_iter().enumerate() {
        // Not through `Loop`, which holds the whole thread against every event.
        let start = ModelEvent::CallStart { slot, id: None, name: "weather_read".to_owned() };
        for event in [start, ModelEvent::CallDelta { slot, text }] {
            world.run.handle(world.at, Input::Model { call: 1, event });
        }
        while world.run.poll().is_some() {}
    }
    world
        .run
        .handle(world.at, Input::Model { call: 1, event: ModelEvent::Finish(pagehand::protocol::FinishReason::Calls) });
    let outputs: Vec<_> = std::iter::from_fn(|| world.run.poll()).collect();
    let results = outputs.iter().filter(|output| {
        matches!(output, pagehand::agent::Output::Save(Entry::Result { result, .. }) if result.error.as_deref() == Some("too_many_calls"))
    });
    assert_eq!(results.count(), 1_000);
    assert!(!outputs.iter().any(|output| matches!(output, pagehand::agent::Output::CallTool(_))));
    assert_eq!(world.run.last_end(), Some(&EndReason::MaxCalls { limit: 32, asked: 1_000 }));
}

// ---- tokens and money ----

fn usage(input_tokens: u64, cost_micros: Option<u64>) -> ModelEvent {
    ModelEvent::Usage(Usage { input_tokens, output_tokens: 5, cost_micros, ..Usage::default() })
}

fn step_of(world: &mut Loop, usage: ModelEvent) {
    world.model(usage);
    world.step(&[("", "weather_read", &city(world.requests.len()))]);
    world.works("weather_read", &fine());
}

#[test]
fn tokens_are_counted_between_steps() {
    let mut world = Loop::asked_within(Limits { max_tokens: Some(100), ..Limits::default() });
    step_of(&mut world, usage(40, None));
    step_of(&mut world, usage(45, None));
    assert_eq!(world.requests.len(), 3, "95 are no 100");
    step_of(&mut world, usage(50, None));
    assert_eq!(world.run.last_end(), Some(&EndReason::MaxTokens { limit: 100, used: 150 }));
    assert_eq!(world.codes().len(), 3, "what it asked for was still done");
    world.user("Go on.");
    assert_eq!(world.requests.len(), 4, "the next run counts anew");
}

#[test]
fn an_answer_that_uses_up_the_tokens_is_still_an_answer() {
    let mut world = Loop::asked_within(Limits { max_tokens: Some(100), ..Limits::default() });
    world.model(usage(500, None));
    world.answer("Sunny.");
    assert_eq!(world.ends(), ["completed"]);
}

#[test]
fn tokens_of_tries_that_failed_count_too() {
    let mut world = Loop::asked_within(Limits { max_tokens: Some(100), ..Limits::default() });
    world.model(usage(60, None));
    world.cut();
    world.again();
    step_of(&mut world, usage(60, None));
    assert_eq!(world.ends(), ["max-tokens"]);
}

#[test]
fn money_is_limited_where_the_gateway_knows_prices() {
    let limits = Limits { max_cost_micros: Some(1_000), ..Limits::default() };
    let mut world = Loop::asked_within(limits);
    for _ in 0..3 {
        step_of(&mut world, usage(1_000_000, None));
    }
    assert!(world.run.is_running(), "without prices nothing is known to cost anything");
    let mut world = Loop::asked_within(limits);
    step_of(&mut world, usage(10, Some(600)));
    step_of(&mut world, usage(10, Some(400)));
    assert_eq!(world.run.last_end(), Some(&EndReason::MaxCost { limit_micros: 1_000, used_micros: 1_000 }));
    let told = world.events.iter().rev().find_map(|event| match event {
        Event::Usage { run, .. } => Some(*run),
        _ => None,
    });
    let used = Usage { input_tokens: 20, output_tokens: 10, cost_micros: Some(1_000), ..Usage::default() };
    assert_eq!(told, Some(used));
    // The journal says it, too: of the run that has ended, of one at work, and of one that has just begun.
    let at = |line: fn(&Entry) -> bool| world.journal.iter().position(line).expect("such a line");
    let begun = at(|line| matches!(line, Entry::StepStart { step: 2, .. }));
    assert_eq!(Entry::used_up(&world.journal), used);
    assert_eq!(Entry::used_up(&world.journal[..=begun]).cost_micros, Some(600));
    let next = Entry::RunStart { run: "s".into(), at: 0, message: None };
    assert_eq!(Entry::used_up(&[&world.journal[..], &[next]].concat()), Usage::default());
}

#[test]
fn reasons_are_written_down_and_read_again() {
    let reasons = [
        EndReason::MaxTokens { limit: 100, used: 150 },
        EndReason::MaxCost { limit_micros: 1_000, used_micros: 2_000 },
    ];
    for reason in reasons {
        let used = Usage { input_tokens: 100, output_tokens: 50, cost_micros: Some(2_000), ..Usage::default() };
        let entry = Entry::RunEnd { run: "r".into(), reason, used };
        assert_eq!(Entry::from_json(&entry.to_json()), Some(entry));
    }
}

// ---- as a page says them ----

#[test]
fn a_page_says_each_limit_by_its_name_and_the_others_stay() {
    let usual = Limits::default();
    let cases = [
        ("maxSteps", Limits { max_steps: 7, ..usual }),
        ("maxCalls", Limits { max_calls: 7, ..usual }),
        ("maxParallel", Limits { max_parallel: 7, ..usual }),
        ("maxRunMs", Limits { max_run_ms: 7, ..usual }),
        ("maxRepeats", Limits { max_repeats: 7, ..usual }),
        ("toolTimeoutMs", Limits { tool_timeout_ms: 7, ..usual }),
        ("modelIdleMs", Limits { model_idle_ms: 7, ..usual }),
        ("maxResultCharacters", Limits { max_result_characters: 7, ..usual }),
        ("maxRetries", Limits { max_retries: 7, ..usual }),
        ("maxWaitMs", Limits { max_wait_ms: 7, ..usual }),
        ("maxArguments", Limits { max_arguments: 7, ..usual }),
        ("maxTokens", Limits { max_tokens: Some(7), ..usual }),
        ("maxCostMicros", Limits { max_cost_micros: Some(7), ..usual }),
    ];
    for (name, limits) in &cases {
        assert_eq!(usual.with(&json!({ *name: 7 })), Ok(*limits), "{name}");
        assert_eq!(usual.with(&json!({ *name: null })), Ok(usual), "{name}");
    }
    let promised = include_str!("../../www/types.d.ts");
    let promised = promised.split_once("export interface Limits {").and_then(|(_, rest)| rest.split_once('}'));
    let promised: Vec<_> = promised.into_iter().flat_map(|(limits, _)| limits.lines()).collect();
    let promised: Vec<_> = promised.iter().filter_map(|line| line.trim().strip_suffix("?: number;")).collect();
    assert_eq!(promised, cases.map(|(name, _)| name));
}

#[test]
fn a_limit_that_is_none_is_refused_with_its_place() {
    let faults = |told: Value| Limits::default().with(&told).unwrap_err();
    assert_eq!(
        faults(json!({ "maxSteps": 0, "maxTokens": 1.5, "maxRetries": 0, "maxRunMs": "1s" })),
        [
            "maxRunMs: must be a whole number, 1 or more",
            "maxSteps: must be a whole number, 1 or more",
            "maxTokens: must be a whole number, 1 or more",
        ]
    );
    assert!(faults(json!({ "maxTurns": 3 }))[0].starts_with("maxTurns: no such limit; there are maxSteps, maxCalls, "));
    assert_eq!(faults(json!(3)), ["limits are an object, such as { maxSteps: 8 }"]);
    assert_eq!(Limits::default().with(&json!({ "maxSteps": u64::MAX })).map(|limits| limits.max_steps), Ok(u32::MAX));
}

#[test]
fn limits_said_in_the_middle_of_a_run_hold_for_it() {
    let mut world = Loop::asked_within(Limits::default());
    world.step(&[("a", "weather_read", OSLO)]);
    world.give(Input::Limits(Limits { max_steps: 1, ..Limits::default() }));
    world.works("weather_read", &fine());
    assert_eq!(world.ends(), ["max-steps"]);
    assert_eq!(world.requests.len(), 1);
}

// ---- arguments ----

fn too_long(world: &mut Loop, pieces: usize) {
    world.model(ModelEvent::CallStart { slot: 0, id: Some("a".to_owned()), name: "weather_read".to_owned() });
    for _ in 0..pieces {
        world.model(ModelEvent::CallDelta { slot: 0, text: "x".repeat(50) });
    }
}

#[test]
fn arguments_without_an_end_are_not_kept_and_the_other_calls_run() {
    let mut world = Loop::asked_within(Limits { max_arguments: 100, ..Limits::default() });
    too_long(&mut world, 40);
    let deltas = world.events.iter().filter(|event| matches!(event, Event::ArgumentsDelta { .. })).count();
    assert_eq!(deltas, 2, "nor are they told");
    world.model(ModelEvent::CallStart { slot: 1, id: Some("b".to_owned()), name: "page_look".to_owned() });
    world.model(ModelEvent::CallDelta { slot: 1, text: OSLO.to_owned() });
    world.model(ModelEvent::Finish(pagehand::protocol::FinishReason::Calls));
    assert_eq!(world.ran(), ["page_look"]);
    world.works("page_look", &fine());
    assert_eq!(world.codes(), ["arguments_too_long", r#"{"fine":true}"#]);
    let sent = format!("{:?}", world.requests[1].messages);
    assert!(sent.contains("more than 100 characters, which is the limit") && sent.len() < 3_000, "{sent}");
}

#[test]
fn arguments_that_just_fit_run_and_whole_ones_may_stand_in_for_too_long_ones() {
    let mut world = Loop::asked_within(Limits { max_arguments: OSLO.chars().count(), ..Limits::default() });
    world.step(&[("a", "weather_read", OSLO)]);
    assert_eq!(world.ran(), ["weather_read"]);

    let mut world = Loop::asked_within(Limits { max_arguments: 60, ..Limits::default() });
    too_long(&mut world, 2);
    world.model(ModelEvent::CallArguments { slot: 0, text: OSLO.to_owned() });
    world.model(ModelEvent::Finish(pagehand::protocol::FinishReason::Calls));
    assert_eq!(world.ran(), ["weather_read"]);

    let mut world = Loop::asked_within(Limits { max_arguments: 60, ..Limits::default() });
    world.model(ModelEvent::CallStart { slot: 0, id: None, name: "weather_read".to_owned() });
    world.model(ModelEvent::CallArguments { slot: 0, text: format!("{}{OSLO}", " ".repeat(60)) });
    world.model(ModelEvent::Finish(pagehand::protocol::FinishReason::Calls));
    assert_eq!(world.codes(), ["arguments_too_long"]);
}

#[test]
fn a_reload_before_the_result_never_runs_a_call_whose_arguments_were_left_out() {
    let mut world = Loop::asked_within(Limits { max_arguments: 60, ..Limits::default() });
    too_long(&mut world, 2);

    world.model(ModelEvent::CallStart { slot: 1, id: Some("b".to_owned()), name: "page_look".to_owned() });
    world.model(ModelEvent::CallDelta { slot: 1, text: OSLO.to_owned() });
    world.model(ModelEvent::Finish(pagehand::protocol::FinishReason::Calls));
    let answer = world.journal.iter().position(|entry| matches!(entry, Entry::Message(_))).unwrap();
    world.journal.truncate(answer + 1);
    world.events.clear();
    world.reload();
    world.started.clear();
    world.give(Input::Resume);
    assert_eq!(world.ran(), ["page_look"]);
}

// ---- depth ----

fn nested(levels: usize) -> String {
    format!("{}{}", "[".repeat(levels), "]".repeat(levels))
}

#[test]
fn json_that_is_nested_too_deep_is_called_so() {
    let cases = [
        (nested(127), None),
        (nested(128), Some("nested deeper than 127 levels")),
        (nested(100_000), Some("nested deeper than 127 levels")),
        ("[".repeat(100_000), Some("nested deeper than 127 levels")),
        (format!("\"{}\"", "[".repeat(1_000)), None),
        (format!("[\"\\\"{}\"", "[".repeat(1_000)), Some("EOF while parsing a list at line 1 column 1005")),
        ("[1".to_owned(), Some("EOF while parsing a list at line 1 column 2")),
    ];
    for (text, fault) in cases {
        let read = parse_json(&text).err().map(|why| why.to_string());
        assert_eq!(read.as_deref(), fault, "{}", &text[..text.len().min(20)]);
    }
}

#[test]
fn arguments_that_are_nested_too_deep_say_so_to_the_model() {
    let deep = format!("{{\"city\":{}}}", nested(200));
    for arguments in [deep.clone(), Value::from(deep).to_string()] {
        let mut world = Loop::asked_within(Limits::default());
        world.step(&[("a", "weather_read", &arguments), ("b", "page_look", OSLO)]);
        assert_eq!(world.ran(), ["page_look"]);
        world.works("page_look", &fine());
        assert_eq!(world.codes()[0], "invalid_json");
        let sent = format!("{:?}", world.requests[1].messages);
        assert!(sent.contains("nested deeper than 127 levels"), "{sent}");
    }
}
