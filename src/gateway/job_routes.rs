//! `GET /jobs/{id}` and `DELETE /jobs/{id}`, for the page whose call started it. Knows nothing of what a job does.

use std::sync::Arc;

use axum::Json;
use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use futures::stream::unfold;
use serde_json::Value;
use tokio::sync::watch;

use crate::gateway::call::key_of;
use crate::gateway::error::Refusal;
use crate::gateway::jobs::{JobEntry, View};
use crate::gateway::sse;
use crate::gateway::state::Gateway;

pub(super) async fn get(
    State(gateway): State<Gateway>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    let job = find(&gateway, &id, &headers).await?;
    if !sse::is_wanted(&headers) {
        return Ok(Json(job.to_json()).into_response());
    }
    let mut view = job.watch();
    view.mark_changed();
    let frames = Frames { view, over: false };
    Ok(sse::event_stream(unfold(frames, |mut frames| async move { frames.next().await.map(|bytes| (bytes, frames)) })))
}

pub(super) async fn cancel(
    State(gateway): State<Gateway>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Result<Json<Value>, Refusal> {
    let job = find(&gateway, &id, &headers).await?;
    job.cancel().await;
    Ok(Json(job.to_json()))
}

// Somebody else's job and one that never was look alike.
async fn find(gateway: &Gateway, id: &str, headers: &HeaderMap) -> Result<Arc<JobEntry>, Refusal> {
    let user = gateway.identify(headers).await?;
    let call = key_of(headers).map_err(|_| unknown(id))?;
    gateway.jobs().get(id, user.as_ref().map(|user| user.id.as_str()), &call).ok_or_else(|| unknown(id))
}

fn unknown(id: &str) -> Refusal {
    let id: String = id.chars().take(64).collect();
    let words = format!(
        "This gateway knows no job \"{id}\" of that call: it may have been restarted, or the job ended more than a day \
         ago. Whether the job took effect is unknown: check before you do anything that depends on it, and do not \
         simply start it again."
    );
    Refusal::new(StatusCode::NOT_FOUND, "unknown_job", words)
}

struct Frames {
    view: watch::Receiver<View>,
    over: bool,
}

impl Frames {
    async fn next(&mut self) -> Option<Bytes> {
        while !self.over {
            match tokio::time::timeout(sse::HEARTBEAT, self.view.changed()).await {
                Err(_) => return Some(sse::STILL_AT_WORK),
                // The job was forgotten: the stream ends without an answer, and asking again tells why.
                Ok(Err(_)) => return None,
                Ok(Ok(())) => {}
            }
            let view = self.view.borrow_and_update().clone();
            if let Some((_, answer)) = view.end {
                self.over = true;
                return Some(sse::frame("answer", &answer));
            }
            if let Some(progress) = view.progress {
                return Some(sse::frame("progress", &progress.to_json()));
            }
        }
        None
    }
}
