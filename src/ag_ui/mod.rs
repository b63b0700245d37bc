//! Floor 2: AG-UI 1.0, the one wire a page speaks.
//!
//! Source: `@ag-ui/core` 1.0.0 (generated types) and the rules of `@ag-ui/client` 1.0.0 (`enforce`, `chunks`, `verify`).
//!
//! | step | file | does |
//! |---|---|---|
//! | 1 | `wire::sse` | bytes → events' data |
//! | 2 | `event` | JSON → a known event; unknown material is dropped with a note, malformed material ends the run |
//! | 3 | `unnamed` | a call without an id → one with an id that is ours alone |
//! | 4 | `chunks` | `*_CHUNK` → start, content, end |
//! | 5 | `verify` | the order of events |
//! | 6 | `decode` | events → our model events |
//!
//! and the other way round `encode` (our model events → a stream) and `input` with `history` (`RunAgentInput`, both ways).
//! Knows nothing of the loop and nothing of HTTP.

mod chunks;
mod decode;
mod encode;
mod event;
mod history;
mod input;
mod snapshot;
mod unnamed;
mod verify;

pub use decode::AgUiDecoder;
pub use encode::AgUiEncoder;
pub use event::{AgUiEvent, Kind, Read};
pub use input::{InputError, read_input, write_input};
pub use verify::Verifier;

/// The version we speak, in `protocolVersion`.
pub const PROTOCOL_VERSION: &str = "1.0";

// The key of our own material in `metadata`, and in it the mark of a call id that no model gave.
const METADATA: &str = "pagehand";
const LOCAL_ID: &str = "localId";
// Why the model stopped, where the protocol has no word for it.
const FINISH: &str = "finish";
// Why it did not go on, in its provider's words.
const WHY: &str = "why";
// `CUSTOM` events of ours: what an answer takes so far, that a model is at work without anything to show, and that the text
// message which is open is what the model thought. Other clients leave them out.
const USAGE: &str = "pagehand.usage";
const WAS_REASONING: &str = "pagehand.was_reasoning";
const ALIVE: &str = "pagehand.alive";
// The order of an answer's parts, where it is not the protocol's own.
const PARTS: &str = "parts";
// The name of a file.
const NAME: &str = "name";
// Which model is asked, and the form the answer must have; in `forwardedProps`.
const MODEL: &str = "model";
const OUTPUT: &str = "output";
// The protocol's fields of a usage.
const CACHED: &str = "cachedInputTokens";
const REASONING: &str = "reasoningTokens";
