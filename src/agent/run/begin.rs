//! How a run and its steps begin. Part of the machine; knows nothing of who carries anything out.

use std::sync::Arc;

use crate::agent::Output;
use crate::agent::draft::Draft;
use crate::agent::limits::Spent;
use crate::agent::run::{Active, Phase, Run};
use crate::agent::stream::Stream;
use crate::protocol::{EndReason, Entry, Event, Message, MessageId, ModelRequest, RunId, Usage};

impl Run {
    pub(super) fn begin(&mut self, text: Option<String>) {
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

    pub(super) fn step(&mut self, mut active: Active) {
        let limits = self.config.limits;
        if active.spent.steps >= limits.max_steps {
            return self.close(active, EndReason::MaxSteps { limit: limits.max_steps });
        }
        active.spent.steps += 1;
        active.asked_again = false;
        self.save(Entry::StepStart { run: active.run.clone(), step: active.spent.steps });
        self.ask(active);
    }

    pub(super) fn ask(&mut self, mut active: Active) {
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
}
