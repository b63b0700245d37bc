//! `GET /tools`: who answers, and what is served. Knows nothing of calls.

use axum::Json;
use axum::extract::State;
use serde_json::{Value, json};

use crate::gateway::call::listed;
use crate::gateway::catalog::Refused;
use crate::gateway::state::Gateway;

/// `GET /models`: what a page may ask for, the first where it names none.
pub(super) async fn models(State(gateway): State<Gateway>) -> Json<Value> {
    Json(json!({ "models": gateway.models().to_json() }))
}

pub(super) async fn list(State(gateway): State<Gateway>) -> Json<Value> {
    let served = gateway.served();
    let tools: Vec<Value> = served.tools.registry().definitions().map(|definition| listed(definition)).collect();
    let profiles: Vec<Value> = served
        .profiles
        .iter()
        .map(|profile| json!({ "name": profile.name, "maxCharacters": profile.max_characters, "maxTokens": profile.max_tokens }))
        .collect();
    let refused: Vec<Value> = served.refused.iter().map(Refused::to_json).collect();
    let models = gateway.models();
    Json(json!({
        "agent": { "label": models.label(), "suggestions": models.suggestions() }, "models": models.to_json(),
        "tools": tools, "policy": served.rules, "profiles": profiles, "refused": refused,
    }))
}
