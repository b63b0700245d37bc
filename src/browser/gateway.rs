//! The gateway as a page sees it: ask the model, run a tool, list the tools. Knows nothing of the loop.

use futures::stream::{LocalBoxStream, StreamExt, once};
use gloo_net::http::Method;
use serde_json::{Value, json};

use crate::ag_ui::{AgUiDecoder, write_input};
use crate::browser::answer::{Decode, answer};
use crate::browser::fetch::{Reply, send};
use crate::protocol::{ModelError, ModelErrorKind, ModelEvent, ModelRequest};
use crate::tools::{Definition, Policy};

/// The address of a page that has none: its tools are its own, and so is its model.
pub const NO_GATEWAY: &str = "none";

/// Where the gateway is.
#[derive(Clone, Debug)]
pub struct Gateway {
    pub(super) base: String,
}

/// What `GET /tools` says.
#[derive(Clone, Debug, Default)]
pub struct Served {
    /// Whether it is a gateway of ours, which can be asked about tools, rather than an agent by itself.
    pub is_gateway: bool,
    /// Who answers.
    pub agent: AgentInfo,
    /// The tools behind the gateway.
    pub tools: Vec<ServedTool>,
    /// The rules of the gateway's configuration, where it has any.
    pub policy: Option<Policy>,
    /// What is wrong with tools that it would serve, and what is wrong with what it says, in sentences.
    pub faults: Vec<String>,
}

/// Who answers behind a gateway.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentInfo {
    /// What the panel calls it.
    pub label: String,
    /// What a user may try.
    pub suggestions: Vec<String>,
    /// The models a user may choose from, the first where they choose none.
    pub models: Vec<ModelInfo>,
}

/// A model that a user may choose.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModelInfo {
    /// What it is asked for by.
    pub name: String,
    /// What the panel calls it.
    pub label: String,
    /// The media types it takes beside text, `image/*` for all of a kind.
    pub files: Vec<String>,
    /// The most bytes of one file.
    pub max_file_bytes: u64,
}

/// Something that can not be used, in the gateway's words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// The tool, where it is one.
    pub tool: Option<String>,
    /// What is wrong.
    pub words: String,
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
pub(super) const MAX_RESULT_BYTES: usize = 8 * 1024 * 1024;
const MAX_ERROR_BYTES: usize = 64 * 1024;

impl Gateway {
    /// The gateway at this address; a relative one is the page's own server, [`NO_GATEWAY`] none at all.
    #[must_use]
    pub fn new(base: &str) -> Self {
        let base = if base.ends_with('/') { base.to_owned() } else { format!("{base}/") };
        Self { base }
    }

    /// The tools it serves; none where it is an agent that has no list of them (404, 405 or 501).
    ///
    /// # Errors
    /// Words for the user.
    pub async fn served(&self) -> Result<Served, String> {
        let url = format!("{}tools", self.base);
        let mut answer = send(Method::GET, &url, &[], None).await.map_err(|()| self.unreachable())?;
        let body = answer.text(MAX_RESULT_BYTES).await.map_err(|_| self.unreachable())?;
        // An agent by itself has no such address: its tools are its own.
        if matches!(answer.status, 404 | 405 | 501) {
            return Ok(Served::default());
        }
        if answer.status != 200 {
            return Err(format!("The gateway did not list its tools (HTTP {}).", answer.status));
        }
        read_served(&body).map_err(|why| format!("The gateway's list of tools can not be read: {why}."))
    }

    /// What the model's provider, or a budget, refuses in these definitions. A gateway that does not answer refuses
    /// nothing.
    pub async fn refusals(&self, definitions: &[Definition]) -> Vec<Refused> {
        let tools: Vec<Value> = definitions.iter().map(Definition::to_json).collect();
        let (url, body) = (format!("{}check", self.base), json!({ "tools": tools }).to_string());
        let Ok(mut reply) = send(Method::POST, &url, &[], Some(body)).await else { return Vec::new() };
        let told: Value = match reply.text(MAX_ERROR_BYTES).await {
            Ok(body) if reply.status == 200 => serde_json::from_str(&body).unwrap_or_default(),
            _ => Value::Null,
        };
        told.get("problems").and_then(Value::as_array).into_iter().flatten().map(read_refused).collect()
    }

