//! What is old goes; where there is too much, what can be spared goes sooner. Knows nothing of what a call came to.
//!
//! That a tool which must not run twice was run is known for the whole of [`KEPT`], whatever is in the way; only its
//! answer's text may go before. A call that may be repeated can be forgotten: it is run again.

use std::time::Duration;

use rusqlite::{Connection, params};

use crate::gateway::calls::table::ROW_SIZE;

/// How long a call is known, at least.
const KEPT: Duration = Duration::from_secs(7 * 24 * 60 * 60);

const MAX_IN_FILE: i64 = 1024 * 1024 * 1024;
const MAX_IN_MEMORY: i64 = 64 * 1024 * 1024;

// Between two looks: this long, or this much that came in.
const PAUSE_MS: i64 = 60_000;
const FRESH: i64 = 8 * 1024 * 1024;

pub(super) struct Room {
    most: i64,
    looked: i64,
    fresh: i64,
}

impl Room {
    pub(super) fn new(in_file: bool) -> Self {
        Self { most: if in_file { MAX_IN_FILE } else { MAX_IN_MEMORY }, looked: i64::MIN, fresh: 0 }
    }

    /// Counts an answer that came in.
    pub(super) fn count(&mut self, bytes: usize) {
        self.fresh += ROW_SIZE + bytes as i64;
    }

    /// Makes room, if it is time to look.
    pub(super) fn make(&mut self, connection: &Connection, now: i64) -> rusqlite::Result<()> {
        // A clock that was set back is looked at, too.
        let waited = now.saturating_sub(self.looked);
        if (0..PAUSE_MS).contains(&waited) && self.fresh < FRESH {
            return Ok(());
        }
        (self.looked, self.fresh) = (now, 0);
        let kept = i64::try_from(KEPT.as_millis()).unwrap_or(i64::MAX);
        connection.execute("DELETE FROM calls WHERE at < ?1", [now.saturating_sub(kept)])?;
        let held: i64 = connection.query_row("SELECT COALESCE(SUM(size), 0) FROM calls", [], |row| row.get(0))?;
        let mut over = held - self.most;
        if over <= 0 {
            return Ok(());
        }
        // More than must go, so that it is not done every time.
        over += self.most / 16;
        over -= spare(connection, over, "may_repeat AND stage <> 'running'", "DELETE FROM calls WHERE rowid = ?1")?;
        let blank = format!("UPDATE calls SET answer = NULL, size = {ROW_SIZE} WHERE rowid = ?1");
        spare(connection, over, "stage = 'done' AND answer IS NOT NULL AND NOT may_repeat", &blank)?;
        Ok(())
    }
}

// Does away with the oldest rows of a kind until that much is won; says how much was.
fn spare(connection: &Connection, wanted: i64, kind: &str, away: &str) -> rusqlite::Result<i64> {
    let sql = format!("SELECT rowid, size FROM calls WHERE {kind} ORDER BY at");
    let mut statement = connection.prepare(&sql)?;
    let mut rows = statement.query([])?;
    let (mut won, mut gone) = (0, Vec::<i64>::new());
    while won < wanted {
        let Some(row) = rows.next()? else { break };
        gone.push(row.get(0)?);
        won += row.get::<_, i64>(1)?;
    }
    drop(rows);
    let mut away = connection.prepare(away)?;
    for rowid in gone {
        away.execute(params![rowid])?;
    }
    Ok(won)
}
