//! How a run ends: by the clock, by the user, by itself. Part of the machine; knows nothing of who carries anything out.

use crate::agent::Output;
use crate::agent::calls::{Call, State};
use crate::agent::run::{Active, Phase, Run};
use crate::protocol::{EndReason, Entry, Event, Lifetime, MessageStatus, Usage};
use crate::tools::error;

impl Run {
    pub(super) fn tick(&mut self) {
        let limits = self.config.limits;
        match &mut self.phase {
            Phase::Idle | Phase::Interrupted(_) => {}
            Phase::Waiting(_, waiting) if self.at < waiting.until => {}
            Phase::Waiting(..) => self.wait_no_longer(),
            Phase::Streaming(active, _) | Phase::Settling(active, _) if active.spent.left_ms(&limits) == 0 => {
                self.end(EndReason::MaxTime { limit_ms: limits.max_run_ms });
            }
            Phase::Streaming(active, stream) => {
                if self.at >= stream.heard_at.saturating_add(limits.model_idle_ms) {
                    active.silences += 1;
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
    pub(super) fn end(&mut self, reason: EndReason) {
        match std::mem::replace(&mut self.phase, Phase::Idle) {
            Phase::Idle => {}
            Phase::Interrupted(interrupted) => {
                let active = self.give_up(interrupted);
                self.close(active, reason);
            }
            Phase::Streaming(mut active, stream) => {
                active.usage += stream.usage;
                self.outputs.push_back(Output::CancelModel { call: stream.call });
                self.keep_broken(&active.tools, stream.draft, MessageStatus::Stopped);
                self.close(active, reason);
            }
            Phase::Waiting(active, _) => self.close(active, reason),
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

    pub(super) fn close(&mut self, active: Active, reason: EndReason) {
        self.phase = Phase::Idle;
        self.last_end = Some(reason.clone());
        if matches!(reason, EndReason::Refused { .. }) {
            self.transcript.refuse_run();
        }
        self.state.drop_lifetimes(|lifetime| lifetime == Lifetime::Temp);
        self.event(Event::Usage { step: Usage::default(), run: active.usage });
        self.save(Entry::RunEnd { run: active.run.clone(), reason: reason.clone(), used: active.usage });
        self.mark(&reason);
        let completed = reason == EndReason::Completed;
        self.event(Event::RunEnd { run: active.run, reason });
        // A job that ended while the last answer was being written has not been told of.
        let untold = !self.untold.is_empty();
        self.tell_of_jobs();
        if untold && completed {
            self.begin(None);
        }
    }
}
