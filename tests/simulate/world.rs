//! The simulated world: a clock, what will happen, a gateway, a page, a disk, and everything that can go wrong with them.
//!
//! Nothing here waits for anything real. Whatever takes time is put on the agenda, and a run of the simulation is the
//! agenda worked off, a thing at a time, in an order that the choices decide.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use futures::channel::oneshot;
use pagehand::agent::ToolRequest;
use pagehand::protocol::{Answer, Entry, Event, Millis, Names, Outcome, Replay, ToolCallId, ToolError};
use pagehand::session::{Batch, StoreError};
use pagehand::tools::error;
use serde_json::{Value, json};

use crate::choices::Choices;
use crate::disk::Disk;
use crate::tools::kind;

/// A rule that is broken on purpose, to see that a check notices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Broken {
    Nothing,
    /// An effect does not wait for its line.
    Flush,
    /// A reload forgets which calls were started.
    Started,
    /// A store writes over another page's lines.
    Fence,
    /// The registry says of a tool that it runs elsewhere.
    Scope,
    /// A result is written twice.
    Twice,
    /// A run goes on after a stop.
    Stop,
    /// What a tool changed is not written.
    State,
    /// The gateway runs a call again.
    Idempotency,
    /// A checkpoint holds something else than what stood before it.
    Checkpoint,
    /// Results reach the model out of order.
    Order,
    /// A message of the user is not written.
    Message,
    /// A model that does not answer is waited for without end.
    Patience,
}

impl Broken {
    pub(crate) const ALL: [Self; 12] = [
        Self::Flush,
        Self::Started,
        Self::Fence,
        Self::Scope,
        Self::Twice,
        Self::Stop,
        Self::State,
        Self::Idempotency,
        Self::Checkpoint,
        Self::Order,
        Self::Message,
        Self::Patience,
    ];
}

/// Lines on their way to the disk.
type Write = (Batch, oneshot::Sender<Result<(), StoreError>>);

type Deed = Box<dyn FnOnce(&Rc<World>)>;

pub(crate) struct World {
    pub(crate) choices: Choices,
    pub(crate) broken: Broken,
    pub(crate) disk: Disk,
    pub(crate) now: Cell<Millis>,
    /// Whether things may go wrong; they may not while the world is brought to rest.
    pub(crate) faults: Cell<bool>,
    pub(crate) storage_fails: Cell<bool>,
    pub(crate) model_calls: Cell<u32>,
    /// Approvals that are open, by call.
    pub(crate) open: RefCell<Vec<ToolCallId>>,
    /// Jobs that were begun, by call: whether they run in the page.
    pub(crate) jobs: RefCell<BTreeMap<String, Job>>,
    pub(crate) stopped: Cell<bool>,
    pub(crate) running: Cell<bool>,
    /// Whether the present session is told that lines are not kept.
    pub(crate) unsaved: Cell<bool>,
    /// Calls whose tools answered with a change of the state.
    pub(crate) answered: RefCell<Names>,
    /// Lines on their way to the disk, in order; `None` where they have arrived.
    writes: RefCell<Vec<Option<Write>>>,
    /// Calls that ran while nothing could be written.
    unprotected: RefCell<Names>,
    trace: Cell<u64>,
    agenda: RefCell<Vec<(Millis, Deed)>>,
    violation: RefCell<Option<String>>,
    /// What happened in the world for each call: how often.
    effects: RefCell<BTreeMap<String, u32>>,
    gateway: RefCell<BTreeMap<String, Kept>>,
}

#[derive(Default)]
pub(crate) struct Job {
    pub(crate) end: Option<Answer>,
    waiting: Vec<oneshot::Sender<Answer>>,
}

/// What the gateway knows of a call, by its key.
enum Kept {
    Running(Vec<oneshot::Sender<Answer>>),
    Done(Answer),
    Unknown,
}

impl World {
    pub(crate) fn new(choices: Choices, broken: Broken) -> Rc<Self> {
        Rc::new(Self {
            choices,
            broken,
            disk: Disk::default(),
            now: Cell::new(1_000_000),
            faults: Cell::new(true),
            storage_fails: Cell::new(false),
            model_calls: Cell::new(0),
            open: RefCell::default(),
            jobs: RefCell::default(),
            stopped: Cell::new(false),
            running: Cell::new(false),
            unsaved: Cell::new(false),
            answered: RefCell::default(),
            writes: RefCell::default(),
            unprotected: RefCell::default(),
            trace: Cell::new(0xcbf2_9ce4_8422_2325),
            agenda: RefCell::default(),
            violation: RefCell::default(),
            effects: RefCell::default(),
            gateway: RefCell::default(),
        })
    }

