//! `POST /tools/{name}`: one call of a tool, from its request to its answer. Knows nothing of what a tool does.
//!
//! | file | does |
//! |---|---|
//! | `read` | headers and body → a call that may run, or why not |
//! | `run` | the call, to its end: time, panics, cancelling |
//! | `finish` | what it came to → the answer's JSON, and the count |

mod finish;
mod read;
mod run;

use axum::Json;
use axum::body::Bytes;
use axum::extract::rejection::JsonRejection;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use futures::stream::unfold;
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};

use crate::gateway::call::finish::Finished;
use crate::gateway::context::report::Report;
use crate::gateway::error::Refusal;
use crate::gateway::sse;
use crate::gateway::state::Gateway;

pub(super) use crate::gateway::call::read::{key_of, listed};

/// Runs a tool.
pub(super) async fn call(
    State(gateway): State<Gateway>,
    Path(name): Path<String>,
    headers: HeaderMap,
    body: Result<Json<Value>, JsonRejection>,
) -> Response {
    let served = gateway.served();
    let definition = served.tools.registry().find(&name).cloned();
    let ready = match read::read(&gateway, &served, &name, definition.as_ref(), &headers, body).await {
        Ok(ready) => ready,
        Err(refusal) => {
            finish::count_refusal(&gateway, &name, definition.as_deref(), &refusal);
            return refusal.into_response();
        }
    };
    let (done, events) = run::start(gateway, ready);
    if sse::is_wanted(&headers) {
        let frames = Frames { events, done: Some(done) };
        return sse::event_stream(unfold(frames, |mut frames| async move {
            frames.next().await.map(|bytes| (bytes, frames))
        }));
    }
    // Nobody listens: what the tool says of itself is not kept.
    drop(events);
    done.await.unwrap_or_else(|_| Finished::lost(&name)).into_response()
}

/// Gives a call that is at work the sign to stop.
pub(super) async fn cancel(
    State(gateway): State<Gateway>,
    Path(name): Path<String>,
    headers: HeaderMap,
) -> Result<Json<Value>, Refusal> {
    let call = key_of(&headers)?;
    let user = gateway.identify(&headers).await?;
    if gateway.cancel_call(user.as_ref().map(|user| user.id.as_str()), &call, &name) {
        return Ok(Json(json!({ "cancelled": true })));
    }
    let words = format!("No call of \"{name}\" with that Idempotency-Key is at work here; it may have ended already.");
    Err(Refusal::new(StatusCode::NOT_FOUND, "unknown_call", words))
}

struct Frames {
    events: mpsc::Receiver<Report>,
    done: Option<oneshot::Receiver<Finished>>,
}

impl Frames {
    // What was said before the end comes before it.
    async fn next(&mut self) -> Option<Bytes> {
        let done = self.done.as_mut()?;
        tokio::select! {
            biased;
            Some(report) = self.events.recv() => {
                let (event, data) = report.to_event();
                Some(sse::frame(event, &data))
            }
            finished = done => {
                self.done = None;
                let answer = finished.map_or_else(|_| Finished::lost("the tool").body, |finished| finished.body);
                Some(sse::frame("answer", &answer))
            }
            () = tokio::time::sleep(sse::HEARTBEAT) => Some(sse::STILL_AT_WORK),
        }
    }
}
