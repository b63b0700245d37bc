//! What became of every call: recorded under its key before it begins and when it ends, so that none is run twice.
//! Knows nothing of how a tool is run, and of HTTP the status alone.
//!
//! | the key's call | and the same key again |
//! |---|---|
//! | was never seen | is run |
//! | was never seen, but was sent before this record began, which is in memory | as one whose process is gone |
//! | is at work in this process | waits for its answer |
//! | was at work in a process that is gone | is run where its tool may be repeated; else its outcome is unknown |
//! | asked for the user's approval | is run with it; without it the question is repeated |
//! | failed, worth repeating | is run |
//! | was answered | gets that answer |
//! | was another one (tool, arguments) | is refused |
//!
//! | file | does |
//! |---|---|
//! | `file` | opens the file, or memory, in the shape of this version |
//! | `table` | rows, read and written |
//! | `room` | what is old, or too much, goes |

mod file;
mod room;
mod table;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use axum::http::StatusCode;
use rusqlite::{Connection, TransactionBehavior};
use serde_json::Value;
use sha2::{Digest, Sha256};
use tokio::sync::watch;

use crate::gateway::calls::room::Room;
use crate::gateway::calls::table::{Row, Stage};
use crate::gateway::error::told;
use crate::protocol::Replay;
use crate::tools::{Definition, error};

/// What time it is.
pub(super) type Clock = Arc<dyn Fn() -> SystemTime + Send + Sync>;

// What a job may answer at most, too.
const MAX_ANSWER: usize = 2 * 1024 * 1024;
// How long a request may have been on its way.
const MAX_TRANSIT_MS: i64 = 5000;

/// The record of a gateway's calls.
#[derive(Clone)]
pub(super) struct Calls {
    books: Arc<Mutex<Books>>,
    clock: Clock,
    at_work: AtWork,
}

/// Which call: its key, and whose it is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key {
    /// The user's id, where the host names one.
    pub(super) user: Option<String>,
    /// The `Idempotency-Key`.
    pub(super) call: String,
}

/// A call that is asked for.
pub(super) struct Wanted {
    key: Key,
    tool: String,
    aliases: Vec<String>,
    definition: String,
    arguments: String,
    may_repeat: bool,
    approved: bool,
    age: Duration,
}

/// An answer.
#[derive(Clone, Debug)]
pub(super) struct Finished {
    pub(super) status: StatusCode,
    pub(super) body: Value,
}

/// What is to be done with a call that is asked for.
pub(super) enum Found {
    /// To be run, by whoever got this. It is recorded as running.
    Run(Claim),
    /// To be waited for: it is at work.
    AtWork(Flight),
    /// To be answered with this.
    Answered(Finished),
    /// Not to be run: it was begun, and nobody knows its end.
    Unknown,
    /// Not to be run: the key is that of a call of this tool.
    Reused(String),
    /// It would be run now, but may not.
    Unrun,
}

/// How a call stands.
pub(super) enum Standing {
    Running,
    Done(Finished),
    Unknown,
    Never,
}

/// The right to run a call, and the duty to say how it ended.
pub(super) struct Claim {
    wanted: Wanted,
    ended: watch::Sender<Option<Finished>>,
    _counted: Counted,
}

/// A call's end, as it is waited for.
#[derive(Clone)]
pub(super) struct Flight {
    ended: watch::Receiver<Option<Finished>>,
}

// All in one lock: what a request finds out and what it then does are one step.
struct Books {
    connection: Connection,
    room: Room,
    flights: BTreeMap<Key, (Row, Flight)>,
    /// When a record in memory began, in milliseconds: what was before is forgotten.
    began: Option<i64>,
}

impl Calls {
    /// Opens the record in a file, or in memory where there is none.
    pub(super) fn open(path: Option<&Path>, clock: Clock, at_work: AtWork) -> Result<Self, String> {
        let connection = file::open(path)?;
        let room = Room::new(path.is_some());
        let began = path.is_none().then(|| milliseconds(&clock));
        let books = Books { connection, room, flights: BTreeMap::new(), began };
        Ok(Self { books: Arc::new(Mutex::new(books)), clock, at_work })
    }

