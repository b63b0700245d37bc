//! The gateway as a page sees it: ask the model, run a tool, list the tools. Knows nothing of the loop.

use futures::future::LocalBoxFuture;
use futures::stream::{LocalBoxStream, StreamExt, unfold};
use gloo_net::http::Method;
use serde_json::{Value, json};

use crate::ag_ui::{AgUiDecoder, write_input};
use crate::agent::ToolRequest;
use crate::browser::fetch::{Answer, TextError, send};
use crate::protocol::{ModelError, ModelErrorKind, ModelEvent, ModelRequest, Outcome, ToolError};
use crate::tools::{Definition, error};

/// Where the gateway is.
#[derive(Clone, Debug)]
pub struct Gateway {
    base: String,
}

/// What `GET /tools` says.
#[derive(Clone, Debug)]
pub struct Served {
    /// Who answers.
    pub agent: AgentInfo,
    /// The tools behind the gateway.
    pub tools: Vec<ServedTool>,
}

/// Who answers behind a gateway.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentInfo {
    /// What the panel calls it.
    pub label: String,
    /// What a user may try.
    pub suggestions: Vec<String>,
}

/// A definition and the hash the gateway has of it.
#[derive(Clone, Debug)]
pub struct ServedTool {
    /// The tool as data.
    pub definition: Definition,
    /// The gateway's hash of it.
    pub hash: String,
}

// A tool's answer that is longer is refused: the model could not read it, and the page should not hold it.
const MAX_RESULT_BYTES: usize = 2 * 1024 * 1024;
const MAX_ERROR_BYTES: usize = 64 * 1024;

impl Gateway {
    /// The gateway at this address; a relative one is the page's own server.
    #[must_use]
    pub fn new(base: &str) -> Self {
        let base = if base.ends_with('/') { base.to_owned() } else { format!("{base}/") };
        Self { base }
    }

    /// The tools it serves.
    ///
    /// # Errors
    /// Words for the user.
    pub async fn served(&self) -> Result<Served, String> {
        let url = format!("{}tools", self.base);
        let mut answer = send(Method::GET, &url, &[], None).await.map_err(|()| self.unreachable())?;
        let body = answer.text(MAX_RESULT_BYTES).await.map_err(|_| self.unreachable())?;
        if answer.status != 200 {
            return Err(format!("The gateway did not list its tools (HTTP {}).", answer.status));
        }
        read_served(&body).map_err(|why| format!("The gateway's list of tools can not be read: {why}."))
    }

    /// Asks the model.
    #[must_use]
    pub fn call_model(&self, request: &ModelRequest) -> LocalBoxStream<'static, ModelEvent> {
        let stream = ModelStream {
            gateway: self.clone(),
            body: Some(write_input(request).to_string()),
            decoder: AgUiDecoder::new(request),
            answer: None,
            over: false,
        };
        unfold(stream, |mut stream| async move { stream.next().await.map(|event| (event, stream)) }).boxed_local()
    }

    /// Runs a tool behind the gateway, with the call's id as idempotency key.
    #[must_use]
    pub fn call_tool(&self, request: &ToolRequest) -> LocalBoxFuture<'static, Outcome> {
        let url = format!("{}tools/{}", self.base, request.name);
        let body = json!({ "arguments": request.arguments }).to_string();
        let name = request.name.clone();
        let call = request.call.clone();
        let unreachable = self.unreachable();
        Box::pin(async move {
            let headers = [("idempotency-key", call.as_str())];
            let Ok(mut answer) = send(Method::POST, &url, &headers, Some(body)).await else {
                return Outcome::Error(ToolError::new("unreachable", unreachable).retryable());
            };
            match answer.text(MAX_RESULT_BYTES).await {
                Ok(body) => read_outcome(&name, answer.status, &body),
                Err(TextError::TooLong) => Outcome::Error(error::tool_error(&name, "its result is longer than 2 MiB")),
                Err(TextError::Lost) => {
                    let words = "the connection was lost before the result came; whether it took effect is unknown";
                    Outcome::Error(error::tool_error(&name, words))
                }
            }
        })
    }

    fn unreachable(&self) -> String {
        let place = if self.base.starts_with('/') { "" } else { self.base.as_str() };
        let place = if place.is_empty() { String::new() } else { format!(" at {place}") };
        format!("The gateway{place} can not be reached. Check that it is running and that you are online.")
    }
}

