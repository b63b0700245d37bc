//! A model call that is put off: asked again after a failure, held back without a network. Each with a scripted model;
//! `Loop` itself holds every request that is sent again against the one it repeats.

use pagehand::agent::{Input, Limits, Output, Run, Standing};
use pagehand::protocol::{
    EndReason, Event, FinishReason, Message, MessageStatus, Millis, ModelError, ModelErrorKind, ModelEvent, Outcome,
    ToolCallId, UserMessage, Wait,
};
use pagehand::session::Handle;

use crate::support::loop_driver::{Loop, OSLO, ROME, config, fine};
use crate::support::tools::every_kind;

fn error(kind: ModelErrorKind) -> ModelError {
    ModelError::new(kind, "It failed.")
}

fn stated(ms: Millis) -> ModelError {
    ModelError { retry_after_ms: Some(ms), ..error(ModelErrorKind::RateLimit) }
}

fn fail(world: &mut Loop, error: ModelError) {
    world.model(ModelEvent::Error(error));
}

/// What it waits for, in short words, and how long; `None` where it does not wait.
fn wait(world: &Loop) -> Option<(String, Millis)> {
    let last = world.events.iter().rev().find(|event| {
        matches!(event, Event::Waiting { .. } | Event::StepStart { .. } | Event::RunEnd { .. } | Event::RunStart { .. })
    });
    let Some(Event::Waiting { until, why }) = last else { return None };
    assert_eq!(world.run.wake_at(), Some(*until), "it wakes when it says");
    let words = match why {
        Wait::Offline => "offline".to_owned(),
        Wait::Retry { attempt, of, .. } => format!("{attempt} of {of}"),
    };
    Some((words, until - world.at))
}

fn waits_for(world: &Loop) -> Option<String> {
    wait(world).map(|(words, _)| words)
}

// ---- what is asked again ----

#[test]
fn what_may_pass_is_asked_again_and_what_may_not_is_not() {
    use ModelErrorKind::{Auth, BadRequest, Network, Protocol, RateLimit, Upstream};
    let says = |kind, retry| ModelError { retry: Some(retry), ..error(kind) };
    let cases = [
        (error(Network), true),
        (error(RateLimit), true),
        (error(Upstream), true),
        (error(Auth), false),
        (error(BadRequest), false),
        (error(Protocol), false),
        // What the other side says goes before what the kind says.
        (says(RateLimit, false), false),
        (says(Upstream, false), false),
        (says(BadRequest, true), true),
        (stated(60_000), true),
        (stated(60_001), false),
        (stated(u64::MAX), false),
    ];
    for (error, again) in cases {
        let mut world = Loop::asked();
        assert_eq!(world.run.will_retry(&error), again, "{error:?}");
        fail(&mut world, error.clone());
        assert_eq!(waits_for(&world), again.then(|| "1 of 4".to_owned()), "{error:?}");
        assert_eq!(world.run.last_end(), (!again).then_some(&EndReason::Error(error)));
    }
}

#[test]
fn waits_grow_and_differ_and_are_the_same_for_the_same_seed() {
    let waits = |retries| {
        let mut world = Loop::asked_within(Limits { max_retries: retries, ..Limits::default() });
        let mut waits = Vec::new();
        for _ in 0..retries {
            fail(&mut world, error(ModelErrorKind::Upstream));
            waits.push(wait(&world).unwrap().1);
            world.again();
        }
        waits
    };
    let seen = waits(7);
    let whole = [500, 1_000, 2_000, 4_000, 8_000, 8_000, 8_000];
    assert!(seen.iter().zip(whole).all(|(wait, whole)| (whole * 3 / 4..=whole).contains(wait)), "{seen:?}");
    assert!(seen.iter().zip(whole).any(|(wait, whole)| *wait != whole), "without jitter: {seen:?}");
    assert_eq!(waits(7), seen);
}

