//! One run of the simulation: pages that come and go over one disk, a user who does as they like, and the checks at the
//! end, when everything has come to rest.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::Arc;

use futures::FutureExt;
use futures::executor::LocalPool;
use futures::future::{AbortHandle, abortable};
use futures::task::LocalSpawnExt;
use pagehand::agent::{Config, Decision, Input, Limits, Run};
use pagehand::protocol::{Attachment, Entry, Message, OutputFormat, Prompt, Source, ThreadId};
use pagehand::session::{Ended, Handle, session};
use serde_json::{Value, json};

use crate::choices::Choices;
use crate::disk::{open_runs, sendable, settled_once};
use crate::host::{Life, Page};
use crate::tools::registry;
use crate::world::{Broken, World, take_tasks};

// How much happens before the world is brought to rest, and how long that may take.
const ROUNDS: u32 = 140;
const PATIENCE: u32 = 6000;
const MESSAGES: u32 = 6;

/// What came of a run.
pub(crate) struct Played {
    pub(crate) violation: Option<String>,
    pub(crate) choices: Vec<u32>,
    pub(crate) trace: u64,
    pub(crate) tally: Tally,
    /// The journal as it was left, a line of JSON each.
    pub(crate) journal: Vec<String>,
}

/// What happened in it, to see that it was worth looking at.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) lines: u64,
    pub(crate) models: u64,
    pub(crate) crashes: u64,
    pub(crate) power_cuts: u64,
    pub(crate) takeovers: u64,
    pub(crate) lost: u64,
    pub(crate) gateway_deaths: u64,
    pub(crate) full_disks: u64,
    pub(crate) stops: u64,
    pub(crate) checkpoints: u64,
}

struct Scene {
    world: Rc<World>,
    pool: LocalPool,
    tab: Option<Tab>,
    ghosts: Vec<Tab>,
    sent: u32,
    seed: u64,
    /// How ill-willed the world is in this run: not at all, now and then, all the time.
    temper: u32,
    tally: Tally,
}

struct Tab {
    life: Rc<Life>,
    handle: Handle,
    abort: AbortHandle,
    ended: Rc<Cell<Option<Ended>>>,
}

impl Drop for Tab {
    fn drop(&mut self) {
        self.life.alive.set(false);
        self.abort.abort();
    }
}

/// Plays one run; `crash_at`: the deed at which the first page crashes.
pub(crate) fn play(choices: Choices, broken: Broken, crash_at: Option<u32>) -> Played {
    let world = World::new(choices, broken);
    let mut scene = Scene {
        world: Rc::clone(&world),
        pool: LocalPool::new(),
        tab: None,
        ghosts: Vec::new(),
        sent: 0,
        seed: 0,
        temper: world.choices.pick(3),
        tally: Tally::default(),
    };
    let played = catch_unwind(AssertUnwindSafe(|| scene.play(crash_at)));
    if let Err(thrown) = &played {
        let words = thrown.downcast_ref::<String>().cloned();
        let words = words.or_else(|| thrown.downcast_ref::<&str>().map(|words| (*words).to_owned()));
        world.check(false, || format!("panicked: {}", words.unwrap_or_default()));
    }
    drop(take_tasks());
    scene.tally.lines = world.disk.len() as u64;
    scene.tally.models = u64::from(world.model_calls.get());
    let journal = world.disk.text();
    Played {
        violation: world.violation(),
        choices: world.choices.made(),
        trace: world.trace(),
        tally: scene.tally,
        journal,
    }
}

impl Scene {
    fn play(&mut self, crash_at: Option<u32>) {
        self.open(Life::new(crash_at));
        self.say();
        for _ in 0..ROUNDS {
            self.act();
            self.settle();
            self.world.go_on();
            self.settle();
            if self.world.violation().is_some() {
                return;
            }
        }
        self.calm_down();
        self.check_end();
    }

    // ---- the pages ----

