//! Every sentence a user reads that is not the model's. Plain functions; knows nothing of views.

use serde_json::Value;

use crate::protocol::{Attachment, CallState, EndReason, MessageStatus, ModelErrorKind, Scope, Usage, Wait};

/// What the banner says where a part of the thread can not be read.
pub(super) const DAMAGED: &str = "A part of this conversation's record was damaged; it is shown up to there.";

/// Why a thread can not be opened that a later version of the page has written.
pub(super) const NEWER: &str = "a newer version of this page has written it; load this one again";

/// What the banner says where another page has forgotten the thread.
pub(super) const DELETED: &str = "The conversation was deleted in another tab. This is a new one.";

/// What the banner says where a thread that is at work elsewhere can not be read here.
pub(super) const UNREAD: &str = "What was said so far can not be read here; what is said from now on is shown.";

/// What the banner says where the thread can not be written down, and why.
pub(super) fn not_saved(why: &str) -> String {
    format!("This conversation is not being saved for now: {why}.")
}

/// What the banner says where the thread this tab had open can not be read.
pub(super) fn unreadable(why: &str) -> String {
    format!("Your last conversation can not be opened: {why}. This is a new one.")
}

/// What the banner says of a run that did not end with an answer.
pub(super) fn of_end(reason: &EndReason) -> String {
    match reason {
        EndReason::Completed | EndReason::Superseded => String::new(),
        EndReason::Stopped => "You stopped this run.".to_owned(),
        EndReason::Interrupted => "The page was left or reloaded while the agent was at work.".to_owned(),
        EndReason::Truncated => "The answer broke off before its end.".to_owned(),
        EndReason::Empty => "The model answered without a word.".to_owned(),
        EndReason::Length => "The answer ended at the model's limit of length.".to_owned(),
        EndReason::Refused { why } => {
            let why = if why.is_empty() { String::new() } else { format!(" ({why})") };
            format!(
                "The model, or a filter of its provider, did not go on{why}. What it refused is not sent to it again with \
                 your next message: say it in other words."
            )
        }
        EndReason::OutputMismatch { why } => format!("The answer has not the form that was asked for. {why}"),
        EndReason::MaxSteps { limit } => format!("The agent was stopped after {limit} steps."),
        EndReason::MaxCalls { limit, asked } => {
            format!(
                "The agent asked for {asked} tool calls at once; at most {limit} are allowed. None of them was run."
            )
        }
        EndReason::MaxTime { limit_ms } => format!("The agent was stopped after {} of work.", duration(*limit_ms)),
        EndReason::MaxTokens { limit, used } => {
            format!("The agent was stopped after {used} tokens; {limit} are allowed.")
        }
        EndReason::MaxCost { limit_micros, used_micros } => {
            let (limit, used) = (money(*limit_micros), money(*used_micros));
            format!("The agent was stopped after a cost of {used}; {limit} is allowed.")
        }
        EndReason::RepeatedCall { name, limit } => {
            format!("The agent was stopped: it kept making the same call of {name} (more than {limit} times).")
        }
        EndReason::Error(error) => match error.kind {
            ModelErrorKind::RateLimit => format!("Too many requests for now. {}", sentence(&error.message)),
            ModelErrorKind::Network
            | ModelErrorKind::Auth
            | ModelErrorKind::BadRequest
            | ModelErrorKind::Upstream
            | ModelErrorKind::Protocol => sentence(&error.message),
        },
    }
}

// Others' words among ours: with a capital letter, unless they begin with a name such as a file's, and a full stop.
fn sentence(words: &str) -> String {
    let words = words.trim();
    let is_word = words.split(' ').next().is_some_and(|word| word.chars().all(char::is_alphabetic));
    let mut letters = words.chars();
    let first = letters.next().map(|first| if is_word { first.to_uppercase().collect() } else { first.to_string() });
    let end = if words.ends_with(['.', '!', '?', '…', ':']) || words.is_empty() { "" } else { "." };
    [first.unwrap_or_default().as_str(), letters.as_str(), end].concat()
}

/// Whether it is an error rather than something the user did.
pub(super) fn is_error(reason: &EndReason) -> bool {
    !matches!(reason, EndReason::Stopped | EndReason::Interrupted | EndReason::Completed | EndReason::Superseded)
}

/// Why the model is not at work just now.
pub(super) fn of_wait(why: &Wait) -> String {
    match why {
        Wait::Offline => "You are offline; this goes on when you are back.".to_owned(),
        Wait::Retry { attempt, of, error } => {
            let reason = match error {
                None => of_end(&EndReason::Truncated),
                Some(error) => of_end(&EndReason::Error(error.clone())),
            };
            format!("{reason} It is tried again ({attempt} of {of}).")
        }
    }
}

