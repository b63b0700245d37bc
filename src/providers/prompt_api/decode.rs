//! What a session says to our model events. Knows nothing of JavaScript.

use serde_json::Value;

use crate::protocol::{FinishReason, ModelEvent, ModelRequest};
use crate::providers::answer::Answer;
use crate::providers::names::ToolNames;

/// One piece of what a session says.
#[derive(Clone, Debug, PartialEq)]
pub enum Chunk {
    /// Words.
    Text(String),
    /// Anything else: `{type, value}`.
    Part(Value),
}

/// Reads one answer.
#[derive(Debug)]
pub struct PromptReader {
    answer: Answer,
    /// The answer in the form of words and calls, as far as it has come; `None` where it is not asked for.
    form: Option<String>,
}

impl PromptReader {
    /// A reader of the answer to a request; `in_form`: whether the form of words and calls was asked for.
    #[must_use]
    pub fn new(request: &ModelRequest, in_form: bool) -> Self {
        let mut answer = Answer::new("", ToolNames::of(request, None));
        answer.start();
        Self { answer, form: in_form.then(String::new) }
    }

    /// Takes the next piece.
    pub fn push(&mut self, chunk: Chunk) {
        match (chunk, &mut self.form) {
            (Chunk::Text(words), Some(form)) => {
                form.push_str(&words);
                self.answer.alive();
            }
            (Chunk::Text(words), None) if words.is_empty() => {}
            (Chunk::Text(words), None) => self.answer.text(&words),
            (Chunk::Part(part), _) => self.part(&part),
        }
    }

    /// The session has said all.
    pub fn finish(&mut self) {
        if let Some(form) = self.form.take() {
            self.read_form(&form);
        }
        if !self.answer.is_over() {
            let calls = self.answer.has_calls();
            self.answer.finish(if calls { FinishReason::Calls } else { FinishReason::Done });
        }
    }

    /// The next model event, or `None` until more is pushed.
    #[expect(clippy::should_implement_trait, reason = "`None` means not yet, which an iterator may not say")]
    pub fn next(&mut self) -> Option<ModelEvent> {
        self.answer.next()
    }

    fn part(&mut self, part: &Value) {
        let value = part.get("value").unwrap_or(&Value::Null);
        match part.get("type").and_then(Value::as_str) {
            Some("tool-call") => {
                let id = value.get("callID").and_then(Value::as_str).filter(|id| !id.is_empty());
                self.call(id, value.get("name"), value.get("arguments"));
            }
            Some("text") => {
                if let Some(words) = value.as_str().filter(|words| !words.is_empty()) {
                    self.answer.text(words);
                }
            }
            other => self.answer.note(format!("a part of the type {other:?} was dropped")),
        }
    }

    fn call(&mut self, id: Option<&str>, name: Option<&Value>, arguments: Option<&Value>) {
        let Some(name) = name.and_then(Value::as_str) else { return };
        let slot = self.answer.call(id, name);
        if let Some(arguments) = arguments.filter(|arguments| !arguments.is_null()) {
            self.answer.arguments(slot, &arguments.to_string());
        }
        self.answer.close_call(slot);
    }

    fn read_form(&mut self, form: &str) {
        // What a constraint does not hold in is what the model says.
        let Ok(said) = serde_json::from_str::<Value>(form.trim()) else {
            if !form.is_empty() {
                self.answer.text(form);
            }
            return;
        };
        if let Some(words) = said.get("say").and_then(Value::as_str).filter(|words| !words.is_empty()) {
            self.answer.text(words);
        }
        for call in said.get("calls").and_then(Value::as_array).into_iter().flatten() {
            self.call(None, call.get("name"), call.get("arguments"));
        }
    }
}
