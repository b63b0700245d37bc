//! The machine: takes inputs, decides, hands out outputs. Knows nothing of who carries them out.

mod answer;
mod begin;
mod checkpoint;
mod end;
mod jobs;
mod output;
mod resume;
mod settle;
mod wait;

use std::collections::VecDeque;
use std::sync::Arc;

use crate::agent::calls::{self, Call};
use crate::agent::limits::Spent;
pub use crate::agent::run::checkpoint::CHECKPOINT_LINES;
use crate::agent::run::checkpoint::{lines_since_checkpoint, starts_at_checkpoint};
use crate::agent::run::jobs::Watched;
use crate::agent::run::resume::Interrupted;
use crate::agent::run::wait::Waiting;
use crate::agent::stream::Stream;
use crate::agent::{Input, Limits, Output, Standing, Transcript};
use crate::protocol::{
    AssistantMessage, CallState, CallView, EndReason, Entry, Event, IdMint, Lifetime, Message, MessageId, Millis,
    ModelRequest, Names, RunId, State, ThreadId, ToolCall, ToolCallId, ToolMessage, Usage,
};
use crate::tools::{Facts, Policy, Registry, Resolved};

/// What a machine is made with.
#[derive(Clone, Debug)]
pub struct Config {
    /// The thread it runs.
    pub thread: ThreadId,
    /// What the agent is called.
    pub agent: String,
    /// The profile whose tools it may see; empty for those that name none.
    pub profile: String,
    /// What the integrator tells the model; empty for nothing.
    pub instructions: String,
    /// How far a run may go.
    pub limits: Limits,
    /// How many lines of the journal stand between two checkpoints, at least; see [`CHECKPOINT_LINES`].
    pub checkpoint_lines: u32,
    /// From the host's random source; makes the identifiers.
    pub seed: u64,
}

impl Config {
    /// What suits a page: nothing is said to the model, and the limits are the usual ones.
    #[must_use]
    pub fn new(thread: ThreadId, seed: u64) -> Self {
        Self {
            thread,
            agent: String::new(),
            profile: String::new(),
            instructions: String::new(),
            limits: Limits::default(),
            checkpoint_lines: CHECKPOINT_LINES,
            seed,
        }
    }
}

/// The runs of one thread, one after another.
#[derive(Debug)]
pub struct Run {
    config: Config,
    mint: IdMint,
    registry: Arc<Registry>,
    facts: Facts,
    policy: Policy,
    state: State,
    transcript: Transcript,
    jobs: Vec<Watched>,
    /// Ends of jobs that no model has been told of.
    untold: Vec<Message>,
    phase: Phase,
    outputs: VecDeque<Output>,
    model_calls: u64,
    at: Millis,
    last_end: Option<EndReason>,
    online: bool,
    /// Whether more tools are being asked for.
    listing: bool,
    /// Whether a run that was cut off is to be taken up once they are known.
    resumes: bool,
    /// Which of the gateway's models is asked; empty for its first.
    model: String,
    /// Lines written since the last checkpoint.
    lines: u32,
    /// What waits for the thread to be read whole; `None` where it is.
    waiting: Option<Vec<Input>>,
}

#[derive(Debug)]
enum Phase {
    Idle,
    Streaming(Active, Stream),
    /// The model is asked later.
    Waiting(Active, Waiting),
    Settling(Active, Vec<Call>),
    /// A run that a journal left open; it waits to be taken up.
    Interrupted(Interrupted),
}

/// The run at work.
#[derive(Debug)]
struct Active {
    run: RunId,
    spent: Spent,
    usage: Usage,
    /// The tools this step may call, as they were when the model was asked.
    tools: Resolved,
    /// What this step's model is asked, word for word, however many times.
    request: Option<ModelRequest>,
    /// How many times it has been asked again.
    tries: u32,
    /// How many times it has said nothing for too long.
    silences: u32,
    /// How many times the network has been looked for.
    probes: u32,
}

impl Active {
    fn new(run: RunId, spent: Spent) -> Self {
        let (usage, tools) = (Usage::default(), Resolved::default());
        Self { run, spent, usage, tools, request: None, tries: 0, silences: 0, probes: 0 }
    }
}

