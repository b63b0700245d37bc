//! Gemini `streamGenerateContent`.
//!
//! Source: ai.google.dev/api/generate-content, the pages on function calling and thought signatures, and the types of
//! `@google/genai` 3.3.
//!
//! | the API's way | here |
//! |---|---|
//! | no end mark; a first `STOP` may come with nothing in it | the answer ends with the body, if a finish reason was seen and the body does not end inside a chunk |
//! | `STOP` although there are calls | the loop goes by the calls |
//! | calls come whole, in chunks of their own, with no index | each part is a call |
//! | some servers send a call's arguments in a part of their own, without a name | they are the last call's, where it has none |
//! | a call behind another content of the model's is refused | an answer that was paused is one content with the next |
//! | a signature stands beside a call, or on a text, or on an empty one | sealed with its part; a signed part is never joined with another |
//! | a history from elsewhere has no signatures | the documented stand-in, on the first call of each answer |
//! | a call may have no `id` | then neither side of it is sent back with one; order and name tell |
//! | all results of an answer in one content, as many as calls | written so |
//! | a result is an object | another stands under `output`, a failure under `error` |
//! | no declaration with an empty object | a tool without arguments has no schema |
//! | `MALFORMED_FUNCTION_CALL` and the like inside a 200 | an error that may be asked again |
//! | a blocked prompt has no candidates | an error, in words |
//!
//! Arguments in pieces (`partialArgs`) are not asked for; the Gemini API itself has none. Knows nothing of HTTP.

mod decode;
mod encode;

pub(super) use decode::Gemini;
pub(super) use encode::{encode, is_without_arguments};
