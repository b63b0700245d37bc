//! The calls of one step, from the end of the model's answer until each has its one result.
//!
//! Knows nothing of models or of how a tool is run; it says what each call needs next.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::agent::draft::Slot;
use crate::agent::limits::{Limits, Spent};
use crate::agent::{Transcript, provenance, result};
use crate::protocol::{
    Answer, CallState, CallView, Delta, EndReason, Job, MessageId, Millis, Outcome, Scope, Settled, State as Memory,
    ToolCall, ToolCallId, ToolError, ToolResult,
};
use crate::tools::{Case, Definition, Found, Policy, Resolved, Verdict, error};

/// One call on its way to a result.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) call: ToolCall,
    pub(super) message: MessageId,
    scope: Option<Scope>,
    pub(super) arguments: Value,
    edited: bool,
    pub(super) approved: bool,
    /// What the user said to the tool beside their yes.
    pub(super) payload: Value,
    agent_ran: bool,
    pub(super) tool: Option<Arc<Definition>>,
    /// The older name the model called it by.
    alias: Option<String>,
    started: Option<Millis>,
    /// What it changed of the state.
    pub(super) changes: Delta,
    /// The job it started.
    pub(super) job: Option<Job>,
    /// The callback that answered in the tool's place.
    pub(super) by: Option<String>,
    /// A result too long to read at once: the artifact's name and text.
    pub(super) aside: Option<(String, String)>,
    pub(super) state: State,
}

/// Where a call is.
#[derive(Debug)]
pub(super) enum State {
    /// Checked, not yet judged.
    Ready,
    /// The user is asked: by the policy, or because the tool wants it.
    Asked { reason: String, payload: Value, by_policy: bool },
    /// It runs.
    Running { deadline: Millis, timeout_ms: u64 },
    /// It has its result.
    Settled(ToolResult),
}

/// Opens the calls of an answer: each is ready to be judged or settled with what is wrong with it.
/// With a reason, the run is over and every call is settled.
pub(super) fn open(
    message: &MessageId,
    slots: Vec<Slot>,
    tools: &Resolved,
    transcript: &Transcript,
    spent: &mut Spent,
    limits: &Limits,
) -> (Vec<Call>, Option<EndReason>) {
    let asked = slots.iter().filter(|slot| slot.answered.is_none()).count();
    let mut end = (asked > limits.max_calls).then_some(EndReason::MaxCalls { limit: limits.max_calls, asked });
    let mut calls = Vec::with_capacity(slots.len());
    for slot in slots {
        let mut call = Call::new(message.clone(), slot.call, tools);
        let checked = match slot.answered {
            Some(content) => {
                call.scope = None;
                call.agent_ran = true;
                Checked::Answered(content)
            }
            None if end.is_some() => Checked::Waiting,
            None => call.check(tools, transcript, spent, limits),
        };
        match checked {
            Checked::Fits | Checked::Waiting => {}
            Checked::Answered(content) => {
                call.state = State::Settled(ToolResult { call: call.call.id.clone(), content, error: None });
            }
            Checked::Bad(error) => call.settle(&error),
            Checked::TooOften => {
                call.settle(&error::repeated_call(&call.call.name, limits.max_repeats));
                end = Some(EndReason::RepeatedCall { name: call.call.name.clone(), limit: limits.max_repeats });
            }
        }
        calls.push(call);
    }
    if let Some(reason) = &end {
        for call in calls.iter_mut().filter(|call| !call.is_settled()) {
            let name = &call.call.name;
            let error = match reason {
                EndReason::MaxCalls { limit, asked } => error::too_many_calls(*asked, *limit),
                _ => error::run_ended(name, "another call was repeated too often"),
            };
            call.settle(&error);
        }
    }
    (calls, end)
}

enum Checked {
    Fits,
    Waiting,
    Answered(String),
    Bad(ToolError),
    TooOften,
}

impl Call {
    fn new(message: MessageId, call: ToolCall, tools: &Resolved) -> Self {
        let (tool, alias) = match tools.find(&call.name) {
            Found::Tool { definition, alias } => (Some(definition), alias),
            Found::NotOffered | Found::Unknown => (None, None),
        };
        let scope = tool.as_ref().map(|tool| tool.scope);
        Self {
            call,
            message,
            scope,
            arguments: Value::Null,
            edited: false,
            approved: false,
            payload: Value::Null,
            agent_ran: false,
            tool,
            alias,
            started: None,
            changes: Delta::default(),
            job: None,
            by: None,
            aside: None,
            state: State::Ready,
        }
    }

