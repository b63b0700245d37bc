//! A tool behind the gateway, as a page calls it: one request with the call's id as idempotency key, sent again where it
//! came to nothing, and the wait for a job that it began. Knows nothing of the loop.

use std::rc::Rc;
use std::sync::Arc;

use futures::future::LocalBoxFuture;
use gloo_net::http::Method;
use serde_json::Value;

use crate::agent::ToolRequest;
use crate::browser::again::{self, Attempts};
use crate::browser::clock::{now, sleep};
use crate::browser::fetch::send;
use crate::browser::gateway::{Gateway, MAX_RESULT_BYTES};
use crate::browser::tool_answer::{Lost, read_answer, read_reply};
use crate::protocol::{Answer, Outcome, Replay, object};
use crate::tools::error;

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
                    asked = reply.retry_advice().after_ms;
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
                let asked = now();
                if let Ok(reply) = send(Method::GET, &url, &headers, None).await {
                    match read_reply(&name, reply, &heard).await {
                        Ok(Answer { outcome: Outcome::Interim(_), .. }) => pause = FIRST_PAUSE_MS,
                        Ok(answer) => return answer,
                        // One that told of the job for a while is there, and at work.
                        Err(_) if now().saturating_sub(asked) > LONGEST_PAUSE_MS => pause = FIRST_PAUSE_MS,
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