#[test]
fn a_stated_wait_is_kept_to_its_end() {
    for ms in [1, 500, 3_000, 60_000] {
        let mut world = Loop::asked();
        fail(&mut world, stated(ms));
        let (_, wait) = wait(&world).unwrap();
        assert!((ms..=ms + ms / 8).contains(&wait), "{ms}: {wait}");
        world.wait(ms - 1);
        assert_eq!(world.requests.len(), 1);
        world.again();
        assert_eq!(world.requests.len(), 2);
    }
    let mut world = Loop::asked();
    fail(&mut world, stated(0));
    assert!(wait(&world).unwrap().1 >= 375, "at once is no wait at all");
}

#[test]
fn tries_are_counted_and_the_last_failure_ends_the_run() {
    let mut world = Loop::asked();
    for attempt in 1..=4 {
        world.words("It is");
        fail(&mut world, error(ModelErrorKind::Upstream));
        assert_eq!(waits_for(&world), Some(format!("{attempt} of 4")));
        assert!(world.run.is_running());
        world.again();
    }
    world.words("It was");
    fail(&mut world, stated(7_000));
    assert_eq!(world.requests.len(), 5);
    assert_eq!(world.run.last_end(), Some(&EndReason::Error(stated(7_000))), "with its countdown");
    let statuses: Vec<MessageStatus> = world.answers().into_iter().map(|(_, status)| status).collect();
    assert_eq!(statuses[..4], [MessageStatus::Superseded; 4], "what broke off stays in sight");
    assert_eq!(statuses[4], MessageStatus::Truncated);
    assert!(world.run.can_retry());
}

#[test]
fn failures_of_every_kind_share_the_tries_of_a_step_and_each_step_has_its_own() {
    let mut world = Loop::asked();
    world.cut();
    world.again();
    fail(&mut world, error(ModelErrorKind::Network));
    assert_eq!(waits_for(&world), Some("2 of 4".to_owned()));
    world.again();
    world.step(&[("a", "weather_read", OSLO)]);
    world.works("weather_read", &fine());
    fail(&mut world, error(ModelErrorKind::Network));
    assert_eq!(waits_for(&world), Some("1 of 4".to_owned()));
}

#[test]
fn after_a_tool_has_run_the_same_history_is_sent_and_the_tool_does_not_run_again() {
    let mut world = Loop::asked();
    world.step(&[("a", "weather_read", OSLO)]);
    world.works("weather_read", &fine());
    // Tools that came meanwhile are for the next step.
    world.tools(crate::support::tools::registry(vec![]));
    world.calls(&[("b", "page_look", OSLO)]);
    fail(&mut world, error(ModelErrorKind::Upstream));
    assert_eq!(world.life("page_look").last(), Some(&"cancelled"), "a call of an answer that failed never runs");
    world.again();
    assert_eq!(world.requests[2], world.requests[1], "word for word");
    assert_eq!(world.ran(), ["weather_read"]);
    world.answer("Sunny.");
    assert_eq!(world.ends(), ["completed"]);
}

#[test]
fn nothing_is_asked_again_where_the_agent_had_run_a_tool() {
    for online in [true, false] {
        let mut world = Loop::asked();
        world.calls(&[("a", "their_tool", "{}")]);
        world.model(ModelEvent::CallResult { slot: 0, content: "done".to_owned() });
        world.give(Input::Online(online));
        let failure = error(ModelErrorKind::Network);
        assert!(!world.run.will_retry(&failure));
        fail(&mut world, failure);
        assert_eq!((world.requests.len(), world.ends()), (1, vec!["error"]));
    }
}

// ---- while it waits ----

