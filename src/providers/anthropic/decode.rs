//! Anthropic's stream to our model events. Knows nothing of HTTP.

use serde_json::{Map, Value, json};

use crate::protocol::{FinishReason, Usage};
use crate::providers::answer::Answer;
use crate::providers::decoder::Reader;
use crate::providers::error::error_in;
use crate::providers::json::{Json, at, field, grow, list, rest, text};

/// Reads one answer.
#[derive(Debug, Default)]
pub(in crate::providers) struct Messages {
    blocks: Vec<(u64, Block)>,
    stop: Option<String>,
    /// Of a refusal.
    why: String,
    counters: Counters,
}

#[derive(Debug)]
enum Block {
    Text {
        kept: Map<String, Value>,
    },
    Thinking {
        signature: String,
    },
    Call {
        slot: usize,
        placeholder: String,
        streamed: bool,
    },
    /// One that nobody here knows, put together from its pieces.
    Other {
        whole: Map<String, Value>,
        input: String,
    },
}

impl Messages {
    fn block(&mut self, event: &Json<'_>) -> Option<&mut Block> {
        let index = field(event, "index")?.as_u64()?;
        self.blocks.iter_mut().find(|(number, _)| *number == index).map(|(_, block)| block)
    }

    fn start(&mut self, event: &Json<'_>, answer: &mut Answer) {
        let (Some(index), Some(block)) = (field(event, "index").and_then(Json::as_u64), field(event, "content_block"))
        else {
            return;
        };
        self.close_words(answer);
        self.blocks.push((index, open(block, answer)));
    }

    // Blocks come one behind the other; servers that imitate this API forget to close them.
    fn close_words(&mut self, answer: &mut Answer) {
        let calls = |(_, block): &mut (u64, Block)| !matches!(block, Block::Call { .. });
        self.blocks.extract_if(.., calls).for_each(|(_, block)| close(block, answer));
    }

    fn delta(&mut self, event: &Json<'_>, answer: &mut Answer) {
        let Some(delta) = field(event, "delta") else { return };
        let Some(block) = self.block(event) else { return };
        let words = |name: &str| text(delta, name).unwrap_or_default();
        match (block, text(delta, "type").unwrap_or_default()) {
            (Block::Text { .. }, "text_delta") if !words("text").is_empty() => answer.text(words("text")),
            (Block::Text { kept }, "citations_delta") => {
                if let Some(citation) = field(delta, "citation") {
                    let list = kept.entry("citations").or_insert_with(|| json!([]));
                    if let Value::Array(list) = list {
                        list.push(Value::from(citation));
                    }
                }
            }
            (Block::Thinking { .. }, "thinking_delta") if !words("thinking").is_empty() => {
                answer.reasoning(words("thinking"));
            }
            (Block::Thinking { signature }, "signature_delta") if !words("signature").is_empty() => {
                words("signature").clone_into(signature);
            }
            (Block::Call { slot, streamed, .. }, "input_json_delta") if !words("partial_json").is_empty() => {
                *streamed = true;
                answer.arguments(*slot, words("partial_json"));
            }
            (Block::Other { input, .. }, "input_json_delta") => input.push_str(words("partial_json")),
            (Block::Other { whole, .. }, _) => grow(whole, delta),
            _ => {}
        }
    }

    fn stop(&mut self, event: &Json<'_>, answer: &mut Answer) {
        let Some(index) = field(event, "index").and_then(Json::as_u64) else { return };
        if let Some(at) = self.blocks.iter().position(|(number, _)| *number == index) {
            close(self.blocks.remove(at).1, answer);
        }
    }

    fn end_message(&mut self, answer: &mut Answer) {
        std::mem::take(&mut self.blocks).into_iter().for_each(|(_, block)| close(block, answer));
        let reason = match self.stop.as_deref().unwrap_or("end_turn") {
            "end_turn" | "stop_sequence" => FinishReason::Done,
            "tool_use" => FinishReason::Calls,
            "max_tokens" | "model_context_window_exceeded" => FinishReason::Length,
            "pause_turn" => FinishReason::Paused,
            "refusal" => FinishReason::Refused(std::mem::take(&mut self.why)),
            other => FinishReason::Other(other.to_owned()),
        };
        answer.finish(reason);
    }

    // `ending` says how the message stops, `message` what it took.
    fn totals(&mut self, message: &Json<'_>, ending: Option<&Json<'_>>, answer: &mut Answer) {
        if let Some(ending) = ending {
            if let Some(word) = text(ending, "stop_reason") {
                self.stop = Some(word.to_owned());
            }
            let said = |name: &str| at(ending, &["stop_details", name]).and_then(Json::as_str);
            if let Some(why) = said("explanation").or_else(|| said("category")) {
                why.clone_into(&mut self.why);
            }
        }
        if let Some(usage) = field(message, "usage") {
            answer.usage(self.counters.take(usage));
        }
    }

