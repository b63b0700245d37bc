//! The routes, wired. Knows nothing of what any of them does.

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
use crate::gateway::models::TOLD;
use crate::gateway::site::site;
use crate::gateway::state::Gateway;
use crate::gateway::tools::ServerTool;
use crate::gateway::{agent, call, check, job_routes, metrics_route, served};

// A long thread with its results and some pictures fits; what is larger is a mistake or an attack.
const MAX_BODY_BYTES: usize = 32 * 1024 * 1024;

/// A gateway of this configuration; `more` are tools beside the demo's and the configured ones.
///
/// # Errors
/// Everything that is wrong with its tools, its data or its model, a line each.
pub fn router(config: &Config, more: Vec<ServerTool>) -> Result<Router, String> {
    Gateway::builder(config.clone()).tools(more).build()
}

/// The routes of a gateway, beside `routes` that stand by themselves.
pub(super) fn wire(config: &Config, gateway: Gateway, routes: Router) -> Router {
    let mut routes = routes.merge(
        Router::new()
            .route("/agent", post(agent::agent))
            .route("/models", get(served::models))
            .route("/tools", get(served::list))
            .route("/tools/{name}", post(call::call).delete(call::cancel))
            .route("/calls/{key}", get(call::look))
            .route("/jobs/{id}", get(job_routes::get).delete(job_routes::cancel))
            .route("/check", post(check::check))
            .route("/metrics", get(metrics_route::metrics))
            .route("/healthz", get(|| async { "ok" }))
            .with_state(gateway),
    );
    if let Some(directory) = &config.site {
        routes = routes.merge(site(directory));
    }
    let known = Guard { hosts: config.hosts.clone().into(), origins: config.origins.clone().into() };
    routes
        .layer(DefaultBodyLimit::disable())
        .layer(RequestBodyLimitLayer::new(MAX_BODY_BYTES))
        .layer(map_response(in_one_shape))
        .layer(from_fn_with_state(known, guard))
        .layer(cors(&config.origins))
        .layer(TraceLayer::new_for_http())
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
        .allow_methods([Method::GET, Method::POST, Method::DELETE])
        .allow_headers([
            header::CONTENT_TYPE,
            header::ACCEPT,
            HeaderName::from_static("idempotency-key"),
            HeaderName::from_static("pagehand-definition"),
            HeaderName::from_static(call::AGE),
        ])
        .expose_headers(
            ["retry-after", "retry-after-ms", "x-should-retry", "date", call::REPLAYED]
                .into_iter()
                .chain(TOLD)
                .map(HeaderName::from_static)
                .collect::<Vec<_>>(),
        )
        .max_age(std::time::Duration::from_secs(600))
}
