//! The order in which a journal's lines are written, whatever a store does.
//!
//! Lines wait in a queue and go out together; whoever is about to do what can not be undone waits until the queue is
//! empty ([`Writer::flush`]). A store that fails keeps nobody waiting: the lines stay here, in order, and are tried again
//! from time to time, so that a journal never has a hole. Knows nothing of what keeps the lines.

use std::cell::RefCell;
use std::rc::Rc;

use futures::future::LocalBoxFuture;
use futures::lock::Mutex;

use crate::protocol::{Entry, Millis};

// How long to leave a store alone that has failed.
const FIRST_PAUSE_MS: Millis = 1000;
const LONGEST_PAUSE_MS: Millis = 30_000;

/// What keeps the lines of one thread's journal, by number.
pub trait Store {
    /// Keeps lines, all of them or none.
    fn append(&self, batch: Batch) -> LocalBoxFuture<'static, Result<(), StoreError>>;
}

/// Lines that are kept together.
#[derive(Clone, Debug)]
pub struct Batch {
    /// The number of the first.
    pub first: u32,
    /// The lines.
    pub entries: Rc<[Entry]>,
    /// Whether one of them allows an effect: it must outlive a power cut.
    pub strict: bool,
}

/// Why lines could not be kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoreError {
    /// Another line stands there: somebody else has the thread now.
    Taken,
    /// Not now, with words for the user.
    Failed(String),
}

impl StoreError {
    /// In words for the user.
    #[must_use]
    pub fn into_words(self) -> String {
        match self {
            Self::Taken => "another page is at it".to_owned(),
            Self::Failed(words) => words,
        }
    }
}

/// Whether the thread is still ours to write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Written {
    /// Everything is written.
    Yes,
    /// It can not be written for now; it waits in memory.
    InMemory,
    /// Somebody else has the thread.
    Lost,
}

/// Hears, whenever that changes, why lines can not be kept; `None` where they can again.
pub type Told = Rc<dyn Fn(Option<String>)>;

/// The lines of one thread on their way to a store.
pub struct Writer<S> {
    store: S,
    state: RefCell<State>,
    // One batch at a time: their order is the journal's.
    writing: Mutex<()>,
    told: Told,
}

struct State {
    next: u32,
    queue: Vec<Entry>,
    lost: bool,
    pause: Option<Pause>,
}

struct Pause {
    until: Millis,
    length: Millis,
}

impl<S: Store> Writer<S> {
    /// A writer behind line `next` of a store.
    #[must_use]
    pub fn new(store: S, next: u32, told: Told) -> Self {
        let state = State { next, queue: Vec::new(), lost: false, pause: None };
        Self { store, state: RefCell::new(state), writing: Mutex::new(()), told }
    }

    /// Adds a line.
    pub fn push(&self, entry: Entry) {
        self.state.borrow_mut().queue.push(entry);
    }

    /// How many lines there are: those that are kept, and those that wait.
    #[must_use]
    pub fn lines(&self) -> u32 {
        let state = self.state.borrow();
        state.next + state.queue.len() as u32
    }

    /// Whether somebody else's line stands where ours was to go.
    #[must_use]
    pub fn is_taken(&self) -> bool {
        self.state.borrow().lost
    }

    /// The lines that are not written yet, and the number of the first.
    #[must_use]
    pub fn waiting(&self) -> (u32, Vec<Entry>) {
        let state = self.state.borrow();
        (state.next, state.queue.clone())
    }

    /// When a store that failed should be tried again; `None` where there is nothing to try.
    #[must_use]
    pub fn retry_at(&self) -> Option<Millis> {
        self.state.borrow().pause.as_ref().map(|pause| pause.until)
    }

    /// Writes every line there is. Where the store fails, or failed a short while ago, they stay in memory.
    pub async fn flush(&self, now: Millis) -> Written {
        let _alone = self.writing.lock().await;
        loop {
            let batch = {
                let state = self.state.borrow();
                if state.lost {
                    return Written::Lost;
                }
                if state.queue.is_empty() {
                    return Written::Yes;
                }
                if state.pause.as_ref().is_some_and(|pause| now < pause.until) {
                    return Written::InMemory;
                }
                let strict = state.queue.iter().any(Entry::allows_effect);
                Batch { first: state.next, entries: state.queue.as_slice().into(), strict }
            };
            let count = batch.entries.len();
            match self.store.append(batch).await {
                Ok(()) => self.kept(count),
                Err(StoreError::Taken) => {
                    self.state.borrow_mut().lost = true;
                    return Written::Lost;
                }
                Err(StoreError::Failed(why)) => {
                    self.failed(now, why);
                    return Written::InMemory;
                }
            }
        }
    }

    fn kept(&self, count: usize) {
        let again = {
            let mut state = self.state.borrow_mut();
            state.queue.drain(..count);
            state.next += count as u32;
            state.pause.take().is_some()
        };
        if again {
            (self.told)(None);
        }
    }

    fn failed(&self, now: Millis, why: String) {
        let first = {
            let mut state = self.state.borrow_mut();
            let length = state.pause.as_ref().map_or(FIRST_PAUSE_MS, |pause| (pause.length * 2).min(LONGEST_PAUSE_MS));
            state.pause.replace(Pause { until: now.saturating_add(length), length }).is_none()
        };
        if first {
            (self.told)(Some(why));
        }
    }
}
