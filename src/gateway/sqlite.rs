//! A database in a file, or in memory. Knows nothing of what is in it.

use std::path::Path;
use std::time::Duration;

use rusqlite::Connection;

/// A connection to a file, or to memory where there is none. Nothing is written yet.
pub(super) fn connect(path: Option<&Path>) -> rusqlite::Result<Connection> {
    let Some(path) = path else { return Connection::open_in_memory() };
    let connection = Connection::open(path)?;
    connection.busy_timeout(Duration::from_secs(5))?;
    Ok(connection)
}

/// Has readers and a writer work beside each other. The file remembers it, so it must be ours by now.
pub(super) fn share(connection: &Connection) -> rusqlite::Result<()> {
    // Answers with a row, which `pragma_update` does not take.
    connection.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(()))
}

/// Where it is, in words.
pub(super) fn place(path: Option<&Path>) -> String {
    path.map_or("memory".to_owned(), |path| path.display().to_string())
}
