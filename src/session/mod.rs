//! Floor 3: the driver. Asks the machine what to do, does it through a [`Host`], tells it what came of it.
//!
//! The only place below the browser with `.await`, and the only `match` on a tool's scope. Decides nothing.

mod host;

pub use host::Host;

use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures::FutureExt;
use futures::channel::mpsc::{UnboundedReceiver, UnboundedSender, unbounded};
use futures::future::LocalBoxFuture;
use futures::stream::{FuturesUnordered, LocalBoxStream, StreamExt};

use crate::agent::{Decision, Input, Output, Run, ToolRequest};
use crate::protocol::{Answer, Millis, ModelEvent, Names, Outcome, Scope, State, ToolCallId};
use crate::tools::{Facts, Policy, Registry};

/// What the user, and whoever registers tools, says to a session.
///
/// All of it is asynchronous: the answers come as events. Dropping the last handle ends the session.
#[derive(Clone, Debug)]
pub struct Handle {
    inputs: UnboundedSender<Input>,
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

    /// Asks the model again after a run that did not end well.
    pub fn retry(&self) {
        self.input(Input::Retry);
    }

    /// Decides on an approval.
    pub fn decide(&self, call: ToolCallId, decision: Decision) {
        self.input(Input::Decision { call, decision });
    }

    /// Says which tools there are now; a step at work keeps those it began with.
    pub fn tools(&self, registry: Arc<Registry>) {
        self.input(Input::Tools(registry));
    }

    /// What the host says of the session now.
    pub fn facts(&self, facts: Facts) {
        self.input(Input::Facts(facts));
    }

    /// The rules of the session.
    pub fn policy(&self, policy: Policy) {
        self.input(Input::Policy(policy));
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

/// A session of this machine in this world: the handle, and the future that drives it until every handle is gone.
pub fn session<H: Host>(run: Run, host: H) -> (Handle, impl Future<Output = ()>) {
    let (inputs, commands) = unbounded();
    let driver = Driver {
        run,
        host,
        commands,
        model: None,
        tools: FuturesUnordered::new(),
        cancelled: Names::default(),
        timer: None,
    };
    (Handle { inputs }, driver.drive())
}

struct Driver<H> {
    run: Run,
    host: H,
    commands: UnboundedReceiver<Input>,
    model: Option<(u64, LocalBoxStream<'static, ModelEvent>)>,
    tools: FuturesUnordered<LocalBoxFuture<'static, (ToolCallId, Answer)>>,
    cancelled: Names,
    timer: Option<(Millis, LocalBoxFuture<'static, ()>)>,
}

impl<H: Host> Driver<H> {
    async fn drive(mut self) {
        loop {
            while let Some(output) = self.run.poll() {
                self.perform(output).await;
            }
            match self.next_input().await {
                Some(input) => self.run.handle(self.host.now(), input),
                None => return,
            }
        }
    }

    async fn perform(&mut self, output: Output) {
        match output {
            Output::Save(entry) => self.host.save(&entry).await,
            Output::Event(event) => self.host.tell(&event),
            Output::CallModel { call, mut request } => {
                request.context = self.host.context();
                self.model = Some((call, self.host.call_model(request)));
            }
            // Dropping the stream lets go of the connection behind it.
            Output::CancelModel { call } => self.model = self.model.take().filter(|(at_work, _)| *at_work != call),
            Output::CallTool(request) => {
                let call = request.call.clone();
                let answer = self.call_tool(request);
                self.tools.push(Box::pin(async move { (call, answer.await) }));
            }
            Output::SaveArtifact { name, content } => self.host.save_artifact(&name, content).await,
            Output::CancelTool { call } => {
                self.host.cancel_tool(&call);
                self.cancelled.add(call.0);
            }
        }
    }

    /// The one place that decides where a tool runs: its definition did.
    fn call_tool(&self, request: ToolRequest) -> LocalBoxFuture<'static, Answer> {
        match request.scope {
            Scope::Browser => self.host.call_browser_tool(request),
            Scope::Server => self.host.call_server_tool(request),
        }
    }

    /// Waits for whatever happens first; the user's word before all else. `None` when every handle is gone.
    async fn next_input(&mut self) -> Option<Input> {
        self.set_timer();
        poll_fn(|context| self.poll_input(context)).await
    }

    // A timer that rings too early does no harm (the machine finds nothing due), so one is set anew only where it would
    // ring too late: every piece of a stream moves the deadline, and must not cost a timer.
    fn set_timer(&mut self) {
        let due = self.run.wake_at();
        if due.is_none() || self.timer.as_ref().is_none_or(|(at, _)| due.is_some_and(|due| due < *at)) {
            self.timer = due.map(|at| (at, self.host.sleep_until(at)));
        }
    }

    fn poll_input(&mut self, context: &mut Context<'_>) -> Poll<Option<Input>> {
        if let Poll::Ready(command) = self.commands.poll_next_unpin(context) {
            return Poll::Ready(command);
        }
        while let Poll::Ready(Some((call, answer))) = self.tools.poll_next_unpin(context) {
            if !self.is_echo_of_cancel(&call, &answer.outcome) {
                return Poll::Ready(Some(Input::ToolOutcome { call, answer }));
            }
        }
        if let Some((call, stream)) = &mut self.model {
            let call = *call;
            match stream.poll_next_unpin(context) {
                Poll::Ready(Some(event)) => return Poll::Ready(Some(Input::Model { call, event })),
                Poll::Ready(None) => {
                    self.model = None;
                    return Poll::Ready(Some(Input::ModelClosed { call }));
                }
                Poll::Pending => {}
            }
        }
        if let Some((_, timer)) = &mut self.timer
            && timer.poll_unpin(context).is_ready()
        {
            self.timer = None;
            return Poll::Ready(Some(Input::Tick));
        }
        Poll::Pending
    }

    // A tool that obeyed the signal says so; only a real result that comes late is worth recording.
    fn is_echo_of_cancel(&mut self, call: &ToolCallId, outcome: &Outcome) -> bool {
        self.cancelled.remove(call.as_str()).is_some()
            && matches!(outcome, Outcome::Error(error) if error.code == "cancelled")
    }
}
