//! How a run and its steps begin. Part of the machine; knows nothing of who carries anything out.

use std::sync::Arc;

use crate::agent::draft::Draft;
use crate::agent::limits::Spent;
use crate::agent::run::{Active, Phase, Run};
use crate::agent::stream::Stream;
use crate::agent::{ARTIFACTS, Output};
use crate::protocol::{EndReason, Entry, Event, Lifetime, MessageId, ModelRequest, Prompt, RunId, Usage, UserMessage};
use crate::tools::Resolved;

impl Run {
    pub(super) fn begin(&mut self, prompt: Option<Prompt>) {
        if prompt.is_none() && !self.can_retry() {
            return self.note("There is nothing to try again.");
        }
        self.end(EndReason::Superseded);
        self.tell_of_jobs();
        let run = RunId(self.mint.mint());
        let message = prompt.map(|mut prompt| {
            let id = prompt.id.take().unwrap_or_else(|| MessageId(self.mint.mint()));
            UserMessage::of(id, prompt)
        });
        self.transcript.begin(message.clone());
        self.save(Entry::RunStart { run: run.clone(), at: self.at, message: message.clone() });
        self.event(Event::RunStart { run: run.clone(), message });
        let mut active = Active::new(run, Spent::default());
        active.spent.pass(self.at, true);
        self.step(active);
    }

    pub(super) fn step(&mut self, mut active: Active) {
        if let Some(reason) = self.config.limits.used_up(&active.spent, active.usage) {
            return self.close(active, reason);
        }
        if self.listing {
            return self.wait_for_tools(active);
        }
        active.spent.steps += 1;
        (active.tries, active.silences) = (0, 0);
        active.tools = self.resolve();
        self.tell_of_jobs();
        let tools = active.tools.tags().to_vec();
        self.save(Entry::StepStart { run: active.run.clone(), step: active.spent.steps, tools, used: active.usage });
        self.ask(active);
    }

    pub(super) fn resolve(&self) -> Resolved {
        let mut facts = self.facts.clone();
        // Tools of ours that make sense only where there is something for them.
        let artifacts = self.state.get(ARTIFACTS).is_some();
        facts.insert(ARTIFACTS.to_owned(), artifacts.into());
        self.registry.resolve(&self.config.profile, &facts)
    }

    /// Words the step's request, and has it sent.
    pub(super) fn ask(&mut self, mut active: Active) {
        let mut lasting = self.state.clone();
        lasting.drop_lifetimes(|lifetime| lifetime == Lifetime::Temp);
        let mut request = ModelRequest {
            model: self.model.clone(),
            output: self.transcript.wanted_output().map(|(output, _)| Arc::clone(output)),
            instructions: self.config.instructions.clone(),
            messages: self.transcript.for_model(),
            tools: active.tools.offers().to_vec(),
            state: lasting,
            ..ModelRequest::new(self.config.thread.clone(), active.run.clone())
        };
        active.tools.edit(&mut request);
        active.request = Some(request);
        self.send(active);
    }

    /// Makes the step's model call, for the first time or again.
    pub(super) fn call_model(&mut self, active: Active) {
        let Some(request) = active.request.clone() else { return self.ask(active) };
        self.model_calls += 1;
        let call = self.model_calls;
        let message = MessageId(self.mint.mint());
        self.event(Event::StepStart {
            run: active.run.clone(),
            step: active.spent.steps,
            message: message.clone(),
            tools: active.tools.tags().to_vec(),
        });
        self.outputs.push_back(Output::CallModel { call, request });
        let (draft, usage) = (Draft::new(message), Usage::default());
        self.phase = Phase::Streaming(active, Stream { call, draft, usage, heard_at: self.at, probe: !self.online });
    }
}
