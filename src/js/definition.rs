//! A tool's definition from JavaScript. Knows nothing of the registry's own rules.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Value, json};
use wasm_bindgen::JsValue;

use crate::protocol::{Risk, Scope};
use crate::tools::{Approval, Definition};

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct JsDefinition {
    name: String,
    version: Option<String>,
    owner: String,
    description: String,
    parameters: Option<Value>,
    risk: Option<Risk>,
    approval: Option<Approval>,
    timeout_ms: Option<u64>,
    label: String,
}

/// The definition and what JavaScript got wrong about it, in sentences. Its scope is the page's, whatever it says.
pub(super) fn read(definition: JsValue, run: &JsValue) -> (Definition, Vec<String>) {
    let mut faults = Vec::new();
    let read = serde_wasm_bindgen::from_value::<Value>(definition).map_err(|why| why.to_string());
    let read = read.and_then(|value| serde_json::from_value(value).map_err(|why| why.to_string()));
    let read: JsDefinition = read.unwrap_or_else(|why| {
        faults.push(format!("the definition can not be read: {why}"));
        JsDefinition::default()
    });
    if faults.is_empty() && read.risk.is_none() {
        faults.push(format!("tool \"{}\": it has no risk; say \"read\", \"write\" or \"irreversible\"", read.name));
    }
    if !run.is_function() {
        faults.push(format!("tool \"{}\": nothing can run it; give it a function `run(args, context)`", read.name));
    }
    let none = || json!({ "type": "object", "properties": {}, "additionalProperties": false });
    let definition = Definition {
        name: read.name,
        version: read.version.unwrap_or_else(|| "1".to_owned()),
        owner: read.owner,
        description: read.description,
        parameters: Arc::new(read.parameters.unwrap_or_else(none)),
        scope: Scope::Browser,
        risk: read.risk.unwrap_or(Risk::Irreversible),
        approval: read.approval.unwrap_or_default(),
        timeout_ms: read.timeout_ms,
        label: read.label,
    };
    (definition, faults)
}
