//! The machine: takes inputs, decides, hands out outputs. Knows nothing of who carries them out.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::agent::calls::{self, Call, State};
use crate::agent::draft::Draft;
use crate::agent::limits::Spent;
use crate::agent::stream::Stream;
use crate::agent::transcript::result_message_id;
use crate::agent::{Decision, Input, Limits, Output, Transcript};
use crate::protocol::{
    CallState, CallView, EndReason, Entry, Event, IdMint, Message, MessageId, MessageStatus, Millis, ModelError,
    ModelEvent, ModelRequest, Outcome, RunId, ThreadId, ToolCall, ToolCallId, ToolMessage, ToolResult, Usage,
};
use crate::tools::{Policy, Registry, error};

/// What a machine is made with.
#[derive(Clone, Debug)]
pub struct Config {
    /// The thread it runs.
    pub thread: ThreadId,
    /// What the integrator tells the model; empty for nothing.
    pub instructions: String,
    /// How far a run may go.
    pub limits: Limits,
    /// From the host's random source; makes the identifiers.
    pub seed: u64,
}

/// The runs of one thread, one after another.
#[derive(Debug)]
pub struct Run {
    config: Config,
    mint: IdMint,
    registry: Arc<Registry>,
    policy: Policy,
    transcript: Transcript,
    phase: Phase,
    outputs: VecDeque<Output>,
    model_calls: u64,
    at: Millis,
}

#[derive(Debug)]
enum Phase {
    Idle,
    Streaming(Active, Stream),
    Settling(Active, Vec<Call>),
}

