//! An AG-UI stream to our model events. Knows nothing of what is done about them.

use std::collections::VecDeque;

use serde_json::Value;

use crate::ag_ui::chunks::Chunks;
use crate::ag_ui::event::{AgUiEvent, Kind, Read};
use crate::ag_ui::snapshot::{self, Found, content_text};
use crate::ag_ui::unnamed::{self, Unnamed};
use crate::ag_ui::verify::Verifier;
use crate::ag_ui::{ALIVE, CACHED, FINISH, LOCAL_ID, METADATA, REASONING, USAGE, WAS_REASONING, WHY};
use crate::protocol::{FinishReason, Message, ModelError, ModelErrorKind, ModelEvent, ModelRequest, Names, Usage};
use crate::wire::halves::Halves;
use crate::wire::sse::SseDecoder;

/// Decodes one answer.
///
/// *Push bytes, take `next` until `None`; at the end of the body call `finish`, take `next` again.* A stream that ends
/// without a `Finish` or an `Error` was cut: nothing is made up for it.
#[derive(Debug, Default)]
pub struct AgUiDecoder {
    sse: SseDecoder,
    halves: Halves,
    unnamed: Unnamed,
    chunks: Chunks,
    verifier: Verifier,
    ready: VecDeque<ModelEvent>,
    calls: Vec<Call>,
    /// Ids of the messages and calls that were in the request.
    known: Names,
    /// Ids of the messages that were streamed.
    streamed: Names,
    /// What part was opened last, and its id.
    last: Option<(Kind, String)>,
    usage: Option<Usage>,
    opened: bool,
    over: bool,
    heard: bool,
    head: Vec<u8>,
}

#[derive(Debug)]
struct Call {
    id: String,
    arguments: String,
    answered: bool,
    /// Whether it is being sent a second time, which adds nothing.
    again: bool,
}

impl Call {
    fn is_unnamed(&self) -> bool {
        self.id.is_empty() || unnamed::is_ours(&self.id)
    }
}

// As much of a body that is no event stream as an error message needs.
const HEAD_BYTES: usize = 4096;
// Arguments are kept only to be held against a later snapshot, and whoever reads them has a bound of their own.
const MAX_KEPT_BYTES: usize = 4 * 1024 * 1024;

impl AgUiDecoder {
    /// A decoder for the answer to this request.
    #[must_use]
    pub fn new(request: &ModelRequest) -> Self {
        let mut known = Names::default();
        for message in &request.messages {
            match message {
                Message::User(said) => known.add(said.id.as_str()),
                Message::Notice { id, .. } => known.add(id.as_str()),
                Message::Tool(tool) | Message::Job { message: tool, .. } => known.add(tool.id.as_str()),
                Message::Assistant(answer) => {
                    for call in answer.calls() {
                        known.add(call.id.as_str());
                        call.wire_id.as_deref().map(|id| known.add(id));
                    }
                    known.add(answer.id.as_str())
                }
            };
        }
        Self { known, ..Self::default() }
    }

    /// Takes the next bytes of the body.
    pub fn push(&mut self, bytes: &[u8]) {
        if self.over {
            return;
        }
        if !self.heard {
            let room = HEAD_BYTES.saturating_sub(self.head.len());
            self.head.extend_from_slice(&bytes[..bytes.len().min(room)]);
        }
        if let Err(too_long) = self.sse.push(bytes) {
            return self.fail(ModelErrorKind::Protocol, too_long.to_string());
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
            self.read_plain_body();
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
            let mended = self.halves.mend(&event.data);
            match serde_json::from_str::<Value>(mended.as_ref().unwrap_or(&event.data)) {
                Ok(frame) => {
                    self.heard = true;
                    self.frame(frame);
                }
                // A frame cut by the end of the body is a cut stream; one in the middle is a broken server.
                Err(why) if at_end && why.is_eof() => self.note(format!("an event's data ends too early: {why}")),
                Err(why) => self.fail(ModelErrorKind::Protocol, format!("an event's data is not JSON: {why}")),
            }
        }
    }

