//! A tool behind the gateway, as a page calls it: one request with the call's id as idempotency key, sent again where it
//! came to nothing, and the wait for a job that it began. Knows nothing of the loop.

use std::rc::Rc;
use std::sync::Arc;

use futures::future::LocalBoxFuture;
use gloo_net::http::Method;
use serde_json::Value;

use crate::agent::ToolRequest;
use crate::browser::again::{self, Attempts};
use crate::browser::clock::sleep;
use crate::browser::fetch::{Reply, TextError, send};
use crate::browser::gateway::{Gateway, MAX_RESULT_BYTES};
use crate::protocol::{Answer, Job, Outcome, Replay, ToolError, delta_from_json, object};
use crate::tools::error;
use crate::wire::sse::SseDecoder;

/// Hears how far a call is: a fraction from 0 to 1, where it is known, and words for the user.
pub type Heard = Rc<dyn Fn(Option<f64>, String)>;

// How long a call may take where its definition does not say; the loop's own limit comes at the same time or sooner.
const USUAL_TIME_MS: u64 = 60_000;
// How long to wait before a gateway that can not be reached is asked again what became of a call or a job.
const FIRST_PAUSE_MS: u64 = 1000;
const LONGEST_PAUSE_MS: u64 = 30_000;

/// The code of a call that the gateway refused because it knows the tool otherwise than the page does.
pub(super) const CHANGED: &str = "definition_changed";

/// How long ago a call was asked for first, in milliseconds: a gateway that has no record of it can tell whether it
/// should have one.
const AGE: &str = "pagehand-age";

impl Gateway {
    /// Runs a tool, or waits for the job it began.
    #[must_use]
    pub fn call_tool(&self, request: &ToolRequest, heard: Heard) -> LocalBoxFuture<'static, Answer> {
        match &request.job {
            Some(job) => self.wait_for_job(request, job, heard),
            None if request.resumed && request.definition.replay == Replay::Effect => self.find_out(request),
            None => self.start_tool(request, heard),
        }
    }

    // The very same request, under the same key, until there is an answer or no time is left: the gateway runs it once.
    fn start_tool(&self, request: &ToolRequest, heard: Heard) -> LocalBoxFuture<'static, Answer> {
        let url = format!("{}tools/{}", self.base, request.name);
        let context = object(vec![
            ("threadId", request.thread.as_str().into()),
            ("runId", request.run.as_str().into()),
            ("step", request.step.into()),
            ("agent", request.agent.as_str().into()),
            ("state", request.state.to_json(|_| true)),
            ("approved", request.approved.into()),
            ("payload", request.payload.clone()),
        ]);
        let body = object(vec![("arguments", request.arguments.clone()), ("context", context)]).to_string();
        let (definition, call) = (Arc::clone(&request.definition), request.call.clone());
        let (name, unreachable) = (request.name.clone(), self.unreachable());
        Box::pin(async move {
            let hash = definition.hash();
            let mut attempts = Attempts::within(definition.timeout_ms.unwrap_or(USUAL_TIME_MS));
            let (mut is_repeat, mut may_have_run) = (false, false);
            loop {
                let age = attempts.age().to_string();
                let mut headers = vec![
                    ("idempotency-key", call.as_str()),
                    ("pagehand-definition", hash.as_str()),
                    ("accept", "text/event-stream, application/json"),
                ];
                if is_repeat {
                    headers.push((AGE, age.as_str()));
                }
                let sent = send(Method::POST, &url, &headers, Some(body.clone())).await;
                let lost = match sent {
                    Ok(reply) => {
                        if is_repeat {
                            heard(None, "The gateway is there again; waiting for its answer.".to_owned());
                        }
                        match read_reply(&name, reply, &heard).await {
                            Ok(answer) => return answer,
                            Err(lost) => lost,
                        }
                    }
                    Err(()) => Lost::unreachable(&unreachable),
                };
                (is_repeat, may_have_run) = (true, may_have_run || lost.may_have_run);
                let Some(pause) = attempts.pause(lost.pause) else {
                    let is_unknown = may_have_run && definition.replay != Replay::Pure;
                    return if is_unknown { Outcome::Error(error::lost(&name)).into() } else { lost.answer };
                };
                heard(None, format!("{} Trying again in {} s.", lost.words, pause.div_ceil(1000)));
                sleep(pause).await;
            }
        })
    }

    // What became of a call whose answer was lost; nothing is run.
    fn find_out(&self, request: &ToolRequest) -> LocalBoxFuture<'static, Answer> {
        let url = format!("{}calls/{}", self.base, request.call);
        let (name, call) = (request.name.clone(), request.call.clone());
        let mut attempts = Attempts::within(request.definition.timeout_ms.unwrap_or(USUAL_TIME_MS));
        Box::pin(async move {
            let mut pause = FIRST_PAUSE_MS;
            loop {
                let headers = [("idempotency-key", call.as_str())];
                let mut asked = None;
                if let Ok(mut reply) = send(Method::GET, &url, &headers, None).await {
                    asked = again::asked_pause(&reply);
                    let body = reply.text(MAX_RESULT_BYTES).await.unwrap_or_default();
                    let told: Value = serde_json::from_str(&body).unwrap_or_default();
                    match told.get("status").and_then(Value::as_str) {
                        Some("done") => return read_answer(&name, reply.status, &body),
                        Some("running") => {}
                        None if again::is_passing(reply.status) => {}
                        _ => return Outcome::Error(error::interrupted(&name, true)).into(),
                    }
                }
                let Some(waited) = attempts.pause(Some(asked.unwrap_or(pause))) else {
                    return Outcome::Error(error::interrupted(&name, true)).into();
                };
                sleep(waited).await;
                pause = (pause * 2).min(LONGEST_PAUSE_MS);
            }
        })
    }

    // A gateway that can not be reached is asked again: the job goes on without us.
    fn wait_for_job(&self, request: &ToolRequest, job: &str, heard: Heard) -> LocalBoxFuture<'static, Answer> {
        let url = self.job_url(job);
        let (name, call) = (request.name.clone(), request.call.clone());
        Box::pin(async move {
            let mut pause = FIRST_PAUSE_MS;
            loop {
                let headers = [("idempotency-key", call.as_str()), ("accept", "text/event-stream, application/json")];
                if let Ok(reply) = send(Method::GET, &url, &headers, None).await {
                    match read_reply(&name, reply, &heard).await {
                        // It is there, and at work.
                        Ok(Answer { outcome: Outcome::Interim(_), .. }) => pause = FIRST_PAUSE_MS,
                        Err(lost) if lost.may_have_run => pause = FIRST_PAUSE_MS,
                        Ok(answer) => return answer,
                        Err(lost) => pause = lost.pause.unwrap_or(pause).min(LONGEST_PAUSE_MS),
                    }
                }
                sleep(pause).await;
                pause = (pause * 2).min(LONGEST_PAUSE_MS);
            }
        })
    }

    /// Tells a running tool to stop.
    pub(super) fn cancel_tool(&self, call: String, name: &str) -> LocalBoxFuture<'static, ()> {
        stop(format!("{}tools/{name}", self.base), call)
    }

    /// Stops a job.
    pub(super) fn cancel_job(&self, call: String, job: &str) -> LocalBoxFuture<'static, ()> {
        stop(self.job_url(job), call)
    }

    fn job_url(&self, job: &str) -> String {
        format!("{}jobs/{}", self.base, String::from(js_sys::encode_uri_component(job)))
    }
}

