//! One thread in this page: whether it is ours to run or another page's to be followed, and the session while it is ours.
//! Knows nothing of the tools there are.
//!
//! ```text
//!   claim the lock ──granted──► own: open the journal, drive the session ──lost, given up──► follow
//!        └──────── held elsewhere ──► follow: show what the owner tells ──granted, taken──► own
//! ```

use std::cell::Cell;
use std::pin::pin;
use std::rc::Rc;

use futures::channel::mpsc::{UnboundedReceiver, UnboundedSender, unbounded};
use futures::future::{Either, pending, select};
use futures::{FutureExt, StreamExt, select_biased};

use crate::agent::{CHECKPOINT_LINES, Config, Input, Run, Transcript};
use crate::browser::tools::BrowserTools;
use crate::browser::{
    Artifacts, BrowserHost, Channel, Claim, Database, Gateway, Journal, Lock, Mirror, Network, OpenError, Opened,
    PageWord, Services, ThreadServices, Told, Watcher, random_seed, sleep,
};
use crate::protocol::{EndReason, Event, IdMint, ThreadId};
use crate::session::{Ended, Handle, Inputs, Kept, drive};
use crate::ui::app::Options;
use crate::ui::app::threads::Up;
use crate::ui::{Store, words};

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
    /// It can not be read, and why: another is to be put in its place.
    pub(super) unreadable: Rc<dyn Fn(String)>,
    /// It is another user's.
    pub(super) foreign: Rc<dyn Fn()>,
}

/// The page a thread lives in.
pub(super) struct Place<'a> {
    pub(super) options: &'a Options,
    pub(super) gateway: &'a Gateway,
    pub(super) tools: &'a Rc<BrowserTools>,
    pub(super) database: &'a Database,
    pub(super) shared: &'a Services,
    pub(super) watcher: &'a Watcher,
    pub(super) store: &'a Store,
    pub(super) hooks: Hooks,
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

/// Opens a thread.
pub(super) fn start(up: &Up, place: Place<'_>) -> Thread {
    let id = &up.id;
    let Place { options, gateway, tools, database, shared, watcher, store, hooks } = place;
    let (handle, inputs) = Handle::channel();
    let (orders, ordered) = unbounded();
    let (hear, heard) = unbounded();
    let (shown, mirror) = (Rc::new(Cell::new(true)), Mirror::default());
    let journal = Rc::new(Journal::new(database, id));
    let told = watcher_of(store, &shown, &mirror, &journal, watcher);
    let services = ThreadServices::new(shared.clone(), Rc::new(Artifacts::of(&journal)), told);
    let life = Life {
        id: id.clone(),
        fresh: up.fresh,
        by_force: up.by_force,
        options: options.clone(),
        gateway: gateway.clone(),
        tools: Rc::clone(tools),
        services: services.clone(),
        journal: Rc::clone(&journal),
        store: store.clone(),
        shown: Rc::clone(&shown),
        mirror,
        hear,
        heard,
        ordered,
        inputs,
        stopping: Some(handle.clone()),
        hooks,
    };
    leptos::task::spawn_local(life.live());
    Thread { id: id.clone(), handle, services, journal, shown, orders }
}

pub(super) fn fresh_id() -> ThreadId {
    ThreadId(IdMint::new(random_seed()).mint())
}

// Events go to the views while the thread is shown, to the pages that follow, and to whoever listens in this one.
fn watcher_of(
    store: &Store,
    shown: &Rc<Cell<bool>>,
    mirror: &Mirror,
    journal: &Rc<Journal>,
    watcher: &Watcher,
) -> Watcher {
    let (followed, visible, mirror) = (store.clone(), Rc::clone(shown), mirror.clone());
    let (journal, watcher) = (Rc::clone(journal), Rc::clone(watcher));
    Rc::new(move |event: &Event| {
        if visible.get() {
            followed.apply(event);
            if let Some(line) = journal.take_mark() {
                followed.mark(line);
            }
        }
        mirror.tell(event, journal.lines());
        watcher(event);
    })
}

struct Life {
    id: ThreadId,
    fresh: bool,
    by_force: bool,
    options: Options,
    gateway: Gateway,
    tools: Rc<BrowserTools>,
    services: ThreadServices,
    journal: Rc<Journal>,
    store: Store,
    shown: Rc<Cell<bool>>,
    mirror: Mirror,
    hear: UnboundedSender<PageWord>,
    heard: UnboundedReceiver<PageWord>,
    ordered: UnboundedReceiver<Order>,
    inputs: Inputs,
    // Let go of when the thread is closed: a session ends with its last handle.
    stopping: Option<Handle>,
    hooks: Hooks,
}

