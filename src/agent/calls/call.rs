//! One call on its way to a result. Knows nothing of the others of its step.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::agent::calls::arguments::{check_result, read_arguments};
use crate::agent::calls::view::{settled_state, view};
use crate::agent::limits::{Limits, Spent};
use crate::agent::transcript::Settled;
use crate::agent::{Transcript, provenance, result};
use crate::protocol::{
    Answer, CallState, CallView, Delta, Job, MessageId, Millis, Outcome, Scope, Settled as Count, State as Memory,
    ToolCall, ToolError, ToolResult,
};
use crate::tools::{Case, Definition, Found, Policy, Resolved, Verdict, error};

/// One call on its way to a result.
#[derive(Debug)]
pub(in crate::agent) struct Call {
    pub(in crate::agent) call: ToolCall,
    pub(in crate::agent) message: MessageId,
    scope: Option<Scope>,
    pub(in crate::agent) arguments: Value,
    edited: bool,
    pub(in crate::agent) approved: bool,
    /// What the user said to the tool beside their yes.
    pub(in crate::agent) payload: Value,
    agent_ran: bool,
    pub(in crate::agent) tool: Option<Arc<Definition>>,
    /// Whether it had been started before, and its answer was lost.
    pub(in crate::agent) resumed: bool,
    /// The older name the model called it by.
    alias: Option<String>,
    pub(in crate::agent) started: Option<Millis>,
    /// What it changed of the state.
    pub(in crate::agent) changes: Delta,
    /// The job it started.
    pub(in crate::agent) job: Option<Job>,
    /// The callback that answered in the tool's place.
    pub(in crate::agent) by: Option<String>,
    /// A result too long to read at once: the artifact's name and text.
    pub(in crate::agent) aside: Option<(String, String)>,
    pub(in crate::agent) state: State,
}

/// Where a call is.
#[derive(Debug)]
pub(in crate::agent) enum State {
    /// Checked, not yet judged.
    Ready,
    /// It may run, as soon as there is room.
    Queued,
    /// The user is asked: by the policy, or because the tool wants it.
    Asked {
        /// Why.
        reason: String,
        /// What the tool asks.
        payload: Value,
        /// Whether the policy asks, or the tool itself.
        by_policy: bool,
        /// Whether a yes holds for the tool until the page is closed.
        once: bool,
    },
    /// It runs.
    Running { deadline: Millis, timeout_ms: u64 },
    /// It has its result.
    Settled(ToolResult),
}

pub(super) enum Checked {
    Fits,
    Waiting,
    Answered(String),
    Bad(ToolError),
    TooOften,
}