#[test]
fn the_user_may_stop_it_send_another_message_or_not_wait() {
    let waiting = || {
        let mut world = Loop::asked();
        fail(&mut world, stated(30_000));
        world
    };
    let mut world = waiting();
    world.stop();
    assert_eq!((world.ends(), world.run.wake_at()), (vec!["stopped"], None));
    world.wait(60_000);
    assert_eq!(world.requests.len(), 1);
    assert!(world.run.can_retry());

    let mut world = waiting();
    world.user("In Rome, I mean.");
    assert_eq!(world.ends(), ["superseded"]);
    let sent = &world.requests[1].messages;
    assert!(matches!(sent.last(), Some(Message::User(UserMessage { content, .. })) if content == "In Rome, I mean."));
    world.wait(60_000);
    assert_eq!(world.requests.len(), 2, "what was waited for is over");

    let mut world = waiting();
    world.retry();
    assert_eq!((world.requests.len(), world.ends()), (2, vec![]));
    world.answer("Sunny.");
    assert_eq!(world.ends(), ["completed"]);
}

#[test]
fn a_reload_takes_up_a_run_that_waited() {
    let mut world = Loop::asked();
    world.step(&[("a", "weather_read", OSLO)]);
    world.works("weather_read", &fine());
    world.words("It is");
    fail(&mut world, stated(30_000));
    world.reload();
    world.give(Input::Resume);
    assert_eq!(world.requests[2].messages, world.requests[1].messages);
    world.answer("Sunny.");
    assert_eq!((world.ends(), world.ran()), (vec!["completed"], vec!["weather_read"]));
}

#[test]
fn waiting_is_not_work() {
    let mut world = Loop::asked_within(Limits { max_run_ms: 10_000, max_retries: 9, ..Limits::default() });
    for _ in 0..9 {
        fail(&mut world, stated(60_000));
        world.again();
    }
    world.give(Input::Online(false));
    fail(&mut world, error(ModelErrorKind::Network));
    for _ in 0..9 {
        world.again();
        world.wait(5_000);
        fail(&mut world, error(ModelErrorKind::Network));
    }
    world.give(Input::Online(true));
    world.wait(9_999);
    assert!(world.run.is_running());
    world.wait(1);
    assert_eq!(world.ends(), ["max-time"]);
}

// ---- without a network ----

#[test]
fn a_message_without_a_network_is_kept_and_goes_out_when_it_is_back() {
    let mut world = Loop::new();
    world.give(Input::Online(false));
    world.user("What is the weather?");
    assert_eq!((waits_for(&world), world.requests.len()), (Some("offline".to_owned()), 0));
    assert!(world.run.is_running() && !world.run.transcript().messages().is_empty());
    world.give(Input::Online(true));
    assert_eq!((waits_for(&world), world.requests.len()), (None, 1));
    world.answer("Sunny.");
    assert_eq!(world.ends(), ["completed"]);
}

#[test]
fn without_a_network_it_is_looked_for_ever_more_slowly_and_as_long_as_it_takes() {
    let mut world = Loop::new();
    world.give(Input::Online(false));
    world.user("What is the weather?");
    let mut pauses = Vec::new();
    for _ in 0..12 {
        pauses.push(wait(&world).unwrap().1);
        world.again();
        fail(&mut world, error(ModelErrorKind::Network));
    }
    assert_eq!(pauses[..6], [1_000, 2_000, 4_000, 8_000, 16_000, 30_000]);
    assert!(pauses[6..].iter().all(|pause| *pause == 30_000));
    assert_eq!(world.ends(), [""; 0]);
    world.again();
    world.words("Sunny");
    assert_eq!(waits_for(&world), None);
    // Somebody answered, so the browser was wrong, and the next step is not held back.
    world.step(&[("a", "weather_read", OSLO)]);
    world.works("weather_read", &fine());
    assert_eq!((waits_for(&world), world.requests.len()), (None, 14));
}

