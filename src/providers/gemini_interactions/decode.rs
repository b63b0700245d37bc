//! An Interactions stream to our model events. Knows nothing of HTTP.

use serde_json::{Map, Value, json};

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
    /// The step as it came so far.
    Output {
        whole: Map<String, Value>,
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
        // Steps come one behind the other; nobody has to say that one is over.
        let words = |(_, step): &mut (u64, Step)| !matches!(step, Step::Call { .. });
        self.steps.extract_if(.., words).for_each(|(_, step)| close(step, answer));
        self.steps.push((index, open(step, answer)));
    }

    fn delta(&mut self, event: &Json<'_>, answer: &mut Answer) {
        let (Some(index), Some(delta)) = (field(event, "index").and_then(Json::as_u64), field(event, "delta")) else {
            return;
        };
        let Some((_, step)) = self.steps.iter_mut().find(|(number, _)| *number == index) else { return };
        match (step, text(delta, "type").unwrap_or_default()) {
            (Step::Output { whole }, kind) => {
                if let (Some(more), "text") = (text(delta, "text"), kind) {
                    answer.text(more);
                }
                append_content(whole, kind, delta);
            }
            (Step::Thought { whole }, "thought_summary") => {
                if let Some(words) = at(delta, &["content", "text"]).and_then(Json::as_str) {
                    answer.reasoning(words);
                }
                if let Some(content) = field(delta, "content") {
                    append_summary(whole, content);
                }
            }
            (Step::Thought { whole }, "thought_signature") => {
                // Said at the start already, by some.
                if whole.get("signature").and_then(Value::as_str) != text(delta, "signature") {
                    grow(whole, delta);
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
        if let Some(at) = self.steps.iter().position(|(number, _)| *number == index) {
            close(self.steps.remove(at).1, answer);
        }
    }

    fn end(&mut self, interaction: &Json<'_>, answer: &mut Answer) {
        std::mem::take(&mut self.steps).into_iter().for_each(|(_, step)| close(step, answer));
        end(interaction, answer);
    }
}

fn open(step: &Json<'_>, answer: &mut Answer) -> Step {
    answer.close_part();
    let whole = match Value::from(step) {
        Value::Object(whole) => whole,
        _ => Map::new(),
    };
    match text(step, "type").unwrap_or_default() {
        "model_output" => {
            list(step, "content").iter().filter_map(|one| text(one, "text")).for_each(|words| answer.text(words));
            Step::Output { whole }
        }
        "thought" => {
            list(step, "summary").iter().filter_map(|one| text(one, "text")).for_each(|words| answer.reasoning(words));
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
    }
}

fn close(step: Step, answer: &mut Answer) {
    match step {
        Step::Output { whole } if is_words(&whole) => {}
        Step::Output { whole } => answer.seal_text(&Value::Object(whole).to_string()),
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

impl Reader for Interactions {
    fn read(&mut self, event: &Json<'_>, answer: &mut Answer) {
        if let Some(error) = error_in(event) {
            return answer.fail(error);
        }
        match text(event, "event_type").unwrap_or_default() {
            "step.start" => self.start(event, answer),
            "step.delta" => self.delta(event, answer),
            "step.stop" => self.stop(event, answer),
            "interaction.completed" => self.end(field(event, "interaction").unwrap_or(&Json::Null), answer),
            // The whole answer, where a stream was asked for.
            "" if field(event, "steps").is_some() => {
                for step in list(event, "steps") {
                    let opened = open(step, answer);
                    close(opened, answer);
                }
                self.end(event, answer);
            }
            _ => {}
        }
    }
}

/// What an answer goes on with: a field of the interaction, of the part that keeps it, and of the next request.
pub(super) const TOKEN: &str = "continuation_token";

fn end(interaction: &Json<'_>, answer: &mut Answer) {
    if let Some(usage) = field(interaction, "usage") {
        let thoughts = count(usage, &["total_thought_tokens"]);
        answer.usage(Usage {
            input_tokens: count(usage, &["total_input_tokens"])
                .saturating_add(count(usage, &["total_tool_use_tokens"])),
            output_tokens: count(usage, &["total_output_tokens"]).saturating_add(thoughts),
            cached_tokens: count(usage, &["total_cached_tokens"]),
            reasoning_tokens: thoughts,
            cost_micros: None,
        });
    }
    // Goes back with the thread, for it to go on.
    if let Some(token) = text(interaction, TOKEN) {
        answer.other(&serde_json::json!({ TOKEN: token }).to_string());
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

// Pieces of a text go on with it, notes on it too; anything else is content of its own, unless it goes on with its like.
fn append_content(whole: &mut Map<String, Value>, kind: &str, delta: &Json<'_>) {
    let list = whole.entry("content").or_insert_with(|| Value::Array(Vec::new()));
    let Value::Array(list) = list else { return };
    match list.last_mut() {
        Some(Value::Object(last)) if kind.ends_with("_delta") || last.get("type").is_some_and(|one| one == kind) => {
            grow(last, delta);
        }
        _ => list.push(Value::from(delta)),
    }
}

// One text and nothing else: what our view of it holds.
fn is_words(output: &Map<String, Value>) -> bool {
    let content = output.get("content").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    output.keys().all(|name| matches!(name.as_str(), "type" | "content"))
        && content.len() <= 1
        && content.iter().all(|one| *one == json!({ "type": "text", "text": one["text"] }))
}
