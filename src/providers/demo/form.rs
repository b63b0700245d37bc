//! An answer of a given form: the planner's words, put where the form has room for them. Knows nothing of what they say.

use serde_json::{Map, Value};

// Deeper forms are left empty there.
const MAX_DEPTH: usize = 16;

/// A value that fits a schema as far as its types, required fields and choices go. The first text that is free to say
/// anything holds the words; the first number that is asked for is the first one in them.
pub(super) fn in_form(schema: &Value, words: &str) -> Value {
    let mut said = Said { words, free: true };
    value(schema, &mut said, 0)
}

struct Said<'a> {
    words: &'a str,
    /// Whether they have no place yet.
    free: bool,
}

fn value(schema: &Value, said: &mut Said<'_>, depth: usize) -> Value {
    let choices = schema.get("enum").and_then(Value::as_array);
    if let Some(choice) = schema.get("const").or_else(|| choices?.first()) {
        return choice.clone();
    }
    let either = ["anyOf", "oneOf"].iter().find_map(|word| schema.get(*word)?.as_array()?.first());
    if let (Some(first), true) = (either, depth < MAX_DEPTH) {
        return value(first, said, depth + 1);
    }
    let kind = schema.get("type").and_then(|kind| kind.as_str().or_else(|| kind.get(0)?.as_str()));
    match kind {
        Some("string") => Value::from(if std::mem::take(&mut said.free) { said.words } else { "" }),
        Some("integer" | "number") => number_in(said.words).into(),
        Some("boolean") => Value::Bool(true),
        Some("array") => Value::Array(Vec::new()),
        Some("null") => Value::Null,
        _ if depth >= MAX_DEPTH => Value::Object(Map::new()),
        _ => {
            let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
            let field = |name: &str| schema.pointer("/properties").and_then(|all| all.get(name)).cloned();
            let fields = required
                .filter_map(Value::as_str)
                .map(|name| (name.to_owned(), value(&field(name).unwrap_or(Value::Bool(true)), said, depth + 1)));
            Value::Object(fields.collect())
        }
    }
}

fn number_in(words: &str) -> u64 {
    let digits = words.split(|letter: char| !letter.is_ascii_digit()).find(|digits| !digits.is_empty());
    digits.and_then(|digits| digits.parse().ok()).unwrap_or_default()
}