/// The run at work.
#[derive(Debug)]
struct Active {
    run: RunId,
    spent: Spent,
    usage: Usage,
    /// The tools this step may call, as they were when the model was asked.
    tools: Arc<Registry>,
    /// Whether this step's answer has been asked for again already.
    asked_again: bool,
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
            policy: Policy::default(),
            transcript: Transcript::default(),
            phase: Phase::Idle,
            outputs: VecDeque::new(),
            model_calls: 0,
            at: 0,
        }
    }

    /// A machine for the thread of a journal. A run the journal leaves open is ended as interrupted,
    /// its open calls answered; what that adds to the journal comes out of [`poll`](Self::poll).
    #[must_use]
    pub fn restore(config: Config, entries: &[Entry]) -> Self {
        let mut run = Self::new(config);
        let (transcript, unfinished) = Transcript::fold(entries);
        run.transcript = transcript;
        for ToolMessage { id, result } in unfinished.settled {
            run.save(Entry::Result { result, message: id });
        }
        if let Some(id) = unfinished.run {
            run.save(Entry::RunEnd { run: id.clone(), reason: EndReason::Interrupted });
            run.event(Event::RunEnd { run: id, reason: EndReason::Interrupted });
        }
        run
    }

    /// The thread.
    #[must_use]
    pub fn transcript(&self) -> &Transcript {
        &self.transcript
    }

    /// Whether a run is at work.
    #[must_use]
    pub fn is_running(&self) -> bool {
        !matches!(self.phase, Phase::Idle)
    }

    /// Whether [`Input::Retry`] would ask the model again.
    #[must_use]
    pub fn can_retry(&self) -> bool {
        !self.is_running() && self.transcript.wants_answer()
    }

    /// How a settled call looks to those who watch; for a thread that was opened from a journal.
    #[must_use]
    pub fn view_of(call: &ToolCall, message: &MessageId, result: &ToolResult) -> CallView {
        calls::view(message, call, None, calls::settled_state(result), 0)
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
            Phase::Idle => None,
            Phase::Streaming(active, stream) => {
                Some(working(active).min(stream.heard_at.saturating_add(self.config.limits.model_idle_ms)))
            }
            Phase::Settling(active, calls) => {
                calls.iter().filter_map(Call::deadline).min().map(|deadline| deadline.min(working(active)))
            }
        }
    }

    /// Takes one input at a time of the host's clock.
    pub fn handle(&mut self, at: Millis, input: Input) {
        self.pass(at);
        match input {
            Input::Tools(registry) => self.registry = registry,
            Input::UserMessage(text) => self.begin(Some(text)),
            Input::Retry => self.begin(None),
            Input::Model { call, event } => self.model(call, event),
            Input::ModelClosed { call } => self.model_closed(call),
            Input::ToolOutcome { call, outcome } => self.tool_outcome(&call, outcome),
            Input::Decision { call, decision } => self.decide(&call, decision),
            Input::Stop => self.end(EndReason::Stopped),
            Input::Tick => self.tick(),
        }
    }

    fn pass(&mut self, at: Millis) {
        self.at = at.max(self.at);
        match &mut self.phase {
            Phase::Idle => {}
            Phase::Streaming(active, _) => active.spent.pass(self.at, true),
            Phase::Settling(active, calls) => {
                let working = calls.iter().any(|call| call.deadline().is_some());
                active.spent.pass(self.at, working);
            }
        }
    }

    fn save(&mut self, entry: Entry) {
        self.outputs.push_back(Output::Save(entry));
    }

    fn event(&mut self, event: Event) {
        self.outputs.push_back(Output::Event(event));
    }

    fn note(&mut self, words: impl Into<String>) {
        self.event(Event::Note(words.into()));
    }

    // ---- a run begins ----

    fn begin(&mut self, text: Option<String>) {
        if text.is_none() && !self.can_retry() {
            return self.note("There is nothing to try again.");
        }
        self.end(EndReason::Superseded);
        let run = RunId(self.mint.mint());
        let message = text.map(|text| (MessageId(self.mint.mint()), text));
        match &message {
            Some((id, text)) => self.transcript.push(Message::User { id: id.clone(), content: text.clone() }),
            None => self.transcript.supersede_tail(),
        }
        self.save(Entry::RunStart { run: run.clone(), at: self.at, message: message.clone() });
        self.event(Event::RunStart { run: run.clone(), message });
        let tools = Arc::clone(&self.registry);
        let mut active = Active { run, spent: Spent::default(), usage: Usage::default(), tools, asked_again: false };
        active.spent.pass(self.at, true);
        self.step(active);
    }

    fn step(&mut self, mut active: Active) {
        let limits = self.config.limits;
        if active.spent.steps >= limits.max_steps {
            return self.close(active, EndReason::MaxSteps { limit: limits.max_steps });
        }
        active.spent.steps += 1;
        active.asked_again = false;
        self.save(Entry::StepStart { run: active.run.clone(), step: active.spent.steps });
        self.ask(active);
    }

    fn ask(&mut self, mut active: Active) {
        self.model_calls += 1;
        let call = self.model_calls;
        let message = MessageId(self.mint.mint());
        self.event(Event::StepStart { run: active.run.clone(), step: active.spent.steps, message: message.clone() });
        let request = ModelRequest {
            thread: self.config.thread.clone(),
            run: active.run.clone(),
            instructions: self.config.instructions.clone(),
            messages: self.transcript.for_model(),
            tools: self.registry.offers(),
            context: Vec::new(),
        };
        self.outputs.push_back(Output::CallModel { call, request });
        active.tools = Arc::clone(&self.registry);
        let stream = Stream { call, draft: Draft::new(message), usage: Usage::default(), heard_at: self.at };
        self.phase = Phase::Streaming(active, stream);
    }

    // ---- the model answers ----

    fn model(&mut self, call: u64, event: ModelEvent) {
        match event {
            ModelEvent::Finish(_) => self.finish_stream(call),
            ModelEvent::Error(error) => self.fail_stream(call, error),
            other => self.collect(call, other),
        }
    }

    fn collect(&mut self, call: u64, event: ModelEvent) {
        let Phase::Streaming(active, stream) = &mut self.phase else { return };
        if stream.call != call {
            return;
        }
        stream.heard_at = self.at;
        let told = stream.collect(event, &mut self.mint, &active.tools, active.usage, self.at);
        self.outputs.extend(told.into_iter().map(Output::Event));
    }

    /// Takes the stream of this model call out of the machine; `None` where it is not the one at work.
    fn take_stream(&mut self, call: u64) -> Option<(Active, Stream)> {
        match std::mem::replace(&mut self.phase, Phase::Idle) {
            Phase::Streaming(mut active, stream) if stream.call == call => {
                active.usage += stream.usage;
                Some((active, stream))
            }
            other => {
                self.phase = other;
                None
            }
        }
    }

    fn finish_stream(&mut self, call: u64) {
        let Some((mut active, stream)) = self.take_stream(call) else { return };
        let id = stream.draft.message.clone();
        let (answer, slots) = stream.draft.finish(MessageStatus::Complete);
        // Judged against the thread as it was before this answer, so that a call is not its own duplicate.
        let limits = self.config.limits;
        let (mut calls, over) = calls::open(&id, slots, &active.tools, &self.transcript, &mut active.spent, &limits);
        self.save(Entry::Message(answer.clone()));
        self.transcript.push(Message::Assistant(answer));
        self.event(Event::MessageEnd { message: id, status: MessageStatus::Complete });
        for call in &mut calls {
            self.begin_call(call);
        }
        if let Some(reason) = over {
            self.append(calls);
            return self.close(active, reason);
        }
        // The loop goes on while there are calls for us, whatever word the model stopped with.
        if calls.iter().all(Call::agent_ran) {
            self.append(calls);
            return self.close(active, EndReason::Completed);
        }
        self.settle_or_wait(active, calls);
    }

    fn fail_stream(&mut self, call: u64, error: ModelError) {
        if let Some((active, stream)) = self.take_stream(call) {
            self.keep_broken(&active.tools, stream.draft, MessageStatus::Truncated);
            self.close(active, EndReason::Error(error));
        }
    }

    fn model_closed(&mut self, call: u64) {
        let Some((mut active, stream)) = self.take_stream(call) else { return };
        if active.asked_again || stream.draft.agent_ran() {
            self.keep_broken(&active.tools, stream.draft, MessageStatus::Truncated);
            return self.close(active, EndReason::Truncated);
        }
        active.asked_again = true;
        self.keep_broken(&active.tools, stream.draft, MessageStatus::Superseded);
        self.note("The answer broke off before its end; the model is asked again.");
        self.ask(active);
    }

    /// Keeps the words of an answer that did not end well, and lets go of its calls.
    fn keep_broken(&mut self, tools: &Registry, draft: Draft, status: MessageStatus) {
        let message = draft.message.clone();
        let open: Vec<ToolCall> =
            draft.slots().iter().filter(|slot| slot.answered.is_none()).map(|slot| slot.call.clone()).collect();
        let (answer, slots) = draft.finish(status);
        for call in open {
            let scope = tools.get(&call.name).map(|tool| tool.scope);
            self.event(Event::Call(calls::view(&message, &call, scope, CallState::Cancelled, self.at)));
        }
        self.event(Event::MessageEnd { message: message.clone(), status });
        if answer.parts.is_empty() {
            return;
        }
        self.save(Entry::Message(answer.clone()));
        self.transcript.push(Message::Assistant(answer));
        let mut spent = Spent::default();
        let (calls, _) = calls::open(&message, slots, tools, &Transcript::default(), &mut spent, &self.config.limits);
        for call in &calls {
            self.announce(call);
        }
        self.append(calls);
    }

    // ---- calls run ----

    /// Starts a ready call, or asks, or tells how it was settled.
    fn begin_call(&mut self, call: &mut Call) {
        if matches!(call.state, State::Ready) && call.judge(&self.policy) {
            self.start_call(call);
        } else {
            self.announce(call);
        }
    }

    fn start_call(&mut self, call: &mut Call) {
        let Some(request) = call.start(self.at, &self.config.limits) else { return };
        self.save(Entry::CallStart { call: call.call.id.clone(), at: self.at });
        self.event(Event::Call(call.view(self.at)));
        self.outputs.push_back(Output::CallTool(request));
    }

    /// Tells of a call's state; of a result also the journal.
    fn announce(&mut self, call: &Call) {
        if let State::Settled(result) = &call.state {
            let message = result_message_id(&call.call.id);
            self.save(Entry::Result { result: result.clone(), message });
        }
        self.event(Event::Call(call.view(self.at)));
    }

    fn tool_outcome(&mut self, id: &ToolCallId, outcome: Outcome) {
        let Some((active, mut calls)) = self.take_calls() else { return self.late(id, &outcome) };
        match calls.iter_mut().find(|call| call.call.id == *id && call.deadline().is_some()) {
            Some(call) => {
                call.finish(outcome);
                self.announce(call);
            }
            None => self.late(id, &outcome),
        }
        self.settle_or_wait(active, calls);
    }

    fn late(&mut self, id: &ToolCallId, outcome: &Outcome) {
        self.save(Entry::LateResult(calls::late_result(id.clone(), outcome)));
        self.note(format!("A result for call {id} came after the call was settled; it is only recorded."));
    }

    fn decide(&mut self, id: &ToolCallId, decision: Decision) {
        let Some((active, mut calls)) = self.take_calls() else { return };
        let asked = |call: &&mut Call| call.call.id == *id && matches!(call.state, State::Asked { .. });
        if let Some(call) = calls.iter_mut().find(asked) {
            self.decide_call(&active.tools, call, decision);
        }
        // A yes that holds for its tool holds for the other calls of it that wait.
        for call in &mut calls {
            if call.is_granted(&self.policy) {
                self.start_call(call);
            }
        }
        self.settle_or_wait(active, calls);
    }

    fn decide_call(&mut self, tools: &Registry, call: &mut Call, decision: Decision) {
        let id = call.call.id.clone();
        match decision {
            Decision::Approve { arguments } => {
                if let Err(error) = call.approve(arguments.clone(), tools) {
                    return self.event(Event::DecisionRefused { call: id, reason: error.message });
                }
                if let Some(tool) = &call.tool {
                    self.policy.grant(tool);
                }
                self.save(Entry::Decision { call: id, approved: true, arguments });
                self.start_call(call);
            }
            Decision::Deny { reason } => {
                self.save(Entry::Decision { call: id, approved: false, arguments: None });
                call.settle(&error::denied(&call.call.name, reason.as_deref()));
                self.announce(call);
            }
        }
    }

    fn take_calls(&mut self) -> Option<(Active, Vec<Call>)> {
        match std::mem::replace(&mut self.phase, Phase::Idle) {
            Phase::Settling(active, calls) => Some((active, calls)),
            other => {
                self.phase = other;
                None
            }
        }
    }

    fn settle_or_wait(&mut self, active: Active, calls: Vec<Call>) {
        if !calls.iter().all(Call::is_settled) {
            self.phase = Phase::Settling(active, calls);
            return;
        }
        self.append(calls);
        self.step(active);
    }

    /// Puts the results of settled calls behind their answer, in call order.
    fn append(&mut self, calls: Vec<Call>) {
        for call in calls {
            if let State::Settled(result) = call.state {
                let id = result_message_id(&call.call.id);
                self.transcript.push(Message::Tool(ToolMessage { id, result }));
            }
        }
    }

    // ---- a run ends ----

    fn tick(&mut self) {
        let limits = self.config.limits;
        match &self.phase {
            Phase::Idle => {}
            Phase::Streaming(active, _) | Phase::Settling(active, _) if active.spent.left_ms(&limits) == 0 => {
                self.end(EndReason::MaxTime { limit_ms: limits.max_run_ms });
            }
            Phase::Streaming(_, stream) => {
                if self.at >= stream.heard_at.saturating_add(limits.model_idle_ms) {
                    let call = stream.call;
                    self.outputs.push_back(Output::CancelModel { call });
                    self.model_closed(call);
                }
            }
            Phase::Settling(..) => self.time_out_calls(),
        }
    }

    fn time_out_calls(&mut self) {
        let Some((active, mut calls)) = self.take_calls() else { return };
        for call in &mut calls {
            if let State::Running { deadline, timeout_ms } = call.state
                && deadline <= self.at
            {
                self.outputs.push_back(Output::CancelTool { call: call.call.id.clone() });
                call.settle(&error::timeout(&call.call.name, timeout_ms));
                self.announce(call);
            }
        }
        self.settle_or_wait(active, calls);
    }

    /// Ends the run at work, whatever it is doing; nothing where none is.
    fn end(&mut self, reason: EndReason) {
        match std::mem::replace(&mut self.phase, Phase::Idle) {
            Phase::Idle => {}
            Phase::Streaming(mut active, stream) => {
                active.usage += stream.usage;
                self.outputs.push_back(Output::CancelModel { call: stream.call });
                self.keep_broken(&active.tools, stream.draft, MessageStatus::Stopped);
                self.close(active, reason);
            }
            Phase::Settling(active, mut calls) => {
                for call in calls.iter_mut().filter(|call| !call.is_settled()) {
                    self.cancel_call(call, &reason);
                }
                self.append(calls);
                self.close(active, reason);
            }
        }
    }

    fn cancel_call(&mut self, call: &mut Call, reason: &EndReason) {
        let ran = call.deadline().is_some();
        if ran {
            self.outputs.push_back(Output::CancelTool { call: call.call.id.clone() });
        }
        let error = match reason {
            EndReason::MaxTime { .. } if !ran => error::run_ended(&call.call.name, "it took too long"),
            _ => error::cancelled(&call.call.name, ran),
        };
        call.settle(&error);
        self.announce(call);
    }

    fn close(&mut self, active: Active, reason: EndReason) {
        self.phase = Phase::Idle;
        self.event(Event::Usage(active.usage));
        self.save(Entry::RunEnd { run: active.run.clone(), reason: reason.clone() });
        self.event(Event::RunEnd { run: active.run, reason });
    }
}
