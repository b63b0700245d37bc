//! The driver: what the machine asks for happens in the world it was given, and what came of it is told.

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;
use std::sync::Arc;

use futures::channel::{mpsc, oneshot};
use futures::executor::LocalPool;
use futures::future::{self, FutureExt, LocalBoxFuture};
use futures::stream::{LocalBoxStream, StreamExt};
use futures::task::LocalSpawnExt;
use pagehand::agent::{Config, Decision, Limits, Run, ToolRequest};
use pagehand::protocol::{
    Answer, ContextItem, Entry, Event, FinishReason, Millis, ModelEvent, ModelRequest, Outcome, ThreadId, ToolCallId,
    ToolError,
};
use pagehand::session::{Handle, Host, session};
use pagehand::tools::Registry;
use serde_json::{Value, json};

use crate::support::loop_driver::OSLO;
use crate::support::tools::every_kind;

/// A world in which nothing happens by itself: the test lets models speak, tools answer and time pass.
#[derive(Clone, Default)]
struct World(Rc<RefCell<State>>);

#[derive(Default)]
struct State {
    now: Millis,
    /// What was done, in order and in short words.
    log: Vec<String>,
    events: Vec<Event>,
    models: Vec<mpsc::UnboundedSender<ModelEvent>>,
    requests: Vec<ModelRequest>,
    tools: BTreeMap<String, VecDeque<oneshot::Sender<Outcome>>>,
    sleepers: Vec<(Millis, oneshot::Sender<()>)>,
}

impl World {
    fn log(&self, words: impl Into<String>) {
        self.0.borrow_mut().log.push(words.into());
    }

    fn call(&self, place: &str, request: &ToolRequest) -> LocalBoxFuture<'static, Answer> {
        self.log(format!("{place} runs {}", request.name));
        let (answer, wait) = oneshot::channel();
        self.0.borrow_mut().tools.entry(request.name.clone()).or_default().push_back(answer);
        wait.map(|outcome| Answer::from(outcome.expect("the test answers every tool"))).boxed_local()
    }
}

impl Host for World {
    fn now(&self) -> Millis {
        self.0.borrow().now
    }

    fn context(&self) -> Vec<ContextItem> {
        vec![ContextItem::new("time", self.now().to_string())]
    }

    fn call_model(&self, request: ModelRequest) -> LocalBoxStream<'static, ModelEvent> {
        self.log("asks the model");
        let (says, hears) = mpsc::unbounded();
        let mut state = self.0.borrow_mut();
        state.models.push(says);
        state.requests.push(request);
        hears.boxed_local()
    }

    fn call_browser_tool(&self, request: ToolRequest) -> LocalBoxFuture<'static, Answer> {
        self.call("browser", &request)
    }

    fn call_server_tool(&self, request: ToolRequest) -> LocalBoxFuture<'static, Answer> {
        self.call("server", &request)
    }

    fn save_artifact(&self, name: &str, _: String) -> LocalBoxFuture<'_, ()> {
        self.log(format!("keeps {name}"));
        future::ready(()).boxed_local()
    }

    fn cancel_tool(&self, _: &ToolCallId) {
        self.log("cancels a tool");
    }

    fn save(&self, entry: &Entry) -> LocalBoxFuture<'_, ()> {
        let words = match entry {
            Entry::CallStart { .. } => "saves a start",
            Entry::Result { .. } => "saves a result",
            Entry::LateResult(_) => "saves a late result",
            Entry::RunEnd { .. } => "saves the end",
            _ => return future::ready(()).boxed_local(),
        };
        // Not done at once: what follows must wait.
        let log = self.clone();
        let mut first = true;
        future::poll_fn(move |context| {
            if std::mem::take(&mut first) {
                context.waker().wake_by_ref();
                return std::task::Poll::Pending;
            }
            std::task::Poll::Ready(())
        })
        .map(move |()| log.log(words))
        .boxed_local()
    }

    fn sleep_until(&self, at: Millis) -> LocalBoxFuture<'static, ()> {
        let (ring, wait) = oneshot::channel();
        self.0.borrow_mut().sleepers.push((at, ring));
        // A test that ends lets every bell go unrung.
        wait.then(|rung| async move {
            if rung.is_err() {
                future::pending::<()>().await;
            }
        })
        .boxed_local()
    }

    fn tell(&self, event: &Event) {
        self.0.borrow_mut().events.push(event.clone());
    }
}

struct Scene {
    pool: LocalPool,
    world: World,
    handle: Option<Handle>,
    ended: Rc<RefCell<bool>>,
}

