//! A sign that work should stop. Knows nothing of the work; whoever does it looks at the sign.

use std::sync::Arc;

use tokio::sync::watch;

/// A sign that a call or a job should stop. Copies are of the same sign.
///
/// It is given when the page cancels, and when the call's time is over; not when the page's connection ends, because a
/// write that was begun should be done. Nobody ends a tool that does not look at it.
#[derive(Clone, Debug)]
pub struct Cancel {
    sign: Arc<watch::Sender<bool>>,
}

impl Cancel {
    /// A sign that was not given yet.
    #[must_use]
    pub fn new() -> Self {
        Self { sign: Arc::new(watch::Sender::new(false)) }
    }

    /// Gives the sign.
    pub fn cancel(&self) {
        self.sign.send_replace(true);
    }

    /// Whether it was given.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        *self.sign.borrow()
    }

    /// Waits for it.
    pub async fn cancelled(&self) {
        // The sender lives as long as `self`, so this ends only with the sign.
        let _ = self.sign.subscribe().wait_for(|given| *given).await;
    }

    /// Whether two are the same sign.
    pub(crate) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.sign, &other.sign)
    }
}

impl Default for Cancel {
    fn default() -> Self {
        Self::new()
    }
}
