//! What a thread is made of. Knows nothing of how a provider writes it.

use std::sync::Arc;

use serde_json::Value;

use crate::protocol::{MessageId, ToolCall, ToolResult};

/// One message of a thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Message {
    /// What the user wrote.
    User(UserMessage),
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
    /// What the loop itself tells the model, in the user's place: that its answer does not fit what was asked for.
    Notice {
        /// Its id.
        id: MessageId,
        /// The words.
        content: String,
    },
}

/// What the user wrote, and what they want back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserMessage {
    /// Its id.
    pub id: MessageId,
    /// Its text.
    pub content: String,
    /// The files that belong to it.
    pub attachments: Vec<Attachment>,
    /// The form the final answer must have; `None` for words.
    pub output: Option<Arc<OutputFormat>>,
}

/// A file that belongs to a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attachment {
    /// Its name; empty where it has none.
    pub name: String,
    /// Its media type, such as `image/png`.
    pub media_type: String,
    /// Where its bytes are.
    pub source: Source,
}

/// Where the bytes of an attachment are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// Here, as base64 (RFC 4648 §4). Shared, since a request is a copy of the thread.
    Data(Arc<str>),
    /// At this address, from where the model's side fetches them.
    Url(String),
}

/// The form of a final answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputFormat {
    /// What it is called: letters, digits, `_` and `-`, at most 64.
    pub name: String,
    /// JSON Schema of the answer.
    pub schema: Value,
}

/// What the user says: a message to be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prompt {
    /// The id it is to have; one is made where there is none.
    pub id: Option<MessageId>,
    /// The text.
    pub text: String,
    /// The files.
    pub attachments: Vec<Attachment>,
    /// The form the final answer must have.
    pub output: Option<Arc<OutputFormat>>,
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
        /// What else the provider's own form of it holds, to be sent back to that provider alone. Never read here.
        encrypted_value: Option<String>,
    },
    /// Words the model thought with. Without words: a part that only its provider can read.
    Reasoning {
        /// The text.
        text: String,
        /// As that of a text.
        encrypted_value: Option<String>,
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

impl Part {
    /// Words for the user.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into(), encrypted_value: None }
    }

    /// Words the model thought with.
    #[must_use]
    pub fn reasoning(text: impl Into<String>) -> Self {
        Self::Reasoning { text: text.into(), encrypted_value: None }
    }
}

impl UserMessage {
    /// A message of words alone.
    #[must_use]
    pub fn new(id: MessageId, content: impl Into<String>) -> Self {
        Self::of(id, Prompt::from(content.into()))
    }

    /// A message of what the user says.
    #[must_use]
    pub fn of(id: MessageId, prompt: Prompt) -> Self {
        let Prompt { text, attachments, output, .. } = prompt;
        Self { id, content: text, attachments, output }
    }

    /// What was said, to be said again.
    #[must_use]
    pub fn prompt(&self) -> Prompt {
        Prompt {
            id: Some(self.id.clone()),
            text: self.content.clone(),
            attachments: self.attachments.clone(),
            output: self.output.clone(),
        }
    }
}

impl From<String> for Prompt {
    fn from(text: String) -> Self {
        Self { text, ..Self::default() }
    }
}

impl From<&str> for Prompt {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl Attachment {
    /// Bytes of the file, where they are here.
    #[must_use]
    pub fn size(&self) -> Option<usize> {
        match &self.source {
            Source::Data(data) => Some(data.trim_end_matches('=').len() * 3 / 4),
            Source::Url(_) => None,
        }
    }

    /// Whether it is text, which every model reads.
    #[must_use]
    pub fn is_text(&self) -> bool {
        let plain = self.media_type.split(';').next().unwrap_or_default().trim();
        TEXTS.iter().any(|kind| fits(plain, kind))
    }

    /// Whether its type is one of these; `image/*` stands for all of a kind.
    #[must_use]
    pub fn is_one_of<T: AsRef<str>>(&self, types: &[T]) -> bool {
        types.iter().any(|kind| fits(&self.media_type, kind.as_ref()))
    }

    /// Whether it is an image.
    #[must_use]
    pub fn is_image(&self) -> bool {
        self.media_type.starts_with("image/")
    }
}

/// The media types that are text.
pub const TEXTS: [&str; 4] = ["text/*", "application/json", "application/xml", "application/yaml"];

fn fits(media_type: &str, pattern: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(kind) => media_type.starts_with(kind),
        None => media_type == pattern,
    }
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

impl Message {
    /// Its id.
    #[must_use]
    pub fn id(&self) -> &MessageId {
        match self {
            Self::User(said) => &said.id,
            Self::Assistant(answer) => &answer.id,
            Self::Tool(message) | Self::Job { message, .. } => &message.id,
            Self::Notice { id, .. } => id,
        }
    }

    /// The model's answer, where it is one.
    #[must_use]
    pub fn answer(&self) -> Option<&AssistantMessage> {
        if let Self::Assistant(answer) = self { Some(answer) } else { None }
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
                Part::Text { text, .. } => Some(text.as_str()),
                Part::Reasoning { .. } | Part::Call(_) => None,
            })
            .collect()
    }
}
