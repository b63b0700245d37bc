//! The order of events, as the reference client's `verifyEvents` has it. Knows nothing of what they say.

use crate::ag_ui::event::{AgUiEvent, Kind};
use crate::protocol::Names;

/// Checks the order of one stream.
#[derive(Debug, Default)]
pub struct Verifier {
    state: State,
    open: Names<Owner>,
    closed: Names<Owner>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum State {
    #[default]
    Fresh,
    Open,
    Finished,
    Failed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Entity {
    Message,
    Call,
    Span,
    Reasoning,
    Step,
    Subagent,
}

type Owner = Option<String>;

// Between the parts of a key: what kind of thing it is, a step's agent, the id.
const MARK: char = '\u{1f}';

enum Move {
    Open,
    Use,
    Close,
}

impl Verifier {
    /// Takes the next event.
    ///
    /// # Errors
    /// What rule it breaks.
    pub fn check(&mut self, event: &AgUiEvent) -> Result<(), String> {
        self.check_run(event.kind)?;
        if let Some((entity, step, field)) = entity_of(event.kind) {
            self.check_entity(event, entity, &step, field)?;
        }
        if event.kind == Kind::ToolCallStart {
            self.check_parent(event)?;
        }
        if event.kind == Kind::SubagentStarted {
            self.check_parent_agent(event)?;
        }
        Ok(())
    }

    /// Whose an event is, once it was checked: its tag, or that of what it goes on with (which may leave it out).
    #[must_use]
    pub fn owner<'a>(&'a self, event: &'a AgUiEvent) -> Option<&'a str> {
        let key = entity_of(event.kind).map(|(entity, _, field)| key(event, entity, field));
        let opener = key.and_then(|key| self.open.get(&key).or_else(|| self.closed.get(&key)));
        event.owner().or_else(|| opener.and_then(Option::as_deref))
    }

    fn check_run(&mut self, kind: Kind) -> Result<(), String> {
        let name = kind.name();
        self.state = match (self.state, kind) {
            (State::Fresh | State::Finished | State::Failed, Kind::RunStarted) => {
                self.open.clear();
                self.closed.clear();
                State::Open
            }
            (State::Open, Kind::RunStarted) => return Err("RUN_STARTED while a run is open".to_owned()),
            (State::Fresh | State::Open | State::Finished, Kind::RunError) => State::Failed,
            (State::Open, Kind::RunFinished) => {
                if let Some(key) = self.open.keys().next() {
                    return Err(format!("RUN_FINISHED while {} is open", words(key)));
                }
                State::Finished
            }
            (State::Open, _) => State::Open,
            (State::Fresh, _) => return Err(format!("the first event is {name}, not RUN_STARTED")),
            (State::Finished, _) => return Err(format!("{name} after RUN_FINISHED")),
            (State::Failed, _) => return Err(format!("{name} after RUN_ERROR")),
        };
        Ok(())
    }

    fn check_entity(&mut self, event: &AgUiEvent, entity: Entity, step: &Move, field: &str) -> Result<(), String> {
        let owner = if entity == Entity::Subagent { None } else { event.owner().map(str::to_owned) };
        let key = key(event, entity, field);
        let name = event.kind.name();
        match step {
            Move::Open => {
                if self.open.contains(&key) {
                    return Err(format!("{name}: {} is open already", words(&key)));
                }
                if let Some(before) = self.closed.get(&key)
                    && (*before != owner || entity == Entity::Subagent)
                {
                    return Err(format!("{name}: {} was another's", words(&key)));
                }
                self.open.insert(key, owner);
            }
            Move::Use | Move::Close => {
                let Some(opener) = self.open.get(&key) else {
                    return Err(format!("{name}: {} is not open", words(&key)));
                };
                if owner.is_some() && owner != *opener {
                    return Err(format!("{name}: {} belongs to another agent", words(&key)));
                }
                if matches!(step, Move::Close)
                    && let Some(opener) = self.open.remove(&key)
                {
                    self.closed.insert(key, opener);
                }
            }
        }
        Ok(())
    }

    fn check_parent(&self, event: &AgUiEvent) -> Result<(), String> {
        let Some(parent) = event.text("parentMessageId") else { return Ok(()) };
        let key = Entity::Message.key(parent);
        match self.open.get(&key).or_else(|| self.closed.get(&key)) {
            Some(owner) if owner.as_deref() != event.owner() => {
                Err(format!("TOOL_CALL_START: its parent message \"{parent}\" belongs to another agent"))
            }
            _ => Ok(()),
        }
    }

    fn check_parent_agent(&self, event: &AgUiEvent) -> Result<(), String> {
        let Some(parent) = event.text("parentSubagentRunId") else { return Ok(()) };
        let key = Entity::Subagent.key(parent);
        if self.open.contains(&key) || self.closed.contains(&key) {
            return Ok(());
        }
        Err(format!("SUBAGENT_STARTED: its parent \"{parent}\" was never started"))
    }
}

impl Entity {
    fn key(self, id: &str) -> String {
        format!("{}{MARK}{id}", self.name())
    }

    fn name(self) -> &'static str {
        match self {
            Self::Message => "message",
            Self::Call => "tool call",
            Self::Span => "reasoning",
            Self::Reasoning => "reasoning message",
            Self::Step => "step",
            Self::Subagent => "subagent",
        }
    }
}

fn key(event: &AgUiEvent, entity: Entity, field: &str) -> String {
    match entity {
        // The same step name may be open once in each agent.
        Entity::Step => entity.key(&format!("{}{MARK}{}", event.owner().unwrap_or_default(), event.required(field))),
        _ => entity.key(event.required(field)),
    }
}

fn words(key: &str) -> String {
    let kind = key.split(MARK).next().unwrap_or_default();
    let id = key.rsplit(MARK).next().unwrap_or_default();
    format!("{kind} \"{id}\"")
}

fn entity_of(kind: Kind) -> Option<(Entity, Move, &'static str)> {
    Some(match kind {
        Kind::TextMessageStart => (Entity::Message, Move::Open, "messageId"),
        Kind::TextMessageContent => (Entity::Message, Move::Use, "messageId"),
        Kind::TextMessageEnd => (Entity::Message, Move::Close, "messageId"),
        Kind::ToolCallStart => (Entity::Call, Move::Open, "toolCallId"),
        Kind::ToolCallArgs => (Entity::Call, Move::Use, "toolCallId"),
        Kind::ToolCallEnd => (Entity::Call, Move::Close, "toolCallId"),
        Kind::ReasoningStart => (Entity::Span, Move::Open, "messageId"),
        Kind::ReasoningEnd => (Entity::Span, Move::Close, "messageId"),
        Kind::ReasoningMessageStart => (Entity::Reasoning, Move::Open, "messageId"),
        Kind::ReasoningMessageContent => (Entity::Reasoning, Move::Use, "messageId"),
        Kind::ReasoningMessageEnd => (Entity::Reasoning, Move::Close, "messageId"),
        Kind::StepStarted => (Entity::Step, Move::Open, "stepName"),
        Kind::StepFinished => (Entity::Step, Move::Close, "stepName"),
        Kind::SubagentStarted => (Entity::Subagent, Move::Open, "subagentRunId"),
        Kind::SubagentFinished | Kind::SubagentError => (Entity::Subagent, Move::Close, "subagentRunId"),
        _ => return None,
    })
}
