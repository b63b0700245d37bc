//! The journal without a browser: its lines, its checkpoints, and the order in which lines are written.

use std::cell::RefCell;
use std::rc::Rc;

use futures::FutureExt;
use futures::executor::block_on;
use futures::future::{LocalBoxFuture, ready};
use pagehand::agent::{Input, Limits, Output, Run, Transcript};
use pagehand::protocol::{
    Checkpoint, EndReason, Entry, Event, Message, MessageId, MessageStatus, Millis, ModelEvent, OpenJob, Part, RunId,
    ToolCall, ToolCallId, Usage,
};
use pagehand::session::{Batch, Store, StoreError, Writer, Written};
use serde_json::json;

use crate::support::loop_driver::{Loop, OSLO, config, fine};
use crate::support::tools::every_kind;

#[test]
fn what_has_come_of_an_answer_is_kept_where_another_takes_the_run_up() {
    let mut world = Loop::asked();
    world.model(ModelEvent::TextStart);
    world.model(ModelEvent::TextDelta("Half an ".to_owned()));
    world.give(Input::Rest);
    world.model(ModelEvent::TextDelta("answer".to_owned()));
    world.give(Input::Rest);
    let kept = world.journal.iter().filter(|entry| matches!(entry, Entry::Part { .. })).count();
    assert_eq!(kept, 1, "once, for nobody hears more of it here");
    world.reload();
    assert_eq!(world.answers(), [("Half an ".to_owned(), MessageStatus::Superseded)]);
}

#[test]
fn what_a_run_has_used_up_is_known_after_a_reload() {
    let mut world = Loop::within(Limits { max_tokens: Some(100), ..Limits::default() });
    world.user("Weather?");
    world.model(ModelEvent::Usage(Usage {
        input_tokens: 70,
        output_tokens: 20,
        cost_micros: None,
        ..Usage::default()
    }));
    world.step(&[("", "page_look", OSLO)]);
    world.works("page_look", &fine());
    let limits = Limits { max_tokens: Some(100), ..Limits::default() };
    let mut again = Run::restore(config(limits, 5), &world.journal);
    again.handle(world.at, Input::Tools(every_kind()));
    again.handle(world.at, Input::Resume);
    let call = std::iter::from_fn(|| again.poll()).find_map(|output| match output {
        Output::CallModel { call, .. } => Some(call),
        _ => None,
    });
    let call = call.expect("the model is asked again");
    again.handle(
        world.at,
        Input::Model {
            call,
            event: ModelEvent::Usage(Usage {
                input_tokens: 11,
                output_tokens: 0,
                cost_micros: None,
                ..Usage::default()
            }),
        },
    );
    let used = std::iter::from_fn(|| again.poll()).find_map(|output| match output {
        Output::Event(Event::Usage { run, .. }) => Some(run.tokens()),
        _ => None,
    });
    assert_eq!(used, Some(101), "the tokens of the steps before count");
}

// ---- parts ----

#[test]
fn the_closed_parts_of_an_answer_outlive_a_crash_and_the_answer_is_asked_for_again() {
    let mut world = Loop::new();
    world.user("Weather?");
    world.words("First.");
    world.model(ModelEvent::ReasoningStart);
    world.model(ModelEvent::ReasoningDelta("hm".to_owned()));
    let parts: Vec<&Part> = world.journal.iter().filter_map(part_of).collect();
    assert_eq!(parts, [&Part::text("First.".to_owned())], "what is still open is not written");

    let mut again = Run::restore(config(Limits::default(), 5), &world.journal);
    let Some(Message::Assistant(cut)) = again.transcript().messages().last() else { panic!("the words are gone") };
    assert_eq!((cut.text().as_str(), cut.status), ("First.", MessageStatus::Superseded));
    again.handle(world.at, Input::Tools(every_kind()));
    again.handle(world.at, Input::Resume);
    let sent = std::iter::from_fn(|| again.poll()).find_map(|output| match output {
        Output::CallModel { request, .. } => Some(request.messages.len()),
        _ => None,
    });
    assert_eq!(sent, Some(1), "the words that are asked for again are not sent");
}

#[test]
fn an_answer_for_which_the_agent_ran_something_is_not_asked_for_again_after_a_crash() {
    let mut world = Loop::new();
    world.user("Refund it.");
    world.calls(&[("c1", "their_tool", "{}")]);
    world.model(ModelEvent::CallResult { slot: 0, content: "\"done\"".to_owned() });
    let mut again = Run::restore(config(Limits::default(), 5), &world.journal);
    again.handle(world.at, Input::Tools(every_kind()));
    again.handle(world.at, Input::Resume);
    let outputs: Vec<Output> = std::iter::from_fn(|| again.poll()).collect();
    assert!(!outputs.iter().any(|output| matches!(output, Output::CallModel { .. })));
    assert_eq!(again.last_end(), Some(&EndReason::Truncated));
}

