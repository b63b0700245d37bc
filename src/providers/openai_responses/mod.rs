//! OpenAI Responses, streamed and without a state on the server's side.
//!
//! Source: platform.openai.com/docs/api-reference/responses, and the types of `openai` 7.59.
//!
//! | the API's way | here |
//! |---|---|
//! | a call has two ids | `call_id` is the call's; the item's `id` is sealed, and left out elsewhere |
//! | `output_item.done` says what counts | pieces are shown as they come; what is missing follows, arguments that differ are an error |
//! | the last event may hold no output | the items count; the last event's where none came, and for calls left open |
//! | thoughts go back by their encrypted content, right before their item | sealed whole; left out without it, or as the last of an answer |
//! | tools are flat, and strict unless they say otherwise | `strict: false` |
//! | events after the end | not read |
//! | items nobody here knows | kept whole, sent back on the same route |
//! | `incomplete`, `failed`, a flat `error` event | an end or an error, in the server's words |
//!
//! `include` asks for encrypted thoughts; a model without any refuses that, and the configuration can take the field out
//! (docs/models.md). Knows nothing of HTTP.

mod decode;
mod encode;

pub(super) use decode::Responses;
pub(super) use encode::encode;
