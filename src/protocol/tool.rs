//! A tool call and what came of it. Knows nothing of how a tool is found or run.

use std::borrow::Cow;

use serde_json::{Value, json};

use crate::protocol::ToolCallId;

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
    /// It did not.
    Error(ToolError),
    /// It will not go on before the user agrees (a browser that wants a click, say). Asked once, then called again.
    NeedsApproval {
        /// Why, in words for the user.
        reason: String,
    },
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

    /// The answer of a call that failed.
    #[must_use]
    pub fn failed(call: ToolCallId, error: &ToolError) -> Self {
        Self { call, content: error.to_json().to_string(), error: Some(error.code.clone().into_owned()) }
    }
}
