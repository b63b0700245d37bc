//! The journal of a thread, and what else is kept of it, in the browser's database. Knows nothing of what lines mean.
//!
//! | file | is |
//! |---|---|
//! | `database` | the database, its layout, the one connection to it |
//! | `row` | what is known of a thread without reading its journal |
//! | `shelf` | all threads: their list, a thread as a file, and back |
//!
//! A line is a row of its own under `[thread, number]`, and is only ever added. Two pages can not both write line 7: the
//! second finds it taken, and knows that the thread is not its own any more.

mod database;
mod row;
mod shelf;

pub use database::{Database, VERSION};
pub use row::Row;
pub(crate) use row::artifacts_to_json;
pub use shelf::{Shelf, ThreadInfo};

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use futures::future::LocalBoxFuture;
use idb::{CursorDirection, Error, KeyRange, ObjectStore, Query, Transaction};
use js_sys::Array;
use serde_json::Value;
use wasm_bindgen::JsValue;

use crate::browser::{clock, sleep};
use crate::protocol::{Entry, ThreadId};
use crate::session::{Batch, Kept, Store, StoreError, Writer, Written};
use database::{ARTIFACTS, Access, DAMAGED, LINES, THREADS};
use row::FORMAT;

// What is shown at first is at least so many lines long, where there are so many.
const SHOWN: u32 = 120;

/// Hears whether lines are kept.
pub type Told = Rc<dyn Fn(Kept)>;

/// The journal of one thread.
pub struct Journal {
    thread: ThreadId,
    database: Database,
    row: Rc<RefCell<Row>>,
    writer: RefCell<Option<Rc<Writer<Lines>>>>,
    // The line that was read first: what stands before it was left for later.
    first: Cell<u32>,
    retired: Rc<Cell<bool>>,
}

/// What a journal held.
#[derive(Debug, Default)]
pub struct Opened {
    /// Its lines: all of them, or those from a checkpoint on.
    pub entries: Vec<Entry>,
    /// Whether lines behind them could not be read, and were put aside.
    pub damaged: bool,
}

/// Why a journal could not be opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OpenError {
    /// It was written by a later version of this page.
    Newer,
    /// The database can not be read, with words for the user.
    Failed(String),
}

/// Lines with their numbers.
#[derive(Default)]
struct Read {
    first: u32,
    lines: Vec<JsValue>,
}

impl Journal {
    /// The journal of a thread; nothing is read yet.
    #[must_use]
    pub fn new(database: &Database, thread: &ThreadId) -> Self {
        Self {
            thread: thread.clone(),
            database: database.clone(),
            row: Rc::default(),
            writer: RefCell::default(),
            first: Cell::new(0),
            retired: Rc::default(),
        }
    }

    /// What is known of the thread.
    #[must_use]
    pub fn row(&self) -> Rc<RefCell<Row>> {
        Rc::clone(&self.row)
    }

    /// Reads the end of it, without the right to write: from the last checkpoint that leaves enough to show.
    ///
    /// # Errors
    /// The database can not be read, or holds what a later version wrote.
    pub async fn read(&self) -> Result<Opened, OpenError> {
        self.read_end().await.map(|(opened, _)| opened)
    }

    /// Reads the end of it, and writes behind it from now on. What can not be read is put aside. `told` hears whether
    /// lines are kept.
    ///
    /// # Errors
    /// The database can not be read, or holds what a later version wrote.
    pub async fn open(&self, told: Told) -> Result<Opened, OpenError> {
        let (opened, next) = self.read_end().await?;
        if opened.damaged {
            self.put_aside(next).await.map_err(failed)?;
        }
        self.write_behind(next, told);
        Ok(opened)
    }

    /// Writes from line 0 on: the journal of a thread that nobody has begun.
    pub fn begin(&self, told: Told) {
        self.write_behind(0, told);
    }