struct ModelStream {
    gateway: Gateway,
    body: Option<String>,
    decoder: AgUiDecoder,
    answer: Option<Answer>,
    over: bool,
}

impl ModelStream {
    async fn next(&mut self) -> Option<ModelEvent> {
        loop {
            if let Some(event) = self.decoder.next() {
                return Some(event);
            }
            if self.over {
                return None;
            }
            match &mut self.answer {
                None => {
                    if let Err(error) = self.connect().await {
                        self.over = true;
                        return Some(ModelEvent::Error(error));
                    }
                }
                Some(answer) => match answer.chunk().await {
                    Ok(Some(bytes)) => self.decoder.push(&bytes),
                    // A lost connection is a stream cut short: the loop knows what to do about it.
                    Ok(None) | Err(()) => {
                        self.decoder.finish();
                        self.answer = None;
                        self.over = true;
                    }
                },
            }
        }
    }

    async fn connect(&mut self) -> Result<(), ModelError> {
        let url = format!("{}agent", self.gateway.base);
        let headers = [("accept", "text/event-stream")];
        let unreachable = || ModelError::new(ModelErrorKind::Network, self.gateway.unreachable());
        let body = self.body.take();
        let mut answer = send(Method::POST, &url, &headers, body).await.map_err(|()| unreachable())?;
        if answer.status == 200 {
            self.answer = Some(answer);
            return Ok(());
        }
        let retry_after_ms = answer
            .header("retry-after")
            .and_then(|seconds| seconds.trim().parse::<u64>().ok())
            .map(|seconds| seconds.saturating_mul(1000));
        let body = answer.text(MAX_ERROR_BYTES).await.unwrap_or_default();
        let told: Value = serde_json::from_str(&body).unwrap_or_default();
        let words = told.pointer("/error/message").or_else(|| told.get("detail")).and_then(Value::as_str);
        let words = words.map_or_else(|| format!("The gateway answered with HTTP {}.", answer.status), str::to_owned);
        let kind = ModelErrorKind::from_status(answer.status);
        Err(ModelError { kind, message: words, retry_after_ms })
    }
}

fn read_served(body: &str) -> Result<Served, String> {
    let value: Value = serde_json::from_str(body).map_err(|why| why.to_string())?;
    let texts = |value: Option<&Value>| -> Vec<String> {
        let list = value.and_then(Value::as_array).into_iter().flatten();
        list.filter_map(Value::as_str).map(str::to_owned).collect()
    };
    let label = value.pointer("/agent/label").and_then(Value::as_str).unwrap_or_default().to_owned();
    let agent = AgentInfo { label, suggestions: texts(value.pointer("/agent/suggestions")) };
    let mut tools = Vec::new();
    for tool in value.get("tools").and_then(Value::as_array).into_iter().flatten() {
        let hash = tool.get("hash").and_then(Value::as_str).unwrap_or_default().to_owned();
        let (definition, faults) = Definition::from_json(tool);
        if !faults.is_empty() {
            return Err(format!("{}: {}", definition.name, faults.join(", ")));
        }
        tools.push(ServedTool { definition, hash });
    }
    Ok(Served { agent, tools })
}

fn read_outcome(name: &str, status: u16, body: &str) -> Outcome {
    let Ok(Value::Object(mut told)) = serde_json::from_str(body) else {
        let words = format!("the gateway's answer can not be read (HTTP {status})");
        return Outcome::Error(error::tool_error(name, &words));
    };
    if let Some(error) = told.get("error") {
        let text = |field: &str| error.get(field).and_then(Value::as_str);
        let retryable = error.get("retryable").and_then(Value::as_bool).unwrap_or(false);
        let code = text("code").unwrap_or("tool_error").to_owned();
        let message = text("message").unwrap_or("it failed without saying why").to_owned();
        return Outcome::Error(ToolError { code: code.into(), message, operator: None, retryable });
    }
    match told.remove("result") {
        Some(result) => Outcome::Result(result),
        None => Outcome::Error(error::tool_error(name, "the gateway's answer holds neither a result nor an error")),
    }
}
