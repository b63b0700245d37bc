//! The record's file: opened, and brought to the shape of this version. Knows nothing of what is in it.

use std::path::Path;

use rusqlite::{Connection, TransactionBehavior};

use crate::gateway::sqlite;

// "phca": which file is ours, as SQLite's own header has it.
const APPLICATION: i64 = 0x7068_6361;

// What makes a file of each version one of the next; those that are written are never changed.
const STEPS: &[&str] = &["CREATE TABLE calls (
        user TEXT NOT NULL, key TEXT NOT NULL, tool TEXT NOT NULL, definition TEXT NOT NULL, arguments TEXT NOT NULL,
        may_repeat INTEGER NOT NULL, stage TEXT NOT NULL, status INTEGER, answer TEXT,
        at INTEGER NOT NULL, size INTEGER NOT NULL,
        PRIMARY KEY (user, key)
    ) STRICT;
    CREATE INDEX calls_by_time ON calls(at, size);"];

pub(super) fn open(path: Option<&Path>) -> Result<Connection, String> {
    let place = sqlite::place(path);
    let in_words = |why: rusqlite::Error| format!("the calls in {place} can not be opened: {why}");
    let mut connection = sqlite::connect(path).map_err(in_words)?;
    prepare(&mut connection)
        .map_err(in_words)?
        .map_err(|why| format!("the calls in {place} can not be used: {why}"))?;
    sqlite::share(&connection).map_err(in_words)?;
    Ok(connection)
}

// The version is read inside the write transaction, so two gateways that start at once take each step once.
fn prepare(connection: &mut Connection) -> rusqlite::Result<Result<(), String>> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let number = |pragma: &str| transaction.pragma_query_value(None, pragma, |row| row.get::<_, i64>(0));
    let tables: i64 = transaction.query_row("SELECT COUNT(*) FROM sqlite_schema", [], |row| row.get(0))?;
    let (application, version) = (number("application_id")?, number("user_version")?);
    if application != APPLICATION && (application, version, tables) != (0, 0, 0) {
        return Ok(Err("it is a database of something else; --calls wants a file of its own".to_owned()));
    }
    let known = STEPS.len();
    let Some(steps) = usize::try_from(version).ok().and_then(|version| STEPS.get(version..)) else {
        return Ok(Err(format!(
            "it was written by a newer gateway (version {version} of the file, this one knows {known}); start that \
             one, or name another file"
        )));
    };
    for step in steps {
        transaction.execute_batch(step)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION)?;
    transaction.pragma_update(None, "user_version", known as i64)?;
    transaction.commit()?;
    Ok(Ok(()))
}
