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
use pagehand::agent::{Config, Decision, Run, ToolRequest};
use pagehand::protocol::{
    Answer, ContextItem, Delta, Entry, Event, FinishReason, Millis, ModelEvent, ModelRequest, Outcome, ThreadId,
    ToolCallId, ToolError,
};
use pagehand::session::{Callback, Callbacks, Ended, Handle, Host, Moment, Reply, When, Written, session};
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
    callbacks: Callbacks,
    /// Who answered each call in its tool's place.
    results: Vec<Option<String>>,
    sleepers: Vec<(Millis, oneshot::Sender<()>)>,
    /// Lines that wait to be written.
    unwritten: Vec<&'static str>,
    /// Whether somebody else has the thread.
    taken: bool,
    /// The journal before its last checkpoint.
    earlier: Vec<Entry>,
}

impl World {
    fn log(&self, words: impl Into<String>) {
        self.0.borrow_mut().log.push(words.into());
    }

    fn call(&self, place: &str, request: &ToolRequest) -> LocalBoxFuture<'static, Answer> {
        let job = request.job.as_ref().map(|job| format!(" for {job}")).unwrap_or_default();
        self.log(format!("{place} runs {}{job}", request.name));
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

    fn keep_state(&self, _: &Delta) {
        self.log("keeps state");
    }

    fn save_artifact(&self, name: &str, _: String) -> LocalBoxFuture<'_, ()> {
        self.log(format!("keeps {name}"));
        future::ready(()).boxed_local()
    }

    fn callbacks(&self) -> Callbacks {
        self.0.borrow().callbacks.clone()
    }

    fn cancel_tool(&self, _: &ToolCallId) {
        self.log("cancels a tool");
    }

    fn save(&self, entry: &Entry) {
        if let Entry::Result { by, .. } = entry {
            self.0.borrow_mut().results.push(by.clone());
        }
        let words = match entry {
            Entry::CallStart { .. } => "saves a start",
            Entry::Result { .. } => "saves a result",
            Entry::LateResult(_) => "saves a late result",
            Entry::RunEnd { .. } => "saves the end",
            _ => return,
        };
        self.0.borrow_mut().unwritten.push(words);
    }

    fn saved(&self) -> LocalBoxFuture<'_, Written> {
        // Not done at once: what follows must wait.
        let mut first = true;
        future::poll_fn(move |context| {
            if std::mem::take(&mut first) {
                context.waker().wake_by_ref();
                return std::task::Poll::Pending;
            }
            std::task::Poll::Ready(())
        })
        .map(move |()| {
            let mut state = self.0.borrow_mut();
            let written: Vec<String> = state.unwritten.drain(..).map(str::to_owned).collect();
            state.log.extend(written);
            if state.taken { Written::Lost } else { Written::Yes }
        })
        .boxed_local()
    }

    fn earlier(&self) -> LocalBoxFuture<'static, Vec<Entry>> {
        self.log("reads what was before");
        future::ready(self.0.borrow().earlier.clone()).boxed_local()
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
    ended: Rc<RefCell<Option<Ended>>>,
}

impl Scene {
    fn new() -> Self {
        Self::in_world(World::default())
    }

    fn in_world(world: World) -> Self {
        let config = Config::new(ThreadId::from("t"), 1);
        let (handle, driver) = session(Run::new(config), world.clone());
        let pool = LocalPool::new();
        let ended: Rc<RefCell<Option<Ended>>> = Rc::default();
        let told = Rc::clone(&ended);
        pool.spawner().spawn_local(driver.map(move |ended| *told.borrow_mut() = Some(ended))).unwrap();
        let mut scene = Self { pool, world, handle: Some(handle), ended };
        scene.tell(|handle| handle.tools(every_kind()));
        scene
    }

    /// A session whose model was asked and made these calls.
    fn called(tools: &[&str]) -> Self {
        Self::called_in(World::default(), tools)
    }

