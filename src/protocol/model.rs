//! What a model is asked and what its stream says, in our words. Knows nothing of any vendor's.

use std::sync::Arc;

use serde_json::Value;

use crate::protocol::{ContextItem, Message, Names, OutputFormat, RunId, State, ThreadId};

/// One model call.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelRequest {
    /// The thread.
    pub thread: ThreadId,
    /// The run.
    pub run: RunId,
    /// Which of the gateway's models is asked; empty for its first.
    pub model: String,
    /// The form the final answer must have; `None` for words.
    pub output: Option<Arc<OutputFormat>>,
    /// What the integrator tells the model about its work; empty for none.
    pub instructions: String,
    /// The thread as it is sent: every call answered, nothing truncated that was asked again.
    pub messages: Vec<Message>,
    /// The tools the model may call.
    pub tools: Vec<Arc<ToolOffer>>,
    /// Facts about the page.
    pub context: Vec<ContextItem>,
    /// What tools remember; nothing of it lives only as long as the run.
    pub state: State,
    /// What the page's request editors set for whoever reads it (AG-UI `forwardedProps`).
    pub options: Names<Value>,
}

impl ModelRequest {
    /// A request that says nothing yet.
    #[must_use]
    pub fn new(thread: ThreadId, run: RunId) -> Self {
        Self {
            thread,
            run,
            model: String::new(),
            output: None,
            instructions: String::new(),
            messages: Vec::new(),
            tools: Vec::new(),
            context: Vec::new(),
            state: State::default(),
            options: Names::default(),
        }
    }
}

/// A tool as a model sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolOffer {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// JSON Schema of its arguments.
    pub parameters: Arc<Value>,
}

impl ToolOffer {
    /// Characters of what a model is told of it.
    #[must_use]
    pub fn size(&self) -> usize {
        self.name.chars().count() + self.description.chars().count() + self.parameters.to_string().chars().count()
    }
}

/// One thing a model's stream says. Parts open, change and close; `slot` numbers the calls of one stream from 0.
#[derive(Clone, Debug, PartialEq)]
pub enum ModelEvent {
    /// The model began to answer.
    Start,
    /// A text part opens.
    TextStart,
    /// More of the open text part.
    TextDelta(String),
    /// The text part is closed.
    TextEnd,
    /// What has come of the open text part is what the model thought: there was no telling before. The part is reasoning
    /// from now on, and takes no more words.
    TextWasReasoning,
    /// What else the provider's own form of the text part holds, to be kept and sent back. A part of its own where no
    /// text part is open and none has just been closed.
    TextEncrypted(String),
    /// A reasoning part opens.
    ReasoningStart,
    /// More of the open reasoning part.
    ReasoningDelta(String),
    /// The reasoning part is closed.
    ReasoningEnd,
    /// As [`TextEncrypted`](Self::TextEncrypted), of a reasoning part. Without words: a part nobody here can read.
    ReasoningEncrypted(String),
    /// A call opens.
    CallStart {
        /// Its number in this stream.
        slot: usize,
        /// The model's id for it, if it gave one.
        id: Option<String>,
        /// The tool's name.
        name: String,
    },
    /// More of a call's arguments.
    CallDelta {
        /// Which call.
        slot: usize,
        /// A piece of the arguments' text.
        text: String,
    },
    /// A call's arguments are complete. Says nothing about it having run.
    CallEnd {
        /// Which call.
        slot: usize,
    },
    /// The whole arguments of a call, to replace what was streamed (AG-UI: a later snapshot of the messages).
    CallArguments {
        /// Which call.
        slot: usize,
        /// The arguments' text.
        text: String,
    },
    /// Opaque state of a call, to be kept and sent back.
    CallEncrypted {
        /// Which call.
        slot: usize,
        /// The value.
        value: String,
    },
    /// The agent behind the wire ran this call itself; it must not be run again.
    CallResult {
        /// Which call.
        slot: usize,
        /// What came of it, as text.
        content: String,
    },
    /// Words in the place of everything said so far; the calls are let go. A callback's, never a model's.
    Replace(String),
    /// Tokens spent so far in this step.
    Usage(Usage),
    /// The terminal event of a good stream.
    Finish(FinishReason),
    /// The terminal event of a bad one.
    Error(ModelError),
    /// Something was skipped or repaired on the way; for the log.
    Note(String),
    /// The model's server says that it is at work, and has nothing to show for it.
    Alive,
}