    /// The same as [`open`](Self::open), of a thread that another page may be writing: its next line will find this one in
    /// its place.
    ///
    /// # Errors
    /// As for `open`.
    pub async fn take_over(&self, told: Told) -> Result<Opened, OpenError> {
        loop {
            let opened = self.open(Rc::clone(&told)).await?;
            if opened.entries.is_empty() {
                return Ok(opened);
            }
            self.append(&Entry::Owner { at: clock::now() });
            // Lost: it wrote one more line meanwhile.
            if self.flush().await != Written::Lost {
                return Ok(opened);
            }
        }
    }

    fn write_behind(&self, next: u32, told: Told) {
        let store = Lines {
            thread: self.thread.clone(),
            database: self.database.clone(),
            row: Rc::clone(&self.row),
            retired: Rc::clone(&self.retired),
        };
        let writer = Writer::new(store, next, Box::new(move |kept| told(kept)));
        self.writer.replace(Some(Rc::new(writer)));
    }

    /// Adds a line, to be written soon.
    pub fn append(&self, entry: &Entry) {
        if let Some(writer) = &*self.writer.borrow() {
            writer.push(entry.clone());
        }
    }

    /// How many lines there are, with those that are on their way.
    #[must_use]
    pub fn lines(&self) -> u32 {
        self.writer.borrow().as_ref().map_or(0, |writer| writer.lines())
    }

    /// Resolves when every line is written, or can not be for now.
    pub async fn flush(&self) -> Written {
        let Some(writer) = self.writer.borrow().clone() else { return Written::Yes };
        let written = writer.flush(clock::now()).await;
        if written == Written::InMemory {
            try_again(writer);
        }
        written
    }

