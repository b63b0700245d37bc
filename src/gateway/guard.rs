//! Who may speak to the gateway at all: judged by headers, before a body is read.
//!
//! | check | against |
//! |---|---|
//! | `Host` is a known name | DNS rebinding: a foreign name that leads here |
//! | `Origin`, where there is one, is the page's own or a listed one | other sites' pages |
//! | `Sec-Fetch-Site` is not `cross-site` unless the origin is listed | the same, where `Origin` is left out |
//! | a `POST` is `application/json` | forms, which need no preflight |

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::gateway::error::Refusal;

/// The names and origins that are let in.
#[derive(Clone, Debug)]
pub(super) struct Guard {
    pub(super) hosts: Arc<[String]>,
    pub(super) origins: Arc<[String]>,
}

pub(super) async fn guard(State(guard): State<Guard>, request: Request, next: Next) -> Response {
    match guard.judge(request.method(), request.headers()) {
        Ok(()) => next.run(request).await,
        Err(refusal) => refusal.into_response(),
    }
}

impl Guard {
    fn judge(&self, method: &Method, headers: &HeaderMap) -> Result<(), Refusal> {
        let text = |name: header::HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
        let host = text(header::HOST).unwrap_or_default();
        if !self.knows_host(host) {
            let words = "This gateway is not reached by that name. Add it to PAGEHAND_HOSTS.";
            return Err(Refusal::new(StatusCode::FORBIDDEN, "unknown_host", words));
        }
        let origin = text(header::ORIGIN);
        let listed = origin.is_some_and(|origin| self.origins.iter().any(|known| known == origin));
        let own = origin.is_none_or(|origin| is_own(origin, host));
        let crossing = headers.get("sec-fetch-site").is_some_and(|site| site == "cross-site");
        // Following a link from elsewhere to the page is no request of another page's script.
        let following = method == Method::GET && headers.get("sec-fetch-mode").is_some_and(|mode| mode == "navigate");
        if !listed && !following && (!own || crossing) {
            let words = "Pages of that origin may not use this gateway. Add it to PAGEHAND_ORIGINS.";
            return Err(Refusal::new(StatusCode::FORBIDDEN, "unknown_origin", words));
        }
        let json = text(header::CONTENT_TYPE).is_some_and(|kind| {
            kind.split(';').next().is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json"))
        });
        if method == Method::POST && !json {
            let words = "A POST must have the content type application/json.";
            return Err(Refusal::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "not_json", words));
        }
        Ok(())
    }

    fn knows_host(&self, host: &str) -> bool {
        let name = without_port(host);
        matches!(name, "localhost" | "127.0.0.1" | "[::1]")
            || self.hosts.iter().any(|known| known == name || known == host)
    }
}

// Behind a proxy that ends TLS the scheme is not ours to know, so the authority decides.
fn is_own(origin: &str, host: &str) -> bool {
    origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://")) == Some(host)
}

fn without_port(host: &str) -> &str {
    match host.rfind(':') {
        Some(at) if host[at + 1..].bytes().all(|byte| byte.is_ascii_digit()) && !host.ends_with(']') => &host[..at],
        _ => host,
    }
}
