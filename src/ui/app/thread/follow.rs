//! A thread while it is another page's: what that page tells is shown, until it is ours. Part of a thread's life; knows
//! nothing of a session.

use std::pin::pin;

use futures::future::{Either, LocalBoxFuture, pending, select};
use futures::{FutureExt, StreamExt, select_biased};

use crate::agent::{Input, Transcript};
use crate::browser::{Channel, Claim, Lock, Opened, PageWord, sleep};
use crate::protocol::Event;
use crate::ui::app::thread::{ANSWER_MS, Life, Next, Order, RELEASE_MS, tell};
use crate::ui::words;

/// What a follower meets.
enum Turn {
    Granted(Lock),
    Ordered(Order),
    Renew,
    Heard(PageWord),
}

impl Life {
    pub(super) async fn follow(&mut self, mut claim: Option<Claim>) -> Next {
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
                Turn::Granted(lock) => return Next::with(lock),
                Turn::Ordered(Order::Leave) => return Next::Closed,
                Turn::Ordered(Order::Stop) => tell(channel.as_ref(), &PageWord::Stop),
                Turn::Ordered(Order::TakeOver) => break,
                Turn::Renew => {
                    stands_back = Box::pin(pending());
                    claim = Claim::new(&self.lock_name(), false);
                }
                Turn::Heard(PageWord::Event(event)) if self.shown.get() => {
                    self.page.store.apply(&event);
                    // Whoever has asked here hears what came of it.
                    if matches!(event, Event::Output { .. } | Event::RunEnd { .. }) {
                        (self.page.watcher)(&event);
                    }
                }
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
                Turn::Heard(PageWord::Deleted) => return Next::Deleted,
                // It is about to be left.
                Turn::Heard(lines @ PageWord::Lines { .. }) => self.handed.push(lines),
                Turn::Heard(_) => {}
            }
        }
        tell(channel.as_ref(), &PageWord::Release);
        self.take(claim).await
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
                self.page.store.opening.set(false);
                self.page.store.notice.set(Some(words::UNREAD.to_owned()));
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
            self.page.store.running.set(running);
            for event in &events {
                self.page.store.apply(event);
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
}