    /// The lines before those that were read at first. Waits for as long as they can not be read.
    #[must_use]
    pub fn earlier(&self) -> LocalBoxFuture<'static, Vec<Entry>> {
        let (database, thread, to) = (self.database.clone(), self.thread.clone(), self.first.get());
        Box::pin(async move {
            loop {
                if let Ok(read) = read_lines(&database, &thread, 0, to).await {
                    return read.lines.iter().filter_map(entry_of).collect();
                }
                sleep(1000).await;
            }
        })
    }

    /// The lines of one page before `to`, and where that page begins: what is shown when the user looks further back.
    pub async fn page_before(&self, to: u32) -> Option<(u32, Vec<Entry>)> {
        let from = start_before(&self.row.borrow().checkpoints, to);
        let read = read_lines(&self.database, &self.thread, from, to).await.ok()?;
        Some((from, read.lines.iter().filter_map(entry_of).collect()))
    }

    /// The number of the line that was read first.
    #[must_use]
    pub fn first(&self) -> u32 {
        self.first.get()
    }

    /// Keeps what is known of the thread as it is now.
    pub async fn save_row(&self) {
        let (thread, row) = (self.thread.0.clone(), self.row.borrow().to_json().to_string());
        let written =
            self.database.within(Access::Write, async move |transaction| put_row(transaction, &thread, &row).await);
        // It is written again with the next line that changes it.
        let _ = written.await;
    }

    /// Keeps a text of the thread, with the row that knows of it.
    pub(super) async fn save_artifact(&self, key: String, version: u32, text: String) -> bool {
        if self.retired.get() {
            return true;
        }
        let (thread, row) = (self.thread.0.clone(), self.row.borrow().to_json().to_string());
        let written = self.database.within(Access::Write, async move |transaction| {
            let key = artifact_key(&thread, &key, version);
            transaction.object_store(ARTIFACTS)?.put(&JsValue::from_str(&text), Some(&key))?.await?;
            put_row(transaction, &thread, &row).await
        });
        written.await.is_ok()
    }

    /// A text of the thread.
    pub(super) async fn artifact(&self, name: &str, version: u32) -> Option<String> {
        let key = (self.thread.0.clone(), name.to_owned());
        let read = self.database.within(Access::Read, async move |transaction| {
            let key = artifact_key(&key.0, &key.1, version);
            transaction.object_store(ARTIFACTS)?.get(Query::Key(key))?.await
        });
        read.await.ok().flatten()?.as_string()
    }

    /// Forgets the thread, for good: what is still said of it is not written down any more.
    pub async fn retire(&self) {
        self.retired.set(true);
        Shelf::new(&self.database).delete(&self.thread).await;
    }

    async fn read_end(&self) -> Result<(Opened, u32), OpenError> {
        let thread = self.thread.0.clone();
        let read = self.database.within(Access::Read, async move |transaction| {
            let row = transaction.object_store(THREADS)?.get(Query::Key(JsValue::from_str(&thread)))?.await?;
            Ok(row.and_then(|row| row.as_string()))
        });
        let row: Value = match read.await.map_err(failed)? {
            Some(row) => serde_json::from_str(&row).unwrap_or_default(),
            None => Value::Null,
        };
        if row.get("format").and_then(Value::as_u64).is_some_and(|format| format > FORMAT) {
            return Err(OpenError::Newer);
        }
        let row = Row::from_json(&row);
        let end = last_number(&self.database, &self.thread).await.map_err(failed)?.map_or(0, |last| last + 1);
        let from = start_before(&row.checkpoints, end.saturating_sub(SHOWN) + 1);
        let read = read_lines(&self.database, &self.thread, from, u32::MAX).await.map_err(failed)?;
        self.first.set(from);
        *self.row.borrow_mut() = row;
        let mut opened = Opened::default();
        // A line that is missing ends the journal as one that can not be read does.
        let whole = read.first == from && end.saturating_sub(from) as usize == read.lines.len();
        let lines = if whole || read.lines.is_empty() { read.lines } else { self.up_to_gap(from, end).await? };
        for line in &lines {
            match entry_of(line) {
                Some(entry) => opened.entries.push(entry),
                None => break,
            }
        }
        let next = from + opened.entries.len() as u32;
        opened.damaged = next < end;
        Ok((opened, next))
    }

    // Slow, and only where lines are missing.
    async fn up_to_gap(&self, from: u32, end: u32) -> Result<Vec<JsValue>, OpenError> {
        let mut lines = Vec::new();
        for number in from..end {
            let read = read_lines(&self.database, &self.thread, number, number + 1).await.map_err(failed)?;
            match read.lines.into_iter().next() {
                Some(line) => lines.push(line),
                None => break,
            }
        }
        Ok(lines)
    }

    // What can not be read is not lost either: a later version may know better.
    async fn put_aside(&self, from: u32) -> Result<(), StoreError> {
        let thread = self.thread.0.clone();
        self.row.borrow_mut().checkpoints.retain(|number| *number < from);
        let row = self.row.borrow().to_json().to_string();
        let moved = self.database.within(Access::Strict, async move |transaction| {
            let (lines, aside) = (transaction.object_store(LINES)?, transaction.object_store(DAMAGED)?);
            let range = || range(&thread, from, u32::MAX);
            let keys = lines.get_all_keys(Some(range()?), None)?.await?;
            let values = lines.get_all(Some(range()?), None)?.await?;
            for (key, value) in keys.iter().zip(values) {
                aside.put(&value, Some(key))?.await?;
            }
            lines.delete(range()?)?.await?;
            put_row(transaction, &thread, &row).await
        });
        moved.await
    }
}

/// The lines of one thread, for their writer.
struct Lines {
    thread: ThreadId,
    database: Database,
    row: Rc<RefCell<Row>>,
    retired: Rc<Cell<bool>>,
}

