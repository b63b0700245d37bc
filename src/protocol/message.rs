//! What a thread is made of. Knows nothing of how a provider writes it.

use crate::protocol::{MessageId, ToolCall, ToolResult};

/// One message of a thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Message {
    /// What the user wrote.
    User {
        /// Its id.
        id: MessageId,
        /// Its text.
        content: String,
    },
    /// What a model answered in one step.
    Assistant(AssistantMessage),
    /// What came of one call.
    Tool(ToolMessage),
    /// What a long-running call came to, after its first result. Sent to a model in the user's place.
    Job {
        /// The tool the model had called.
        name: String,
        /// What came of it.
        message: ToolMessage,
    },
}

/// One model answer: parts in the order they came, because order is meaning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AssistantMessage {
    /// Its id.
    pub id: MessageId,
    /// Text, reasoning and calls.
    pub parts: Vec<Part>,
    /// How it ended.
    pub status: MessageStatus,
}

/// A part of a model's answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// Words for the user (markdown).
    Text {
        /// The text.
        text: String,
    },
    /// Words the model thought with.
    Reasoning {
        /// The text.
        text: String,
    },
    /// A request to run a tool.
    Call(ToolCall),
}

/// How a model's answer ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageStatus {
    /// The model said it was done.
    Complete,
    /// The stream broke off; what had come is kept and shown, its calls are not.
    Truncated,
    /// The stream broke off and the model was asked again: shown, never sent back.
    Superseded,
    /// The user stopped it.
    Stopped,
}

/// The answer to one call, as a message of the thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolMessage {
    /// Its id.
    pub id: MessageId,
    /// The answer.
    pub result: ToolResult,
}

impl ToolMessage {
    /// What a model reads where a long-running call of `name` has come to its end.
    #[must_use]
    pub fn told_as_job(&self, name: &str) -> String {
        let Self { result, .. } = self;
        format!("[The long-running call {} of \"{name}\" has come to its end: {}]", result.call, result.content)
    }
}

impl MessageStatus {
    const ALL: [Self; 4] = [Self::Complete, Self::Truncated, Self::Superseded, Self::Stopped];

    /// The word used in journals.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::Truncated => "truncated",
            Self::Superseded => "superseded",
            Self::Stopped => "stopped",
        }
    }

    /// The status of a word.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str() == word)
    }
}

impl AssistantMessage {
    /// The calls, in order.
    pub fn calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.parts.iter().filter_map(|part| match part {
            Part::Call(call) => Some(call),
            Part::Text { .. } | Part::Reasoning { .. } => None,
        })
    }

    /// The words for the user, joined.
    #[must_use]
    pub fn text(&self) -> String {
        self.parts
            .iter()
            .filter_map(|part| match part {
                Part::Text { text } => Some(text.as_str()),
                Part::Reasoning { .. } | Part::Call(_) => None,
            })
            .collect()
    }
}
