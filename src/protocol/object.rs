//! JSON objects, made by a call where `json!` would write a page of code. Knows nothing of what is in them.

use serde_json::{Map, Value};

/// An object of these fields, null ones too.
#[must_use]
pub fn object(fields: Vec<(&str, Value)>) -> Value {
    // One by one: to collect them would bring in a sort.
    let mut object = Map::new();
    for (name, value) in fields {
        object.insert(name.to_owned(), value);
    }
    Value::Object(object)
}
