//! The journal of a thread, and what else is kept of it, in the browser's database. Knows nothing of what lines mean.
//!
//! | file | is |
//! |---|---|
//! | `database` | the database, its layout, the one connection to it |
//! | `lines` | the lines of one thread in it |
//! | `row` | what is known of a thread without reading its journal |
//! | `shelf` | all threads: their list, a thread as a file, and back |
//!
//! A line is a row of its own under `[thread, number]`, and is only ever added. Two pages can not both write line 7: the
//! second finds it taken, and knows that the thread is not its own any more.

mod database;
mod lines;
mod row;
mod shelf;

pub use database::{Database, VERSION};
pub use row::Row;
pub(crate) use row::artifacts_to_json;
pub use shelf::{ImportError, Shelf, ThreadInfo};

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use futures::future::LocalBoxFuture;
use js_sys::Array;
use serde_json::Value;
use wasm_bindgen::JsValue;

use crate::browser::{clock, sleep};
use crate::protocol::{Entry, ThreadId};
use crate::session::{StoreError, Told, Writer, Written};
use database::{ARTIFACTS, Access, DAMAGED, Deed, LINES, THREADS};
use lines::{Lines, entry_of, line_key, lines_of, read_lines};
use row::FORMAT;

// What is shown at first is at least so many lines long, where there are so many.
const SHOWN: u32 = 120;