#[test]
fn a_connection_lost_with_the_network_waits_for_it_and_is_not_counted() {
    for cut in [true, false] {
        let mut world = Loop::asked();
        world.words("It is");
        world.give(Input::Online(false));
        world.words(" sunny");
        if cut {
            world.cut();
        } else {
            fail(&mut world, error(ModelErrorKind::Network));
        }
        assert_eq!(waits_for(&world), Some("offline".to_owned()));
        world.give(Input::Online(true));
        fail(&mut world, error(ModelErrorKind::Upstream));
        assert_eq!(waits_for(&world), Some("1 of 4".to_owned()));
    }
}

#[test]
fn the_network_coming_back_ends_a_wait_but_not_one_that_was_asked_for() {
    let gone_and_back = |error| {
        let mut world = Loop::asked();
        fail(&mut world, error);
        world.give(Input::Online(false));
        assert_eq!(waits_for(&world), Some("offline".to_owned()));
        world.give(Input::Online(true));
        world
    };
    let world = gone_and_back(error(ModelErrorKind::Network));
    assert_eq!(world.requests.len(), 2);
    let mut world = gone_and_back(stated(30_000));
    assert_eq!((waits_for(&world), world.requests.len()), (Some("1 of 4".to_owned()), 1));
    world.again();
    assert_eq!(world.requests.len(), 2);
}

#[test]
fn tools_of_the_page_go_on_without_a_network() {
    let mut world = Loop::asked();
    world.step(&[("a", "page_look", OSLO)]);
    world.give(Input::Online(false));
    world.works("page_look", &fine());
    assert_eq!((waits_for(&world), world.requests.len()), (Some("offline".to_owned()), 1));
    world.give(Input::Online(true));
    assert_eq!(world.requests.len(), 2);
}

#[test]
fn what_is_said_of_the_network_while_nothing_waits_changes_nothing() {
    let mut world = Loop::asked();
    let told = world.events.len();
    for online in [false, false, true, true] {
        world.give(Input::Online(online));
    }
    assert_eq!(world.events.len(), told);
    world.answer("Sunny.");
    assert_eq!(world.ends(), ["completed"]);
}

#[test]
fn another_page_hears_what_is_waited_for() {
    let retry = |error| Wait::Retry { attempt: 2, of: 4, error };
    for why in [Wait::Offline, retry(None), retry(Some(ModelError { retry: Some(true), ..stated(3_000) }))] {
        let event = Event::Waiting { until: 1_000_000, why };
        assert_eq!(Event::from_json(&event.to_json().unwrap()), Some(event));
    }
}

// ---- what comes too late ----