    fn frame(&mut self, frame: Value) {
        let mut event = match AgUiEvent::read(frame) {
            Read::Known(event, notes) => {
                notes.into_iter().for_each(|note| self.note(note));
                event
            }
            Read::Unknown(name) => return self.note(format!("an event of the unknown type \"{name}\" was dropped")),
            Read::Corrupt(why) => return self.fail(ModelErrorKind::Protocol, why),
        };
        self.unnamed.name(&mut event);
        let events = match self.chunks.expand(event) {
            Ok(events) => events,
            Err(why) => return self.fail(ModelErrorKind::Protocol, why),
        };
        for event in events {
            if let Err(why) = self.verifier.check(&event) {
                return self.fail(ModelErrorKind::Protocol, why);
            }
            self.take(&event);
        }
    }

    fn take(&mut self, event: &AgUiEvent) {
        let foreign = self.verifier.owner(event).is_some();
        match event.kind {
            Kind::RunStarted if !self.opened => {
                self.opened = true;
                self.ready.push_back(ModelEvent::Start);
            }
            Kind::RunFinished => self.run_finished(event),
            Kind::RunError => self.run_error(event),
            // A subagent's words are its own; only what it asks of us concerns us.
            Kind::TextMessageStart if !foreign => {
                self.streamed.add(event.required("messageId"));
                self.last = Some((Kind::TextMessageStart, event.required("messageId").to_owned()));
                self.ready.push_back(ModelEvent::TextStart);
            }
            Kind::TextMessageContent if !foreign => {
                self.ready.push_back(ModelEvent::TextDelta(event.required("delta").to_owned()));
            }
            Kind::TextMessageEnd if !foreign => self.ready.push_back(ModelEvent::TextEnd),
            Kind::ReasoningMessageStart if !foreign => {
                self.last = Some((Kind::ReasoningMessageStart, event.required("messageId").to_owned()));
                self.ready.push_back(ModelEvent::ReasoningStart);
            }
            Kind::ReasoningMessageContent if !foreign => {
                self.ready.push_back(ModelEvent::ReasoningDelta(event.required("delta").to_owned()));
            }
            Kind::ReasoningMessageEnd if !foreign => self.ready.push_back(ModelEvent::ReasoningEnd),
            Kind::ToolCallStart => self.call_start(event),
            Kind::ToolCallArgs => {
                if let Some(slot) = self.written(event) {
                    let text = event.required("delta").to_owned();
                    let kept = &mut self.calls[slot].arguments;
                    if kept.len() + text.len() <= MAX_KEPT_BYTES {
                        kept.push_str(&text);
                    }
                    self.ready.push_back(ModelEvent::CallDelta { slot, text });
                }
            }
            Kind::ToolCallEnd => {
                if let Some(slot) = self.written(event) {
                    self.ready.push_back(ModelEvent::CallEnd { slot });
                }
            }
            Kind::ToolCallResult => {
                self.streamed.add(event.required("messageId"));
                let id = event.required("toolCallId");
                if self.slot(id).is_none() && !self.known.contains(id) {
                    self.note(format!("a result for the call \"{id}\", which nobody made, was dropped"));
                }
                self.answered(id, content_text(event.value("content")));
            }
            Kind::ReasoningEncryptedValue if event.text("subtype") == Some("tool-call") => {
                if let Some(slot) = self.slot(event.required("entityId")) {
                    let value = event.required("encryptedValue").to_owned();
                    self.ready.push_back(ModelEvent::CallEncrypted { slot, value });
                }
            }
            Kind::ReasoningEncryptedValue if !foreign => self.encrypted(event),
            Kind::MessagesSnapshot => self.snapshot(event),
            Kind::Custom if event.text("name") == Some(USAGE) => self.usage(|name| event.value("value")?.get(name)),
            Kind::Custom if event.text("name") == Some(WAS_REASONING) => {
                let id = event.value("value").and_then(|value| value.get("messageId")).and_then(Value::as_str);
                if let Some((Kind::TextMessageStart, last)) = &self.last
                    && id == Some(last)
                {
                    self.ready.push_back(ModelEvent::TextWasReasoning);
                }
            }
            Kind::Custom if event.text("name") == Some(ALIVE) => self.ready.push_back(ModelEvent::Alive),
            _ => {}
        }
    }

    // Of the part that is open, or was closed last; of another nothing can be kept any more.
    fn encrypted(&mut self, event: &AgUiEvent) {
        let value = event.required("encryptedValue").to_owned();
        match &self.last {
            Some((kind, id)) if id == event.required("entityId") => self.ready.push_back(match kind {
                Kind::TextMessageStart => ModelEvent::TextEncrypted(value),
                _ => ModelEvent::ReasoningEncrypted(value),
            }),
            _ => self.note("an encrypted value of a message that is not at work was dropped".to_owned()),
        }
    }

