//! What the model says becomes an answer of the thread, whole or broken. Part of the machine; knows nothing of who carries anything out.

use crate::agent::calls::{self, Call};
use crate::agent::draft::Draft;
use crate::agent::limits::Spent;
use crate::agent::run::{Active, Phase, Run};
use crate::agent::stream::{Around, Stream};
use crate::agent::{Output, Transcript};
use crate::protocol::{
    CallState, EndReason, Entry, Event, FinishReason, Message, MessageStatus, ModelError, ModelEvent, Part, ToolCall,
};
use crate::tools::Resolved;

impl Run {
    pub(super) fn model(&mut self, call: u64, event: ModelEvent) {
        match event {
            ModelEvent::Finish(reason) => self.finish_stream(call, &reason),
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
        active.probes = 0;
        // Whatever the browser says: there is a network.
        self.online |= std::mem::take(&mut stream.probe);
        let around = Around {
            tools: &active.tools,
            before: active.usage,
            at: self.at,
            max_arguments: self.config.limits.max_arguments,
        };
        let told = stream.collect(event, &mut self.mint, &around);
        let kept: Vec<Entry> = std::iter::from_fn(|| stream.kept()).collect();
        self.outputs.extend(told.into_iter().map(Output::Event));
        kept.into_iter().for_each(|line| self.save(line));
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

    fn finish_stream(&mut self, call: u64, reason: &FinishReason) {
        let Some((mut active, stream)) = self.take_stream(call) else { return };
        if let FinishReason::Refused(why) = reason {
            // A filter that comes in between says nothing of what the call would have been: none is run.
            self.keep_broken(&active.tools, stream.draft, MessageStatus::Truncated);
            return self.close(active, EndReason::Refused { why: why.clone() });
        }
        let id = stream.draft.message.clone();
        let (answer, slots) = stream.draft.finish(MessageStatus::Complete);
        if answer.parts.is_empty() {
            self.event(Event::MessageEnd { message: id, status: MessageStatus::Complete });
            return self.close(active, EndReason::Empty);
        }
        let says_nothing = answer.parts.iter().all(|part| matches!(part, Part::Reasoning { .. }));
        // Judged against the thread as it was before this answer, so that a call is not its own duplicate.
        let limits = self.config.limits;
        let (mut calls, over) = calls::open(&id, slots, &active.tools, &self.transcript, &mut active.spent, &limits);
        self.save(Entry::Message(answer.clone()));
        self.transcript.push(Message::Assistant(answer));
        self.event(Event::MessageEnd { message: id.clone(), status: MessageStatus::Complete });
        self.begin_calls(&active, &mut calls);
        if let Some(reason) = over {
            self.append(calls);
            return self.close(active, reason);
        }
        // The loop goes on while there are calls for us, whatever word the model stopped with.
        if calls.iter().all(Call::agent_ran) {
            self.append(calls);
            return match reason {
                FinishReason::Paused => self.step(active),
                FinishReason::Length => self.close(active, EndReason::Length),
                // Thoughts alone are no answer.
                _ if says_nothing => self.close(active, EndReason::Empty),
                FinishReason::Done | FinishReason::Calls | FinishReason::Other(_) | FinishReason::Refused(_) => {
                    self.answered(active, &id);
                }
            };
        }
        self.settle_or_wait(active, calls);
    }

    pub(super) fn rest(&mut self) {
        let Phase::Streaming(_, stream) = &mut self.phase else { return };
        let message = stream.draft.message.clone();
        for part in stream.draft.rest() {
            self.save(Entry::Part { message: message.clone(), part });
        }
    }

    fn fail_stream(&mut self, call: u64, error: ModelError) {
        if let Some((active, stream)) = self.take_stream(call) {
            self.broke_off(active, stream, Some(error));
        }
    }

    pub(super) fn model_closed(&mut self, call: u64) {
        if let Some((active, stream)) = self.take_stream(call) {
            self.broke_off(active, stream, None);
        }
    }

    /// Keeps the words of an answer that did not end well, and lets go of its calls.
    pub(super) fn keep_broken(&mut self, tools: &Resolved, draft: Draft, status: MessageStatus) {
        let message = draft.message.clone();
        let open: Vec<ToolCall> =
            draft.slots().iter().filter(|slot| slot.answered.is_none()).map(|slot| slot.call.clone()).collect();
        let (answer, slots) = draft.finish(status);
        for call in open {
            let scope = tools.scope_of(&call.name);
            self.event(Event::Call(calls::view(&message, &call, scope, CallState::Cancelled, self.at)));
        }
        self.event(Event::MessageEnd { message: message.clone(), status });
        if answer.parts.is_empty() {
            return;
        }
        self.save(Entry::Message(answer.clone()));
        self.transcript.push(Message::Assistant(answer));
        let mut spent = Spent::default();
        let (mut calls, _) =
            calls::open(&message, slots, tools, &Transcript::default(), &mut spent, &self.config.limits);
        for call in &mut calls {
            self.announce(call);
        }
        self.append(calls);
    }
}