    fn called_in(world: World, tools: &[&str]) -> Self {
        let mut scene = Self::in_world(world);
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

    /// A whole answer in words.
    fn answer(&mut self, text: &str) {
        self.words(text);
        self.model([ModelEvent::Finish(FinishReason::Done)]);
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
fn a_stream_that_ends_early_is_asked_for_again_after_a_pause() {
    let mut scene = Scene::new();
    scene.tell(|handle| handle.send("Weather?"));
    scene.words("It is");
    for _ in 0..4 {
        scene.cut();
        let asked = scene.world.0.borrow().log.len();
        scene.wait(374);
        assert_eq!(scene.world.0.borrow().log.len(), asked, "it waits");
        scene.wait(10_000);
        assert_eq!(scene.world.0.borrow().log.len(), asked + 1);
    }
    scene.cut();
    scene.check(&["asks the model"; 5].into_iter().chain(["saves the end"]).collect::<Vec<_>>());
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
    scene.wait(500);
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
    assert_eq!(*scene.ended.borrow(), None, "one handle is left");
    drop(second);
    scene.pool.run_until_stalled();
    assert_eq!(*scene.ended.borrow(), Some(Ended::Closed));
    assert!(scene.world.0.borrow().tools["page_look"][0].is_canceled(), "nobody waits for the tool any more");
}

#[test]
fn a_closed_handle_says_nothing_to_nobody() {
    let handle = Handle::closed();
    handle.send("Hello?");
    handle.stop();
    handle.tools(Arc::new(Registry::default()));
}

// ---- callbacks ----

/// A callback that says it was asked, and answers this.
fn answering(world: &World, name: &'static str, reply: Option<Reply>) -> Callback {
    let world = world.clone();
    Rc::new(move |moment: Rc<Moment>| {
        let about = match &*moment {
            Moment::BeforeModel(request) => format!("a request of {} messages", request.messages.len()),
            Moment::AfterModel(answer) => format!("the words {:?}", answer.text()),
            Moment::BeforeTool(request) => format!("a call of {}", request.name),
            Moment::AfterTool(request, _) => format!("the answer of {}", request.name),
            Moment::ToolError(request, _) => format!("the failure of {}", request.name),
            Moment::ModelError(error) => format!("the failure {:?}", error.message),
        };
        world.log(format!("{name} hears {about}"));
        future::ready(reply.clone()).boxed_local()
    })
}

fn heard(world: &World) -> Vec<String> {
    world.0.borrow().log.iter().filter(|line| line.contains(" hears ") || line.contains(" runs ")).cloned().collect()
}

fn says(words: &str) -> Option<Reply> {
    Some(Reply::Text(words.to_owned()))
}

fn gives(result: &str) -> Option<Reply> {
    Some(Reply::Outcome(Outcome::Result(json!(result))))
}

#[test]
fn callbacks_around_a_tool_are_asked_in_order_and_the_first_answer_is_the_last_question() {
    let world = World::default();
    let callbacks = world.callbacks();
    callbacks.add(When::BeforeTool, "quiet", answering(&world, "quiet", None));
    callbacks.add(When::AfterTool, "after", answering(&world, "after", None));
    callbacks.add(When::BeforeTool, "first", answering(&world, "first", gives("from a callback")));
    callbacks.add(When::BeforeTool, "second", answering(&world, "second", gives("never")));
    let scene = Scene::called_in(world, &["page_look"]);
    let expected =
        ["quiet hears a call of page_look", "first hears a call of page_look", "after hears the answer of page_look"];
    assert_eq!(heard(&scene.world), expected, "and the tool does not run");
    assert_eq!(last_result(&scene), "\"from a callback\"");
    let by = scene.world.0.borrow().results.clone();
    assert_eq!(by, [Some("first".to_owned())], "the record says who answered");
}

#[test]
fn a_failed_tool_is_heard_of_before_what_comes_after_it() {
    let world = World::default();
    let callbacks = world.callbacks();
    callbacks.add(When::AfterTool, "after", answering(&world, "after", None));
    callbacks.add(When::OnError, "mends", answering(&world, "mends", gives("mended")));
    let mut scene = Scene::called_in(world, &["page_look"]);
    scene.tool("page_look", Outcome::Error(ToolError::new("tool_error", "No.")));
    let expected =
        ["browser runs page_look", "mends hears the failure of page_look", "after hears the answer of page_look"];
    assert_eq!(heard(&scene.world), expected);
    assert_eq!(last_result(&scene), "\"mended\"");
}

#[test]
fn a_callback_may_put_another_outcome_in_a_tools_place() {
    let world = World::default();
    world.callbacks().add(When::AfterTool, "after", answering(&world, "after", gives("other")));
    // A text is no tool's answer.
    world.callbacks().add(When::BeforeTool, "words", answering(&world, "words", says("words")));
    let mut scene = Scene::called_in(world, &["page_look"]);
    scene.tool("page_look", works());
    assert_eq!(last_result(&scene), "\"other\"");
}

#[test]
fn a_call_that_is_stopped_while_a_callback_thinks_never_runs() {
    let world = World::default();
    let (think, thought) = oneshot::channel::<()>();
    let thought = thought.shared();
    let thinking: Callback = Rc::new(move |_| {
        let thought = thought.clone();
        async move {
            let _ = thought.await;
            None
        }
        .boxed_local()
    });
    world.callbacks().add(When::BeforeTool, "thinks", thinking);
    let mut scene = Scene::called_in(world, &["page_look"]);
    scene.tell(Handle::stop);
    think.send(()).unwrap();
    scene.pool.run_until_stalled();
    assert_eq!(heard(&scene.world), [""; 0]);
    assert_eq!(scene.ends(), ["stopped"]);
}

#[test]
fn a_callback_may_answer_before_a_model_is_asked() {
    let world = World::default();
    world.callbacks().add(When::BeforeModel, "answers", answering(&world, "answers", says("No need to ask.")));
    let mut scene = Scene::in_world(world);
    scene.tell(|handle| handle.send("Hello"));
    assert_eq!(scene.ends(), ["completed"]);
    assert_eq!(heard(&scene.world), ["answers hears a request of 1 messages"]);
    assert!(scene.world.0.borrow().models.is_empty());
    assert_eq!(replaced(&scene), ["No need to ask."]);
}

#[test]
fn a_callback_may_put_words_in_an_answers_place_and_its_calls_are_let_go() {
    let world = World::default();
    world.callbacks().add(When::AfterModel, "guards", answering(&world, "guards", says("I will not.")));
    let scene = Scene::called_in(world, &["page_look"]);
    assert_eq!(heard(&scene.world), ["guards hears the words \"\""], "and nothing runs");
    assert_eq!((scene.ends(), replaced(&scene)), (vec!["completed"], vec!["I will not.".to_owned()]));
}

#[test]
fn a_callback_may_answer_where_a_model_has_failed() {
    let world = World::default();
    world.callbacks().add(When::OnError, "excuses", answering(&world, "excuses", says("Come back later.")));
    let mut scene = Scene::in_world(world);
    scene.tell(|handle| handle.send("Hello"));
    let error = pagehand::protocol::ModelError::new(pagehand::protocol::ModelErrorKind::Auth, "Down.");
    scene.model([ModelEvent::Error(error)]);
    assert_eq!((scene.ends(), replaced(&scene)), (vec!["completed"], vec!["Come back later.".to_owned()]));
}

#[test]
fn a_callback_is_asked_about_a_failure_only_when_it_is_the_last() {
    let world = World::default();
    world.callbacks().add(When::OnError, "excuses", answering(&world, "excuses", says("Come back later.")));
    let mut scene = Scene::in_world(world);
    scene.tell(|handle| handle.send("Hello"));
    let error = pagehand::protocol::ModelError::new(pagehand::protocol::ModelErrorKind::Upstream, "Down.");
    for tries in 0..5 {
        assert_eq!((scene.ends(), heard(&scene.world).len()), (vec![], 0), "{tries}");
        scene.model([ModelEvent::Error(error.clone())]);
        scene.wait(10_000);
    }
    assert_eq!((scene.ends(), replaced(&scene)), (vec!["completed"], vec!["Come back later.".to_owned()]));
}

#[test]
fn without_a_network_a_message_waits_and_goes_out_when_it_is_back() {
    let mut scene = Scene::new();
    scene.tell(|handle| handle.online(false));
    scene.tell(|handle| handle.send("Hello"));
    scene.check(&[]);
    scene.wait(1_000);
    scene.check(&["asks the model"]);
    let error = pagehand::protocol::ModelError::new(pagehand::protocol::ModelErrorKind::Network, "Gone.");
    scene.model([ModelEvent::Error(error)]);
    scene.tell(|handle| handle.online(true));
    scene.check(&["asks the model", "asks the model"]);
    scene.answer("Hi.");
    assert_eq!(scene.ends(), ["completed"]);
}

#[test]
fn stop_works_while_a_callback_thinks_about_an_answer() {
    let world = World::default();
    let never: Callback = Rc::new(|_| future::pending().boxed_local());
    world.callbacks().add(When::AfterModel, "never", never);
    let mut scene = Scene::in_world(world);
    scene.tell(|handle| handle.send("Hello"));
    scene.answer("Hi.");
    assert_eq!(scene.ends(), [""; 0]);
    scene.tell(Handle::stop);
    assert_eq!(scene.ends(), ["stopped"]);
}

#[test]
fn callbacks_are_taken_out_by_their_name() {
    let world = World::default();
    world.callbacks().add(When::BeforeTool, "first", answering(&world, "first", gives("callback")));
    assert!(world.callbacks().wants(When::BeforeTool));
    world.callbacks().remove("first");
    assert!(!world.callbacks().wants(When::BeforeTool));
    for word in ["before-model", "after-model", "before-tool", "after-tool", "error"] {
        assert!(When::parse(word).is_some(), "{word}");
    }
    assert_eq!(When::parse("after-lunch"), None);
}

// ---- jobs ----

#[test]
fn a_job_is_waited_for_where_its_call_ran_and_its_end_is_told() {
    let mut export =
        crate::support::tools::tool("orders_export", pagehand::protocol::Scope::Server, pagehand::protocol::Risk::Read);
    export.long_running = true;
    let mut scene = Scene::new();
    scene.tell(|handle| handle.tools(crate::support::tools::registry(vec![export.clone()])));
    scene.tell(|handle| handle.send("Export."));
    scene.model([
        ModelEvent::CallStart { slot: 0, id: None, name: "orders_export".to_owned() },
        ModelEvent::CallDelta { slot: 0, text: OSLO.to_owned() },
        ModelEvent::CallEnd { slot: 0 },
        ModelEvent::Finish(FinishReason::Calls),
    ]);
    scene.tool("orders_export", Outcome::Interim(pagehand::protocol::Job { id: "j".to_owned(), state: Value::Null }));
    assert_eq!(heard(&scene.world), ["server runs orders_export", "server runs orders_export for j"]);
    scene.answer("At work.");
    scene.tool("orders_export", works());
    scene.answer("Done.");
    assert_eq!(scene.ends(), ["completed", "completed"]);
}

fn replaced(scene: &Scene) -> Vec<String> {
    let state = scene.world.0.borrow();
    let found = state.events.iter().filter_map(|event| match event {
        Event::Replaced { text, .. } => Some(text.clone()),
        _ => None,
    });
    found.collect()
}

/// What the model reads of the last call.
fn last_result(scene: &Scene) -> String {
    let state = scene.world.0.borrow();
    match state.requests.last().unwrap().messages.last() {
        Some(pagehand::protocol::Message::Tool(tool)) => tool.result.content.clone(),
        other => panic!("{other:?}"),
    }
}