    /// The call with this id. An empty one means the first call without an id that has no result yet.
    fn slot(&self, id: &str) -> Option<usize> {
        let is_meant = |call: &Call| match id {
            "" => call.is_unnamed() && !call.answered,
            id => call.id == id,
        };
        self.calls.iter().position(is_meant)
    }

    /// The call whose arguments an event belongs to, while it is written for the first time.
    fn written(&self, event: &AgUiEvent) -> Option<usize> {
        self.slot(event.required("toolCallId")).filter(|slot| !self.calls[*slot].again)
    }

    fn call_start(&mut self, event: &AgUiEvent) {
        let id = event.required("toolCallId");
        if let Some(slot) = self.slot(id) {
            // A server may reopen a call (a resumed run, say); the reference client keeps what it has, too.
            self.calls[slot].again = true;
            return self.note(format!("the call \"{id}\" was sent twice; the first one counts"));
        }
        let local = event.value("metadata").and_then(|all| all.get(METADATA)).and_then(|ours| ours.get(LOCAL_ID));
        let given = local != Some(&Value::Bool(true)) && !unnamed::is_ours(id);
        self.open_call(id, event.required("toolCallName"), given);
    }

    fn open_call(&mut self, id: &str, name: &str, given: bool) -> usize {
        let slot = self.calls.len();
        self.calls.push(Call { id: id.to_owned(), arguments: String::new(), answered: false, again: false });
        let id = given.then(|| id.to_owned());
        self.ready.push_back(ModelEvent::CallStart { slot, id, name: name.to_owned() });
        slot
    }

    fn answered(&mut self, id: &str, content: String) {
        if let Some(slot) = self.slot(id)
            && !std::mem::replace(&mut self.calls[slot].answered, true)
        {
            self.ready.push_back(ModelEvent::CallResult { slot, content });
        }
    }

    fn snapshot(&mut self, event: &AgUiEvent) {
        let Some(Value::Array(messages)) = event.value("messages") else { return };
        for found in snapshot::read(messages, &self.known, &self.streamed) {
            match found {
                Found::Text(text) => {
                    let text = text.to_owned();
                    self.ready.extend([ModelEvent::TextStart, ModelEvent::TextDelta(text), ModelEvent::TextEnd]);
                }
                Found::Call { id, name, arguments } => self.whole_call(id, name, arguments),
                Found::Result { id, content } => self.answered(id, content),
            }
        }
        for id in messages.iter().filter_map(|message| message.get("id").and_then(Value::as_str)) {
            self.streamed.add(id);
        }
    }

    fn whole_call(&mut self, id: &str, name: &str, arguments: String) {
        // A call without an id is told by its arguments, or is the one whose arguments were lost.
        let slot = if id.is_empty() { self.unnamed_call(&arguments) } else { self.slot(id) };
        if slot.is_some_and(|slot| self.calls[slot].arguments == arguments) {
            return;
        }
        let new = slot.is_none();
        let slot = slot.unwrap_or_else(|| self.open_call(id, name, true));
        self.calls[slot].arguments.clone_from(&arguments);
        if new {
            self.ready.push_back(ModelEvent::CallDelta { slot, text: arguments });
            self.ready.push_back(ModelEvent::CallEnd { slot });
        } else {
            self.ready.push_back(ModelEvent::CallArguments { slot, text: arguments });
        }
    }

    fn unnamed_call(&self, arguments: &str) -> Option<usize> {
        let written = |call: &Call, arguments: &str| call.is_unnamed() && call.arguments == arguments;
        let place = |arguments| self.calls.iter().position(|call| written(call, arguments));
        place(arguments).or_else(|| place(""))
    }

    fn run_finished(&mut self, event: &AgUiEvent) {
        self.usage(|name| event.value(name));
        let outcome = event.value("outcome");
        match outcome.and_then(|outcome| outcome.get("type")).and_then(Value::as_str) {
            None | Some("success") => {
                let ours = event.value("metadata").and_then(|all| all.get(METADATA));
                let word = |name: &str| ours.and_then(|ours| ours.get(name)).and_then(Value::as_str);
                let reason = word(FINISH).map(|reason| match (FinishReason::of(reason), word(WHY)) {
                    (FinishReason::Refused(_), Some(why)) => FinishReason::Refused(why.to_owned()),
                    (reason, _) => reason,
                });
                self.succeed(outcome, reason);
            }
            Some("interrupt") => {
                let asked =
                    outcome.and_then(|outcome| outcome.pointer("/interrupts/0/message")).and_then(Value::as_str);
                let asked = asked.map(|words| format!(": {words}")).unwrap_or_default();
                self.fail(
                    ModelErrorKind::BadRequest,
                    format!("The agent asks something this page can not answer yet{asked}"),
                );
            }
            Some("cancelled") => self.fail(ModelErrorKind::Upstream, "The agent cancelled its run.".to_owned()),
            Some(other) => {
                self.note(format!("RUN_FINISHED: the unknown outcome \"{other}\" is taken as success"));
                self.succeed(None, None);
            }
        }
    }

