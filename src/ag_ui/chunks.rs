//! `*_CHUNK` events to start, content and end. Knows nothing of what they carry.

use crate::ag_ui::event::{AgUiEvent, Kind};

/// Expands chunks. One stream is open in each lane (a subagent's, or the agent's own).
#[derive(Debug, Default)]
pub(super) struct Chunks {
    open: Vec<Open>,
}

#[derive(Clone, Debug, PartialEq)]
struct Open {
    lane: Option<String>,
    family: Family,
    id: String,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Family {
    Text,
    Reasoning,
    Call,
}

impl Chunks {
    /// The events an event stands for.
    ///
    /// # Errors
    /// A first chunk without the id (or, of a call, the name) that opens it.
    pub(super) fn expand(&mut self, event: AgUiEvent) -> Result<Vec<AgUiEvent>, String> {
        let family = match event.kind {
            Kind::TextMessageChunk => Family::Text,
            Kind::ReasoningMessageChunk => Family::Reasoning,
            Kind::ToolCallChunk => Family::Call,
            Kind::Raw => return Ok(vec![event]),
            Kind::RunStarted | Kind::RunFinished | Kind::RunError => {
                let mut out: Vec<_> = std::mem::take(&mut self.open).iter().map(Open::end).collect();
                out.push(event);
                return Ok(out);
            }
            _ => {
                let mut out = self.close(event.owner());
                out.push(event);
                return Ok(out);
            }
        };
        self.chunk(family, &event)
    }

    fn chunk(&mut self, family: Family, event: &AgUiEvent) -> Result<Vec<AgUiEvent>, String> {
        let lane = event.owner();
        let id = event.text(family.id_field());
        let mut out = Vec::new();
        let current = self.open.iter().find(|open| open.lane.as_deref() == lane && open.family == family).cloned();
        let current = match (current, id) {
            (Some(open), None) => open,
            (Some(open), Some(id)) if open.id == id => open,
            (_, Some(id)) => {
                out.extend(self.close(lane));
                let open = Open { lane: lane.map(str::to_owned), family, id: id.to_owned() };
                out.push(open.start(event)?);
                self.open.push(open.clone());
                open
            }
            (None, None) => {
                return Err(format!("{}: the first chunk has no \"{}\"", event.kind.name(), family.id_field()));
            }
        };
        if let Some(delta) = event.text("delta") {
            out.push(current.content(delta));
        }
        Ok(out)
    }

    fn close(&mut self, lane: Option<&str>) -> Vec<AgUiEvent> {
        let (closing, open) = std::mem::take(&mut self.open).into_iter().partition(|open| open.lane.as_deref() == lane);
        self.open = open;
        let closing: Vec<Open> = closing;
        closing.iter().map(Open::end).collect()
    }
}

impl Family {
    fn id_field(self) -> &'static str {
        match self {
            Self::Text | Self::Reasoning => "messageId",
            Self::Call => "toolCallId",
        }
    }
}

impl Open {
    fn start(&self, event: &AgUiEvent) -> Result<AgUiEvent, String> {
        let (kind, name) = match self.family {
            Family::Text => (Kind::TextMessageStart, None),
            Family::Reasoning => (Kind::ReasoningMessageStart, None),
            Family::Call => {
                let name = event.text("toolCallName");
                let name = name.ok_or_else(|| {
                    format!("TOOL_CALL_CHUNK: the first chunk of \"{}\" has no \"toolCallName\"", self.id)
                })?;
                (Kind::ToolCallStart, Some(name))
            }
        };
        let fields = [
            (self.family.id_field(), Some(self.id.as_str())),
            ("toolCallName", name),
            ("role", event.text("role")),
            ("parentMessageId", event.text("parentMessageId")),
            ("subagentRunId", self.lane.as_deref()),
        ];
        Ok(AgUiEvent::made(kind, fields))
    }

    fn content(&self, delta: &str) -> AgUiEvent {
        let kind = match self.family {
            Family::Text => Kind::TextMessageContent,
            Family::Reasoning => Kind::ReasoningMessageContent,
            Family::Call => Kind::ToolCallArgs,
        };
        self.made(kind, Some(delta))
    }

    fn end(&self) -> AgUiEvent {
        let kind = match self.family {
            Family::Text => Kind::TextMessageEnd,
            Family::Reasoning => Kind::ReasoningMessageEnd,
            Family::Call => Kind::ToolCallEnd,
        };
        self.made(kind, None)
    }

    fn made(&self, kind: Kind, delta: Option<&str>) -> AgUiEvent {
        let lane = self.lane.as_deref();
        AgUiEvent::made(kind, [(self.family.id_field(), Some(&self.id)), ("delta", delta), ("subagentRunId", lane)])
    }
}
