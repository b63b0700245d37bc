//! A Chat Completions stream to our model events. Knows nothing of HTTP.

use std::collections::VecDeque;

use serde_json::{Deserializer, Value};

use crate::protocol::{FinishReason, ModelError, ModelErrorKind, ModelEvent, Usage};
use crate::providers::openai_chat::error_in;
use crate::providers::openai_chat::slots::Slots;
use crate::wire::sse::SseDecoder;

/// Decodes one answer.
///
/// *Push bytes, take `next` until `None`; at the end of the body call `finish`, take `next` again.* A stream that ends
/// without a `Finish` or an `Error` was cut.
#[derive(Debug, Default)]
pub struct ChatDecoder {
    sse: SseDecoder,
    slots: Slots,
    part: Part,
    finish: Option<FinishReason>,
    ready: VecDeque<ModelEvent>,
    heard: bool,
    over: bool,
    body: Vec<u8>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Part {
    #[default]
    None,
    Text,
    Reasoning,
}

// A plain JSON answer is kept up to this size; a stream only until its first event.
const MAX_PLAIN_BODY: usize = 4 * 1024 * 1024;

impl ChatDecoder {
    /// Takes the next bytes of the body.
    pub fn push(&mut self, bytes: &[u8]) {
        if self.over {
            return;
        }
        if !self.heard && self.body.len() < MAX_PLAIN_BODY {
            self.body.extend_from_slice(bytes);
        }
        if let Err(too_long) = self.sse.push(bytes) {
            return self.fail(ModelError::new(ModelErrorKind::Protocol, too_long.to_string()));
        }
        self.drain(false);
    }

    /// Tells the decoder that the body has ended.
    pub fn finish(&mut self) {
        if self.over {
            return;
        }
        self.sse.finish();
        self.drain(true);
        if !self.heard && !self.over {
            let body = std::mem::take(&mut self.body);
            let text = String::from_utf8_lossy(&body).trim().to_owned();
            if text.starts_with(['{', '[']) {
                self.data(&text, true);
            }
        }
        if self.finish.is_some() {
            self.end();
        }
    }

    /// The next model event, or `None` until more is pushed.
    #[expect(clippy::should_implement_trait, reason = "`None` means not yet, which an iterator may not say")]
    pub fn next(&mut self) -> Option<ModelEvent> {
        self.ready.pop_front()
    }

    fn drain(&mut self, at_end: bool) {
        while let Some(event) = self.sse.next() {
            if self.over {
                return;
            }
            if !std::mem::replace(&mut self.heard, true) {
                self.body = Vec::new();
                self.ready.push_back(ModelEvent::Start);
            }
            self.data(event.data.trim(), at_end);
        }
    }

    fn data(&mut self, data: &str, at_end: bool) {
        if data == "[DONE]" {
            return self.end();
        }
        if data.is_empty() {
            return;
        }
        // One JSON value is the rule; some servers glue two together, some forget the blank line between events.
        for value in Deserializer::from_str(data).into_iter::<Value>() {
            match value {
                Ok(value) => self.chunk(&value),
                // A chunk cut by the end of the body is a cut stream; one in the middle is a broken server.
                Err(why) if at_end && why.is_eof() => {
                    return self.ready.push_back(ModelEvent::Note(format!("a chunk ends too early: {why}")));
                }
                Err(why) => {
                    let words = format!("the model's server sent a chunk that is not JSON: {why}");
                    return self.fail(ModelError::new(ModelErrorKind::Protocol, words));
                }
            }
            if self.over {
                return;
            }
        }
    }

    fn chunk(&mut self, chunk: &Value) {
        if let Some(error) = error_in(chunk) {
            return self.fail(error);
        }
        if let Some(usage) = chunk.get("usage").filter(|usage| usage.is_object()) {
            let count = |name: &str| usage.get(name).and_then(Value::as_u64).unwrap_or_default();
            let (input_tokens, output_tokens) = (count("prompt_tokens"), count("completion_tokens"));
            let usage = Usage { input_tokens, output_tokens, cost_micros: None };
            self.ready.push_back(ModelEvent::Usage(usage));
        }
        let Some(choice) = chunk.pointer("/choices/0") else { return };
        if let Some(delta) = choice.get("delta").or_else(|| choice.get("message")) {
            self.delta(delta);
        }
        if let Some(word) = choice.get("finish_reason").and_then(Value::as_str).filter(|word| !word.is_empty()) {
            self.finish = Some(match word {
                "stop" => FinishReason::Done,
                "tool_calls" | "function_call" => FinishReason::Calls,
                "length" => FinishReason::Length,
                "content_filter" => FinishReason::Refused,
                other => FinishReason::Other(other.to_owned()),
            });
        }
    }

    fn delta(&mut self, delta: &Value) {
        let text = |name: &str| delta.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
        if let Some(words) = text("reasoning_content").or_else(|| text("reasoning")) {
            self.open(Part::Reasoning);
            self.ready.push_back(ModelEvent::ReasoningDelta(words.to_owned()));
        }
        for words in [text("content"), text("refusal")].into_iter().flatten() {
            self.open(Part::Text);
            self.ready.push_back(ModelEvent::TextDelta(words.to_owned()));
        }
        if let Some(entries) = delta.get("tool_calls").and_then(Value::as_array).filter(|entries| !entries.is_empty()) {
            self.open(Part::None);
            for entry in entries {
                self.slots.take(entry, &mut |event| self.ready.push_back(event));
            }
        }
    }

    fn open(&mut self, part: Part) {
        if self.part == part {
            return;
        }
        match self.part {
            Part::Text => self.ready.push_back(ModelEvent::TextEnd),
            Part::Reasoning => self.ready.push_back(ModelEvent::ReasoningEnd),
            Part::None => {}
        }
        match part {
            Part::Text => self.ready.push_back(ModelEvent::TextStart),
            Part::Reasoning => self.ready.push_back(ModelEvent::ReasoningStart),
            Part::None => {}
        }
        self.part = part;
    }

    fn end(&mut self) {
        self.open(Part::None);
        self.slots.close(&mut |event| self.ready.push_back(event));
        let reason = self.finish.take().unwrap_or(FinishReason::Done);
        self.ready.push_back(ModelEvent::Finish(reason));
        self.over = true;
    }

    fn fail(&mut self, error: ModelError) {
        self.ready.push_back(ModelEvent::Error(error));
        self.over = true;
    }
}
