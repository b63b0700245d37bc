//! A scripted world around `agent::Run`: the test says what model, tools and user do, and reads what came of it.
//!
//! After every input it checks what must always hold: the thread is valid, nothing runs that was not written down
//! first, no call has two results, and a reload at any moment finds a whole thread in the journal.

use std::collections::BTreeMap;
use std::sync::Arc;

use pagehand::agent::{Config, Decision, Input, Limits, Output, Run, ToolRequest, Transcript};
use pagehand::protocol::{
    CallView, Entry, Event, FinishReason, Message, MessageId, MessageStatus, Millis, ModelEvent, ModelRequest, Outcome,
    Replay, Scope, ThreadId, ToolCallId, ToolError, UserMessage, Wait, delta_to_json,
};
use pagehand::tools::Registry;
use serde_json::{Value, json};

use crate::support::tools::every_kind;

pub(crate) struct Loop {
    pub(crate) run: Run,
    pub(crate) at: Millis,
    pub(crate) journal: Vec<Entry>,
    pub(crate) events: Vec<Event>,
    /// What the models were sent.
    pub(crate) requests: Vec<ModelRequest>,
    /// What was asked to run, in order.
    pub(crate) started: Vec<ToolRequest>,
    /// The jobs that are waited for, in order.
    pub(crate) watched: Vec<ToolRequest>,
    /// What was kept beyond the thread.
    pub(crate) kept: Vec<Value>,
    /// What was kept aside: names and texts.
    pub(crate) artifacts: Vec<(String, String)>,
    pub(crate) cancelled_tools: Vec<ToolCallId>,
    pub(crate) cancelled_models: Vec<u64>,
    model: u64,
    registry: Arc<Registry>,
    limits: Limits,
}

/// A call as a model makes it: its id (empty for none), the tool, the arguments' text.
pub(crate) type Asked<'a> = (&'a str, &'a str, &'a str);

pub(crate) const OSLO: &str = r#"{"city":"Oslo"}"#;
pub(crate) const ROME: &str = r#"{"city":"Rome"}"#;

pub(crate) fn config(limits: Limits, seed: u64) -> Config {
    Config {
        agent: "tester".to_owned(),
        instructions: "Be brief.".to_owned(),
        limits,
        ..Config::new(ThreadId::from("thread"), seed)
    }
}

impl Loop {
    pub(crate) fn new() -> Self {
        Self::within(Limits::default())
    }

    /// A run that has been asked something.
    pub(crate) fn asked() -> Self {
        Self::asked_within(Limits::default())
    }