impl Store for Lines {
    fn append(&self, batch: Batch) -> LocalBoxFuture<'static, Result<(), StoreError>> {
        if self.retired.get() {
            return Box::pin(async { Ok(()) });
        }
        let mut row = self.row.borrow_mut();
        // Following a line twice changes nothing: what fails is tried again.
        let changed =
            (batch.first..).zip(batch.entries.iter()).filter(|(at, entry)| row.follow(*at, entry)).count() > 0;
        let text = changed.then(|| row.to_json().to_string());
        let (database, thread) = (self.database.clone(), self.thread.0.clone());
        let access = if batch.strict { Access::Strict } else { Access::Write };
        Box::pin(async move {
            let written = database.within(access, async move |transaction| {
                let lines = transaction.object_store(LINES)?;
                for (number, entry) in (batch.first..).zip(batch.entries.iter()) {
                    let line = JsValue::from_str(&entry.to_json().to_string());
                    lines.add(&line, Some(&line_key(&thread, number)))?.await?;
                }
                match &text {
                    Some(row) => put_row(transaction, &thread, row).await,
                    None => Ok(()),
                }
            });
            written.await
        })
    }
}

fn try_again(writer: Rc<Writer<Lines>>) {
    let Some(at) = writer.retry_at() else { return };
    wasm_bindgen_futures::spawn_local(async move {
        sleep(at.saturating_sub(clock::now())).await;
        // The session may have tried meanwhile; whoever fails last tries again.
        if writer.retry_at() == Some(at) && writer.flush(clock::now()).await == Written::InMemory {
            try_again(writer);
        }
    });
}

// The last checkpoint at or before a line, or the start.
fn start_before(checkpoints: &[u32], to: u32) -> u32 {
    checkpoints.iter().rev().copied().find(|at| *at < to).unwrap_or(0)
}

async fn read_lines(database: &Database, thread: &ThreadId, from: u32, to: u32) -> Result<Read, StoreError> {
    if from >= to {
        return Ok(Read { first: from, lines: Vec::new() });
    }
    let thread = thread.0.clone();
    let read = database.within(Access::Read, async move |transaction| {
        let lines = transaction.object_store(LINES)?.get_all(Some(range(&thread, from, to)?), None)?.await?;
        Ok(Read { first: from, lines })
    });
    read.await
}

async fn last_number(database: &Database, thread: &ThreadId) -> Result<Option<u32>, StoreError> {
    let thread = thread.0.clone();
    let read = database.within(Access::Read, async move |transaction| {
        let range = range(&thread, 0, u32::MAX)?;
        let lines = transaction.object_store(LINES)?;
        let cursor = lines.open_key_cursor(Some(range), Some(CursorDirection::Prev))?.await?;
        let key = cursor.and_then(|cursor| cursor.key().ok());
        Ok(key.and_then(|key| Array::from(&key).get(1).as_f64()).map(|number| number as u32))
    });
    read.await
}

async fn put_row(transaction: &Transaction, thread: &str, row: &str) -> Result<(), Error> {
    let threads: ObjectStore = transaction.object_store(THREADS)?;
    threads.put(&JsValue::from_str(row), Some(&JsValue::from_str(thread)))?.await?;
    Ok(())
}

fn entry_of(line: &JsValue) -> Option<Entry> {
    let line: Value = serde_json::from_str(&line.as_string()?).ok()?;
    Entry::from_json(&line)
}

fn line_key(thread: &str, number: u32) -> JsValue {
    Array::of2(&JsValue::from_str(thread), &JsValue::from(number)).into()
}

fn artifact_key(thread: &str, name: &str, version: u32) -> JsValue {
    Array::of3(&JsValue::from_str(thread), &JsValue::from_str(name), &JsValue::from(version)).into()
}

// The keys of a thread's lines from one number up to another.
fn range(thread: &str, from: u32, to: u32) -> Result<Query, Error> {
    KeyRange::bound(&line_key(thread, from), &line_key(thread, to), Some(false), Some(true)).map(Query::KeyRange)
}

fn failed(error: StoreError) -> OpenError {
    OpenError::Failed(match error {
        StoreError::Failed(why) => why,
        StoreError::Taken => String::new(),
    })
}
