//! One thread: its machine, its journal, its session. Knows nothing of the tools there are.

use std::cell::Cell;
use std::rc::Rc;

use crate::agent::{Config, Run};
use crate::browser::tools::BrowserTools;
use crate::browser::{
    Artifacts, BrowserHost, Gateway, Journal, Network, Services, ThreadServices, Watcher, random_seed,
};
use crate::protocol::{Event, IdMint, ThreadId};
use crate::session::{Handle, session};
use crate::ui::Store;
use crate::ui::app::Options;

pub(super) struct Thread {
    pub(super) id: ThreadId,
    pub(super) handle: Handle,
    pub(super) services: ThreadServices,
    journal: Rc<Journal>,
    // Whether it is the one on screen. What is at work in another one still comes to its end.
    shown: Rc<Cell<bool>>,
}

impl Thread {
    /// It is on screen no more; another session takes its place.
    pub(super) fn hide(&self) {
        self.shown.set(false);
    }

    /// Ends what is at work in it and forgets it.
    pub(super) fn retire(&self) {
        self.shown.set(false);
        self.handle.stop();
        self.journal.retire();
        self.services.artifacts.retire();
    }
}

pub(super) fn start(
    id: &ThreadId,
    options: &Options,
    gateway: &Gateway,
    tools: &Rc<BrowserTools>,
    shared: &Services,
    watcher: &Watcher,
    store: &Store,
) -> Thread {
    let (journal, opened) = Journal::open(id);
    Journal::set_current(&options.name, id);
    let config = Config {
        thread: id.clone(),
        agent: options.agent.clone(),
        profile: options.profile.clone(),
        instructions: options.instructions.clone(),
        limits: options.limits,
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
    let services = ThreadServices::new(shared.clone(), Rc::new(Artifacts::open(id)), told);
    let host = BrowserHost::new(gateway.clone(), Rc::clone(tools), Rc::clone(&journal), services.clone());
    let (handle, driving) = session(run, host);
    handle.online(Network::is_there());
    leptos::task::spawn_local(driving);
    Thread { id: id.clone(), handle, services, journal, shown }
}

pub(super) fn fresh_id() -> ThreadId {
    ThreadId(IdMint::new(random_seed()).mint())
}
