//! A call that is asked for → one that runs, one that runs already, or an answer it had before; or why it is none of
//! them. Knows nothing of the wire.

use axum::http::StatusCode;
use tokio::sync::mpsc;

use crate::gateway::call::read::Asked;
use crate::gateway::call::run;
use crate::gateway::calls::{Flight, Found};
use crate::gateway::context::report::Report;
use crate::gateway::error::Refusal;
use crate::gateway::state::Gateway;
use crate::protocol::ToolError;
use crate::tools::error;

/// A call that has begun, here or before.
pub(super) struct Begun {
    pub(super) flight: Flight,
    pub(super) events: mpsc::Receiver<Report>,
    /// Whether it was another request that ran it.
    pub(super) again: bool,
}

pub(super) async fn begin(gateway: Gateway, asked: Asked) -> Result<Begun, Refusal> {
    let Asked { wanted, ready } = asked;
    let name = wanted.tool().to_owned();
    let found = gateway.calls().begin(wanted, ready.is_ok()).await.map_err(|why| no_record(&why))?;
    let flight = match found {
        Found::Run(claim) => {
            let flight = claim.flight();
            let events = run::start(gateway, ready?, claim);
            return Ok(Begun { flight, events, again: false });
        }
        Found::AtWork(flight) => flight,
        Found::Answered(finished) => Flight::over(finished),
        Found::Unknown => return Err(Refusal::with(StatusCode::CONFLICT, error::unknown_outcome(&name))),
        Found::Reused(other) => {
            return Err(Refusal::with(StatusCode::UNPROCESSABLE_ENTITY, error::key_reused(&name, &other)));
        }
        Found::Unrun => return Err(ready.err().unwrap_or_else(Refusal::busy)),
    };
    tracing::info!(tool = %name, "called again");
    Ok(Begun { flight, events: mpsc::channel(1).1, again: true })
}

/// What is not recorded is not run: it might be run twice.
pub(super) fn no_record(why: &str) -> Refusal {
    tracing::error!("the record of calls: {why}");
    let words = "The gateway's record of calls could not answer, so nothing was run. If it stays so, tell the user.";
    Refusal::with(StatusCode::SERVICE_UNAVAILABLE, ToolError::new("no_record", words).retryable())
}
