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
use futures::future::{Either, LocalBoxFuture, pending, select};
use futures::{FutureExt, StreamExt, select_biased};

use crate::agent::{CHECKPOINT_LINES, Config, Input, Run, Transcript};
use crate::browser::tools::BrowserTools;
use crate::browser::{
    Artifacts, BrowserHost, Channel, Claim, Database, Gateway, Journal, Lock, Mirror, Network, OpenError, Opened,
    PageWord, Services, ThreadServices, Told, Watcher, random_seed, set_had_thread, sleep,
};
use crate::protocol::{EndReason, Entry, Event, IdMint, ThreadId};
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
    /// It is not to be had here, and why, where the user is to know: another is to be put in its place, which hears what
    /// was said to this one.
    pub(super) gone: Rc<dyn Fn(Option<String>, Vec<Input>)>,
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
    /// There is no such thread any more.
    Deleted,
}

/// What a follower meets.
enum Turn {
    Granted(Option<Lock>),
    Ordered(Order),
    Renew,
    Heard(PageWord),
}

impl Life {
    async fn live(mut self) {
        let mut next = self.claim().await;
        loop {
            next = match next {
                Next::Own { lock, by_force } => self.own(lock, by_force).await,
                Next::Follow(claim) => self.follow(claim).await,
                Next::Closed | Next::Deleted => return,
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
        if self.shown.get() {
            // What another page could not write is its own affair no more.
            self.store.saving.set(None);
        }
        let Some(mut opened) = self.open(by_force).await else { return Next::Closed };
        if !self.is_ours() {
            self.give_way(None);
            return Next::Closed;
        }
        self.journal.save_row().await;
        self.take_handed_over(&mut opened);
        set_had_thread(&self.id, true);
        let run = Run::restore(self.config(), &opened.entries);
        self.show(run.transcript(), &opened, run.last_end().filter(|_| run.can_retry()));
        self.mirror.begin(self.channel(), self.journal.lines());
        self.mirror.announce();
        // A session hears of the tools before it hears of a message that has waited for it, and of that before a run
        // that was cut off is taken up: the message may be meant to replace it.
        let waiting = self.inputs.take_waiting();
        if self.shown.get() {
            (self.hooks.owned)();
        }
        self.stopping.iter().for_each(|handle| handle.online(Network::is_there()));
        self.stopping.iter().for_each(|handle| handle.say_again(waiting.clone()));
        if self.shown.get() {
            (self.hooks.resume)();
        }
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
                        // Where there are no locks the one that comes last has it.
                        PageWord::Release | PageWord::Began => break Next::Follow(None),
                        PageWord::Stop => self.stopping.iter().for_each(Handle::stop),
                        PageWord::Deleted => {
                            self.journal.forget();
                            break Next::Deleted;
                        }
                        PageWord::Now { .. } | PageWord::Event(_) | PageWord::Lines { .. } => {}
                    },
                }
            }
        };
        // What was said is written before another page reads it; a database that hangs holds nobody up.
        let _ = select(pin!(self.journal.flush()), sleep(RELEASE_MS)).await;
        let (first, unwritten) = self.journal.waiting();
        match next {
            Next::Follow(_) if !unwritten.is_empty() => {
                // What the user said and no journal has is said once more, where the thread is now.
                self.say_again_unwritten(&unwritten);
                self.mirror.hand_over(first, unwritten);
            }
            _ => {}
        }
        self.mirror.end();
        drop(lock);
        match next {
            Next::Follow(_) => {
                set_had_thread(&self.id, false);
                Next::Follow(Claim::new(&self.lock_name(), false))
            }
            Next::Deleted => {
                self.give_way(Some(words::DELETED.to_owned()));
                Next::Closed
            }
            next => next,
        }
    }

    async fn follow(&mut self, mut claim: Option<Claim>) -> Next {
        // Nobody looks at it any more.
        if !self.shown.get() {
            return Next::Closed;
        }
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
        if !self.catch_up(channel.as_ref()).await {
            self.give_way(None);
            return Next::Closed;
        }
        // Set while another follower takes the thread: it must not be given to this one.
        let mut stands_back: LocalBoxFuture<'static, ()> = Box::pin(pending());
        loop {
            let turn = {
                let granted = async {
                    match &mut claim {
                        Some(claim) => claim.granted().await,
                        None => pending().await,
                    }
                };
                let mut granted = pin!(granted.fuse());
                let mut renewed = pin!((&mut stands_back).fuse());
                select_biased! {
                    lock = granted => Turn::Granted(lock),
                    order = self.ordered.next() => Turn::Ordered(order.unwrap_or(Order::Leave)),
                    () = renewed => Turn::Renew,
                    heard = self.heard.select_next_some() => Turn::Heard(heard),
                }
            };
            match turn {
                Turn::Granted(Some(lock)) => return Next::Own { lock, by_force: false },
                Turn::Ordered(Order::Leave) => return Next::Closed,
                Turn::Ordered(Order::Stop) => tell(channel.as_ref(), &PageWord::Stop),
                Turn::Ordered(Order::TakeOver) => break,
                Turn::Granted(None) | Turn::Renew => {
                    stands_back = Box::pin(pending());
                    claim = Claim::new(&self.lock_name(), false);
                }
                Turn::Heard(PageWord::Event(event)) if self.shown.get() => self.store.apply(&event),
                // Another page owns it now.
                Turn::Heard(PageWord::Began) => {
                    if !self.catch_up(channel.as_ref()).await {
                        self.give_way(None);
                        return Next::Closed;
                    }
                }
                Turn::Heard(PageWord::Release) => {
                    claim = None;
                    stands_back = sleep(2 * RELEASE_MS);
                }
                Turn::Heard(PageWord::Deleted) => {
                    self.give_way(Some(words::DELETED.to_owned()));
                    return Next::Closed;
                }
                Turn::Heard(_) => {}
            }
        }
        tell(channel.as_ref(), &PageWord::Release);
        self.take(claim).await
    }

    // The owner is asked first; one that does not answer is frozen, and loses it.
    async fn take(&self, claim: Option<Claim>) -> Next {
        if let Some(mut claim) = claim.or_else(|| Claim::new(&self.lock_name(), false))
            && let Either::Left((Some(lock), _)) = select(pin!(claim.granted()), sleep(RELEASE_MS)).await
        {
            return Next::Own { lock, by_force: false };
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

    fn say_again_unwritten(&self, unwritten: &[Entry]) {
        let said = unwritten.iter().rev().find_map(|entry| match entry {
            Entry::RunStart { message, .. } => message.as_ref().map(|(_, text)| text.clone()),
            _ => None,
        });
        // Handed over with the other lines where they could not be kept; else somebody else has the line's place.
        let taken = self.journal.is_taken();
        if let (Some(text), true, Some(handle)) = (said, taken, &self.stopping) {
            handle.say_again(vec![Input::UserMessage(text)]);
        }
    }

    // What the page that had it could not write down is written here.
    fn take_handed_over(&mut self, opened: &mut Opened) {
        while let Some(Some(word)) = self.heard.next().now_or_never() {
            if let PageWord::Lines { first, entries } = word
                && first == self.journal.lines()
            {
                entries.iter().for_each(|entry| self.journal.append(entry));
                opened.entries.extend(entries);
            }
        }
    }

    async fn steal(&self) -> Next {
        let stolen = match Claim::new(&self.lock_name(), true) {
            Some(mut claim) => claim.granted().await,
            None => None,
        };
        Next::Own { lock: stolen.unwrap_or_else(Lock::none), by_force: true }
    }

    // Shows what the journal says up to where the owner is, and what it has told since; `false` where it is another user's.
    async fn catch_up(&mut self, channel: Option<&Channel>) -> bool {
        while self.heard.next().now_or_never().is_some() {}
        tell(channel, &PageWord::Hello);
        let heard = &mut self.heard;
        let now = async {
            loop {
                match heard.next().await {
                    Some(PageWord::Now { lines, running, events }) => return (lines, running, events),
                    // It could not hear the question before.
                    Some(PageWord::Began) => tell(channel, &PageWord::Hello),
                    _ => {}
                }
            }
        };
        let now = match select(pin!(now), sleep(ANSWER_MS)).await {
            Either::Left((now, _)) => Some(now),
            Either::Right(_) => None,
        };
        let Some(mut opened) = self.read(now.as_ref().map(|(lines, ..)| *lines)).await else {
            if self.shown.get() {
                self.store.opening.set(false);
                self.store.notice.set(Some(words::UNREAD.to_owned()));
            }
            return true;
        };
        if !self.is_ours() {
            return false;
        }
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
        true
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

    async fn open(&mut self, by_force: bool) -> Option<Opened> {
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
        self.give_way(Some(words::unreadable(&why)));
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