    /// What is to be done with a call. One that may not run is only looked for.
    pub(super) async fn begin(&self, wanted: Wanted, may_run: bool) -> Result<Found, String> {
        let at_work = self.at_work.clone();
        self.within(move |books, now| books.begin(wanted, may_run, now, &at_work)).await
    }

    /// Records a call's end, then tells everybody who waits for it.
    pub(super) async fn end(&self, claim: Claim, finished: Finished) {
        let tool = claim.wanted.tool.clone();
        let recorded = self.within(move |books, now| {
            let recorded = books.end(&claim, &finished, now);
            claim.ended.send_replace(Some(finished));
            recorded
        });
        if let Err(why) = recorded.await {
            tracing::error!(%tool, "the end of a call was not recorded: {why}");
        }
    }

    /// How a call stands.
    pub(super) async fn look(&self, key: Key) -> Result<Standing, String> {
        self.within(move |books, _| books.look(&key)).await
    }

    // Off the async threads, which SQLite would block.
    async fn within<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Books, i64) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, String> {
        let books = Arc::clone(&self.books);
        let now = milliseconds(&self.clock);
        let task =
            tokio::task::spawn_blocking(move || work(&mut books.lock().unwrap_or_else(PoisonError::into_inner), now));
        task.await.map_err(|why| why.to_string())?.map_err(|why| why.to_string())
    }
}

fn milliseconds(clock: &Clock) -> i64 {
    let now = clock().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(now.as_millis()).unwrap_or(i64::MAX)
}

impl Wanted {
    /// A call of this tool with these arguments, as they came.
    pub(super) fn new(key: Key, definition: &Definition, arguments: &Value, approved: bool) -> Self {
        Self {
            key,
            tool: definition.name.clone(),
            aliases: definition.aliases.iter().map(|alias| alias.name.clone()).collect(),
            definition: definition.hash(),
            arguments: format!("{:x}", Sha256::digest(arguments.to_string().as_bytes())),
            may_repeat: definition.replay != Replay::Effect,
            approved,
            age: Duration::ZERO,
        }
    }

    /// The same call, as one that was sent before: so long ago for the first time.
    pub(super) fn sent_before(mut self, age: Duration) -> Self {
        self.age = age;
        self
    }

    /// Its tool.
    pub(super) fn tool(&self) -> &str {
        &self.tool
    }

    fn row(&self, stage: Stage, answer: Option<(u16, String)>) -> Row {
        Row {
            tool: self.tool.clone(),
            definition: self.definition.clone(),
            arguments: self.arguments.clone(),
            may_repeat: self.may_repeat,
            stage,
            answer,
        }
    }

    // How long the request itself was on its way is not in its age, so what began about then counts, too.
    fn began_before(&self, record: i64, now: i64) -> bool {
        let age = i64::try_from(self.age.as_millis()).unwrap_or(i64::MAX);
        age > 0 && now.saturating_sub(age).saturating_sub(MAX_TRANSIT_MS) < record
    }

    // Whoever agrees to what a tool asks may change the arguments.
    fn is_of(&self, row: &Row) -> bool {
        let same_tool = row.tool == self.tool || self.aliases.contains(&row.tool);
        same_tool && (row.arguments == self.arguments || (row.stage == Stage::Asked && self.approved))
    }
}