impl Run {
    /// A machine for an empty thread.
    #[must_use]
    pub fn new(config: Config) -> Self {
        let mint = IdMint::new(config.seed);
        Self {
            config,
            mint,
            registry: Arc::default(),
            facts: Facts::default(),
            policy: Policy::default(),
            state: State::default(),
            transcript: Transcript::default(),
            jobs: Vec::new(),
            untold: Vec::new(),
            phase: Phase::Idle,
            outputs: VecDeque::new(),
            model_calls: 0,
            at: 0,
            last_end: None,
            online: true,
            listing: false,
            resumes: false,
            model: String::new(),
            lines: 0,
            waiting: None,
        }
    }

    /// A machine for the thread of a journal, from its start or from a checkpoint: in the latter case the rest is asked
    /// for when it is needed ([`Output::LoadEarlier`]). A run the journal leaves open waits for [`Input::Resume`], once the
    /// tools are known; whatever else is asked of the machine ends it first.
    #[must_use]
    pub fn restore(config: Config, entries: &[Entry]) -> Self {
        let mut run = Self::new(config);
        let (transcript, mut unfinished) = Transcript::fold(entries);
        run.lines = lines_since_checkpoint(entries);
        run.waiting = starts_at_checkpoint(entries).then(Vec::new);
        run.transcript = transcript;
        run.last_end = unfinished.last_end.take();
        run.interrupt(&mut unfinished);
        run.state = unfinished.state;
        run.untold = unfinished.untold;
        run.jobs = unfinished.jobs.into_iter().map(|job| Watched { job, since: None, watched: false }).collect();
        for ToolMessage { id, result } in unfinished.settled {
            run.save(Entry::Result { result, message: id, changes: Names::default(), job: None, by: None });
        }
        run
    }

    /// What tools remember.
    #[must_use]
    pub fn state(&self) -> &State {
        &self.state
    }

    /// The thread.
    #[must_use]
    pub fn transcript(&self) -> &Transcript {
        &self.transcript
    }

    /// The model's answer as far as it has come; `None` while no model is asked.
    #[must_use]
    pub fn answer_so_far(&self) -> Option<AssistantMessage> {
        match &self.phase {
            Phase::Streaming(_, stream) => Some(stream.draft.so_far()),
            Phase::Idle | Phase::Waiting(..) | Phase::Settling(..) | Phase::Interrupted(_) => None,
        }
    }

    /// Whether a run is at work.
    #[must_use]
    pub fn is_running(&self) -> bool {
        !matches!(self.phase, Phase::Idle | Phase::Interrupted(_))
    }

    /// Whether a run waits to be taken up.
    #[must_use]
    pub fn is_interrupted(&self) -> bool {
        matches!(self.phase, Phase::Interrupted(_))
    }

    /// Whether [`Input::Retry`] would ask the model again.
    #[must_use]
    pub fn can_retry(&self) -> bool {
        self.is_interrupted() || (!self.is_running() && self.transcript.wants_answer())
    }

    /// How the last run ended.
    #[must_use]
    pub fn last_end(&self) -> Option<&EndReason> {
        self.last_end.as_ref()
    }

    /// How a call looks to those who watch; for a thread that was opened from a journal.
    #[must_use]
    pub fn view_of(thread: &Transcript, call: &ToolCall, message: &MessageId) -> CallView {
        let state = match (thread.job_of(&call.id), thread.result_of(&call.id)) {
            (Some(Some(end)), _) => calls::settled_state(end),
            (Some(None), _) => CallState::Pending { job: String::new() },
            (None, Some(result)) => calls::settled_state(result),
            // Its run waits to be taken up.
            (None, None) => CallState::InputAvailable,
        };
        let mut view = calls::view(message, call, None, state, 0);
        thread.arguments_of(call).clone_into(&mut view.arguments);
        view
    }

