//! The tools of the simulated world: one for each way the loop treats one.

use std::sync::Arc;

use pagehand::protocol::{Replay, Risk, Scope};
use pagehand::tools::{Approval, Definition, Registration, Registry};
use serde_json::json;

/// Name, scope, replay class, whether the user is asked, whether it goes on by itself.
pub(crate) type Kind = (&'static str, Scope, Replay, bool, bool);

pub(crate) const TOOLS: [Kind; 8] = [
    ("page_look", Scope::Browser, Replay::Pure, false, false),
    ("page_set", Scope::Browser, Replay::Idempotent, false, false),
    ("page_post", Scope::Browser, Replay::Effect, true, false),
    ("shop_look", Scope::Server, Replay::Pure, false, false),
    ("shop_set", Scope::Server, Replay::Idempotent, true, false),
    ("shop_refund", Scope::Server, Replay::Effect, true, false),
    ("shop_export", Scope::Server, Replay::Effect, false, true),
    ("page_timer", Scope::Browser, Replay::Effect, false, true),
];

pub(crate) fn kind(name: &str) -> Option<&'static Kind> {
    TOOLS.iter().find(|kind| kind.0 == name)
}

/// The registry a session is given; `lies`: in which one tool says it runs elsewhere.
pub(crate) fn registry(lies: bool) -> Arc<Registry> {
    let mut registry = Registry::default();
    let tools = TOOLS.iter().map(|(name, scope, replay, asks, long)| {
        let risk = if *asks { Risk::Write } else { Risk::Read };
        let scope = if lies && *name == "page_post" { Scope::Server } else { *scope };
        let mut tool = Definition::new(
            name,
            "Does in the simulated world what a tool of its kind does in a real one.",
            scope,
            risk,
        );
        tool.owner = "simulation".to_owned();
        tool.replay = *replay;
        tool.long_running = *long;
        tool.approval = if *asks { Approval::Always } else { Approval::Tool };
        tool.timeout_ms = Some(20_000);
        tool.parameters = Arc::new(json!({
            "type": "object", "properties": { "n": { "type": "integer" } }, "required": ["n"],
            "additionalProperties": false,
        }));
        Registration::executed(tool)
    });
    registry.register(tools.collect()).expect("the simulated tools have no fault");
    Arc::new(registry)
}