    fn succeed(&mut self, outcome: Option<&Value>, reason: Option<FinishReason>) {
        let pending: Vec<&str> = outcome
            .and_then(|outcome| outcome.get("pendingToolCallIds"))
            .and_then(Value::as_array)
            .map(|ids| ids.iter().filter_map(Value::as_str).collect())
            .unwrap_or_default();
        if !pending.is_empty() {
            let words = r#"{"status":"unknown","message":"the agent handled this call itself and sent no result"}"#;
            let handled: Vec<String> = self
                .calls
                .iter()
                .filter(|call| !pending.contains(&if call.is_unnamed() { "" } else { call.id.as_str() }))
                .map(|call| call.id.clone())
                .collect();
            handled.iter().for_each(|id| self.answered(id, words.to_owned()));
        }
        let calls = self.calls.iter().any(|call| !call.answered);
        let reason = reason.unwrap_or(if calls { FinishReason::Calls } else { FinishReason::Done });
        self.ready.push_back(ModelEvent::Finish(reason));
        self.over = true;
    }

    fn run_error(&mut self, event: &AgUiEvent) {
        self.usage(|name| event.value(name));
        let known = event.text("code").and_then(ModelErrorKind::parse);
        let kind = known.unwrap_or(ModelErrorKind::Upstream);
        let ours = event.value("metadata").and_then(|all| all.get(METADATA));
        let retry_after_ms = ours.and_then(|ours| ours.get("retryAfterMs")).and_then(Value::as_u64);
        let retry = ours.and_then(|ours| ours.get("retry")).and_then(Value::as_bool);
        // In another agent's words it may be anything, and what it has done so far may not be done twice.
        let retry = retry.or_else(|| known.is_none().then_some(false));
        let message = event.required("message").to_owned();
        self.ready.push_back(ModelEvent::Error(ModelError { kind, message, retry_after_ms, retry }));
        self.over = true;
    }

    fn usage<'a>(&mut self, value: impl Fn(&str) -> Option<&'a Value>) {
        let Some(Value::Array(list)) = value("usage") else { return };
        let mut total = Usage::default();
        for one in list {
            let count = |name: &str| one.get(name).and_then(Value::as_u64).unwrap_or_default();
            total += Usage {
                input_tokens: count("inputTokens"),
                output_tokens: count("outputTokens"),
                cached_tokens: count(CACHED),
                reasoning_tokens: count(REASONING),
                cost_micros: None,
            };
        }
        let ours = value("metadata").and_then(|all| all.get(METADATA));
        total.cost_micros = ours.and_then(|ours| ours.get("costMicros")).and_then(Value::as_u64);
        if self.usage.replace(total) != Some(total) {
            self.ready.push_back(ModelEvent::Usage(total));
        }
    }

    // A body that is no event stream at all: an error page, or a plain JSON error with status 200.
    fn read_plain_body(&mut self) {
        let text = String::from_utf8_lossy(&self.head).trim().to_owned();
        if !text.starts_with(['{', '[', '<']) {
            return;
        }
        let value: Value = serde_json::from_str(&text).unwrap_or_default();
        let value = value.get(0).unwrap_or(&value);
        let words = ["/error/message", "/error", "/message", "/detail"]
            .iter()
            .find_map(|path| value.pointer(path).and_then(Value::as_str));
        let words = words.unwrap_or("the answer is not an event stream");
        self.fail(ModelErrorKind::Protocol, format!("The agent answered with an error: {words}"));
    }

    fn note(&mut self, words: String) {
        self.ready.push_back(ModelEvent::Note(words));
    }

    fn fail(&mut self, kind: ModelErrorKind, message: String) {
        self.ready.push_back(ModelEvent::Error(ModelError::new(kind, message)));
        self.over = true;
    }
}