    /// Asks the model.
    #[must_use]
    pub fn call_model(&self, request: &ModelRequest) -> LocalBoxStream<'static, ModelEvent> {
        if self.base.strip_suffix('/') == Some(NO_GATEWAY) {
            let words = "No model is chosen, and this page has no gateway that has one.";
            let error = ModelEvent::Error(ModelError::new(ModelErrorKind::BadRequest, words));
            return once(async { error }).boxed_local();
        }
        let (gateway, body) = (self.clone(), write_input(request).to_string());
        let opening = async move { gateway.ask(body).await };
        answer(Box::pin(opening), Box::new(AgUiDecoder::new(request)))
    }

    async fn ask(&self, body: String) -> Result<Reply, ModelError> {
        let url = format!("{}agent", self.base);
        let headers = [("accept", "text/event-stream")];
        let unreachable = || ModelError::new(ModelErrorKind::Network, self.unreachable());
        let mut reply = send(Method::POST, &url, &headers, Some(body)).await.map_err(|()| unreachable())?;
        if reply.status == 200 {
            return Ok(reply);
        }
        let advice = reply.retry_advice();
        let body = reply.text(MAX_ERROR_BYTES).await.unwrap_or_default();
        let told: Value = serde_json::from_str(&body).unwrap_or_default();
        let words = told.pointer("/error/message").or_else(|| told.get("detail")).and_then(Value::as_str);
        let words = words.map_or_else(|| format!("The gateway answered with HTTP {}.", reply.status), str::to_owned);
        let kind = ModelErrorKind::from_status(reply.status);
        // The gateway's own refusals say it in their body.
        let retry = advice.retry.or_else(|| told.pointer("/error/retryable")?.as_bool());
        Err(ModelError { kind, message: words, retry_after_ms: advice.after_ms, retry })
    }

    pub(super) fn unreachable(&self) -> String {
        let place = if self.base.starts_with('/') { "" } else { self.base.as_str() };
        let place = if place.is_empty() { String::new() } else { format!(" at {place}") };
        format!("The gateway{place} can not be reached. Check that it is running and that you are online.")
    }
}

impl Decode for AgUiDecoder {
    fn push(&mut self, bytes: &[u8]) {
        Self::push(self, bytes);
    }

    fn finish(&mut self) {
        Self::finish(self);
    }

    fn next(&mut self) -> Option<ModelEvent> {
        Self::next(self)
    }
}

fn read_served(body: &str) -> Result<Served, String> {
    let value: Value = serde_json::from_str(body).map_err(|why| why.to_string())?;
    let texts = |value: Option<&Value>| -> Vec<String> {
        let list = value.and_then(Value::as_array).into_iter().flatten();
        list.filter_map(Value::as_str).map(str::to_owned).collect()
    };
    let label = value.pointer("/agent/label").and_then(Value::as_str).unwrap_or_default().to_owned();
    let models = value.get("models").and_then(Value::as_array).into_iter().flatten();
    let model = |model: &Value| {
        let text = |name: &str| model.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        let max_file_bytes = model.get("maxFileBytes").and_then(Value::as_u64).unwrap_or_default();
        ModelInfo { name: text("name"), label: text("label"), files: texts(model.get("files")), max_file_bytes }
    };
    let (suggestions, models) = (texts(value.pointer("/agent/suggestions")), models.map(model).collect());
    let agent = AgentInfo { label, suggestions, models };
    let mut tools = Vec::new();
    let refused = value.get("refused").and_then(Value::as_array).into_iter().flatten();
    let mut faults: Vec<String> = refused.filter_map(|one| one.get("message")?.as_str()).map(str::to_owned).collect();
    for tool in value.get("tools").and_then(Value::as_array).into_iter().flatten() {
        let hash = tool.get("hash").and_then(Value::as_str).unwrap_or_default().to_owned();
        let (definition, bad) = Definition::from_json(tool, &["hash"]);
        if bad.is_empty() {
            tools.push(ServedTool { definition, hash });
        } else {
            faults.push(format!("{}: {}", definition.name, bad.join(", ")));
        }
    }
    let policy = match value.get("policy").filter(|policy| !policy.is_null()).map(Policy::from_json) {
        None => None,
        Some(Ok(policy)) => Some(policy),
        // Rules that can not be read are not left out in silence: everything asks.
        Some(Err(bad)) => {
            faults.extend(bad);
            Some(Policy::ask_always())
        }
    };
    Ok(Served { is_gateway: true, agent, tools, policy, faults })
}

fn read_refused(problem: &Value) -> Refused {
    let text = |field: &str| problem.get(field).and_then(Value::as_str).unwrap_or_default();
    let (kind, name, owner, message) = (text("kind"), text("name"), text("owner"), text("message"));
    let of = if owner.is_empty() { String::new() } else { format!(" of {owner}") };
    Refused { tool: (kind == "tool").then(|| name.to_owned()), words: format!("{kind} \"{name}\"{of}: {message}") }
}
