//! What a call came to → its answer and its count. Knows nothing of how it was run.

use std::sync::Arc;
use std::time::Instant;

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use tracing::{info, warn};

use crate::gateway::calls::Finished;
use crate::gateway::catalog::Served;
use crate::gateway::error::{Refusal, told};
use crate::gateway::state::Gateway;
use crate::protocol::{Delta, Job, Outcome, Settled, ToolError, delta_to_json};
use crate::tools::{Definition, error};

// In bytes; a page takes no more, and with the rest of the answer it must fit there.
const MAX_RESULT: usize = 7 * 1024 * 1024;

/// Which call it is.
#[derive(Clone)]
pub(super) struct Tag {
    pub(super) served: Arc<Served>,
    pub(super) definition: Arc<Definition>,
    pub(super) alias: Option<String>,
    pub(super) started: Instant,
}

/// Of a call whose task is gone: the gateway is shutting down.
pub(super) fn lost(name: &str) -> Finished {
    let error = error::tool_error(name, "the gateway stopped before it ended; whether it took effect is unknown");
    Finished { status: StatusCode::INTERNAL_SERVER_ERROR, body: told(&error) }
}

impl IntoResponse for Finished {
    fn into_response(self) -> Response {
        (self.status, Json(self.body)).into_response()
    }
}

impl Tag {
    /// The answer's JSON. A job is counted at its end, everything else now.
    pub(super) fn finish(&self, gateway: &Gateway, outcome: Outcome, changes: &Delta) -> Value {
        let name = &self.definition.name;
        let outcome = self.checked(gateway, outcome);
        let (word, mut body) = match &outcome {
            Outcome::Result(result) => ("ok", json!({ "result": result })),
            Outcome::Error(error) => (error.code.as_ref(), told(error)),
            Outcome::Interim(Job { id, state }) => ("", json!({ "job": { "id": id, "state": state } })),
            Outcome::NeedsApproval { reason, payload } => {
                ("needs_approval", json!({ "needsApproval": { "reason": reason, "payload": payload } }))
            }
        };
        match &outcome {
            Outcome::Error(ToolError { operator, .. }) => info!(tool = %name, code = word, operator, "failed"),
            _ => info!(tool = %name, "{}", if word.is_empty() { "goes on" } else { word }),
        }
        if !changes.is_empty() {
            body["state"] = delta_to_json(changes);
        }
        if !word.is_empty() {
            let ms = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
            gateway.count(&settled(&self.definition, word, ms, self.alias.clone()));
        }
        body
    }

    // A result is bounded and held against what the definition promises, a job must be one that can be asked for.
    fn checked(&self, gateway: &Gateway, outcome: Outcome) -> Outcome {
        let name = &self.definition.name;
        if let Outcome::Interim(job) = &outcome
            && !gateway.jobs().knows(&job.id)
        {
            let words = "it speaks of a job that nobody can ask for; it must begin it with the call's own job()";
            return Outcome::Error(error::tool_error(name, words));
        }
        if let Outcome::Result(result) = &outcome
            && is_longer(result, MAX_RESULT)
        {
            return Outcome::Error(error::result_too_large(name, MAX_RESULT));
        }
        let output = self.served.tools.registry().output(name);
        let violations = match (&outcome, output) {
            (Outcome::Result(result), Some(output)) => output.check(result).err(),
            _ => None,
        };
        match violations {
            Some(violations) => {
                warn!(tool = %name, "its result does not fit its definition");
                Outcome::Error(error::invalid_result(name, &violations))
            }
            None => outcome,
        }
    }
}

// Counts as it writes, and keeps nothing.
fn is_longer(value: &Value, limit: usize) -> bool {
    struct Room(usize);
    impl std::io::Write for Room {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 = self.0.checked_sub(bytes.len()).ok_or(std::io::ErrorKind::OutOfMemory)?;
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    serde_json::to_writer(Room(limit), value).is_err()
}

/// Counts a call that was refused before it ran.
pub(super) fn count_refusal(gateway: &Gateway, name: &str, definition: Option<&Definition>, refusal: &Refusal) {
    let settled = match definition {
        Some(definition) => settled(definition, refusal.code(), 0, (definition.name != name).then(|| name.to_owned())),
        None => Settled {
            tool: name.to_owned(),
            owner: String::new(),
            version: String::new(),
            outcome: "unknown_tool".to_owned(),
            ms: 0,
            alias: None,
        },
    };
    gateway.count(&settled);
}

fn settled(definition: &Definition, outcome: &str, ms: u64, alias: Option<String>) -> Settled {
    Settled {
        tool: definition.name.clone(),
        owner: definition.owner.clone(),
        version: definition.version.clone(),
        outcome: outcome.to_owned(),
        ms,
        alias,
    }
}