/// Where a call runs.
pub(super) fn of_scope(scope: Option<Scope>) -> &'static str {
    match scope {
        Some(Scope::Browser) => "in this page",
        Some(Scope::Server) => "on the server",
        None => "by the agent",
    }
}

/// A call's state, in a word or two.
pub(super) fn of_state(state: &CallState) -> &'static str {
    match state {
        CallState::InputStreaming => "being written",
        CallState::InputAvailable => "waiting",
        CallState::ApprovalRequested { .. } => "needs your approval",
        CallState::Running => "running",
        CallState::Pending { .. } => "goes on",
        CallState::ResultAvailable { .. } => "done",
        CallState::Failed { .. } => "failed",
        CallState::Denied => "declined",
        CallState::Cancelled => "cancelled",
    }
}

/// What stands under an answer that did not end well.
pub(super) fn of_status(status: MessageStatus) -> Option<&'static str> {
    match status {
        MessageStatus::Complete => None,
        MessageStatus::Truncated => Some("The answer broke off here."),
        MessageStatus::Superseded => Some("The answer broke off here and was asked for again."),
        MessageStatus::Stopped => Some("Stopped here."),
    }
}

/// `350 ms`, `2.4 s`, `3 min 5 s`.
pub(super) fn duration(ms: u64) -> String {
    match ms {
        0..1000 => format!("{ms} ms"),
        1000..60_000 => format!("{}.{} s", ms / 1000, ms % 1000 / 100),
        _ if ms % 60_000 < 1000 => format!("{} min", ms / 60_000),
        _ => format!("{} min {} s", ms / 60_000, ms % 60_000 / 1000),
    }
}

/// `9 s`, `2 min`, `3 h`: what is left of a wait, the longer the rounder.
pub(super) fn left(seconds: u64) -> String {
    match seconds {
        0..=90 => format!("{seconds} s"),
        91..=5400 => format!("{} min", seconds.div_ceil(60)),
        _ => format!("{} h", seconds.div_ceil(3600)),
    }
}

/// Tokens of a run, where the provider counts them, and what they cost, where the gateway knows.
pub(super) fn of_usage(usage: Usage) -> String {
    let Usage { input_tokens, output_tokens, cached_tokens, reasoning_tokens, cost_micros } = usage;
    if usage.tokens() == 0 {
        return String::new();
    }
    let cost = cost_micros.map(|micros| format!(", cost\u{a0}{}", money(micros))).unwrap_or_default();
    let part = |count: u64, word: &str| match count {
        0 => String::new(),
        _ => format!(" ({}\u{a0}{word})", number(count)),
    };
    let (cached, thought) = (part(cached_tokens, "cached"), part(reasoning_tokens, "reasoning"));
    format!("{} tokens in{cached}, {}\u{a0}out{thought}{cost}", number(input_tokens), number(output_tokens))
}

// `1,234,567`
fn number(count: u64) -> String {
    let digits = count.to_string();
    let group = |(at, digit): (usize, char)| {
        let comma = at > 0 && (digits.len() - at).is_multiple_of(3);
        comma.then_some(',').into_iter().chain([digit])
    };
    digits.chars().enumerate().flat_map(group).collect()
}

/// Millionths as a decimal number: two places, four below one, six where that would be nothing.
pub(super) fn money(micros: u64) -> String {
    let (whole, rest) = (micros / 1_000_000, micros % 1_000_000);
    match micros {
        1_000_000.. => format!("{whole}.{:02}", rest / 10_000),
        100..1_000_000 => format!("{whole}.{:04}", rest / 100),
        _ => format!("{whole}.{rest:06}"),
    }
}

/// A file that belongs to a message: `photo.png, 340 kB`.
pub(super) fn of_file(file: &Attachment) -> String {
    let name = if file.name.is_empty() { file.media_type.as_str() } else { file.name.as_str() };
    match file.size() {
        Some(bytes @ 0..1000) => format!("{name}, {bytes} bytes"),
        Some(bytes @ 1000..1_000_000) => format!("{name}, {} kB", bytes / 1000),
        Some(bytes) => format!("{name}, {}.{} MB", bytes / 1_000_000, bytes % 1_000_000 / 100_000),
        None => name.to_owned(),
    }
}

/// JSON with line breaks, where it is JSON; the text itself where it is not.
pub(super) fn pretty(text: &str) -> String {
    let parsed: Result<Value, _> = serde_json::from_str(text);
    parsed.ok().and_then(|value| serde_json::to_string_pretty(&value).ok()).unwrap_or_else(|| text.to_owned())
}
