//! A page of the simulated world, as its session sees it. One that has crashed does nothing more.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use futures::FutureExt;
use futures::channel::{mpsc, oneshot};
use futures::future::{self, LocalBoxFuture};
use futures::stream::{LocalBoxStream, StreamExt};
use pagehand::agent::ToolRequest;
use pagehand::protocol::{
    Answer, ContextItem, Delta, Entry, Event, Message, Millis, ModelEvent, ModelRequest, Names, Outcome, ToolCallId,
};
use pagehand::session::{Batch, Host, Store, StoreError, Writer, Written};
use pagehand::tools::error;
use serde_json::json;

use crate::disk::sendable;
use crate::model;
use crate::world::{Broken, World};

/// A page.
pub(crate) struct Page {
    world: Rc<World>,
    life: Rc<Life>,
    writer: Rc<Writer<Shelf>>,
    earlier: Vec<Entry>,
    running: RefCell<Names<Rc<Cell<bool>>>>,
}

/// Whether a page is there, and after how many deeds it crashes.
pub(crate) struct Life {
    pub(crate) alive: Cell<bool>,
    /// It is still there, and another page has its thread.
    pub(crate) ghost: Cell<bool>,
    pub(crate) deeds: Cell<u32>,
    pub(crate) crash_at: Cell<Option<u32>>,
}

struct Shelf {
    world: Rc<World>,
    life: Rc<Life>,
}

impl Life {
    pub(crate) fn new(crash_at: Option<u32>) -> Rc<Self> {
        Rc::new(Self {
            alive: Cell::new(true),
            ghost: Cell::new(false),
            deeds: Cell::new(0),
            crash_at: Cell::new(crash_at),
        })
    }

    /// Does one more thing, unless the page has crashed, or does so now.
    fn does(&self) -> bool {
        self.deeds.set(self.deeds.get() + 1);
        if self.crash_at.get() == Some(self.deeds.get()) {
            self.alive.set(false);
        }
        self.alive.get()
    }
}

impl Page {
    pub(crate) fn new(world: &Rc<World>, life: &Rc<Life>, next: u32, earlier: Vec<Entry>) -> Self {
        let shelf = Shelf { world: Rc::clone(world), life: Rc::clone(life) };
        let (told, alive) = (Rc::clone(world), Rc::clone(life));
        let heard = Rc::new(move |why: Option<String>| {
            if alive.ghost.get() && why.is_some() {
                // Where lines can not be kept nothing fences it but the loss of its lock.
                alive.alive.set(false);
            }
            if alive.alive.get() && !alive.ghost.get() {
                told.told(&Event::Saving(why));
            }
        });
        let writer = Rc::new(Writer::new(shelf, next, heard));
        Self { world: Rc::clone(world), life: Rc::clone(life), writer, earlier, running: RefCell::default() }
    }

    /// A tool begins when somebody first waits for it, as a connection does, and not at all where it was stopped before.
    fn start(
        &self,
        request: ToolRequest,
        run: fn(&Rc<World>, ToolRequest, oneshot::Sender<Answer>),
    ) -> LocalBoxFuture<'static, Answer> {
        if !self.life.does() {
            return future::pending().boxed_local();
        }
        let cancelled = Rc::new(Cell::new(false));
        self.running.borrow_mut().insert(request.call.0.clone(), Rc::clone(&cancelled));
        let (world, life) = (Rc::clone(&self.world), Rc::clone(&self.life));
        async move {
            if cancelled.get() {
                return Outcome::Error(error::cancelled(&request.name, false)).into();
            }
            if !life.alive.get() {
                return future::pending().await;
            }
            world.about_to_run(&request, life.ghost.get());
            let (tell, answer) = oneshot::channel::<Answer>();
            let name = request.name.clone();
            run(&world, request, tell);
            match answer.await {
                Ok(answer) => answer,
                // Nobody will answer.
                Err(_) if cancelled.get() => Outcome::Error(error::cancelled(&name, true)).into(),
                Err(_) => future::pending().await,
            }
        }
        .boxed_local()
    }

    fn check_request(&self, request: &ModelRequest) {
        let world = &self.world;
        world.take(sendable(&request.messages, true));
        world.check(!world.stopped.get(), || "a model is asked after the user stopped everything".to_owned());
        let lines = world.disk.entries();
        let user = request.messages.iter().rev().find_map(|message| match message {
            Message::User(said) => Some(said.clone()),
            _ => None,
        });
        let written = |entry: &Entry| matches!(entry, Entry::RunStart { message, .. } if *message == user);
        world.check(world.unsaved.get() || user.is_none() || lines.iter().any(written), || {
            format!("{user:?} is sent, and is not in the journal")
        });
        for message in &request.messages {
            let Message::Tool(tool) = message else { continue };
            let call = &tool.result.call;
            let ran = world.answered.borrow().contains(call.as_str()) && tool.result.error.is_none();
            world.check(!ran || request.state.get(&format!("key_{call}")).is_some(), || {
                format!("what {call} changed is not in the state")
            });
        }
    }
}

impl Store for Shelf {
    fn append(&self, batch: Batch) -> LocalBoxFuture<'static, Result<(), StoreError>> {
        if !self.life.does() {
            return future::pending().boxed_local();
        }
        let (tell, told) = oneshot::channel();
        let number = self.world.begin_write(batch, tell);
        self.world.later(self.world.delay() / 7, move |world| world.write(number));
        told.map(|result| result.unwrap_or_else(|_| Err(StoreError::Failed(String::new())))).boxed_local()
    }
}

