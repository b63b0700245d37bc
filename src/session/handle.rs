//! What the world says to a session. Knows nothing of what comes of it: the answers are events.

use std::sync::Arc;

use futures::channel::mpsc::{UnboundedReceiver, UnboundedSender, unbounded};
use futures::channel::oneshot;

use crate::agent::{Decision, Input, Limits, Standing};
use crate::protocol::{Answer, Prompt, State, ToolCallId};
use crate::tools::{Facts, Policy, Registry};

/// What the user, and whoever registers tools, says to a session.
///
/// All of it is asynchronous: the answers come as events. Dropping the last handle ends the session.
#[derive(Clone, Debug)]
pub struct Handle {
    inputs: UnboundedSender<Input>,
    questions: UnboundedSender<Question>,
}

/// What was said to a session and waits for one that hears it.
#[derive(Debug)]
pub struct Inputs {
    pub(super) inputs: UnboundedReceiver<Input>,
    pub(super) questions: UnboundedReceiver<Question>,
}

/// Somebody wants to know where a call stands.
#[derive(Debug)]
pub(super) struct Question {
    pub(super) call: ToolCallId,
    pub(super) answer: oneshot::Sender<Standing>,
}

impl Inputs {
    /// Takes out what waits, but for what a session is told of the world around it: that is said anew to each.
    pub fn take_waiting(&mut self) -> Vec<Input> {
        let mut waiting: Vec<Input> = std::iter::from_fn(|| self.inputs.try_recv().ok()).collect();
        waiting.retain(|input| {
            !matches!(
                input,
                Input::Tools(_)
                    | Input::Facts(_)
                    | Input::Limits(_)
                    | Input::Policy(_)
                    | Input::State(_)
                    | Input::Listing(_)
                    | Input::UseModel(_)
                    | Input::Online(_)
                    | Input::Resume
                    | Input::Rest
            )
        });
        waiting
    }
}

impl Handle {
    /// Says again what waited ([`Inputs::take_waiting`]).
    pub fn say_again(&self, waiting: Vec<Input>) {
        waiting.into_iter().for_each(|input| self.input(input));
    }

    /// A handle, and what is said to it.
    #[must_use]
    pub fn channel() -> (Self, Inputs) {
        let ((say, inputs), (ask, questions)) = (unbounded(), unbounded());
        (Self { inputs: say, questions: ask }, Inputs { inputs, questions })
    }

    /// A handle of no session: what is said to it is lost. In the place of one that is to be let go of.
    #[must_use]
    pub fn closed() -> Self {
        Self::channel().0
    }

    /// Sends a message; what is at work is ended first.
    pub fn send(&self, prompt: impl Into<Prompt>) {
        self.input(Input::UserMessage(prompt.into()));
    }

    /// Asks this model of the gateway's from the next step on; empty for its first.
    pub fn use_model(&self, model: impl Into<String>) {
        self.input(Input::UseModel(model.into()));
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

    /// The session is let go of, and another takes the run up: what has come of an answer is kept.
    pub fn rest(&self) {
        self.input(Input::Rest);
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

    /// Whether more tools are being asked for: a step waits for them.
    pub fn listing(&self, listing: bool) {
        self.input(Input::Listing(listing));
    }

    /// What the host says of the session now.
    pub fn facts(&self, facts: Facts) {
        self.input(Input::Facts(facts));
    }

    /// How far a run may go, the one at work, too.
    pub fn limits(&self, limits: Limits) {
        self.input(Input::Limits(limits));
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

    /// What a call waits for, once all that was said before is done; [`Standing::Unknown`] where the session ends first.
    pub fn standing(&self, call: ToolCallId) -> impl Future<Output = Standing> + 'static {
        let (answer, answered) = oneshot::channel();
        // Fails only when the session is gone; then the answer is, too.
        let _ = self.questions.unbounded_send(Question { call, answer });
        async move { answered.await.unwrap_or(Standing::Unknown) }
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