    // The whole answer, where a stream was asked for.
    fn message(&mut self, message: &Json<'_>, answer: &mut Answer) {
        for block in list(message, "content") {
            let opened = open(block, answer);
            close(opened, answer);
        }
        self.totals(message, Some(message), answer);
        self.end_message(answer);
    }
}

fn open(block: &Json<'_>, answer: &mut Answer) -> Block {
    answer.close_part();
    match text(block, "type").unwrap_or_default() {
        "text" => {
            if let Some(words) = text(block, "text") {
                answer.text(words);
            }
            Block::Text { kept: kept(block, &["type", "text"]) }
        }
        "thinking" => {
            if let Some(words) = text(block, "thinking") {
                answer.reasoning(words);
            }
            Block::Thinking { signature: text(block, "signature").unwrap_or_default().to_owned() }
        }
        "tool_use" => {
            let slot = answer.call(text(block, "id"), text(block, "name").unwrap_or_default());
            if let Some(more) = rest(block, &["type", "id", "name", "input"]) {
                answer.seal_call(slot, &more);
            }
            let placeholder = field(block, "input").map(ToString::to_string).unwrap_or_default();
            Block::Call { slot, placeholder, streamed: false }
        }
        _ => Block::Other { whole: whole(block), input: String::new() },
    }
}

fn close(block: Block, answer: &mut Answer) {
    match block {
        Block::Text { kept } if kept.is_empty() => {}
        Block::Text { kept } => answer.seal_text(&Value::Object(kept).to_string()),
        // Without one it is nothing to send back.
        Block::Thinking { signature } if signature.is_empty() => {}
        Block::Thinking { signature } => answer.seal_reasoning(&json!({ "signature": signature }).to_string()),
        Block::Call { slot, placeholder, streamed } => {
            if !streamed && placeholder != "{}" {
                answer.arguments(slot, &placeholder);
            }
            answer.close_call(slot);
        }
        Block::Other { mut whole, input } => {
            if let Ok(input) = serde_json::from_str(&input) {
                whole.insert("input".to_owned(), input);
            }
            answer.other(&Value::Object(whole).to_string());
        }
    }
    answer.close_part();
}

impl Reader for Messages {
    fn read(&mut self, event: &Json<'_>, answer: &mut Answer) {
        if let Some(error) = error_in(event) {
            return answer.fail(error);
        }
        match text(event, "type").unwrap_or_default() {
            "message_start" => {
                if let Some(message) = field(event, "message") {
                    self.totals(message, None, answer);
                }
            }
            "content_block_start" => self.start(event, answer),
            "content_block_delta" => self.delta(event, answer),
            "content_block_stop" => self.stop(event, answer),
            "message_delta" => {
                self.totals(event, field(event, "delta"), answer);
            }
            "message_stop" => self.end_message(answer),
            "message" => self.message(event, answer),
            // `ping`, and what comes with later versions.
            _ => answer.alive(),
        }
    }
}

// Cumulative, each counter by itself: what a later event says stands for all before it, and what it leaves out stays.
#[derive(Debug, Default)]
struct Counters {
    read: u64,
    from_cache: u64,
    into_cache: u64,
    written: u64,
    thought: u64,
}

impl Counters {
    fn take(&mut self, usage: &Json<'_>) -> Usage {
        let put = |path: &[&str], counter: &mut u64| {
            if let Some(count) = at(usage, path).and_then(Json::as_u64) {
                *counter = count;
            }
        };
        put(&["input_tokens"], &mut self.read);
        put(&["cache_read_input_tokens"], &mut self.from_cache);
        put(&["cache_creation_input_tokens"], &mut self.into_cache);
        put(&["output_tokens"], &mut self.written);
        put(&["output_tokens_details", "thinking_tokens"], &mut self.thought);
        Usage {
            input_tokens: self.read.saturating_add(self.from_cache).saturating_add(self.into_cache),
            output_tokens: self.written,
            cached_tokens: self.from_cache,
            reasoning_tokens: self.thought,
            cost_micros: None,
        }
    }
}

fn whole(block: &Json<'_>) -> Map<String, Value> {
    if let Value::Object(fields) = Value::from(block) { fields } else { Map::new() }
}

fn kept(block: &Json<'_>, known: &[&str]) -> Map<String, Value> {
    let mut fields = whole(block);
    fields.retain(|name, value| !known.contains(&name.as_str()) && !value.is_null());
    fields
}
