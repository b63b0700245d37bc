//! What the page gives its tools beside their arguments. Knows nothing of any tool.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use futures::channel::oneshot;
use futures::future::LocalBoxFuture;
use futures::stream::LocalBoxStream;
use serde_json::Value;

use crate::browser::{Artifacts, Watcher, shared_state};
use crate::protocol::{Answer, Event, Lifetime, ModelEvent, ModelRequest, Names, ToolCallId};
use crate::session::Callbacks;

/// Searches what the page remembers of other threads: the words, how many at most → what was found, as JSON.
pub type MemorySearch = Rc<dyn Fn(String, u32) -> LocalBoxFuture<'static, Result<Value, String>>>;

/// Asks a model in the gateway's place.
pub type Answers = Rc<dyn Fn(&ModelRequest) -> LocalBoxStream<'static, ModelEvent>>;

/// Takes the answer of a call from whoever has it.
pub type Complete = Rc<dyn Fn(ToolCallId, Answer)>;

/// What is done where the gateway knows a tool otherwise than the page does.
pub type Drifted = Rc<dyn Fn()>;

/// What the host says of itself to every thread of an element. Copies are the same.
#[derive(Clone, Default)]
pub struct Services {
    /// Who is signed in, as the page says: never from a tool's arguments. Null for nobody.
    pub user: Rc<RefCell<Value>>,
    /// Whether the page has said who is signed in, or that nobody is.
    pub user_is_stated: Rc<Cell<bool>>,
    /// Searches memory, where the page has one.
    pub memory: Rc<RefCell<Option<MemorySearch>>>,
    /// What the integrator wants to hear, and may answer.
    pub callbacks: Callbacks,
    /// Who is asked in the gateway's place, where the page has said.
    pub answers: Rc<RefCell<Option<Answers>>>,
    /// Called where the gateway knows a tool otherwise than the page does.
    pub drifted: Rc<RefCell<Option<Drifted>>>,
}

/// What one thread gives its tools.
#[derive(Clone)]
pub struct ThreadServices {
    /// The element's.
    pub shared: Services,
    /// The thread's artifacts.
    pub artifacts: Rc<Artifacts>,
    /// Who is told of progress and words for the log.
    pub watcher: Watcher,
    /// Takes the end of a job from whoever has it.
    pub complete: Complete,
    /// The calls that are running now.
    pub(super) running: Rc<RefCell<Names>>,
    jobs: Rc<RefCell<Jobs>>,
}

// Ends that came before anybody waited for them are kept, for so many calls.
const MAX_EARLY: usize = 64;

#[derive(Default)]
struct Jobs {
    waiting: Names<oneshot::Sender<Answer>>,
    early: Names<Answer>,
}

impl Services {
    /// The id of who is signed in, empty for nobody; `None` where the page has not said.
    #[must_use]
    pub fn stated_user(&self) -> Option<String> {
        self.user_is_stated.get().then(|| self.user_id())
    }

    /// The id of who is signed in: a text, or the user's `id`. Empty for nobody.
    #[must_use]
    pub fn user_id(&self) -> String {
        let user = self.user.borrow();
        let id = user.as_str().or_else(|| user.get("id").and_then(Value::as_str));
        id.unwrap_or_default().to_owned()
    }
}

impl ThreadServices {
    /// Those of a thread.
    #[must_use]
    pub fn new(shared: Services, artifacts: Rc<Artifacts>, watcher: Watcher) -> Self {
        let jobs: Rc<RefCell<Jobs>> = Rc::default();
        let told = Rc::clone(&jobs);
        let complete: Complete = Rc::new(move |call: ToolCallId, answer| {
            let mut jobs = told.borrow_mut();
            match jobs.waiting.remove(call.as_str()) {
                Some(waiting) => drop(waiting.send(answer)),
                // A job is waited for once its step is over, and after a reload once its tool is known.
                None if jobs.early.len() < MAX_EARLY => drop(jobs.early.insert(call.0, answer)),
                None => {}
            }
        });
        Self { shared, artifacts, watcher, complete, running: Rc::default(), jobs }
    }

    /// Whether a call other than this one is running.
    pub(super) fn is_busy_beside(&self, call: &ToolCallId) -> bool {
        let running = self.running.borrow();
        running.len() > usize::from(running.contains(call.as_str()))
    }

    /// Waits for the end of a job of the page; `None` where it was stopped.
    pub(super) async fn end_of_job(&self, call: &ToolCallId) -> Option<Answer> {
        let (told, end) = oneshot::channel();
        {
            let mut jobs = self.jobs.borrow_mut();
            if let Some(answer) = jobs.early.remove(call.as_str()) {
                return Some(answer);
            }
            jobs.waiting.insert(call.0.clone(), told);
        }
        end.await.ok()
    }

    /// Waits no longer for a job of the page.
    pub(super) fn stop_job(&self, call: &ToolCallId) {
        let mut jobs = self.jobs.borrow_mut();
        jobs.waiting.remove(call.as_str());
        jobs.early.remove(call.as_str());
    }

    /// An answer as it may be taken over: what it remembers of a user who has left meanwhile is kept for them, and goes
    /// no further.
    pub(super) fn of_user(&self, user: &str, mut answer: Answer) -> Answer {
        if self.shared.user_id() != user {
            let mut theirs = answer.changes.clone();
            theirs.retain(|key| Lifetime::of(key) == Lifetime::User);
            shared_state::save(user, &theirs);
            answer.changes.retain(|key| Lifetime::of(key) != Lifetime::User);
        }
        answer
    }

    /// Says how far a call is.
    pub fn progress(&self, call: &ToolCallId, fraction: Option<f64>, text: String) {
        let fraction = fraction.map(|fraction| fraction.clamp(0.0, 1.0));
        (self.watcher)(&Event::Progress { call: call.clone(), fraction, text });
    }
}
