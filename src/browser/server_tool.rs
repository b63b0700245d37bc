//! A tool behind the gateway, as a page calls it: one request with the call's id as idempotency key, and the wait for a
//! job that it began. Knows nothing of the loop.

use std::rc::Rc;

use futures::future::LocalBoxFuture;
use gloo_net::http::Method;
use serde_json::Value;

use crate::agent::ToolRequest;
use crate::browser::clock::sleep;
use crate::browser::fetch::{Reply, TextError, send};
use crate::browser::gateway::{Gateway, MAX_RESULT_BYTES};
use crate::protocol::{Answer, Job, JsonFault, Outcome, Replay, ToolError, delta_from_json, object, parse_json};
use crate::tools::error;
use crate::wire::sse::SseDecoder;

/// Hears how far a call is: a fraction from 0 to 1, where it is known, and words for the user.
pub type Heard = Rc<dyn Fn(Option<f64>, String)>;

// How long to wait before a gateway that can not be reached is asked again for a job.
const FIRST_PAUSE_MS: u64 = 1000;
const LONGEST_PAUSE_MS: u64 = 30_000;

/// The code of a call that the gateway refused because it knows the tool otherwise than the page does.
pub(super) const CHANGED: &str = "definition_changed";

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
        let hash = request.definition.hash();
        let (name, call, unreachable) = (request.name.clone(), request.call.clone(), self.unreachable());
        Box::pin(async move {
            let headers = [
                ("idempotency-key", call.as_str()),
                ("pagehand-definition", hash.as_str()),
                ("accept", "text/event-stream, application/json"),
            ];
            match send(Method::POST, &url, &headers, Some(body)).await {
                Ok(reply) => read_reply(&name, reply, &heard).await.unwrap_or_else(|lost| failed(&name, lost.words())),
                Err(()) => Outcome::Error(ToolError::new("unreachable", unreachable).retryable()).into(),
            }
        })
    }

    // What became of a call whose answer was lost; nothing is run.
    fn find_out(&self, request: &ToolRequest) -> LocalBoxFuture<'static, Answer> {
        let url = format!("{}calls/{}", self.base, request.call);
        let (name, call) = (request.name.clone(), request.call.clone());
        Box::pin(async move {
            loop {
                let headers = [("idempotency-key", call.as_str())];
                if let Ok(mut reply) = send(Method::GET, &url, &headers, None).await {
                    let body = reply.text(MAX_RESULT_BYTES).await.unwrap_or_default();
                    let told: Value = serde_json::from_str(&body).unwrap_or_default();
                    match told.get("status").and_then(Value::as_str) {
                        Some("done") => return read_answer(&name, reply.status, &body),
                        Some("running") => {}
                        _ => return Outcome::Error(error::interrupted(&name, true)).into(),
                    }
                }
                sleep(FIRST_PAUSE_MS).await;
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
                    let busy = reply.status == 429 || reply.status >= 500;
                    match read_reply(&name, reply, &heard).await {
                        Ok(_) if busy => {}
                        Ok(Answer { outcome: Outcome::Interim(_), .. }) | Err(Lost::Connection) => {
                            pause = FIRST_PAUSE_MS;
                        }
                        Ok(answer) => return answer,
                        Err(lost) => return failed(&name, lost.words()),
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

enum Lost {
    Connection,
    TooLong,
}

impl Lost {
    fn words(&self) -> &'static str {
        match self {
            Self::Connection => "the connection was lost before the result came; whether it took effect is unknown",
            Self::TooLong => "its result is longer than 8 MiB",
        }
    }
}

async fn read_reply(name: &str, mut reply: Reply, heard: &Heard) -> Result<Answer, Lost> {
    let streamed = reply.header("content-type").is_some_and(|kind| kind.starts_with("text/event-stream"));
    if streamed {
        return read_stream(name, reply, heard).await;
    }
    let body = reply.text(MAX_RESULT_BYTES).await.map_err(|why| match why {
        TextError::TooLong => Lost::TooLong,
        TextError::Lost => Lost::Connection,
    })?;
    Ok(read_answer(name, reply.status, &body))
}

async fn read_stream(name: &str, mut reply: Reply, heard: &Heard) -> Result<Answer, Lost> {
    let mut events = SseDecoder::default();
    let mut read = 0;
    while let Ok(Some(bytes)) = reply.chunk().await {
        read += bytes.len();
        if read > MAX_RESULT_BYTES || events.push(&bytes).is_err() {
            return Err(Lost::TooLong);
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
    Err(Lost::Connection)
}

fn read_answer(name: &str, status: u16, body: &str) -> Answer {
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
