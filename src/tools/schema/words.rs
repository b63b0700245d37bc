//! The words for what was expected, from the JSON of a schema. Both engines speak them, so they say the same.

use serde_json::{Map, Value};

// What is longer than this helps nobody to repair a call.
const MAX_FORMS: usize = 200;
const MAX_LISTED: usize = 20;

/// `a string or null`, of the value of a `type`.
pub(super) fn types(types: &Value) -> String {
    let one = |word: &Value| word.as_str().and_then(type_name).unwrap_or("something else");
    match types {
        Value::Array(list) => list.iter().map(one).collect::<Vec<_>>().join(" or "),
        _ => one(types).to_owned(),
    }
}

/// `a string`, of the word `string`.
pub(super) fn type_name(word: &str) -> Option<&'static str> {
    Some(match word {
        "null" => "null",
        "boolean" => "true or false",
        "object" => "an object",
        "array" => "an array",
        "number" => "a number",
        "integer" => "a whole number",
        "string" => "a string",
        _ => return None,
    })
}

/// What a value is.
pub(super) fn name_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

/// `"a", "b"`, of the value of an `enum`.
pub(super) fn allowed(values: &[Value]) -> String {
    let mut words = values.iter().take(MAX_LISTED).map(ToString::to_string).collect::<Vec<_>>();
    if values.len() > MAX_LISTED {
        words.push("…".to_owned());
    }
    words.join(", ")
}

/// `: a string, or an object with city`, of the schemas of an `anyOf`; empty where that would be long or vague.
pub(super) fn forms(schemas: &[Value]) -> String {
    let known = schemas.iter().map(form).collect::<Option<Vec<_>>>();
    let words = known.map(|known| format!(": {}", known.join(", or "))).unwrap_or_default();
    if words.len() > MAX_FORMS { String::new() } else { words }
}

/// `must not be a string`, of the schema of a `not`.
pub(super) fn ruled_out(schema: &Value) -> String {
    let form = form(schema).filter(|form| form.len() <= MAX_FORMS);
    form.map_or("has a form that is not allowed here".to_owned(), |form| format!("must not be {form}"))
}

/// `must hold at least 1 item that is a string`, of a schema with `contains`.
pub(super) fn contains(schema: &Map<String, Value>) -> String {
    let bound = |name: &str| schema.get(name).map(ToString::to_string);
    let least = bound("minContains").unwrap_or("1".to_owned());
    let most = bound("maxContains").map(|most| format!(" and at most {most}")).unwrap_or_default();
    let form = schema.get("contains").and_then(form).filter(|form| form.len() <= MAX_FORMS);
    let what = form.map_or("of the wanted form".to_owned(), |form| format!("that are {form}"));
    format!("must hold at least {least}{most} items {what}")
}

/// What is said of a property that an object does not have.
pub(super) fn no_property<'a>(known: impl Iterator<Item = &'a str>) -> String {
    let known = known.collect::<Vec<_>>().join(", ");
    if known.is_empty() {
        return "is not a property here; there are none".to_owned();
    }
    format!("is not a property here; there are: {known}")
}

// A schema in a few words, or nothing.
fn form(schema: &Value) -> Option<String> {
    let text = |name: &str| schema.get(name).and_then(Value::as_str);
    if let Some(value) = schema.get("const") {
        return Some(value.to_string());
    }
    if let Some(values) = schema.get("enum").and_then(Value::as_array) {
        return Some(format!("one of {}", allowed(values)));
    }
    if schema.get("properties").is_some() || schema.get("required").is_some() {
        return Some(object(schema));
    }
    if let Some(types_) = schema.get("type") {
        return Some(types(types_));
    }
    text("title").or_else(|| text("$ref")?.rsplit('/').next()).filter(|word| word.len() > 1).map(str::to_owned)
}

// `an object whose kind is "card"`, or `an object with city`.
fn object(schema: &Value) -> String {
    let properties = schema.get("properties").and_then(Value::as_object);
    let kinds = properties.into_iter().flatten().find_map(|(name, one)| Some((name, one.get("const")?)));
    if let Some((name, value)) = kinds {
        return format!("an object whose {name} is {value}");
    }
    let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
    let required = required.filter_map(Value::as_str).collect::<Vec<_>>();
    if required.is_empty() { "an object".to_owned() } else { format!("an object with {}", required.join(", ")) }
}
