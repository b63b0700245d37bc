//! Gemini Interactions, streamed and without a state on the server's side.
//!
//! Source: ai.google.dev/gemini-api/docs/interactions, revision 2026-05-20, and the types of `@google/genai` 3.3.
//!
//! | the API's way | here |
//! |---|---|
//! | the thread is steps, each exactly as it came | thoughts and steps nobody here knows are sealed whole |
//! | a thought's signature is its last piece | part of the sealed step |
//! | another's thoughts | left out |
//! | `arguments: {}` at a step's start is a placeholder | the pieces count; the object only where there were none |
//! | a step's content is a list, of which pieces say only the kind | each goes on with its like, notes with the last |
//! | the last event repeats no steps | they are put together here |
//! | a result says whether it is an error | said |
//! | `code` of an error is a word | read as such |
//!
//! Knows nothing of HTTP.

mod decode;
mod encode;

pub(super) use decode::Interactions;
pub(super) use encode::encode;
