//! Ollama's own `/api/chat`: a JSON value a line.
//!
//! Source: github.com/ollama/ollama, `api/types.go` and `docs/api.md`, August 2026.
//!
//! | the API's way | here |
//! |---|---|
//! | arguments are objects, both ways | written as such |
//! | calls come whole, before the last line; `index` may be 0 for all | each entry is a call |
//! | no ids before 0.12.10 | none are sent back for such calls; order and `tool_name` tell |
//! | `done_reason` is `stop` although there are calls | the loop goes by the calls |
//! | `load` and `unload` are no answers | an error that may be asked again |
//! | `{"error": "words"}` as a line of a 200 | an error |
//! | an imported model's thoughts come in `content`, between tags | reasoning (`providers::thoughts`), not sent back |
//! | `format` binds every word of the model, calls too | a form is asked for in words where there are tools |
//!
//! Its window is small unless `options.num_ctx` says otherwise: what does not fit is cut in silence (docs/models.md).
//!
//! Knows nothing of HTTP.

mod decode;
mod encode;

pub(super) use decode::Ollama;
pub(super) use encode::encode;
