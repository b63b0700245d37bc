//! Floor 3: the driver. Asks the machine what to do, does it through a [`Host`], tells it what came of it.
//!
//! The only place below the browser with `.await`, and the only `match` on a tool's scope. Decides nothing.
//!
//! | file | is |
//! |---|---|
//! | `handle` | what the world says to a session |
//! | `host` | the world a session lives in |
//! | `writer` | the order in which a journal's lines are written, whatever a store does |
//! | `callbacks` | what an integrator hears, and may answer |

mod callbacks;
mod handle;
mod host;
mod writer;

pub use callbacks::{Callback, Callbacks, Moment, Reply, When};
use handle::Question;
pub use handle::{Handle, Inputs};
pub use host::Host;
pub use writer::{Batch, Store, StoreError, Told, Writer, Written};

use std::cell::RefCell;
use std::collections::VecDeque;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Context, Poll};

use futures::FutureExt;
use futures::future::LocalBoxFuture;
use futures::stream::{self, FuturesUnordered, LocalBoxStream, StreamExt};

use crate::agent::{Input, Output, Run, ToolRequest};
use crate::protocol::{
    Answer, Entry, FinishReason, Millis, ModelEvent, ModelRequest, Names, Outcome, Scope, ToolCallId,
};
use crate::tools::error;

/// How a session ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// Every handle is gone.
    Closed,
    /// Somebody else has taken the thread over; nothing more is done for it here.
    Lost,
}

/// Drives a session of this machine in this world until every handle is gone, or the thread is somebody else's. Dropping
/// the future lets go of everything that is at work.
pub async fn drive<H: Host + 'static>(run: Run, host: H, inputs: &mut Inputs) -> Ended {
    let driver = Driver {
        run,
        callbacks: host.callbacks(),
        host: Rc::new(host),
        said: inputs,
        model: None,
        closing: None,
        earlier: None,
        ready: VecDeque::new(),
        tools: FuturesUnordered::new(),
        cancelled: Rc::default(),
        timer: None,
    };
    driver.drive().await
}

/// A session with a handle of its own.
pub fn session<H: Host + 'static>(run: Run, host: H) -> (Handle, impl Future<Output = Ended>) {
    let (handle, mut inputs) = Handle::channel();
    (handle, async move { drive(run, host, &mut inputs).await })
}

