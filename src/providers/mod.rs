//! Floor 2: one folder a vendor's API. Pure: no transport, no clock, no loop.
//!
//! Each folder has the same files: `mod` (the API's ways, in words), `encode` (a request to the vendor's JSON) and `decode`
//! (one JSON value of its stream to model events). The next one is copied by shape: a folder, an arm in `target`, a row in
//! `vendor`.
//!
//! | file | is |
//! |---|---|
//! | `target` | a model of a server: what is sent to it, and what reads its answer |
//! | `vendor` | whose API it is, and how it differs from others of its kind, as a table |
//! | `decoder` | bytes → frames → the vendor's reader |
//! | `answer` | what a reader says → model events, parts and calls opened and closed in order |
//! | `history` | the thread as turns, each call with its one result |
//! | `names` | names of tools and ids of calls that the vendor takes, and the way back |
//! | `sealed` | what only the vendor can read, bound to its route |
//! | `media` | files, and what is refused of them |
//! | `thoughts` | thoughts that a server lets through among an answer's words |
//! | `error` | errors in all their shapes |
//! | `json` | how frames are read |

mod answer;
mod anthropic;
mod decoder;
pub mod demo;
pub mod error;
mod gemini;
mod gemini_interactions;
mod history;
mod json;
mod media;
mod names;
mod ollama;
mod openai_chat;
mod openai_responses;
pub mod prompt_api;
mod sealed;
mod target;
mod thoughts;
mod vendor;

pub use decoder::Decoder;
pub use media::Media;
pub use names::CallIds;
pub use target::{Post, Target};
pub use vendor::{Api, Output, Vendor};
