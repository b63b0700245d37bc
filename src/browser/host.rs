//! The browser as a session's world. Knows nothing of what a session does in it.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use futures::future::{AbortHandle, LocalBoxFuture, abortable, ready};
use futures::stream::LocalBoxStream;

use crate::agent::{ARTIFACTS, ToolRequest};
use crate::browser::server_tool::{CHANGED, Heard};
use crate::browser::tools::{BrowserTools, ToolContext};
use crate::browser::{Abort, Gateway, Journal, ThreadServices, clock, shared_state};
use crate::protocol::{
    Answer, ContextItem, Delta, Entry, Event, Millis, ModelEvent, ModelRequest, Names, Outcome, ToolCallId,
};
use crate::session::{Callbacks, Host, Written};
use crate::tools::{ToolState, error};

/// Who is told of events.
pub type Watcher = Rc<dyn Fn(&Event)>;

/// The page, its gateway and its journal.
pub struct BrowserHost {
    /// The gateway.
    pub gateway: Gateway,
    /// The page's tools.
    pub tools: Rc<BrowserTools>,
    /// Where the thread is kept.
    pub journal: Rc<Journal>,
    /// What the page gives its tools.
    pub services: ThreadServices,
    running: Rc<RefCell<Names<Running>>>,
}

/// How to stop a running tool, or a job.
enum Running {
    /// Aborts its signal when dropped.
    Browser(Abort),
    /// A call behind the gateway: the wait for it, and the tool's name.
    Server(AbortHandle, String),
    /// A job behind the gateway: the wait for it, and its id there.
    Job(AbortHandle, String),
}

impl BrowserHost {
    /// A world of these.
    #[must_use]
    pub fn new(gateway: Gateway, tools: Rc<BrowserTools>, journal: Rc<Journal>, services: ThreadServices) -> Self {
        Self { gateway, tools, journal, services, running: Rc::default() }
    }

    // Whoever began it says when it is done.
    fn wait_for_page_job(&self, request: ToolRequest) -> LocalBoxFuture<'static, Answer> {
        let (services, running) = (self.services.clone(), Rc::clone(&self.running));
        Box::pin(async move {
            let user = services.shared.user_id();
            let end = services.end_of_job(&request.call).await;
            if let Some(Running::Browser(mut abort)) = running.borrow_mut().remove(request.call.as_str()) {
                abort.disarm();
            }
            let mut end = end.unwrap_or_else(|| Outcome::Error(error::cancelled(&request.name, true)).into());
            if !services.artifacts.is_empty() {
                end.changes.insert(ARTIFACTS.to_owned(), true.into());
            }
            services.of_user(&user, end)
        })
    }
}

/// A call that is running, as long as this is held.
struct Busy(Rc<RefCell<Names>>, String);

impl Busy {
    fn with(services: &ThreadServices, call: &str) -> Self {
        services.running.borrow_mut().add(call);
        Self(Rc::clone(&services.running), call.to_owned())
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.borrow_mut().remove(&self.1);
    }
}

impl Host for BrowserHost {
    fn now(&self) -> Millis {
        clock::now()
    }

    fn context(&self) -> Vec<ContextItem> {
        let Some(window) = web_sys::window() else { return Vec::new() };
        let address = window.location().href().unwrap_or_default();
        let title = window.document().map(|document| document.title()).unwrap_or_default();
        vec![
            ContextItem::new("The address of the page the user is looking at", address),
            ContextItem::new("The title of that page", title),
        ]
    }

