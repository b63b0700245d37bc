//! Gives an id to each tool call whose server sends none, so that two such calls in one step stay two.
//!
//! A server that leaves `toolCallId` empty, or out, tells its calls apart by order alone: a start (or a chunk with a name)
//! begins one, and what follows with an empty id belongs to the one that was begun last and has not ended. Calls of a
//! subagent are counted apart from the agent's own.

use crate::ag_ui::event::{AgUiEvent, Kind};

/// The calls without an id of one stream.
#[derive(Debug, Default)]
pub(super) struct Unnamed {
    count: usize,
    open: Vec<UnnamedCall>,
}

#[derive(Debug)]
struct UnnamedCall {
    owner: Option<String>,
    id: String,
    /// Whether chunks are its only form: the start of another call ends it.
    chunked: bool,
}

// What the ids look like; an error about the order of events shows them.
const PREFIX: &str = "(without an id) ";

impl Unnamed {
    /// Puts an id of ours in the place of an empty or missing one.
    pub(super) fn name(&mut self, event: &mut AgUiEvent) {
        let of_call =
            matches!(event.kind, Kind::ToolCallStart | Kind::ToolCallArgs | Kind::ToolCallEnd | Kind::ToolCallChunk);
        if !of_call || !event.required("toolCallId").is_empty() {
            return;
        }
        let chunk = event.kind == Kind::ToolCallChunk;
        // A chunk without the field goes on with whatever call is open, named or not.
        if chunk && event.text("toolCallId").is_none() && event.text("toolCallName").is_none() {
            return;
        }
        let owner = event.owner().map(str::to_owned);
        if event.kind == Kind::ToolCallStart || (chunk && event.text("toolCallName").is_some()) {
            self.open.retain(|open| !open.chunked || open.owner != owner);
            self.count += 1;
            let id = format!("{PREFIX}{}", self.count);
            self.open.push(UnnamedCall { owner, id: id.clone(), chunked: chunk });
            return event.set("toolCallId", id);
        }
        let Some(at) = self.open.iter().rposition(|open| open.owner == owner && open.chunked == chunk) else { return };
        let id = self.open[at].id.clone();
        if event.kind == Kind::ToolCallEnd {
            self.open.remove(at);
        }
        event.set("toolCallId", id);
    }
}

/// Whether an id is one of those given here.
pub(super) fn is_ours(id: &str) -> bool {
    id.starts_with(PREFIX)
}
