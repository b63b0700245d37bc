//! A tool's definition from JavaScript. Knows nothing of the registry's own rules.

use serde_json::Value;
use wasm_bindgen::JsValue;

use crate::protocol::Scope;
use crate::tools::Definition;

/// The definition, and what JavaScript got wrong about its shape, in sentences.
pub(super) fn read(definition: JsValue, run: &JsValue) -> (Definition, Vec<String>) {
    let mut faults = Vec::new();
    let mut json = serde_wasm_bindgen::from_value::<Value>(definition).unwrap_or_else(|why| {
        faults.push(format!("the definition can not be read: {why}"));
        Value::Null
    });
    if let Value::Object(fields) = &mut json {
        // What a page registers runs in the page, whatever it says.
        fields.insert("scope".to_owned(), Value::from(Scope::Browser.as_str()));
    }
    if !run.is_function() {
        faults.push("nothing can run it; give it a function `run(args, context)`".to_owned());
    }
    let (definition, more) = Definition::from_json(&json);
    faults.extend(more);
    (definition, faults)
}
