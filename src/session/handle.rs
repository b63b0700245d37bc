//! What the world says to a session. Knows nothing of what comes of it: the answers are events.

use std::sync::Arc;

use futures::channel::mpsc::{UnboundedSender, unbounded};

use crate::agent::{Decision, Input};
use crate::protocol::{Answer, State, ToolCallId};
use crate::tools::{Facts, Policy, Registry};

/// What the user, and whoever registers tools, says to a session.
///
/// All of it is asynchronous: the answers come as events. Dropping the last handle ends the session.
#[derive(Clone, Debug)]
pub struct Handle {
    pub(super) inputs: UnboundedSender<Input>,
}

impl Handle {
    /// A handle of no session: what is said to it is lost. In the place of one that is to be let go of.
    #[must_use]
    pub fn closed() -> Self {
        Self { inputs: unbounded().0 }
    }

    /// Sends a message; what is at work is ended first.
    pub fn send(&self, text: impl Into<String>) {
        self.input(Input::UserMessage(text.into()));
    }

    /// Stops what is at work.
    pub fn stop(&self) {
        self.input(Input::Stop);
    }

    /// Asks the model again after a run that did not end well; at once where it would be asked again later.
    pub fn retry(&self) {
        self.input(Input::Retry);
    }

    /// Takes up a run that was cut off; the tools are known by now.
    pub fn resume(&self) {
        self.input(Input::Resume);
    }

    /// Decides on an approval.
    pub fn decide(&self, call: ToolCallId, decision: Decision) {
        self.input(Input::Decision { call, decision });
    }

    /// Says which tools there are now; a step at work keeps those it began with.
    pub fn tools(&self, registry: Arc<Registry>) {
        self.input(Input::Tools(registry));
    }

    /// Whether there is a network, as far as is known.
    pub fn online(&self, online: bool) {
        self.input(Input::Online(online));
    }

    /// What the host says of the session now.
    pub fn facts(&self, facts: Facts) {
        self.input(Input::Facts(facts));
    }

    /// The rules of the session.
    pub fn policy(&self, policy: Policy) {
        self.input(Input::Policy(policy));
    }

    /// Another user is there: what was granted is forgotten.
    pub fn forget_grants(&self) {
        self.input(Input::ForgetGrants);
    }

    /// What tools remember beyond this thread.
    pub fn state(&self, state: State) {
        self.input(Input::State(state));
    }

    /// The answer of a call, from whoever has it: most often the end of a job that a call started.
    pub fn complete(&self, call: ToolCallId, answer: Answer) {
        self.input(Input::ToolOutcome { call, answer });
    }

    /// Stops a job.
    pub fn cancel_job(&self, call: ToolCallId) {
        self.input(Input::CancelJob { call });
    }

    fn input(&self, input: Input) {
        // Fails only when the session is gone, and then there is nobody to tell.
        let _ = self.inputs.unbounded_send(input);
    }
}
