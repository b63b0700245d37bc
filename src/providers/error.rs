//! What vendors' errors say, in whichever of the known shapes. Knows nothing of HTTP.
//!
//! | shape | whose |
//! |---|---|
//! | `{"error": {"message", "type", "code", …}}` | OpenAI and those like it, Google (with `status` and `details`) |
//! | `[{"error": {…}}]` | Google, in front of its OpenAI-compatible endpoint and outside an event stream |
//! | `{"error": "words"}` | Ollama |
//! | `{"type": "error", "error": {"type", "message"}}` | Anthropic |
//! | `{"type": "error", "code", "message"}` | OpenAI Responses, inside a stream |
//! | `{"event_type": "error", "error": {"code": "words", …}}` | Gemini Interactions, inside a stream |
//! | `{"object": "error", "message", …}` | vLLM, Mistral |
//! | `{"detail": "words"}`, `{"message": "words"}` | proxies; only where the status says that it is an error |
//!
//! Where words are expected may stand an object or a list with words in it, such as FastAPI's
//! `{"detail": [{"loc": ["body", "tools"], "msg": "…"}]}` (Mistral, vLLM and others).

use crate::protocol::{ModelError, ModelErrorKind};
use crate::providers::json::{Json, field, list, text};
use crate::wire::retry::{RetryAdvice, decimal};

// Servers quote a wrong key in part, which no search for the whole one finds: so these words are ours.
const KEY_REFUSED: &str = "The model's server refused the key";
// Where a server speaks of a key, so many letters of it are meant as a hint.
const HINT: usize = 4;
// So many letters of a key are no accident.
const QUOTED: usize = 10;
// Characters of what a server repeats of another's.
const MAX_RAW: usize = 1000;

/// The error that an HTTP answer other than 2xx is.
///
/// `advice` is what its head says about asking again: it is nearer to who decides than the words of the body are.
#[must_use]
pub fn of_answer(status: u16, advice: RetryAdvice, body: &str) -> ModelError {
    let body: Json<'_> = serde_json::from_str(body).unwrap_or_default();
    let told = error_in(&body).or_else(|| {
        let words = field(&body, "detail").and_then(words_in).or_else(|| words_in(field(&body, "message")?))?;
        Some(ModelError::new(ModelErrorKind::from_status(status), words))
    });
    let retry = advice.retry.or_else(|| told.as_ref().and_then(|error| error.retry));
    let retry_after_ms = advice.after_ms.or_else(|| told.as_ref().and_then(|error| error.retry_after_ms));
    let of_key = matches!(&told, Some(error) if error.kind == Auth);
    let kind = if of_key { Auth } else { ModelErrorKind::from_status(status) };
    let message = match (status, told) {
        (401, _) | (403, None) => format!("{KEY_REFUSED} (HTTP {status})."),
        (_, Some(error)) => error.message,
        (_, None) => format!("The model's server answered with HTTP {status}."),
    };
    ModelError { kind, message, retry_after_ms, retry }
}

/// A text in which `[key]` stands wherever the key stood, or the beginning of a long key, which servers quote.
///
/// A key that keeps nothing secret hides nothing: see `is_placeholder`.
#[must_use]
pub fn redact(key: &str, text: &str) -> String {
    if is_placeholder(key) {
        return text.to_owned();
    }
    let mut text = text.replace(key, "[key]");
    if let Some(start) = key.get(..QUOTED).filter(|_| key.len() >= 2 * QUOTED) {
        while let Some(at) = text.find(start) {
            let same = text[at..].chars().zip(key.chars()).take_while(|(one, other)| one == other);
            let length: usize = same.map(|(letter, _)| letter.len_utf8()).sum();
            text.replace_range(at..at + length, "[key]");
        }
    }
    text
}

// What the manuals of servers without keys tell people to write where a program insists on one.
const PLACEHOLDERS: &[&str] = &[
    "lm-studio",
    "lmstudio",
    "llama.cpp",
    "llama-cpp",
    "localhost",
    "not-needed",
    "not_needed",
    "not-required",
    "no-key-required",
    "sk-no-key-required",
    "placeholder",
    "undefined",
    "your-api-key",
    "token-abc123",
];

