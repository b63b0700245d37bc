//! One thread in this page: whether it is ours to run or another page's to be followed, and the session while it is ours.
//! Knows nothing of the tools there are.
//!
//! ```text
//!   claim the lock ──granted──► own: open the journal, drive the session ──lost, given up──► follow
//!        └──────── held elsewhere ──► follow: show what the owner tells ──granted, taken──► own
//! ```
//!
//! | file | is |
//! |---|---|
//! | `own` | the thread while it is ours |
//! | `follow` | the thread while it is another page's |

mod follow;
mod own;

use std::cell::Cell;
use std::pin::pin;
use std::rc::Rc;

use futures::channel::mpsc::{UnboundedReceiver, UnboundedSender, unbounded};
use futures::future::{Either, select};

use crate::agent::{Input, Transcript};
use crate::browser::{
    Artifacts, Channel, Claim, Journal, Lock, Mirror, Opened, PageWord, ThreadServices, Watcher, set_current_thread,
    set_left_behind, sleep,
};
use crate::protocol::{EndReason, Entry, Event, ThreadId};
use crate::session::{Handle, Inputs};
use crate::ui::app::Page;
use crate::ui::app::threads::Up;
use crate::ui::words;

// A page that is being left frees its threads a moment after the next one asks for them.
const FIRST_CLAIM_MS: u64 = 250;
// How long an owner may take to say where it is, and to give a thread up.
const ANSWER_MS: u64 = 600;
const RELEASE_MS: u64 = 1000;
// A database that can not be read is asked so often, a moment apart.
const ATTEMPTS: u32 = 3;

pub(super) struct Thread {
    pub(super) id: ThreadId,
    pub(super) handle: Handle,
    pub(super) services: ThreadServices,
    pub(super) journal: Rc<Journal>,
    // Whether it is the one on screen.
    shown: Rc<Cell<bool>>,
    orders: UnboundedSender<Order>,
}

/// What the user asks of a thread beside what is said to its session.
enum Order {
    TakeOver,
    Stop,
    Leave,
}

/// What the page does when a thread turns out to be its own, or not to be had.
#[derive(Clone)]
pub(super) struct Hooks {
    /// It is ours: everything a session must know is to be said to it.
    pub(super) owned: Rc<dyn Fn()>,
    /// And a run that was cut off can be taken up.
    pub(super) resume: Rc<dyn Fn()>,
    /// It is not to be had here, and why, where the user is to know: another is to be put in its place, which hears what
    /// was said to this one.
    pub(super) gone: Rc<dyn Fn(Option<String>, Vec<Input>)>,
}

impl Thread {
    /// It is on screen no more; what is at work in it is let go of, and goes on when it is opened again.
    pub(super) fn leave(&self) {
        self.shown.set(false);
        self.order(Order::Leave);
    }

    /// Ends what is at work in it; another is put in its place.
    pub(super) fn end(&self) {
        self.shown.set(false);
        self.handle.stop();
    }

    /// Makes it ours, whoever has it.
    pub(super) fn take_over(&self) {
        self.order(Order::TakeOver);
    }

    /// Has the page that runs it stop what is at work.
    pub(super) fn stop_elsewhere(&self) {
        self.order(Order::Stop);
    }

    fn order(&self, order: Order) {
        // Nobody hears it once the thread is closed.
        let _ = self.orders.unbounded_send(order);
    }
}

/// Opens a thread in a page.
pub(super) fn start(up: &Up, page: &Rc<Page>, hooks: Hooks) -> Thread {
    let id = &up.id;
    let (handle, inputs) = Handle::channel();
    let (orders, ordered) = unbounded();
    let (hear, heard) = unbounded();
    let (shown, mirror) = (Rc::new(Cell::new(true)), Mirror::default());
    let journal = Rc::new(Journal::new(&page.database, id));
    let told = watcher_of(id, page, &shown, &mirror, &journal);
    let services = ThreadServices::new(page.services.clone(), Rc::new(Artifacts::of(&journal)), told);
    let life = Life {
        id: id.clone(),
        fresh: up.fresh,
        by_force: up.by_force,
        page: Rc::clone(page),
        services: services.clone(),
        journal: Rc::clone(&journal),
        shown: Rc::clone(&shown),
        mirror,
        hear,
        heard,
        ordered,
        inputs,
        handed: Vec::new(),
        stopping: Some(handle.clone()),
        hooks,
    };
    leptos::task::spawn_local(life.live());
    Thread { id: id.clone(), handle, services, journal, shown, orders }
}

// Events go to the views while the thread is shown, to the pages that follow, and to whoever listens in this one.
fn watcher_of(
    id: &ThreadId,
    page: &Rc<Page>,
    shown: &Rc<Cell<bool>>,
    mirror: &Mirror,
    journal: &Rc<Journal>,
) -> Watcher {
    let (page, shown, mirror, journal) = (Rc::clone(page), Rc::clone(shown), mirror.clone(), Rc::clone(journal));
    let id = id.clone();
    Rc::new(move |event: &Event| {
        if shown.get() {
            // Also of a thread that took the place of one that was not to be had.
            if matches!(event, Event::RunStart { .. }) {
                set_current_thread(&page.options.name, &id);
            }
            page.store.apply(event);
            if let Some(line) = journal.take_mark() {
                page.store.mark(line);
            }
        }
        mirror.tell(event, journal.lines());
        (page.watcher)(event);
    })
}

