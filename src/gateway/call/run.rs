//! A call, run to its end: in a task of its own, within its time. Knows nothing of the wire.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::http::StatusCode;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tracing::error;

use crate::gateway::call::finish::Tag;
use crate::gateway::call::read::Ready;
use crate::gateway::calls::{Claim, Finished};
use crate::gateway::context::Cancel;
use crate::gateway::context::report::{Report, Reporter};
use crate::gateway::jobs::{Background, JobKey};
use crate::gateway::state::Gateway;
use crate::protocol::Outcome;
use crate::tools::error as words;

// What a tool says faster than it is read is lost.
const MAX_WAITING: usize = 64;
// For work that was cancelled to come to its own end.
const GRACE: Duration = Duration::from_secs(2);

/// Starts a call; its end is recorded before anybody hears of it. It goes on whoever listens: a page that goes away
/// does not cut a write in two.
pub(super) fn start(gateway: Gateway, ready: Ready, claim: Claim) -> mpsc::Receiver<Report> {
    let Ready { served, definition, alias, arguments, mut context, timeout, permit } = ready;
    let (listener, events) = mpsc::channel(MAX_WAITING);
    let tag = Tag { served: Arc::clone(&served), definition, alias, started: Instant::now() };
    let key = JobKey {
        user: context.user.as_ref().map(|user| user.id.clone()),
        call: context.call_id.clone(),
        tool: tag.definition.name.clone(),
    };
    context.reporter = Reporter::Call(listener);
    context.background = tag.definition.long_running.then(|| background(&gateway, &tag, key.clone()));
    let (cancel, state) = (context.cancel.clone(), context.state.clone());
    gateway.begin_call(&key, &cancel);
    let running = served.tools.call(&tag.definition.name, arguments, context);
    tokio::spawn(async move {
        let name = tag.definition.name.clone();
        let ended = match running {
            // A task of its own: a panic ends the task, not the gateway. It keeps the permit for as long as it works.
            Some(running) => {
                let work = tokio::spawn(async move {
                    let _permit = permit;
                    running.await
                });
                in_time(work, &cancel, timeout, &name).await
            }
            None => End::of(Outcome::Error(words::refused(&name, "nobody serves it here."))),
        };
        gateway.end_call(&key, &cancel);
        let body = tag.finish(&gateway, ended.outcome, &state.take_changes());
        gateway.calls().end(claim, Finished { status: ended.status, body }).await;
    });
    events
}

fn background(gateway: &Gateway, tag: &Tag, key: JobKey) -> Background {
    let (gateway, tag) = (gateway.clone(), tag.clone());
    Background {
        jobs: gateway.jobs().clone(),
        key,
        finish: Arc::new(move |outcome, changes| tag.finish(&gateway, outcome, changes)),
    }
}

struct End {
    status: StatusCode,
    outcome: Outcome,
}

impl End {
    fn of(outcome: Outcome) -> Self {
        Self { status: StatusCode::OK, outcome }
    }
}

async fn in_time(mut work: JoinHandle<Outcome>, cancel: &Cancel, limit: Duration, name: &str) -> End {
    let ended = tokio::select! {
        ended = &mut work => ended,
        () = tokio::time::sleep(limit) => {
            cancel.cancel();
            let error = words::timeout(name, u64::try_from(limit.as_millis()).unwrap_or(u64::MAX));
            return End { status: StatusCode::GATEWAY_TIMEOUT, outcome: Outcome::Error(error) };
        }
        () = cancel.cancelled() => match tokio::time::timeout(GRACE, &mut work).await {
            Ok(ended) => ended,
            Err(_) => return End::of(Outcome::Error(words::cancelled(name, true))),
        },
    };
    ended.map(End::of).unwrap_or_else(|why| {
        error!(tool = %name, "a tool ended unexpectedly: {why}");
        let error = words::tool_error(name, "it ended unexpectedly; whether it took effect is unknown");
        End { status: StatusCode::INTERNAL_SERVER_ERROR, outcome: Outcome::Error(error) }
    })
}