/// Whether a key only fills a field that must not be empty, such as `ollama` or `none`. Whatever is shorter than 8 bytes
/// is taken for one as well: a key of one letter stands in every second word of an error, and guards nothing.
fn is_placeholder(key: &str) -> bool {
    key.len() < 8 || PLACEHOLDERS.iter().any(|placeholder| key.eq_ignore_ascii_case(placeholder))
}

/// An error without a key, should it be in its words; where it is about the key, without the smallest part of it.
#[must_use]
pub fn without_key(mut error: ModelError, key: &str) -> ModelError {
    let quoted = !is_placeholder(key) && key.get(..HINT).is_some_and(|start| error.message.contains(start));
    error.message = if error.kind == Auth && quoted { format!("{KEY_REFUSED}.") } else { redact(key, &error.message) };
    error
}

/// The error that a page is where an answer should be: of a proxy, or of a wrong address.
#[must_use]
pub fn of_page(content_type: &str) -> Option<ModelError> {
    let is_page = content_type.trim_start().to_ascii_lowercase().starts_with("text/html");
    let words =
        "The model's address answered with a web page (text/html), not with a model's answer; check the address.";
    is_page.then(|| ModelError { retry: Some(false), ..ModelError::new(ModelErrorKind::Upstream, words) })
}

/// The error a JSON value holds; `None` where it holds none.
#[must_use]
pub(super) fn error_in(body: &Json<'_>) -> Option<ModelError> {
    let body = body.as_array().and_then(|list| list.first()).unwrap_or(body);
    let is_error = ["type", "object", "event_type"].iter().any(|name| text(body, name) == Some("error"));
    let error = match field(body, "error") {
        Some(error) => error,
        None if is_error => body,
        None => return None,
    };
    Some(read(error))
}

/// The error that an error object is.
pub(super) fn read(error: &Json<'_>) -> ModelError {
    let words = error.as_str().map(str::to_owned).or_else(|| words_in(field(error, "message")?));
    let words = words.or_else(|| words_in(field(error, "detail")?));
    let words = words.unwrap_or_else(|| "the model's server reported an error without a message".to_owned());
    // OpenRouter says "Provider returned error", and here what the provider said.
    let words = match field(error, "metadata").and_then(|more| text(more, "raw")) {
        Some(raw) => format!("{words}: {}", words_of_raw(raw)),
        None => words,
    };
    let status = ["code", "status"].iter().find_map(|name| field(error, name)?.as_u64());
    let status = status.and_then(|code| u16::try_from(code).ok());
    let named = |word: &str| ["code", "type", "status"].iter().any(|name| text(error, name) == Some(word));
    let kind = NAMED.iter().find(|(word, _)| named(word)).map(|(_, kind)| *kind);
    // Google says so of a key that it does not know, with HTTP 400.
    let of_key = status == Some(401)
        || OF_KEY.iter().any(|word| named(word))
        || list(error, "details").iter().any(|detail| text(detail, "reason") == Some("API_KEY_INVALID"));
    let of_image = text(error, "code").is_some_and(|code| code.contains("image"));
    let kind = if of_key { Some(Auth) } else { kind.or(of_image.then_some(BadRequest)) };
    let kind = kind.or_else(|| status.map(ModelErrorKind::from_status)).unwrap_or(ModelErrorKind::Upstream);
    let words = if of_key { format!("{KEY_REFUSED}.") } else { words };
    let mut found = ModelError::new(kind, words);
    found.retry_after_ms = list(error, "details").iter().find_map(|detail| {
        let delay = text(detail, "retryDelay")?;
        decimal(delay.trim().strip_suffix('s')?)
    });
    // Anthropic names a limit of spending here, which no wait outlasts.
    let spent = kind == ModelErrorKind::RateLimit
        && field(error, "details").is_some_and(|details| text(details, "error_code").is_some());
    let of_template = OF_TEMPLATE.iter().any(|word| found.message.contains(word));
    let is_final = spent || of_template || FINAL.iter().any(|word| named(word));
    found.retry = if is_final || list(error, "details").iter().any(is_used_up_for_today) {
        Some(false)
    } else {
        // Groq: the model wrote a call that its server can not read; another try is another call.
        named("tool_use_failed").then_some(true)
    };
    found
}

