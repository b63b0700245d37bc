//! An `AbortController` that aborts when it is dropped. Knows nothing of what it aborts.

use web_sys::{AbortController, AbortSignal};

/// Aborts what was given its signal when it goes out of scope, unless it was [`disarm`](Self::disarm)ed.
#[derive(Debug)]
pub struct Abort {
    controller: Option<AbortController>,
}

impl Abort {
    /// A fresh one. Every browser this runs in has `AbortController`.
    #[must_use]
    pub fn new() -> Self {
        Self { controller: AbortController::new().ok() }
    }

    /// The signal to hand on.
    #[must_use]
    pub fn signal(&self) -> Option<AbortSignal> {
        self.controller.as_ref().map(AbortController::signal)
    }

    /// Aborts now.
    pub fn abort(&self) {
        if let Some(controller) = &self.controller {
            controller.abort();
        }
    }

    /// Lets go without aborting: what it guarded has come to its end.
    pub fn disarm(&mut self) {
        self.controller = None;
    }
}

impl Default for Abort {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for Abort {
    fn drop(&mut self) {
        self.abort();
    }
}
