//! A thread while it is ours: its journal is opened, its session driven, and what is left of it handed on. Part of a
//! thread's life; knows nothing of how one is followed.

use std::pin::pin;
use std::rc::Rc;

use futures::future::{Either, select};
use futures::{FutureExt, StreamExt, select_biased};
use serde_json::Value;

use crate::agent::{Config, Input, Run};
use crate::browser::{
    BrowserHost, Claim, Lock, OpenError, Opened, PageWord, is_online, left_behind, random_seed, set_had_thread,
    set_left_behind, sleep,
};
use crate::protocol::{Entry, Event, UserMessage};
use crate::session::{Ended, Handle, Told, Written, drive};
use crate::ui::app::thread::{ATTEMPTS, Life, Next, Order, RELEASE_MS};
use crate::ui::words;

impl Life {
    pub(super) async fn own(&mut self, mut lock: Lock, by_force: bool) -> Next {
        self.set_following(false);
        if self.shown.get() {
            // What another page could not write is its own affair no more.
            self.page.store.saving.set(None);
        }
        let begins = self.read_left_behind();
        let Some(mut opened) = self.open(by_force, begins).await else { return Next::Closed };
        let user = self.journal.row().borrow().user.clone();
        if !self.is_ours() {
            self.give_way(None);
            return Next::Closed;
        }
        // Whose it is since just now is known to the next page, too.
        if self.journal.row().borrow().user != user {
            self.journal.save_row().await;
        }
        self.take_handed_over(&mut opened);
        if self.write().await {
            set_left_behind(&self.id, None);
        }
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
        self.stopping.iter().for_each(|handle| handle.online(is_online()));
        self.stopping.iter().for_each(|handle| handle.say_again(waiting.clone()));
        if self.shown.get() {
            (self.hooks.resume)();
        }
        let (gateway, tools) = (self.page.gateway.clone(), Rc::clone(&self.page.tools));
        let host = BrowserHost::new(gateway, tools, Rc::clone(&self.journal), self.services.clone());
        let mut is_left = false;
        let next = {
            let mut driving = pin!(drive(run, host, &mut self.inputs).fuse());
            let mut lost = pin!(lock.lost().fuse());
            let next = loop {
                select_biased! {
                    ended = driving => break match ended {
                        Ended::Closed => Next::Closed,
                        Ended::Lost => Next::Follow(None),
                    },
                    () = lost => break Next::Follow(None),
                    order = self.ordered.next() => match order {
                        Some(Order::Leave) => {
                            is_left = true;
                            break Next::Closed;
                        }
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
            };
            // Whoever has it next shows what has come of an answer, as this page does.
            if !matches!(next, Next::Deleted) {
                self.stopping.iter().for_each(Handle::rest);
                let _ = driving.as_mut().now_or_never();
            }
            next
        };
        if is_left {
            // Neither a lock nor a channel may keep the page out of the browser's cache, or the next one waiting; and there
            // may be no time to write.
            self.leave_behind();
            self.mirror.end();
            drop(lock);
            self.write().await;
            return next;
        }
        // What was said is written before another page reads it.
        self.write().await;
        let (first, unwritten) = self.journal.waiting();
        if matches!(next, Next::Follow(_)) && !unwritten.is_empty() {
            // What the user said and no journal has is said once more, where the thread is now.
            self.say_again_unwritten(&unwritten);
            self.mirror.hand_over(first, unwritten);
        }
        self.mirror.end();
        drop(lock);
        match next {
            Next::Follow(_) => {
                set_had_thread(&self.id, false);
                Next::Follow(Claim::new(&self.lock_name(), false))
            }
            next => next,
        }
    }

    // Whether everything is written. A database that hangs holds nobody up.
    async fn write(&self) -> bool {
        matches!(select(pin!(self.journal.flush()), sleep(RELEASE_MS)).await, Either::Left((Written::Yes, _)))
    }

    // `begins`: where nothing can be read nothing is lost.
    async fn open(&mut self, by_force: bool, begins: bool) -> Option<Opened> {
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
        if begins {
            // The first line that can not be written says so.
            self.journal.begin(told);
            return Some(Opened::default());
        }
        self.give_way(Some(words::unreadable(&why)));
        None
    }

    fn told(&self) -> Told {
        let (watcher, id) = (Rc::clone(&self.services.watcher), self.id.clone());
        Rc::new(move |why| {
            // What is in the journal again is left nowhere else.
            if why.is_none() {
                set_left_behind(&id, None);
            }
            watcher(&Event::Saving(why));
        })
    }

    fn config(&self) -> Config {
        let options = &self.page.options;
        Config {
            agent: options.agent.clone(),
            profile: options.profile.clone(),
            instructions: options.instructions.clone(),
            limits: options.limits,
            ..Config::new(self.id.clone(), random_seed())
        }
    }

    // For the next page of this tab, and for the page that follows.
    fn leave_behind(&self) {
        let (first, entries) = self.journal.waiting();
        if entries.is_empty() {
            return set_left_behind(&self.id, None);
        }
        let mut left = PageWord::Lines { first, entries: entries.clone() }.to_json();
        left["user"] = self.journal.row().borrow().user.as_str().into();
        set_left_behind(&self.id, Some(&left.to_string()));
        self.mirror.hand_over(first, entries);
    }

    // What this tab's last page left; whether the thread begins with what is known here.
    fn read_left_behind(&mut self) -> bool {
        let left = left_behind(&self.id).and_then(|text| serde_json::from_str::<Value>(&text).ok()).unwrap_or_default();
        self.handed.extend(PageWord::from_json(&left));
        // Whose it is, where no journal says so; not whoever has signed in since.
        if let Some(author) = left["user"].as_str().filter(|author| !author.is_empty()) {
            author.clone_into(&mut self.journal.row().borrow_mut().user);
        }
        self.fresh || left["first"] == 0
    }

    // What the page that had it could not write down is written here: another one, or this tab's last.
    fn take_handed_over(&mut self, opened: &mut Opened) {
        let heard = std::iter::from_fn(|| self.heard.next().now_or_never().flatten());
        for word in self.handed.drain(..).chain(heard) {
            let PageWord::Lines { first, entries } = word else { continue };
            // Some of them may have been written after all.
            let next = self.journal.first() as usize + opened.entries.len();
            let written = next.checked_sub(first as usize).unwrap_or(usize::MAX);
            let Some((written, more)) = entries.split_at_checked(written) else { continue };
            let there = opened.entries.iter().rev().map(Entry::to_json);
            if there.take(written.len()).eq(written.iter().rev().map(Entry::to_json)) {
                more.iter().for_each(|entry| self.journal.append(entry));
                opened.entries.extend_from_slice(more);
            }
        }
    }

    fn say_again_unwritten(&self, unwritten: &[Entry]) {
        let said = unwritten.iter().rev().find_map(|entry| match entry {
            Entry::RunStart { message, .. } => message.as_ref().map(UserMessage::prompt),
            _ => None,
        });
        // Handed over with the other lines where they could not be kept; else somebody else has the line's place.
        let taken = self.journal.is_taken();
        if let (Some(prompt), true, Some(handle)) = (said, taken, &self.stopping) {
            handle.say_again(vec![Input::UserMessage(prompt)]);
        }
    }
}
