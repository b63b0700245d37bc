//! The threads of an element: which one is up, the others, and what the page's life does to them. Knows nothing of tools.

use std::rc::{Rc, Weak};

use send_wrapper::SendWrapper;
use serde_json::Value;

use crate::agent::Transcript;
use crate::browser::{
    Channel, ImportError, Life, Listener, PageWord, Shelf, ThreadInfo, fresh_thread, set_current_thread,
    set_left_behind,
};
use crate::protocol::ThreadId;
use crate::ui::app::thread::{Hooks, Thread, start};
use crate::ui::app::{App, Inner, Page};

/// A thread to be put up.
pub(super) struct Up {
    pub(super) id: ThreadId,
    /// Whether nobody has begun it.
    pub(super) fresh: bool,
    /// Whether the tab opens it again after a reload.
    pub(super) remembered: bool,
    /// Whether it is taken from whoever has it: a copy of the module that has died hears no question.
    pub(super) by_force: bool,
    /// Whether it takes the place of one that could not be opened, with what the user has written for that one.
    pub(super) carries: bool,
}

impl Up {
    pub(super) fn fresh() -> Self {
        Self { id: fresh_thread(), fresh: true, remembered: true, by_force: false, carries: false }
    }

    pub(super) fn known(id: ThreadId) -> Self {
        Self { id, fresh: false, remembered: true, by_force: false, carries: false }
    }
}

impl Page {
    pub(super) fn start(self: &Rc<Self>, up: &Up, app: &Weak<Inner>) -> Thread {
        if up.remembered {
            set_current_thread(&self.options.name, &up.id);
        }
        self.store.shown.set((up.id.clone(), up.carries));
        self.store.opening.set(!up.fresh);
        self.store.following.set(false);
        self.store.saving.set(None);
        self.store.notice.set(None);
        start(up, self, hooks(app))
    }
}

fn hooks(app: &Weak<Inner>) -> Hooks {
    let [owned, resuming, replaced] = [(); 3].map(|()| Weak::clone(app));
    Hooks {
        owned: Rc::new(move || App::with(&owned, App::publish)),
        resume: Rc::new(move || App::with(&resuming, App::resume)),
        gone: Rc::new(move |why, waiting| {
            App::with(&replaced, |app| {
                // The tab keeps one that can not be read in mind: it may be there again after a reload.
                app.put_up(&Up { remembered: why.is_none(), carries: true, ..Up::fresh() });
                app.store.notice.set(why);
                app.handle().say_again(waiting);
            });
        }),
    }
}

impl App {
    // For who hears of something: an app that is gone does nothing about it.
    fn with(inner: &Weak<Inner>, act: impl FnOnce(&Self)) {
        if let Some(inner) = inner.upgrade() {
            act(&Self { store: inner.page.store.clone(), inner: SendWrapper::new(inner) });
        }
    }

    /// Ends what is at work and begins an empty thread. The old one is kept.
    pub fn new_thread(&self) {
        self.open_fresh();
        let (shelf, user) = (Shelf::new(&self.inner.page.database), self.inner.page.services.user_id());
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
        Shelf::new(&self.inner.page.database).list(&self.inner.page.services.user_id()).await
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
            Shelf::new(&self.inner.page.database).delete(&id).await
        };
        self.store.shelf.update(|shelf| *shelf += 1);
        if deleted.is_ok() {
            set_left_behind(&id, None);
            elsewhere.iter().for_each(|elsewhere| elsewhere.post(&PageWord::Deleted));
        }
        deleted
    }

    /// The thread that is up as a file; `None` where it can not be read.
    pub async fn export(&self) -> Option<Value> {
        let journal = Rc::clone(&self.inner.thread.borrow().journal);
        journal.flush().await;
        Shelf::new(&self.inner.page.database).export(&self.thread(), journal.waiting()).await
    }

    /// Keeps the thread of a file and opens it.
    ///
    /// # Errors
    /// What is wrong with the file, and where.
    pub async fn import(&self, file: &Value) -> Result<ThreadId, ImportError> {
        let id = Shelf::new(&self.inner.page.database).import(file, &self.inner.page.services.user_id()).await?;
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

    pub(super) fn listen(&self) {
        let [lives, online] = [(); 2].map(|()| Rc::downgrade(&self.inner));
        let of_page = Listener::of_page(move |life| {
            Self::with(&lives, |app| match life {
                // Neither a lock nor a connection may keep the page out of the cache, or the next one waiting.
                Life::Left => {
                    app.inner.thread.borrow().leave();
                    app.inner.page.database.close();
                }
                // Another page of this tab may have gone on.
                Life::Returned => app.put_up(&Up::known(app.thread())),
            });
        });
        let of_network = Listener::of_network(move |is_there| {
            Self::with(&online, |app| {
                app.handle().online(is_there);
                // A panel that was opened without a network knows no tools of the gateway yet.
                if is_there {
                    app.ensure_listed();
                }
            });
        });
        self.inner.listeners.borrow_mut().extend(of_page.into_iter().chain(of_network));
    }

    fn open_fresh(&self) {
        self.inner.thread.borrow().end();
        self.store.files.set(Vec::new());
        self.put_up(&Up::fresh());
    }

    // In place of the thread that was there.
    fn put_up(&self, up: &Up) {
        if up.fresh {
            self.store.load(&Transcript::default(), None);
        }
        let thread = self.inner.page.start(up, &Rc::downgrade(&self.inner));
        *self.inner.thread.borrow_mut() = thread;
    }

    // It waits for the tools.
    fn resume(&self) {
        if self.inner.served.get() {
            self.handle().resume();
        }
    }
}