impl Books {
    fn begin(&mut self, wanted: Wanted, may_run: bool, now: i64, at_work: &AtWork) -> rusqlite::Result<Found> {
        if let Some((row, flight)) = self.flights.get(&wanted.key).filter(|(_, flight)| flight.is_open()) {
            let found = if wanted.is_of(row) { Found::AtWork(flight.clone()) } else { Found::Reused(row.tool.clone()) };
            return Ok(found);
        }
        self.room.make(&self.connection, now)?;
        // So that another gateway over the same file can not begin it in between.
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        if let Some(row) = Row::find(&transaction, &wanted.key)? {
            if !wanted.is_of(&row) {
                return Ok(Found::Reused(row.tool));
            }
            match row.stage {
                Stage::Running if !(row.may_repeat && wanted.may_repeat) => return Ok(Found::Unknown),
                Stage::Asked if !wanted.approved => return Ok(Found::Answered(kept(row))),
                Stage::Done => return Ok(Found::Answered(kept(row))),
                Stage::Running | Stage::Asked | Stage::Failed => {}
            }
        } else if !wanted.may_repeat && self.began.is_some_and(|began| wanted.began_before(began, now)) {
            return Ok(Found::Unknown);
        }
        if !may_run {
            return Ok(Found::Unrun);
        }
        let row = wanted.row(Stage::Running, None);
        row.begin(&transaction, &wanted.key, now)?;
        transaction.commit()?;
        let (ended, flight) = watch::channel(None);
        self.flights.insert(wanted.key.clone(), (row, Flight { ended: flight }));
        Ok(Found::Run(Claim { wanted, ended, _counted: at_work.begin() }))
    }

    fn end(&mut self, claim: &Claim, finished: &Finished, now: i64) -> rusqlite::Result<()> {
        let wanted = &claim.wanted;
        self.flights.remove(&wanted.key);
        let body = &finished.body;
        let stage = if body["error"]["retryable"] == true {
            Stage::Failed
        } else if !body["needsApproval"].is_null() && !wanted.approved {
            Stage::Asked
        } else {
            Stage::Done
        };
        let mut answer = body.to_string();
        if answer.len() > MAX_ANSWER {
            answer = not_kept(&wanted.tool).to_string();
        }
        self.room.count(answer.len());
        wanted.row(stage, Some((finished.status.as_u16(), answer))).end(&self.connection, &wanted.key, now)
    }

    fn look(&self, key: &Key) -> rusqlite::Result<Standing> {
        if self.flights.get(key).is_some_and(|(_, flight)| flight.is_open()) {
            return Ok(Standing::Running);
        }
        Ok(match Row::find(&self.connection, key)? {
            None => Standing::Never,
            Some(Row { stage: Stage::Running, .. }) => Standing::Unknown,
            Some(row) => Standing::Done(kept(row)),
        })
    }
}

// The answer of a row that has ended.
fn kept(row: Row) -> Finished {
    let read = row.answer.and_then(|(status, text)| {
        Some(Finished { status: StatusCode::from_u16(status).ok()?, body: serde_json::from_str(&text).ok()? })
    });
    read.unwrap_or_else(|| Finished { status: StatusCode::OK, body: not_kept(&row.tool) })
}

fn not_kept(tool: &str) -> Value {
    told(&error::not_kept(tool))
}

impl Flight {
    /// Of a call that has ended.
    pub(super) fn over(finished: Finished) -> Self {
        Self { ended: watch::channel(Some(finished)).1 }
    }

    /// Its answer; `None` where the task that ran it is gone.
    pub(super) async fn end(&mut self) -> Option<Finished> {
        self.ended.wait_for(Option::is_some).await.ok()?.clone()
    }

    fn is_open(&self) -> bool {
        self.ended.has_changed().is_ok()
    }
}

impl Claim {
    /// The call's end, for whoever runs it.
    pub(super) fn flight(&self) -> Flight {
        Flight { ended: self.ended.subscribe() }
    }
}

/// How many calls of a gateway are at work, for whoever stops it. Copies count the same.
#[derive(Clone, Debug, Default)]
pub struct AtWork {
    count: watch::Sender<usize>,
}

impl AtWork {
    /// Waits until none is: the end of each is recorded.
    pub async fn none(&self) {
        // The sender lives as long as `self`, so this ends only with the last call.
        let _ = self.count.subscribe().wait_for(|count| *count == 0).await;
    }

    fn begin(&self) -> Counted {
        self.count.send_modify(|count| *count += 1);
        Counted(self.clone())
    }
}

struct Counted(AtWork);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.count.send_modify(|count| *count = count.saturating_sub(1));
    }
}