    fn check(&mut self, tools: &Resolved, earlier: &Transcript, spent: &mut Spent, limits: &Limits) -> Checked {
        let call = &self.call;
        if earlier.calls().any(|other| is_duplicate(other, call)) {
            return Checked::Bad(error::duplicate_call(&call.name));
        }
        let Some(tool) = &self.tool else {
            return Checked::Bad(match tools.find(&call.name) {
                Found::NotOffered => error::not_offered(&call.name),
                Found::Tool { .. } | Found::Unknown => error::unknown_tool(&call.name, &tools.nearest(&call.name)),
            });
        };
        match read_arguments(tools, &tool.name, &call.arguments) {
            Err(error) => Checked::Bad(error),
            Ok(arguments) if spent.count_call(&tool.name, &arguments, limits) => {
                self.arguments = arguments;
                Checked::Fits
            }
            Ok(_) => Checked::TooOften,
        }
    }

    /// What the policy says of a ready call; `true` where it may run.
    pub(super) fn judge(&mut self, policy: &Policy, memory: &Memory, thread: &Transcript) -> bool {
        match self.verdict(policy, memory, thread) {
            Some(Verdict::Ask { reason, .. }) => {
                self.state = State::Asked { reason, payload: Value::Null, by_policy: true };
                false
            }
            Some(Verdict::Refuse { reason }) => {
                self.settle(&error::refused(&self.call.name, &reason));
                false
            }
            Some(Verdict::Allow) | None => true,
        }
    }

    /// Whether a call that was asked about needs no answer any more: the user granted its tool meanwhile.
    pub(super) fn is_granted(&self, policy: &Policy, memory: &Memory, thread: &Transcript) -> bool {
        matches!(self.state, State::Asked { by_policy: true, .. })
            && self.verdict(policy, memory, thread) == Some(Verdict::Allow)
    }

    fn verdict(&self, policy: &Policy, memory: &Memory, thread: &Transcript) -> Option<Verdict> {
        let tool = self.tool.as_deref()?;
        let provenance = || provenance::of(&self.arguments, thread.messages());
        Some(policy.judge(&Case { tool, state: memory, provenance: &provenance }))
    }

    /// Takes the user's yes; changed arguments must still fit.
    pub(super) fn approve(
        &mut self,
        arguments: Option<String>,
        payload: Value,
        tools: &Resolved,
    ) -> Result<(), ToolError> {
        if let Some(text) = arguments {
            let arguments = read_arguments(tools, self.tool_name(), &text)?;
            if arguments != self.arguments {
                self.arguments = arguments;
                self.edited = true;
            }
        }
        self.approved = true;
        self.payload = payload;
        Ok(())
    }

    /// Starts a call's clock.
    pub(super) fn start(&mut self, at: Millis, limits: &Limits) {
        let timeout_ms = self.tool.as_deref().and_then(|tool| tool.timeout_ms).unwrap_or(limits.tool_timeout_ms);
        self.started.get_or_insert(at);
        self.state = State::Running { deadline: at.saturating_add(timeout_ms), timeout_ms };
    }

    /// Takes an executor's answer.
    pub(super) fn finish(&mut self, answer: Answer, tools: &Resolved, limits: &Limits) {
        self.changes = answer.changes;
        self.by = answer.by;
        match answer.outcome {
            Outcome::Result(result) => match check_result(tools, self.tool_name(), &result) {
                Ok(()) => self.keep(result, limits),
                Err(error) => self.settle(&error),
            },
            Outcome::Error(error) => self.settle(&error),
            Outcome::Interim(job) if self.tool.as_deref().is_some_and(|tool| tool.long_running) => {
                self.state = State::Settled(ToolResult::interim(self.call.id.clone(), &job));
                self.job = Some(job);
            }
            Outcome::Interim(_) => {
                let words = "it answered with a job, but its definition does not say that it is long-running";
                self.settle(&error::tool_error(&self.call.name, words));
            }
            Outcome::NeedsApproval { reason, .. } if self.approved => {
                self.settle(&error::tool_error(&self.call.name, &format!("it was approved, but: {reason}")));
            }
            Outcome::NeedsApproval { reason, payload } => {
                self.state = State::Asked { reason, payload, by_policy: false };
            }
        }
    }

    fn keep(&mut self, mut result: Value, limits: &Limits) {
        if self.edited {
            let note = "The user changed the arguments before approving the call.";
            result = json!({ "note": note, "arguments": self.arguments, "result": result });
        }
        let read = result::read(&self.call.id, &result, limits.max_result_characters);
        if read.aside.is_some() {
            self.changes.insert(result::ARTIFACTS.to_owned(), Value::Bool(true));
        }
        self.aside = read.aside;
        self.state = State::Settled(read.result);
    }

    /// The tool's name, whatever the model called it by.
    fn tool_name(&self) -> &str {
        self.tool.as_deref().map_or(&self.call.name, |tool| &tool.name)
    }