impl Host for Page {
    fn now(&self) -> Millis {
        self.world.now.get()
    }

    fn context(&self) -> Vec<ContextItem> {
        Vec::new()
    }

    fn call_model(&self, mut request: ModelRequest) -> LocalBoxStream<'static, ModelEvent> {
        if !self.life.does() {
            return futures::stream::pending().boxed_local();
        }
        if self.world.broken == Broken::Order {
            let results = |message: &Message| matches!(message, Message::Tool(_));
            if let Some(at) = request.messages.windows(2).position(|pair| pair.iter().all(results)) {
                request.messages.swap(at, at + 1);
            }
        }
        let page = Self {
            world: Rc::clone(&self.world),
            life: Rc::clone(&self.life),
            writer: Rc::clone(&self.writer),
            earlier: Vec::new(),
            running: RefCell::default(),
        };
        futures::stream::once(async move {
            if !page.life.alive.get() || page.life.ghost.get() {
                return futures::stream::pending().boxed_local();
            }
            page.world.note("asks the model");
            page.check_request(&request);
            model::answer(&page.world, &request)
        })
        .flatten()
        .boxed_local()
    }

    fn call_browser_tool(&self, request: ToolRequest) -> LocalBoxFuture<'static, Answer> {
        self.start(request, World::run_in_page)
    }

    fn call_server_tool(&self, request: ToolRequest) -> LocalBoxFuture<'static, Answer> {
        self.start(request, World::ask_gateway)
    }

    fn keep_state(&self, _: &Delta) {
        self.life.does();
    }

    fn save_artifact(&self, _: &str, _: String) -> LocalBoxFuture<'_, ()> {
        self.life.does();
        future::ready(()).boxed_local()
    }

    fn cancel_tool(&self, call: &ToolCallId) {
        if self.life.does()
            && let Some(cancelled) = self.running.borrow_mut().remove(call.as_str())
        {
            cancelled.set(true);
        }
    }

    fn save(&self, entry: &Entry) {
        if !self.life.does() {
            return;
        }
        let mut entry = entry.clone();
        match (&mut entry, self.world.broken) {
            (Entry::Result { changes, .. }, Broken::State) => changes.clear(),
            (Entry::Checkpoint(checkpoint), Broken::Checkpoint) => {
                checkpoint.state.insert("made_up".to_owned(), json!(1));
            }
            (Entry::RunStart { message, .. }, Broken::Message) => *message = None,
            (Entry::Result { .. }, Broken::Twice) => self.writer.push(entry.clone()),
            _ => {}
        }
        self.writer.push(entry);
    }

    fn saved(&self) -> LocalBoxFuture<'_, Written> {
        if !self.life.does() {
            return future::pending().boxed_local();
        }
        if self.world.broken == Broken::Flush {
            let writer = Rc::clone(&self.writer);
            let now = self.now();
            self.world.spawn(async move {
                let _ = writer.flush(now).await;
            });
            return future::ready(Written::Yes).boxed_local();
        }
        async move {
            let written = self.writer.flush(self.now()).await;
            if !self.life.alive.get() {
                future::pending::<()>().await;
            }
            if written == Written::InMemory {
                try_again(&self.world, &self.writer);
            }
            written
        }
        .boxed_local()
    }

    fn earlier(&self) -> LocalBoxFuture<'static, Vec<Entry>> {
        future::ready(self.earlier.clone()).boxed_local()
    }

    fn sleep_until(&self, at: Millis) -> LocalBoxFuture<'static, ()> {
        let (ring, rung) = oneshot::channel::<()>();
        let wait = at.saturating_sub(self.world.now.get());
        if self.world.broken == Broken::Patience {
            return future::pending().boxed_local();
        }
        self.world.later(wait, move |_| {
            let _ = ring.send(());
        });
        rung.map(drop).boxed_local()
    }

    fn tell(&self, event: &Event) {
        if self.life.does() && !self.life.ghost.get() {
            self.world.told(event);
        }
    }
}

// A journal that could not be written is tried again by itself.
fn try_again(world: &Rc<World>, writer: &Rc<Writer<Shelf>>) {
    let Some(at) = writer.retry_at() else { return };
    let writer = Rc::clone(writer);
    world.later(at.saturating_sub(world.now.get()), move |world| {
        let again = Rc::clone(world);
        world.spawn(async move {
            if writer.retry_at() == Some(at) && writer.flush(again.now.get()).await == Written::InMemory {
                try_again(&again, &writer);
            }
        });
    });
}

/// A stream whose pieces are put on the agenda, one after another.
pub(crate) fn stream_of(world: &Rc<World>, events: Vec<ModelEvent>, ends: bool) -> LocalBoxStream<'static, ModelEvent> {
    let (tell, heard) = mpsc::unbounded();
    let mut at = 0;
    for event in events {
        at += world.delay() / 7 + 1;
        let tell = tell.clone();
        world.later(at, move |_| drop(tell.unbounded_send(event)));
    }
    if ends {
        world.later(at + 1, move |_| drop(tell));
    } else {
        // It stays open without a word.
        world.later(10_000_000, move |_| drop(tell));
    }
    heard.boxed_local()
}
