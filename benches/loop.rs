//! What the loop costs without a model or a tool that takes time: steps a second, what a thread weighs in memory and in
//! its journal, and what it costs to open one.
//!
//! `cargo bench --bench loop`. Times are the best of several rounds, beside a yardstick taken in the same run.

use std::alloc::{GlobalAlloc, Layout, System};
use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicIsize, Ordering};
use std::time::{Duration, Instant};

use pagehand::agent::{CHECKPOINT_LINES, Config, Input, Output, Run};
use pagehand::protocol::{Entry, FinishReason, ModelEvent, Outcome, Risk, Scope, ThreadId};
use pagehand::tools::{Definition, Registration, Registry};
use serde_json::{Value, json};

const ROUNDS: usize = 5;
const STEPS_A_RUN: u32 = 20;

/// Counts what is held.
struct Counting;

static HELD: AtomicIsize = AtomicIsize::new(0);

#[allow(unsafe_code, reason = "the only way to count what is allocated")]
// SAFETY: everything is handed on to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        HELD.fetch_add(layout.size() as isize, Ordering::Relaxed);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size() as isize, Ordering::Relaxed);
        unsafe { System.dealloc(block, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn main() {
    steps();
    opening();
    memory();
}

fn steps() {
    let registry = registry();
    let mut lines = 0;
    let short = best(|| {
        let mut world = World::new(&registry, &[]);
        world.run();
        lines = world.journal.len();
    });
    let texts: Vec<String> = {
        let mut world = World::new(&registry, &[]);
        world.run();
        world.journal.iter().map(|entry| entry.to_json().to_string()).collect()
    };
    let parse = best(|| {
        for text in &texts {
            black_box(read(text));
        }
    });
    let a_step = short / STEPS_A_RUN;
    println!(
        "a step, empty thread        {a_step:>10.2?}   {:.0} a second, {:.2} × parsing its {:.1} lines",
        1.0 / a_step.as_secs_f64(),
        ratio(short, parse),
        lines as f64 / f64::from(STEPS_A_RUN)
    );
    let long = thread_of(5_000, &registry);
    let mut world = World::new(&registry, &long);
    let a_step = best(|| world.run()) / STEPS_A_RUN;
    println!(
        "a step, 5,000 messages      {a_step:>10.2?}   {:.0} a second: the request is a copy of the thread",
        1.0 / a_step.as_secs_f64()
    );
}

fn opening() {
    let registry = registry();
    let journal = thread_of(5_000, &registry);
    let texts: Vec<String> = journal.iter().map(|entry| entry.to_json().to_string()).collect();
    let bytes: usize = texts.iter().map(String::len).sum();
    println!("a message in the journal    {:>7} bytes   {} lines for 5,000 messages", bytes / 5_000, journal.len());
    let open = |texts: &[String]| {
        let entries: Vec<Entry> = texts.iter().filter_map(|text| read(text)).collect();
        drop(black_box(Run::restore(config(), &entries)));
    };
    let whole = best(|| open(&texts));
    let marks = journal.iter().enumerate().filter(|(_, entry)| matches!(entry, Entry::Checkpoint(_)));
    let mark = marks.map(|(at, _)| at).rfind(|at| journal.len() - at > CHECKPOINT_LINES as usize).unwrap_or(0);
    let end = best(|| open(&texts[mark..]));
    println!("opened whole                {whole:>10.2?}   {} lines", texts.len());
    println!(
        "opened from a checkpoint    {end:>10.2?}   {} lines, {:.3} × the whole",
        texts.len() - mark,
        ratio(end, whole)
    );
}

fn memory() {
    let registry = registry();
    let mut world = World::new(&registry, &[]);
    world.keeps = false;
    // At each double of the one before, so that the room lists have ahead is the same share of it.
    let (mut steps, before, mut first) = (0, held(), 0);
    for mark in [2_500, 5_000, 10_000] {
        while steps < mark {
            world.run();
            steps += STEPS_A_RUN;
        }
        let a_step = (held() - before) / isize::try_from(steps).unwrap_or(1);
        if first == 0 {
            first = a_step;
        }
        let share = a_step as f64 / first as f64;
        println!("one thread of {steps:>6} steps  {a_step:>7} bytes a step held, {share:.2} × as at 2,500");
    }
    drop(world);
    let before = held();
    for _ in 0..500 {
        let mut world = World::new(&registry, &[]);
        world.run();
    }
    println!("500 threads, one by one     {:>7} bytes held after 10,000 steps", held() - before);
}

/// A machine whose model calls a tool in each step, and answers in the last.
struct World {
    run: Run,
    journal: Vec<Entry>,
    keeps: bool,
    asked: u32,
}

impl World {
    fn new(registry: &Arc<Registry>, journal: &[Entry]) -> Self {
        let mut run = Run::restore(config(), journal);
        run.handle(1, Input::Tools(Arc::clone(registry)));
        Self { run, journal: Vec::new(), keeps: true, asked: 0 }
    }

    fn run(&mut self) {
        self.give(Input::UserMessage("Please look after everything that is still open.".into()));
    }

    fn give(&mut self, input: Input) {
        let mut inputs = vec![input];
        while let Some(input) = inputs.pop() {
            self.run.handle(2, input);
            while let Some(output) = self.run.poll() {
                match output {
                    Output::Save(entry) if self.keeps => self.journal.push(entry),
                    Output::CallModel { call, request } => {
                        black_box(&request);
                        self.asked += 1;
                        inputs.extend(self.says().into_iter().rev().map(|event| Input::Model { call, event }));
                    }
                    Output::CallTool(request) => {
                        let result = json!({ "id": request.call.as_str(), "status": "shipped", "carrier": "DHL" });
                        inputs.push(Input::ToolOutcome { call: request.call, answer: Outcome::Result(result).into() });
                    }
                    _ => {}
                }
            }
        }
    }

    fn says(&self) -> Vec<ModelEvent> {
        let words =
            [ModelEvent::TextStart, ModelEvent::TextDelta("I look at the next one.".to_owned()), ModelEvent::TextEnd];
        if self.asked.is_multiple_of(STEPS_A_RUN) {
            return words.into_iter().chain([ModelEvent::Finish(FinishReason::Done)]).collect();
        }
        let call = [
            ModelEvent::CallStart {
                slot: 0,
                id: Some(format!("call_{}", self.asked)),
                name: "order_status".to_owned(),
            },
            ModelEvent::CallDelta { slot: 0, text: format!("{{\"id\": {}}}", self.asked) },
            ModelEvent::CallEnd { slot: 0 },
            ModelEvent::Finish(FinishReason::Calls),
        ];
        words.into_iter().chain(call).collect()
    }
}

fn config() -> Config {
    Config::new(ThreadId::from("bench"), 1)
}

/// The journal of a thread of so many messages: questions, answers, calls and results.
fn thread_of(messages: usize, registry: &Arc<Registry>) -> Vec<Entry> {
    let mut world = World::new(registry, &[]);
    while world.run.transcript().messages().len() < messages {
        world.run();
    }
    world.journal
}

fn registry() -> Arc<Registry> {
    let mut tool = Definition::new(
        "order_status",
        "Looks an order up by its number and returns its status, carrier and items.",
        Scope::Server,
        Risk::Read,
    );
    tool.owner = "bench".to_owned();
    tool.parameters =
        Arc::new(json!({ "type": "object", "properties": { "id": { "type": "integer" } }, "required": ["id"] }));
    let mut registry = Registry::default();
    registry.register(vec![Registration::executed(tool)]).expect("no fault");
    Arc::new(registry)
}

fn read(text: &str) -> Option<Entry> {
    let line: Value = serde_json::from_str(text).ok()?;
    Entry::from_json(&line)
}

fn held() -> isize {
    HELD.load(Ordering::Relaxed)
}

fn best(mut work: impl FnMut()) -> Duration {
    let mut round = || {
        let start = Instant::now();
        work();
        start.elapsed()
    };
    (0..ROUNDS).map(|_| round()).min().unwrap_or_default()
}

fn ratio(a: Duration, b: Duration) -> f64 {
    a.as_secs_f64() / b.as_secs_f64()
}
