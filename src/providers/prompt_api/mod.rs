//! Chrome's on-device model (`LanguageModel`).
//!
//! Source: github.com/webmachinelearning/prompt-api, June 2026, and developer.chrome.com/docs/ai/prompt-api.
//!
//! | the API's way | here |
//! |---|---|
//! | a session holds the history | one is made for each step, with the thread as its `initialPrompts` |
//! | tools are an open loop behind a flag: calls come out, results go in | used where the flag is on |
//! | `callID` is always empty | order and name tell, for calls and results alike |
//! | without the flag there are no tools | a form is asked for: `{say, calls: [{name, arguments}]}`, the tools told in words |
//! | a form of the answer | `responseConstraint`, or words where tools are offered |
//!
//! Results are plain objects here; the page makes the API's own of them. Knows nothing of JavaScript.

mod decode;
mod encode;

pub use decode::{Chunk, PromptReader};
pub use encode::{Ask, encode};