/// A thread's life in this page.
struct Life {
    id: ThreadId,
    fresh: bool,
    by_force: bool,
    page: Rc<Page>,
    services: ThreadServices,
    journal: Rc<Journal>,
    shown: Rc<Cell<bool>>,
    mirror: Mirror,
    hear: UnboundedSender<PageWord>,
    heard: UnboundedReceiver<PageWord>,
    ordered: UnboundedReceiver<Order>,
    inputs: Inputs,
    // Lines that whoever had it could not write down.
    handed: Vec<PageWord>,
    // Let go of when the thread is closed: a session ends with its last handle.
    stopping: Option<Handle>,
    hooks: Hooks,
}

/// What becomes of it next.
enum Next {
    /// It is ours; by force where another page may still write.
    Own { lock: Lock, by_force: bool },
    /// It is another page's; the lock was asked for.
    Follow(Option<Claim>),
    /// It is closed.
    Closed,
    /// There is no such thread any more.
    Deleted,
}

impl Next {
    // Where a lock keeps nobody out, another page may still write.
    fn with(lock: Lock) -> Self {
        let by_force = lock.is_none();
        Self::Own { lock, by_force }
    }
}

impl Life {
    async fn live(mut self) {
        let mut next = self.claim().await;
        loop {
            next = match next {
                Next::Own { lock, by_force } => self.own(lock, by_force).await,
                Next::Follow(claim) => self.follow(claim).await,
                Next::Closed => return,
                Next::Deleted => {
                    set_left_behind(&self.id, None);
                    return self.give_way(Some(words::DELETED.to_owned()));
                }
            };
        }
    }

    fn lock_name(&self) -> String {
        format!("pagehand:{}", self.id)
    }

    async fn claim(&self) -> Next {
        if self.by_force {
            return self.steal().await;
        }
        let Some(mut claim) = Claim::new(&self.lock_name(), false) else {
            return Next::with(Lock::none());
        };
        let granted = match select(pin!(claim.granted()), sleep(FIRST_CLAIM_MS)).await {
            Either::Left((lock, _)) => Some(lock),
            Either::Right(_) => None,
        };
        match granted {
            Some(lock) => Next::with(lock),
            None if claim.is_answered(ANSWER_MS).await => Next::Follow(Some(claim)),
            None => Next::with(Lock::none()),
        }
    }

    // The owner is asked first; one that does not answer is frozen, and loses it.
    async fn take(&self, claim: Option<Claim>) -> Next {
        if let Some(mut claim) = claim.or_else(|| Claim::new(&self.lock_name(), false))
            && let Either::Left((lock, _)) = select(pin!(claim.granted()), sleep(RELEASE_MS)).await
        {
            return Next::with(lock);
        }
        // The user may have gone to another thread meanwhile.
        if self.shown.get() { self.steal().await } else { Next::Closed }
    }

    // The thread is not to be had here; what was said to it is said to the one that takes its place.
    fn give_way(&mut self, why: Option<String>) {
        let waiting = self.inputs.take_waiting();
        if self.shown.get() {
            (self.hooks.gone)(why, waiting);
        }
    }

    async fn steal(&self) -> Next {
        let stolen = match Claim::new(&self.lock_name(), true) {
            Some(mut claim) => match select(pin!(claim.granted()), sleep(RELEASE_MS)).await {
                Either::Left((lock, _)) => lock,
                Either::Right(_) => Lock::none(),
            },
            None => Lock::none(),
        };
        Next::Own { lock: stolen, by_force: true }
    }

    // A thread that nobody has signed in for is taken over by whoever does. A page that says nothing of its users has one.
    fn is_ours(&self) -> bool {
        let Some(user) = self.services.shared.stated_user() else { return true };
        let row = self.journal.row();
        let mut row = row.borrow_mut();
        if row.user.is_empty() {
            row.user.clone_from(&user);
        }
        row.user == user
    }

    // Of the thread on screen, and no other.
    fn set_following(&self, following: bool) {
        if self.shown.get() {
            self.page.store.following.set(following);
        }
    }

    fn channel(&self) -> Option<Channel> {
        let hear = self.hear.clone();
        Channel::open(&self.id, move |heard| drop(hear.unbounded_send(heard)))
    }

    fn show(&self, transcript: &Transcript, opened: &Opened, ended: Option<&EndReason>) {
        if !self.shown.get() {
            return;
        }
        self.page.store.load(transcript, ended);
        self.page.store.usage.set(Entry::used_up(&opened.entries));
        self.page.store.earlier.set((self.journal.first() > 0).then(|| self.journal.first()));
        if opened.damaged {
            self.page.store.notice.set(Some(words::DAMAGED.to_owned()));
        }
    }
}

fn tell(channel: Option<&Channel>, message: &PageWord) {
    if let Some(channel) = channel {
        channel.post(message);
    }
}
