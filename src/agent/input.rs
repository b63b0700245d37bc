//! What the machine is told and what it asks for. Both are exhaustive: a new one must break its driver.

use std::sync::Arc;

use serde_json::Value;

use crate::protocol::{Entry, Event, ModelEvent, ModelRequest, Outcome, Scope, ToolCallId};
use crate::tools::Registry;

/// What happened.
#[derive(Clone, Debug)]
pub enum Input {
    /// The tools known now; what a step may call is fixed when the model is asked.
    Tools(Arc<Registry>),
    /// The user sent a message.
    UserMessage(String),
    /// The user wants the failed or stopped run to be taken up again.
    Retry,
    /// The model's stream said something.
    Model {
        /// The model call it belongs to ([`Output::CallModel`]'s number); those of an older one are ignored.
        call: u64,
        /// What it said.
        event: ModelEvent,
    },
    /// The model's stream is over. Without a terminal event before it, the answer is truncated.
    ModelClosed {
        /// The model call it belongs to.
        call: u64,
    },
    /// An executor answered.
    ToolOutcome {
        /// Which call.
        call: ToolCallId,
        /// What it said.
        outcome: Outcome,
    },
    /// The user decided on an open approval.
    Decision {
        /// Which call.
        call: ToolCallId,
        /// What they decided.
        decision: Decision,
    },
    /// The user pressed stop.
    Stop,
    /// Time passed; sent when [`Run::wake_at`](crate::agent::Run::wake_at) is reached.
    Tick,
}

/// The user's answer to an approval.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Run it.
    Approve {
        /// The arguments' text as the user changed them; `None` where they did not.
        arguments: Option<String>,
    },
    /// Do not run it.
    Deny {
        /// Why, for the model.
        reason: Option<String>,
    },
}

/// What is to be done, in this order.
#[derive(Clone, Debug)]
pub enum Output {
    /// Write this down, and only then go on to the next output.
    Save(Entry),
    /// Tell those who watch.
    Event(Event),
    /// Ask the model; answer with [`Input::Model`] and, at the end, [`Input::ModelClosed`].
    CallModel {
        /// Numbers the model calls of this machine.
        call: u64,
        /// What to send.
        request: ModelRequest,
    },
    /// Let go of a model's stream.
    CancelModel {
        /// Which model call.
        call: u64,
    },
    /// Run a tool; answer with [`Input::ToolOutcome`].
    CallTool(ToolRequest),
    /// Let go of a running tool.
    CancelTool {
        /// Which call.
        call: ToolCallId,
    },
}

/// A tool to be run.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolRequest {
    /// The call: its idempotency key, too.
    pub call: ToolCallId,
    /// The tool's name, known to the registry.
    pub name: String,
    /// Where it runs.
    pub scope: Scope,
    /// Arguments that fit its schema.
    pub arguments: Value,
    /// Whether the user agreed to this very call.
    pub approved: bool,
}