    // ---- what will happen ----

    pub(crate) fn later(&self, ms: Millis, deed: impl FnOnce(&Rc<World>) + 'static) {
        self.agenda.borrow_mut().push((self.now.get() + ms, Box::new(deed)));
    }

    /// How long something takes.
    pub(crate) fn delay(&self) -> Millis {
        [1, 7, 40, 900][self.choices.pick(4) as usize]
    }

    pub(crate) fn fault(&self, of: u32) -> bool {
        self.faults.get() && self.choices.once_in(of)
    }

    /// Lets the next thing happen: most often the one that is due first. `false` where there is none.
    pub(crate) fn go_on(self: &Rc<Self>) -> bool {
        let deed = {
            let mut agenda = self.agenda.borrow_mut();
            if agenda.is_empty() {
                return false;
            }
            let mut due: Vec<usize> = (0..agenda.len()).collect();
            due.sort_by_key(|at| (agenda[*at].0, *at));
            // What is due at nearly the same time may happen in any order.
            let first = agenda[due[0]].0;
            let near = due.iter().take_while(|at| agenda[**at].0 <= first + 50).count().min(3);
            let chosen = due[self.choices.pick(near as u32) as usize];
            let (at, deed) = agenda.remove(chosen);
            self.now.set(self.now.get().max(at));
            deed
        };
        deed(self);
        true
    }

    // ---- the disk ----

    pub(crate) fn begin_write(&self, batch: Batch, tell: oneshot::Sender<Result<(), StoreError>>) -> usize {
        let mut writes = self.writes.borrow_mut();
        writes.push(Some((batch, tell)));
        writes.len() - 1
    }

    /// Lines arrive, unless they have already.
    pub(crate) fn write(&self, number: usize) {
        let Some((batch, tell)) = self.writes.borrow_mut()[number].take() else { return };
        let result = if self.storage_fails.get() {
            Err(StoreError::Failed("the disk is full".to_owned()))
        } else if self.broken == Broken::Fence {
            self.disk.overwrite(batch.first, &batch.entries);
            Ok(())
        } else {
            let result = self.disk.add(batch.first, &batch.entries, batch.strict);
            // They are written, and nobody hears of it.
            if result.is_ok() && self.fault(40) { Err(StoreError::Failed("it went away".to_owned())) } else { result }
        };
        let _ = tell.send(result);
    }

    /// A page that opens the thread reads behind what others have begun to write: the first `most` of it.
    pub(crate) fn finish_writes(&self, most: usize) {
        let begun: Vec<usize> = {
            let writes = self.writes.borrow();
            (0..writes.len()).filter(|number| writes[*number].is_some()).collect()
        };
        for (place, number) in begun.into_iter().enumerate() {
            if place < most {
                self.write(number);
            } else {
                self.writes.borrow_mut()[number] = None;
            }
        }
    }

    // ---- what must hold ----

    pub(crate) fn check(&self, holds: bool, words: impl FnOnce() -> String) {
        if !holds && self.violation.borrow().is_none() {
            *self.violation.borrow_mut() = Some(words());
        }
    }

    pub(crate) fn take(&self, checked: Result<(), String>) {
        if let Err(words) = checked {
            self.check(false, || words);
        }
    }

    pub(crate) fn violation(&self) -> Option<String> {
        self.violation.borrow().clone()
    }

    /// A fingerprint of everything that happened.
    pub(crate) fn note(&self, words: &str) {
        let mut hash = self.trace.get();
        for byte in words.bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
        self.trace.set(hash);
        if std::env::var_os("SIMULATE_TRACE").is_some() {
            eprintln!("{:>9} {words}", self.now.get() - 1_000_000);
        }
    }

    pub(crate) fn trace(&self) -> u64 {
        self.trace.get()
    }