fn part_of(entry: &Entry) -> Option<&Part> {
    match entry {
        Entry::Part { part, .. } => Some(part),
        _ => None,
    }
}

// ---- checkpoints ----

/// A thread of so many runs, each with a tool's call.
fn long(runs: usize) -> Loop {
    let mut world = Loop::new();
    for at in 0..runs {
        world.user(&format!("Weather {at}?"));
        world.step(&[("", "page_look", &format!("{{\"city\": \"city {at}\"}}"))]);
        world.works("page_look", &fine());
        world.answer("Rain.");
    }
    world
}

#[test]
fn a_long_thread_gets_a_checkpoint_between_two_runs() {
    let world = long(40);
    let marks: Vec<usize> =
        (0..world.journal.len()).filter(|at| matches!(world.journal[*at], Entry::Checkpoint(_))).collect();
    assert!(marks.len() >= 2 && marks[0] >= 120, "{marks:?}");
    for mark in marks {
        assert!(matches!(world.journal[mark - 1], Entry::RunEnd { .. }), "it stands between two runs");
    }
}

#[test]
fn a_thread_that_was_read_from_a_checkpoint_asks_for_the_rest_before_the_model_needs_it() {
    let world = long(40);
    let mark = world.journal.iter().rposition(|entry| matches!(entry, Entry::Checkpoint(_))).expect("there is one");
    let mut run = Run::restore(config(Limits::default(), 5), &world.journal[mark..]);
    assert!(run.transcript().messages().len() < world.run.transcript().messages().len());
    run.handle(world.at, Input::Tools(every_kind()));
    assert!(run.poll().is_none(), "to be looked at it need not be whole");
    run.handle(world.at, Input::UserMessage("And now?".into()));
    assert!(matches!(run.poll(), Some(Output::LoadEarlier)));
    run.handle(world.at, Input::UserMessage("And then?".into()));
    assert!(run.poll().is_none(), "it is asked for once, and both messages wait");

    run.handle(world.at, Input::Earlier(world.journal[..mark].to_vec()));
    let requests: Vec<usize> = std::iter::from_fn(|| run.poll())
        .filter_map(|output| match output {
            Output::CallModel { request, .. } => Some(request.messages.len()),
            _ => None,
        })
        .collect();
    let whole = world.run.transcript().messages().len();
    assert_eq!(requests, [whole + 1, whole + 2]);
}

#[test]
fn a_checkpoint_brings_jobs_and_state_along() {
    let call = ToolCall {
        id: ToolCallId::from("c"),
        wire_id: None,
        name: "slow_read".to_owned(),
        arguments: "{}".to_owned(),
        encrypted_value: Some("sealed".to_owned()),
    };
    let job = OpenJob { call, message: MessageId::from("m"), job: "job-1".to_owned() };
    let mut checkpoint = Checkpoint { jobs: vec![job], ..Checkpoint::default() };
    checkpoint.state.insert("note".to_owned(), json!("tea"));
    let line = Entry::Checkpoint(checkpoint);
    assert_eq!(Entry::from_json(&line.to_json()), Some(line.clone()));
    let mut run = Run::restore(config(Limits::default(), 5), &[line]);
    assert_eq!(run.state().get("note"), Some(&json!("tea")));
    run.handle(1, Input::Tools(every_kind()));
    let watched = std::iter::from_fn(|| run.poll()).find_map(|output| match output {
        Output::CallTool(request) => request.job,
        _ => None,
    });
    assert_eq!(watched.as_deref(), Some("job-1"));
}

#[test]
fn pages_of_a_journal_show_what_the_whole_shows() {
    let world = long(40);
    let marks = world.journal.iter().enumerate().filter(|(_, entry)| matches!(entry, Entry::Checkpoint(_)));
    let mut from = 0;
    let mut pages = Vec::new();
    for mark in marks.map(|(mark, _)| mark).chain([world.journal.len()]) {
        pages.extend(Transcript::of(&world.journal[from..mark]).messages().to_vec());
        from = mark;
    }
    assert_eq!(pages, world.run.transcript().messages());
}

// ---- lines ----

#[test]
fn every_line_is_read_as_it_was_written() {
    let world = long(3);
    let more = [
        Entry::Owner { at: 7 },
        Entry::Part { message: MessageId::from("m"), part: Part::reasoning("hm".to_owned()) },
        Entry::StepStart {
            run: RunId::from("r"),
            step: 2,
            tools: vec!["a@1".to_owned()],
            used: Usage { input_tokens: 1, output_tokens: 2, cost_micros: Some(3), ..Usage::default() },
        },
        Entry::RunEnd { run: RunId::from("r"), reason: EndReason::Empty, used: Usage::default() },
    ];
    for entry in world.journal.iter().chain(&more) {
        assert_eq!(Entry::from_json(&entry.to_json()).as_ref(), Some(entry));
    }
}

