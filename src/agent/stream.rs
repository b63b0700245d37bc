//! A model call at work: its events become a draft, and what those who watch hear. Decides nothing.

use crate::agent::calls;
use crate::agent::draft::Draft;
use crate::protocol::{CallState, Entry, Event, IdMint, Millis, ModelEvent, ToolCall, Usage};
use crate::tools::Resolved;

/// The model call at work.
#[derive(Debug)]
pub(super) struct Stream {
    pub(super) call: u64,
    pub(super) draft: Draft,
    pub(super) usage: Usage,
    pub(super) heard_at: Millis,
    /// Whether it is to find out if there is a network, and has not yet.
    pub(super) probe: bool,
}

/// What a stream is held against.
pub(super) struct Around<'a> {
    pub(super) tools: &'a Resolved,
    /// What the run had used before this step.
    pub(super) before: Usage,
    pub(super) at: Millis,
    /// Characters a call's arguments may have.
    pub(super) max_arguments: usize,
}

impl Stream {
    /// Adds an event to the draft and says what those who watch should hear.
    pub(super) fn collect(&mut self, event: ModelEvent, mint: &mut IdMint, around: &Around<'_>) -> Vec<Event> {
        let Around { tools, before, at, max_arguments } = *around;
        let message = self.draft.message.clone();
        match event {
            ModelEvent::TextStart | ModelEvent::ReasoningStart => self.draft.begin(),
            ModelEvent::TextEnd | ModelEvent::ReasoningEnd => self.draft.close(),
            ModelEvent::TextEncrypted(value) => self.draft.encrypted_text(value),
            ModelEvent::ReasoningEncrypted(value) => self.draft.encrypted_reasoning(value),
            ModelEvent::TextDelta(text) => {
                self.draft.text(&text);
                return vec![Event::TextDelta { message, text }];
            }
            ModelEvent::TextWasReasoning => {
                let was = self.draft.text_was_reasoning();
                return was.then_some(Event::TextWasReasoning { message }).into_iter().collect();
            }
            ModelEvent::ReasoningDelta(text) => {
                self.draft.reasoning(&text);
                return vec![Event::ReasoningDelta { message, text }];
            }
            ModelEvent::CallStart { slot, id, name } => {
                return match self.draft.call(slot, id, name.clone(), mint).map(|slot| slot.call.clone()) {
                    Some(call) => vec![self.view(&call, tools, CallState::InputStreaming, at)],
                    None => vec![Event::Note(format!("The model sent the call of \"{name}\" twice under one id."))],
                };
            }
            ModelEvent::CallDelta { slot, text } => {
                let Some(slot) = self.draft.slot(slot) else { return Vec::new() };
                let known = slot.too_long;
                if slot.push(&text, max_arguments) {
                    return vec![Event::ArgumentsDelta { call: slot.call.id.clone(), text }];
                }
                if !known {
                    let call = slot.call.clone();
                    return vec![self.view(&call, tools, CallState::InputStreaming, at)];
                }
            }
            ModelEvent::CallEnd { slot } => {
                if let Some(call) = self.draft.slot(slot).map(|slot| slot.call.clone()) {
                    return vec![self.view(&call, tools, CallState::InputAvailable, at)];
                }
            }
            ModelEvent::CallArguments { slot, text } => {
                if let Some(slot) = self.draft.slot(slot) {
                    slot.replace(text, max_arguments);
                    let call = slot.call.clone();
                    return vec![self.view(&call, tools, CallState::InputAvailable, at)];
                }
            }
            ModelEvent::CallEncrypted { slot, value } => {
                if let Some(slot) = self.draft.slot(slot) {
                    slot.call.encrypted_value = Some(value);
                }
            }
            ModelEvent::CallResult { slot, content } => {
                if let Some(slot) = self.draft.slot(slot) {
                    slot.answered = Some(content);
                }
            }
            ModelEvent::Usage(usage) => {
                self.usage = usage;
                let mut run = before;
                run += usage;
                return vec![Event::Usage { step: usage, run }];
            }
            ModelEvent::Replace(text) => {
                let dropped = self.draft.replace(text.clone());
                let cancelled = dropped.iter().map(|call| self.view(call, tools, CallState::Cancelled, at));
                return cancelled.chain([Event::Replaced { message, text }]).collect();
            }
            ModelEvent::Note(words) => return vec![Event::Note(words)],
            ModelEvent::Start | ModelEvent::Alive | ModelEvent::Finish(_) | ModelEvent::Error(_) => {}
        }
        Vec::new()
    }

    /// The journal's next line of what is certain of the answer so far.
    pub(super) fn kept(&mut self) -> Option<Entry> {
        let part = self.draft.next_kept()?;
        Some(Entry::Part { message: self.draft.message.clone(), part })
    }

    fn view(&self, call: &ToolCall, tools: &Resolved, state: CallState, at: Millis) -> Event {
        let scope = tools.scope_of(&call.name);
        Event::Call(calls::view(&self.draft.message, call, scope, state, at))
    }
}
