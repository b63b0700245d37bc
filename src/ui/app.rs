//! A thread at work in a page: everything below, wired together. Decides nothing.

use std::cell::{Cell, RefCell};
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;

use futures::future::{Either, select};
use send_wrapper::SendWrapper;
use web_sys::HtmlElement;

use crate::agent::{Config, Decision, Limits, Run};
use crate::browser::tools::{BrowserTool, BrowserTools, built_in};
use crate::browser::{BrowserHost, Gateway, Journal, Watcher, random_seed, sleep};
use crate::protocol::{Event, IdMint, Scope, ThreadId, ToolCallId};
use crate::session::{Handle, session};
use crate::tools::{Definition, Executor, Problem, Registration, Registry};
use crate::ui::Store;

// A message waits no longer than this for a gateway to list its tools.
const LIST_MS: u64 = 8000;

/// How an app is set up.
#[derive(Clone, Debug)]
pub struct Options {
    /// Where the gateway is.
    pub gateway: String,
    /// What the integrator tells the model.
    pub instructions: String,
    /// Tells the threads of several elements in one page apart.
    pub name: String,
}

/// Why tools could not be registered: every fault of every one of them.
pub type RegisterError = Vec<Problem>;

/// A thread at work in a page.
#[derive(Clone)]
pub struct App {
    /// What the views show.
    pub store: Store,
    // Views ask for `Send`; a page has one thread.
    inner: SendWrapper<Rc<Inner>>,
}

struct Inner {
    options: Options,
    gateway: Gateway,
    tools: Rc<BrowserTools>,
    registry: RefCell<Registry>,
    watcher: Watcher,
    thread: RefCell<Thread>,
    served: Cell<bool>,
}

struct Thread {
    id: ThreadId,
    handle: Handle,
    journal: Rc<Journal>,
    // Whether it is the one on screen. What is at work in another one still comes to its end.
    shown: Rc<Cell<bool>>,
}

impl App {
    /// Opens the tab's thread of this element, or a new one, and asks the gateway for its tools.
    /// `watcher` hears every event after the store has followed it.
    #[must_use]
    pub fn open(element: &HtmlElement, options: Options, watcher: Watcher) -> Self {
        let store = Store::new();
        let mut registry = Registry::default();
        let tools = Rc::new(BrowserTools::default());
        let (definitions, runs): (Vec<Definition>, Vec<BrowserTool>) = built_in(element).into_iter().unzip();
        for (definition, run) in definitions.iter().zip(runs) {
            tools.insert(&definition.name, run);
        }
        let registered = registry.register(definitions.into_iter().map(in_page).collect());
        debug_assert!(registered.is_ok(), "{registered:?}");
        let gateway = Gateway::new(&options.gateway);
        let id = Journal::current(&options.name).unwrap_or_else(new_thread);
        let thread = start(&id, &options, &gateway, &tools, &watcher, &store);
        let inner = Inner {
            options,
            gateway,
            tools,
            registry: RefCell::new(registry),
            watcher,
            thread: RefCell::new(thread),
            served: Cell::new(false),
        };
        let app = Self { store, inner: SendWrapper::new(Rc::new(inner)) };
        app.publish();
        app.load_served();
        app
    }

    /// Sends a message; what is at work is ended first.
    pub fn send(&self, text: &str) {
        let text = text.trim().to_owned();
        if text.is_empty() {
            return;
        }
        let app = self.clone();
        leptos::task::spawn_local(async move {
            // A gateway that was down when the page opened may be up by now; a model without its tools is of no use.
            if !app.inner.served.get() {
                app.fetch_served().await;
            }
            app.handle().send(text);
        });
    }

    /// Stops what is at work.
    pub fn stop(&self) {
        self.handle().stop();
    }

    /// Asks the model again.
    pub fn retry(&self) {
        let app = self.clone();
        leptos::task::spawn_local(async move {
            if !app.inner.served.get() {
                app.fetch_served().await;
            }
            app.handle().retry();
        });
    }

    /// Decides on an approval.
    pub fn decide(&self, call: ToolCallId, decision: Decision) {
        self.handle().decide(call, decision);
    }

    /// Ends what is at work and begins an empty thread.
    pub fn new_thread(&self) {
        let inner = &self.inner;
        {
            let old = inner.thread.borrow();
            old.shown.set(false);
            old.handle.stop();
            old.journal.retire();
        }
        let id = new_thread();
        let thread = start(&id, &inner.options, &inner.gateway, &inner.tools, &inner.watcher, &self.store);
        *inner.thread.borrow_mut() = thread;
        self.publish();
    }

    /// Ends the session: what is at work is let go of, connections and all.
    pub fn close(&self) {
        self.inner.thread.borrow_mut().handle = Handle::closed();
    }

    /// The thread's id.
    #[must_use]
    pub fn thread(&self) -> ThreadId {
        self.inner.thread.borrow().id.clone()
    }