impl Scene {
    fn new() -> Self {
        let world = World::default();
        let config = Config {
            thread: ThreadId::from("t"),
            agent: String::new(),
            profile: String::new(),
            instructions: String::new(),
            limits: Limits::default(),
            seed: 1,
        };
        let (handle, driver) = session(Run::new(config), world.clone());
        let pool = LocalPool::new();
        let ended = Rc::new(RefCell::new(false));
        let told = Rc::clone(&ended);
        pool.spawner().spawn_local(driver.map(move |()| *told.borrow_mut() = true)).unwrap();
        let mut scene = Self { pool, world, handle: Some(handle), ended };
        scene.tell(|handle| handle.tools(every_kind()));
        scene
    }

    /// A session whose model was asked and made these calls.
    fn called(tools: &[&str]) -> Self {
        let mut scene = Self::new();
        scene.tell(|handle| handle.send("Weather?"));
        let calls = tools.iter().enumerate().flat_map(|(slot, name)| {
            [
                ModelEvent::CallStart { slot, id: None, name: (*name).to_owned() },
                ModelEvent::CallDelta { slot, text: OSLO.to_owned() },
                ModelEvent::CallEnd { slot },
            ]
        });
        scene.model(calls.chain([ModelEvent::Finish(FinishReason::Calls)]));
        scene
    }

    fn tell(&mut self, say: impl Fn(&Handle)) {
        say(self.handle.as_ref().expect("the handle is still there"));
        self.pool.run_until_stalled();
    }

    fn model(&mut self, events: impl IntoIterator<Item = ModelEvent>) {
        for event in events {
            // A stream that was let go of hears nothing more.
            let _ = self.world.0.borrow().models.last().unwrap().unbounded_send(event);
        }
        self.pool.run_until_stalled();
    }

    fn words(&mut self, text: &str) {
        self.model([ModelEvent::TextStart, ModelEvent::TextDelta(text.to_owned()), ModelEvent::TextEnd]);
    }

    /// The model's stream ends.
    fn cut(&mut self) {
        let model = self.world.0.borrow_mut().models.pop();
        drop(model);
        self.pool.run_until_stalled();
    }

    fn tool(&mut self, name: &str, outcome: Outcome) {
        let waiting = self.world.0.borrow_mut().tools.get_mut(name).and_then(VecDeque::pop_front);
        // A future that was dropped hears nothing.
        let _ = waiting.unwrap_or_else(|| panic!("{name} does not run")).send(outcome);
        self.pool.run_until_stalled();
    }

    fn wait(&mut self, ms: Millis) {
        let due = {
            let mut state = self.world.0.borrow_mut();
            state.now += ms;
            let now = state.now;
            let (due, later) = std::mem::take(&mut state.sleepers).into_iter().partition(|(at, _)| *at <= now);
            state.sleepers = later;
            let due: Vec<(Millis, oneshot::Sender<()>)> = due;
            due
        };
        for (_, ring) in due {
            let _ = ring.send(());
        }
        self.pool.run_until_stalled();
    }

    fn check(&self, expected: &[&str]) {
        assert_eq!(self.world.0.borrow().log, expected);
    }

    fn ends(&self) -> Vec<&'static str> {
        let state = self.world.0.borrow();
        state
            .events
            .iter()
            .filter_map(|event| match event {
                Event::RunEnd { reason, .. } => Some(reason.as_str()),
                _ => None,
            })
            .collect()
    }

    fn asked(&self) -> Option<ToolCallId> {
        let state = self.world.0.borrow();
        state.events.iter().rev().find_map(|event| match event {
            Event::Call(view) if view.state.as_str() == "approval-requested" => Some(view.id.clone()),
            _ => None,
        })
    }
}

fn works() -> Outcome {
    Outcome::Result(json!(1))
}

fn cancelled() -> Outcome {
    Outcome::Error(ToolError::new("cancelled", "The tool stopped."))
}

const STARTED: [&str; 5] =
    ["asks the model", "saves a start", "browser runs page_look", "saves a start", "server runs weather_read"];

#[test]
fn each_scope_runs_in_its_place_at_once_and_after_it_is_written_down() {
    let mut scene = Scene::called(&["page_look", "weather_read"]);
    scene.check(&STARTED);
    scene.tool("weather_read", works());
    scene.tool("page_look", works());
    scene.check(&[&STARTED[..], &["saves a result", "saves a result", "asks the model"]].concat());
    scene.words("Sunny.");
    scene.model([ModelEvent::Finish(FinishReason::Done)]);
    assert_eq!(scene.ends(), ["completed"]);
}

#[test]
fn the_model_is_told_of_the_page_as_it_is_when_it_is_asked() {
    let mut scene = Scene::called(&["page_look"]);
    scene.wait(5);
    scene.tool("page_look", works());
    let contexts: Vec<String> =
        scene.world.0.borrow().requests.iter().map(|request| request.context[0].value.clone()).collect();
    assert_eq!(contexts, ["0", "5"]);
}

