//! Which call a delta belongs to, and its arguments so far. Knows nothing of the rest of a chunk.

use serde_json::Value;

use crate::protocol::ModelEvent;

/// The calls of one answer.
#[derive(Debug, Default)]
pub(super) struct Slots {
    slots: Vec<Slot>,
}

#[derive(Debug)]
struct Slot {
    index: Option<u64>,
    id: Option<String>,
    name: String,
    arguments: String,
    announced: bool,
}

impl Slots {
    /// Takes one entry of `tool_calls` and says what is new.
    pub(super) fn take(&mut self, entry: &Value, out: &mut impl FnMut(ModelEvent)) {
        let function = entry.get("function").unwrap_or(&Value::Null);
        let id = text(entry, "id");
        let name = text(function, "name");
        let index = entry.get("index").and_then(Value::as_u64);
        let at = match self.find(index, id, name) {
            Some(at) => at,
            None if name.is_none() && id.is_none() => return,
            None => {
                self.slots.push(Slot {
                    index,
                    id: None,
                    name: String::new(),
                    arguments: String::new(),
                    announced: false,
                });
                self.slots.len() - 1
            }
        };
        let slot = &mut self.slots[at];
        // Set once: equal repeats, nulls and empty strings change nothing.
        if slot.id.is_none() {
            slot.id = id.map(str::to_owned);
        }
        if slot.name.is_empty() {
            name.unwrap_or_default().clone_into(&mut slot.name);
        }
        let more = match function.get("arguments") {
            Some(Value::String(text)) => text.clone(),
            None | Some(Value::Null) => String::new(),
            Some(value) => value.to_string(),
        };
        slot.append(at, more, out);
    }

    /// Closes every call.
    pub(super) fn close(&mut self, out: &mut impl FnMut(ModelEvent)) {
        for (at, slot) in self.slots.iter_mut().enumerate() {
            slot.announce(at, out);
            out(ModelEvent::CallEnd { slot: at });
        }
    }

    fn find(&self, index: Option<u64>, id: Option<&str>, name: Option<&str>) -> Option<usize> {
        if id.is_some()
            && let Some(at) = self.slots.iter().rposition(|slot| slot.id.as_deref() == id)
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

impl Slot {
    fn append(&mut self, at: usize, more: String, out: &mut impl FnMut(ModelEvent)) {
        // A server that repeats the whole call with its last chunk.
        let repeated = !more.is_empty() && more.trim() == self.arguments.trim() && self.is_whole();
        if !self.name.is_empty() {
            self.announce(at, out);
        }
        if repeated || more.is_empty() {
            return;
        }
        self.arguments.push_str(&more);
        if self.announced {
            out(ModelEvent::CallDelta { slot: at, text: more });
        }
    }

    // Once, as soon as there is a name; fragments that came before it follow at once.
    fn announce(&mut self, at: usize, out: &mut impl FnMut(ModelEvent)) {
        if std::mem::replace(&mut self.announced, true) {
            return;
        }
        out(ModelEvent::CallStart { slot: at, id: self.id.clone(), name: self.name.clone() });
        if !self.arguments.is_empty() {
            out(ModelEvent::CallDelta { slot: at, text: self.arguments.clone() });
        }
    }

    // The last letter tells most fragments apart, so that a long text is not parsed at every one.
    fn is_whole(&self) -> bool {
        self.arguments.trim_end().ends_with('}')
            && serde_json::from_str::<serde::de::IgnoredAny>(&self.arguments).is_ok()
    }
}

fn text<'a>(value: &'a Value, name: &str) -> Option<&'a str> {
    value.get(name).and_then(Value::as_str).filter(|text| !text.is_empty())
}
