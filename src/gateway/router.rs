//! The routes, wired. Knows nothing of what any of them does.

use std::sync::Arc;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::http::{HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::{from_fn_with_state, map_response};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use tower_http::cors::{AllowOrigin, CorsLayer};
use tower_http::limit::RequestBodyLimitLayer;
use tower_http::trace::TraceLayer;

use crate::gateway::config::Config;
use crate::gateway::error::Refusal;
use crate::gateway::guard::{Guard, guard};
use crate::gateway::model::Model;
use crate::gateway::site::site;
use crate::gateway::state::Gateway;
use crate::gateway::tools::{ServerTool, ServerTools};
use crate::gateway::{agent, demo, served};

// A long thread with its results fits; what is larger is a mistake or an attack.
const MAX_BODY_BYTES: usize = 8 * 1024 * 1024;

/// A gateway of this configuration; `more` are tools beside the demo's.
///
/// # Errors
/// Everything that is wrong with its tools, its data or its model, a line each.
pub fn router(config: &Config, more: Vec<ServerTool>) -> Result<Router, String> {
    let mut tools = more;
    let mut routes = Router::new();
    if config.demo {
        let store =
            demo::Store::open(config.data.as_deref()).map_err(|why| format!("the demo shop: {}", why.message))?;
        let store = Arc::new(store);
        tools.extend(demo::tools(Arc::clone(&store)));
        routes = routes.merge(demo::router(store));
    }
    let tools = ServerTools::new(tools)
        .map_err(|problems| problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))?;
    let gateway = Gateway::new(Model::of(config)?, tools);
    let mut routes = routes.merge(
        Router::new()
            .route("/agent", post(agent::agent))
            .route("/tools", get(served::list))
            .route("/tools/{name}", post(served::call))
            .route("/healthz", get(|| async { "ok" }))
            .with_state(gateway),
    );
    if let Some(directory) = &config.site {
        routes = routes.merge(site(directory));
    }
    let known = Guard { hosts: config.hosts.clone().into(), origins: config.origins.clone().into() };
    Ok(routes
        .layer(DefaultBodyLimit::disable())
        .layer(RequestBodyLimitLayer::new(MAX_BODY_BYTES))
        .layer(map_response(in_one_shape))
        .layer(from_fn_with_state(known, guard))
        .layer(cors(&config.origins))
        .layer(TraceLayer::new_for_http()))
}

// The limit's own answer is plain text; a page looks for the words in the one shape of all refusals.
async fn in_one_shape(response: Response) -> Response {
    if response.status() != StatusCode::PAYLOAD_TOO_LARGE {
        return response;
    }
    let words = format!("A request may have {} MiB at most.", MAX_BODY_BYTES / (1024 * 1024));
    Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", words).into_response()
}

// Exact origins, no credentials; what a page must read beyond the body is exposed by name.
fn cors(origins: &[String]) -> CorsLayer {
    let origins: Vec<HeaderValue> = origins.iter().filter_map(|origin| origin.parse().ok()).collect();
    CorsLayer::new()
        .allow_origin(AllowOrigin::list(origins))
        .allow_methods([Method::GET, Method::POST])
        .allow_headers([header::CONTENT_TYPE, header::ACCEPT, HeaderName::from_static("idempotency-key")])
        .expose_headers([header::RETRY_AFTER])
        .max_age(std::time::Duration::from_secs(600))
}