    fn call_model(&self, request: ModelRequest) -> LocalBoxStream<'static, ModelEvent> {
        match &*self.services.shared.answers.borrow() {
            Some(answers) => answers(&request),
            None => self.gateway.call_model(&request),
        }
    }

    fn call_browser_tool(&self, request: ToolRequest) -> LocalBoxFuture<'static, Answer> {
        if request.job.is_some() {
            return self.wait_for_page_job(request);
        }
        let Some(tool) = self.tools.get(&request.name) else {
            return Box::pin(ready(Outcome::Error(error::tool_error(&request.name, "it was unregistered")).into()));
        };
        let abort = Abort::new();
        let call = request.call.0.clone();
        let context = ToolContext {
            state: ToolState::new(Arc::clone(&request.state)),
            signal: abort.signal(),
            services: self.services.clone(),
            request: Rc::new(request),
        };
        self.running.borrow_mut().insert(call.clone(), Running::Browser(abort));
        let running = Rc::clone(&self.running);
        let busy = Busy::with(&self.services, &call);
        let (state, services, user) = (context.state.clone(), self.services.clone(), self.services.shared.user_id());
        let long_running = context.request.definition.long_running;
        Box::pin(async move {
            // Stopped before it began.
            if !running.borrow().contains(&call) {
                return Outcome::Error(error::cancelled(&context.request.name, false)).into();
            }
            let arguments = context.request.arguments.clone();
            let outcome = tool(arguments, context).await;
            drop(busy);
            if !services.artifacts.is_empty() {
                state.set(ARTIFACTS, true.into());
            }
            // A job goes on, and may still be cancelled.
            if !(long_running && matches!(outcome, Outcome::Interim(_)))
                && let Some(Running::Browser(mut abort)) = running.borrow_mut().remove(&call)
            {
                abort.disarm();
            }
            services.of_user(&user, Answer { changes: state.take_changes(), ..outcome.into() })
        })
    }

    fn call_server_tool(&self, request: ToolRequest) -> LocalBoxFuture<'static, Answer> {
        let (services, user) = (self.services.clone(), self.services.shared.user_id());
        let (told, id) = (self.services.clone(), request.call.clone());
        let heard: Heard = Rc::new(move |fraction, text| told.progress(&id, fraction, text));
        // Dropping the request's future lets go of the connection.
        let (call, stop) = abortable(self.gateway.call_tool(&request, heard));
        let at_work = match &request.job {
            Some(job) => Running::Job(stop, job.clone()),
            None => Running::Server(stop, request.name.clone()),
        };
        self.running.borrow_mut().insert(request.call.0.clone(), at_work);
        let (running, drifted) = (Rc::clone(&self.running), Rc::clone(&self.services.shared.drifted));
        let busy = request.job.is_none().then(|| Busy::with(&self.services, request.call.as_str()));
        Box::pin(async move {
            let answer = call.await;
            drop(busy);
            running.borrow_mut().remove(request.call.as_str());
            let answer = answer.unwrap_or_else(|_| Outcome::Error(error::cancelled(&request.name, true)).into());
            if matches!(&answer.outcome, Outcome::Error(error) if error.code == CHANGED)
                && let Some(drifted) = &*drifted.borrow()
            {
                drifted();
            }
            services.of_user(&user, answer)
        })
    }

    fn keep_state(&self, changes: &Delta) {
        shared_state::save(&self.services.shared.user_id(), changes);
    }

    fn save_artifact(&self, name: &str, content: String) -> LocalBoxFuture<'_, ()> {
        self.services.artifacts.save(name, content, "text/plain").1
    }

    fn callbacks(&self) -> Callbacks {
        self.services.shared.callbacks.clone()
    }

    fn cancel_tool(&self, call: &ToolCallId) {
        self.services.stop_job(call);
        let running = self.running.borrow_mut().remove(call.as_str());
        match running {
            Some(Running::Browser(abort)) => drop(abort),
            Some(Running::Server(stop, name)) => {
                stop.abort();
                wasm_bindgen_futures::spawn_local(self.gateway.cancel_tool(call.0.clone(), &name));
            }
            Some(Running::Job(stop, job)) => {
                stop.abort();
                wasm_bindgen_futures::spawn_local(self.gateway.cancel_job(call.0.clone(), &job));
            }
            None => {}
        }
    }

    fn save(&self, entry: &Entry) {
        self.journal.append(entry);
    }

    fn saved(&self) -> LocalBoxFuture<'_, Written> {
        Box::pin(self.journal.flush())
    }

    fn earlier(&self) -> LocalBoxFuture<'static, Vec<Entry>> {
        self.journal.earlier()
    }

    fn sleep_until(&self, at: Millis) -> LocalBoxFuture<'static, ()> {
        clock::sleep(at.saturating_sub(clock::now()))
    }

    fn tell(&self, event: &Event) {
        (self.services.watcher)(event);
    }
}
