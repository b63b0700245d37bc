//! What outlives a page: the journal's lines, and the checks of them. A power cut takes back what was not written with
//! care.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use pagehand::protocol::{Entry, Message, ToolCallId, UserMessage};
use pagehand::session::StoreError;
use serde_json::Value;

#[derive(Default)]
pub(crate) struct Disk {
    lines: RefCell<Vec<String>>,
    /// Lines that a power cut leaves.
    safe: Cell<usize>,
}

impl Disk {
    /// Adds lines at a number, where nothing stands yet.
    pub(crate) fn add(&self, first: u32, entries: &[Entry], strict: bool) -> Result<(), StoreError> {
        let mut lines = self.lines.borrow_mut();
        let mut new = entries.iter().map(|entry| entry.to_json().to_string());
        // The same lines once more are no other's: nobody had heard that they were written.
        for line in lines.iter().skip(first as usize) {
            if new.next().as_ref() != Some(line) {
                return Err(StoreError::Taken);
            }
        }
        lines.extend(new);
        if strict {
            self.safe.set(lines.len());
        }
        Ok(())
    }

    /// Writes over what stands there: what no store may do.
    pub(crate) fn overwrite(&self, first: u32, entries: &[Entry]) {
        self.lines.borrow_mut().truncate(first as usize);
        let first = self.lines.borrow().len() as u32;
        let _ = self.add(first, entries, true);
    }

    /// Loses the last lines that were not written with care, some or all of them.
    pub(crate) fn lose(&self, pick: impl Fn(u32) -> u32) {
        let mut lines = self.lines.borrow_mut();
        let unsafe_lines = lines.len() - self.safe.get().min(lines.len());
        let kept = lines.len() - pick(unsafe_lines as u32 + 1) as usize;
        lines.truncate(kept);
    }

    pub(crate) fn len(&self) -> usize {
        self.lines.borrow().len()
    }

    pub(crate) fn text(&self) -> Vec<String> {
        self.lines.borrow().clone()
    }

    pub(crate) fn entries(&self) -> Vec<Entry> {
        let read = |line: &String| {
            let line: Value = serde_json::from_str(line).expect("a line is JSON");
            Entry::from_json(&line).expect("a line is an entry")
        };
        self.lines.borrow().iter().map(read).collect()
    }

    pub(crate) fn has(&self, test: impl Fn(&Entry) -> bool) -> bool {
        self.entries().iter().any(test)
    }
}

/// Every call that was settled in the journal was settled once.
pub(crate) fn settled_once(entries: &[Entry]) -> Result<(), String> {
    let mut results: BTreeMap<&ToolCallId, u32> = BTreeMap::new();
    for entry in entries {
        if let Entry::Result { result, .. } = entry {
            *results.entry(&result.call).or_default() += 1;
        }
    }
    match results.iter().find(|(_, count)| **count > 1) {
        Some((call, count)) => Err(format!("call {call} has {count} results")),
        None => Ok(()),
    }
}

/// Runs begin and end in turn; the journal leaves at most one open.
pub(crate) fn open_runs(entries: &[Entry]) -> i64 {
    let count = |which: fn(&Entry) -> bool| entries.iter().filter(|entry| which(entry)).count() as i64;
    count(|entry| matches!(entry, Entry::RunStart { .. })) - count(|entry| matches!(entry, Entry::RunEnd { .. }))
}

/// What every provider asks of a thread: each call has exactly one result, right behind its answer and in its order; no
/// id twice; a user's words, or a result, at the end.
pub(crate) fn sendable(messages: &[Message], whole: bool) -> Result<(), String> {
    let mut due: Vec<&ToolCallId> = Vec::new();
    let mut ids = std::collections::BTreeSet::new();
    for message in messages {
        if !matches!(message, Message::Tool(_)) && !due.is_empty() {
            return Err(format!("calls {due:?} have no result behind their answer"));
        }
        let id = match message {
            Message::Tool(tool) => {
                if due.first() != Some(&&tool.result.call) {
                    return Err(format!("a result of {} where {due:?} are due", tool.result.call));
                }
                due.remove(0);
                &tool.id
            }
            Message::Assistant(answer) => {
                due.extend(answer.calls().map(|call| &call.id));
                &answer.id
            }
            Message::Job { message: tool, .. } => &tool.id,
            Message::User(UserMessage { id, .. }) | Message::Notice { id, .. } => id,
        };
        if !ids.insert(id) {
            return Err(format!("two messages have the id {id}"));
        }
    }
    if !due.is_empty() {
        return Err(format!("calls {due:?} have no result at the end"));
    }
    if whole && matches!(messages.last(), None | Some(Message::Assistant(_))) {
        return Err("a model is asked to answer an answer".to_owned());
    }
    Ok(())
}
