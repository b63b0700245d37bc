//! `POST /agent`: one model step as an AG-UI run. Knows nothing of which model it is.

use std::sync::PoisonError;
use std::time::Duration;

use axum::Json;
use axum::body::Bytes;
use axum::extract::State;
use axum::extract::rejection::JsonRejection;
use axum::http::StatusCode;
use axum::response::Response;
use futures::stream::{BoxStream, StreamExt, unfold};
use serde_json::Value;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{Instant, timeout, timeout_at};

use crate::ag_ui::{AgUiEncoder, read_input};
use crate::gateway::error::Refusal;
use crate::gateway::models::Answering;
use crate::gateway::sse::{HEARTBEAT, STILL_AT_WORK, event_stream};
use crate::gateway::state::Gateway;
use crate::protocol::{ModelError, ModelErrorKind, ModelEvent};

const HEAD: Duration = Duration::from_secs(2);
const MAX_TIME: Duration = Duration::from_secs(10 * 60);

pub(super) async fn agent(
    State(gateway): State<Gateway>,
    body: Result<Json<Value>, JsonRejection>,
) -> Result<Response, Refusal> {
    let permit = gateway.model_permit().ok_or_else(Refusal::busy)?;
    let Json(body) = body.map_err(|why| Refusal::unreadable("bad_request", &why))?;
    let request = read_input(&body)
        .map_err(|why| Refusal::new(StatusCode::UNPROCESSABLE_ENTITY, "bad_request", why.to_string()))?;
    let encoder = AgUiEncoder::new(request.thread.clone(), request.run.clone(), gateway.seed());
    let Answering { head, events } = gateway.models().answer(&request);
    let mut events = Box::pin(events.peekable());
    // What the model's server says in the head of its answer goes on, if it says it soon; an answer that takes longer
    // begins without it, so that nobody on the way takes it for dead.
    let _ = timeout(HEAD, events.as_mut().peek()).await;
    let head = std::mem::take(&mut *head.lock().unwrap_or_else(PoisonError::into_inner));
    let frames =
        Frames { events: events.boxed(), encoder, deadline: Instant::now() + MAX_TIME, over: false, _permit: permit };
    let stream = unfold(frames, |mut frames| async move { frames.next().await.map(|bytes| (bytes, frames)) });
    let mut response = event_stream(stream);
    response.headers_mut().extend(head);
    Ok(response)
}

struct Frames {
    events: BoxStream<'static, ModelEvent>,
    encoder: AgUiEncoder,
    deadline: Instant,
    over: bool,
    _permit: OwnedSemaphorePermit,
}

impl Frames {
    // Ends after the terminal event; without one where the model's stream was cut, for the page to see that it was.
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            if self.over {
                return None;
            }
            let event = match timeout_at(self.deadline, timeout(HEARTBEAT, self.events.next())).await {
                Ok(Ok(Some(event))) => event,
                Ok(Ok(None)) => {
                    self.over = true;
                    return Some(Bytes::from(self.encoder.cut())).filter(|frames| !frames.is_empty());
                }
                Ok(Err(_)) => return Some(STILL_AT_WORK),
                Err(_) => {
                    let words = format!("The model took longer than {} minutes.", MAX_TIME.as_secs() / 60);
                    // The same again would take as long.
                    ModelEvent::Error(ModelError {
                        retry: Some(false),
                        ..ModelError::new(ModelErrorKind::Upstream, words)
                    })
                }
            };
            self.over = matches!(event, ModelEvent::Finish(_) | ModelEvent::Error(_));
            let frames = self.encoder.encode(event);
            if !frames.is_empty() {
                return Some(Bytes::from(frames));
            }
        }
    }
}