    /// What came of a settled call, for those who count.
    pub(super) fn settled(&self, at: Millis) -> Option<Settled> {
        let State::Settled(result) = &self.state else { return None };
        let (owner, version) =
            self.tool.as_deref().map(|tool| (tool.owner.clone(), tool.version.clone())).unwrap_or_default();
        Some(Settled {
            tool: self.tool_name().to_owned(),
            owner,
            version,
            outcome: result.error.clone().unwrap_or_else(|| "ok".to_owned()),
            ms: self.started.map_or(0, |started| at.saturating_sub(started)),
            alias: self.alias.clone(),
        })
    }

    pub(super) fn settle(&mut self, error: &ToolError) {
        self.state = State::Settled(ToolResult::failed(self.call.id.clone(), error));
    }

    /// Whether the agent behind the wire ran this one itself.
    pub(super) fn agent_ran(&self) -> bool {
        self.agent_ran
    }

    /// When a running call must be done.
    pub(super) fn deadline(&self) -> Option<Millis> {
        match self.state {
            State::Running { deadline, .. } => Some(deadline),
            State::Ready | State::Asked { .. } | State::Settled(_) => None,
        }
    }

    pub(super) fn is_settled(&self) -> bool {
        matches!(self.state, State::Settled(_))
    }

    pub(super) fn view(&self, at: Millis) -> CallView {
        let state = match &self.state {
            State::Ready => CallState::InputAvailable,
            State::Asked { reason, payload, .. } => {
                CallState::ApprovalRequested { reason: reason.clone(), payload: payload.clone() }
            }
            State::Running { .. } => CallState::Running,
            State::Settled(result) => match &self.job {
                Some(job) => CallState::Pending { job: job.id.clone() },
                None => settled_state(result),
            },
        };
        let mut view = view(&self.message, &self.call, self.scope, state, at);
        if self.edited {
            view.arguments = self.arguments.to_string();
        }
        view
    }
}

/// A call as those who watch see it.
pub(super) fn view(
    message: &MessageId,
    call: &ToolCall,
    scope: Option<Scope>,
    state: CallState,
    at: Millis,
) -> CallView {
    CallView {
        id: call.id.clone(),
        message: message.clone(),
        name: call.name.clone(),
        scope,
        arguments: call.arguments.clone(),
        state,
        at,
    }
}

/// What those who watch see of a result.
pub(super) fn settled_state(result: &ToolResult) -> CallState {
    match result.error.as_deref() {
        None => CallState::ResultAvailable { content: result.content.clone() },
        Some("denied") => CallState::Denied,
        Some("cancelled") => CallState::Cancelled,
        Some(code) => {
            let told: Value = serde_json::from_str(&result.content).unwrap_or_default();
            let message = told.get("message").and_then(Value::as_str).unwrap_or(&result.content);
            CallState::Failed { code: code.to_owned(), message: message.to_owned() }
        }
    }
}

/// An executor's answer as a result, for one that came too late to count.
pub(super) fn late_result(call: ToolCallId, outcome: &Outcome) -> ToolResult {
    match outcome {
        Outcome::Result(result) => ToolResult::ok(call, result),
        Outcome::Error(error) => ToolResult::failed(call, error),
        Outcome::Interim(job) => ToolResult::interim(call, job),
        Outcome::NeedsApproval { reason, .. } => ToolResult::failed(call, &ToolError::new("cancelled", reason)),
    }
}

// A call is known by the model's id. A server that numbers the calls of each step from 0 gives the same id to
// another call, which shows in its tool or arguments.
fn is_duplicate(earlier: &ToolCall, call: &ToolCall) -> bool {
    call.wire_id.is_some()
        && earlier.id != call.id
        && earlier.wire_id == call.wire_id
        && earlier.name == call.name
        && earlier.arguments == call.arguments
}

// An empty text means no arguments: many servers send nothing at all for a tool without any.
fn read_arguments(tools: &Resolved, name: &str, text: &str) -> Result<Value, ToolError> {
    let trimmed = text.trim();
    let mut value = match trimmed {
        "" | "null" => json!({}),
        text => serde_json::from_str(text).map_err(|why| error::invalid_json(name, &why.to_string()))?,
    };
    // Some servers encode the arguments twice.
    if let Value::String(inner) = &value
        && let Ok(decoded @ Value::Object(_)) = serde_json::from_str(inner)
    {
        value = decoded;
    }
    if !value.is_object() {
        return Err(error::invalid_json(name, "they are JSON, but not an object"));
    }
    if let Some(schema) = tools.schema(name) {
        schema.drop_absent(&mut value);
        schema.check(&value).map_err(|violations| error::invalid_arguments(name, &violations))?;
    }
    Ok(value)
}

fn check_result(tools: &Resolved, name: &str, result: &Value) -> Result<(), ToolError> {
    let violations = tools.registry().output(name).and_then(|output| output.check(result).err());
    violations.map_or(Ok(()), |violations| Err(error::invalid_result(name, &violations)))
}
