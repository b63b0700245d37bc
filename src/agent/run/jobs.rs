//! Jobs: calls that were answered at first and go on by themselves. No run is held open for one; what it comes to is told
//! to the model in a new step. Part of the machine; knows nothing of who carries anything out.

use crate::agent::Output;
use crate::agent::calls;
use crate::agent::result;
use crate::agent::run::settle::{keep, lasting};
use crate::agent::run::{Phase, Run};
use crate::protocol::{
    Answer, Delta, Entry, Event, Message, MessageId, Millis, OpenJob, Outcome, Settled, ToolCallId, ToolMessage,
    ToolResult,
};
use crate::tools::error;

/// A job at work.
#[derive(Debug)]
pub(super) struct Watched {
    pub(super) job: OpenJob,
    /// When its call started; `None` where a reload lies between.
    pub(super) since: Option<Millis>,
    /// Whether somebody waits for it; nobody does before its tool is known.
    pub(super) watched: bool,
}

impl Run {
    pub(super) fn start_job(&mut self, job: OpenJob, since: Option<Millis>) {
        self.transcript.start_job(&job.call.id);
        self.jobs.push(Watched { job, since, watched: false });
        self.watch_jobs();
    }

    /// Has somebody wait for each job whose tool is known. After a reload the tools come later than the jobs.
    pub(super) fn watch_jobs(&mut self) {
        let mut jobs = std::mem::take(&mut self.jobs);
        for Watched { job, watched, .. } in jobs.iter_mut().filter(|one| !one.watched) {
            if let Some(definition) = self.registry.find(&job.call.name).cloned() {
                *watched = true;
                let mut request = self.request(definition, job.call.id.clone());
                request.job = Some(job.job.clone());
                self.outputs.push_back(Output::CallTool(request));
            }
        }
        self.jobs = jobs;
    }

    /// Takes the end of a job; `false` where the answer is of no job.
    pub(super) fn end_of_job(&mut self, id: &ToolCallId, answer: &Answer) -> bool {
        // An answer of the call that comes twice is no end of its job.
        if matches!(answer.outcome, Outcome::Interim(_) | Outcome::NeedsApproval { .. }) {
            return false;
        }
        let Some(at) = self.jobs.iter().position(|one| one.job.call.id == *id) else { return false };
        let Watched { job, since, .. } = self.jobs.remove(at);
        let result = self.result_of_job(&job, &answer.outcome);
        self.state.apply(&answer.changes, |_| true);
        let mut kept = Delta::default();
        keep(&mut kept, &answer.changes);
        self.keep_state(kept);
        self.close_job(job, since, result, answer);
        // Nobody is waiting for it: the agent is told at once, in a run of its own. One at work is told in its next step.
        if matches!(self.phase, Phase::Idle) {
            self.tell_of_jobs();
            self.begin(None);
        }
        true
    }

    // Held against its definition, and kept aside where it is too long, like any result.
    fn result_of_job(&mut self, job: &OpenJob, outcome: &Outcome) -> ToolResult {
        let id = &job.call.id;
        let name = self.registry.find(&job.call.name).map_or("", |tool| &tool.name);
        let Outcome::Result(value) = outcome else { return calls::late_result(id.clone(), outcome) };
        if let Err(error) = calls::check_result(&self.registry, name, value) {
            return ToolResult::failed(id.clone(), &error);
        }
        let read = result::read(id, value, self.config.limits.max_result_characters);
        if let Some((name, content)) = read.aside {
            self.outputs.push_back(Output::SaveArtifact { name, content });
            self.state.set(result::ARTIFACTS, true.into());
        }
        read.result
    }

    pub(super) fn cancel_job(&mut self, id: &ToolCallId) {
        let Some(at) = self.jobs.iter().position(|one| one.job.call.id == *id) else { return };
        let Watched { job, since, .. } = self.jobs.remove(at);
        self.outputs.push_back(Output::CancelTool { call: id.clone() });
        let cancelled = Outcome::Error(error::cancelled(&job.call.name, true));
        let result = calls::late_result(id.clone(), &cancelled);
        // The user knows; the agent is told when they speak next.
        self.close_job(job, since, result, &Answer::from(cancelled));
    }

    fn close_job(&mut self, job: OpenJob, since: Option<Millis>, result: ToolResult, answer: &Answer) {
        let OpenJob { call, message, .. } = job;
        let id = MessageId(format!("{}j", call.id));
        let name = call.name.clone();
        let mut changes = lasting(&answer.changes);
        if self.state.get(result::ARTIFACTS).is_some() {
            changes.insert(result::ARTIFACTS.to_owned(), true.into());
        }
        self.save(Entry::JobEnd { result: result.clone(), name: name.clone(), message: id.clone(), changes });
        self.transcript.end_job(&result);
        let tool = self.registry.find(&name);
        let scope = tool.map(|tool| tool.scope);
        let (owner, version) = tool.map(|tool| (tool.owner.clone(), tool.version.clone())).unwrap_or_default();
        let tool = tool.map_or_else(|| name.clone(), |tool| tool.name.clone());
        let alias = (tool != name).then(|| name.clone());
        let outcome = result.error.clone().unwrap_or_else(|| "ok".to_owned());
        let ms = since.map_or(0, |since| self.at.saturating_sub(since));
        self.event(Event::Settled(Settled { tool, owner, version, outcome, ms, alias }));
        let mut view = calls::view(&message, &call, scope, calls::settled_state(&result), self.at);
        self.transcript.arguments_of(&call).clone_into(&mut view.arguments);
        self.event(Event::Call(view));
        self.untold.push(Message::Job { name, message: ToolMessage { id, result } });
    }

    /// Puts the ends of jobs where the next model call reads them.
    pub(super) fn tell_of_jobs(&mut self) {
        for message in std::mem::take(&mut self.untold) {
            self.transcript.push(message);
        }
    }
}