#[test]
fn what_another_page_is_told_is_read_there_as_it_was_meant() {
    let mut world = Loop::new();
    world.user("Weather?");
    world.model(ModelEvent::Usage(Usage {
        input_tokens: 1,
        output_tokens: 2,
        cost_micros: Some(3),
        ..Usage::default()
    }));
    world.words("I look.");
    world.step(&[("", "page_look", OSLO), ("", "note_write", OSLO), ("", "unknown", "{}")]);
    world.deny("note_write", None);
    world.fails("page_look", "no");
    world.words("So ");
    world.give(Input::Stop);
    let kinds = world.events.iter().filter_map(|event| {
        let json = event.to_json()?;
        let read = Event::from_json(&json).unwrap_or_else(|| panic!("{json} is not read"));
        match (&read, event) {
            (Event::StepStart { message, .. }, Event::StepStart { message: same, .. }) => assert_eq!(message, same),
            _ => assert_eq!(&read, event),
        }
        json["event"].as_str().map(str::to_owned)
    });
    let kinds: std::collections::BTreeSet<String> = kinds.collect();
    let all = ["call", "message_end", "run_end", "run_start", "step_start", "text", "usage"];
    assert!(all.iter().all(|kind| kinds.contains(*kind)), "{kinds:?}");
    assert_eq!(Event::from_json(&json!({ "event": "later" })), None);
}

// ---- the writer ----

/// A store that does with each batch what the test says.
#[derive(Clone, Default)]
struct Desk(Rc<RefCell<Vec<(u32, usize, bool)>>>, Rc<RefCell<Vec<StoreError>>>);

impl Store for Desk {
    fn append(&self, batch: Batch) -> LocalBoxFuture<'static, Result<(), StoreError>> {
        if !self.1.borrow().is_empty() {
            return ready(Err(self.1.borrow_mut().remove(0))).boxed_local();
        }
        self.0.borrow_mut().push((batch.first, batch.entries.len(), batch.strict));
        ready(Ok(())).boxed_local()
    }
}

type Heard = Rc<RefCell<Vec<Option<String>>>>;

fn writer(desk: &Desk) -> (Writer<Desk>, Heard) {
    let told = Heard::default();
    let heard = Rc::clone(&told);
    (Writer::new(desk.clone(), 4, Rc::new(move |why| heard.borrow_mut().push(why))), told)
}

fn start(at: Millis) -> Entry {
    Entry::RunStart { run: RunId::from("r"), at, message: None }
}

fn effect() -> Entry {
    Entry::CallStart { call: ToolCallId::from("c"), at: 1, scope: pagehand::protocol::Scope::Browser }
}

#[test]
fn lines_go_out_together_and_with_care_where_one_allows_an_effect() {
    let desk = Desk::default();
    let (writer, _) = writer(&desk);
    writer.push(start(1));
    writer.push(start(2));
    assert_eq!(writer.lines(), 6, "those that wait count");
    assert_eq!(block_on(writer.flush(0)), Written::Yes);
    writer.push(start(3));
    writer.push(effect());
    assert_eq!(block_on(writer.flush(0)), Written::Yes);
    assert_eq!(*desk.0.borrow(), [(4, 2, false), (6, 2, true)]);
    assert_eq!(block_on(writer.flush(0)), Written::Yes);
    assert_eq!(desk.0.borrow().len(), 2, "nothing is written where there is nothing");
}

#[test]
fn a_store_that_fails_is_left_alone_ever_longer_and_gets_everything_in_the_end() {
    let desk = Desk::default();
    let (writer, told) = writer(&desk);
    desk.1.borrow_mut().extend([StoreError::Failed("full".to_owned()), StoreError::Failed("still full".to_owned())]);
    writer.push(start(1));
    assert_eq!(block_on(writer.flush(0)), Written::InMemory);
    assert_eq!(writer.retry_at(), Some(1000));
    writer.push(start(2));
    assert_eq!(block_on(writer.flush(999)), Written::InMemory);
    assert_eq!(desk.1.borrow().len(), 1, "it was not asked");
    assert_eq!(block_on(writer.flush(1000)), Written::InMemory);
    assert_eq!(writer.retry_at(), Some(3000));
    assert_eq!(block_on(writer.flush(3000)), Written::Yes);
    assert_eq!(*desk.0.borrow(), [(4, 2, false)], "no line is missing, and none is there twice");
    assert_eq!(*told.borrow(), [Some("full".to_owned()), None], "told when it changes");
}

#[test]
fn a_line_that_is_taken_ends_it() {
    let desk = Desk::default();
    let (writer, _) = writer(&desk);
    desk.1.borrow_mut().push(StoreError::Taken);
    writer.push(start(1));
    assert_eq!(block_on(writer.flush(0)), Written::Lost);
    assert_eq!(block_on(writer.flush(9_000_000)), Written::Lost);
    assert!(desk.0.borrow().is_empty());
}