    /// An effect may only begin behind its line.
    pub(crate) fn about_to_run(&self, request: &ToolRequest, ghost: bool) {
        let started = |entry: &Entry| matches!(entry, Entry::CallStart { call, .. } if *call == request.call);
        self.check(self.unsaved.get() || request.job.is_some() || self.disk.has(started), || {
            format!("{} ({}) runs before the journal says so", request.name, request.call)
        });
        let denied =
            |entry: &Entry| matches!(entry, Entry::Decision { call, approved: false, .. } if *call == request.call);
        self.check(!self.disk.has(denied), || format!("{} runs, and the user had declined it", request.name));
        // Where lines can not be kept, and the user was told so, a crash forgets what ran.
        if self.unsaved.get() && !self.disk.has(started) {
            self.unprotected.borrow_mut().add(request.call.as_str());
        }
        let declared = kind(&request.name).map(|kind| kind.1);
        self.check(declared == Some(request.scope), || {
            format!("{} was told to run as {:?}, and is {declared:?}", request.name, request.scope)
        });
        self.check(ghost || !self.stopped.get() || request.job.is_some(), || {
            format!("{} runs after the user stopped everything", request.name)
        });
    }

    // Something happened that can be seen in the world.
    fn effect(&self, request: &ToolRequest) {
        let mut effects = self.effects.borrow_mut();
        let count = effects.entry(request.call.0.clone()).or_default();
        *count += 1;
        let protected = !self.unprotected.borrow().contains(request.call.as_str());
        let once = protected && kind(&request.name).is_some_and(|kind| kind.2 == Replay::Effect);
        self.check(!once || *count == 1, || format!("{} ({}) took effect {count} times", request.name, request.call));
    }

    // ---- the page's tools ----

    pub(crate) fn run_in_page(self: &Rc<Self>, request: ToolRequest, tell: oneshot::Sender<Answer>) {
        self.note(&format!("page runs {}", request.name));
        if let Some(job) = &request.job {
            return self.wait_for_job(job, tell);
        }
        self.check(!(request.resumed && request.definition.replay == Replay::Effect), || {
            format!("{} is run again in the page", request.name)
        });
        if self.fault(24) {
            // It never answers: its time runs out.
            return self.later(500_000, move |_| drop(tell));
        }
        self.later(self.delay(), move |world| {
            world.effect(&request);
            let answer = world.answer_of(&request, "page");
            let _ = tell.send(answer);
        });
    }

    fn answer_of(self: &Rc<Self>, request: &ToolRequest, place: &str) -> Answer {
        if request.definition.long_running {
            let job = format!("job-{}", request.call);
            self.jobs.borrow_mut().entry(job.clone()).or_default();
            let ended = job.clone();
            self.later(self.delay() * 20, move |world| world.end_job(&ended));
            return Outcome::Interim(pagehand::protocol::Job { id: job, state: Value::Null }).into();
        }
        let outcome = match self.choices.pick(8) {
            6 => Outcome::Error(ToolError::new("tool_error", "it did not work")),
            7 => Outcome::Result(json!({ "deep": "x".repeat(60_000) })),
            _ => Outcome::Result(json!({ "by": place, "call": request.call.as_str() })),
        };
        let mut changes = Names::default();
        changes.insert(format!("key_{}", request.call), json!(true));
        self.answered.borrow_mut().add(request.call.as_str());
        Answer { changes, ..outcome.into() }
    }

    fn end_job(&self, job: &str) {
        self.note("a job ends");
        let mut jobs = self.jobs.borrow_mut();
        let Some(job) = jobs.get_mut(job) else { return };
        let mut changes = Names::default();
        changes.insert("job_done".to_owned(), json!(true));
        let answer = Answer { changes, ..Outcome::Result(json!("done")).into() };
        job.end = Some(answer.clone());
        job.waiting.drain(..).for_each(|tell| drop(tell.send(answer.clone())));
    }

    fn wait_for_job(&self, job: &str, tell: oneshot::Sender<Answer>) {
        let mut jobs = self.jobs.borrow_mut();
        let job = jobs.entry(job.to_owned()).or_default();
        match &job.end {
            Some(answer) => drop(tell.send(answer.clone())),
            None => job.waiting.push(tell),
        }
    }

    // ---- the gateway ----

