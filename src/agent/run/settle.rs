//! The calls of a step: started, asked about, settled. Part of the machine; knows nothing of who carries anything out.

use crate::agent::calls::{self, Call, State};
use crate::agent::run::{Active, Phase, Run};
use crate::agent::transcript::result_message_id;
use crate::agent::{Decision, Output};
use crate::protocol::{Entry, Event, Message, Outcome, ToolCallId, ToolMessage};
use crate::tools::{Registry, error};

impl Run {
    /// Starts a ready call, or asks, or tells how it was settled.
    pub(super) fn begin_call(&mut self, call: &mut Call) {
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
    pub(super) fn announce(&mut self, call: &Call) {
        if let State::Settled(result) = &call.state {
            let message = result_message_id(&call.call.id);
            self.save(Entry::Result { result: result.clone(), message });
        }
        self.event(Event::Call(call.view(self.at)));
    }

    pub(super) fn tool_outcome(&mut self, id: &ToolCallId, outcome: Outcome) {
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

    pub(super) fn decide(&mut self, id: &ToolCallId, decision: Decision) {
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
                if let Some(arguments) = &arguments {
                    self.transcript.change_arguments(&id, arguments.clone());
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

    pub(super) fn take_calls(&mut self) -> Option<(Active, Vec<Call>)> {
        match std::mem::replace(&mut self.phase, Phase::Idle) {
            Phase::Settling(active, calls) => Some((active, calls)),
            other => {
                self.phase = other;
                None
            }
        }
    }

    pub(super) fn settle_or_wait(&mut self, active: Active, calls: Vec<Call>) {
        if !calls.iter().all(Call::is_settled) {
            self.phase = Phase::Settling(active, calls);
            return;
        }
        self.append(calls);
        self.step(active);
    }

    /// Puts the results of settled calls behind their answer, in call order.
    pub(super) fn append(&mut self, calls: Vec<Call>) {
        for call in calls {
            if let State::Settled(result) = call.state {
                let id = result_message_id(&call.call.id);
                self.transcript.push(Message::Tool(ToolMessage { id, result }));
            }
        }
    }
}
