//! A tool call and what came of it. Knows nothing of how a tool is found or run.

use std::borrow::Cow;

use serde_json::{Value, json};

use crate::protocol::{Delta, ToolCallId};

/// Where a tool runs. Said once, in its definition, and obeyed by the one `match` in `session`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// In the page.
    Browser,
    /// Behind the gateway.
    Server,
}

impl Scope {
    /// The scope of a word.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        [Self::Browser, Self::Server].into_iter().find(|scope| scope.as_str() == word)
    }

    /// The word used on wires and screens.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Browser => "browser",
            Self::Server => "server",
        }
    }
}

/// What a tool may change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Risk {
    /// Nothing that lasts.
    Read,
    /// Something that can be undone.
    Write,
    /// Something that can not.
    Irreversible,
}

impl Risk {
    /// The risk of a word.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        [Self::Read, Self::Write, Self::Irreversible].into_iter().find(|risk| risk.as_str() == word)
    }

    /// The word used on wires and screens.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Irreversible => "irreversible",
        }
    }
}

/// What becomes of a call whose answer was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Replay {
    /// It changes nothing: it is run again.
    Pure,
    /// It is run again with the same key, and takes effect once.
    Idempotent,
    /// It may have taken effect: never run again in silence.
    Effect,
}

impl Replay {
    /// The class of a word.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        [Self::Pure, Self::Idempotent, Self::Effect].into_iter().find(|replay| replay.as_str() == word)
    }

    /// The word used on wires.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pure => "pure",
            Self::Idempotent => "idempotent",
            Self::Effect => "effect",
        }
    }
}

/// A model's request to run a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolCall {
    /// Our id.
    pub id: ToolCallId,
    /// The model's id, exactly as it came; `None` where the model gave none or an empty one. Never made up.
    pub wire_id: Option<String>,
    /// The name the model used, known or not.
    pub name: String,
    /// The arguments' text, kept verbatim even where it is not JSON.
    pub arguments: String,
    /// A provider's opaque state for this call (AG-UI `encryptedValue`): kept and sent back, never read.
    pub encrypted_value: Option<String>,
}

/// What an executor says of a call.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// It worked; any JSON, null included.
    Result(Value),
    /// It goes on by itself: this is its first word, the last comes later (`complete`).
    Interim(Job),
    /// It did not.
    Error(ToolError),
    /// It will not go on before the user agrees (a browser that wants a click, say). Asked once, then called again.
    NeedsApproval {
        /// Why, in words for the user.
        reason: String,
        /// What exactly is asked, for the user to see; their answer may carry a payload, too. Null for nothing.
        payload: Value,
    },
}

/// Work that goes on after its call was answered.
#[derive(Clone, Debug, PartialEq)]
pub struct Job {
    /// The tool's own name for it.
    pub id: String,
    /// How it stands, for the model.
    pub state: Value,
}

/// What an executor says, and what it changed of the state.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// What it says.
    pub outcome: Outcome,
    /// What it changed.
    pub changes: Delta,
    /// The callback that answered in the tool's place.
    pub by: Option<String>,
}

impl From<Outcome> for Answer {
    fn from(outcome: Outcome) -> Self {
        Self { outcome, changes: Delta::default(), by: None }
    }
}

/// A failed call, in two voices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolError {
    /// A stable word to match on: `unknown_tool`, `timeout`, … (`tools::error` lists ours).
    pub code: Cow<'static, str>,
    /// For the model: what went wrong and what to do about it.
    pub message: String,
    /// For the person who runs the page; never sent to a model. Holds no secret either.
    pub operator: Option<String>,
    /// Whether the very same call may work when made again.
    pub retryable: bool,
}

/// The one answer to a call, as the thread keeps it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolResult {
    /// Which call it answers.
    pub call: ToolCallId,
    /// What the model reads: the result's JSON, or `{status, code, message, retryable}`.
    pub content: String,
    /// The error's code, where the call failed.
    pub error: Option<String>,
}

impl ToolError {
    /// An error the model may read, not worth repeating.
    #[must_use]
    pub fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self { code: Cow::Borrowed(code), message: message.into(), operator: None, retryable: false }
    }

    /// The same error, worth repeating.
    #[must_use]
    pub fn retryable(mut self) -> Self {
        self.retryable = true;
        self
    }

    /// The same error with words for the operator.
    #[must_use]
    pub fn for_operator(mut self, words: impl Into<String>) -> Self {
        self.operator = Some(words.into());
        self
    }

    /// `{status, code, message, retryable}`: the one shape in which a model reads a failure.
    #[must_use]
    pub fn to_json(&self) -> Value {
        json!({ "status": "error", "code": self.code, "message": self.message, "retryable": self.retryable })
    }
}

impl ToolResult {
    /// The answer of a call that worked.
    #[must_use]
    pub fn ok(call: ToolCallId, result: &Value) -> Self {
        Self { call, content: result.to_string(), error: None }
    }

    /// The answer of a call that goes on by itself.
    #[must_use]
    pub fn interim(call: ToolCallId, job: &Job) -> Self {
        let note =
            "It is at work and goes on by itself. You will be told when it is done; do not call it again for this.";
        let told = json!({ "status": "pending", "job": job.id, "state": job.state, "note": note });
        Self { call, content: told.to_string(), error: None }
    }

    /// The answer of a call that failed.
    #[must_use]
    pub fn failed(call: ToolCallId, error: &ToolError) -> Self {
        Self { call, content: error.to_json().to_string(), error: Some(error.code.clone().into_owned()) }
    }
}
