//! The browser as a session's world. Knows nothing of what a session does in it.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use futures::future::{AbortHandle, LocalBoxFuture, abortable, ready};
use futures::stream::LocalBoxStream;

use crate::agent::ToolRequest;
use crate::browser::tools::{BrowserTools, ToolContext};
use crate::browser::{Abort, Gateway, Journal, clock};
use crate::protocol::{ContextItem, Entry, Event, Millis, ModelEvent, ModelRequest, Names, Outcome, ToolCallId};
use crate::session::Host;
use crate::tools::error;

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
    /// Who is told of events.
    pub watcher: Watcher,
    running: Rc<RefCell<Names<Running>>>,
    warned: Cell<bool>,
}

/// How to stop a running tool.
enum Running {
    /// Aborts its signal when dropped.
    Browser(Abort),
    Server(AbortHandle),
}

impl BrowserHost {
    /// A world of these.
    #[must_use]
    pub fn new(gateway: Gateway, tools: Rc<BrowserTools>, journal: Rc<Journal>, watcher: Watcher) -> Self {
        Self { gateway, tools, journal, watcher, running: Rc::default(), warned: Cell::new(false) }
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
        self.gateway.call_model(&request)
    }

    fn call_browser_tool(&self, request: ToolRequest) -> LocalBoxFuture<'static, Outcome> {
        let Some(tool) = self.tools.get(&request.name) else {
            return Box::pin(ready(Outcome::Error(error::tool_error(&request.name, "it was unregistered"))));
        };
        let abort = Abort::new();
        let context = ToolContext { call: request.call.clone(), approved: request.approved, signal: abort.signal() };
        self.running.borrow_mut().insert(request.call.0.clone(), Running::Browser(abort));
        let running = Rc::clone(&self.running);
        Box::pin(async move {
            let outcome = tool(request.arguments, context).await;
            if let Some(Running::Browser(mut abort)) = running.borrow_mut().remove(request.call.as_str()) {
                abort.disarm();
            }
            outcome
        })
    }

    fn call_server_tool(&self, request: ToolRequest) -> LocalBoxFuture<'static, Outcome> {
        // Dropping the request's future lets go of the connection.
        let (call, stop) = abortable(self.gateway.call_tool(&request));
        self.running.borrow_mut().insert(request.call.0.clone(), Running::Server(stop));
        let running = Rc::clone(&self.running);
        Box::pin(async move {
            let outcome = call.await;
            running.borrow_mut().remove(request.call.as_str());
            outcome.unwrap_or_else(|_| Outcome::Error(error::cancelled(&request.name, true)))
        })
    }

    fn cancel_tool(&self, call: &ToolCallId) {
        let running = self.running.borrow_mut().remove(call.as_str());
        match running {
            Some(Running::Browser(abort)) => drop(abort),
            Some(Running::Server(stop)) => stop.abort(),
            None => {}
        }
    }

    fn save(&self, entry: &Entry) -> LocalBoxFuture<'_, ()> {
        if !self.journal.append(entry) && !self.warned.replace(true) {
            (self.watcher)(&Event::NotSaved);
        }
        Box::pin(ready(()))
    }

    fn sleep_until(&self, at: Millis) -> LocalBoxFuture<'static, ()> {
        clock::sleep(at.saturating_sub(clock::now()))
    }

    fn tell(&self, event: &Event) {
        (self.watcher)(event);
    }
}
