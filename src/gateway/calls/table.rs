//! The rows of the record. Knows nothing of when one is written.

use rusqlite::{Connection, OptionalExtension, params};
use serde_json::json;

use crate::gateway::calls::Key;

/// How far a call is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// Begun.
    Running,
    /// Answered with a question to the user.
    Asked,
    /// Answered with an error that is worth repeating.
    Failed,
    /// Answered for good.
    Done,
}

/// A call.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) tool: String,
    /// The hash of its definition.
    pub(super) definition: String,
    /// The hash of its arguments.
    pub(super) arguments: String,
    pub(super) may_repeat: bool,
    pub(super) stage: Stage,
    /// Status and JSON; `None` where it has none, or none that is kept.
    pub(super) answer: Option<(u16, String)>,
}

/// What a row takes beside its answer, about.
pub(super) const ROW_SIZE: i64 = 512;

const COLUMNS: &str = "user, key, tool, definition, arguments, may_repeat, stage, status, answer, at, size";
const UPDATE: &str = "tool = excluded.tool, definition = excluded.definition, arguments = excluded.arguments,
    may_repeat = excluded.may_repeat, stage = excluded.stage, status = excluded.status, answer = excluded.answer,
    at = excluded.at, size = excluded.size";

impl Stage {
    const ALL: [Self; 4] = [Self::Running, Self::Asked, Self::Failed, Self::Done];

    fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Asked => "asked",
            Self::Failed => "failed",
            Self::Done => "done",
        }
    }
}

impl Row {
    pub(super) fn find(connection: &Connection, key: &Key) -> rusqlite::Result<Option<Self>> {
        let sql = "SELECT tool, definition, arguments, may_repeat, stage, status, answer FROM calls
            WHERE user = ?1 AND key = ?2";
        let mut statement = connection.prepare_cached(sql)?;
        let found = statement.query_row(params![user(key), key.call], |row| {
            let stage: String = row.get(4)?;
            let status: Option<u16> = row.get(5)?;
            let answer: Option<String> = row.get(6)?;
            Ok(Self {
                tool: row.get(0)?,
                definition: row.get(1)?,
                arguments: row.get(2)?,
                may_repeat: row.get(3)?,
                // What can not be read was begun, and no more is known of it.
                stage: Stage::ALL.into_iter().find(|one| one.as_str() == stage).unwrap_or(Stage::Running),
                answer: status.zip(answer),
            })
        });
        found.optional()
    }

    /// Writes a call that begins, in place of what was there.
    pub(super) fn begin(&self, connection: &Connection, key: &Key, at: i64) -> rusqlite::Result<()> {
        self.write(connection, key, at, "")
    }

    /// Writes a call that ended, unless it did so before: in another gateway over the same file.
    pub(super) fn end(&self, connection: &Connection, key: &Key, at: i64) -> rusqlite::Result<()> {
        self.write(connection, key, at, "WHERE calls.stage = 'running'")
    }

    fn write(&self, connection: &Connection, key: &Key, at: i64, condition: &str) -> rusqlite::Result<()> {
        let sql = format!(
            "INSERT INTO calls ({COLUMNS}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)
             ON CONFLICT (user, key) DO UPDATE SET {UPDATE} {condition}"
        );
        let (status, answer) = self.answer.as_ref().map(|(status, text)| (status, text)).unzip();
        let size = ROW_SIZE + answer.map_or(0, |text| text.len() as i64);
        connection.prepare_cached(&sql)?.execute(params![
            user(key),
            key.call,
            self.tool,
            self.definition,
            self.arguments,
            self.may_repeat,
            self.stage.as_str(),
            status,
            answer,
            at,
            size
        ])?;
        Ok(())
    }
}

// Nobody is not a user without a name.
fn user(key: &Key) -> String {
    json!(key.user).to_string()
}
