//! What the routes share: the model, the tools, and how much of either may be at work at once.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::gateway::model::Model;
use crate::gateway::tools::ServerTools;

const MAX_MODEL_CALLS: usize = 64;
const MAX_TOOL_CALLS: usize = 128;

/// What the routes share.
#[derive(Clone)]
pub(super) struct Gateway {
    inner: Arc<Inner>,
}

struct Inner {
    model: Model,
    tools: ServerTools,
    model_permits: Arc<Semaphore>,
    tool_permits: Arc<Semaphore>,
}

impl Gateway {
    pub(super) fn new(model: Model, tools: ServerTools) -> Self {
        let permits = |count| Arc::new(Semaphore::new(count));
        let inner =
            Inner { model, tools, model_permits: permits(MAX_MODEL_CALLS), tool_permits: permits(MAX_TOOL_CALLS) };
        Self { inner: Arc::new(inner) }
    }

    pub(super) fn model(&self) -> &Model {
        &self.inner.model
    }

    pub(super) fn tools(&self) -> &ServerTools {
        &self.inner.tools
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
