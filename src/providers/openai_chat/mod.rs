//! OpenAI Chat Completions, streamed, and the servers that imitate it.
//!
//! Source: platform.openai.com/docs/api-reference/chat and the behaviour of the servers named below.
//!
//! | quirk | who | here |
//! |---|---|---|
//! | no `index`, or always 0 | Ollama, Gemini's compat endpoint | a name without an index opens a new call; a new id *and* name at a used index too |
//! | no `id`, an empty one, `null` | vLLM, old llama.cpp | the call has no id; on the way back ours stands in |
//! | another `id` on every fragment | some proxies | the same index is the same call |
//! | the last chunk repeats name and whole arguments | vLLM | complete JSON followed by the same JSON is dropped |
//! | whole arguments in one delta, or as an object, or `null` | Ollama, Mistral | taken as they are |
//! | the whole answer in `message` instead of `delta` | some proxies | read as one delta |
//! | `reasoning` / `reasoning_content` | Ollama / DeepSeek, llama.cpp | reasoning |
//! | `choices: []` with usage, usage missing | OpenAI / many | both fine |
//! | finish `stop` although there are calls, or a call-less `tool_calls` | Gemini, LM Studio | the loop goes by the calls |
//! | finish `null` to the end, only `[DONE]` | vLLM | `[DONE]` is an end, too |
//! | `{"error": …}`, `{"object":"error"}`, `[{"error": …}]` inside a 200 | OpenRouter, vLLM, Gemini | an error, in the server's words |
//! | `insufficient_quota`, a `quotaId` of a day | OpenAI / Gemini | final, although the status says to ask again |
//! | `details` with a `retryDelay` such as `45.8s` | Gemini | the wait, where no header states one |
//! | comment lines, no blank line at the end | OpenRouter, DeepSeek / many | the event-stream decoder's business |
//! | a plain JSON body although a stream was asked for | mocks, proxies | read as one chunk |
//!
//! Knows nothing of HTTP.

mod decode;
mod encode;
mod slots;

pub use decode::ChatDecoder;
pub use encode::encode;

use serde_json::Value;

use crate::protocol::{ModelError, ModelErrorKind};
use crate::wire::retry::decimal;

/// The error a body holds, in whichever of the known shapes; `None` where it holds none.
#[must_use]
pub fn error_in(body: &Value) -> Option<ModelError> {
    let body = body.get(0).unwrap_or(body);
    let error = match body.get("error") {
        Some(error) if !error.is_null() => error,
        _ if body.get("object").and_then(Value::as_str) == Some("error") => body,
        _ => return None,
    };
    let words = error.as_str().or_else(|| error.get("message").and_then(Value::as_str));
    let words = words.unwrap_or("the model's server reported an error without a message");
    let status = [error.get("code"), error.get("status")].into_iter().flatten().find_map(Value::as_u64);
    let status = status.and_then(|code| u16::try_from(code).ok());
    let named =
        |word: &str| ["code", "type"].iter().any(|field| error.get(field).and_then(Value::as_str) == Some(word));
    let kind = NAMED.iter().find(|(word, _)| named(word)).map(|(_, kind)| *kind);
    let kind = kind.or_else(|| status.map(ModelErrorKind::from_status)).unwrap_or(ModelErrorKind::Upstream);
    let mut found = ModelError::new(kind, words);
    found.retry_after_ms = details(error).find_map(|detail| {
        let delay = detail.get("retryDelay")?.as_str()?;
        decimal(delay.trim().strip_suffix('s')?)
    });
    found.retry = if named("insufficient_quota") || details(error).any(is_used_up_for_today) {
        Some(false)
    } else {
        // Groq: the model wrote a call that its server can not read; another try is another call.
        named("tool_use_failed").then_some(true)
    };
    Some(found)
}

const NAMED: &[(&str, ModelErrorKind)] = &[
    ("rate_limit_exceeded", ModelErrorKind::RateLimit),
    ("rate_limit_error", ModelErrorKind::RateLimit),
    ("insufficient_quota", ModelErrorKind::RateLimit),
    ("invalid_api_key", ModelErrorKind::Auth),
    ("authentication_error", ModelErrorKind::Auth),
    ("permission_error", ModelErrorKind::Auth),
    ("invalid_request_error", ModelErrorKind::BadRequest),
    ("context_length_exceeded", ModelErrorKind::BadRequest),
];

// Google's: `RetryInfo`, `QuotaFailure` and others.
fn details(error: &Value) -> impl Iterator<Item = &Value> {
    error.get("details").and_then(Value::as_array).into_iter().flatten()
}

// A quota of a day, such as `GenerateRequestsPerDayPerProjectPerModel-FreeTier`: no wait of ours outlasts it.
fn is_used_up_for_today(detail: &Value) -> bool {
    let violations = detail.get("violations").and_then(Value::as_array).into_iter().flatten();
    let mut quotas = violations.filter_map(|violation| violation.get("quotaId").and_then(Value::as_str));
    quotas.any(|quota| quota.contains("PerDay"))
}
