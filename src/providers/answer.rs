//! A model's answer on its way to model events: parts and calls that open and close in order. Knows nothing of any vendor.

use std::collections::VecDeque;

use crate::protocol::{FinishReason, ModelError, ModelErrorKind, ModelEvent, Usage};
use crate::providers::names::ToolNames;
use crate::providers::sealed::seal;

/// The answer so far.
#[derive(Debug)]
pub(super) struct Answer {
    route: String,
    names: ToolNames,
    ready: VecDeque<ModelEvent>,
    started: bool,
    part: Part,
    calls: Vec<Call>,
    /// Whether the last thing that was said is a call.
    calls_last: bool,
    usage: Usage,
    over: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Part {
    None,
    Text,
    Reasoning,
    /// None is open any more.
    Closed,
}

#[derive(Debug)]
struct Call {
    id: Option<String>,
    open: bool,
    empty: bool,
}

// Stands in the place of arguments that never came, so that the call is answered with an error and not run without them.
const CUT_OFF: &str = "\"[the arguments were cut off]\"";

impl Answer {
    pub(super) fn new(route: &str, names: ToolNames) -> Self {
        Self {
            route: route.to_owned(),
            names,
            ready: VecDeque::new(),
            started: false,
            part: Part::None,
            calls: Vec::new(),
            calls_last: false,
            usage: Usage::default(),
            over: false,
        }
    }

    pub(super) fn next(&mut self) -> Option<ModelEvent> {
        self.ready.pop_front()
    }

    /// Whether the terminal event is written; nothing comes behind it.
    pub(super) fn is_over(&self) -> bool {
        self.over
    }

    /// Whether there is a call.
    pub(super) fn has_calls(&self) -> bool {
        !self.calls.is_empty()
    }

    pub(super) fn start(&mut self) {
        if !std::mem::replace(&mut self.started, true) {
            self.ready.push_back(ModelEvent::Start);
        }
    }

    /// More words for the user.
    pub(super) fn text(&mut self, words: &str) {
        self.open(Part::Text);
        self.calls_last = false;
        self.ready.push_back(ModelEvent::TextDelta(words.to_owned()));
    }

    /// More of what the model thinks with, which its vendor wants back: each part is sealed as it opens.
    pub(super) fn reasoning_to_keep(&mut self, words: &str) {
        let opens = self.part != Part::Reasoning;
        self.reasoning(words);
        if opens {
            self.seal_reasoning("{}");
        }
    }

    /// More of what the model thinks with.
    pub(super) fn reasoning(&mut self, words: &str) {
        self.open(Part::Reasoning);
        self.calls_last = false;
        self.ready.push_back(ModelEvent::ReasoningDelta(words.to_owned()));
    }

    /// The text part that is open was thoughts, and is closed; says nothing where none is.
    pub(super) fn text_was_reasoning(&mut self) {
        if self.part == Part::Text {
            self.ready.push_back(ModelEvent::TextWasReasoning);
            self.close_part();
        }
    }

    /// Keeps fields of the text part that is open, or of one without words.
    pub(super) fn seal_text(&mut self, fields: &str) {
        self.open(Part::Text);
        self.ready.push_back(ModelEvent::TextEncrypted(seal(&self.route, fields)));
    }

    /// Keeps fields of the reasoning part that is open, or of one without words.
    pub(super) fn seal_reasoning(&mut self, fields: &str) {
        self.open(Part::Reasoning);
        self.ready.push_back(ModelEvent::ReasoningEncrypted(seal(&self.route, fields)));
    }

    /// Keeps a whole part that we have no view of: an object with a `type`.
    pub(super) fn other(&mut self, part: &str) {
        self.close_part();
        self.seal_reasoning(part);
        self.close_part();
    }

    /// Closes the open part: what comes next is another.
    pub(super) fn close_part(&mut self) {
        match self.part {
            Part::Text => self.ready.push_back(ModelEvent::TextEnd),
            Part::Reasoning => self.ready.push_back(ModelEvent::ReasoningEnd),
            Part::None | Part::Closed => return,
        }
        self.part = Part::Closed;
    }

    /// Opens a call under the name its vendor knows; its slot.
    pub(super) fn call(&mut self, id: Option<&str>, wire_name: &str) -> usize {
        self.close_part();
        (self.part, self.calls_last) = (Part::Closed, true);
        let slot = self.calls.len();
        // Two calls under one id: the second goes without, and is given one of ours.
        let id = id.filter(|id| self.calls.iter().all(|call| call.id.as_deref() != Some(id))).map(str::to_owned);
        self.calls.push(Call { id: id.clone(), open: true, empty: true });
        let name = self.names.real(wire_name).to_owned();
        self.ready.push_back(ModelEvent::CallStart { slot, id, name });
        slot
    }

    /// More of a call's arguments.
    pub(super) fn arguments(&mut self, slot: usize, text: &str) {
        let Some(call) = self.calls.get_mut(slot).filter(|_| !text.is_empty()) else { return };
        call.empty = false;
        self.ready.push_back(ModelEvent::CallDelta { slot, text: text.to_owned() });
    }

    /// Keeps fields of a call.
    pub(super) fn seal_call(&mut self, slot: usize, fields: &str) {
        self.ready.push_back(ModelEvent::CallEncrypted { slot, value: seal(&self.route, fields) });
    }

    /// Closes a call, if it is open. One without arguments stays open to the end, which tells whether it has none or they
    /// were cut off.
    pub(super) fn close_call(&mut self, slot: usize) {
        if self.calls.get(slot).is_some_and(|call| !call.empty) {
            self.end_call(slot);
        }
    }

    fn end_call(&mut self, slot: usize) {
        if let Some(call) = self.calls.get_mut(slot)
            && std::mem::take(&mut call.open)
        {
            self.ready.push_back(ModelEvent::CallEnd { slot });
        }
    }

    /// Tokens so far, in place of what was said before.
    pub(super) fn usage(&mut self, usage: Usage) {
        if usage != self.usage {
            self.usage = usage;
            self.ready.push_back(ModelEvent::Usage(usage));
        }
    }

    /// The end of a good answer.
    pub(super) fn finish(&mut self, reason: FinishReason) {
        let cut = matches!(reason, FinishReason::Length | FinishReason::Refused(_));
        if cut
            && self.calls_last
            && let Some(slot) = self.calls.len().checked_sub(1)
            && self.calls[slot].empty
        {
            self.arguments(slot, CUT_OFF);
        }
        self.close_part();
        (0..self.calls.len()).for_each(|slot| self.end_call(slot));
        self.ready.push_back(ModelEvent::Finish(reason));
        self.over = true;
    }

    /// The end of a bad one.
    pub(super) fn fail(&mut self, error: ModelError) {
        self.ready.push_back(ModelEvent::Error(error));
        self.over = true;
    }

    /// The other side broke its protocol.
    pub(super) fn broken(&mut self, words: impl Into<String>) {
        self.fail(ModelError::new(ModelErrorKind::Protocol, words));
    }

    /// A sign of life with nothing in it.
    pub(super) fn alive(&mut self) {
        self.ready.push_back(ModelEvent::Alive);
    }

    pub(super) fn note(&mut self, words: impl Into<String>) {
        self.ready.push_back(ModelEvent::Note(words.into()));
    }

    fn open(&mut self, part: Part) {
        if self.part == part {
            return;
        }
        self.close_part();
        self.ready.push_back(if part == Part::Text { ModelEvent::TextStart } else { ModelEvent::ReasoningStart });
        self.part = part;
    }
}
