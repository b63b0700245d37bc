//! The state as one call sees it: the values at its start, and its own changes. Knows nothing of who keeps them.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;

use crate::protocol::{Delta, State};

/// What a tool reads and writes. Copies are of the same call.
///
/// A call sees what calls of *earlier steps* changed, and its own changes. Those of a step are taken over when all its
/// calls are settled, in the order the model made the calls, so of two that write one key the later call's value
/// stays, whichever was done first.
#[derive(Clone, Debug, Default)]
pub struct ToolState {
    inner: Arc<Mutex<Inner>>,
}

#[derive(Debug, Default)]
struct Inner {
    before: Arc<State>,
    changes: Delta,
}

impl ToolState {
    /// The state of a call that starts now.
    #[must_use]
    pub fn new(before: Arc<State>) -> Self {
        Self { inner: Arc::new(Mutex::new(Inner { before, changes: Delta::default() })) }
    }

    /// A value; null where there is none.
    #[must_use]
    pub fn get(&self, key: &str) -> Value {
        let inner = self.inner();
        inner.changes.get(key).or_else(|| inner.before.get(key)).cloned().unwrap_or_default()
    }

    /// Sets a value; null takes it out.
    pub fn set(&self, key: &str, value: Value) {
        self.inner().changes.insert(key.to_owned(), value);
    }

    /// Everything, as a JSON object.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let inner = self.inner();
        let mut all = State::clone(&inner.before);
        all.apply(&inner.changes, |_| true);
        all.to_json(|_| true)
    }

    /// What the call has changed so far, to be taken over; it sees it still.
    #[must_use]
    pub fn take_changes(&self) -> Delta {
        let mut inner = self.inner();
        let changes = std::mem::take(&mut inner.changes);
        Arc::make_mut(&mut inner.before).apply(&changes, |_| true);
        changes
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
