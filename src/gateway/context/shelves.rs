//! Artifacts in SQLite: in a file, or in memory. Knows nothing of who keeps what.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use futures::future::BoxFuture;
use rusqlite::{Connection, OptionalExtension, TransactionBehavior, params};

use crate::gateway::context::artifacts::{Artifact, Artifacts, Listed};
use crate::gateway::sqlite;
use crate::protocol::ToolError;

const TABLE: &str = "CREATE TABLE IF NOT EXISTS artifacts (
    shelf TEXT NOT NULL, name TEXT NOT NULL, version INTEGER NOT NULL, kind TEXT NOT NULL, bytes BLOB NOT NULL,
    PRIMARY KEY (shelf, name, version)
) STRICT";

const MAX_BYTES: usize = 8 * 1024 * 1024;
// The oldest go first.
const MAX_VERSIONS: u32 = 20;
const MAX_ON_SHELF: i64 = 64 * 1024 * 1024;
const MAX_IN_ALL: i64 = 1024 * 1024 * 1024;
const MAX_IN_MEMORY: i64 = 256 * 1024 * 1024;

/// The shelves.
#[derive(Clone)]
pub(crate) struct Shelves {
    connection: Arc<Mutex<Connection>>,
    most: i64,
}

impl Shelves {
    /// Opens the shelves in a file, or in memory where there is none.
    pub(crate) fn open(path: Option<&Path>) -> Result<Self, String> {
        let open = || -> rusqlite::Result<Connection> {
            let connection = sqlite::connect(path)?;
            sqlite::share(&connection)?;
            connection.execute_batch(TABLE)?;
            Ok(connection)
        };
        let in_words =
            |why: rusqlite::Error| format!("the artifacts in {} can not be opened: {why}", sqlite::place(path));
        let connection = open().map_err(in_words)?;
        let most = if path.is_some() { MAX_IN_ALL } else { MAX_IN_MEMORY };
        Ok(Self { connection: Arc::new(Mutex::new(connection)), most })
    }

    // Off the async threads, which SQLite would block.
    fn within<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Connection) -> Result<T, Fault> + Send + 'static,
    ) -> BoxFuture<'static, Result<T, ToolError>> {
        let connection = Arc::clone(&self.connection);
        let task =
            tokio::task::spawn_blocking(move || work(&mut connection.lock().unwrap_or_else(PoisonError::into_inner)));
        Box::pin(async move {
            match task.await {
                Ok(Ok(found)) => Ok(found),
                Ok(Err(Fault::Full(words))) => Err(ToolError::new("too_large", words)),
                Ok(Err(Fault::Broken(why))) => Err(broken(&why)),
                Err(why) => Err(broken(&why.to_string())),
            }
        })
    }
}

enum Fault {
    Full(String),
    Broken(String),
}

impl From<rusqlite::Error> for Fault {
    fn from(why: rusqlite::Error) -> Self {
        Self::Broken(why.to_string())
    }
}

fn broken(why: &str) -> ToolError {
    ToolError::new("tool_error", "The gateway's store of files could not answer. Tell the user.")
        .for_operator(format!("the artifacts: {why}"))
}

impl Artifacts for Shelves {
    fn save<'a>(
        &'a self,
        shelf: &'a str,
        name: &'a str,
        kind: &'a str,
        bytes: Vec<u8>,
    ) -> BoxFuture<'a, Result<u32, ToolError>> {
        let (shelf, name, kind, most) = (shelf.to_owned(), name.to_owned(), kind.to_owned(), self.most);
        self.within(move |connection| save(connection, &shelf, &name, &kind, &bytes, most))
    }

    fn load<'a>(
        &'a self,
        shelf: &'a str,
        name: &'a str,
        version: Option<u32>,
    ) -> BoxFuture<'a, Result<Option<Artifact>, ToolError>> {
        let (shelf, name) = (shelf.to_owned(), name.to_owned());
        self.within(move |connection| {
            let sql = "SELECT version, kind, bytes FROM artifacts WHERE shelf = ?1 AND name = ?2
                AND (?3 IS NULL OR version = ?3) ORDER BY version DESC LIMIT 1";
            let found = connection.query_row(sql, params![shelf, name, version], |row| {
                Ok(Artifact { name: name.clone(), version: row.get(0)?, kind: row.get(1)?, bytes: row.get(2)? })
            });
            Ok(found.optional()?)
        })
    }

    fn list<'a>(&'a self, shelf: &'a str) -> BoxFuture<'a, Result<Vec<Listed>, ToolError>> {
        let shelf = shelf.to_owned();
        self.within(move |connection| {
            // SQLite takes the other columns from the row of the maximum.
            let sql = "SELECT name, MAX(version), kind, LENGTH(bytes) FROM artifacts WHERE shelf = ?1
                GROUP BY name ORDER BY name";
            let mut statement = connection.prepare_cached(sql)?;
            let rows = statement.query_map([shelf], |row| {
                Ok(Listed {
                    name: row.get(0)?,
                    version: row.get(1)?,
                    kind: row.get(2)?,
                    size: row.get::<_, i64>(3)?.unsigned_abs(),
                })
            })?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    fn versions<'a>(&'a self, shelf: &'a str, name: &'a str) -> BoxFuture<'a, Result<Vec<u32>, ToolError>> {
        let (shelf, name) = (shelf.to_owned(), name.to_owned());
        self.within(move |connection| {
            let sql = "SELECT version FROM artifacts WHERE shelf = ?1 AND name = ?2 ORDER BY version";
            let mut statement = connection.prepare_cached(sql)?;
            let rows = statement.query_map([shelf, name], |row| row.get(0))?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }
}

fn save(
    connection: &mut Connection,
    shelf: &str,
    name: &str,
    kind: &str,
    bytes: &[u8],
    most: i64,
) -> Result<u32, Fault> {
    if bytes.len() > MAX_BYTES {
        return Err(Fault::Full(format!("A file may have {} MiB at most; this one was not kept.", MAX_BYTES >> 20)));
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let latest: Option<u32> = transaction.query_row(
        "SELECT MAX(version) FROM artifacts WHERE shelf = ?1 AND name = ?2",
        [shelf, name],
        |row| row.get(0),
    )?;
    let version = latest.unwrap_or(0) + 1;
    let oldest = version.saturating_sub(MAX_VERSIONS);
    transaction.execute(
        "DELETE FROM artifacts WHERE shelf = ?1 AND name = ?2 AND version <= ?3",
        params![shelf, name, oldest],
    )?;
    let held = |condition: &str, shelf: &str| -> rusqlite::Result<i64> {
        let sql = format!("SELECT COALESCE(SUM(LENGTH(bytes)), 0) FROM artifacts WHERE {condition}");
        transaction.query_row(&sql, [shelf], |row| row.get(0))
    };
    let size = bytes.len() as i64;
    if held("shelf = ?1", shelf)? + size > MAX_ON_SHELF || held("?1 IS NOT NULL", shelf)? + size > most {
        return Err(Fault::Full("There is no room left for more files; this one was not kept.".to_owned()));
    }
    transaction
        .execute("INSERT INTO artifacts VALUES (?1, ?2, ?3, ?4, ?5)", params![shelf, name, version, kind, bytes])?;
    transaction.commit()?;
    Ok(version)
}
