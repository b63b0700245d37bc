//! Our model events to an AG-UI stream. Knows nothing of who reads it.

use serde_json::{Map, Value, json};

use crate::ag_ui::{ALIVE, CACHED, FINISH, LOCAL_ID, METADATA, PROTOCOL_VERSION, REASONING, USAGE, WAS_REASONING, WHY};
use crate::protocol::{FinishReason, IdMint, ModelError, ModelEvent, RunId, ThreadId, Usage};

/// Encodes one answer: feed it model events in order, write the frames it gives.
///
/// Calls are never run on this side of the wire, so every call is pending at the end.
#[derive(Debug)]
pub struct AgUiEncoder {
    thread: ThreadId,
    run: RunId,
    mint: IdMint,
    started: bool,
    open: Option<Open>,
    parent: Option<String>,
    calls: Vec<Call>,
    usage: Option<Usage>,
    /// What was said of it before the end.
    told: Option<Usage>,
}

#[derive(Debug)]
enum Open {
    Text(String),
    Reasoning(String),
}

#[derive(Debug)]
struct Call {
    slot: usize,
    id: String,
    open: bool,
}

impl AgUiEncoder {
    /// An encoder for this run; the seed makes the ids the model did not give.
    #[must_use]
    pub fn new(thread: ThreadId, run: RunId, seed: u64) -> Self {
        let mint = IdMint::new(seed);
        Self { thread, run, mint, started: false, open: None, parent: None, calls: Vec::new(), usage: None, told: None }
    }

    /// The frames of an event, as event-stream text.
    pub fn encode(&mut self, event: ModelEvent) -> String {
        self.write(|encoder, out| encoder.frames(event, out))
    }

    /// What is left to say where the model's answer was cut: what it took, and no end.
    pub fn cut(&mut self) -> String {
        self.write(|encoder, out| out.extend(encoder.usage_frame()))
    }

    fn write(&mut self, frames: impl FnOnce(&mut Self, &mut Vec<Value>)) -> String {
        let mut out = Vec::new();
        if !std::mem::replace(&mut self.started, true) {
            out.push(json!({
                "type": "RUN_STARTED", "threadId": self.thread, "runId": self.run, "protocolVersion": PROTOCOL_VERSION,
            }));
        }
        frames(self, &mut out);
        out.iter().map(|frame| format!("data: {frame}\n\n")).collect()
    }

    fn frames(&mut self, event: ModelEvent, out: &mut Vec<Value>) {
        match event {
            ModelEvent::Start | ModelEvent::Note(_) => {}
            ModelEvent::TextStart => self.open_text(out),
            ModelEvent::TextDelta(delta) if delta.is_empty() => {}
            ModelEvent::TextDelta(delta) => {
                if !matches!(self.open, Some(Open::Text(_))) {
                    self.open_text(out);
                }
                if let Some(Open::Text(id)) = &self.open {
                    out.push(json!({ "type": "TEXT_MESSAGE_CONTENT", "messageId": id, "delta": delta }));
                }
            }
            ModelEvent::TextWasReasoning => {
                if let Some(Open::Text(id)) = &self.open {
                    out.push(json!({ "type": "CUSTOM", "name": WAS_REASONING, "value": { "messageId": id } }));
                }
            }
            ModelEvent::ReasoningStart => self.open_reasoning(out),
            ModelEvent::ReasoningDelta(delta) => {
                if !matches!(self.open, Some(Open::Reasoning(_))) {
                    self.open_reasoning(out);
                }
                if let Some(Open::Reasoning(id)) = &self.open {
                    out.push(json!({ "type": "REASONING_MESSAGE_CONTENT", "messageId": id, "delta": delta }));
                }
            }
            ModelEvent::TextEnd | ModelEvent::ReasoningEnd => self.close_part(out),
            ModelEvent::TextEncrypted(value) => {
                if !matches!(self.open, Some(Open::Text(_))) {
                    self.open_text(out);
                }
                self.encrypted(&value, out);
            }
            ModelEvent::ReasoningEncrypted(value) => {
                if !matches!(self.open, Some(Open::Reasoning(_))) {
                    self.open_reasoning(out);
                }
                self.encrypted(&value, out);
            }
            ModelEvent::CallStart { slot, id, name } => self.open_call(slot, id, &name, out),
            ModelEvent::CallDelta { slot, text } => {
                if let Some(call) = self.calls.iter().find(|call| call.slot == slot && call.open) {
                    out.push(json!({ "type": "TOOL_CALL_ARGS", "toolCallId": call.id, "delta": text }));
                }
            }
            ModelEvent::CallEncrypted { slot, value } => {
                if let Some(call) = self.calls.iter().find(|call| call.slot == slot) {
                    out.push(json!({
                        "type": "REASONING_ENCRYPTED_VALUE", "subtype": "tool-call",
                        "entityId": call.id, "encryptedValue": value,
                    }));
                }
            }
            ModelEvent::CallEnd { slot } => self.close_calls(|call| call.slot == slot, out),
            // Codecs behind the gateway close a call once, with its whole arguments, and run none; nor has one callbacks.
            ModelEvent::CallArguments { .. } | ModelEvent::CallResult { .. } | ModelEvent::Replace(_) => {}
            ModelEvent::Usage(usage) => {
                self.usage = Some(usage);
                // What was read is known early, and paid for though the answer be cut or stopped.
                if self.told.is_none_or(|told| told.input_tokens != usage.input_tokens) {
                    out.extend(self.usage_frame());
                }
            }
            ModelEvent::Alive => out.push(json!({ "type": "CUSTOM", "name": ALIVE, "value": null })),
            ModelEvent::Finish(reason) => self.finish(&reason, out),
            ModelEvent::Error(error) => out.push(self.error(&error)),
        }
    }