    /// Adds a tool that runs in the page.
    ///
    /// # Errors
    /// Everything that is wrong with its definition.
    pub fn register(&self, definition: Definition, run: BrowserTool) -> Result<(), RegisterError> {
        let name = definition.name.clone();
        self.inner.registry.borrow_mut().register(vec![in_page(definition)])?;
        self.inner.tools.insert(&name, run);
        self.publish();
        Ok(())
    }

    /// What is wrong with a tool that would be added, without adding it.
    #[must_use]
    pub fn check(&self, definition: Definition) -> Vec<Problem> {
        self.registry().register(vec![in_page(definition)]).err().unwrap_or_default()
    }

    /// Takes a page's tool out; `false` where there is none of that name, or it is not the page's.
    pub fn unregister(&self, name: &str) -> bool {
        let ours = self.inner.tools.get(name).is_some();
        if ours {
            self.inner.registry.borrow_mut().unregister(name);
            self.inner.tools.remove(name);
            self.publish();
        }
        ours
    }

    /// Every tool there is now.
    #[must_use]
    pub fn registry(&self) -> Registry {
        self.inner.registry.borrow().clone()
    }

    fn handle(&self) -> Handle {
        self.inner.thread.borrow().handle.clone()
    }

    fn publish(&self) {
        let registry = Arc::new(self.registry());
        self.store.registry.set(Arc::clone(&registry));
        self.handle().tools(registry);
    }

    fn load_served(&self) {
        let app = self.clone();
        // Nobody waits for it once the panel is gone.
        leptos::task::spawn_local_scoped_with_cancellation(async move { app.fetch_served().await });
    }

    async fn fetch_served(&self) {
        let listing = pin!(self.inner.gateway.served());
        let served = match select(listing, sleep(LIST_MS)).await {
            Either::Left((Ok(served), _)) => served,
            Either::Left((Err(words), _)) => return self.store.notice.set(Some(words)),
            Either::Right(_) => {
                let words = "The gateway did not list its tools in time; they can not be used for now.";
                return self.store.notice.set(Some(words.to_owned()));
            }
        };
        if self.inner.served.get() {
            return;
        }
        let drifted: Vec<String> = served
            .tools
            .iter()
            .filter(|tool| tool.definition.hash() != tool.hash)
            .map(|tool| {
                format!("The gateway's definition of {} reads differently here than there.", tool.definition.name)
            })
            .collect();
        let registrations = served.tools.into_iter().map(|tool| behind_gateway(tool.definition)).collect();
        let registered = self.inner.registry.borrow_mut().register(registrations);
        let problems = registered.err().unwrap_or_default();
        let words: Vec<String> = problems.iter().map(ToString::to_string).chain(drifted).collect();
        self.store
            .notice
            .set((!words.is_empty()).then(|| format!("The server's tools can not be used: {}", words.join("; "))));
        self.inner.served.set(true);
        self.store.agent.set(served.agent);
        self.publish();
    }
}

fn start(
    id: &ThreadId,
    options: &Options,
    gateway: &Gateway,
    tools: &Rc<BrowserTools>,
    watcher: &Watcher,
    store: &Store,
) -> Thread {
    let (journal, opened) = Journal::open(id);
    Journal::set_current(&options.name, id);
    let config = Config {
        thread: id.clone(),
        instructions: options.instructions.clone(),
        limits: Limits::default(),
        seed: random_seed(),
    };
    let run = Run::restore(config, &opened.entries);
    store.load(run.transcript(), run.last_end().filter(|_| run.can_retry()));
    if opened.damaged {
        store.notice.set(Some("A part of this conversation's record was damaged; it is shown up to there.".to_owned()));
    }
    let (journal, shown) = (Rc::new(journal), Rc::new(Cell::new(true)));
    let (followed, visible, watcher) = (store.clone(), Rc::clone(&shown), Rc::clone(watcher));
    let told: Watcher = Rc::new(move |event: &Event| {
        if visible.get() {
            followed.apply(event);
        }
        watcher(event);
    });
    let host = BrowserHost::new(gateway.clone(), Rc::clone(tools), Rc::clone(&journal), told);
    let (handle, driving) = session(run, host);
    leptos::task::spawn_local(driving);
    Thread { id: id.clone(), handle, journal, shown }
}

fn new_thread() -> ThreadId {
    ThreadId(IdMint::new(random_seed()).mint())
}

// A tool that the page registers runs in the page, whatever its definition was made to say.
fn in_page(mut definition: Definition) -> Registration {
    definition.scope = Scope::Browser;
    let executor = Executor { name: definition.name.clone(), scope: Scope::Browser };
    Registration { definition, executor: Some(executor) }
}

// And one that the gateway lists runs behind the gateway.
fn behind_gateway(definition: Definition) -> Registration {
    let executor = Executor { name: definition.name.clone(), scope: Scope::Server };
    Registration { definition, executor: Some(executor) }
}
