//! Ollama's lines to our model events. Knows nothing of HTTP.

use crate::protocol::{FinishReason, ModelError, ModelErrorKind, Usage};
use crate::providers::answer::Answer;
use crate::providers::decoder::Reader;
use crate::providers::error::error_in;
use crate::providers::json::{Json, count, field, list, rest, text};
use crate::providers::thoughts::Thoughts;

/// Reads one answer.
#[derive(Debug, Default)]
pub(in crate::providers) struct Ollama {
    thoughts: Thoughts,
}

impl Reader for Ollama {
    fn read(&mut self, line: &Json<'_>, answer: &mut Answer) {
        if let Some(error) = error_in(line) {
            return answer.fail(error);
        }
        if let Some(message) = field(line, "message") {
            if let Some(words) = text(message, "thinking") {
                self.thoughts.flush(answer);
                answer.reasoning_to_keep(words);
            }
            if let Some(words) = text(message, "content") {
                self.thoughts.push(words, answer);
            }
            for entry in list(message, "tool_calls") {
                self.thoughts.flush(answer);
                call(entry, answer);
            }
        }
        if field(line, "done").and_then(Json::as_bool) == Some(true) {
            self.thoughts.flush(answer);
            end(line, answer);
        }
    }

    fn end(&mut self, _cut: bool, answer: &mut Answer) {
        self.thoughts.flush(answer);
    }
}

fn call(entry: &Json<'_>, answer: &mut Answer) {
    let function = field(entry, "function").unwrap_or(&Json::Null);
    let Some(name) = text(function, "name") else { return };
    let slot = answer.call(text(entry, "id"), name);
    match field(function, "arguments") {
        Some(Json::Str(text)) => answer.arguments(slot, text),
        Some(value) => answer.arguments(slot, &value.to_string()),
        None => {}
    }
    if let Some(more) = rest(entry, &["id", "type", "function"]) {
        answer.seal_call(slot, &more);
    }
    answer.close_call(slot);
}

fn end(line: &Json<'_>, answer: &mut Answer) {
    answer.usage(Usage {
        input_tokens: count(line, &["prompt_eval_count"]),
        output_tokens: count(line, &["eval_count"]),
        ..Usage::default()
    });
    let reason = match text(line, "done_reason").unwrap_or("stop") {
        "stop" if answer.has_calls() => FinishReason::Calls,
        "stop" => FinishReason::Done,
        "length" => FinishReason::Length,
        word @ ("load" | "unload") => {
            let words = format!("Ollama has done a \"{word}\" of its model instead of answering.");
            return answer.fail(ModelError::new(ModelErrorKind::Upstream, words));
        }
        other => FinishReason::Other(other.to_owned()),
    };
    answer.finish(reason);
}