    fn open(&mut self, life: Rc<Life>) {
        let world = &self.world;
        let next = world.disk.len() as u32;
        let mut entries = world.disk.entries();
        if world.broken == Broken::Started {
            entries.retain(|entry| !matches!(entry, Entry::CallStart { .. }));
        }
        let marks = entries.iter().rposition(|entry| matches!(entry, Entry::Checkpoint(_)));
        let from = marks.filter(|_| world.choices.pick(2) == 0).unwrap_or(0);
        let run = Run::restore(self.config(), &entries[from..]);
        entries.truncate(from);
        world.open.borrow_mut().clear();
        world.stopped.set(false);
        world.running.set(false);
        world.unsaved.set(false);
        self.seed += 1;
        let page = Page::new(world, &life, next, entries);
        let (handle, driving) = session(run, page);
        let (driving, abort) = abortable(driving);
        let ended = Rc::new(Cell::new(None));
        let told = Rc::clone(&ended);
        let task = driving.map(move |end| told.set(Some(end.unwrap_or(Ended::Closed))));
        self.pool.spawner().spawn_local(task).expect("the pool takes tasks");
        handle.tools(registry(world.broken == Broken::Scope));
        handle.resume();
        self.tab = Some(Tab { life, handle, abort, ended });
    }

    fn config(&self) -> Config {
        Config {
            limits: Limits { max_calls: 4, ..Limits::default() },
            checkpoint_lines: 12,
            ..Config::new(ThreadId::from("simulated"), 77 + self.seed)
        }
    }

    // Everything that can go on without time passing does; a page that is gone is opened anew.
    fn settle(&mut self) {
        loop {
            self.pool.run_until_stalled();
            let tasks = take_tasks();
            if tasks.is_empty() {
                let Some(tab) = &self.tab else { return };
                let lost = tab.ended.get().is_some();
                if tab.life.alive.get() && !lost {
                    break;
                }
                self.tally.lost += u64::from(lost);
                self.tab = None;
                if !lost {
                    // A browser that crashes takes all its pages along.
                    self.ghosts.clear();
                }
                self.world.finish_writes(if lost { usize::MAX } else { self.world.choices.pick(3) as usize });
                self.open(Life::new(None));
            }
            for task in tasks {
                self.pool.spawner().spawn_local(task).expect("the pool takes tasks");
            }
        }
        let before = self.ghosts.len();
        self.ghosts.retain(|ghost| ghost.ended.get().is_none());
        self.tally.lost += (before - self.ghosts.len()) as u64;
    }

    fn crash(&mut self, power_cut: bool) {
        self.world.note(if power_cut { "power cut" } else { "crash" });
        self.ghosts.clear();
        self.tab = None;
        self.world.finish_writes(if power_cut { 0 } else { self.world.choices.pick(3) as usize });
        if power_cut {
            self.tally.power_cuts += 1;
            self.world.disk.lose(|of| self.world.choices.pick(of));
        }
        self.open(Life::new(None));
    }

    // Another page takes the thread; the one that had it may not know yet.
    fn take_over(&mut self) {
        self.world.note("another page takes over");
        self.tally.takeovers += 1;
        if self.world.choices.once_in(2) {
            self.tell(|handle, _| handle.rest());
        }
        self.world.finish_writes(usize::MAX);
        let line = [Entry::Owner { at: self.world.now.get() }];
        let number = self.world.disk.len() as u32;
        let _ = self.world.disk.add(number, &line, false);
        if let Some(tab) = self.tab.take() {
            tab.life.ghost.set(true);
            // What can not be written can not be fenced: there the lock itself is what tells it.
            if !self.world.unsaved.get() && !self.world.storage_fails.get() {
                self.ghosts.push(tab);
            }
        }
        self.open(Life::new(None));
    }

    // ---- the user, and the world's ill will ----

    fn say(&mut self) {
        if self.sent < MESSAGES {
            self.sent += 1;
            self.tell(|handle, sent| handle.send(prompt(sent)));
        }
    }

    fn tell(&self, say: impl Fn(&Handle, u32)) {
        if let Some(tab) = &self.tab {
            say(&tab.handle, self.sent);
        }
    }

    fn decide(&self, approve: bool) {
        let Some(call) = self.world.open.borrow().first().cloned() else { return };
        let decision = if approve {
            Decision::Approve { arguments: None, payload: Value::Null }
        } else {
            Decision::Deny { reason: None }
        };
        self.tell(|handle, _| handle.decide(call.clone(), decision.clone()));
    }

