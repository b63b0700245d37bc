//! What only one provider can read, as the rest of the house carries it: `<route>:<JSON>`. Knows nothing of any vendor.
//!
//! The JSON is an object of those fields of a part that our own view of it does not hold (a signature, say). An object
//! with a `type` is a whole part that we have no view of. It goes back on its own route alone: the same server, model and
//! key. To any other it means nothing, and many refuse the request for it.

use serde_json::{Map, Value};

/// Seals fields for a route.
pub(super) fn seal(route: &str, fields: &str) -> String {
    format!("{route}:{fields}")
}

/// The fields that were sealed for this route; `None` where there are none, or they are another's.
pub(super) fn open(value: Option<&str>, route: &str) -> Option<Map<String, Value>> {
    let json = value?.strip_prefix(route)?.strip_prefix(':')?;
    match serde_json::from_str(json) {
        Ok(Value::Object(fields)) => Some(fields),
        _ => None,
    }
}

/// Puts sealed fields into a part that is being written; what is there already stays.
pub(super) fn put(part: &mut Value, fields: Map<String, Value>) {
    let Value::Object(part) = part else { return };
    for (name, value) in fields {
        part.entry(name).or_insert(value);
    }
}