struct Driver<'a, H> {
    run: Run,
    host: Rc<H>,
    callbacks: Callbacks,
    said: &'a mut Inputs,
    model: Option<(u64, LocalBoxStream<'static, ModelEvent>)>,
    /// The end of a model's stream, while callbacks are asked about it.
    closing: Option<Closing>,
    /// The part of the journal that was not read at first.
    earlier: Option<LocalBoxFuture<'static, Vec<Entry>>>,
    /// Inputs that are waiting, before all others but the user's.
    ready: VecDeque<Input>,
    tools: FuturesUnordered<LocalBoxFuture<'static, (ToolCallId, Answer)>>,
    cancelled: Rc<RefCell<Names>>,
    timer: Option<(Millis, LocalBoxFuture<'static, ()>)>,
}

/// A model call, its terminal event, and what a callback puts in its answer's place.
type Closing = LocalBoxFuture<'static, (u64, ModelEvent, Option<String>)>;

impl<H: Host + 'static> Driver<'_, H> {
    async fn drive(mut self) -> Ended {
        loop {
            while let Some(output) = self.run.poll() {
                let takes_effect = matches!(output, Output::CallTool(_) | Output::CallModel { .. });
                if takes_effect && self.host.saved().await == Written::Lost {
                    return Ended::Lost;
                }
                self.perform(output).await;
            }
            if self.host.saved().await == Written::Lost {
                return Ended::Lost;
            }
            match self.next_input().await {
                Some(input) => self.run.handle(self.host.now(), input),
                None => return Ended::Closed,
            }
        }
    }

    async fn perform(&mut self, output: Output) {
        match output {
            Output::Save(entry) => self.host.save(&entry),
            Output::LoadEarlier => self.earlier = Some(self.host.earlier()),
            Output::Event(event) => self.host.tell(&event),
            Output::CallModel { call, mut request } => {
                // Before what the request's editors had to say.
                let said = std::mem::replace(&mut request.context, self.host.context());
                request.context.extend(said);
                self.model = Some((call, self.call_model(request)));
            }
            // Dropping the stream lets go of the connection behind it.
            Output::CancelModel { call } => {
                self.model = self.model.take().filter(|(at_work, _)| *at_work != call);
                self.closing = None;
            }
            Output::CallTool(request) => {
                let call = request.call.clone();
                let answer = self.call_tool(request);
                self.tools.push(Box::pin(async move { (call, answer.await) }));
            }
            Output::KeepState(changes) => self.host.keep_state(&changes),
            Output::SaveArtifact { name, content } => self.host.save_artifact(&name, content).await,
            Output::CancelTool { call } => {
                self.host.cancel_tool(&call);
                self.cancelled.borrow_mut().add(call.0);
            }
        }
    }

    /// Asks the model, unless a callback answers in its place.
    fn call_model(&self, request: ModelRequest) -> LocalBoxStream<'static, ModelEvent> {
        if !self.callbacks.wants(When::BeforeModel) {
            return self.host.call_model(request);
        }
        let (callbacks, host) = (self.callbacks.clone(), Rc::clone(&self.host));
        let opening = async move {
            match callbacks.text(Moment::BeforeModel(Box::new(request.clone()))).await {
                Some(text) => {
                    stream::iter([ModelEvent::Replace(text), ModelEvent::Finish(FinishReason::Done)]).boxed_local()
                }
                None => host.call_model(request),
            }
        };
        stream::once(opening).flatten().boxed_local()
    }

    /// Runs a tool, with the callbacks around it. A job that is taken up is its call's, which they have heard of.
    fn call_tool(&self, request: ToolRequest) -> LocalBoxFuture<'static, Answer> {
        let heard = [When::BeforeTool, When::AfterTool, When::OnError].iter().any(|when| self.callbacks.wants(*when));
        if !heard || request.job.is_some() {
            return call_where_it_runs(&*self.host, request);
        }
        let (callbacks, host, cancelled) = (self.callbacks.clone(), Rc::clone(&self.host), Rc::clone(&self.cancelled));
        Box::pin(async move {
            let mut answer = match callbacks.answer(Moment::BeforeTool(request.clone())).await {
                Some(answer) => answer,
                None if cancelled.borrow().contains(request.call.as_str()) => {
                    return Outcome::Error(error::cancelled(&request.name, false)).into();
                }
                None => call_where_it_runs(&*host, request.clone()).await,
            };
            if matches!(answer.outcome, Outcome::Error(_)) {
                let reply = callbacks.answer(Moment::ToolError(request.clone(), answer.clone())).await;
                answer = in_place_of(answer, reply);
            }
            let reply = callbacks.answer(Moment::AfterTool(request, answer.clone())).await;
            in_place_of(answer, reply)
        })
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
        if let Poll::Ready(input) = self.said.inputs.poll_next_unpin(context) {
            return Poll::Ready(input);
        }
        while let Poll::Ready(Some(Question { call, answer })) = self.said.questions.poll_next_unpin(context) {
            // Whoever has asked may be gone.
            let _ = answer.send(self.run.standing(&call));
        }
        if let Some(input) = self.ready.pop_front() {
            return Poll::Ready(Some(input));
        }
        if let Some(earlier) = &mut self.earlier
            && let Poll::Ready(entries) = earlier.poll_unpin(context)
        {
            self.earlier = None;
            return Poll::Ready(Some(Input::Earlier(entries)));
        }
        while let Poll::Ready(Some((call, answer))) = self.tools.poll_next_unpin(context) {
            if !self.is_echo_of_cancel(&call, &answer.outcome) {
                return Poll::Ready(Some(Input::ToolOutcome { call, answer }));
            }
        }
        if let Some((call, stream)) = &mut self.model {
            let call = *call;
            match stream.poll_next_unpin(context) {
                Poll::Ready(Some(event)) => match self.close(call, event) {
                    Some(event) => return Poll::Ready(Some(Input::Model { call, event })),
                    None => self.model = None,
                },
                Poll::Ready(None) => {
                    self.model = None;
                    return Poll::Ready(Some(Input::ModelClosed { call }));
                }
                Poll::Pending => {}
            }
        }
        if let Some(closing) = &mut self.closing
            && let Poll::Ready((call, event, text)) = closing.poll_unpin(context)
        {
            self.closing = None;
            return Poll::Ready(Some(self.closed(call, event, text)));
        }
        if let Some((_, timer)) = &mut self.timer
            && timer.poll_unpin(context).is_ready()
        {
            self.timer = None;
            return Poll::Ready(Some(Input::Tick));
        }
        Poll::Pending
    }

    // The end of an answer waits for the callbacks that want to hear of it; everything else goes on.
    fn close(&mut self, call: u64, event: ModelEvent) -> Option<ModelEvent> {
        let moment = match &event {
            ModelEvent::Finish(_) if self.callbacks.wants(When::AfterModel) => {
                self.run.answer_so_far().map(Moment::AfterModel)
            }
            // One that the machine answers by itself is not over yet.
            ModelEvent::Error(error) if self.callbacks.wants(When::OnError) && !self.run.will_retry(error) => {
                Some(Moment::ModelError(error.clone()))
            }
            _ => None,
        };
        let Some(moment) = moment else { return Some(event) };
        let callbacks = self.callbacks.clone();
        self.closing = Some(Box::pin(async move { (call, event, callbacks.text(moment).await) }));
        None
    }

    fn closed(&mut self, call: u64, event: ModelEvent, text: Option<String>) -> Input {
        let Some(text) = text else { return Input::Model { call, event } };
        self.ready.push_back(Input::Model { call, event: ModelEvent::Finish(FinishReason::Done) });
        Input::Model { call, event: ModelEvent::Replace(text) }
    }

    // A tool that obeyed the signal says so; only a real result that comes late is worth recording.
    fn is_echo_of_cancel(&mut self, call: &ToolCallId, outcome: &Outcome) -> bool {
        self.cancelled.borrow_mut().remove(call.as_str()).is_some()
            && matches!(outcome, Outcome::Error(error) if error.code == "cancelled")
    }
}

/// The one place that decides where a tool runs: its definition did.
fn call_where_it_runs(host: &impl Host, request: ToolRequest) -> LocalBoxFuture<'static, Answer> {
    match request.scope {
        Scope::Browser => host.call_browser_tool(request),
        Scope::Server => host.call_server_tool(request),
    }
}

// What the tool changed stands, whoever words its outcome.
fn in_place_of(answer: Answer, reply: Option<Answer>) -> Answer {
    match reply {
        Some(reply) => Answer { changes: answer.changes, ..reply },
        None => answer,
    }
}
