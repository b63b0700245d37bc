//! The shop's database: opened, created and filled on the first start. Knows nothing of what is asked of it.

use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::{Connection, TransactionBehavior};

use crate::gateway::demo::exports::Exports;
use crate::gateway::demo::seed;
use crate::gateway::sqlite;

// The shape of the tables below; a file of another shape is refused, not repaired.
const VERSION: i64 = 1;

const TABLES: &str = "
    CREATE TABLE customers (
        id TEXT PRIMARY KEY, name TEXT NOT NULL, email TEXT NOT NULL, phone TEXT NOT NULL, street TEXT NOT NULL,
        postcode TEXT NOT NULL, city TEXT NOT NULL, country TEXT NOT NULL, since TEXT NOT NULL
    ) STRICT;
    CREATE TABLE orders (
        id TEXT PRIMARY KEY, customer_id TEXT NOT NULL REFERENCES customers(id), status TEXT NOT NULL,
        placed_at TEXT NOT NULL, total_cents INTEGER NOT NULL, carrier TEXT, tracking_number TEXT,
        shipped_at TEXT, delivered_at TEXT
    ) STRICT;
    CREATE INDEX orders_by_customer ON orders(customer_id);
    CREATE INDEX orders_by_time ON orders(placed_at);
    CREATE TABLE lines (
        order_id TEXT NOT NULL REFERENCES orders(id), position INTEGER NOT NULL, sku TEXT NOT NULL,
        title TEXT NOT NULL, quantity INTEGER NOT NULL, unit_cents INTEGER NOT NULL,
        PRIMARY KEY (order_id, position)
    ) STRICT;
    CREATE TABLE history (
        seq INTEGER PRIMARY KEY, order_id TEXT NOT NULL REFERENCES orders(id), at TEXT NOT NULL, text TEXT NOT NULL
    ) STRICT;
    CREATE INDEX history_by_order ON history(order_id);
    CREATE TABLE notes (
        seq INTEGER PRIMARY KEY, order_id TEXT NOT NULL REFERENCES orders(id), at TEXT NOT NULL,
        author TEXT NOT NULL, text TEXT NOT NULL
    ) STRICT;
    CREATE INDEX notes_by_order ON notes(order_id);
    CREATE TABLE refunds (
        order_id TEXT PRIMARY KEY REFERENCES orders(id), amount_cents INTEGER NOT NULL, at TEXT NOT NULL,
        reason TEXT NOT NULL
    ) STRICT;
    CREATE TABLE calls (
        call_id TEXT PRIMARY KEY, tool TEXT NOT NULL, order_id TEXT NOT NULL, result TEXT NOT NULL
    ) STRICT;
    CREATE TABLE articles (
        slug TEXT PRIMARY KEY, position INTEGER NOT NULL, title TEXT NOT NULL, section TEXT NOT NULL,
        summary TEXT NOT NULL, body TEXT NOT NULL
    ) STRICT;
    CREATE VIRTUAL TABLE article_words USING fts5(slug UNINDEXED, title, section, body, tokenize = 'porter unicode61');
";

/// The shop's database. One connection: SQLite has one writer anyway, and the demo is small.
pub struct Store {
    connection: Mutex<Connection>,
    pub(super) exports: Exports,
}

/// Something the shop would not or could not do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShopError {
    /// What kind, to act on.
    pub kind: ErrorKind,
    /// Words; for [`ErrorKind::Broken`] they are the operator's.
    pub message: String,
}

/// What kind of failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// There is no such thing.
    NotFound,
    /// What was asked can not be understood.
    Invalid,
    /// The state of the thing forbids it.
    Conflict,
    /// The database failed.
    Broken,
}

impl Store {
    /// Opens the shop's file, or a shop in memory; fills it if it is new.
    ///
    /// # Errors
    /// [`ErrorKind::Broken`] where the file can not be opened, or holds tables of another version.
    pub fn open(path: Option<&Path>) -> Result<Self, ShopError> {
        let mut connection = sqlite::connect(path).map_err(|error| {
            ShopError::new(ErrorKind::Broken, format!("cannot open {}: {error}", sqlite::place(path)))
        })?;
        sqlite::share(&connection)?;
        connection.pragma_update(None, "foreign_keys", true)?;
        prepare(&mut connection)?;
        Ok(Self { connection: Mutex::new(connection), exports: Exports::default() })
    }

    /// Does something with the connection. A panic elsewhere rolled its transaction back, so a poisoned lock is sound.
    pub(super) fn with<T>(&self, work: impl FnOnce(&mut Connection) -> Result<T, ShopError>) -> Result<T, ShopError> {
        work(&mut self.connection.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The same off the async threads, which SQLite would block.
    pub(super) async fn within<T: Send + 'static>(
        self: Arc<Self>,
        work: impl FnOnce(&Self) -> Result<T, ShopError> + Send + 'static,
    ) -> Result<T, ShopError> {
        let task = tokio::task::spawn_blocking(move || work(&self));
        task.await.unwrap_or_else(|error| Err(ShopError::new(ErrorKind::Broken, format!("a query died: {error}"))))
    }
}

// The version is read inside the write transaction, so two gateways that start at once fill one file once.
fn prepare(connection: &mut Connection) -> Result<(), ShopError> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let found: i64 = transaction.pragma_query_value(None, "user_version", |row| row.get(0))?;
    match found {
        VERSION => {}
        0 => {
            transaction.execute_batch(TABLES)?;
            seed::fill(&transaction)?;
            transaction.pragma_update(None, "user_version", VERSION)?;
        }
        other => {
            let message = format!("the shop's file has version {other}, this gateway knows {VERSION}; move it away");
            return Err(ShopError::new(ErrorKind::Broken, message));
        }
    }
    Ok(transaction.commit()?)
}

impl ShopError {
    /// An error of a kind, with words.
    #[must_use]
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }
}

impl From<rusqlite::Error> for ShopError {
    fn from(error: rusqlite::Error) -> Self {
        Self::new(ErrorKind::Broken, format!("the shop's database: {error}"))
    }
}

impl fmt::Display for ShopError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ShopError {}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Store")
    }
}
