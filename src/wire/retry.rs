//! What the head of an HTTP answer says about asking again (RFC 9110 §10.2.3, and the headers that model servers added).
//! Knows nothing of what was asked.
//!
//! | header | says |
//! |---|---|
//! | `x-should-retry` | whether it may help, whatever the status |
//! | `retry-after-ms` | when, in milliseconds |
//! | `retry-after` | when, in seconds or as a date |

/// What a head says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RetryAdvice {
    /// Whether to ask again; `None` where it does not say.
    pub retry: Option<bool>,
    /// How long to wait, in milliseconds.
    pub after_ms: Option<u64>,
}

impl RetryAdvice {
    /// Reads a head. `date` reads an HTTP date (RFC 9110 §5.6.7) in milliseconds since the Unix epoch; `now_ms` is the time of
    /// the reader's clock, for a date where the head has none of its own.
    pub fn read(header: impl Fn(&str) -> Option<String>, date: impl Fn(&str) -> Option<u64>, now_ms: u64) -> Self {
        let retry = header("x-should-retry").and_then(|text| match text.trim() {
            "true" => Some(true),
            "false" => Some(false),
            _ => None,
        });
        let ms = || Some(decimal(&header("retry-after-ms")?)? / 1000);
        let seconds_or_date = || {
            let text = header("retry-after")?;
            // Two clocks seldom agree, so a date is held against the clock it was made by.
            let now = || header("date").and_then(|text| date(&text)).unwrap_or(now_ms);
            decimal(&text).or_else(|| Some(date(&text)?.saturating_sub(now())))
        };
        Self { retry, after_ms: ms().or_else(seconds_or_date) }
    }
}

/// A decimal number, times 1000: seconds in milliseconds. One too great to be counted is the greatest there is.
#[must_use]
pub fn decimal(text: &str) -> Option<u64> {
    let (whole, fraction) = text.trim().split_once('.').unwrap_or((text.trim(), ""));
    let are_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !are_digits(whole) || !are_digits(fraction) {
        return None;
    }
    let digit = |at: usize| fraction.as_bytes().get(at).map_or(0, |byte| u64::from(byte - b'0'));
    let thousandths = digit(0) * 100 + digit(1) * 10 + digit(2);
    let whole = whole.parse::<u64>().unwrap_or(u64::MAX);
    Some(whole.saturating_mul(1000).saturating_add(thousandths))
}

/// An HTTP date in milliseconds since the Unix epoch, in any of its three forms (RFC 9110 §5.6.7). A page has its browser
/// read it instead, which is 2 kB less to load.
#[must_use]
pub fn http_date(text: &str) -> Option<u64> {
    let since_epoch = httpdate::parse_http_date(text.trim()).ok()?.duration_since(std::time::UNIX_EPOCH).ok()?;
    u64::try_from(since_epoch.as_millis()).ok()
}
