//! Whether a request that came to nothing is sent again, and when. Knows nothing of what it asks for.
//!
//! | what the answer says | counts |
//! |---|---|
//! | `x-should-retry` | before the status: `true` is worth it whatever that is, `false` never |
//! | `retry-after-ms`, then `retry-after` (seconds, or a date) | as the pause |
//! | neither | half a second, doubled to 8 s, up to a quarter less by chance so that pages do not come all at once |

use crate::browser::clock::now;
use crate::browser::fetch::Reply;
use crate::protocol::Millis;

const FIRST_PAUSE_MS: u64 = 500;
const LONGEST_PAUSE_MS: u64 = 8000;

/// The statuses of servers that could not see to a request: too slow, too busy, broken, or not there behind a proxy.
pub(super) fn is_passing(status: u16) -> bool {
    matches!(status, 408 | 429 | 500 | 502 | 503 | 504)
}

/// What an answer says about sending its request again, where it says so.
pub(super) fn advice(reply: &Reply) -> Option<bool> {
    match reply.header("x-should-retry")?.trim() {
        "true" => Some(true),
        "false" => Some(false),
        _ => None,
    }
}

/// How long an answer asks to wait, in milliseconds.
pub(super) fn asked_pause(reply: &Reply) -> Option<u64> {
    if let Some(ms) = reply.header("retry-after-ms").and_then(|text| text.trim().parse().ok()) {
        return Some(ms);
    }
    let text = reply.header("retry-after")?;
    let text = text.trim();
    if text.bytes().all(|byte| byte.is_ascii_digit()) {
        // More digits than a number has are as good as never.
        return Some(text.parse::<u64>().unwrap_or(u64::MAX).saturating_mul(1000));
    }
    let at = js_sys::Date::parse(text);
    (!at.is_nan()).then(|| (at as u64).saturating_sub(now()))
}

/// The attempts of one request.
pub(super) struct Attempts {
    began: Millis,
    time_ms: u64,
    pause_ms: u64,
}

impl Attempts {
    /// Attempts that together may take so long.
    pub(super) fn within(time_ms: u64) -> Self {
        Self { began: now(), time_ms, pause_ms: FIRST_PAUSE_MS }
    }

    /// How long ago the first one began, in milliseconds.
    pub(super) fn age(&self) -> u64 {
        now().saturating_sub(self.began)
    }

    /// The pause before the next one; `None` where its time would be over by then.
    pub(super) fn pause(&mut self, asked: Option<u64>) -> Option<u64> {
        let usual = self.pause_ms;
        self.pause_ms = (usual * 2).min(LONGEST_PAUSE_MS);
        let pause = asked.unwrap_or_else(|| usual - (js_sys::Math::random() * (usual / 4) as f64) as u64);
        (self.age().saturating_add(pause) < self.time_ms).then_some(pause)
    }
}