fn stop(url: String, call: String) -> LocalBoxFuture<'static, ()> {
    Box::pin(async move {
        // Where it can not be reached what runs there comes to its end unheard.
        let _ = send(Method::DELETE, &url, &[("idempotency-key", call.as_str())], None).await;
    })
}

/// An attempt that came to nothing, though another one may not.
struct Lost {
    /// For the user.
    words: String,
    /// What the call comes to where this was the last one.
    answer: Answer,
    /// How long the gateway asks to wait.
    pause: Option<u64>,
    /// Whether the tool may have been run by it.
    may_have_run: bool,
}

impl Lost {
    // A connection that broke before the answer's head looks like one that never was.
    fn unreachable(words: &str) -> Self {
        let error = ToolError::new("unreachable", words.to_owned()).retryable();
        Self { words: words.to_owned(), answer: Outcome::Error(error).into(), pause: None, may_have_run: true }
    }

    fn connection() -> Self {
        Self::unreachable("The connection to the gateway was lost.")
    }
}

async fn read_reply(name: &str, mut reply: Reply, heard: &Heard) -> Result<Answer, Lost> {
    let streamed = reply.header("content-type").is_some_and(|kind| kind.starts_with("text/event-stream"));
    if streamed && reply.status == 200 {
        return read_stream(name, reply, heard).await;
    }
    let (status, advice, pause) = (reply.status, again::advice(&reply), again::asked_pause(&reply));
    let body = match reply.text(MAX_RESULT_BYTES).await {
        Ok(body) => body,
        Err(TextError::TooLong) => return Ok(too_long(name)),
        Err(TextError::Lost) => return Err(Lost::connection()),
    };
    let told: Value = serde_json::from_str(&body).unwrap_or_default();
    // Only a gateway says this. Where it is not worth repeating it was the call that failed, not the way there.
    let retryable = told.pointer("/error/retryable").and_then(Value::as_bool);
    if status == 200 || !advice.unwrap_or(again::is_passing(status) && retryable != Some(false)) {
        return Ok(read_answer(name, status, &body));
    }
    let words = match status {
        429 => "The gateway is busy.".to_owned(),
        _ => format!("The gateway failed (HTTP {status})."),
    };
    // What the gateway itself calls worth repeating was not run; whatever stands before it knows nothing of that.
    Err(Lost { words, answer: read_answer(name, status, &body), pause, may_have_run: retryable.is_none() })
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

fn read_answer(name: &str, status: u16, body: &str) -> Answer {
    let Ok(Value::Object(mut told)) = serde_json::from_str(body) else {
        return failed(name, &format!("the gateway's answer can not be read (HTTP {status})"));
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