/// Whether a server refused what it had sealed itself: "Invalid `signature` in `thinking` block" (Anthropic), "Corrupted
/// thought signature" (Gemini), "The encrypted content … could not be verified", "Item 'rs_…' not found" (OpenAI).
pub(super) fn is_of_sealed(refusal: &ModelError) -> bool {
    let says = |word: &&str| refusal.message.contains(*word);
    refusal.kind == BadRequest
        && ["signature", "encrypted content", "encrypted_content", "redacted_thinking", "'rs_"].iter().any(says)
}

// JSON of an error where it is one, else words.
fn words_of_raw(raw: &str) -> String {
    let body: Json<'_> = serde_json::from_str(raw).unwrap_or_default();
    error_in(&body).map_or_else(|| raw.chars().take(MAX_RAW).collect(), |error| error.message)
}

// The words of whatever stands where words are expected, with the place that they are about.
fn words_in(value: &Json<'_>) -> Option<String> {
    if let Some(words) = value.as_str() {
        return Some(words.to_owned()).filter(|words| !words.is_empty());
    }
    if let Some(list) = value.as_array() {
        let words: Vec<String> = list.iter().filter_map(words_in).collect();
        return Some(words.join("; ")).filter(|words| !words.is_empty());
    }
    let words = ["msg", "message", "detail"].iter().find_map(|name| words_in(field(value, name)?))?;
    let place: Vec<String> =
        list(value, "loc").iter().map(|step| step.as_str().map_or_else(|| step.to_string(), str::to_owned)).collect();
    Some(if place.is_empty() { words } else { format!("{}: {words}", place.join(".")) })
}

use ModelErrorKind::{Auth, BadRequest, RateLimit, Upstream};

const OF_KEY: &[&str] = &["invalid_api_key", "authentication_error", "UNAUTHENTICATED"];

const NAMED: &[(&str, ModelErrorKind)] = &[
    ("rate_limit_exceeded", RateLimit),
    ("rate_limit_error", RateLimit),
    ("too_many_requests", RateLimit),
    ("RESOURCE_EXHAUSTED", RateLimit),
    ("insufficient_quota", RateLimit),
    ("permission_error", Auth),
    ("PERMISSION_DENIED", Auth),
    ("invalid_request_error", BadRequest),
    ("invalid_request", BadRequest),
    ("INVALID_ARGUMENT", BadRequest),
    ("FAILED_PRECONDITION", BadRequest),
    ("not_found_error", BadRequest),
    ("not_found", BadRequest),
    ("NOT_FOUND", BadRequest),
    ("billing_error", BadRequest),
    ("request_too_large", BadRequest),
    ("context_length_exceeded", BadRequest),
    ("exceed_context_size_error", BadRequest),
    ("not_supported_error", BadRequest),
    ("invalid_prompt", BadRequest),
    ("bio_policy", BadRequest),
    ("misalignment_policy_violation", BadRequest),
    ("invalid_encrypted_content", BadRequest),
    ("server_error", Upstream),
    ("server_is_overloaded", Upstream),
    ("overloaded_error", Upstream),
    ("unavailable_error", Upstream),
    ("api_error", Upstream),
    ("timeout_error", Upstream),
    ("gateway_timeout", Upstream),
    ("INTERNAL", Upstream),
    ("UNAVAILABLE", Upstream),
    ("DEADLINE_EXCEEDED", Upstream),
];

const FINAL: &[&str] = &["insufficient_quota"];

// llama.cpp says so with HTTP 500 where the model's template does not take the request: it does not take it again.
const OF_TEMPLATE: &[&str] = &["jinja", "Jinja", " at row "];

// A quota of a day, such as `GenerateRequestsPerDayPerProjectPerModel-FreeTier`: no wait of ours outlasts it.
fn is_used_up_for_today(detail: &Json<'_>) -> bool {
    list(detail, "violations").iter().filter_map(|violation| text(violation, "quotaId")).any(|id| id.contains("PerDay"))
}
