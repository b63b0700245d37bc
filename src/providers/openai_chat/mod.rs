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
    let code = error.get("code").or_else(|| error.get("status"));
    let status = code.and_then(Value::as_u64).and_then(|code| u16::try_from(code).ok());
    let kind = match code.and_then(Value::as_str) {
        Some("rate_limit_exceeded") => ModelErrorKind::RateLimit,
        Some("invalid_api_key") => ModelErrorKind::Auth,
        _ => status.map_or(ModelErrorKind::Upstream, ModelErrorKind::from_status),
    };
    Some(ModelError::new(kind, words))
}