    /// A run whose model made these calls.
    pub(crate) fn called(calls: &[Asked<'_>]) -> Self {
        let mut world = Self::asked();
        world.step(calls);
        world
    }

    pub(crate) fn asked_within(limits: Limits) -> Self {
        let mut world = Self::within(limits);
        world.user("What is the weather?");
        world
    }

    pub(crate) fn within(limits: Limits) -> Self {
        let mut made = Self {
            run: Run::new(config(limits, 1)),
            at: 1_000_000,
            journal: Vec::new(),
            events: Vec::new(),
            requests: Vec::new(),
            started: Vec::new(),
            watched: Vec::new(),
            artifacts: Vec::new(),
            kept: Vec::new(),
            cancelled_tools: Vec::new(),
            cancelled_models: Vec::new(),
            model: 0,
            registry: Arc::default(),
            limits,
        };
        made.tools(every_kind());
        made
    }

    /// The same thread after a reload.
    pub(crate) fn reload(&mut self) {
        self.run = Run::restore(config(self.limits, 2 + self.journal.len() as u64), &self.journal);
        self.drain();
        self.tools(every_kind());
    }

    // ---- what happens ----

    pub(crate) fn tools(&mut self, registry: Arc<Registry>) {
        self.registry = Arc::clone(&registry);
        self.give(Input::Tools(registry));
    }

    pub(crate) fn user(&mut self, text: &str) {
        self.give(Input::UserMessage(text.into()));
    }

    pub(crate) fn stop(&mut self) {
        self.give(Input::Stop);
    }

    pub(crate) fn retry(&mut self) {
        self.give(Input::Retry);
    }

    /// Time passes, and the clock is looked at.
    pub(crate) fn wait(&mut self, ms: Millis) {
        self.at += ms;
        self.give(Input::Tick);
    }

    /// The time comes that the machine waits for.
    pub(crate) fn again(&mut self) {
        let due = self.run.wake_at().expect("it waits for nothing");
        self.wait(due - self.at);
    }

    pub(crate) fn model(&mut self, event: ModelEvent) {
        self.give(Input::Model { call: self.model, event });
    }

    /// The model's stream ends without a terminal event.
    pub(crate) fn cut(&mut self) {
        self.give(Input::ModelClosed { call: self.model });
    }

    pub(crate) fn words(&mut self, text: &str) {
        self.model(ModelEvent::TextStart);
        self.model(ModelEvent::TextDelta(text.to_owned()));
        self.model(ModelEvent::TextEnd);
    }

    /// The model writes calls, and does not end its step.
    pub(crate) fn calls(&mut self, calls: &[Asked<'_>]) {
        for (slot, (id, name, arguments)) in calls.iter().enumerate() {
            let id = (!id.is_empty()).then(|| (*id).to_owned());
            self.model(ModelEvent::CallStart { slot, id, name: (*name).to_owned() });
            // In two pieces, as models do.
            let (head, tail) = arguments.split_at(arguments.len() / 2);
            self.model(ModelEvent::CallDelta { slot, text: head.to_owned() });
            self.model(ModelEvent::CallDelta { slot, text: tail.to_owned() });
            self.model(ModelEvent::CallEnd { slot });
        }
    }

    /// A whole step of calls.
    pub(crate) fn step(&mut self, calls: &[Asked<'_>]) {
        self.calls(calls);
        self.model(ModelEvent::Finish(FinishReason::Calls));
    }

    /// A whole step of words: the answer.
    pub(crate) fn answer(&mut self, text: &str) {
        self.words(text);
        self.model(ModelEvent::Finish(FinishReason::Done));
    }

    pub(crate) fn outcome(&mut self, call: &ToolCallId, outcome: Outcome) {
        self.give(Input::ToolOutcome { call: call.clone(), answer: outcome.into() });
    }

    /// The latest call of this tool works.
    pub(crate) fn works(&mut self, tool: &str, result: &Value) {
        self.outcome(&self.id(tool), Outcome::Result(result.clone()));
    }

    /// The latest call of this tool fails in its own words.
    pub(crate) fn fails(&mut self, tool: &str, words: &'static str) {
        self.outcome(&self.id(tool), Outcome::Error(ToolError::new("tool_error", words)));
    }

    pub(crate) fn approve(&mut self, tool: &str, arguments: Option<&str>) {
        let arguments = arguments.map(str::to_owned);
        self.give(Input::Decision {
            call: self.id(tool),
            decision: Decision::Approve { arguments, payload: Value::Null },
        });
    }

    pub(crate) fn deny(&mut self, tool: &str, reason: Option<&str>) {
        let reason = reason.map(str::to_owned);
        self.give(Input::Decision { call: self.id(tool), decision: Decision::Deny { reason } });
    }

    // ---- what came of it ----

    /// Our id of the latest call of this tool.
    pub(crate) fn id(&self, tool: &str) -> ToolCallId {
        let view = self.views().filter(|view| view.name == tool).last();
        view.unwrap_or_else(|| panic!("nobody called {tool}")).id.clone()
    }

    fn views(&self) -> impl Iterator<Item = &CallView> {
        self.events.iter().filter_map(|event| match event {
            Event::Call(view) => Some(view),
            _ => None,
        })
    }

    /// The states the latest call of this tool went through, in words.
    pub(crate) fn life(&self, tool: &str) -> Vec<&'static str> {
        let id = self.id(tool);
        self.views().filter(|view| view.id == id).map(|view| view.state.as_str()).collect()
    }

    /// What each call came to, in order: `ok`, or the error's code.
    pub(crate) fn codes(&self) -> Vec<String> {
        self.results().into_iter().map(|(_, code)| code).collect()
    }

    /// The results of the whole thread in order: the tool, and the error's code or the result's JSON.
    pub(crate) fn results(&self) -> Vec<(String, String)> {
        let mut names = BTreeMap::new();
        let mut found = Vec::new();
        for message in self.run.transcript().messages() {
            match message {
                Message::Assistant(answer) => names.extend(answer.calls().map(|call| (&call.id, call.name.clone()))),
                Message::Tool(tool) => {
                    let told = tool.result.error.clone().unwrap_or_else(|| tool.result.content.clone());
                    found.push((names[&tool.result.call].clone(), told));
                }
                Message::User(_) | Message::Job { .. } | Message::Notice { .. } => {}
            }
        }
        found
    }

    /// The last result as the model reads it.
    pub(crate) fn last_result(&self) -> Value {
        let tool = self.run.transcript().messages().iter().rev().find_map(|message| match message {
            Message::Tool(tool) => Some(tool),
            Message::User(_) | Message::Job { .. } | Message::Notice { .. } | Message::Assistant(_) => None,
        });
        serde_json::from_str(&tool.expect("there is no result").result.content).unwrap()
    }

    /// How each run ended, in words.
    pub(crate) fn ends(&self) -> Vec<&'static str> {
        self.events
            .iter()
            .filter_map(|event| match event {
                Event::RunEnd { reason, .. } => Some(reason.as_str()),
                _ => None,
            })
            .collect()
    }

    pub(crate) fn notes(&self) -> Vec<&str> {
        self.events
            .iter()
            .filter_map(|event| match event {
                Event::Note(words) => Some(words.as_str()),
                _ => None,
            })
            .collect()
    }

    /// Every answer: its words and how it ended.
    pub(crate) fn answers(&self) -> Vec<(String, MessageStatus)> {
        self.run
            .transcript()
            .messages()
            .iter()
            .filter_map(|message| match message {
                Message::Assistant(answer) => Some((answer.text(), answer.status)),
                Message::User(_) | Message::Job { .. } | Message::Notice { .. } | Message::Tool(_) => None,
            })
            .collect()
    }

    /// The tools that were started, in order.
    pub(crate) fn ran(&self) -> Vec<&str> {
        self.started.iter().map(|request| request.name.as_str()).collect()
    }

    // ---- the machine at work ----

    pub(crate) fn give(&mut self, input: Input) {
        self.run.handle(self.at, input);
        self.drain();
        assert_valid(self.run.transcript().messages(), self.run.is_running() || self.run.is_interrupted());
        self.assert_settled_once();
        self.assert_few_at_once();
        self.assert_journal_is_the_thread();
    }

    fn drain(&mut self) {
        while let Some(output) = self.run.poll() {
            match output {
                Output::Save(entry) => {
                    self.journal.push(entry);
                    self.assert_reload_is_whole();
                }
                Output::LoadEarlier => panic!("the whole journal was given, and more is asked for"),
                Output::Event(event) => self.events.push(event),
                Output::CallModel { call, request } => {
                    assert_valid(&request.messages, false);
                    self.assert_asks_the_same_again(&request);
                    self.model = call;
                    self.requests.push(request);
                }
                Output::CancelModel { call } => self.cancelled_models.push(call),
                Output::CallTool(request) if request.job.is_some() => {
                    self.assert_has_begun_job(&request);
                    self.watched.push(request);
                }
                Output::CallTool(request) => {
                    self.assert_may_run(&request);
                    self.started.push(request);
                }
                Output::CancelTool { call } => self.cancelled_tools.push(call),
                Output::KeepState(changes) => self.kept.push(delta_to_json(&changes)),
                Output::SaveArtifact { name, content } => self.artifacts.push((name, content)),
            }
        }
    }

    // A call runs only once the journal says that it was asked for and that it is about to start.
    fn assert_may_run(&self, request: &ToolRequest) {
        let asked = |entry: &Entry| matches!(entry, Entry::Message(answer) if answer.calls().any(|call| call.id == request.call));
        assert!(self.journal.iter().any(asked), "{} runs and no answer asks for it", request.name);
        let begun = Some(Entry::CallStart { call: request.call.clone(), at: self.at, scope: request.scope });
        assert_eq!(self.journal.last(), begun.as_ref(), "{} runs before it is written down", request.name);
        let settled = |entry: &Entry| matches!(entry, Entry::Result { result, .. } if result.call == request.call);
        assert!(!self.journal.iter().any(settled), "{} runs after its result", request.name);
        let before = self.started.iter().filter(|earlier| earlier.call == request.call).count();
        // What takes effect behind the gateway is only asked about when it is taken up.
        let lost = request.definition.replay == Replay::Effect && request.scope == Scope::Browser;
        let taken_up = request.resumed && !lost;
        let asked = request.approved && !request.resumed;
        assert!(before == 0 || taken_up || asked, "{} runs again unasked", request.name);
        if let Some(schema) = self.registry.schema(&request.name) {
            assert_eq!(schema.check(&request.arguments), Ok(()), "{} runs with unfit arguments", request.name);
        }
    }

    // A request that is sent again is the one that failed.
    fn assert_asks_the_same_again(&self, request: &ModelRequest) {
        let last = self.events.iter().rev().find(|event| match event {
            Event::Waiting { why: Wait::Retry { .. }, .. } | Event::RunStart { .. } => true,
            Event::MessageEnd { status, .. } => *status == MessageStatus::Complete,
            _ => false,
        });
        if matches!(last, Some(Event::Waiting { .. })) {
            assert_eq!(Some(request), self.requests.last(), "another request is sent in its place");
        }
    }

    fn assert_few_at_once(&self) {
        let mut states = BTreeMap::new();
        for view in self.views() {
            states.insert(&view.id, view.state.as_str());
        }
        let running = states.values().filter(|state| **state == "running").count();
        assert!(running <= self.limits.max_parallel, "{running} calls run at once");
    }

    // A job is waited for only where the journal says that its call started it.
    fn assert_has_begun_job(&self, request: &ToolRequest) {
        let began = |entry: &Entry| matches!(entry, Entry::Result { result, job, .. } if result.call == request.call && *job == request.job);
        assert!(self.journal.iter().any(began), "a job of {} is waited for that nobody began", request.name);
    }

    fn assert_settled_once(&self) {
        let mut results: BTreeMap<&ToolCallId, u32> = BTreeMap::new();
        for entry in &self.journal {
            if let Entry::Result { result, .. } = entry {
                *results.entry(&result.call).or_default() += 1;
            }
        }
        let mut views: BTreeMap<&ToolCallId, u32> = BTreeMap::new();
        for view in self.views().filter(|view| view.state.is_settled()) {
            *views.entry(&view.id).or_default() += 1;
        }
        assert!(results.values().chain(views.values()).all(|count| *count == 1), "a call was settled twice");
    }

    // Had the page gone away just now: given up, the thread is valid, no run is open, and the next reload finds the same;
    // taken up, what is sent is valid and nothing takes effect twice.
    fn assert_reload_is_whole(&self) {
        let mut restored = Run::restore(config(Limits::default(), 99), &self.journal);
        assert!(!restored.is_running());
        assert_eq!(restored.is_interrupted(), open_runs(&self.journal) > 0);
        self.assert_resumes_well();
        restored.handle(self.at, Input::Stop);
        let mut journal = self.journal.clone();
        while let Some(output) = restored.poll() {
            if let Output::Save(entry) = output {
                journal.push(entry);
            }
        }
        assert_valid(restored.transcript().messages(), false);
        assert_eq!(open_runs(&journal), 0, "a reload leaves a run open");
        let mut again = Run::restore(config(Limits::default(), 98), &journal);
        assert_eq!(again.transcript(), restored.transcript(), "two reloads differ");
        assert!(again.poll().is_none(), "the second reload finds more to repair");
    }

    fn assert_resumes_well(&self) {
        let mut resumed = Run::restore(config(Limits::default(), 96), &self.journal);
        let _ = std::iter::from_fn(|| resumed.poll()).count();
        resumed.handle(self.at, Input::Tools(Arc::clone(&self.registry)));
        resumed.handle(self.at, Input::Resume);
        let started =
            |entry: &&Entry, call: &ToolCallId| matches!(entry, Entry::CallStart { call: other, .. } if other == call);
        while let Some(output) = resumed.poll() {
            match output {
                Output::CallModel { request, .. } => assert_valid(&request.messages, false),
                Output::CallTool(request) if request.job.is_none() => {
                    let before = self.journal.iter().filter(|entry| started(entry, &request.call)).count();
                    let again = before > 0;
                    assert_eq!(request.resumed, again, "{} is not told that it ran before", request.name);
                    let lost = request.definition.replay == Replay::Effect && request.scope == Scope::Browser;
                    assert!(!again || !lost, "{} takes effect twice", request.name);
                }
                _ => {}
            }
        }
        assert_valid(resumed.transcript().messages(), true);
    }

    // With no call open, the journal says what memory says.
    fn assert_journal_is_the_thread(&self) {
        let open = matches!(self.run.transcript().messages().last(), Some(Message::Assistant(answer)) if answer.calls().next().is_some());
        // A job's end waits for the next step; a reload would tell it at once.
        let since = self.journal.iter().rev().take_while(|entry| {
            !matches!(entry, Entry::StepStart { .. } | Entry::RunStart { .. } | Entry::RunEnd { .. })
        });
        let untold = since.into_iter().any(|entry| matches!(entry, Entry::JobEnd { .. }));
        // What is being written is in the journal part by part, and in the thread at its end.
        let is_part = |entry: &Entry, id: &MessageId| matches!(entry, Entry::Part { message, .. } if message == id);
        let written =
            self.run.answer_so_far().is_some_and(|answer| self.journal.iter().any(|entry| is_part(entry, &answer.id)));
        if !open && !untold && !written {
            let folded: Transcript = Run::restore(config(Limits::default(), 97), &self.journal).transcript().clone();
            assert_eq!(&folded, self.run.transcript(), "journal and memory differ");
            assert_eq!(open_runs(&self.journal), usize::from(self.run.is_running() || self.run.is_interrupted()));
        }
    }
}

fn open_runs(journal: &[Entry]) -> usize {
    let count = |which: fn(&Entry) -> bool| journal.iter().filter(|entry| which(entry)).count();
    count(|entry| matches!(entry, Entry::RunStart { .. })) - count(|entry| matches!(entry, Entry::RunEnd { .. }))
}

/// Every call of every answer has exactly one result right behind it, in call order; ids are there once.
fn assert_valid(messages: &[Message], running: bool) {
    let mut due: Vec<&ToolCallId> = Vec::new();
    let mut ids = std::collections::BTreeSet::new();
    for message in messages {
        let id = match message {
            Message::Tool(tool) => {
                assert!(!due.is_empty(), "a result answers nothing");
                assert_eq!(due.remove(0), &tool.result.call, "results are not in call order");
                &tool.id
            }
            Message::Job { message: tool, .. } => &tool.id,
            Message::User(UserMessage { id, .. }) | Message::Notice { id, .. } => {
                assert_eq!(due, [] as [&ToolCallId; 0], "calls without results");
                id
            }
            Message::Assistant(answer) => {
                assert_eq!(due, [] as [&ToolCallId; 0], "calls without results");
                due.extend(answer.calls().map(|call| &call.id));
                &answer.id
            }
        };
        assert!(ids.insert(id), "two messages have the id {id}");
    }
    assert!(due.is_empty() || running, "calls without results at the end: {due:?}");
}

/// A result no test looks at.
pub(crate) fn fine() -> Value {
    json!({ "fine": true })
}
