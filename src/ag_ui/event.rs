//! The 31 events as a table: names, fields, types. Knows nothing of their order.

use serde_json::{Map, Value};

/// What an event is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are the protocol's own: `RunStarted` is `RUN_STARTED`")]
pub enum Kind {
    RunStarted,
    RunFinished,
    RunError,
    StepStarted,
    StepFinished,
    TextMessageStart,
    TextMessageContent,
    TextMessageEnd,
    TextMessageChunk,
    ToolCallStart,
    ToolCallArgs,
    ToolCallEnd,
    ToolCallChunk,
    ToolCallResult,
    StateSnapshot,
    StateDelta,
    MessagesSnapshot,
    ActivitySnapshot,
    ActivityDelta,
    ReasoningStart,
    ReasoningEnd,
    ReasoningMessageStart,
    ReasoningMessageContent,
    ReasoningMessageEnd,
    ReasoningMessageChunk,
    ReasoningEncryptedValue,
    Raw,
    Custom,
    SubagentStarted,
    SubagentFinished,
    SubagentError,
}

/// A known event whose fields have the right types.
#[derive(Clone, Debug, PartialEq)]
pub struct AgUiEvent {
    /// What it is.
    pub kind: Kind,
    fields: Map<String, Value>,
}

/// What became of a frame.
#[derive(Clone, Debug, PartialEq)]
pub enum Read {
    /// An event, and what was dropped from it.
    Known(AgUiEvent, Vec<String>),
    /// An event of a type nobody knows; skipped.
    Unknown(String),
    /// Not an event, or one with a malformed field. The run can not be trusted any further.
    Corrupt(String),
}

#[derive(Clone, Copy, PartialEq)]
enum Type {
    Text,
    Flag,
    Object,
    List,
    Any,
}

struct Shape {
    name: &'static str,
    kind: Kind,
    // A field's name; `!` behind it where it is required. The protocol requires `toolCallId` of every event of a call, too,
    // but there are servers that leave it out (`unnamed`).
    fields: &'static [(&'static str, Type)],
}

use Kind as K;
use Type::{Any, Flag, List, Object, Text};

const SHAPES: &[Shape] = &[
    shape(
        "RUN_STARTED",
        K::RunStarted,
        &[("threadId!", Text), ("runId!", Text), ("protocolVersion", Text), ("parentRunId", Text), ("input", Any)],
    ),
    shape(
        "RUN_FINISHED",
        K::RunFinished,
        &[("threadId!", Text), ("runId!", Text), ("result", Any), ("outcome", Object), ("usage", List)],
    ),
    shape("RUN_ERROR", K::RunError, &[("message!", Text), ("code", Text), ("usage", List)]),
    shape("STEP_STARTED", K::StepStarted, &[("stepName!", Text)]),
    shape("STEP_FINISHED", K::StepFinished, &[("stepName!", Text)]),
    shape("TEXT_MESSAGE_START", K::TextMessageStart, &[("messageId!", Text), ("role", Text), ("name", Text)]),
    shape("TEXT_MESSAGE_CONTENT", K::TextMessageContent, &[("messageId!", Text), ("delta!", Text)]),
    shape("TEXT_MESSAGE_END", K::TextMessageEnd, &[("messageId!", Text)]),
    shape(
        "TEXT_MESSAGE_CHUNK",
        K::TextMessageChunk,
        &[("messageId", Text), ("role", Text), ("delta", Text), ("name", Text)],
    ),
    shape(
        "TOOL_CALL_START",
        K::ToolCallStart,
        &[("toolCallId", Text), ("toolCallName!", Text), ("parentMessageId", Text)],
    ),
    shape("TOOL_CALL_ARGS", K::ToolCallArgs, &[("toolCallId", Text), ("delta!", Text)]),
    shape("TOOL_CALL_END", K::ToolCallEnd, &[("toolCallId", Text)]),
    shape(
        "TOOL_CALL_CHUNK",
        K::ToolCallChunk,
        &[("toolCallId", Text), ("toolCallName", Text), ("parentMessageId", Text), ("delta", Text)],
    ),
    shape(
        "TOOL_CALL_RESULT",
        K::ToolCallResult,
        &[("messageId!", Text), ("toolCallId!", Text), ("content!", Any), ("role", Text)],
    ),
    shape("STATE_SNAPSHOT", K::StateSnapshot, &[("snapshot!", Any)]),
    shape("STATE_DELTA", K::StateDelta, &[("delta!", List)]),
    shape("MESSAGES_SNAPSHOT", K::MessagesSnapshot, &[("messages!", List)]),
    shape(
        "ACTIVITY_SNAPSHOT",
        K::ActivitySnapshot,
        &[("messageId!", Text), ("activityType!", Text), ("content!", Object), ("replace", Flag)],
    ),
    shape("ACTIVITY_DELTA", K::ActivityDelta, &[("messageId!", Text), ("activityType!", Text), ("patch!", List)]),
    shape("REASONING_START", K::ReasoningStart, &[("messageId!", Text)]),
    shape("REASONING_END", K::ReasoningEnd, &[("messageId!", Text)]),
    shape("REASONING_MESSAGE_START", K::ReasoningMessageStart, &[("messageId!", Text), ("role", Text)]),
    shape("REASONING_MESSAGE_CONTENT", K::ReasoningMessageContent, &[("messageId!", Text), ("delta!", Text)]),
    shape("REASONING_MESSAGE_END", K::ReasoningMessageEnd, &[("messageId!", Text)]),
    shape("REASONING_MESSAGE_CHUNK", K::ReasoningMessageChunk, &[("messageId", Text), ("delta", Text)]),
    shape(
        "REASONING_ENCRYPTED_VALUE",
        K::ReasoningEncryptedValue,
        &[("subtype!", Text), ("entityId!", Text), ("encryptedValue!", Text)],
    ),
    shape("RAW", K::Raw, &[("event!", Any), ("source", Text)]),
    shape("CUSTOM", K::Custom, &[("name!", Text), ("value", Any)]),
    shape(
        "SUBAGENT_STARTED",
        K::SubagentStarted,
        &[
            ("subagentRunId!", Text),
            ("name!", Text),
            ("description", Text),
            ("parentSubagentRunId", Text),
            ("parentToolCallId", Text),
            ("parentMessageId", Text),
        ],
    ),
    shape("SUBAGENT_FINISHED", K::SubagentFinished, &[("subagentRunId!", Text), ("result", Any), ("outcome", Object)]),
    shape("SUBAGENT_ERROR", K::SubagentError, &[("subagentRunId!", Text), ("message!", Text), ("code", Text)]),
];