enum Next {
    /// It is ours; by force where another page may still write.
    Own { lock: Lock, by_force: bool },
    /// It is another page's; the lock was asked for.
    Follow(Option<Claim>),
    /// It is closed.
    Closed,
}

impl Life {
    async fn live(mut self) {
        let mut next = self.claim().await;
        loop {
            next = match next {
                Next::Own { lock, by_force } => self.own(lock, by_force).await,
                Next::Follow(claim) => self.follow(claim).await,
                Next::Closed => return,
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
            return Next::Own { lock: Lock::none(), by_force: true };
        };
        let granted = match select(pin!(claim.granted()), sleep(FIRST_CLAIM_MS)).await {
            Either::Left((granted, _)) => granted,
            Either::Right(_) => None,
        };
        match granted {
            Some(lock) => Next::Own { lock, by_force: false },
            None => Next::Follow(Some(claim)),
        }
    }

    async fn own(&mut self, mut lock: Lock, by_force: bool) -> Next {
        self.set_following(false);
        let Some(opened) = self.open(by_force).await else { return Next::Closed };
        if !self.is_ours() {
            (self.hooks.foreign)();
            return Next::Closed;
        }
        let run = Run::restore(self.config(), &opened.entries);
        self.show(run.transcript(), &opened, run.last_end().filter(|_| run.can_retry()));
        self.mirror.begin(self.channel(), self.journal.lines());
        self.mirror.announce();
        // A session hears of the tools before it hears of a message that has waited for it, and of that before a run
        // that was cut off is taken up: the message may be meant to replace it.
        let waiting = self.inputs.take_waiting();
        (self.hooks.owned)();
        self.stopping.iter().for_each(|handle| handle.online(Network::is_there()));
        self.stopping.iter().for_each(|handle| handle.say_again(waiting.clone()));
        (self.hooks.resume)();
        let (gateway, tools) = (self.gateway.clone(), Rc::clone(&self.tools));
        let host = BrowserHost::new(gateway, tools, Rc::clone(&self.journal), self.services.clone());
        let next = {
            let mut driving = pin!(drive(run, host, &mut self.inputs).fuse());
            let mut lost = pin!(lock.lost().fuse());
            loop {
                select_biased! {
                    ended = driving => break match ended {
                        Ended::Closed => Next::Closed,
                        Ended::Lost => Next::Follow(None),
                    },
                    () = lost => break Next::Follow(None),
                    order = self.ordered.next() => match order {
                        Some(Order::Leave) => break Next::Closed,
                        Some(Order::TakeOver | Order::Stop) => {}
                        None => self.stopping = None,
                    },
                    heard = self.heard.select_next_some() => match heard {
                        PageWord::Hello => self.mirror.tell_now(),
                        PageWord::Release => break Next::Follow(None),
                        PageWord::Stop => self.stopping.iter().for_each(Handle::stop),
                        PageWord::Now { .. } | PageWord::Event(_) | PageWord::Began => {}
                    },
                }
            }
        };
        self.mirror.end();
        // What was said is written before another page reads it; a database that hangs holds nobody up.
        let _ = select(pin!(self.journal.flush()), sleep(RELEASE_MS)).await;
        drop(lock);
        match next {
            Next::Follow(_) => Next::Follow(Claim::new(&self.lock_name(), false)),
            next => next,
        }
    }

    async fn follow(&mut self, mut claim: Option<Claim>) -> Next {
        self.set_following(true);
        let channel = self.channel();
        // What the user said before anybody knew whose thread it is was meant for here.
        let waiting = self.inputs.take_waiting();
        let speaks = waiting.iter().any(|input| matches!(input, Input::UserMessage(_) | Input::Retry));
        self.stopping.iter().for_each(|handle| handle.say_again(waiting.clone()));
        if speaks {
            tell(channel.as_ref(), &PageWord::Release);
            return self.take(claim).await;
        }
        self.catch_up(channel.as_ref()).await;
        loop {
            let granted = async {
                match &mut claim {
                    Some(claim) => claim.granted().await,
                    None => pending().await,
                }
            };
            let mut granted = pin!(granted.fuse());
            select_biased! {
                lock = granted => if let Some(lock) = lock { return Next::Own { lock, by_force: false } },
                order = self.ordered.next() => match order {
                    None | Some(Order::Leave) => return Next::Closed,
                    Some(Order::Stop) => tell(channel.as_ref(), &PageWord::Stop),
                    Some(Order::TakeOver) => break,
                },
                heard = self.heard.select_next_some() => match heard {
                    PageWord::Event(event) if self.shown.get() => self.store.apply(&event),
                    // Another page owns it now.
                    PageWord::Began => self.catch_up(channel.as_ref()).await,
                    _ => {}
                },
            }
        }
        tell(channel.as_ref(), &PageWord::Release);
        drop(channel);
        self.take(claim).await
    }

    // The owner is asked first; one that does not answer is frozen, and loses it.
    async fn take(&self, claim: Option<Claim>) -> Next {
        let Some(mut claim) = claim else { return Next::Own { lock: Lock::none(), by_force: true } };
        if let Either::Left((Some(lock), _)) = select(pin!(claim.granted()), sleep(RELEASE_MS)).await {
            return Next::Own { lock, by_force: false };
        }
        self.steal().await
    }

    async fn steal(&self) -> Next {
        let stolen = match Claim::new(&self.lock_name(), true) {
            Some(mut claim) => claim.granted().await,
            None => None,
        };
        Next::Own { lock: stolen.unwrap_or_else(Lock::none), by_force: true }
    }

    // Shows what the journal says up to where the owner is, and what it has told since.
    async fn catch_up(&mut self, channel: Option<&Channel>) {
        while self.heard.next().now_or_never().is_some() {}
        tell(channel, &PageWord::Hello);
        let heard = &mut self.heard;
        let now = async {
            loop {
                if let Some(PageWord::Now { lines, running, events }) = heard.next().await {
                    return (lines, running, events);
                }
            }
        };
        let now = match select(pin!(now), sleep(ANSWER_MS)).await {
            Either::Left((now, _)) => Some(now),
            Either::Right(_) => None,
        };
        let Some(mut opened) = self.read(now.as_ref().map(|(lines, ..)| *lines)).await else { return };
        if let Some((lines, ..)) = &now {
            opened.entries.truncate((lines - self.journal.first().min(*lines)) as usize);
        }
        self.show(&Transcript::of(&opened.entries), &opened, None);
        if let Some((_, running, events)) = now.filter(|_| self.shown.get()) {
            self.store.running.set(running);
            for event in &events {
                self.store.apply(event);
            }
        }
    }

    // The owner's last lines may still be on their way to the database.
    async fn read(&self, lines: Option<u32>) -> Option<Opened> {
        let mut attempts = 0;
        loop {
            let read = self.journal.read().await;
            attempts += 1;
            match read {
                Ok(opened) if attempts >= 10 => return Some(opened),
                Ok(opened) => {
                    let there = self.journal.first() + opened.entries.len() as u32;
                    if lines.is_none_or(|lines| there >= lines) {
                        return Some(opened);
                    }
                }
                Err(_) if attempts >= 10 => return None,
                Err(_) => {}
            }
            sleep(50).await;
        }
    }

    async fn open(&self, by_force: bool) -> Option<Opened> {
        let told = self.told();
        let mut attempts = 0;
        let why = loop {
            let opened = if by_force {
                self.journal.take_over(Rc::clone(&told)).await
            } else {
                self.journal.open(Rc::clone(&told)).await
            };
            attempts += 1;
            match opened {
                Ok(opened) => return Some(opened),
                Err(OpenError::Newer) => break words::NEWER.to_owned(),
                Err(OpenError::Failed(why)) if attempts >= ATTEMPTS => break why,
                Err(OpenError::Failed(_)) if self.fresh => break String::new(),
                Err(OpenError::Failed(_)) => sleep(500).await,
            }
        };
        if self.fresh {
            // There is nothing to be lost; the first line that can not be written says so.
            self.journal.begin(told);
            return Some(Opened::default());
        }
        (self.hooks.unreadable)(why);
        None
    }

    fn told(&self) -> Told {
        let watcher = Rc::clone(&self.services.watcher);
        Rc::new(move |kept| {
            watcher(&Event::Saving(match kept {
                Kept::Yes => None,
                Kept::No(why) => Some(why),
            }));
        })
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
            self.store.following.set(following);
        }
    }

    fn config(&self) -> Config {
        Config {
            thread: self.id.clone(),
            agent: self.options.agent.clone(),
            profile: self.options.profile.clone(),
            instructions: self.options.instructions.clone(),
            limits: self.options.limits,
            checkpoint_lines: CHECKPOINT_LINES,
            seed: random_seed(),
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
        self.store.load(transcript, ended);
        self.store.earlier.set((self.journal.first() > 0).then(|| self.journal.first()));
        if opened.damaged {
            self.store.notice.set(Some(words::DAMAGED.to_owned()));
        }
    }
}

fn tell(channel: Option<&Channel>, message: &PageWord) {
    if let Some(channel) = channel {
        channel.post(message);
    }
}
