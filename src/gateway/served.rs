//! `GET /tools` and `POST /tools/{name}`. Knows nothing of what a tool does.

use std::time::Duration;

use axum::Json;
use axum::extract::rejection::JsonRejection;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use serde_json::{Value, json};
use tracing::{error, info};

use crate::gateway::error::Refusal;
use crate::gateway::state::Gateway;
use crate::gateway::tools::CallContext;
use crate::protocol::{Job, Outcome, ToolError};
use crate::tools::error as words;

// Shorter than a page's own 60 s, so that the page hears of it from us.
const DEFAULT_TIMEOUT_MS: u64 = 30_000;
const MAX_KEY: usize = 255;

pub(super) async fn list(State(gateway): State<Gateway>) -> Json<Value> {
    let tools: Vec<Value> = gateway
        .tools()
        .registry()
        .definitions()
        .map(|definition| {
            let mut listed = definition.to_json();
            listed["hash"] = json!(definition.hash());
            listed
        })
        .collect();
    let model = gateway.model();
    Json(json!({ "agent": { "label": model.label(), "suggestions": model.suggestions() }, "tools": tools }))
}

pub(super) async fn call(
    State(gateway): State<Gateway>,
    Path(name): Path<String>,
    headers: HeaderMap,
    body: Result<Json<Value>, JsonRejection>,
) -> Result<Json<Value>, Refusal> {
    let registry = gateway.tools().registry();
    let Some(definition) = registry.get(&name) else {
        // Whatever a request claims: what is not in this gateway's own registry is not run here.
        let words = format!(
            "This gateway runs only the tools it lists; \"{name}\" is not one of them. A tool of the page runs in the page."
        );
        return Err(Refusal::new(StatusCode::FORBIDDEN, "refused", words));
    };
    let _permit = gateway.tool_permit().ok_or_else(Refusal::busy)?;
    let call_id = key_of(&headers)?;
    let Json(body) = body.map_err(|why| Refusal::new(why.status(), "invalid_json", why.body_text()))?;
    let arguments = arguments_of(&gateway, &name, body)?;
    let timeout_ms = definition.timeout_ms.unwrap_or(DEFAULT_TIMEOUT_MS);
    let Some(running) = gateway.tools().call(&name, arguments, CallContext { call_id }) else {
        return Err(Refusal::new(StatusCode::FORBIDDEN, "refused", format!("\"{name}\" can not be run here.")));
    };
    // A task of its own: a panic ends the task, not the gateway, and a page that goes away does not cut a write in two.
    let outcome = match tokio::time::timeout(Duration::from_millis(timeout_ms), tokio::spawn(running)).await {
        Ok(Ok(outcome)) => outcome,
        Ok(Err(why)) => {
            error!(tool = %name, "a tool ended unexpectedly: {why}");
            let error = words::tool_error(&name, "it ended unexpectedly; whether it took effect is unknown");
            return Err(Refusal::with(StatusCode::INTERNAL_SERVER_ERROR, error));
        }
        Err(_) => return Err(Refusal::with(StatusCode::GATEWAY_TIMEOUT, words::timeout(&name, timeout_ms))),
    };
    Ok(Json(write_outcome(&name, outcome)))
}

fn write_outcome(name: &str, outcome: Outcome) -> Value {
    match outcome {
        Outcome::Result(result) => {
            info!(tool = %name, "ran");
            json!({ "result": result })
        }
        Outcome::Error(ToolError { code, message, operator, retryable }) => {
            info!(tool = %name, %code, operator, "failed");
            json!({ "error": { "code": code, "message": message, "retryable": retryable } })
        }
        Outcome::Interim(Job { id, state }) => json!({ "job": { "id": id, "state": state } }),
        Outcome::NeedsApproval { reason, payload } => {
            json!({ "needsApproval": { "reason": reason, "payload": payload } })
        }
    }
}

fn key_of(headers: &HeaderMap) -> Result<String, Refusal> {
    let key = headers.get("idempotency-key").and_then(|key| key.to_str().ok()).unwrap_or_default();
    if key.is_empty() || key.len() > MAX_KEY {
        let words = "A call needs the header Idempotency-Key: the call's id, 1 to 255 characters.";
        return Err(Refusal::new(StatusCode::BAD_REQUEST, "no_idempotency_key", words));
    }
    Ok(key.to_owned())
}

fn arguments_of(gateway: &Gateway, name: &str, mut body: Value) -> Result<Value, Refusal> {
    let mut arguments = body.get_mut("arguments").map(Value::take).unwrap_or_default();
    if !arguments.is_object() {
        let error = words::invalid_json(name, "the body must be {\"arguments\": {…}}");
        return Err(Refusal::with(StatusCode::UNPROCESSABLE_ENTITY, error));
    }
    if let Some(schema) = gateway.tools().registry().schema(name) {
        schema.drop_absent(&mut arguments);
        schema.check(&arguments).map_err(|violations| {
            Refusal::with(StatusCode::UNPROCESSABLE_ENTITY, words::invalid_arguments(name, &violations))
        })?;
    }
    Ok(arguments)
}
