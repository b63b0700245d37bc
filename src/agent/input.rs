//! What the machine is told and what it asks for. Both are exhaustive: a new one must break its driver.

use std::sync::Arc;

use serde_json::Value;

use crate::agent::limits::Limits;
use crate::protocol::{
    Answer, Delta, Entry, Event, ModelEvent, ModelRequest, Prompt, RunId, Scope, State, ThreadId, ToolCallId,
};
use crate::tools::{Definition, Facts, Policy, Registry};

/// What happened.
#[derive(Clone, Debug)]
pub enum Input {
    /// The tools known now; what a step may call is fixed when the model is asked.
    Tools(Arc<Registry>),
    /// What the host says of the session now, from the next model call on.
    Facts(Facts),
    /// How far a run may go, the one at work, too.
    Limits(Limits),
    /// The rules of the session; what the user has granted stays.
    Policy(Policy),
    /// Which of the gateway's models is asked from the next step on; empty for its first.
    UseModel(String),
    /// Another user is there: what was granted is forgotten.
    ForgetGrants,
    /// What tools remember beyond this thread, as another thread left it.
    State(State),
    /// Whether the tools behind the gateway are being asked for: no step begins before they are known.
    Listing(bool),
    /// The lines of the journal before the checkpoint that the machine was restored from.
    Earlier(Vec<Entry>),
    /// The user sent a message.
    UserMessage(Prompt),
    /// A run that was cut off is taken up; the tools are known by now.
    Resume,
    /// The user wants the failed or stopped run to be taken up again, or one that waits to ask the model to wait no
    /// longer.
    Retry,
    /// Whether the browser says that there is a network. A hint only.
    Online(bool),
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
    /// An executor answered, or somebody else did for it: of a running call, or of the job one has started.
    ToolOutcome {
        /// Which call.
        call: ToolCallId,
        /// What it said.
        answer: Answer,
    },
    /// The user wants a job stopped.
    CancelJob {
        /// The call that started it.
        call: ToolCallId,
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
    /// The machine is let go of, and another takes the run up: what has come of an answer is kept.
    Rest,
    /// Time passed; sent when [`Run::wake_at`](crate::agent::Run::wake_at) is reached.
    Tick,
}

/// What a call waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// No call of this id is known.
    Unknown,
    /// Nothing: it has its result, or it is not open yet.
    Closed,
    /// The user's decision.
    Asked,
    /// Its tool's answer.
    Running,
    /// The end of the job that it started.
    Job,
}

/// The user's answer to an approval.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Run it.
    Approve {
        /// The arguments' text as the user changed them; `None` where they did not.
        arguments: Option<String>,
        /// What the user says to the tool beside their yes; null for nothing.
        payload: Value,
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
    /// Read what stands in the journal before its last checkpoint; answer with [`Input::Earlier`].
    LoadEarlier,
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
    /// Keep what outlives the thread (`app:…`, `user:…`): the changes of a step, each key's last.
    KeepState(Delta),
    /// Keep this for `artifact_read`.
    SaveArtifact {
        /// Its name.
        name: String,
        /// Its text.
        content: String,
    },
    /// Let go of a running tool, or of a job.
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
    /// The tool.
    pub definition: Arc<Definition>,
    /// Its name, as its executor knows it.
    pub name: String,
    /// Where it runs.
    pub scope: Scope,
    /// Arguments that fit its schema.
    pub arguments: Value,
    /// Whether the user agreed to this very call.
    pub approved: bool,
    /// What the user said to the tool beside their yes; null for nothing.
    pub payload: Value,
    /// The job to be taken up, where the call has started one already; it must not be started again.
    pub job: Option<String>,
    /// Whether the call had been started before, and its answer was lost. One whose tool is an `effect` must not be run:
    /// only what became of it is to be found out.
    pub resumed: bool,
    /// The thread.
    pub thread: ThreadId,
    /// The run.
    pub run: RunId,
    /// The step, counted from 1.
    pub step: u32,
    /// The agent that asks.
    pub agent: String,
    /// What tools remember, as of the steps before.
    pub state: Arc<State>,
}
