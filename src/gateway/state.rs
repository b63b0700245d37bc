//! What the routes share: the model, the tools, and how much of either may be at work at once.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::http::{HeaderMap, StatusCode};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::gateway::calls::Calls;
use crate::gateway::catalog::{Catalog, Served};
use crate::gateway::context::identity::Identify;
use crate::gateway::context::{Artifacts, Cancel, Identity, Memory};
use crate::gateway::error::Refusal;
use crate::gateway::jobs::{JobKey, Jobs};
use crate::gateway::models::Models;
use crate::protocol::Settled;
use crate::tools::Metrics;

const MAX_MODEL_CALLS: usize = 64;
const MAX_TOOL_CALLS: usize = 128;

/// What the routes share. Made by a [`Builder`](crate::gateway::Builder).
#[derive(Clone)]
pub struct Gateway {
    inner: Arc<Inner>,
}

/// What a gateway is made of.
pub(super) struct Parts {
    pub(super) models: Models,
    pub(super) catalog: Arc<Catalog>,
    pub(super) identify: Identify,
    pub(super) memory: Arc<dyn Memory>,
    pub(super) artifacts: Arc<dyn Artifacts>,
    pub(super) calls: Calls,
}

struct Inner {
    parts: Parts,
    jobs: Jobs,
    metrics: Mutex<Metrics>,
    running: Mutex<Vec<(JobKey, Cancel)>>,
    model_permits: Arc<Semaphore>,
    tool_permits: Arc<Semaphore>,
}

impl Gateway {
    pub(super) fn new(parts: Parts) -> Self {
        let permits = |count| Arc::new(Semaphore::new(count));
        let inner = Inner {
            parts,
            jobs: Jobs::default(),
            metrics: Mutex::default(),
            running: Mutex::default(),
            model_permits: permits(MAX_MODEL_CALLS),
            tool_permits: permits(MAX_TOOL_CALLS),
        };
        Self { inner: Arc::new(inner) }
    }

    pub(super) fn models(&self) -> &Models {
        &self.inner.parts.models
    }

    /// What is served now. A call keeps what it began with.
    pub(super) fn served(&self) -> Arc<Served> {
        self.inner.parts.catalog.served()
    }

    /// The version of a definition that is, or was, served.
    pub(super) fn version_of(&self, hash: &str) -> Option<String> {
        self.inner.parts.catalog.version_of(hash)
    }

    pub(super) fn memory(&self) -> Arc<dyn Memory> {
        Arc::clone(&self.inner.parts.memory)
    }

    pub(super) fn artifacts(&self) -> Arc<dyn Artifacts> {
        Arc::clone(&self.inner.parts.artifacts)
    }

    /// What became of every call.
    pub(super) fn calls(&self) -> &Calls {
        &self.inner.parts.calls
    }

    pub(super) fn jobs(&self) -> &Jobs {
        &self.inner.jobs
    }

    /// Who sent a request.
    pub(super) async fn identify(&self, headers: &HeaderMap) -> Result<Option<Identity>, Refusal> {
        (self.inner.parts.identify)(headers.clone()).await.map_err(|why| {
            tracing::warn!("a request's user can not be believed: {why}");
            let words = "The gateway can not tell who sent this request.";
            Refusal::new(StatusCode::UNAUTHORIZED, "unknown_user", words)
        })
    }

    pub(super) fn count(&self, call: &Settled) {
        lock(&self.inner.metrics).count(call);
    }

    pub(super) fn metrics(&self) -> Metrics {
        lock(&self.inner.metrics).clone()
    }

    pub(super) fn begin_call(&self, key: &JobKey, cancel: &Cancel) {
        lock(&self.inner.running).push((key.clone(), cancel.clone()));
    }

    pub(super) fn end_call(&self, key: &JobKey, cancel: &Cancel) {
        lock(&self.inner.running).retain(|(other, sign)| other != key || !sign.is(cancel));
    }

    /// Gives the calls of this key the sign to stop; `false` where none is at work.
    pub(super) fn cancel_call(&self, user: Option<&str>, call: &str, tool: &str) -> bool {
        let tool = self.served().tools.registry().find(tool).map_or(tool.to_owned(), |found| found.name.clone());
        let key = JobKey { user: user.map(str::to_owned), call: call.to_owned(), tool };
        let running = lock(&self.inner.running);
        let mut signs = running.iter().filter(|(other, _)| *other == key).peekable();
        let any = signs.peek().is_some();
        signs.for_each(|(_, cancel)| cancel.cancel());
        any
    }

    pub(super) fn model_permit(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.inner.model_permits).try_acquire_owned().ok()
    }

    pub(super) fn tool_permit(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.inner.tool_permits).try_acquire_owned().ok()
    }

    // For the ids of one answer. Without a random source they are only unique in it, which is all the wire asks.
    #[expect(clippy::unused_self, reason = "reads as what it is at the call")]
    pub(super) fn seed(&self) -> u64 {
        let mut bytes = [0; 8];
        let _ = getrandom::fill(&mut bytes);
        u64::from_le_bytes(bytes)
    }
}

impl std::fmt::Debug for Gateway {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Gateway")
    }
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}
