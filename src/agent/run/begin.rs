//! How a run and its steps begin. Part of the machine; knows nothing of who carries anything out.

use crate::agent::draft::Draft;
use crate::agent::limits::Spent;
use crate::agent::run::{Active, Phase, Run};
use crate::agent::stream::Stream;
use crate::agent::{ARTIFACTS, Output};
use crate::protocol::{EndReason, Entry, Event, Lifetime, Message, MessageId, ModelRequest, Names, RunId, Usage};
use crate::tools::Resolved;

impl Run {
    pub(super) fn begin(&mut self, text: Option<String>) {
        if text.is_none() && !self.can_retry() {
            return self.note("There is nothing to try again.");
        }
        self.end(EndReason::Superseded);
        self.tell_of_jobs();
        let run = RunId(self.mint.mint());
        let message = text.map(|text| (MessageId(self.mint.mint()), text));
        match &message {
            Some((id, text)) => self.transcript.push(Message::User { id: id.clone(), content: text.clone() }),
            None => self.transcript.supersede_tail(),
        }
        self.save(Entry::RunStart { run: run.clone(), at: self.at, message: message.clone() });
        self.event(Event::RunStart { run: run.clone(), message });
        let mut active = Active {
            run,
            spent: Spent::default(),
            usage: Usage::default(),
            tools: Resolved::default(),
            asked_again: false,
        };
        active.spent.pass(self.at, true);
        self.step(active);
    }

    pub(super) fn step(&mut self, mut active: Active) {
        let limits = self.config.limits;
        if active.spent.steps >= limits.max_steps {
            return self.close(active, EndReason::MaxSteps { limit: limits.max_steps });
        }
        active.spent.steps += 1;
        active.asked_again = false;
        active.tools = self.resolve();
        self.tell_of_jobs();
        let tools = active.tools.tags().to_vec();
        self.save(Entry::StepStart { run: active.run.clone(), step: active.spent.steps, tools });
        self.ask(active);
    }

    pub(super) fn resolve(&self) -> Resolved {
        let mut facts = self.facts.clone();
        // Tools of ours that make sense only where there is something for them.
        let artifacts = self.state.get(ARTIFACTS).is_some();
        facts.insert(ARTIFACTS.to_owned(), artifacts.into());
        self.registry.resolve(&self.config.profile, &facts)
    }

    pub(super) fn ask(&mut self, active: Active) {
        self.model_calls += 1;
        let call = self.model_calls;
        let message = MessageId(self.mint.mint());
        self.event(Event::StepStart {
            run: active.run.clone(),
            step: active.spent.steps,
            message: message.clone(),
            tools: active.tools.tags().to_vec(),
        });
        let mut lasting = self.state.clone();
        lasting.drop_lifetimes(|lifetime| lifetime == Lifetime::Temp);
        let mut request = ModelRequest {
            thread: self.config.thread.clone(),
            run: active.run.clone(),
            instructions: self.config.instructions.clone(),
            messages: self.transcript.for_model(),
            tools: active.tools.offers().to_vec(),
            context: Vec::new(),
            state: lasting,
            options: Names::default(),
        };
        active.tools.edit(&mut request);
        self.outputs.push_back(Output::CallModel { call, request });
        let stream = Stream { call, draft: Draft::new(message), usage: Usage::default(), heard_at: self.at };
        self.phase = Phase::Streaming(active, stream);
    }
}
