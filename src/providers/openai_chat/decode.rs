//! A Chat Completions stream to our model events. Knows nothing of HTTP.

use serde_json::{Map, Value};

use crate::protocol::{FinishReason, ModelError, ModelErrorKind, Usage};
use crate::providers::answer::Answer;
use crate::providers::decoder::Reader;
use crate::providers::error::error_in;
use crate::providers::json::{Json, at, count, field, list, text};
use crate::providers::openai_chat::slots::Slots;
use crate::providers::thoughts::Thoughts;
use crate::providers::vendor::Vendor;

/// Reads one answer.
#[derive(Debug)]
pub(in crate::providers) struct Chat {
    slots: Slots,
    // Those that stand among the words.
    thoughts: Thoughts,
    finish: Option<FinishReason>,
    // Whether thoughts must come back.
    wants_thoughts: bool,
    // OpenRouter's `reasoning_details`, put together.
    details: Vec<Map<String, Value>>,
}

impl Chat {
    pub(in crate::providers) fn new(vendor: &Vendor) -> Self {
        let wants_thoughts = vendor.thoughts.is_some();
        Self {
            slots: Slots::default(),
            thoughts: Thoughts::default(),
            finish: None,
            wants_thoughts,
            details: Vec::new(),
        }
    }

    fn delta(&mut self, delta: &Json<'_>, answer: &mut Answer) {
        if let Some(words) = text(delta, "reasoning_content").or_else(|| text(delta, "reasoning")) {
            self.thoughts.flush(answer);
            if self.wants_thoughts {
                answer.reasoning_to_keep(words);
            } else {
                answer.reasoning(words);
            }
        }
        for detail in list(delta, "reasoning_details") {
            self.detail(detail);
        }
        match field(delta, "content") {
            Some(Json::Str(words)) if !words.is_empty() => self.thoughts.push(words, answer),
            // Mistral's thinking models: a list of parts.
            Some(Json::Array(parts)) => parts.iter().for_each(|part| self.content_part(part, answer)),
            _ => {}
        }
        if let Some(words) = text(delta, "refusal") {
            self.thoughts.flush(answer);
            answer.text(words);
        }
        for entry in list(delta, "tool_calls") {
            self.thoughts.flush(answer);
            self.slots.take(entry, answer);
        }
    }

    // A piece of one stands under the same index; its texts go on, the rest is said once.
    fn detail(&mut self, detail: &Json<'_>) {
        let Value::Object(piece) = Value::from(detail) else { return };
        let same = |other: &&mut Map<String, Value>| {
            piece.get("index").is_some() && ["index", "type"].iter().all(|name| other.get(*name) == piece.get(*name))
        };
        let Some(whole) = self.details.last_mut().filter(same) else { return self.details.push(piece) };
        for (name, value) in piece {
            let grows = matches!(name.as_str(), "text" | "summary" | "data");
            match (whole.get_mut(&name), value) {
                (_, Value::Null) => {}
                (Some(Value::String(text)), Value::String(more)) if grows => text.push_str(&more),
                (_, value) => drop(whole.insert(name, value)),
            }
        }
    }

    fn content_part(&mut self, part: &Json<'_>, answer: &mut Answer) {
        match text(part, "type") {
            Some("thinking") => {
                self.thoughts.flush(answer);
                list(part, "thinking")
                    .iter()
                    .filter_map(|piece| text(piece, "text"))
                    .for_each(|words| answer.reasoning(words));
            }
            _ => {
                let words = text(part, "text").or_else(|| at(part, &["text", "value"])?.as_str());
                if let Some(words) = words {
                    self.thoughts.push(words, answer);
                }
            }
        }
    }

    fn close(&mut self, answer: &mut Answer) {
        self.thoughts.flush(answer);
        if !self.details.is_empty() {
            let details: Vec<Value> = std::mem::take(&mut self.details).into_iter().map(Value::Object).collect();
            answer.close_part();
            answer.seal_reasoning(&serde_json::json!({ "reasoning_details": details }).to_string());
        }
        let reason = self.finish.take().unwrap_or(FinishReason::Done);
        answer.finish(reason);
    }
}

impl Reader for Chat {
    fn read(&mut self, chunk: &Json<'_>, answer: &mut Answer) {
        if let Some(error) = error_in(chunk) {
            return answer.fail(error);
        }
        if let Some(usage) = field(chunk, "usage").filter(|usage| usage.is_object()) {
            answer.usage(Usage {
                input_tokens: count(usage, &["prompt_tokens"]),
                output_tokens: count(usage, &["completion_tokens"]),
                cached_tokens: count(usage, &["prompt_tokens_details", "cached_tokens"])
                    .max(count(usage, &["prompt_cache_hit_tokens"])),
                reasoning_tokens: count(usage, &["completion_tokens_details", "reasoning_tokens"]),
                cost_micros: None,
            });
        }
        let Some(choice) = list(chunk, "choices").first() else { return };
        if let Some(error) = error_in(choice) {
            return answer.fail(error);
        }
        if let Some(delta) = field(choice, "delta").or_else(|| field(choice, "message")) {
            self.delta(delta, answer);
        }
        if let Some(words) = failure(choice) {
            self.thoughts.flush(answer);
            return answer.fail(ModelError::new(ModelErrorKind::Upstream, words));
        }
        if let Some(word) = text(choice, "finish_reason") {
            self.finish = Some(match word {
                "stop" => FinishReason::Done,
                "tool_calls" | "function_call" => FinishReason::Calls,
                "length" => FinishReason::Length,
                "content_filter" => FinishReason::Refused(String::new()),
                other => FinishReason::Other(other.to_owned()),
            });
        }
    }

    // Without a reason it is the end only where every call is whole.
    fn done(&mut self, answer: &mut Answer) {
        if self.finish.is_some() || self.slots.are_whole() {
            self.close(answer);
        }
    }

    fn end(&mut self, _cut: bool, answer: &mut Answer) {
        self.thoughts.flush(answer);
        if self.finish.is_some() {
            self.close(answer);
        }
    }
}

// OpenRouter's; DeepSeek's; vLLM's where it ran out of room or was told to stop.
const BROKE_OFF: &[&str] = &["error", "insufficient_system_resource", "abort"];

// An end that is none: a server says so in a word of its own, OpenRouter also in its upstream's.
fn failure(choice: &Json<'_>) -> Option<&'static str> {
    let said = |word: &str| {
        ["finish_reason", "native_finish_reason"]
            .iter()
            .any(|name| text(choice, name).is_some_and(|reason| reason.eq_ignore_ascii_case(word)))
    };
    if said("MALFORMED_FUNCTION_CALL") || said("UNEXPECTED_TOOL_CALL") {
        return Some("The model wrote a call that its server can not read.");
    }
    BROKE_OFF
        .iter()
        .any(|word| said(word))
        .then_some("The model's server broke off with an error, and did not say which.")
}
