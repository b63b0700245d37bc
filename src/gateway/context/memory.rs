//! What can be recalled of earlier threads. Knows nothing of where it is kept: a host brings its own.

use std::sync::Arc;

use futures::future::BoxFuture;
use serde_json::Value;

use crate::gateway::context::identity::Identity;
use crate::protocol::ToolError;

/// Something recalled.
#[derive(Clone, Debug, PartialEq)]
pub struct Recalled {
    /// Its text.
    pub text: String,
    /// Where it is from and whatever else is known of it.
    pub about: Value,
}

/// A host's memory. It must keep users apart by itself: a search is made for one user, or for nobody.
pub trait Memory: Send + Sync {
    /// The best `limit` memories for a query, the best first.
    ///
    /// # Errors
    /// Words for the model, and for the operator.
    fn search<'a>(
        &'a self,
        user: Option<&'a Identity>,
        query: &'a str,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<Recalled>, ToolError>>;
}

/// The memory of a gateway that none was set up for: it recalls nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoMemory;

impl Memory for NoMemory {
    fn search<'a>(
        &'a self,
        _: Option<&'a Identity>,
        _: &'a str,
        _: usize,
    ) -> BoxFuture<'a, Result<Vec<Recalled>, ToolError>> {
        Box::pin(async { Ok(Vec::new()) })
    }
}

/// The memory as one call sees it: for its user.
#[derive(Clone)]
pub struct CallMemory {
    memory: Arc<dyn Memory>,
    user: Option<Identity>,
}

impl CallMemory {
    pub(crate) fn new(memory: Arc<dyn Memory>, user: Option<Identity>) -> Self {
        Self { memory, user }
    }

    /// The best `limit` memories for a query; none where no memory is set up.
    ///
    /// # Errors
    /// As the memory says.
    pub async fn search(&self, query: &str, limit: usize) -> Result<Vec<Recalled>, ToolError> {
        self.memory.search(self.user.as_ref(), query, limit).await
    }
}
