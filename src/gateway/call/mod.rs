//! `POST /tools/{name}`: one call of a tool, from its request to its answer; `GET /calls/{key}`: what became of it.
//! Knows nothing of what a tool does.
//!
//! | file | does |
//! |---|---|
//! | `read` | headers and body → a call that may run, or why not |
//! | `once` | whether it is run, waited for, or was answered before |
//! | `run` | the call, to its end: time, panics, cancelling |
//! | `finish` | what it came to → the answer's JSON, and the count |

mod finish;
mod once;
mod read;
mod run;

use axum::Json;
use axum::body::Bytes;
use axum::extract::rejection::JsonRejection;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, HeaderValue};
use axum::response::{IntoResponse, Response};
use futures::stream::unfold;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::gateway::call::once::Begun;
use crate::gateway::calls::{Flight, Key, Standing};
use crate::gateway::context::report::Report;
use crate::gateway::error::Refusal;
use crate::gateway::sse;
use crate::gateway::state::Gateway;
use crate::tools::Definition;

pub(super) use crate::gateway::call::read::{AGE, key_of, listed};

/// The header of an answer that was not run for.
pub(super) const REPLAYED: &str = "idempotency-replayed";

/// Runs a tool, once for each key.
pub(super) async fn call(
    State(gateway): State<Gateway>,
    Path(name): Path<String>,
    headers: HeaderMap,
    body: Result<Json<Value>, JsonRejection>,
) -> Response {
    let served = gateway.served();
    let definition = served.tools.registry().find(&name).cloned();
    let asked = match read::read(&gateway, &served, &name, definition.as_ref(), &headers, body).await {
        Ok(asked) => asked,
        Err(refusal) => return refused(&gateway, &name, definition.as_deref(), refusal),
    };
    // A task of its own: a page that goes away now leaves no call that was recorded and not begun.
    let begun = match tokio::spawn(once::begin(gateway.clone(), asked)).await {
        Ok(Ok(begun)) => begun,
        Ok(Err(refusal)) => return refused(&gateway, &name, definition.as_deref(), refusal),
        Err(_) => return finish::lost(&name).into_response(),
    };
    let Begun { mut flight, events, again } = begun;
    let mut response = if sse::is_wanted(&headers) {
        let frames = Frames { events, flight: Some(flight), name };
        sse::event_stream(unfold(frames, |mut frames| async move { frames.next().await.map(|bytes| (bytes, frames)) }))
    } else {
        // Nobody listens: what the tool says of itself is not kept.
        drop(events);
        flight.end().await.unwrap_or_else(|| finish::lost(&name)).into_response()
    };
    if again {
        response.headers_mut().insert(REPLAYED, HeaderValue::from_static("true"));
    }
    response
}

fn refused(gateway: &Gateway, name: &str, definition: Option<&Definition>, refusal: Refusal) -> Response {
    finish::count_refusal(gateway, name, definition, &refusal);
    refusal.into_response()
}

/// Gives a call that is at work the sign to stop. One that is over, or was never begun, is no error: whoever stops a
/// call can not know how far it had come.
pub(super) async fn cancel(
    State(gateway): State<Gateway>,
    Path(name): Path<String>,
    headers: HeaderMap,
) -> Result<Json<Value>, Refusal> {
    let call = key_of(&headers)?;
    let user = gateway.identify(&headers).await?;
    let cancelled = gateway.cancel_call(user.as_ref().map(|user| user.id.as_str()), &call, &name);
    Ok(Json(json!({ "cancelled": cancelled })))
}

/// Says what became of a call, and runs nothing.
pub(super) async fn look(
    State(gateway): State<Gateway>,
    Path(call): Path<String>,
    headers: HeaderMap,
) -> Result<Json<Value>, Refusal> {
    let user = gateway.identify(&headers).await?;
    let key = Key { user: user.map(|user| user.id), call };
    Ok(Json(match gateway.calls().look(key).await.map_err(|why| once::no_record(&why))? {
        Standing::Running => json!({ "status": "running" }),
        Standing::Done(finished) => json!({ "status": "done", "answer": finished.body }),
        Standing::Unknown => json!({ "status": "unknown" }),
        Standing::Never => json!({ "status": "none" }),
    }))
}

struct Frames {
    events: mpsc::Receiver<Report>,
    flight: Option<Flight>,
    name: String,
}

impl Frames {
    // What was said before the end comes before it.
    async fn next(&mut self) -> Option<Bytes> {
        let flight = self.flight.as_mut()?;
        tokio::select! {
            biased;
            Some(report) = self.events.recv() => {
                let (event, data) = report.to_event();
                Some(sse::frame(event, &data))
            }
            finished = flight.end() => {
                self.flight = None;
                Some(sse::frame("answer", &finished.unwrap_or_else(|| finish::lost(&self.name)).body))
            }
            () = tokio::time::sleep(sse::HEARTBEAT) => Some(sse::STILL_AT_WORK),
        }
    }
}