/// The journal of one thread.
pub struct Journal {
    thread: ThreadId,
    database: Database,
    row: Rc<RefCell<Row>>,
    writer: RefCell<Option<Rc<Writer<Lines>>>>,
    // The line that was read first: what stands before it was left for later.
    first: Cell<u32>,
    // The checkpoint that was written last, until somebody has taken note of it.
    mark: Cell<Option<u32>>,
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
            mark: Cell::new(None),
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
            // What was read just now was read by the present one.
            seen: Rc::new(Cell::new(self.database.connections())),
        };
        self.writer.replace(Some(Rc::new(Writer::new(store, next, told))));
    }

    /// Adds a line, to be written soon.
    pub fn append(&self, entry: &Entry) {
        if let Some(writer) = &*self.writer.borrow() {
            if matches!(entry, Entry::Checkpoint(_)) {
                self.mark.set(Some(writer.lines()));
            }
            writer.push(entry.clone());
        }
    }

    /// The lines that are not written yet, and the number of the first.
    #[must_use]
    pub fn waiting(&self) -> (u32, Vec<Entry>) {
        self.writer.borrow().as_ref().map(|writer| writer.waiting()).unwrap_or_default()
    }

    /// Whether somebody else's line stands where ours was to go.
    #[must_use]
    pub fn is_taken(&self) -> bool {
        self.writer.borrow().as_ref().is_some_and(|writer| writer.is_taken())
    }

    /// Keeps what is known of the thread as it is now, where there is anything of it.
    pub async fn save_row(&self) {
        if self.lines() > 0 && !self.retired.get() {
            let deeds = vec![self.put_row()];
            // Where it fails it is written again with the next line that changes it.
            let _ = self.database.run(Access::Write, deeds).await;
        }
    }

    /// Writes nothing more: the thread was forgotten elsewhere.
    pub fn forget(&self) {
        self.retired.set(true);
    }

    /// The number of a checkpoint that was just written; once.
    pub fn take_mark(&self) -> Option<u32> {
        self.mark.take()
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
                    return read.iter().filter_map(entry_of).collect();
                }
                sleep(1000).await;
            }
        })
    }

    /// The lines of one page before `to`, and where that page begins: what is shown when the user looks further back.
    pub async fn page_before(&self, to: u32) -> Option<(u32, Vec<Entry>)> {
        let from = start_before(&self.row.borrow().checkpoints, to);
        let read = read_lines(&self.database, &self.thread, from, to).await.ok()?;
        Some((from, read.iter().filter_map(entry_of).collect()))
    }

    /// The number of the line that was read first.
    #[must_use]
    pub fn first(&self) -> u32 {
        self.first.get()
    }

    /// Keeps a text of the thread, with the row that knows of it.
    pub(super) async fn save_artifact(&self, key: String, version: u32, text: String) -> bool {
        if self.retired.get() {
            return true;
        }
        let key = artifact_key(&self.thread.0, &key, version);
        let deeds = vec![Deed::put(ARTIFACTS, key, &text), self.put_row()];
        self.database.run(Access::Write, deeds).await.is_ok()
    }

    /// A text of the thread.
    pub(super) async fn artifact(&self, name: &str, version: u32) -> Option<String> {
        let key = artifact_key(&self.thread.0, name, version);
        self.database.run(Access::Read, vec![Deed::Get(ARTIFACTS, key)]).await.ok()?.first()?.as_string()
    }

    /// Forgets the thread, for good: what is still said of it is not written down any more.
    ///
    /// # Errors
    /// Why it could not be forgotten, for the user.
    pub async fn retire(&self) -> Result<(), String> {
        self.retired.set(true);
        Shelf::new(&self.database).delete(&self.thread).await
    }

    fn put_row(&self) -> Deed {
        put_row(&self.thread, &self.row.borrow())
    }

    async fn read_end(&self) -> Result<(Opened, u32), OpenError> {
        let deeds = vec![
            Deed::Get(THREADS, JsValue::from_str(&self.thread.0)),
            Deed::LastKey(LINES, lines_of(&self.thread.0, 0, u32::MAX)),
        ];
        let read = self.database.run(Access::Read, deeds).await.map_err(failed)?;
        let row: Value = read[0].as_string().map_or(Value::Null, |row| serde_json::from_str(&row).unwrap_or_default());
        if row.get("format").and_then(Value::as_u64).is_some_and(|format| format > FORMAT) {
            return Err(OpenError::Newer);
        }
        let mut row = Row::from_json(&row);
        if read[0].is_undefined() {
            // Whose it is may be known all the same.
            row.user.clone_from(&self.row.borrow().user);
        }
        let last = if read[1].is_undefined() { None } else { Array::from(&read[1]).get(1).as_f64() };
        let end = last.map_or(0, |last| last as u32 + 1);
        let from = start_before(&row.checkpoints, end.saturating_sub(SHOWN) + 1);
        let read = read_lines(&self.database, &self.thread, from, u32::MAX).await.map_err(failed)?;
        self.first.set(from);
        *self.row.borrow_mut() = row;
        let mut opened = Opened::default();
        // A line that is missing ends the journal as one that can not be read does.
        let whole = end.saturating_sub(from) as usize == read.len();
        let lines = if whole || read.is_empty() { read } else { self.up_to_gap(from, end).await? };
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
            match read.into_iter().next() {
                Some(line) => lines.push(line),
                None => break,
            }
        }
        Ok(lines)
    }

    // What can not be read is not lost either: a later version may know better.
    async fn put_aside(&self, from: u32) -> Result<(), StoreError> {
        self.row.borrow_mut().checkpoints.retain(|number| *number < from);
        let range = lines_of(&self.thread.0, from, u32::MAX);
        let read = vec![Deed::Keys(LINES, range.clone()), Deed::All(LINES, range.clone())];
        let read = self.database.run(Access::Read, read).await?;
        let (keys, values) = (Array::from(&read[0]), Array::from(&read[1]));
        let mut deeds: Vec<Deed> =
            keys.iter().zip(values.iter()).map(|(key, value)| Deed::Put(DAMAGED, key, value)).collect();
        deeds.extend([Deed::Delete(LINES, range), self.put_row()]);
        self.database.run(Access::Strict, deeds).await.map(drop)
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

fn put_row(thread: &ThreadId, row: &Row) -> Deed {
    Deed::put(THREADS, JsValue::from_str(&thread.0), &row.to_json().to_string())
}

fn artifact_key(thread: &str, name: &str, version: u32) -> JsValue {
    Array::of3(&JsValue::from_str(thread), &JsValue::from_str(name), &JsValue::from(version)).into()
}

fn failed(error: StoreError) -> OpenError {
    OpenError::Failed(error.into_words())
}
