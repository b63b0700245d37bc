//! Which call a delta belongs to, and its arguments so far. Knows nothing of the rest of a chunk.

use serde_json::{Map, Value};

use crate::providers::answer::Answer;
use crate::providers::json::{Json, field, text};

/// The calls of one answer.
#[derive(Debug, Default)]
pub(super) struct Slots {
    slots: Vec<Slot>,
}

#[derive(Debug, Default)]
struct Slot {
    index: Option<u64>,
    id: Option<String>,
    name: String,
    arguments: String,
    /// Its slot in the answer, once it is announced.
    slot: Option<usize>,
    /// Fields that we have no view of, and whether they are said.
    extra: Map<String, Value>,
    sealed: bool,
}

impl Slots {
    /// Takes one entry of `tool_calls` and says what is new.
    pub(super) fn take(&mut self, entry: &Json<'_>, answer: &mut Answer) {
        let function = field(entry, "function").unwrap_or(&Json::Null);
        let (id, name) = (text(entry, "id"), text(function, "name"));
        let index = field(entry, "index").and_then(Json::as_u64);
        let at = match self.find(index, id, name).filter(|at| !self.slots[*at].is_followed_by(entry)) {
            Some(at) => at,
            None if name.is_none() && id.is_none() => return,
            None => {
                self.slots.push(Slot { index, ..Slot::default() });
                self.slots.len() - 1
            }
        };
        // Two calls under one id: the second goes without, and is given one of ours.
        let is_taken = id.is_some() && self.slots.iter().any(|slot| slot.id.as_deref() == id);
        let slot = &mut self.slots[at];
        // Set once: equal repeats, nulls and empty strings change nothing.
        if slot.id.is_none() && !is_taken {
            slot.id = id.map(str::to_owned);
        }
        if slot.name.is_empty() {
            name.unwrap_or_default().clone_into(&mut slot.name);
        }
        match field(function, "arguments") {
            Some(Json::Str(text)) => slot.append(text, answer),
            Some(value) => slot.append(&value.to_string(), answer),
            None => slot.append("", answer),
        }
        slot.seal(entry, answer);
    }

    /// Whether the arguments of all of them are there.
    pub(super) fn are_whole(&self) -> bool {
        self.slots.iter().all(Slot::is_whole)
    }

    fn find(&self, index: Option<u64>, id: Option<&str>, name: Option<&str>) -> Option<usize> {
        let is_another = |slot: &Slot| name.is_some() && index.is_some() && slot.index.is_some() && slot.index != index;
        if id.is_some()
            && let Some(at) = self.slots.iter().rposition(|slot| slot.id.as_deref() == id && !is_another(slot))
        {
            return Some(at);
        }
        let Some(index) = index else {
            // Without an index a name opens a call, and anything else goes on with the last one.
            return if name.is_some() { None } else { self.slots.len().checked_sub(1) };
        };
        let at = self.slots.iter().rposition(|slot| slot.index == Some(index))?;
        let slot = &self.slots[at];
        let other_id = id.is_some() && slot.id.is_some() && slot.id.as_deref() != id;
        let other_name = name.is_some_and(|name| !slot.name.is_empty() && slot.name != name);
        // A reused index: another call, unless it only renews the id of a fragment (then there is no name).
        let another = (other_id && name.is_some()) || (other_name && slot.is_whole());
        (!another).then_some(at)
    }
}

// What an entry says that we have a view of; `extra_content` and whatever else comes is kept as it is.
const KNOWN: &[&str] = &["index", "id", "type", "function"];

impl Slot {
    fn append(&mut self, more: &str, answer: &mut Answer) {
        // A server that repeats the whole call with its last chunk.
        let repeated = !more.is_empty() && more.trim() == self.arguments.trim() && self.is_whole();
        if !self.name.is_empty() && self.slot.is_none() {
            // As soon as there is a name; fragments that came before it follow at once.
            let slot = answer.call(self.id.as_deref(), &self.name);
            answer.arguments(slot, &self.arguments);
            self.slot = Some(slot);
        }
        if repeated || more.is_empty() {
            return;
        }
        self.arguments.push_str(more);
        if let Some(slot) = self.slot {
            answer.arguments(slot, more);
        }
    }

    // Said again with each field that comes later: what is sealed last counts.
    fn seal(&mut self, entry: &Json<'_>, answer: &mut Answer) {
        if let Value::Object(mut more) = Value::from(entry) {
            more.retain(|name, value| !KNOWN.contains(&name.as_str()) && !value.is_null());
            self.sealed &= more.is_empty();
            self.extra.append(&mut more);
        }
        if let (Some(slot), false, false) = (self.slot, self.sealed, self.extra.is_empty()) {
            self.sealed = true;
            answer.seal_call(slot, &Value::Object(self.extra.clone()).to_string());
        }
    }

    // A whole call behind a whole one, without an id and under the same index: another call of the same tool.
    fn is_followed_by(&self, entry: &Json<'_>) -> bool {
        let function = field(entry, "function").unwrap_or(&Json::Null);
        let Some(more) = text(function, "arguments").filter(|_| text(function, "name") == Some(&self.name)) else {
            return false;
        };
        let whole = || matches!(serde_json::from_str(more), Ok(Value::Object(_)));
        text(entry, "id").is_none() && more.trim() != self.arguments.trim() && self.is_whole() && whole()
    }

    // The last letter tells most fragments apart, so that a long text is not parsed at every one.
    fn is_whole(&self) -> bool {
        self.arguments.trim_end().ends_with('}')
            && serde_json::from_str::<serde::de::IgnoredAny>(&self.arguments).is_ok()
    }
}
