//! `POST /check`: what is wrong with definitions that a page has, as this gateway sees it. Nothing is kept.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::extract::rejection::JsonRejection;
use axum::http::StatusCode;
use serde_json::{Value, json};

use crate::gateway::error::Refusal;
use crate::gateway::models::Models;
use crate::gateway::state::Gateway;
use crate::providers::Vendor;
use crate::tools::portability::Provider;
use crate::tools::{Definition, Problem, Registration, Rules};

const MAX_TOOLS: usize = 1000;

/// What the providers of these models refuse in a definition, and how the first counts tokens. The demo model refuses
/// nothing, and of a server nobody has named nothing is known.
pub(super) fn rules_of(models: &Models) -> Rules {
    let providers: Vec<&'static Provider> = models.vendors().into_iter().filter_map(Vendor::provider).collect();
    let Some(first) = providers.first() else { return Rules::default() };
    let characters_per_token = Some(10_000.0 / first.tokens(10_000) as f64);
    let refuses = move |tool: &Definition| {
        let refuses = |provider: &&Provider| provider.refuses(&tool.name, &tool.offer().description, &tool.parameters);
        providers.iter().flat_map(refuses).collect()
    };
    Rules { refusals: Some(Arc::new(refuses)), characters_per_token, ..Rules::default() }
}

pub(super) async fn check(
    State(gateway): State<Gateway>,
    body: Result<Json<Value>, JsonRejection>,
) -> Result<Json<Value>, Refusal> {
    let Json(body) = body.map_err(|why| Refusal::unreadable("invalid_json", &why))?;
    let Some(list) = body.get("tools").and_then(Value::as_array).filter(|list| list.len() <= MAX_TOOLS) else {
        let words = format!("The body must be {{\"tools\": [definition, …]}}, with at most {MAX_TOOLS} of them.");
        return Err(Refusal::new(StatusCode::UNPROCESSABLE_ENTITY, "bad_request", words));
    };
    let problems: Vec<Value> = problems_of(&gateway, list).iter().map(told).collect();
    Ok(Json(json!({ "problems": problems })))
}

// The page's tools beside those that are served, so that both count for a profile's size. What the page was told of
// the gateway's own tools comes back unchanged and is no clash.
fn problems_of(gateway: &Gateway, list: &[Value]) -> Vec<Problem> {
    let served = gateway.served();
    let mut registry = served.tools.registry().clone();
    let mut problems = Vec::new();
    for json in list {
        let (definition, faults) = Definition::from_json(json, &["hash"]);
        let own = registry.get(&definition.name).is_some_and(|known| known.hash() == definition.hash());
        if own && faults.is_empty() {
            continue;
        }
        if faults.is_empty() {
            problems.extend(registry.register_each(vec![Registration::executed(definition)]));
        } else {
            problems.extend(faults.into_iter().map(|fault| Problem::of_tool(&definition, fault)));
        }
    }
    problems
}

fn told(problem: &Problem) -> Value {
    json!({ "kind": problem.kind, "name": problem.name, "owner": problem.owner, "message": problem.message })
}
