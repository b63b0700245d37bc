//! The calls of a step: started, asked about, settled. Part of the machine; knows nothing of who carries anything out.

use std::sync::Arc;

use crate::agent::calls::{self, Call, State};
use crate::agent::run::{Active, Phase, Run};
use crate::agent::transcript::result_message_id;
use crate::agent::{Decision, Output, ToolRequest};
use crate::protocol::{
    Answer, Delta, Entry, Event, Lifetime, Message, OpenJob, Outcome, ToolCallId, ToolError, ToolMessage,
};
use crate::tools::{Definition, error};

impl Run {
    /// Starts a ready call, or asks, or tells how it was settled.
    pub(super) fn begin_call(&mut self, active: &Active, call: &mut Call) {
        if matches!(call.state, State::Ready) && call.judge(&self.policy, &self.state, &self.transcript) {
            self.start_call(active, call);
        } else {
            self.announce(call);
        }
    }

    pub(super) fn start_call(&mut self, active: &Active, call: &mut Call) {
        let Some(tool) = call.tool.clone() else { return };
        call.start(self.at, &self.config.limits);
        self.save(Entry::CallStart { call: call.call.id.clone(), at: self.at, scope: tool.scope });
        let mut request = self.request(tool, call.call.id.clone());
        request.arguments.clone_from(&call.arguments);
        request.approved = call.approved;
        request.resumed = call.resumed;
        request.payload.clone_from(&call.payload);
        request.run.clone_from(&active.run);
        request.step = active.spent.steps;
        self.outputs.push_back(Output::CallTool(request));
        self.event(Event::Call(call.view(self.at)));
    }

    /// What every request for a tool holds; the call's own parts are still to be filled in.
    pub(super) fn request(&self, definition: Arc<Definition>, call: ToolCallId) -> ToolRequest {
        ToolRequest {
            call,
            name: definition.name.clone(),
            scope: definition.scope,
            definition,
            arguments: serde_json::Value::Null,
            approved: false,
            payload: serde_json::Value::Null,
            job: None,
            resumed: false,
            thread: self.config.thread.clone(),
            run: crate::protocol::RunId(String::new()),
            step: 0,
            agent: self.config.agent.clone(),
            state: Arc::new(self.state.clone()),
        }
    }

    /// Tells of a call's state; of a result also the journal.
    pub(super) fn announce(&mut self, call: &mut Call) {
        if let State::Settled(result) = &call.state {
            let (result, message) = (result.clone(), result_message_id(&call.call.id));
            let job = call.job.as_ref().map(|job| job.id.clone());
            if let Some((name, content)) = call.aside.take() {
                self.outputs.push_back(Output::SaveArtifact { name, content });
            }
            let by = call.by.clone();
            self.save(Entry::Result { result, message, changes: lasting(&call.changes), job, by });
            // A call that goes on by itself is counted at its end.
            if let Some(settled) = call.settled(self.at).filter(|_| call.job.is_none()) {
                self.event(Event::Settled(settled));
            }
        }
        self.event(Event::Call(call.view(self.at)));
    }

    pub(super) fn tool_outcome(&mut self, id: &ToolCallId, answer: Answer) {
        if self.end_of_job(id, &answer) {
            return;
        }
        let Some((active, mut calls)) = self.take_calls() else { return self.late(id, &answer.outcome) };
        match calls.iter_mut().find(|call| call.call.id == *id && call.deadline().is_some()) {
            Some(call) => {
                if let Outcome::Error(ToolError { operator: Some(words), .. }) = &answer.outcome {
                    self.note(format!("{}: {words}", call.call.name));
                }
                call.finish(answer, &active.tools, &self.config.limits);
                self.announce(call);
            }
            None => self.late(id, &answer.outcome),
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
            self.decide_call(&active, call, decision);
        }
        // A yes that holds for its tool holds for the other calls of it that wait.
        for call in &mut calls {
            if call.is_granted(&self.policy, &self.state, &self.transcript) {
                self.start_call(&active, call);
            }
        }
        self.settle_or_wait(active, calls);
    }

    fn decide_call(&mut self, active: &Active, call: &mut Call, decision: Decision) {
        let id = call.call.id.clone();
        let holds = matches!(call.state, State::Asked { once: true, .. });
        match decision {
            Decision::Approve { arguments, payload } => {
                if let Err(error) = call.approve(arguments.clone(), payload, &active.tools) {
                    return self.event(Event::DecisionRefused { call: id, reason: error.message });
                }
                if let Some(tool) = call.tool.as_deref().filter(|_| holds) {
                    self.policy.grant(tool);
                }
                if let Some(arguments) = &arguments {
                    self.transcript.change_arguments(&id, arguments.clone());
                }
                self.save(Entry::Decision { call: id, approved: true, arguments, payload: call.payload.clone() });
                self.start_call(active, call);
            }
            Decision::Deny { reason } => {
                self.save(Entry::Decision {
                    call: id,
                    approved: false,
                    arguments: None,
                    payload: serde_json::Value::Null,
                });
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

    /// Puts the results of settled calls behind their answer, in call order, and takes over what they changed.
    pub(super) fn append(&mut self, calls: Vec<Call>) {
        let mut kept = Delta::default();
        for mut call in calls {
            if let State::Settled(result) = call.state {
                self.state.apply(&call.changes, |_| true);
                keep(&mut kept, &call.changes);
                if let Some(job) = call.job.take() {
                    self.start_job(
                        OpenJob { call: call.call.clone(), message: call.message.clone(), job: job.id },
                        call.started,
                    );
                }
                let id = result_message_id(&call.call.id);
                self.transcript.push(Message::Tool(ToolMessage { id, result }));
            }
        }
        self.keep_state(kept);
    }

    /// Has what outlives the thread kept.
    pub(super) fn keep_state(&mut self, changes: Delta) {
        if !changes.is_empty() {
            self.outputs.push_back(Output::KeepState(changes));
        }
    }
}

/// Takes over those changes that outlive the thread.
pub(super) fn keep(kept: &mut Delta, changes: &Delta) {
    for (key, value) in changes.iter() {
        if matches!(Lifetime::of(key), Lifetime::App | Lifetime::User) {
            kept.insert(key.to_owned(), value.clone());
        }
    }
}

/// Changes without those that end with the run, which are never written down.
pub(super) fn lasting(changes: &Delta) -> Delta {
    let mut lasting = changes.clone();
    lasting.retain(|key| Lifetime::of(key) != Lifetime::Temp);
    lasting
}
