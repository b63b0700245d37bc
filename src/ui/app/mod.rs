//! A thread at work in a page: everything below, wired together. Decides nothing.
//!
//! | file | is |
//! |---|---|
//! | `thread` | one thread: whose it is to run, its journal, its session |
//! | `threads` | all of them: opened, listed, taken over, as a file |
//! | `direct` | a model that the page asks by itself |
//! | `catalog` | the tools: the page's own, the gateway's, and whether both agree |

mod catalog;
#[cfg(feature = "direct")]
mod direct;
mod thread;
mod threads;

pub use catalog::PageTool;

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use futures::future::AbortHandle;
use send_wrapper::SendWrapper;
use web_sys::HtmlElement;

use crate::agent::{Decision, Limits, Standing};
use crate::browser::tools::{BrowserTools, built_in};
use crate::browser::{
    Answers, Database, Gateway, Listener, ModelInfo, NO_GATEWAY, Services, Watcher, chosen_model, current_thread,
    fresh_id, had_thread, set_chosen_model,
};
use crate::protocol::{Answer, Event, MessageId, Prompt, ThreadId, ToolCallId};
use crate::session::Handle;
use crate::tools::{Facts, Metrics, Policy, Problem, Registry};
use crate::ui::Store;
use crate::ui::app::catalog::Catalog;
use crate::ui::app::thread::Thread;
use crate::ui::app::threads::Up;

/// How an app is set up.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Where the gateway is.
    pub gateway: String,
    /// What the integrator tells the model.
    pub instructions: String,
    /// Tells the threads of several elements in one page apart.
    pub name: String,
    /// What the agent is called.
    pub agent: String,
    /// The profile whose tools the agent may see.
    pub profile: String,
    /// The language of labels, as a BCP 47 tag.
    pub language: String,
    /// How far a run may go.
    pub limits: Limits,
    /// The thread to open; empty for the one this tab had open, or a new one.
    pub thread: String,
    /// Whether this stands in the place of a copy of the module that has died, and can not give its thread back.
    pub restarted: bool,
    /// The name of the browser's database; empty for `pagehand`.
    pub database: String,
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

/// The page that threads live in: what each of them is given.
struct Page {
    options: Options,
    gateway: Gateway,
    tools: Rc<BrowserTools>,
    services: Services,
    watcher: Watcher,
    database: Database,
    store: Store,
}

struct Inner {
    page: Rc<Page>,
    catalog: RefCell<Catalog>,
    thread: RefCell<Thread>,
    /// The model that the page asks by itself.
    #[cfg(feature = "direct")]
    direct: RefCell<Option<crate::browser::Direct>>,
    facts: RefCell<Facts>,
    limits: Cell<Limits>,
    policy: RefCell<Option<Policy>>,
    metrics: Rc<RefCell<Metrics>>,
    /// Whether the gateway has listed its tools.
    served: Cell<bool>,
    /// Stops asking it to; `None` where it is not being asked.
    listing: RefCell<Option<AbortHandle>>,
    /// Hear of the page being left and coming back, of the network going and coming.
    listeners: RefCell<Vec<Listener>>,
}

impl App {
    /// Opens the tab's thread of this element, or a new one, and asks the gateway for its tools.
    /// `watcher` hears every event after the store has followed it.
    #[must_use]
    pub fn open(element: &HtmlElement, options: Options, watcher: Watcher) -> Self {
        let store = Store::new();
        store.language.set(options.language.clone());
        store.model.set(chosen_model(&options.name));
        let tools = Rc::new(BrowserTools::default());
        let mut catalog = Catalog::new();
        for (definition, run) in built_in(element) {
            tools.insert(&definition.name, run);
            let registered = catalog.registry.register(vec![catalog::in_page(definition, None)]);
            debug_assert!(registered.is_ok(), "{registered:?}");
        }
        let metrics = Rc::new(RefCell::new(Metrics::default()));
        let counted = Rc::clone(&metrics);
        let watcher: Watcher = Rc::new(move |event: &Event| {
            if let Event::Settled(call) = event {
                counted.borrow_mut().count(call);
            }
            watcher(event);
        });
        let name = if options.database.is_empty() { "pagehand" } else { &options.database };
        let asked = (!options.thread.is_empty()).then(|| ThreadId(options.thread.clone()));
        let up = match asked.or_else(|| current_thread(&options.name)) {
            Some(id) => Up { by_force: options.restarted && had_thread(&id), ..Up::known(id) },
            None => Up::fresh(),
        };
        let page = Rc::new(Page {
            gateway: Gateway::new(&options.gateway),
            tools,
            services: Services::default(),
            watcher,
            database: Database::new(name),
            store: store.clone(),
            options,
        });
        let inner = Rc::new_cyclic(|app| Inner {
            catalog: RefCell::new(catalog),
            thread: RefCell::new(page.start(&up, app)),
            #[cfg(feature = "direct")]
            direct: RefCell::default(),
            facts: RefCell::default(),
            limits: Cell::new(page.options.limits),
            policy: RefCell::default(),
            metrics,
            served: Cell::new(page.options.gateway == NO_GATEWAY),
            listing: RefCell::default(),
            listeners: RefCell::default(),
            page,
        });
        let app = Self { store, inner: SendWrapper::new(inner) };
        app.listen();
        app.hear_of_changes();
        app.ensure_listed();
        app.publish();
        app
    }

