//! Where a call's arguments come from, as far as the thread shows. Knows nothing of what is made of it.
//!
//! A text counts as the user's where they wrote it, else as a tool's where a result holds it, else as the model's own.
//! It is a trace, not a proof: a model can reword what a tool told it.

use serde_json::Value;

use crate::protocol::Message;
use crate::tools::Provenance;

// Shorter texts stand everywhere by chance.
const MIN_CHARACTERS: usize = 4;

/// The least trustworthy source of any text in the arguments.
pub(super) fn of(arguments: &Value, messages: &[Message]) -> Provenance {
    match arguments {
        Value::String(text) if text.trim().chars().count() >= MIN_CHARACTERS => of_text(text.trim(), messages),
        Value::Array(list) => worst(list.iter(), messages),
        Value::Object(map) => worst(map.values(), messages),
        Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => Provenance::User,
    }
}

fn worst<'a>(values: impl Iterator<Item = &'a Value>, messages: &[Message]) -> Provenance {
    values.map(|value| of(value, messages)).max().unwrap_or(Provenance::User)
}

fn of_text(text: &str, messages: &[Message]) -> Provenance {
    // ASCII alone: the tables of all letters are a weight on the page, and the worst is a question too many.
    let wanted = text.to_ascii_lowercase();
    // A result is JSON, so a text stands in it the way JSON writes it.
    let written = Value::from(wanted.as_str()).to_string();
    let written = &written[1..written.len() - 1];
    let mut found = Provenance::Model;
    for message in messages {
        match message {
            Message::User(said) if said.content.to_ascii_lowercase().contains(&wanted) => return Provenance::User,
            Message::Tool(told) | Message::Job { message: told, .. }
                if told.result.content.to_ascii_lowercase().contains(written) =>
            {
                found = Provenance::Tool;
            }
            Message::User(_)
            | Message::Tool(_)
            | Message::Job { .. }
            | Message::Notice { .. }
            | Message::Assistant(_) => {}
        }
    }
    found
}
