//! The threads of an element: which one is up, the others, and what the page's life does to them. Knows nothing of tools.

use std::rc::{Rc, Weak};

use send_wrapper::SendWrapper;
use serde_json::Value;

use crate::agent::Transcript;
use crate::browser::tools::BrowserTools;
use crate::browser::{
    Channel, Database, Gateway, ImportError, Life, Network, PageLife, PageWord, Services, Shelf, ThreadInfo, Watcher,
    fresh_thread, set_current_thread,
};
use crate::protocol::ThreadId;
use crate::ui::Store;
use crate::ui::app::thread::{Hooks, Thread, start};
use crate::ui::app::{App, Inner, Options};

/// A thread to be put up.
pub(super) struct Up {
    pub(super) id: ThreadId,
    /// Whether nobody has begun it.
    pub(super) fresh: bool,
    /// Whether the tab opens it again after a reload.
    pub(super) remembered: bool,
    /// Whether it is taken from whoever has it: a copy of the module that has died hears no question.
    pub(super) by_force: bool,
}

impl Up {
    pub(super) fn fresh() -> Self {
        Self { id: fresh_thread(), fresh: true, remembered: true, by_force: false }
    }

    pub(super) fn known(id: ThreadId) -> Self {
        Self { id, fresh: false, remembered: true, by_force: false }
    }
}

/// The page a thread lives in.
pub(super) struct Parts<'a> {
    pub(super) options: &'a Options,
    pub(super) gateway: &'a Gateway,
    pub(super) tools: &'a Rc<BrowserTools>,
    pub(super) database: &'a Database,
    pub(super) services: &'a Services,
    pub(super) watcher: &'a Watcher,
    pub(super) store: &'a Store,
    pub(super) app: &'a Weak<Inner>,
}

impl Parts<'_> {
    pub(super) fn start(&self, up: &Up) -> Thread {
        if up.remembered {
            set_current_thread(&self.options.name, &up.id);
        }
        self.store.opening.set(!up.fresh);
        self.store.following.set(false);
        self.store.saving.set(None);
        self.store.notice.set(None);
        start(up, self, hooks(self.app, self.store))
    }
}

fn hooks(app: &Weak<Inner>, store: &Store) -> Hooks {
    let [owned, resuming, replaced] = [(); 3].map(|()| (Weak::clone(app), store.clone()));
    Hooks {
        owned: Rc::new(move || App::with(&owned.0, &owned.1, App::publish)),
        resume: Rc::new(move || App::with(&resuming.0, &resuming.1, App::resume)),
        gone: Rc::new(move |why, waiting| {
            App::with(&replaced.0, &replaced.1, |app| {
                // The tab keeps one that can not be read in mind: it may be there again after a reload.
                app.put_up(&Up { remembered: why.is_none(), ..Up::fresh() });
                app.store.notice.set(why);
                app.handle().say_again(waiting);
            });
        }),
    }
}

impl App {
    // For who hears of something: an app that is gone does nothing about it.
    fn with(inner: &Weak<Inner>, store: &Store, act: impl FnOnce(&Self)) {
        if let Some(inner) = inner.upgrade() {
            act(&Self { store: store.clone(), inner: SendWrapper::new(inner) });
        }
    }

    /// Ends what is at work and begins an empty thread. The old one is kept.
    pub fn new_thread(&self) {
        self.open_fresh();
        let (shelf, user) = (Shelf::new(&self.inner.database), self.inner.services.user_id());
        leptos::task::spawn_local(async move { shelf.prune(&user).await });
    }

    /// Opens another thread, in place of the one that is up; what is at work in that one ends.
    pub fn open_thread(&self, id: ThreadId) {
        if id == self.thread() {
            return;
        }
        self.inner.thread.borrow().end();
        self.put_up(&Up::known(id));
    }

    /// The threads of whoever is signed in, the latest first.
    pub async fn threads(&self) -> Vec<ThreadInfo> {
        Shelf::new(&self.inner.database).list(&self.inner.services.user_id()).await
    }