#[test]
fn stop_cancels_what_runs_and_its_echo_is_swallowed() {
    let mut scene = Scene::called(&["page_look", "weather_read"]);
    scene.tell(Handle::stop);
    let stopped = ["cancels a tool", "saves a result", "cancels a tool", "saves a result", "saves the end"];
    // The results of a stop are written down first, and then the tools are told.
    let log = scene.world.0.borrow().log[STARTED.len()..].to_vec();
    assert_eq!(sorted(&log), sorted(&stopped.map(str::to_owned)));
    scene.tool("page_look", cancelled());
    assert_eq!(scene.world.0.borrow().log.len(), STARTED.len() + stopped.len(), "an echo is nothing new");
    scene.tool("weather_read", works());
    assert_eq!(scene.world.0.borrow().log.last().unwrap(), "saves a late result");
    assert_eq!(scene.ends(), ["stopped"]);
}

fn sorted(words: &[String]) -> Vec<String> {
    let mut words = words.to_vec();
    words.sort();
    words
}

#[test]
fn a_tool_that_calls_itself_cancelled_unasked_has_failed() {
    let mut scene = Scene::called(&["page_look"]);
    scene.tool("page_look", cancelled());
    scene.check(&[&STARTED[..3], &["saves a result", "asks the model"]].concat());
}

#[test]
fn stop_lets_go_of_the_models_stream() {
    let mut scene = Scene::new();
    scene.tell(|handle| handle.send("Weather?"));
    scene.words("It is");
    scene.tell(Handle::stop);
    assert!(scene.world.0.borrow().models[0].is_closed());
    assert_eq!(scene.ends(), ["stopped"]);
}

#[test]
fn a_stream_that_ends_early_is_asked_for_once_more() {
    let mut scene = Scene::new();
    scene.tell(|handle| handle.send("Weather?"));
    scene.words("It is");
    scene.cut();
    scene.check(&["asks the model", "asks the model"]);
    scene.cut();
    scene.check(&["asks the model", "asks the model", "saves the end"]);
    assert_eq!(scene.ends(), ["truncated"]);
    scene.tell(Handle::retry);
    scene.words("Sunny.");
    scene.model([ModelEvent::Finish(FinishReason::Done)]);
    assert_eq!(scene.ends(), ["truncated", "completed"]);
}

#[test]
fn an_approved_call_runs_and_a_denied_one_does_not() {
    let mut scene = Scene::called(&["order_refund"]);
    scene.check(&["asks the model"]);
    let call = scene.asked().unwrap();
    scene.tell(|handle| handle.decide(call.clone(), Decision::Approve { arguments: None, payload: Value::Null }));
    scene.check(&["asks the model", "saves a start", "server runs order_refund"]);

    let mut scene = Scene::called(&["order_refund"]);
    let call = scene.asked().unwrap();
    scene.tell(|handle| handle.decide(call.clone(), Decision::Deny { reason: None }));
    scene.check(&["asks the model", "saves a result", "asks the model"]);
}

#[test]
fn time_that_passes_ends_a_tool_that_does_not() {
    let mut scene = Scene::called(&["slow_read"]);
    scene.wait(999);
    scene.check(&["asks the model", "saves a start", "server runs slow_read"]);
    scene.wait(1);
    let after = scene.world.0.borrow().log[3..].to_vec();
    assert_eq!(sorted(&after), ["asks the model", "cancels a tool", "saves a result"]);
}

#[test]
fn a_model_that_keeps_speaking_is_not_taken_for_silent() {
    let mut scene = Scene::new();
    scene.tell(|handle| handle.send("Weather?"));
    for _ in 0..3 {
        scene.wait(100_000);
        scene.words("Still here.");
    }
    scene.wait(120_000 - 1);
    scene.check(&["asks the model"]);
    scene.wait(1);
    scene.check(&["asks the model", "asks the model"]);
}

#[test]
fn a_message_in_the_middle_comes_before_what_the_model_still_says() {
    let mut scene = Scene::new();
    scene.tell(|handle| handle.send("Weather?"));
    // Both are there before the session looks.
    scene.handle.as_ref().unwrap().send("Never mind.");
    scene.model([ModelEvent::Finish(FinishReason::Done)]);
    assert_eq!(scene.ends(), ["superseded"]);
}

#[test]
fn letting_go_of_the_handle_ends_the_session_and_all_it_holds() {
    let mut scene = Scene::called(&["page_look"]);
    let second = scene.handle.clone();
    scene.handle = None;
    scene.pool.run_until_stalled();
    assert!(!*scene.ended.borrow(), "one handle is left");
    drop(second);
    scene.pool.run_until_stalled();
    assert!(*scene.ended.borrow());
    assert!(scene.world.0.borrow().tools["page_look"][0].is_canceled(), "nobody waits for the tool any more");
}

#[test]
fn a_closed_handle_says_nothing_to_nobody() {
    let handle = Handle::closed();
    handle.send("Hello?");
    handle.stop();
    handle.tools(Arc::new(Registry::default()));
}