/// Why a model says it stopped. Whether there are calls the loop sees for itself; but it runs none behind a refusal, and asks
/// again where the model paused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FinishReason {
    /// The answer is complete.
    Done,
    /// It asks for calls.
    Calls,
    /// It ran into its output limit.
    Length,
    /// It, or a filter, refused; in its provider's words, where there are any.
    Refused(String),
    /// It wants to be asked again with what it has said so far, and nothing else.
    Paused,
    /// Another word of the vendor's.
    Other(String),
}

/// Tokens, as the provider counts them, and what they cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Tokens read, those from a cache included.
    pub input_tokens: u64,
    /// Tokens written, reasoning included.
    pub output_tokens: u64,
    /// Of those read, the ones that came from the provider's cache.
    pub cached_tokens: u64,
    /// Of those written, the ones the model thought with.
    pub reasoning_tokens: u64,
    /// What they cost, in millionths of the gateway's currency; `None` where it knows no prices.
    pub cost_micros: Option<u64>,
}

impl FinishReason {
    /// The word used on wires.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Done => "done",
            Self::Calls => "calls",
            Self::Length => "length",
            Self::Refused(_) => "refused",
            Self::Paused => "paused",
            Self::Other(word) => word,
        }
    }

    /// The reason of a word.
    #[must_use]
    pub fn of(word: &str) -> Self {
        let known = [Self::Done, Self::Calls, Self::Length, Self::Refused(String::new()), Self::Paused];
        known.into_iter().find(|reason| reason.as_str() == word).unwrap_or_else(|| Self::Other(word.to_owned()))
    }
}

impl Usage {
    /// All tokens.
    #[must_use]
    pub fn tokens(&self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }
}

impl std::ops::AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.input_tokens = self.input_tokens.saturating_add(other.input_tokens);
        self.output_tokens = self.output_tokens.saturating_add(other.output_tokens);
        self.cached_tokens = self.cached_tokens.saturating_add(other.cached_tokens);
        self.reasoning_tokens = self.reasoning_tokens.saturating_add(other.reasoning_tokens);
        let costs = [self.cost_micros, other.cost_micros];
        self.cost_micros = costs.into_iter().flatten().reduce(u64::saturating_add);
    }
}

/// A model call that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelError {
    /// What kind, to act on.
    pub kind: ModelErrorKind,
    /// Words for the user. Hold no secret.
    pub message: String,
    /// How long the other side asks us to wait, in milliseconds.
    pub retry_after_ms: Option<u64>,
    /// Whether the other side says that asking again may help; `None` where it does not say.
    pub retry: Option<bool>,
}

/// What kind of failure a model call met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelErrorKind {
    /// The gateway can not be reached.
    Network,
    /// Too many requests, for now.
    RateLimit,
    /// The key or the person is not allowed.
    Auth,
    /// The request was refused as it stands; sending it again is pointless.
    BadRequest,
    /// The model's side failed.
    Upstream,
    /// The other side broke its protocol.
    Protocol,
}

impl ModelErrorKind {
    /// The word used on wires.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Network => "network",
            Self::RateLimit => "rate_limit",
            Self::Auth => "auth",
            Self::BadRequest => "bad_request",
            Self::Upstream => "upstream",
            Self::Protocol => "protocol",
        }
    }

    /// The kind of a word, if it is one of ours.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        [Self::Network, Self::RateLimit, Self::Auth, Self::BadRequest, Self::Upstream, Self::Protocol]
            .into_iter()
            .find(|kind| kind.as_str() == word)
    }

    /// The kind an HTTP status stands for (RFC 9110 §15).
    #[must_use]
    pub fn from_status(status: u16) -> Self {
        match status {
            401 | 403 => Self::Auth,
            429 => Self::RateLimit,
            501 => Self::BadRequest,
            408 | 409 | 500.. => Self::Upstream,
            _ => Self::BadRequest,
        }
    }
}

impl ModelError {
    /// An error of a kind, with words.
    #[must_use]
    pub fn new(kind: ModelErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), retry_after_ms: None, retry: None }
    }

    /// Whether asking again may help: as the other side says, or else by the kind.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        self.retry.unwrap_or(match self.kind {
            ModelErrorKind::Network | ModelErrorKind::RateLimit | ModelErrorKind::Upstream => true,
            ModelErrorKind::Auth | ModelErrorKind::BadRequest | ModelErrorKind::Protocol => false,
        })
    }
}
