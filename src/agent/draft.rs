//! A model's answer while it is being written. Knows nothing of what becomes of it.

use crate::protocol::{AssistantMessage, IdMint, MessageId, MessageStatus, Part, ToolCall, ToolCallId};

/// The answer so far.
#[derive(Debug)]
pub(super) struct Draft {
    pub(super) message: MessageId,
    parts: Vec<Part>,
    /// Whether the last part takes more words.
    open: bool,
    /// Whether a part has been opened that nothing has come for.
    begun: bool,
    slots: Vec<Slot>,
    /// How many parts have been given out as closed; `None` once words stand in the place of all of them.
    given: Option<usize>,
}

/// One call of the answer.
#[derive(Debug)]
pub(super) struct Slot {
    pub(super) number: usize,
    pub(super) call: ToolCall,
    /// What the agent behind the wire says came of it, where it ran it itself.
    pub(super) answered: Option<String>,
    /// Whether its arguments were longer than they may be; they are not kept.
    pub(super) too_long: bool,
    /// Whether it has been given out as run.
    given: bool,
    /// The characters of its arguments.
    length: usize,
    place: usize,
}

impl Slot {
    fn new(number: usize, call: ToolCall, place: usize) -> Self {
        Self { number, call, answered: None, too_long: false, given: false, length: 0, place }
    }

    /// The slot of a call that was asked for before.
    pub(super) fn again(call: ToolCall) -> Self {
        Self::new(0, call, 0)
    }

    /// Adds to the arguments; `false` where they have just become longer than they may be, or had been before.
    pub(super) fn push(&mut self, more: &str, max: usize) -> bool {
        if self.too_long {
            return false;
        }
        self.length += more.chars().count();
        if self.length > max {
            self.give_up(max);
            return false;
        }
        self.call.arguments.push_str(more);
        true
    }

    /// Puts others in the arguments' place.
    pub(super) fn replace(&mut self, arguments: String, max: usize) {
        self.length = arguments.chars().count();
        self.too_long = false;
        self.call.arguments = arguments;
        if self.length > max {
            self.give_up(max);
        }
    }

    // What stands in their place is JSON, because servers want that of a history, and no object, so that it never runs.
    fn give_up(&mut self, max: usize) {
        self.too_long = true;
        self.call.arguments = format!("\"[left out: more than {max} characters]\"");
    }
}

impl Draft {
    pub(super) fn new(message: MessageId) -> Self {
        Self { message, parts: Vec::new(), open: false, begun: false, slots: Vec::new(), given: Some(0) }
    }

    /// Opens a text or reasoning part; what comes next of that kind goes to it.
    pub(super) fn begin(&mut self) {
        (self.open, self.begun) = (false, true);
    }

    /// Closes the open part: more words would be another's.
    pub(super) fn close(&mut self) {
        self.open = false;
    }

    pub(super) fn text(&mut self, more: &str) {
        match self.parts.last_mut() {
            Some(Part::Text { text, .. }) if self.open => text.push_str(more),
            _ => self.push(Part::text(more)),
        }
        self.open = true;
    }

    pub(super) fn reasoning(&mut self, more: &str) {
        match self.parts.last_mut() {
            Some(Part::Reasoning { text, .. }) if self.open => text.push_str(more),
            _ => self.push(Part::reasoning(more)),
        }
        self.open = true;
    }

    /// Makes reasoning of the text that came last; `false` where something else did.
    pub(super) fn text_was_reasoning(&mut self) -> bool {
        let Some(part) = self.parts.last_mut() else { return false };
        let Part::Text { text, encrypted_value } = part else { return false };
        *part = Part::Reasoning { text: std::mem::take(text), encrypted_value: encrypted_value.take() };
        self.open = false;
        true
    }

    pub(super) fn encrypted_text(&mut self, value: String) {
        match self.parts.last_mut() {
            Some(Part::Text { encrypted_value, .. }) if !self.begun => *encrypted_value = Some(value),
            _ => self.push(Part::Text { text: String::new(), encrypted_value: Some(value) }),
        }
    }

    pub(super) fn encrypted_reasoning(&mut self, value: String) {
        match self.parts.last_mut() {
            Some(Part::Reasoning { encrypted_value, .. }) if !self.begun => *encrypted_value = Some(value),
            _ => self.push(Part::Reasoning { text: String::new(), encrypted_value: Some(value) }),
        }
    }

