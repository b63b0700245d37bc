//! Anthropic Messages, streamed.
//!
//! Source: platform.claude.com/docs/en/api/messages, and the types of `@anthropic-ai/sdk` 1.14.
//!
//! | the API's way | here |
//! |---|---|
//! | all results of an answer in the one next user message, before its words | user turns that follow each other become one message |
//! | thoughts go back unchanged and in place, signature included | sealed; another's are left out |
//! | `input: {}` at a block's start is a placeholder | the pieces count; the object only where there were none |
//! | a `signature_delta` replaces | as does every later usage |
//! | blocks nobody here knows (server tools, redacted thoughts) | kept whole, sent back on the same route |
//! | tool blocks in the thread although no tools are offered | refused there, so their names are declared |
//! | no empty text blocks | left out |
//! | `pause_turn` | asked again with what was said; where no tool of the server's is at work, the user says "[Go on.]" |
//! | servers that imitate it close no blocks | the next block closes them, and the end |
//! | an `error` event inside a 200, no end after it | an error, which may be asked again |
//!
//! Knows nothing of HTTP.

mod decode;
mod encode;

pub(super) use decode::Messages;
pub(super) use encode::{encode, settle_thinking};
