//! A server's answer → the tool's. Knows nothing of how it came.
//!
//! | status | is |
//! |---|---|
//! | 2xx | the result: JSON, or a text; null where there is none |
//! | 3xx | `tool_error`: no redirect is followed |
//! | 400, 422 | `invalid_arguments` |
//! | 401, 403 | `refused` |
//! | 404, 410 | `not_found` |
//! | 409, 412 | `conflict` |
//! | 429 | `busy`, worth repeating |
//! | 5xx | `tool_error`, worth repeating where the replay class is not `effect` |
//! | any other | `tool_error` |

use reqwest::StatusCode;
use serde_json::{Map, Value};

use crate::gateway::Secret;
use crate::gateway::http::spec::Spec;
use crate::protocol::{JsonFault, Outcome, Replay, ToolError, parse_json};
use crate::tools::error;

/// What came back.
pub(super) struct Told {
    pub(super) status: StatusCode,
    pub(super) kind: String,
    pub(super) retry_after: String,
    pub(super) body: Vec<u8>,
    pub(super) too_long: bool,
}

// Of a server's own words.
const MAX_WORDS: usize = 500;

pub(super) fn read(told: &Told, spec: &Spec, replay: Replay, tool: &str) -> Outcome {
    let secrets: Vec<&Secret> = spec.secrets().collect();
    if !told.status.is_success() {
        return Outcome::Error(refused(told, spec, replay, tool, &secrets));
    }
    let fault = |why: &str| {
        let words = format!("its server took the request, but {why}. Do not repeat the call; tell the user");
        Outcome::Error(error::tool_error(tool, &words))
    };
    if told.too_long {
        return fault(&format!("its answer is longer than {} bytes", spec.max_bytes));
    }
    let value = match told.value() {
        Ok(value) => without(value, &secrets),
        Err(why) => return fault(&why),
    };
    let Some(pointer) = &spec.result else { return Outcome::Result(value) };
    match value.pointer(pointer) {
        Some(result) => Outcome::Result(result.clone()),
        None => fault(&format!("its answer has nothing at {pointer}")),
    }
}

impl Told {
    fn value(&self) -> Result<Value, String> {
        if self.body.is_empty() {
            return Ok(Value::Null);
        }
        let kind = self.kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        if kind == "application/json" || kind.ends_with("+json") {
            let text = String::from_utf8_lossy(&self.body);
            return parse_json(&text).map_err(|why| match why {
                JsonFault::TooDeep => format!("its answer is {why}"),
                JsonFault::Invalid(_) => "its answer is no JSON, though it says so".to_owned(),
            });
        }
        if kind.starts_with("text/") {
            return Ok(Value::from(String::from_utf8_lossy(&self.body).into_owned()));
        }
        Err("its answer is neither JSON nor text".to_owned())
    }
}

fn refused(told: &Told, spec: &Spec, replay: Replay, tool: &str, secrets: &[&Secret]) -> ToolError {
    let status = told.status.as_u16();
    let said = if told.too_long { None } else { told.value().ok() };
    let said = said.map(|value| without(value, secrets));
    let said = spec.error.as_ref().zip(said).and_then(|(pointer, value)| words_at(&value, pointer));
    let words = |usual: &str| said.clone().unwrap_or_else(|| usual.to_owned());
    let error = |code, usual: &str| ToolError::new(code, format!("\"{tool}\": {}", words(usual)));
    let error = match status {
        300..=399 => {
            let words = "its server answers with a redirect, which is not followed. Tell the user";
            return error::tool_error(tool, words).for_operator(format!("HTTP {status}"));
        }
        400 | 422 => error("invalid_arguments", "its server does not take these arguments. Correct them."),
        401 | 403 => error("refused", "its server refused the request. Do not repeat the call; tell the user."),
        404 | 410 => error("not_found", "there is no such thing. Check the arguments."),
        409 | 412 => error("conflict", "the state of the thing forbids it. Do not repeat the call; tell the user."),
        429 => {
            let wait = told.retry_after.trim().parse::<u32>();
            let wait = wait.map_or_else(|_| "a little later".to_owned(), |seconds| format!("in {seconds} s"));
            ToolError::new("busy", format!("\"{tool}\" was not run: its server is busy. Call it again {wait}."))
                .retryable()
        }
        500..=599 if replay == Replay::Effect => error(
            "tool_error",
            "its server failed. Whether it took effect is unknown: check first, and do not simply repeat the call.",
        ),
        500..=599 => error("tool_error", "its server failed.").retryable(),
        _ => error("tool_error", &format!("its server answered with HTTP {status}.")),
    };
    error.for_operator(format!("HTTP {status}"))
}

fn words_at(value: &Value, pointer: &str) -> Option<String> {
    let found = value.pointer(pointer)?;
    let text = found.as_str().map_or_else(|| found.to_string(), str::to_owned);
    let text: String = text.chars().filter(|letter| !letter.is_control()).take(MAX_WORDS).collect();
    Some(text).filter(|text| !text.trim().is_empty())
}

// A server that echoes a request must not hand its secret on.
fn without(value: Value, secrets: &[&Secret]) -> Value {
    if secrets.is_empty() {
        return value;
    }
    let clean = |text: &str| secrets.iter().fold(text.to_owned(), |text, secret| secret.redact(&text));
    match value {
        Value::String(text) => Value::String(clean(&text)),
        Value::Array(list) => list.into_iter().map(|one| without(one, secrets)).collect(),
        Value::Object(map) => {
            let pairs = map.into_iter().map(|(key, one)| (clean(&key), without(one, secrets)));
            Value::Object(pairs.collect::<Map<_, _>>())
        }
        plain => plain,
    }
}
