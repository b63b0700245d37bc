//! An Interactions stream to our model events. Knows nothing of HTTP.

use serde_json::{Map, Value};

use crate::protocol::{FinishReason, ModelError, ModelErrorKind, Usage};
use crate::providers::answer::Answer;
use crate::providers::decoder::Reader;
use crate::providers::error::error_in;
use crate::providers::json::{Json, at, count, field, grow, list, rest, text};

/// Reads one answer.
#[derive(Debug, Default)]
pub(in crate::providers) struct Interactions {
    steps: Vec<(u64, Step)>,
}

#[derive(Debug)]
enum Step {
    /// Words; and the step as it came, once it holds more than words.
    Output {
        whole: Map<String, Value>,
        words: String,
        plain: bool,
    },
    Thought {
        whole: Map<String, Value>,
    },
    Call {
        slot: usize,
        placeholder: String,
        streamed: bool,
    },
    Other {
        whole: Map<String, Value>,
    },
}

impl Interactions {
    fn start(&mut self, event: &Json<'_>, answer: &mut Answer) {
        let (Some(index), Some(step)) = (field(event, "index").and_then(Json::as_u64), field(event, "step")) else {
            return;
        };
        answer.close_part();
        let whole = match Value::from(step) {
            Value::Object(whole) => whole,
            _ => Map::new(),
        };
        let opened = match text(step, "type").unwrap_or_default() {
            "model_output" => {
                let mut words = String::new();
                let mut plain = rest(step, &["type", "content"]).is_none();
                for content in list(step, "content") {
                    plain &= rest(content, &["type", "text"]).is_none();
                    if let Some(text) = text(content, "text") {
                        answer.text(text);
                        words.push_str(text);
                    }
                }
                Step::Output { whole, words, plain }
            }
            "thought" => {
                list(step, "summary")
                    .iter()
                    .filter_map(|part| text(part, "text"))
                    .for_each(|words| answer.reasoning(words));
                Step::Thought { whole }
            }
            "function_call" => {
                let slot = answer.call(text(step, "id"), text(step, "name").unwrap_or_default());
                if let Some(more) = rest(step, &["type", "id", "name", "arguments"]) {
                    answer.seal_call(slot, &more);
                }
                let placeholder = field(step, "arguments").map(ToString::to_string).unwrap_or_default();
                Step::Call { slot, placeholder, streamed: false }
            }
            _ => Step::Other { whole },
        };
        self.steps.push((index, opened));
    }

    fn delta(&mut self, event: &Json<'_>, answer: &mut Answer) {
        let (Some(index), Some(delta)) = (field(event, "index").and_then(Json::as_u64), field(event, "delta")) else {
            return;
        };
        let Some((_, step)) = self.steps.iter_mut().find(|(number, _)| *number == index) else { return };
        match (step, text(delta, "type").unwrap_or_default()) {
            (Step::Output { words, .. }, "text") => {
                if let Some(more) = text(delta, "text") {
                    answer.text(more);
                    words.push_str(more);
                }
            }
            // Notes on the words, pictures and the like: the step is more than its words.
            (Step::Output { whole, plain, .. }, _) => {
                *plain = false;
                grow(whole, delta);
            }
            (Step::Thought { whole }, "thought_summary") => {
                if let Some(words) = at(delta, &["content", "text"]).and_then(Json::as_str) {
                    answer.reasoning(words);
                }
                if let Some(content) = field(delta, "content") {
                    append_summary(whole, content);
                }
            }
            (Step::Call { slot, streamed, .. }, "arguments_delta") => {
                if let Some(more) = text(delta, "arguments") {
                    *streamed = true;
                    answer.arguments(*slot, more);
                }
            }
            (Step::Thought { whole } | Step::Other { whole }, _) => grow(whole, delta),
            (Step::Call { .. }, _) => {}
        }
    }

    fn stop(&mut self, event: &Json<'_>, answer: &mut Answer) {
        let Some(index) = field(event, "index").and_then(Json::as_u64) else { return };
        let Some(at) = self.steps.iter().position(|(number, _)| *number == index) else { return };
        match self.steps.swap_remove(at).1 {
            Step::Output { plain: true, .. } => {}
            Step::Output { mut whole, words, .. } => {
                put_words(&mut whole, words);
                answer.seal_text(&Value::Object(whole).to_string());
            }
            Step::Thought { whole } => answer.seal_reasoning(&Value::Object(whole).to_string()),
            Step::Call { slot, placeholder, streamed } => {
                if !streamed && placeholder != "{}" {
                    answer.arguments(slot, &placeholder);
                }
                answer.close_call(slot);
            }
            Step::Other { whole } => answer.other(&Value::Object(whole).to_string()),
        }
        answer.close_part();
    }
}

impl Reader for Interactions {
    fn read(&mut self, event: &Json<'_>, answer: &mut Answer) {
        if let Some(error) = error_in(event) {
            return answer.fail(error);
        }
        match text(event, "event_type").unwrap_or_default() {
            "step.start" => self.start(event, answer),
            "step.delta" => self.delta(event, answer),
            "step.stop" => self.stop(event, answer),
            "interaction.completed" => end(field(event, "interaction").unwrap_or(&Json::Null), answer),
            _ => {}
        }
    }
}

fn end(interaction: &Json<'_>, answer: &mut Answer) {
    if let Some(usage) = field(interaction, "usage") {
        let thoughts = count(usage, &["total_thought_tokens"]);
        answer.usage(Usage {
            input_tokens: count(usage, &["total_input_tokens"]) + count(usage, &["total_tool_use_tokens"]),
            output_tokens: count(usage, &["total_output_tokens"]) + thoughts,
            cached_tokens: count(usage, &["total_cached_tokens"]),
            reasoning_tokens: thoughts,
            cost_micros: None,
        });
    }
    let reason = match text(interaction, "status").unwrap_or("completed") {
        "completed" => FinishReason::Done,
        "requires_action" => FinishReason::Calls,
        "incomplete" | "budget_exceeded" => FinishReason::Length,
        "requires_continuation" => FinishReason::Paused,
        word @ ("failed" | "cancelled") => {
            let error = field(interaction, "error").map(crate::providers::error::read);
            let words = format!("The interaction ended as \"{word}\".");
            return answer.fail(error.unwrap_or_else(|| ModelError::new(ModelErrorKind::Upstream, words)));
        }
        other => FinishReason::Other(other.to_owned()),
    };
    answer.finish(reason);
}

// Pieces of one text are one text.
fn append_summary(whole: &mut Map<String, Value>, content: &Json<'_>) {
    let list = whole.entry("summary").or_insert_with(|| Value::Array(Vec::new()));
    let Value::Array(list) = list else { return };
    let more = text(content, "text");
    match (list.last_mut().and_then(|last| last.get_mut("text")), more) {
        (Some(Value::String(text)), Some(more)) => text.push_str(more),
        _ => list.push(Value::from(content)),
    }
}

// The words were streamed beside the step that is kept.
fn put_words(whole: &mut Map<String, Value>, words: String) {
    let content = whole.entry("content").or_insert_with(|| Value::Array(Vec::new()));
    let Value::Array(content) = content else { return };
    match content.iter_mut().find(|part| part.get("text").is_some()) {
        Some(part) => part["text"] = Value::from(words),
        None => content.insert(0, serde_json::json!({ "type": "text", "text": words })),
    }
}
