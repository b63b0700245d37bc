//! What the host tells the model beside the thread. Knows nothing of who reads it.

use serde::Serialize;

/// One fact about the world of the run, as in AG-UI `context` (both fields are text).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ContextItem {
    /// What the value is, for the model: `"address of the page"`.
    pub description: String,
    /// The value itself.
    pub value: String,
}

impl ContextItem {
    /// A fact and what it is.
    #[must_use]
    pub fn new(description: impl Into<String>, value: impl Into<String>) -> Self {
        Self { description: description.into(), value: value.into() }
    }
}