    fn act(&mut self) {
        let world = Rc::clone(&self.world);
        let act = world.choices.pick(48);
        let spared = match self.temper {
            0 => true,
            1 => act >= 37 && world.choices.pick(6) != 0,
            _ => false,
        };
        if act >= 37 && spared {
            return;
        }
        match act {
            30..=33 => self.decide(true),
            34 => self.decide(false),
            35..=36 => self.say(),
            37 => {
                self.tally.stops += 1;
                // From this moment on nothing may begin.
                world.stopped.set(world.running.get());
                if world.broken != Broken::Stop {
                    self.tell(|handle, _| handle.stop());
                }
            }
            38 => self.tell(|handle, _| handle.retry()),
            39 => self.cancel_job(),
            40..=41 => {
                self.tally.crashes += 1;
                self.crash(false);
            }
            42 => {
                if let Some(tab) = &self.tab {
                    tab.life.crash_at.set(Some(tab.life.deeds.get() + 1 + world.choices.pick(12)));
                    self.tally.crashes += 1;
                }
            }
            43 => self.crash(true),
            44 => {
                world.storage_fails.set(!world.storage_fails.get());
                self.tally.full_disks += 1;
            }
            45 => {
                self.tally.gateway_deaths += 1;
                world.restart_gateway();
            }
            46 => world.now.set(world.now.get() + [1_000, 100_000, 900_000][world.choices.pick(3) as usize]),
            47 => self.take_over(),
            _ => {}
        }
    }

    fn cancel_job(&self) {
        let job = self.world.jobs.borrow().keys().next_back().cloned();
        if let Some(call) = job.as_deref().and_then(|job| job.strip_prefix("job-")) {
            self.tell(|handle, _| handle.cancel_job(call.into()));
        }
    }

    // ---- the end ----

    fn calm_down(&mut self) {
        self.world.faults.set(false);
        self.world.storage_fails.set(false);
        if let Some(tab) = &self.tab {
            tab.life.crash_at.set(None);
        }
        for _ in 0..PATIENCE {
            self.settle();
            self.decide(true);
            self.settle();
            if self.world.violation().is_some() || !self.world.go_on() {
                break;
            }
        }
        self.settle();
    }

    fn check_end(&mut self) {
        let world = Rc::clone(&self.world);
        if world.violation().is_some() {
            return;
        }
        world.check(!world.running.get(), || "a run does not come to its end".to_owned());
        let entries = world.disk.entries();
        world.take(settled_once(&entries));
        world.check(open_runs(&entries) == 0, || format!("the journal leaves {} runs open", open_runs(&entries)));
        let whole = Run::restore(self.config(), &entries);
        world.take(sendable(whole.transcript().messages(), false));
        for (at, _) in entries.iter().enumerate().filter(|(_, entry)| matches!(entry, Entry::Checkpoint(_))) {
            self.tally.checkpoints += 1;
            let mut part = Run::restore(self.config(), &entries[at..]);
            part.handle(world.now.get(), Input::Earlier(entries[..at].to_vec()));
            world.check(part.transcript() == whole.transcript(), || {
                format!("read from the checkpoint at line {at} the thread is another")
            });
            world.check(part.state() == whole.state(), || {
                format!("read from the checkpoint at line {at} the state is another")
            });
        }
        let texts = whole.transcript().messages().iter().filter(|one| matches!(one, Message::User { .. })).count();
        world.check(texts as u32 <= self.sent, || "there are more messages of the user than they sent".to_owned());
    }
}

// Each message by its number: some have a file, some want the answer in a form that the model gives every other time.
fn prompt(sent: u32) -> Prompt {
    let mut prompt = Prompt::from(format!("message {sent}"));
    if sent.is_multiple_of(2) {
        let (name, media_type) = ("a.txt".to_owned(), "text/plain".to_owned());
        prompt.attachments.push(Attachment { name, media_type, source: Source::Data("YQ==".into()) });
    }
    if sent.is_multiple_of(3) {
        let schema = json!({ "type": "object", "required": ["n"], "properties": { "n": { "type": "integer" } } });
        prompt.output = Some(Arc::new(OutputFormat { name: "n".to_owned(), schema }));
    }
    prompt
}