/// What happens, and its name.
type Moment = (&'static str, fn(&mut Loop));

/// Everything a model call may still say.
fn echoes(call: u64) -> Vec<Input> {
    let events = [
        ModelEvent::TextDelta("late".to_owned()),
        ModelEvent::CallStart { slot: 0, id: None, name: "weather_read".to_owned() },
        ModelEvent::CallDelta { slot: 0, text: OSLO.to_owned() },
        ModelEvent::Replace("late".to_owned()),
        ModelEvent::Error(error(ModelErrorKind::Upstream)),
        ModelEvent::Finish(FinishReason::Done),
    ];
    events.into_iter().map(|event| Input::Model { call, event }).chain([Input::ModelClosed { call }]).collect()
}

#[test]
fn an_older_model_call_is_not_heard_any_more() {
    let moments: [fn(&mut Loop); 5] = [
        |world| fail(world, error(ModelErrorKind::Upstream)),
        |world| {
            world.cut();
            world.again();
        },
        |world| world.user("Rome."),
        Loop::stop,
        |world| world.step(&[("a", "weather_read", OSLO)]),
    ];
    for (at, moment) in moments.into_iter().enumerate() {
        let mut world = Loop::asked();
        moment(&mut world);
        let (told, written, sent) = (world.events.len(), world.journal.len(), world.requests.len());
        for echo in echoes(1) {
            world.give(echo);
        }
        assert_eq!((world.events.len(), world.journal.len(), world.requests.len()), (told, written, sent), "{at}");
    }
}

#[test]
fn a_result_of_a_call_that_is_over_is_recorded_and_changes_nothing() {
    let moments: [Moment; 4] = [
        ("stopped", Loop::stop),
        ("superseded", |world| world.user("Rome.")),
        ("timed out", |world| world.wait(60_000)),
        ("answered, and the next answer failed", |world| {
            world.works("weather_read", &fine());
            fail(world, error(ModelErrorKind::Upstream));
        }),
    ];
    for (moment, happens) in moments {
        let mut world = Loop::asked();
        world.step(&[("a", "weather_read", OSLO)]);
        happens(&mut world);
        let before = world.run.transcript().clone();
        let (lines, sent) = (world.journal.len(), world.requests.len());
        world.outcome(&world.id("weather_read"), Outcome::Result("late".into()));
        assert_eq!(world.run.transcript(), &before, "{moment}");
        assert_eq!((world.journal.len(), world.requests.len()), (lines + 1, sent), "{moment}");
        assert!(matches!(world.journal.last(), Some(pagehand::protocol::Entry::LateResult(_))), "{moment}");
        // The same after a reload, where nobody knows of the call any more.
        world.reload();
        world.stop();
        let before = world.run.transcript().clone();
        world.outcome(&world.id("weather_read"), Outcome::Result("later".into()));
        assert_eq!(world.run.transcript(), &before, "{moment}");
    }
}

#[test]
fn a_decision_on_a_call_that_is_over_does_nothing() {
    let mut world = Loop::asked();
    world.step(&[("a", "order_refund", ROME)]);
    world.stop();
    let lines = world.journal.len();
    world.approve("order_refund", None);
    world.deny("order_refund", None);
    assert_eq!((world.journal.len(), world.ran()), (lines, vec![]));
}

#[test]
fn the_handle_says_all_of_it() {
    // What a page can say is on the handle; without a session it is lost, and nobody is hurt.
    let handle = Handle::closed();
    handle.online(false);
    handle.retry();
    assert_eq!(futures::executor::block_on(handle.standing(ToolCallId::from("a"))), Standing::Unknown);
}

#[test]
fn a_step_waits_for_the_tools_that_are_asked_for_but_not_for_long() {
    let mut world = Loop::new();
    world.give(Input::Listing(true));
    world.user("Weather?");
    assert!(world.requests.is_empty());
    assert!(
        matches!(world.journal.last(), Some(pagehand::protocol::Entry::RunStart { .. })),
        "the message is written down"
    );
    world.give(Input::Listing(false));
    assert_eq!(world.requests.len(), 1);
    world.answer("Rain.");

    world.give(Input::Listing(true));
    world.user("And now?");
    world.wait(7_999);
    assert_eq!(world.requests.len(), 1);
    world.wait(1);
    assert_eq!(world.requests.len(), 2, "a gateway that says nothing is not waited for longer");
    world.give(Input::Stop);

    world.give(Input::Listing(true));
    world.user("And then?");
    world.give(Input::Online(false));
    world.give(Input::Online(true));
    assert_eq!(world.requests.len(), 2, "the network's coming back lists no tools");
    world.give(Input::Stop);
    assert_eq!(world.ends(), ["completed", "stopped", "stopped"]);
}

#[test]
fn a_run_that_was_cut_off_is_taken_up_once_the_tools_are_known() {
    let mut world = Loop::new();
    world.user("Weather?");
    world.step(&[("", "weather_read", OSLO)]);
    let mut again = Run::restore(config(Limits::default(), 5), &world.journal);
    again.handle(world.at, Input::Listing(true));
    again.handle(world.at, Input::Retry);
    assert!(again.poll().is_none(), "without its tools it would only fail");
    again.handle(world.at, Input::Tools(every_kind()));
    again.handle(world.at, Input::Listing(false));
    let ran = std::iter::from_fn(|| again.poll()).filter(|output| matches!(output, Output::CallTool(_))).count();
    assert_eq!(ran, 1);
}
