//! The journal's lines. Knows nothing of where they are kept.

use serde_json::Value;

use crate::protocol::{
    AssistantMessage, Delta, MessageId, Millis, ModelError, Part, RunId, Scope, ToolCall, ToolCallId, ToolResult,
    Usage, UserMessage,
};

/// One line of a thread's journal: what happened, saved before the effect it allows.
#[derive(Clone, Debug, PartialEq)]
pub enum Entry {
    /// A run began.
    RunStart {
        /// The run.
        run: RunId,
        /// When.
        at: Millis,
        /// The user's message; `None` where a failed run is taken up again.
        message: Option<UserMessage>,
    },
    /// The model is asked.
    StepStart {
        /// The run.
        run: RunId,
        /// Counted from 1.
        step: u32,
        /// The tools it is offered, as `name@version`.
        tools: Vec<String>,
        /// What the run had used up before it.
        used: Usage,
    },
    /// A part of an answer that is still being written came to its end; the answer itself replaces it.
    Part {
        /// The answer.
        message: MessageId,
        /// The part. A call stands here only where the agent behind the wire has run it itself.
        part: Part,
    },
    /// A model's answer ended, well or not.
    Message(AssistantMessage),
    /// The user decided on a call.
    Decision {
        /// Which call.
        call: ToolCallId,
        /// Yes or no.
        approved: bool,
        /// The arguments as the user changed them.
        arguments: Option<String>,
        /// What they said to the tool; null for nothing.
        payload: Value,
    },
    /// A call is about to run.
    CallStart {
        /// Which call.
        call: ToolCallId,
        /// When.
        at: Millis,
        /// Where.
        scope: Scope,
    },
    /// A call is settled.
    Result {
        /// The answer.
        result: ToolResult,
        /// The message that carries it.
        message: MessageId,
        /// What it changed of the state, without what ends with the run.
        changes: Delta,
        /// The job's id, where the call goes on by itself.
        job: Option<String>,
        /// The callback that answered in the tool's place; the tool itself did not.
        by: Option<String>,
    },
    /// A long-running call came to its end.
    JobEnd {
        /// The answer.
        result: ToolResult,
        /// The tool the model had called.
        name: String,
        /// The message that tells it to the model.
        message: MessageId,
        /// What it changed of the state.
        changes: Delta,
    },
    /// A result that came after its call was settled: recorded, without effect.
    LateResult(ToolResult),
    /// The model is told that its answer does not fit the form that was asked for.
    Notice {
        /// The message.
        message: MessageId,
        /// The words.
        content: String,
    },
    /// A run ended.
    RunEnd {
        /// The run.
        run: RunId,
        /// Why.
        reason: EndReason,
        /// What it had used up.
        used: Usage,
    },
    /// What must be known of everything before it, so that a thread can be read from here on. Stands between two runs.
    Checkpoint(Checkpoint),
    /// Somebody else took the thread over; whoever had it can not write behind this line any more.
    Owner {
        /// When.
        at: Millis,
    },
}

impl Entry {
    /// Whether what comes next takes effect in the world.
    #[must_use]
    pub fn allows_effect(&self) -> bool {
        matches!(self, Self::CallStart { .. } | Self::Decision { .. })
    }

    /// What the last run of these lines had used up, as far as they tell.
    #[must_use]
    pub fn used_up(lines: &[Self]) -> Usage {
        let used = lines.iter().rev().find_map(|line| match line {
            Self::RunEnd { used, .. } | Self::StepStart { used, .. } => Some(*used),
            Self::RunStart { .. } => Some(Usage::default()),
            _ => None,
        });
        used.unwrap_or_default()
    }
}

/// What a thread has come to between two runs, beside its messages.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Checkpoint {
    /// What tools remember of the thread.
    pub state: Delta,
    /// The jobs at work.
    pub jobs: Vec<OpenJob>,
}

/// A job at work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenJob {
    /// The call that started it.
    pub call: ToolCall,
    /// The answer that asked for it.
    pub message: MessageId,
    /// The tool's own name for it.
    pub job: String,
}

/// Why a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EndReason {
    /// The model gave its answer.
    Completed,
    /// The user pressed stop.
    Stopped,
    /// The user sent the next message instead of waiting.
    Superseded,
    /// The page went away in the middle.
    Interrupted,
    /// The answer broke off, and asking again did not help or was not possible.
    Truncated,
    /// The model answered without a word or a call.
    Empty,
    /// The answer ended at the model's limit.
    Length,
    /// The model, or a filter of its provider, did not go on.
    Refused {
        /// In its provider's words; empty where there are none.
        why: String,
    },
    /// The answer has not the form that was asked for, the second one neither.
    OutputMismatch {
        /// What does not fit.
        why: String,
    },
    /// Too many steps.
    MaxSteps {
        /// The limit.
        limit: u32,
    },
    /// Too many calls in one step.
    MaxCalls {
        /// The limit.
        limit: usize,
        /// What the model asked for.
        asked: usize,
    },
    /// Too much time.
    MaxTime {
        /// The limit, in milliseconds.
        limit_ms: u64,
    },
    /// Too many tokens.
    MaxTokens {
        /// The limit.
        limit: u64,
        /// What the run had used.
        used: u64,
    },
    /// Too much money.
    MaxCost {
        /// The limit, in millionths of the gateway's currency.
        limit_micros: u64,
        /// What the run had cost.
        used_micros: u64,
    },
    /// The same call again and again.
    RepeatedCall {
        /// The tool.
        name: String,
        /// How often it may run with the same arguments.
        limit: u32,
    },
    /// The model call failed.
    Error(ModelError),
}

impl EndReason {
    /// The word used in JavaScript events.
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Stopped => "stopped",
            Self::Superseded => "superseded",
            Self::Interrupted => "interrupted",
            Self::Truncated => "truncated",
            Self::Empty => "empty",
            Self::Length => "length",
            Self::Refused { .. } => "refused",
            Self::OutputMismatch { .. } => "output-mismatch",
            Self::MaxSteps { .. } => "max-steps",
            Self::MaxCalls { .. } => "max-calls",
            Self::MaxTime { .. } => "max-time",
            Self::MaxTokens { .. } => "max-tokens",
            Self::MaxCost { .. } => "max-cost",
            Self::RepeatedCall { .. } => "repeated-call",
            Self::Error(_) => "error",
        }
    }
}