    /// What a page's client does: the same request under the same key until there is an answer.
    pub(crate) fn ask_gateway(self: &Rc<Self>, request: ToolRequest, tell: oneshot::Sender<Answer>) {
        self.note(&format!("asks the gateway for {}", request.name));
        if let Some(job) = &request.job {
            return self.wait_for_job(job, tell);
        }
        let lost = self.fault(8);
        let (answer, answered) = oneshot::channel();
        if self.fault(12) {
            // It never arrives.
            drop(answer);
        } else {
            self.arrive(&request, answer);
            if self.fault(16) {
                // A proxy delivers it twice.
                let (again, _) = oneshot::channel();
                self.arrive(&request, again);
            }
        }
        let again = Rc::clone(self);
        let waiting = async move {
            match answered.await {
                Ok(answer) if !lost => drop(tell.send(answer)),
                _ => {
                    let world = Rc::clone(&again);
                    again.later(500, move |_| world.ask_gateway(request, tell));
                }
            }
        };
        self.spawn(waiting);
    }

    fn arrive(self: &Rc<Self>, request: &ToolRequest, tell: oneshot::Sender<Answer>) {
        let key = request.call.0.clone();
        let find_out = request.resumed && request.definition.replay == Replay::Effect;
        let mut gateway = self.gateway.borrow_mut();
        let forgets = self.broken == Broken::Idempotency;
        match gateway.get_mut(&key) {
            Some(Kept::Running(waiting)) if !forgets => return waiting.push(tell),
            Some(Kept::Done(answer)) if !forgets => return drop(tell.send(answer.clone())),
            Some(Kept::Unknown) => return drop(tell.send(unknown(&request.name))),
            None if find_out => return drop(tell.send(unknown(&request.name))),
            _ => {}
        }
        gateway.insert(key.clone(), Kept::Running(vec![tell]));
        drop(gateway);
        let request = request.clone();
        self.later(self.delay(), move |world| {
            // The gateway died meanwhile: nobody knows how far it came.
            if matches!(world.gateway.borrow().get(&key), Some(Kept::Unknown)) {
                return;
            }
            world.effect(&request);
            let answer = world.answer_of(&request, "gateway");
            let kept = world.gateway.borrow_mut().insert(key, Kept::Done(answer.clone()));
            if let Some(Kept::Running(waiting)) = kept {
                waiting.into_iter().for_each(|tell| drop(tell.send(answer.clone())));
            }
        });
    }

    /// The gateway is killed and started again.
    pub(crate) fn restart_gateway(&self) {
        self.note("the gateway dies");
        for kept in self.gateway.borrow_mut().values_mut().filter(|kept| matches!(kept, Kept::Running(_))) {
            *kept = Kept::Unknown;
        }
    }

    // ---- tasks of the world itself ----

    pub(crate) fn spawn(self: &Rc<Self>, task: impl Future<Output = ()> + 'static) {
        TASKS.with_borrow_mut(|tasks| tasks.push(Box::pin(task)));
    }

    pub(crate) fn told(&self, event: &Event) {
        // What another page would be told is read there as it was meant.
        if let Some(text) = event.to_json() {
            let read = Event::from_json(&text);
            let same = match (&read, event) {
                // The tools' names are nobody else's business.
                (Some(Event::StepStart { step, message, .. }), Event::StepStart { step: one, message: other, .. }) => {
                    step == one && message == other
                }
                (read, event) => read.as_ref() == Some(event),
            };
            self.check(same, || format!("another page would read {event:?} as {read:?}"));
        }
        match event {
            Event::RunStart { .. } => {
                self.running.set(true);
                self.stopped.set(false);
            }
            Event::RunEnd { reason, .. } => {
                self.note(&format!("the run ends: {}", reason.as_str()));
                self.running.set(false);
                self.stopped.set(*reason == pagehand::protocol::EndReason::Stopped);
                self.open.borrow_mut().clear();
            }
            Event::Call(view) => {
                self.note(&format!("{} {} is {}", view.name, view.id, view.state.as_str()));
                let mut open = self.open.borrow_mut();
                open.retain(|call| *call != view.id);
                if matches!(view.state, pagehand::protocol::CallState::ApprovalRequested { .. }) {
                    open.push(view.id.clone());
                }
            }
            Event::Saving(why) => self.unsaved.set(why.is_some()),
            _ => {}
        }
    }
}

thread_local! {
    static TASKS: RefCell<Vec<std::pin::Pin<Box<dyn Future<Output = ()>>>>> = RefCell::default();
}

/// The tasks of the world that wait to be driven.
pub(crate) fn take_tasks() -> Vec<std::pin::Pin<Box<dyn Future<Output = ()>>>> {
    TASKS.with_borrow_mut(std::mem::take)
}

fn unknown(name: &str) -> Answer {
    Outcome::Error(error::interrupted(name, true)).into()
}
