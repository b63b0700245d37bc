//! The lines of one thread in the database: added behind each other, read from one number on. Knows nothing of what they
//! say.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use futures::future::LocalBoxFuture;
use js_sys::Array;
use serde_json::Value;
use wasm_bindgen::JsValue;

use crate::browser::journal::database::{Access, Database, Deed, LINES, Range};
use crate::browser::journal::{Row, put_row};
use crate::protocol::{Entry, ThreadId};
use crate::session::{Batch, Store, StoreError};

/// The lines of one thread, for their writer.
pub(super) struct Lines {
    pub(super) thread: ThreadId,
    pub(super) database: Database,
    pub(super) row: Rc<RefCell<Row>>,
    pub(super) retired: Rc<Cell<bool>>,
    /// The connection by which the line before the next was seen.
    pub(super) seen: Rc<Cell<u32>>,
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
        let row = changed.then(|| put_row(&self.thread, &row));
        let lines: Vec<String> = batch.entries.iter().map(|entry| entry.to_json().to_string()).collect();
        let (database, thread, seen) = (self.database.clone(), self.thread.clone(), Rc::clone(&self.seen));
        let access = if batch.strict { Access::Strict } else { Access::Write };
        Box::pin(async move {
            follows(&database, &thread, batch.first, &seen).await?;
            let added = add_lines(&database, &thread, access, batch.first, lines.clone(), row.clone()).await;
            if added != Err(StoreError::Taken) {
                return added;
            }
            // Lines that are there already may be our own: a connection can be lost after they were written.
            let there = read_lines(&database, &thread, batch.first, u32::MAX).await?;
            let ours = there.len() <= lines.len() && there.iter().zip(&lines).all(|(there, line)| *there == *line);
            if !ours {
                return Err(StoreError::Taken);
            }
            let rest = lines[there.len()..].to_vec();
            add_lines(&database, &thread, access, batch.first + there.len() as u32, rest, row).await
        })
    }
}

// A line has its place behind another. Where that is gone (the user cleared the site's data, which closes every connection)
// the whole record is, and a part of one is worse than none.
async fn follows(database: &Database, thread: &ThreadId, first: u32, seen: &Cell<u32>) -> Result<(), StoreError> {
    let Some(before) = first.checked_sub(1).filter(|_| seen.get() != database.connections() || !database.is_open())
    else {
        return Ok(());
    };
    let read = database.run(Access::Read, vec![Deed::Get(LINES, line_key(&thread.0, before))]).await?;
    if read[0].is_undefined() {
        return Err(StoreError::Failed("the browser's record of it was cleared".to_owned()));
    }
    seen.set(database.connections());
    Ok(())
}

async fn add_lines(
    database: &Database,
    thread: &ThreadId,
    access: Access,
    first: u32,
    lines: Vec<String>,
    row: Option<Deed>,
) -> Result<(), StoreError> {
    let add = |(number, text): (u32, String)| Deed::Add(LINES, line_key(&thread.0, number), text);
    let mut deeds: Vec<Deed> = (first..).zip(lines).map(add).collect();
    deeds.extend(row);
    database.run(access, deeds).await.map(drop)
}

/// The lines from one number up to another, as they are kept.
pub(super) async fn read_lines(
    database: &Database,
    thread: &ThreadId,
    from: u32,
    to: u32,
) -> Result<Vec<JsValue>, StoreError> {
    if from >= to {
        return Ok(Vec::new());
    }
    let read = database.run(Access::Read, vec![Deed::All(LINES, lines_of(&thread.0, from, to))]).await?;
    Ok(Array::from(&read[0]).iter().collect())
}

pub(super) fn entry_of(line: &JsValue) -> Option<Entry> {
    let line: Value = serde_json::from_str(&line.as_string()?).ok()?;
    Entry::from_json(&line)
}

pub(super) fn line_key(thread: &str, number: u32) -> JsValue {
    Array::of2(&JsValue::from_str(thread), &JsValue::from(number)).into()
}

// The keys of a thread's lines from one number up to another.
pub(super) fn lines_of(thread: &str, from: u32, to: u32) -> Range {
    (line_key(thread, from), line_key(thread, to))
}
