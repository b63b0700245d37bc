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
    /// Starts the ready calls, or asks, or tells how they were settled.
    pub(super) fn begin_calls(&mut self, active: &Active, calls: &mut [Call]) {
        for at in 0..calls.len() {
            if self.may_run(&mut calls[at]) {
                self.queue_call(active, calls, at);
            } else {
                self.announce(&mut calls[at]);
            }
        }
    }

    /// Judges a ready call.
    pub(super) fn may_run(&self, call: &mut Call) -> bool {
        matches!(call.state, State::Ready) && call.judge(&self.policy, &self.state, &self.transcript)
    }

    // It starts at once where there is room, or else when another one is settled.
    fn queue_call(&mut self, active: &Active, calls: &mut [Call], at: usize) {
        calls[at].state = State::Queued;
        self.start_queued(active, calls);
        if matches!(calls[at].state, State::Queued) {
            self.event(Event::Call(calls[at].view(self.at)));
        }
    }

    // As many as there is room for, in the order they were asked for.
    fn start_queued(&mut self, active: &Active, calls: &mut [Call]) {
        let running = calls.iter().filter(|call| call.deadline().is_some()).count();
        let room = self.config.limits.max_parallel.max(1).saturating_sub(running);
        for call in calls.iter_mut().filter(|call| matches!(call.state, State::Queued)).take(room) {
            self.start_call(active, call);
        }
    }

    fn start_call(&mut self, active: &Active, call: &mut Call) {
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
        let asked = |call: &Call| call.call.id == *id && matches!(call.state, State::Asked { .. });
        if let Some(at) = calls.iter().position(asked)
            && self.decide_call(&active, &mut calls[at], decision)
        {
            self.queue_call(&active, &mut calls, at);
        }
        // A yes that holds for its tool holds for the other calls of it that wait.
        for at in 0..calls.len() {
            if calls[at].is_granted(&self.policy, &self.state, &self.transcript) {
                self.queue_call(&active, &mut calls, at);
            }
        }
        self.settle_or_wait(active, calls);
    }

    /// Takes a decision; `true` where the call may run now.
    fn decide_call(&mut self, active: &Active, call: &mut Call, decision: Decision) -> bool {
        let id = call.call.id.clone();
        let holds = matches!(call.state, State::Asked { once: true, .. });
        match decision {
            Decision::Approve { arguments, payload } => {
                if let Err(error) = call.approve(arguments.clone(), payload, &active.tools) {
                    self.event(Event::DecisionRefused { call: id, reason: error.message });
                    return false;
                }
                if let Some(tool) = call.tool.as_deref().filter(|_| holds) {
                    self.policy.grant(tool);
                }
                if let Some(arguments) = &arguments {
                    self.transcript.change_arguments(&id, arguments.clone());
                }
                self.save(Entry::Decision { call: id, approved: true, arguments, payload: call.payload.clone() });
                true
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
                false
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

    pub(super) fn settle_or_wait(&mut self, active: Active, mut calls: Vec<Call>) {
        self.start_queued(&active, &mut calls);
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
