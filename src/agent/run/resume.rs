//! A run that a reload, a crash or a navigation cut off is taken up where it was. Part of the machine; knows nothing of
//! who carries anything out.
//!
//! | the journal says of a call | it is |
//! |---|---|
//! | it has its result | left as it is |
//! | it was never started | checked and judged anew: run, or asked about once more |
//! | the user had agreed to it | run |
//! | it was started, and is `pure` or `idempotent` | run again, under the same id |
//! | it was started, and is an `effect` in the page | not run again: the model reads that its outcome is unknown |
//! | it was started, and is an `effect` behind the gateway | not run again: the gateway is asked what became of it |
//!
//! A model that was still answering is asked again; a run whose end was decided is ended.

use crate::agent::calls::{self, Call, State};
use crate::agent::draft::Slot;
use crate::agent::limits::Spent;
use crate::agent::run::{Active, Phase, Run};
use crate::agent::transcript::{OpenStep, Unfinished};
use crate::protocol::{AssistantMessage, EndReason, Event, MessageStatus, Replay, RunId, Scope, ToolCall, Usage};
use crate::tools::{Definition, error};

/// A run that was cut off.
#[derive(Debug)]
pub(super) struct Interrupted {
    run: RunId,
    step: u32,
    used: Usage,
    open: OpenStep,
}

impl Run {
    /// Remembers the run that a journal leaves open.
    pub(super) fn interrupt(&mut self, unfinished: &mut Unfinished) {
        let Some(run) = unfinished.run.take() else { return };
        let open = unfinished.open.take().unwrap_or_default();
        self.last_end = Some(EndReason::Interrupted);
        self.phase = Phase::Interrupted(Interrupted { run, step: unfinished.step, used: unfinished.used, open });
    }

    /// Takes the run up; nothing where none was cut off.
    pub(super) fn resume(&mut self) {
        let Some(Interrupted { run, step, used, open }) = self.take_interrupted() else { return };
        self.last_end = None;
        self.event(Event::RunStart { run: run.clone(), message: None });
        let mut active = Active::new(run, Spent::up_to(step));
        active.usage = used;
        active.tools = self.resolve();
        active.spent.pass(self.at, true);
        match open.answer.clone() {
            Some(answer) => match answer.status {
                MessageStatus::Complete => self.resume_calls(active, &answer, open),
                MessageStatus::Superseded => self.ask(active),
                // Its end was decided; only the line that says so is missing.
                MessageStatus::Stopped => self.close_as(active, open, EndReason::Stopped),
                MessageStatus::Truncated => self.close_as(active, open, EndReason::Truncated),
            },
            None if step > 0 => self.ask(active),
            None => self.step(active),
        }
    }

    // What the agent behind the wire had run for an answer that broke off is not asked for a second time.
    fn close_as(&mut self, active: Active, open: OpenStep, reason: EndReason) {
        self.settle_as_interrupted(&active, open);
        self.close(active, reason);
    }

    fn resume_calls(&mut self, mut active: Active, answer: &AssistantMessage, mut open: OpenStep) {
        let limits = self.config.limits;
        // A call is not its own duplicate.
        let before = self.transcript.without_last_answer();
        let mut calls = Vec::new();
        for call in answer.calls() {
            let made = match open.results.remove(call.id.as_str()) {
                Some(settled) => Call::settled_before(&answer.id, call, &active.tools, settled),
                None => {
                    let slot = Slot::again(call.clone());
                    let (made, _) =
                        calls::open(&answer.id, vec![slot], &active.tools, &before, &mut active.spent, &limits);
                    let Some(mut made) = made.into_iter().next() else { continue };
                    self.go_on_with(&active, &mut made, call, &open);
                    made
                }
            };
            calls.push(made);
        }
        if calls.is_empty() {
            return self.answered(active, &answer.id);
        }
        self.settle_or_wait(active, calls);
    }

    fn go_on_with(&mut self, active: &Active, made: &mut Call, call: &ToolCall, open: &OpenStep) {
        let id = call.id.as_str();
        if made.is_settled() {
            return self.announce(made);
        }
        if open.decided.get(id) == Some(&None) {
            made.settle(&error::denied(&call.name, None));
            return self.announce(made);
        }
        let started = open.started.contains(id);
        let is_lost = |tool: &Definition| tool.replay == Replay::Effect && tool.scope == Scope::Browser;
        if started && made.tool.as_deref().is_none_or(is_lost) {
            made.settle(&error::interrupted(&call.name, true));
            return self.announce(made);
        }
        made.resumed = started;
        let decided = open.decided.get(id).cloned().flatten();
        if started || decided.is_some() {
            let arguments = self.transcript.arguments_of(call).to_owned();
            let changed = (arguments != call.arguments).then_some(arguments);
            if let Err(error) = made.approve_again(changed, decided, &active.tools) {
                made.settle(&error);
                return self.announce(made);
            }
            made.state = State::Queued;
        } else if self.may_run(made) {
            made.state = State::Queued;
        } else {
            self.announce(made);
        }
    }

    /// Settles the calls of a run that is not taken up, and gives it back to be closed.
    pub(super) fn give_up(&mut self, interrupted: Interrupted) -> Active {
        let Interrupted { run, step, used, open } = interrupted;
        let mut active = Active::new(run, Spent::up_to(step));
        active.usage = used;
        self.settle_as_interrupted(&active, open);
        active
    }

    fn settle_as_interrupted(&mut self, active: &Active, mut open: OpenStep) {
        let Some(answer) = open.answer.take() else { return };
        let mut calls = Vec::new();
        for call in answer.calls() {
            let made = match open.results.remove(call.id.as_str()) {
                Some(settled) => Call::settled_before(&answer.id, call, &active.tools, settled),
                None => {
                    let mut made = Call::new(answer.id.clone(), call.clone(), &active.tools);
                    made.settle(&error::interrupted(&call.name, open.started.contains(call.id.as_str())));
                    self.announce(&mut made);
                    made
                }
            };
            calls.push(made);
        }
        self.append(calls);
    }

    fn take_interrupted(&mut self) -> Option<Interrupted> {
        match std::mem::replace(&mut self.phase, Phase::Idle) {
            Phase::Interrupted(interrupted) => Some(interrupted),
            other => {
                self.phase = other;
                None
            }
        }
    }
}
