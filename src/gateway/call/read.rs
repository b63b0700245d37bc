//! A request → a call that may run, or why it may not. Knows nothing of running it.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::rejection::JsonRejection;
use axum::http::{HeaderMap, StatusCode};
use serde_json::{Value, json};
use tokio::sync::OwnedSemaphorePermit;

use crate::gateway::calls::{Key, Wanted};
use crate::gateway::catalog::Served;
use crate::gateway::context::report::Reporter;
use crate::gateway::context::{CallArtifacts, CallContext, CallMemory, Cancel, Identity};
use crate::gateway::error::Refusal;
use crate::gateway::state::Gateway;
use crate::protocol::State;
use crate::tools::{Case, Definition, Provenance, ToolState, Verdict, error};

// Shorter than a page's own 60 s, so that the page hears of it from us.
const DEFAULT_TIMEOUT_MS: u64 = 30_000;
/// The header of a request that is sent again: milliseconds since it was sent first.
pub(in crate::gateway) const AGE: &str = "pagehand-age";
const MAX_KEY: usize = 255;
const MAX_TEXT: usize = 255;

/// A request for a call.
pub(super) struct Asked {
    pub(super) wanted: Wanted,
    /// The call, or why it may not run now; an answer it had before is for its caller all the same.
    pub(super) ready: Result<Ready, Refusal>,
}

/// A call that may run.
pub(super) struct Ready {
    pub(super) served: Arc<Served>,
    pub(super) definition: Arc<Definition>,
    /// The older name it was called by.
    pub(super) alias: Option<String>,
    pub(super) arguments: Value,
    pub(super) context: CallContext,
    pub(super) timeout: Duration,
    pub(super) permit: OwnedSemaphorePermit,
}

pub(super) async fn read(
    gateway: &Gateway,
    served: &Arc<Served>,
    name: &str,
    definition: Option<&Arc<Definition>>,
    headers: &HeaderMap,
    body: Result<Json<Value>, JsonRejection>,
) -> Result<Asked, Refusal> {
    let definition = definition.ok_or_else(|| not_served(name))?;
    let permit = gateway.tool_permit().ok_or_else(Refusal::busy)?;
    let call = key_of(headers)?;
    let user = gateway.identify(headers).await?;
    let Json(mut body) = body.map_err(|why| Refusal::unreadable("invalid_json", &why))?;
    may_call(definition, user.as_ref())?;
    let key = Key { user: user.as_ref().map(|user| user.id.clone()), call: call.clone() };
    let approved = body["context"]["approved"] == true;
    let wanted = Wanted::new(key, definition, &body["arguments"], approved).sent_before(age_of(headers));
    let ready = || -> Result<Ready, Refusal> {
        same_definition(gateway, definition, headers)?;
        let mut context = context(gateway, definition, call, user, &body)?;
        by_policy(served, definition, &body)?;
        let arguments = arguments_of(served, definition, &mut body)?;
        context.state = ToolState::new(Arc::new(State::from_json(&body["context"]["state"])));
        Ok(Ready {
            served: Arc::clone(served),
            definition: Arc::clone(definition),
            alias: (definition.name != name).then(|| name.to_owned()),
            arguments,
            context,
            timeout: Duration::from_millis(definition.timeout_ms.unwrap_or(DEFAULT_TIMEOUT_MS)),
            permit,
        })
    };
    Ok(Asked { wanted, ready: ready() })
}

// Whatever a request claims: what is not in this gateway's own registry is not run here.
fn not_served(name: &str) -> Refusal {
    let words = format!(
        "This gateway runs only the tools it lists; \"{name}\" is not one of them. A tool of the page runs in the page."
    );
    Refusal::new(StatusCode::FORBIDDEN, "refused", words)
}

/// The call's id.
pub(in crate::gateway) fn key_of(headers: &HeaderMap) -> Result<String, Refusal> {
    let key = headers.get("idempotency-key").and_then(|key| key.to_str().ok()).unwrap_or_default();
    if key.is_empty() || key.len() > MAX_KEY {
        let words = "A call needs the header Idempotency-Key: the call's id, 1 to 255 characters.";
        return Err(Refusal::new(StatusCode::BAD_REQUEST, "no_idempotency_key", words));
    }
    Ok(key.to_owned())
}

// A request that is sent again says how long ago it was sent first.
fn age_of(headers: &HeaderMap) -> Duration {
    let age = headers.get(AGE).and_then(|age| age.to_str().ok()).and_then(|age| age.trim().parse().ok());
    Duration::from_millis(age.unwrap_or_default())
}

// A page that approved one tool must not get another under the same name.
fn same_definition(gateway: &Gateway, served: &Definition, headers: &HeaderMap) -> Result<(), Refusal> {
    let Some(known) = headers.get("pagehand-definition") else { return Ok(()) };
    let known = known.to_str().unwrap_or_default().trim();
    let hash = served.hash();
    if known == hash {
        return Ok(());
    }
    let short = |hash: &str| hash.chars().take(12).collect::<String>();
    let version = gateway.version_of(known).map(|version| format!("version {version} ")).unwrap_or_default();
    let words = format!(
        "\"{}\" was not run: the page knows {version}(hash {}), the gateway serves version {}, risk {}, hash {}. The page \
         must load the list of tools again before it is called.",
        served.name,
        short(known),
        served.version,
        served.risk.as_str(),
        short(&hash)
    );
    let refusal = Refusal::new(StatusCode::CONFLICT, "definition_changed", words);
    Err(refusal.beside("served", listed(served)))
}

