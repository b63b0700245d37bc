//! Whether a request that came to nothing is sent again, and when. Knows nothing of what it asks for.
//!
//! What the answer's head says of it ([`RetryAdvice`](crate::wire::retry::RetryAdvice)) counts before its status.

use crate::browser::clock::now;
use crate::protocol::Millis;
use crate::wire::backoff::wait_ms;

/// The statuses of servers that could not see to a request: too slow, too busy, broken, or not there behind a proxy.
pub(super) fn is_passing(status: u16) -> bool {
    matches!(status, 408 | 429 | 500 | 502 | 503 | 504)
}

/// The attempts of one request.
pub(super) struct Attempts {
    began: Millis,
    time_ms: u64,
    pauses: u32,
}

impl Attempts {
    /// Attempts that together may take so long.
    pub(super) fn within(time_ms: u64) -> Self {
        Self { began: now(), time_ms, pauses: 0 }
    }

    /// How long ago the first one began, in milliseconds.
    pub(super) fn age(&self) -> u64 {
        now().saturating_sub(self.began)
    }

    /// The pause before the next one; `None` where its time would be over by then.
    pub(super) fn pause(&mut self, asked: Option<u64>) -> Option<u64> {
        self.pauses += 1;
        let pause =
            asked.unwrap_or_else(|| wait_ms(self.pauses, 0, |bound| (js_sys::Math::random() * bound as f64) as u64));
        (self.age().saturating_add(pause) < self.time_ms).then_some(pause)
    }
}
