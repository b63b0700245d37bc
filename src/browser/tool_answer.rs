//! What the gateway answers to a call of a tool, read: as a stream or whole. Knows nothing of how it was asked.

use serde_json::Value;

use crate::browser::again;
use crate::browser::fetch::{Reply, TextError};
use crate::browser::gateway::MAX_RESULT_BYTES;
use crate::browser::server_tool::Heard;
use crate::protocol::{Answer, Job, JsonFault, Outcome, ToolError, delta_from_json, parse_json};
use crate::tools::error;
use crate::wire::sse::SseDecoder;

/// An attempt that came to nothing, though another one may not.
pub(super) struct Lost {
    /// For the user.
    pub(super) words: String,
    /// What the call comes to where this was the last one.
    pub(super) answer: Answer,
    /// How long the gateway asks to wait.
    pub(super) pause: Option<u64>,
    /// Whether the tool may have been run by it.
    pub(super) may_have_run: bool,
}

impl Lost {
    // A connection that broke before the answer's head looks like one that never was.
    pub(super) fn unreachable(words: &str) -> Self {
        let error = ToolError::new("unreachable", words.to_owned()).retryable();
        Self { words: words.to_owned(), answer: Outcome::Error(error).into(), pause: None, may_have_run: true }
    }

    fn connection() -> Self {
        Self::unreachable("The connection to the gateway was lost.")
    }
}

/// Reads an answer to its end; `Err` where another attempt may be worth it.
pub(super) async fn read_reply(name: &str, mut reply: Reply, heard: &Heard) -> Result<Answer, Lost> {
    let streamed = reply.header("content-type").is_some_and(|kind| kind.starts_with("text/event-stream"));
    if streamed && reply.status == 200 {
        return read_stream(name, reply, heard).await;
    }
    let (status, advice) = (reply.status, reply.retry_advice());
    let body = match reply.text(MAX_RESULT_BYTES).await {
        Ok(body) => body,
        Err(TextError::TooLong) => return Ok(too_long(name)),
        Err(TextError::Lost) => return Err(Lost::connection()),
    };
    let told: Value = serde_json::from_str(&body).unwrap_or_default();
    // Only a gateway says this. Where it is not worth repeating it was the call that failed, not the way there.
    let retryable = told.pointer("/error/retryable").and_then(Value::as_bool);
    if status == 200 || !advice.retry.unwrap_or(again::is_passing(status) && retryable != Some(false)) {
        return Ok(read_answer(name, status, &body));
    }
    let words = match status {
        429 => "The gateway is busy.".to_owned(),
        _ => format!("The gateway failed (HTTP {status})."),
    };
    // What the gateway itself calls worth repeating was not run; whatever stands before it knows nothing of that.
    Err(Lost {
        words,
        answer: read_answer(name, status, &body),
        pause: advice.after_ms,
        may_have_run: retryable.is_none(),
    })
}

async fn read_stream(name: &str, mut reply: Reply, heard: &Heard) -> Result<Answer, Lost> {
    let mut events = SseDecoder::default();
    let mut read = 0;
    while let Ok(Some(bytes)) = reply.chunk().await {
        read += bytes.len();
        if read > MAX_RESULT_BYTES || events.push(&bytes).is_err() {
            return Ok(too_long(name));
        }
        while let Some(event) = events.next() {
            // Bounded is one event: a job may have any number of them to tell.
            read = 0;
            match event.kind.as_str() {
                "answer" => return Ok(read_answer(name, reply.status, &event.data)),
                "progress" => {
                    let told: Value = serde_json::from_str(&event.data).unwrap_or_default();
                    let text = told.get("text").and_then(Value::as_str).unwrap_or_default().to_owned();
                    heard(told.get("fraction").and_then(Value::as_f64), text);
                }
                _ => {}
            }
        }
    }
    Err(Lost::connection())
}

fn too_long(name: &str) -> Answer {
    Outcome::Error(error::result_too_large(name, MAX_RESULT_BYTES)).into()
}

/// What an answer's JSON says.
pub(super) fn read_answer(name: &str, status: u16, body: &str) -> Answer {
    let mut told = match parse_json(body) {
        Ok(Value::Object(told)) => told,
        Err(why @ JsonFault::TooDeep) => return failed(name, &format!("the gateway's answer can not be read: {why}")),
        _ => return failed(name, &format!("the gateway's answer can not be read (HTTP {status})")),
    };
    // What a finished job answers stands one level deeper.
    if let Some(Value::Object(inner)) = told.remove("answer") {
        told = inner;
    }
    let changes = delta_from_json(told.get("state").unwrap_or(&Value::Null));
    let outcome = if let Some(error) = told.get("error") {
        read_error(error)
    } else if let Some(job) = told.get("job") {
        let id = job.get("id").and_then(Value::as_str).unwrap_or_default().to_owned();
        Outcome::Interim(Job { id, state: job.get("state").cloned().unwrap_or_default() })
    } else if told.get("status").and_then(Value::as_str) == Some("pending") {
        Outcome::Interim(Job { id: String::new(), state: Value::Null })
    } else if let Some(asked) = told.get("needsApproval") {
        let reason = asked.get("reason").and_then(Value::as_str).unwrap_or("The tool asks for it.").to_owned();
        Outcome::NeedsApproval { reason, payload: asked.get("payload").cloned().unwrap_or_default() }
    } else if let Some(result) = told.remove("result") {
        Outcome::Result(result)
    } else {
        return failed(name, "the gateway's answer holds neither a result nor an error");
    };
    Answer { changes, ..outcome.into() }
}

fn read_error(error: &Value) -> Outcome {
    let text = |field: &str| error.get(field).and_then(Value::as_str);
    let retryable = error.get("retryable").and_then(Value::as_bool).unwrap_or(false);
    let code = text("code").unwrap_or("tool_error").to_owned();
    let message = text("message").unwrap_or("it failed without saying why").to_owned();
    Outcome::Error(ToolError { code: code.into(), message, operator: None, retryable })
}

fn failed(name: &str, words: &str) -> Answer {
    Outcome::Error(error::tool_error(name, words)).into()
}
