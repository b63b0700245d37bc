//! What a run tells those who watch it. Knows nothing of views.

use serde_json::Value;

use crate::protocol::{
    EndReason, MessageId, MessageStatus, Millis, ModelError, RunId, Scope, ToolCallId, Usage, UserMessage,
};

/// One change of a thread, in order.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// A run began with the user's words.
    RunStart {
        /// The run.
        run: RunId,
        /// The user's message; `None` where a failed run is taken up again.
        message: Option<UserMessage>,
    },
    /// The model is asked.
    StepStart {
        /// The run.
        run: RunId,
        /// Counted from 1.
        step: u32,
        /// The message its answer becomes.
        message: MessageId,
        /// The tools it is offered, as `name@version`.
        tools: Vec<String>,
    },
    /// More text of an answer.
    TextDelta {
        /// Which message.
        message: MessageId,
        /// The text.
        text: String,
    },
    /// More reasoning of an answer.
    ReasoningDelta {
        /// Which message.
        message: MessageId,
        /// The text.
        text: String,
    },
    /// The text that an answer ends with so far is reasoning: there was no telling before.
    TextWasReasoning {
        /// Which message.
        message: MessageId,
    },
    /// Words stand in the place of everything the answer has said so far.
    Replaced {
        /// Which message.
        message: MessageId,
        /// The words.
        text: String,
    },
    /// More of a call's arguments.
    ArgumentsDelta {
        /// Which call.
        call: ToolCallId,
        /// A piece of the arguments' text.
        text: String,
    },
    /// An answer ended.
    MessageEnd {
        /// Which message.
        message: MessageId,
        /// How.
        status: MessageStatus,
    },
    /// A call entered a state.
    Call(CallView),
    /// A running tool, or the job it started, says how far it is.
    Progress {
        /// Which call.
        call: ToolCallId,
        /// From 0 to 1, where it knows.
        fraction: Option<f64>,
        /// What it is doing, in words for the user.
        text: String,
    },
    /// A decision could not be taken as given; the approval stays open.
    DecisionRefused {
        /// Which call.
        call: ToolCallId,
        /// Why, in words for the user.
        reason: String,
    },
    /// A call was settled; for those who count.
    Settled(Settled),
    /// The model will be asked later; over with the next [`Event::StepStart`] or the run's end.
    Waiting {
        /// When, at the latest.
        until: Millis,
        /// Why.
        why: Wait,
    },
    /// Tokens spent so far.
    Usage {
        /// By the step at work; none where it is over.
        step: Usage,
        /// By the run.
        run: Usage,
    },
    /// The final answer, in the form that was asked for.
    Output {
        /// The message it is.
        message: MessageId,
        /// The value.
        value: Value,
    },
    /// Something for the log.
    Note(String),
    /// Whether the thread is being written down: `None` where it is (again), or why it is not. The run goes on in memory.
    Saving(Option<String>),
    /// A run ended.
    RunEnd {
        /// The run.
        run: RunId,
        /// Why.
        reason: EndReason,
    },
}

/// Why a run waits before it asks the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wait {
    /// The last try failed; it is asked again.
    Retry {
        /// How many times it has been asked again for this step, this one included.
        attempt: u32,
        /// How many times at most.
        of: u32,
        /// What went wrong; `None` where the answer broke off.
        error: Option<ModelError>,
    },
    /// There is no network. `until` is when it is looked for again, should the browser not say that it is back.
    Offline,
}

/// What came of a call, for those who count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settled {
    /// The tool, or the name nobody registered.
    pub tool: String,
    /// Who answers for it; empty for nobody.
    pub owner: String,
    /// Its version.
    pub version: String,
    /// `ok`, or the error's code.
    pub outcome: String,
    /// How long it took, in milliseconds; 0 where it never ran.
    pub ms: u64,
    /// The older name it was called by.
    pub alias: Option<String>,
}

/// A call as those who watch see it.
#[derive(Clone, Debug, PartialEq)]
pub struct CallView {
    /// Our id.
    pub id: ToolCallId,
    /// The answer that asked for it.
    pub message: MessageId,
    /// The tool's name.
    pub name: String,
    /// Where it runs; `None` for a name nobody registered, or a tool the agent ran itself.
    pub scope: Option<Scope>,
    /// The arguments' text, as they run or ran.
    pub arguments: String,
    /// Where it is in its life.
    pub state: CallState,
    /// When it entered that state.
    pub at: Millis,
}

/// The life of a call.
#[derive(Clone, Debug, PartialEq)]
pub enum CallState {
    /// The model is still writing it.
    InputStreaming,
    /// It is written; the step is not over.
    InputAvailable,
    /// The user is asked.
    ApprovalRequested {
        /// Why.
        reason: String,
        /// What exactly the tool asks, as JSON; null for nothing beside the arguments.
        payload: Value,
    },
    /// It runs.
    Running,
    /// It goes on by itself, after its call was answered.
    Pending {
        /// The job's id.
        job: String,
    },
    /// It worked.
    ResultAvailable {
        /// The result's JSON text.
        content: String,
    },
    /// It failed.
    Failed {
        /// The error's code.
        code: String,
        /// The model's words for it.
        message: String,
    },
    /// The user said no.
    Denied,
    /// It was cancelled before it ended.
    Cancelled,
}

impl CallState {
    /// The word used in JavaScript events.
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::InputStreaming => "input-streaming",
            Self::InputAvailable => "input-available",
            Self::ApprovalRequested { .. } => "approval-requested",
            Self::Running => "running",
            Self::Pending { .. } => "pending",
            Self::ResultAvailable { .. } => "result-available",
            Self::Failed { .. } => "failed",
            Self::Denied => "denied",
            Self::Cancelled => "cancelled",
        }
    }

    /// Whether nothing more will come of the call.
    #[must_use]
    pub fn is_settled(&self) -> bool {
        matches!(self, Self::ResultAvailable { .. } | Self::Failed { .. } | Self::Denied | Self::Cancelled)
    }
}
