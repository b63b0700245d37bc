//! Floor 0: the nouns every other floor speaks in. Data and serde, nothing else.
//!
//! Knows nothing of a wire, a loop, a browser or a server.

mod context;
mod entry;
mod entry_json;
mod event;
mod event_json;
mod id;
mod json;
mod message;
mod model;
mod names;
mod object;
mod state;
mod tool;

pub use context::ContextItem;
pub use entry::{Checkpoint, EndReason, Entry, OpenJob};
pub use event::{CallState, CallView, Event, Settled, Wait};
pub use id::{IdMint, MessageId, RunId, ThreadId, ToolCallId};
pub use json::{JsonFault, MAX_DEPTH, parse_json};
pub use message::{
    AssistantMessage, Attachment, Message, MessageStatus, OutputFormat, Part, Prompt, Source, TEXTS, ToolMessage,
    UserMessage,
};
pub use model::{FinishReason, ModelError, ModelErrorKind, ModelEvent, ModelRequest, ToolOffer, Usage};
pub use names::Names;
pub use object::object;
pub use state::{Delta, Lifetime, State, delta_from_json, delta_to_json};
pub use tool::{Answer, Job, Outcome, Replay, Risk, Scope, ToolCall, ToolError, ToolResult};

/// Milliseconds since the Unix epoch, as the host's clock states them.
pub type Millis = u64;
