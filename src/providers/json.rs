//! JSON as codecs read it: texts borrowed from the frame, keys in their order. Knows nothing of any vendor.

use serde_json::{Map, Value};

/// A value of a frame.
pub(super) type Json<'a> = serde_json_borrow::Value<'a>;

/// A text field; `None` where it is absent, empty or no text. A `null` or an empty text never means anything here.
pub(super) fn text<'a>(value: &'a Json<'a>, name: &str) -> Option<&'a str> {
    field(value, name)?.as_str().filter(|text| !text.is_empty())
}

/// A field that is there and not null.
pub(super) fn field<'a>(value: &'a Json<'a>, name: &str) -> Option<&'a Json<'a>> {
    value.as_object()?.get(name).filter(|value| !value.is_null())
}

/// A field down a path.
pub(super) fn at<'a>(value: &'a Json<'a>, path: &[&str]) -> Option<&'a Json<'a>> {
    path.iter().try_fold(value, |value, name| field(value, name))
}

/// The members of a list; none where there is no list.
pub(super) fn list<'a>(value: &'a Json<'a>, name: &str) -> &'a [Json<'a>] {
    field(value, name).and_then(Json::as_array).unwrap_or_default()
}

/// A number that counts something; 0 where there is none.
pub(super) fn count<'a>(value: &'a Json<'a>, path: &[&str]) -> u64 {
    at(value, path).and_then(Json::as_u64).unwrap_or_default()
}

/// What an object holds beside these fields, as JSON text; `None` where that is nothing.
pub(super) fn rest<'a>(value: &'a Json<'a>, known: &[&str]) -> Option<String> {
    let fields = value.as_object()?.iter().filter(|(name, value)| !known.contains(name) && !value.is_null());
    let fields: Vec<String> = fields.map(|(name, value)| format!("{}:{value}", quoted(name))).collect();
    (!fields.is_empty()).then(|| format!("{{{}}}", fields.join(",")))
}

fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

/// Puts a piece into a whole: texts and lists go on, the rest is said anew.
pub(super) fn grow(whole: &mut Map<String, Value>, piece: &Json<'_>) {
    let fields = piece.as_object().into_iter().flat_map(serde_json_borrow::ObjectAsVec::iter);
    for (name, value) in fields.filter(|(name, value)| *name != "type" && !value.is_null()) {
        match (whole.get_mut(name), value) {
            (Some(Value::String(text)), Json::Str(more)) => text.push_str(more),
            (Some(Value::Array(list)), Json::Array(more)) => list.extend(more.iter().map(Value::from)),
            (_, value) => drop(whole.insert(name.to_owned(), Value::from(value))),
        }
    }
}