impl Call {
    pub(in crate::agent) fn new(message: MessageId, call: ToolCall, tools: &Resolved) -> Self {
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
            resumed: false,
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

    /// A call that had its result before the page went away.
    pub(in crate::agent) fn settled_before(
        message: &MessageId,
        call: &ToolCall,
        tools: &Resolved,
        settled: Settled,
    ) -> Self {
        let mut made = Self::new(message.clone(), call.clone(), tools);
        made.job = settled.job.map(|id| Job { id, state: Value::Null });
        made.changes = settled.changes;
        made.state = State::Settled(settled.message.result);
        made
    }

    /// Takes what the user had decided before the page went away.
    pub(in crate::agent) fn approve_again(
        &mut self,
        arguments: Option<String>,
        decided: Option<Value>,
        tools: &Resolved,
    ) -> Result<(), ToolError> {
        let approved = decided.is_some();
        self.approve(arguments, decided.unwrap_or_default(), tools)?;
        self.approved = approved;
        Ok(())
    }

    pub(super) fn check(
        &mut self,
        tools: &Resolved,
        earlier: &Transcript,
        spent: &mut Spent,
        limits: &Limits,
    ) -> Checked {
        let call = &self.call;
        if earlier.calls_of_run().any(|other| is_duplicate(other, call)) {
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
    pub(in crate::agent) fn judge(&mut self, policy: &Policy, memory: &Memory, thread: &Transcript) -> bool {
        match self.verdict(policy, memory, thread) {
            Some(Verdict::Ask { reason, once }) => {
                self.state = State::Asked { reason, payload: Value::Null, by_policy: true, once };
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
    pub(in crate::agent) fn is_granted(&self, policy: &Policy, memory: &Memory, thread: &Transcript) -> bool {
        matches!(self.state, State::Asked { by_policy: true, .. })
            && self.verdict(policy, memory, thread) == Some(Verdict::Allow)
    }

    fn verdict(&self, policy: &Policy, memory: &Memory, thread: &Transcript) -> Option<Verdict> {
        let tool = self.tool.as_deref()?;
        let provenance = || provenance::of(&self.arguments, thread.messages());
        Some(policy.judge(&Case { tool, state: memory, provenance: &provenance }))
    }

    /// Takes the user's yes; changed arguments must still fit.
    pub(in crate::agent) fn approve(
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
    pub(in crate::agent) fn start(&mut self, at: Millis, limits: &Limits) {
        let timeout_ms = self.tool.as_deref().and_then(|tool| tool.timeout_ms).unwrap_or(limits.tool_timeout_ms);
        self.started.get_or_insert(at);
        self.state = State::Running { deadline: at.saturating_add(timeout_ms), timeout_ms };
    }

    /// Takes an executor's answer.
    pub(in crate::agent) fn finish(&mut self, answer: Answer, tools: &Resolved, limits: &Limits) {
        self.changes = answer.changes;
        self.by = answer.by;
        match answer.outcome {
            Outcome::Result(result) => match check_result(tools.registry(), self.tool_name(), &result) {
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
                self.state = State::Asked { reason, payload, by_policy: false, once: false };
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
    pub(in crate::agent) fn settled(&self, at: Millis) -> Option<Count> {
        let State::Settled(result) = &self.state else { return None };
        let (owner, version) =
            self.tool.as_deref().map(|tool| (tool.owner.clone(), tool.version.clone())).unwrap_or_default();
        Some(Count {
            tool: self.tool_name().to_owned(),
            owner,
            version,
            outcome: result.error.clone().unwrap_or_else(|| "ok".to_owned()),
            ms: self.started.map_or(0, |started| at.saturating_sub(started)),
            alias: self.alias.clone(),
        })
    }

    pub(in crate::agent) fn settle(&mut self, error: &ToolError) {
        self.state = State::Settled(ToolResult::failed(self.call.id.clone(), error));
    }

    /// The agent behind the wire ran this one itself.
    pub(super) fn leave_to_agent(&mut self) {
        self.scope = None;
        self.agent_ran = true;
    }

    /// Whether the agent behind the wire ran this one itself.
    pub(in crate::agent) fn agent_ran(&self) -> bool {
        self.agent_ran
    }

    /// When a running call must be done.
    pub(in crate::agent) fn deadline(&self) -> Option<Millis> {
        match self.state {
            State::Running { deadline, .. } => Some(deadline),
            State::Ready | State::Queued | State::Asked { .. } | State::Settled(_) => None,
        }
    }

    pub(in crate::agent) fn is_settled(&self) -> bool {
        matches!(self.state, State::Settled(_))
    }

    pub(in crate::agent) fn view(&self, at: Millis) -> CallView {
        let state = match &self.state {
            State::Ready | State::Queued => CallState::InputAvailable,
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

// A call is known by the model's id, within its run. A server that numbers the calls of each step from 0 gives the same id
// to another call, which shows in its tool or arguments.
fn is_duplicate(earlier: &ToolCall, call: &ToolCall) -> bool {
    call.wire_id.is_some()
        && earlier.id != call.id
        && earlier.wire_id == call.wire_id
        && earlier.name == call.name
        && earlier.arguments == call.arguments
}
