//! Tools that are only data: nobody runs them but the test.

use std::sync::Arc;

use pagehand::protocol::{Risk, Scope};
use pagehand::tools::{Approval, Definition, Registration, Registry};
use serde_json::{Value, json};

/// A tool with a `city` that must be text, and an optional number of `days`.
pub(crate) fn tool(name: &str, scope: Scope, risk: Risk) -> Definition {
    let mut definition = Definition::new(name, "Answers what the test that called it says it answers.", scope, risk);
    definition.owner = "tests".to_owned();
    definition.parameters = Arc::new(parameters());
    definition
}

pub(crate) fn parameters() -> Value {
    json!({
        "type": "object",
        "properties": { "city": { "type": "string" }, "days": { "type": "integer" } },
        "required": ["city"],
        "additionalProperties": false,
    })
}

/// The same tool with somebody behind it.
pub(crate) fn executed(definition: Definition) -> Registration {
    Registration::executed(definition)
}

pub(crate) fn registry(definitions: Vec<Definition>) -> Arc<Registry> {
    let mut registry = Registry::default();
    registry.register(definitions.into_iter().map(executed).collect()).expect("the tools of a test have no fault");
    Arc::new(registry)
}

/// Tools of every kind the loop treats differently.
pub(crate) fn every_kind() -> Arc<Registry> {
    let mut slow = tool("slow_read", Scope::Server, Risk::Read);
    slow.timeout_ms = Some(1_000);
    let mut always = tool("always_asks", Scope::Browser, Risk::Read);
    always.approval = Approval::Always;
    let mut own = tool("asks_itself", Scope::Browser, Risk::Write);
    own.approval = Approval::Tool;
    registry(vec![
        tool("page_look", Scope::Browser, Risk::Read),
        tool("weather_read", Scope::Server, Risk::Read),
        tool("note_write", Scope::Server, Risk::Write),
        tool("order_refund", Scope::Server, Risk::Irreversible),
        slow,
        always,
        own,
    ])
}