/// A definition as `GET /tools` has it: with its hash.
pub(in crate::gateway) fn listed(definition: &Definition) -> Value {
    let mut listed = definition.to_json();
    listed["hash"] = json!(definition.hash());
    listed
}

// Hiding a tool is not enough: the same facts are asked of whoever calls it.
fn may_call(definition: &Definition, user: Option<&Identity>) -> Result<(), Refusal> {
    for (fact, values) in definition.requires.iter() {
        if !user.and_then(|user| user.claims.get(fact)).is_some_and(|claim| values.contains(claim)) {
            let why = format!("it is only for those whose \"{fact}\" the host states and allows.");
            return Err(Refusal::with(StatusCode::FORBIDDEN, error::refused(&definition.name, &why)));
        }
    }
    Ok(())
}

// Where the arguments come from is the page's to know, so a rule counts here only if it refuses wherever that is.
fn by_policy(served: &Served, definition: &Definition, body: &Value) -> Result<(), Refusal> {
    let state = State::from_json(&body["context"]["state"]);
    let refusal = |provenance: Provenance| match served.policy.judge(&Case {
        tool: definition,
        state: &state,
        provenance: &|| provenance,
    }) {
        Verdict::Refuse { reason } => Some(reason),
        Verdict::Allow | Verdict::Ask { .. } => None,
    };
    let reasons: Option<Vec<String>> =
        [Provenance::User, Provenance::Model, Provenance::Tool].into_iter().map(refusal).collect();
    match reasons.as_deref() {
        Some([reason, ..]) => Err(Refusal::with(StatusCode::FORBIDDEN, error::refused(&definition.name, reason))),
        _ => Ok(()),
    }
}

fn arguments_of(served: &Served, definition: &Definition, body: &mut Value) -> Result<Value, Refusal> {
    let name = &definition.name;
    let mut arguments = body.get_mut("arguments").map(Value::take).unwrap_or_default();
    if !arguments.is_object() {
        let error = error::invalid_json(name, "the body must be {\"arguments\": {…}}");
        return Err(Refusal::with(StatusCode::UNPROCESSABLE_ENTITY, error));
    }
    if let Some(schema) = served.tools.registry().schema(name) {
        schema.drop_absent(&mut arguments);
        schema.check(&arguments).map_err(|violations| {
            Refusal::with(StatusCode::UNPROCESSABLE_ENTITY, error::invalid_arguments(name, &violations))
        })?;
    }
    Ok(arguments)
}

fn context(
    gateway: &Gateway,
    definition: &Definition,
    call_id: String,
    user: Option<Identity>,
    body: &Value,
) -> Result<CallContext, Refusal> {
    let told = Told(body.get("context").unwrap_or(&Value::Null));
    told.check()?;
    let thread = told.text("threadId")?;
    let tool = definition.name.clone();
    Ok(CallContext {
        call_id,
        run: told.text("runId")?,
        step: told.step()?,
        agent: told.text("agent")?,
        approved: told.flag("approved")?,
        payload: told.0.get("payload").cloned().unwrap_or_default(),
        state: ToolState::default(),
        memory: CallMemory::new(gateway.memory(), user.clone()),
        artifacts: CallArtifacts::new(gateway.artifacts(), tool.clone(), user.as_ref(), thread.clone()),
        cancel: Cancel::new(),
        reporter: Reporter::Nobody,
        background: None,
        tool,
        thread,
        user,
    })
}

// The body's `context`, each field of which may be absent.
struct Told<'a>(&'a Value);

impl Told<'_> {
    fn check(&self) -> Result<(), Refusal> {
        match self.0 {
            Value::Null | Value::Object(_) => {}
            _ => return Err(bad_context("context", "an object")),
        }
        match self.0.get("state") {
            None | Some(Value::Null | Value::Object(_)) => Ok(()),
            Some(_) => Err(bad_context("context.state", "an object: key → value")),
        }
    }

    fn text(&self, name: &str) -> Result<String, Refusal> {
        match self.0.get(name) {
            None | Some(Value::Null) => Ok(String::new()),
            Some(Value::String(text)) if text.len() <= MAX_TEXT => Ok(text.clone()),
            Some(_) => Err(bad_context(&format!("context.{name}"), "a text of at most 255 bytes")),
        }
    }

    fn flag(&self, name: &str) -> Result<bool, Refusal> {
        match self.0.get(name) {
            None | Some(Value::Null) => Ok(false),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(_) => Err(bad_context(&format!("context.{name}"), "true or false")),
        }
    }

    fn step(&self) -> Result<u32, Refusal> {
        match self.0.get("step") {
            None | Some(Value::Null) => Ok(0),
            Some(step) => step
                .as_u64()
                .and_then(|step| u32::try_from(step).ok())
                .ok_or_else(|| bad_context("context.step", "a whole number, 0 or more")),
        }
    }
}

fn bad_context(place: &str, expected: &str) -> Refusal {
    Refusal::new(
        StatusCode::UNPROCESSABLE_ENTITY,
        "bad_request",
        format!("{place} must be {expected}. Nothing was run."),
    )
}