    /// Forgets a thread for good, in every tab; the one that is up makes room for an empty one first.
    ///
    /// # Errors
    /// Why it could not be forgotten, for the user.
    pub async fn delete_thread(&self, id: ThreadId) -> Result<(), String> {
        let elsewhere = Channel::open(&id, |_| ());
        let deleted = if id == self.thread() {
            let journal = Rc::clone(&self.inner.thread.borrow().journal);
            self.open_fresh();
            journal.retire().await
        } else {
            Shelf::new(&self.inner.database).delete(&id).await
        };
        if let (Ok(()), Some(elsewhere)) = (&deleted, elsewhere) {
            elsewhere.post(&PageWord::Deleted);
        }
        deleted
    }

    /// The thread that is up as a file; `None` where it can not be read.
    pub async fn export(&self) -> Option<Value> {
        let journal = Rc::clone(&self.inner.thread.borrow().journal);
        journal.flush().await;
        Shelf::new(&self.inner.database).export(&self.thread(), journal.waiting()).await
    }

    /// Keeps the thread of a file and opens it.
    ///
    /// # Errors
    /// What is wrong with the file, and where.
    pub async fn import(&self, file: &Value) -> Result<ThreadId, ImportError> {
        let id = Shelf::new(&self.inner.database).import(file, &self.inner.services.user_id()).await?;
        self.open_thread(id.clone());
        Ok(id)
    }

    /// Has this page run the thread, whichever runs it now.
    pub fn take_over(&self) {
        self.inner.thread.borrow().take_over();
    }

    /// Shows what stands before the first thing that is shown.
    pub async fn show_earlier(&self) {
        let Some(from) = self.store.earlier.now() else { return };
        let (id, journal) = (self.thread(), Rc::clone(&self.inner.thread.borrow().journal));
        // While it is read nobody asks for it again.
        self.store.earlier.set(None);
        let page = journal.page_before(from).await;
        if id != self.thread() {
            return;
        }
        match page {
            Some((first, entries)) => self.store.prepend(Transcript::of(&entries), first, from),
            None => self.store.earlier.set(Some(from)),
        }
    }

    pub(super) fn make_ours(&self) {
        if self.store.following.now() {
            self.take_over();
        }
    }

    pub(super) fn change_user(&self, now: &str) {
        let row = self.inner.thread.borrow().journal.row();
        let theirs = row.borrow().user.clone();
        if theirs.is_empty() && !now.is_empty() {
            now.clone_into(&mut row.borrow_mut().user);
            let journal = Rc::clone(&self.inner.thread.borrow().journal);
            // One that another page runs is that page's to claim.
            if !self.store.following.now() {
                leptos::task::spawn_local(async move { journal.save_row().await });
            }
        } else if theirs != now {
            self.open_fresh();
        }
    }

    pub(super) fn hear_page_life(&self) {
        let (inner, store) = (Rc::downgrade(&self.inner), self.store.clone());
        *self.inner.life.borrow_mut() = PageLife::listen(move |life| {
            Self::with(&inner, &store, |app| match life {
                // Neither a lock nor a connection may keep the page out of the cache, or the next one waiting.
                Life::Left => {
                    app.inner.thread.borrow().leave();
                    app.inner.database.close();
                }
                // Another page of this tab may have gone on.
                Life::Returned => app.put_up(&Up::known(app.thread())),
            });
        });
    }

    pub(super) fn hear_network(&self) {
        let (inner, store) = (Rc::downgrade(&self.inner), self.store.clone());
        *self.inner.network.borrow_mut() = Network::listen(move |online| {
            Self::with(&inner, &store, |app| {
                app.handle().online(online);
                // A panel that was opened without a network knows no tools of the gateway yet.
                if online {
                    app.ensure_listed();
                }
            });
        });
    }

    fn open_fresh(&self) {
        self.inner.thread.borrow().end();
        self.put_up(&Up::fresh());
    }

    // In place of the thread that was there.
    fn put_up(&self, up: &Up) {
        let inner = &self.inner;
        let parts = Parts {
            options: &inner.options,
            gateway: &inner.gateway,
            tools: &inner.tools,
            database: &inner.database,
            services: &inner.services,
            watcher: &inner.watcher,
            store: &self.store,
            app: &Rc::downgrade(inner),
        };
        if up.fresh {
            self.store.load(&Transcript::default(), None);
        }
        let thread = parts.start(up);
        *inner.thread.borrow_mut() = thread;
    }

    // It waits for the tools.
    fn resume(&self) {
        if self.inner.served.get() {
            self.handle().resume();
        }
    }
}