// On every event. A tag of null is an error, not an absence (`verify`).
const BASE: &[(&str, Type)] =
    &[("type", Text), ("timestamp", Any), ("rawEvent", Any), ("metadata", Object), ("subagentRunId", Text)];

// Retired in 1.0; old servers still send them, without a message id.
const RETIRED: &[(&str, Kind)] = &[
    ("THINKING_START", K::ReasoningStart),
    ("THINKING_END", K::ReasoningEnd),
    ("THINKING_TEXT_MESSAGE_START", K::ReasoningMessageStart),
    ("THINKING_TEXT_MESSAGE_CONTENT", K::ReasoningMessageContent),
    ("THINKING_TEXT_MESSAGE_END", K::ReasoningMessageEnd),
];

const fn shape(name: &'static str, kind: Kind, fields: &'static [(&'static str, Type)]) -> Shape {
    Shape { name, kind, fields }
}

impl Kind {
    /// The protocol's name.
    #[must_use]
    pub fn name(self) -> &'static str {
        SHAPES.iter().find(|shape| shape.kind == self).map_or("", |shape| shape.name)
    }
}

impl AgUiEvent {
    /// An event made on the way: a chunk's part, say.
    pub(super) fn made<const N: usize>(kind: Kind, fields: [(&str, Option<&str>); N]) -> Self {
        let mut made = Self { kind, fields: Map::new() };
        for (name, value) in fields {
            if let Some(value) = value {
                made.fields.insert(name.to_owned(), Value::from(value));
            }
        }
        made
    }

    /// Reads one frame.
    #[must_use]
    pub fn read(frame: Value) -> Read {
        let Value::Object(mut fields) = frame else { return Read::Corrupt("a frame is not a JSON object".to_owned()) };
        let Some(Value::String(name)) = fields.get("type") else {
            return Read::Corrupt("an event has no \"type\"".to_owned());
        };
        let name = name.clone();
        let retired = RETIRED.iter().find(|(retired, _)| *retired == name).map(|(_, kind)| *kind);
        if retired.is_some() {
            fields.insert("messageId".to_owned(), Value::from("thinking"));
        }
        match SHAPES.iter().find(|shape| retired.map_or(shape.name == name, |kind| shape.kind == kind)) {
            None => Read::Unknown(name),
            Some(shape) => match enforce(shape, &mut fields) {
                Ok(notes) => Read::Known(Self { kind: shape.kind, fields }, notes),
                Err(why) => Read::Corrupt(format!("{name}: {why}")),
            },
        }
    }

    /// A text field; `None` where it is absent.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<&str> {
        self.fields.get(name).and_then(Value::as_str)
    }

    /// A text field that the table requires.
    #[must_use]
    pub fn required(&self, name: &str) -> &str {
        self.text(name).unwrap_or_default()
    }

    /// Puts a text in the place of a field's value.
    pub(super) fn set(&mut self, name: &str, value: String) {
        self.fields.insert(name.to_owned(), Value::from(value));
    }

    /// Any field.
    #[must_use]
    pub fn value(&self, name: &str) -> Option<&Value> {
        self.fields.get(name)
    }

    /// The subagent that says it; `None` for the agent itself.
    #[must_use]
    pub fn owner(&self) -> Option<&str> {
        self.text("subagentRunId")
    }
}

fn enforce(shape: &Shape, fields: &mut Map<String, Value>) -> Result<Vec<String>, String> {
    let mut notes = Vec::new();
    for (field, kind) in shape.fields.iter().chain(BASE) {
        let (name, required) = field.strip_suffix('!').map_or((*field, false), |name| (name, true));
        match fields.get(name) {
            None if required => return Err(format!("\"{name}\" is missing")),
            None => {}
            Some(Value::Null) if *kind == Any => {}
            Some(Value::Null) if !required && name != "subagentRunId" => {
                fields.remove(name);
                notes.push(format!("{}: \"{name}\" was null and is taken as absent", shape.name));
            }
            Some(value) if kind.fits(value) => {}
            Some(_) => return Err(format!("\"{name}\" has the wrong type")),
        }
    }
    let known =
        |name: &str| shape.fields.iter().chain(BASE).any(|(field, _)| field.strip_suffix('!').unwrap_or(field) == name);
    fields.retain(|name, _| {
        let keep = known(name);
        if !keep {
            notes.push(format!("{}: the unknown property \"{name}\" was dropped", shape.name));
        }
        keep
    });
    Ok(notes)
}

impl Type {
    fn fits(self, value: &Value) -> bool {
        match self {
            Self::Text => value.is_string(),
            Self::Flag => value.is_boolean(),
            Self::Object => value.is_object(),
            Self::List => value.is_array(),
            Self::Any => true,
        }
    }
}
