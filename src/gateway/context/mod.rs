//! What a call brings beside its arguments. Knows nothing of HTTP.
//!
//! | name | is |
//! |---|---|
//! | [`CallContext`] | all of it |
//! | [`Identity`] | who calls, as the host states it |
//! | [`Memory`], [`CallMemory`] | what a host recalls; the same for one call |
//! | [`Artifacts`], [`CallArtifacts`] | files in versions; the same for one call |
//! | [`Cancel`] | a sign that the work should stop |

mod artifacts;
mod cancel;
pub(crate) mod identity;
mod memory;
pub(crate) mod report;
pub(crate) mod shelves;

use std::sync::Arc;

use serde_json::Value;

pub use artifacts::{Artifact, Artifacts, CallArtifacts, Listed};
pub use cancel::Cancel;
pub use identity::Identity;
pub use memory::{CallMemory, Memory, NoMemory, Recalled};
pub use report::Level;

use crate::gateway::context::report::{Progress, Reporter};
use crate::gateway::jobs::Background;
use crate::protocol::{Outcome, ToolError};
use crate::tools::{ToolState, error};

/// What a call brings beside its arguments. Copies are of the same call.
///
/// Who calls comes from the host. All else in here is the page's word: its thread and state, and that the user agreed.
/// A tool decides by `user` who may do what, never by the state.
#[derive(Clone)]
pub struct CallContext {
    /// The tool's name.
    pub tool: String,
    /// The page's id for this call: the idempotency key.
    pub call_id: String,
    /// The thread; empty where the page did not say.
    pub thread: String,
    /// The run.
    pub run: String,
    /// The step of the run, from 1; 0 where the page did not say.
    pub step: u32,
    /// The agent that asked.
    pub agent: String,
    /// Whether the page says that its user approved this call.
    pub approved: bool,
    /// What the user's approval came with; null for nothing.
    pub payload: Value,
    /// Who calls; `None` where the host names nobody.
    pub user: Option<Identity>,
    /// What earlier calls left, and what this one changes of it.
    pub state: ToolState,
    /// What the host recalls.
    pub memory: CallMemory,
    /// The files of this thread and user.
    pub artifacts: CallArtifacts,
    /// Whether the work should stop.
    pub cancel: Cancel,
    pub(crate) reporter: Reporter,
    pub(crate) background: Option<Background>,
}

impl CallContext {
    /// The context of a call that is made without a gateway, as in a tool's own tests: no user, an empty state, no
    /// memory, artifacts in memory, nobody who listens, no background to go on in.
    ///
    /// # Errors
    /// SQLite can not open a database in memory.
    pub fn alone(tool: &str, call_id: &str) -> Result<Self, String> {
        let artifacts = Arc::new(shelves::Shelves::open(None)?);
        Ok(Self {
            tool: tool.to_owned(),
            call_id: call_id.to_owned(),
            thread: String::new(),
            run: String::new(),
            step: 0,
            agent: String::new(),
            approved: false,
            payload: Value::Null,
            user: None,
            state: ToolState::default(),
            memory: CallMemory::new(Arc::new(NoMemory), None),
            artifacts: CallArtifacts::new(artifacts, tool.to_owned(), None, String::new()),
            cancel: Cancel::new(),
            reporter: Reporter::Nobody,
            background: None,
        })
    }

    /// Who calls. That a tool was hidden from those who may not call it is not enough: a tool asks here.
    ///
    /// # Errors
    /// `refused`, where the host names nobody.
    pub fn require_user(&self) -> Result<&Identity, ToolError> {
        let why = "nobody is signed in, and it needs to know for whom it acts. Ask the user to sign in.";
        self.user.as_ref().ok_or_else(|| error::refused(&self.tool, why))
    }

    /// Says how far the work is: from 0 to 1 where that is known, and in words for the user (at most 500 characters).
    pub fn progress(&self, fraction: impl Into<Option<f64>>, text: &str) {
        self.reporter.progress(Progress::new(fraction.into(), text));
    }

    /// Writes a line to the gateway's log and, where it listens, to the page. No secret belongs in it.
    pub fn log(&self, level: Level, text: &str) {
        self.reporter.log(&self.tool, level, text);
    }

    /// Goes on in the background: the call is answered with a job in this state at once, and the job's end is what
    /// `work` comes to. A call that is sent again gets the job it started. Only for tools whose definition says
    /// `longRunning`.
    ///
    /// `work` gets a context of its own: its progress and its `cancel` are the job's.
    pub fn job<F>(&self, state: &Value, work: impl FnOnce(Self) -> F) -> Outcome
    where
        F: Future<Output = Outcome> + Send + 'static,
    {
        match &self.background {
            Some(background) => background.start(self, state, work),
            None => {
                let words = "it wanted to go on in the background, but its definition does not say longRunning";
                Outcome::Error(error::tool_error(&self.tool, words))
            }
        }
    }
}

impl std::fmt::Debug for CallContext {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CallContext").field("tool", &self.tool).field("call_id", &self.call_id).finish_non_exhaustive()
    }
}