    fn open_text(&mut self, out: &mut Vec<Value>) {
        self.close_part(out);
        let id = self.mint.mint();
        out.push(json!({ "type": "TEXT_MESSAGE_START", "messageId": id, "role": "assistant" }));
        self.parent.get_or_insert_with(|| id.clone());
        self.open = Some(Open::Text(id));
    }

    fn open_reasoning(&mut self, out: &mut Vec<Value>) {
        self.close_part(out);
        let id = self.mint.mint();
        out.push(json!({ "type": "REASONING_START", "messageId": id }));
        out.push(json!({ "type": "REASONING_MESSAGE_START", "messageId": id, "role": "reasoning" }));
        self.open = Some(Open::Reasoning(id));
    }

    fn close_part(&mut self, out: &mut Vec<Value>) {
        match self.open.take() {
            Some(Open::Text(id)) => out.push(json!({ "type": "TEXT_MESSAGE_END", "messageId": id })),
            Some(Open::Reasoning(id)) => {
                out.push(json!({ "type": "REASONING_MESSAGE_END", "messageId": id }));
                out.push(json!({ "type": "REASONING_END", "messageId": id }));
            }
            None => {}
        }
    }

    fn encrypted(&self, value: &str, out: &mut Vec<Value>) {
        if let Some(Open::Text(id) | Open::Reasoning(id)) = &self.open {
            out.push(json!({
                "type": "REASONING_ENCRYPTED_VALUE", "subtype": "message", "entityId": id, "encryptedValue": value,
            }));
        }
    }

    fn open_call(&mut self, slot: usize, id: Option<String>, name: &str, out: &mut Vec<Value>) {
        self.close_part(out);
        let given = id.filter(|id| !id.is_empty() && self.calls.iter().all(|call| call.id != *id));
        let local = given.is_none();
        let id = given.unwrap_or_else(|| self.mint.mint());
        let mut frame = Map::new();
        frame.insert("type".to_owned(), json!("TOOL_CALL_START"));
        frame.insert("toolCallId".to_owned(), json!(id));
        frame.insert("toolCallName".to_owned(), json!(name));
        if let Some(parent) = &self.parent {
            frame.insert("parentMessageId".to_owned(), json!(parent));
        }
        if local {
            // The wire wants an id; the mark says that no model gave it, so that none is sent back to one.
            frame.insert("metadata".to_owned(), json!({ METADATA: { LOCAL_ID: true } }));
        }
        out.push(Value::Object(frame));
        self.calls.push(Call { slot, id, open: true });
    }

    fn close_calls(&mut self, which: impl Fn(&Call) -> bool, out: &mut Vec<Value>) {
        for call in self.calls.iter_mut().filter(|call| call.open && which(call)) {
            call.open = false;
            out.push(json!({ "type": "TOOL_CALL_END", "toolCallId": call.id }));
        }
    }

    fn finish(&mut self, reason: &FinishReason, out: &mut Vec<Value>) {
        self.close_part(out);
        self.close_calls(|_| true, out);
        let mut frame = json!({ "type": "RUN_FINISHED", "threadId": self.thread, "runId": self.run });
        let pending: Vec<&str> = self.calls.iter().map(|call| call.id.as_str()).collect();
        frame["outcome"] = if pending.is_empty() {
            json!({ "type": "success" })
        } else {
            json!({ "type": "success", "pendingToolCallIds": pending })
        };
        // What the protocol has no word for, and the loop goes by.
        if matches!(reason, FinishReason::Paused | FinishReason::Length | FinishReason::Refused(_)) {
            frame["metadata"][METADATA][FINISH] = json!(reason.as_str());
        }
        if let FinishReason::Refused(why) = reason
            && !why.is_empty()
        {
            frame["metadata"][METADATA][WHY] = json!(why);
        }
        self.put_usage(&mut frame);
        out.push(frame);
    }

    fn error(&self, error: &ModelError) -> Value {
        let mut frame = json!({ "type": "RUN_ERROR", "message": error.message, "code": error.kind.as_str() });
        if let Some(ms) = error.retry_after_ms {
            frame["metadata"][METADATA]["retryAfterMs"] = json!(ms);
        }
        if let Some(retry) = error.retry {
            frame["metadata"][METADATA]["retry"] = json!(retry);
        }
        self.put_usage(&mut frame);
        frame
    }

    fn usage_frame(&mut self) -> Option<Value> {
        let usage = self.usage.filter(|usage| self.told != Some(*usage))?;
        self.told = Some(usage);
        let mut value = json!({});
        self.put_usage(&mut value);
        Some(json!({ "type": "CUSTOM", "name": USAGE, "value": value }))
    }

    // What it costs is no part of the protocol's usage.
    fn put_usage(&self, frame: &mut Value) {
        let Some(usage) = self.usage else { return };
        let mut counted = json!({ "inputTokens": usage.input_tokens, "outputTokens": usage.output_tokens });
        for (name, count) in [(CACHED, usage.cached_tokens), (REASONING, usage.reasoning_tokens)] {
            if count > 0 {
                counted[name] = json!(count);
            }
        }
        frame["usage"] = json!([counted]);
        if let Some(cost) = usage.cost_micros {
            frame["metadata"][METADATA]["costMicros"] = json!(cost);
        }
    }
}
