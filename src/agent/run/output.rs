//! The final answer, held against the form that was asked for. Part of the machine; knows nothing of who carries anything out.

use serde_json::Value;

use crate::agent::run::{Active, Run};
use crate::protocol::{AssistantMessage, EndReason, Entry, Event, Message, MessageId, Part};
use crate::tools::schema::Schema;

// Enough to see what is wrong; a model that must mend fifty places writes it anew anyway.
const MAX_FAULTS: usize = 8;

impl Run {
    /// Ends the run with this answer; where it has not the form that was asked for, the model is told once.
    pub(super) fn answered(&mut self, active: Active, answer: &MessageId) {
        let Some((format, told)) = self.transcript.wanted_output() else {
            return self.close(active, EndReason::Completed);
        };
        let said = self.transcript.messages().iter().rev().find_map(Message::answer);
        let read = said.map_or_else(|| read("", &format.schema), |answer| read_answer(answer, &format.schema));
        match read {
            Ok(value) => {
                self.event(Event::Output { message: answer.clone(), value });
                self.close(active, EndReason::Completed);
            }
            Err(why) if told => self.close(active, EndReason::OutputMismatch { why }),
            Err(why) => {
                let content = format!(
                    "[Your answer has not the form that was asked for. {why} Answer again, with the JSON alone.]"
                );
                let message = MessageId(self.mint.mint());
                self.save(Entry::Notice { message: message.clone(), content: content.clone() });
                self.transcript.push(Message::Notice { id: message, content });
                self.step(active);
            }
        }
    }
}

// Words may stand before it: what a model says on its way, or around a call that its own side has run.
fn read_answer(answer: &AssistantMessage, schema: &Value) -> Result<Value, String> {
    read(&answer.text(), schema).or_else(|why| {
        let last = answer.parts.iter().rev().find_map(|part| match part {
            Part::Text { text, .. } if !text.trim().is_empty() => Some(text),
            Part::Text { .. } | Part::Reasoning { .. } | Part::Call(_) => None,
        });
        last.map_or(Err(why), |text| read(text, schema))
    })
}

/// The value an answer is; or what is wrong with it, in sentences for a model.
fn read(text: &str, schema: &Value) -> Result<Value, String> {
    let text = without_fence(text.trim());
    let value: Value = serde_json::from_str(text).map_err(|why| format!("It is not JSON: {why}."))?;
    // Whoever asked was told of a schema that does not compile; nothing is held against it here.
    let Ok(schema) = Schema::compile(schema) else { return Ok(value) };
    match schema.check(&value) {
        Ok(()) => Ok(value),
        Err(faults) => {
            let faults: Vec<String> = faults.iter().take(MAX_FAULTS).map(ToString::to_string).collect();
            Err(format!("{}.", faults.join("; ")))
        }
    }
}

// A fence of Markdown around it is what models without a JSON mode write.
fn without_fence(text: &str) -> &str {
    let Some(inner) = text.strip_prefix("```").and_then(|rest| rest.strip_suffix("```")) else { return text };
    inner.split_once('\n').map_or(inner, |(_, body)| body).trim()
}