    /// What a call waits for, as far as the thread has been read.
    #[must_use]
    pub fn standing(&self, call: &ToolCallId) -> Standing {
        if self.jobs.iter().any(|watched| watched.job.call.id == *call) {
            return Standing::Job;
        }
        if let Phase::Settling(_, calls) = &self.phase
            && let Some(found) = calls.iter().find(|open| open.call.id == *call)
        {
            return match found.state {
                calls::State::Asked { .. } => Standing::Asked,
                _ if found.deadline().is_some() => Standing::Running,
                _ => Standing::Closed,
            };
        }
        if self.transcript.has_call(call) { Standing::Closed } else { Standing::Unknown }
    }

    /// The next thing to do, or `None` until the next input.
    pub fn poll(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }

    /// When [`Input::Tick`] is due at the latest; `None` while nothing can run out.
    #[must_use]
    pub fn wake_at(&self) -> Option<Millis> {
        let working = |active: &Active| self.at.saturating_add(active.spent.left_ms(&self.config.limits));
        match &self.phase {
            Phase::Idle | Phase::Interrupted(_) => None,
            Phase::Streaming(active, stream) => {
                Some(working(active).min(stream.heard_at.saturating_add(self.config.limits.model_idle_ms)))
            }
            Phase::Waiting(_, waiting) => Some(waiting.until),
            Phase::Settling(active, calls) => {
                calls.iter().filter_map(Call::deadline).min().map(|deadline| deadline.min(working(active)))
            }
        }
    }

    /// Takes one input at a time of the host's clock.
    pub fn handle(&mut self, at: Millis, input: Input) {
        self.pass(at);
        let Some(input) = self.wait_for_whole(input) else { return };
        match input {
            Input::Tools(registry) => {
                self.registry = registry;
                self.watch_jobs();
            }
            Input::Facts(facts) => self.facts = facts,
            Input::Limits(limits) => self.config.limits = limits,
            Input::Policy(policy) => self.policy.take_rules(policy),
            Input::UseModel(model) => self.model = model,
            Input::ForgetGrants => self.policy.forget(),
            Input::State(state) => self.take_state(&state),
            Input::Listing(listing) => self.take_listing(listing),
            Input::Earlier(entries) => self.take_earlier(&entries),
            Input::UserMessage(prompt) => self.begin(Some(prompt)),
            Input::Resume | Input::Retry if self.listing && self.is_interrupted() => self.resumes = true,
            Input::Resume => self.resume(),
            Input::Retry if self.is_interrupted() => self.resume(),
            Input::Retry if matches!(self.phase, Phase::Waiting(..)) => self.wait_no_longer(),
            Input::Retry => self.begin(None),
            Input::Online(online) => self.take_online(online),
            Input::Model { call, event } => self.model(call, event),
            Input::ModelClosed { call } => self.model_closed(call),
            Input::ToolOutcome { call, answer } => self.tool_outcome(&call, answer),
            Input::CancelJob { call } => self.cancel_job(&call),
            Input::Decision { call, decision } => self.decide(&call, decision),
            Input::Stop => self.end(EndReason::Stopped),
            Input::Rest => self.rest(),
            Input::Tick => self.tick(),
        }
    }

    fn pass(&mut self, at: Millis) {
        self.at = at.max(self.at);
        match &mut self.phase {
            Phase::Idle | Phase::Interrupted(_) => {}
            Phase::Streaming(active, stream) => active.spent.pass(self.at, !stream.probe),
            Phase::Waiting(active, _) => active.spent.pass(self.at, false),
            Phase::Settling(active, calls) => {
                let working = calls.iter().any(|call| call.deadline().is_some());
                active.spent.pass(self.at, working);
            }
        }
    }

    // What outlives the thread is told from outside; the thread's own stays.
    fn take_state(&mut self, state: &State) {
        let outlives = |lifetime| matches!(lifetime, Lifetime::App | Lifetime::User);
        self.state.drop_lifetimes(outlives);
        self.state.apply(state.values(), outlives);
    }

    fn save(&mut self, entry: Entry) {
        self.lines += 1;
        self.outputs.push_back(Output::Save(entry));
    }

    fn event(&mut self, event: Event) {
        self.outputs.push_back(Output::Event(event));
    }

    fn note(&mut self, words: impl Into<String>) {
        self.event(Event::Note(words.into()));
    }
}
