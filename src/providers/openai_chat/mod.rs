//! OpenAI Chat Completions, streamed, and the servers that imitate it.
//!
//! Source: platform.openai.com/docs/api-reference/chat and the behaviour of the servers named below.
//!
//! | quirk | who | here |
//! |---|---|---|
//! | no `index`, or always 0 | Ollama, Gemini's compat endpoint | a name without an index opens a new call; a new id *and* name at a used index too |
//! | no `id`, an empty one, `null` | vLLM, old llama.cpp | the call has no id; on the way back ours stands in |
//! | another `id` on every fragment | some proxies | the same index is the same call |
//! | the last chunk repeats name and whole arguments | vLLM | complete JSON followed by the same JSON is dropped |
//! | whole arguments in one delta, or as an object, or `null` | Ollama, Mistral | taken as they are |
//! | the whole answer in `message` instead of `delta` | some proxies | read as one delta |
//! | `reasoning` / `reasoning_content` | Ollama / DeepSeek, llama.cpp | reasoning |
//! | thoughts in `content`, between tags or in channels | llama.cpp, vLLM, LM Studio without a parser of them | reasoning (`providers::thoughts`) |
//! | `choices: []` with usage, usage missing | OpenAI / many | both fine |
//! | finish `stop` although there are calls, or a call-less `tool_calls` | Gemini, LM Studio | the loop goes by the calls |
//! | finish `null` to the end, only `[DONE]` | vLLM | `[DONE]` is an end, too |
//! | `{"error": …}`, `{"object":"error"}`, `[{"error": …}]` inside a 200 | OpenRouter, vLLM, Gemini | an error, in the server's words (`providers::error`) |
//! | finish `error`, an error in the choice, `native_finish_reason` says that a call was broken | OpenRouter | an error |
//! | `reasoning_details`, `extra_content` | OpenRouter, Gemini's compat endpoint | sealed, and sent back on the same route |
//! | thoughts must come back | DeepSeek, Kimi | sealed and sent back; a blank where they were another's, for an empty text is none |
//! | an unknown field is refused, `stream_options` too; no user right behind results | Mistral | columns of `vendor` |
//! | `content` is a list of parts | Mistral's thinking models | words and thoughts |
//! | comment lines, no blank line at the end | OpenRouter, DeepSeek / many | the event-stream decoder's business |
//! | a plain JSON body although a stream was asked for | mocks, proxies | read as one chunk |
//!
//! Knows nothing of HTTP.

mod decode;
mod encode;
mod slots;

pub(super) use decode::Chat;
pub(super) use encode::encode;
