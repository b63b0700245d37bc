//! How long to wait before the other side is asked again. Knows nothing of what it was asked.

const FIRST_MS: u64 = 500;
const LONGEST_MS: u64 = 8_000;
// A stated wait is kept to the end, and a little longer: whoever was told the same does not come back all at once.
const STATED_SPREAD_MS: u64 = 1_000;

const FIRST_PROBE_MS: u64 = 1_000;
const LONGEST_PROBE_MS: u64 = 30_000;

/// The wait before the `attempt`th time (from 1) that a request is sent again, in milliseconds.
///
/// As long as the other side asks for (0 where it does not), or else twice as long each time, less up to a quarter. `below`
/// gives a number by chance, less than the one it is given: pages that failed together do not come back together.
pub fn wait_ms(attempt: u32, stated_ms: u64, below: impl FnOnce(u64) -> u64) -> u64 {
    if stated_ms > 0 {
        return stated_ms.saturating_add(below(STATED_SPREAD_MS.min(stated_ms / 8) + 1));
    }
    let whole = doubled(FIRST_MS, attempt.saturating_sub(1), LONGEST_MS);
    whole - below(whole / 4 + 1)
}

/// The pause before the network is looked for once more, after so many times.
///
/// Short at first, because a browser may be wrong about being offline; then twice as long each time.
#[must_use]
pub fn probe_ms(probes: u32) -> u64 {
    doubled(FIRST_PROBE_MS, probes, LONGEST_PROBE_MS)
}

fn doubled(first: u64, times: u32, longest: u64) -> u64 {
    1_u64.checked_shl(times).and_then(|factor| first.checked_mul(factor)).unwrap_or(longest).min(longest)
}