    /// Sends a message; what is at work is ended first.
    ///
    /// The message's id; `None` where it says nothing and has no file, and nothing is sent.
    pub fn send(&self, prompt: impl Into<Prompt>) -> Option<MessageId> {
        let mut prompt = prompt.into();
        prompt.text = prompt.text.trim().to_owned();
        if prompt.text.is_empty() && prompt.attachments.is_empty() {
            return None;
        }
        let id = prompt.id.get_or_insert_with(|| MessageId(fresh_id())).clone();
        // A gateway that was down when the page opened may be up by now; a model without its tools is of no use.
        self.ensure_listed();
        self.make_ours();
        self.handle().send(prompt);
        Some(id)
    }

    /// Stops what is at work.
    pub fn stop(&self) {
        if self.store.following.now() {
            return self.inner.thread.borrow().stop_elsewhere();
        }
        self.handle().stop();
    }

    /// Has this model of the gateway's asked from the next step on; empty for its first.
    pub fn use_model(&self, name: &str) {
        self.ask(None, name, None);
    }

    /// The same by the user's hand: the tab keeps it in mind.
    pub fn choose_model(&self, name: &str) {
        set_chosen_model(&self.inner.page.options.name, name);
        self.use_model(name);
    }

    /// Has a model asked in the gateway's place.
    pub fn ask_elsewhere(&self, answers: Answers, model: ModelInfo) {
        let name = model.name.clone();
        self.ask(Some(answers), &name, Some(model));
    }

    fn ask(&self, answers: Option<Answers>, name: &str, elsewhere: Option<ModelInfo>) {
        self.inner.page.services.answers.replace(answers);
        #[cfg(feature = "direct")]
        self.inner.direct.take();
        self.store.wants_key.set(None);
        self.store.direct.set(elsewhere);
        self.store.model.set(name.to_owned());
        self.handle().use_model(name);
    }

    /// Asks the model again.
    pub fn retry(&self) {
        self.ensure_listed();
        self.make_ours();
        self.handle().retry();
    }

    /// Decides on an approval.
    pub fn decide(&self, call: ToolCallId, decision: Decision) {
        self.handle().decide(call, decision);
    }

    /// What a call waits for here; [`Standing::Closed`] where another page runs the thread.
    pub async fn standing(&self, call: &ToolCallId) -> Standing {
        if self.store.following.now() {
            return Standing::Closed;
        }
        self.handle().standing(call.clone()).await
    }

    /// The end of a job, from whoever has it.
    pub fn complete(&self, call: ToolCallId, answer: Answer) {
        let complete = Rc::clone(&self.inner.thread.borrow().services.complete);
        complete(call, answer);
    }

    /// Stops a job.
    pub fn cancel_job(&self, call: ToolCallId) {
        self.handle().cancel_job(call);
    }

    /// Ends the session: what is at work is let go of, connections and all.
    pub fn close(&self) {
        self.inner.thread.borrow_mut().handle = Handle::closed();
        self.inner.thread.borrow().leave();
        self.inner.page.services.drifted.take();
        self.inner.listeners.take();
        if let Some(listing) = self.inner.listing.take() {
            listing.abort();
        }
        self.inner.catalog.borrow_mut().close_all();
    }

    /// The thread's id.
    #[must_use]
    pub fn thread(&self) -> ThreadId {
        self.inner.thread.borrow().id.clone()
    }

    /// What the page says of itself to its tools.
    #[must_use]
    pub fn services(&self) -> &Services {
        &self.inner.page.services
    }

    /// What the host says of the session, from the next model call on.
    pub fn set_facts(&self, facts: Facts) {
        self.handle().facts(facts.clone());
        *self.inner.facts.borrow_mut() = facts;
    }

    /// How far a run may go, the one at work, too.
    pub fn set_limits(&self, limits: Limits) {
        self.handle().limits(limits);
        self.inner.limits.set(limits);
    }

    /// Who is signed in. What tools remember of them is read anew; a thread of somebody else is put away.
    pub fn set_user(&self, user: serde_json::Value) {
        let before = self.inner.page.services.user_id();
        *self.inner.page.services.user.borrow_mut() = user;
        self.inner.page.services.user_is_stated.set(true);
        let now = self.inner.page.services.user_id();
        if now != before {
            self.store.shelf.update(|shelf| *shelf += 1);
            self.handle().forget_grants();
            // What one user has chosen to send, and their key, are not the next one's.
            self.store.files.set(Vec::new());
            #[cfg(feature = "direct")]
            self.change_key();
        }
        self.change_user(&now);
        self.publish();
    }

    /// The rules of this page, once and for all: `false` where there are some already.
    #[must_use]
    pub fn set_policy(&self, policy: Policy) -> bool {
        if self.inner.policy.borrow().is_some() {
            return false;
        }
        *self.inner.policy.borrow_mut() = Some(policy);
        self.publish();
        true
    }

    /// Every tool there is now.
    #[must_use]
    pub fn registry(&self) -> Registry {
        self.inner.catalog.borrow().registry.clone()
    }

    fn handle(&self) -> Handle {
        self.inner.thread.borrow().handle.clone()
    }

    // What the thread at work must know, told whenever some of it changes.
    fn publish(&self) {
        let registry = Arc::new(self.registry());
        self.store.registry.set(Arc::clone(&registry));
        let handle = self.handle();
        handle.listing(self.inner.listing.borrow().is_some());
        if let Some(state) = crate::browser::shared_state::load(&self.inner.page.services.user_id()) {
            handle.state(state);
        }
        handle.use_model(self.store.model.now());
        handle.facts(self.inner.facts.borrow().clone());
        handle.limits(self.inner.limits.get());
        // The page's own rules go before the gateway's: the first that holds decides.
        let mut policy = self.inner.policy.borrow().clone().unwrap_or_default();
        policy.append(&self.inner.catalog.borrow().policy);
        handle.policy(policy);
        handle.tools(registry);
    }
}