    fn push(&mut self, part: Part) {
        self.parts.push(part);
        (self.open, self.begun) = (true, false);
    }

    /// Opens a call; `None` where the model's id says it is one this answer already has.
    pub(super) fn call(&mut self, number: usize, id: Option<String>, name: String, mint: &mut IdMint) -> Option<&Slot> {
        let wire_id = id.filter(|id| !id.is_empty());
        if wire_id.is_some() && self.slots.iter().any(|slot| slot.call.wire_id == wire_id) {
            return None;
        }
        (self.open, self.begun) = (false, false);
        let call =
            ToolCall { id: ToolCallId(mint.mint()), wire_id, name, arguments: String::new(), encrypted_value: None };
        let place = self.parts.len();
        // A placeholder that keeps the call's place among the parts; `finish` puts the call itself there.
        self.parts.push(Part::Call(call.clone()));
        self.slots.push(Slot::new(number, call, place));
        self.slots.last()
    }

    /// The next part that is worth keeping before the answer's end, once: words that another part has closed, or a call
    /// that the agent behind the wire has run, which must not be asked for again after a reload.
    pub(super) fn next_kept(&mut self) -> Option<Part> {
        self.next_closed().or_else(|| {
            let slot = self.slots.iter_mut().find(|slot| slot.answered.is_some() && !slot.given)?;
            slot.given = true;
            Some(Part::Call(slot.call.clone()))
        })
    }

    fn next_closed(&mut self) -> Option<Part> {
        let given = self.given.as_mut()?;
        while *given + 1 < self.parts.len() {
            let part = &self.parts[*given];
            *given += 1;
            // A call is whole at the answer's end.
            if !matches!(part, Part::Call(_)) {
                return Some(part.clone());
            }
        }
        None
    }

    /// What is left to keep of an answer that nobody here hears to its end: the words of the part that is open, too.
    pub(super) fn rest(&mut self) -> Vec<Part> {
        let mut rest: Vec<Part> = std::iter::from_fn(|| self.next_kept()).collect();
        if let (Some(given), Some(part)) = (&mut self.given, self.parts.last())
            && *given < self.parts.len()
            && !matches!(part, Part::Call(_))
        {
            *given = self.parts.len();
            rest.push(part.clone());
        }
        rest
    }

    /// The call of a slot; `None` for one that was never opened, or was a duplicate.
    pub(super) fn slot(&mut self, number: usize) -> Option<&mut Slot> {
        self.slots.iter_mut().find(|slot| slot.number == number)
    }

    pub(super) fn slots(&self) -> &[Slot] {
        &self.slots
    }

    /// Whether the agent behind the wire has run something for this answer.
    pub(super) fn agent_ran(&self) -> bool {
        self.slots.iter().any(|slot| slot.answered.is_some())
    }

    /// The answer as it is now.
    pub(super) fn so_far(&self) -> AssistantMessage {
        let mut parts = self.parts.clone();
        for slot in &self.slots {
            parts[slot.place] = Part::Call(slot.call.clone());
        }
        AssistantMessage { id: self.message.clone(), parts, status: MessageStatus::Complete }
    }

    /// Puts words in the place of everything; the calls that are let go come back.
    pub(super) fn replace(&mut self, text: String) -> Vec<ToolCall> {
        let dropped = self.slots.drain(..).map(|slot| slot.call).collect();
        self.parts = vec![Part::text(text)];
        self.given = None;
        (self.open, self.begun) = (false, false);
        dropped
    }

    /// The finished answer. One that broke off keeps its words and loses the calls nobody answered:
    /// a call that may be half written must neither run nor be sent back.
    pub(super) fn finish(mut self, status: MessageStatus) -> (AssistantMessage, Vec<Slot>) {
        for slot in &self.slots {
            self.parts[slot.place] = Part::Call(slot.call.clone());
        }
        if status != MessageStatus::Complete {
            self.slots.retain(|slot| slot.answered.is_some());
        }
        let kept = |call: &ToolCall| self.slots.iter().any(|slot| slot.call.id == call.id);
        self.parts.retain(|part| match part {
            Part::Call(call) => kept(call),
            Part::Text { text, encrypted_value } | Part::Reasoning { text, encrypted_value } => {
                !text.is_empty() || encrypted_value.is_some()
            }
        });
        (AssistantMessage { id: self.message, parts: self.parts, status }, self.slots)
    }
}
