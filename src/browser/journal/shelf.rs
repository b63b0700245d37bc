//! All threads of the database: their list, a thread as a file, and back. Knows nothing of one that is at work.
//!
//! The file is one JSON object:
//!
//! ```json
//! { "format": "pagehand-thread", "version": 1, "thread": "…", "title": "…", "entries": [ … ],
//!   "artifacts": [ { "name": "…", "version": 1, "mediaType": "…", "text": "…" } ] }
//! ```

use js_sys::Array;
use serde_json::Value;
use wasm_bindgen::JsValue;

use crate::browser::journal::database::{ARTIFACTS, Access, DAMAGED, Deed, LINES, Range, THREADS};
use crate::browser::journal::{Row, artifact_key, line_key, lines_of, put_row};
use crate::browser::{Artifact, Database, clock, random_seed};
use crate::protocol::{Entry, IdMint, Millis, ThreadId, object};
use crate::session::StoreError;

const FILE: &str = "pagehand-thread";
const FILE_VERSION: u64 = 1;

// Threads that are kept; the oldest go first.
const MOST: usize = 100;

/// All threads of a database.
pub struct Shelf {
    database: Database,
}

/// A thread in the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadInfo {
    /// Its id.
    pub id: ThreadId,
    /// The user's first words.
    pub title: String,
    /// When something was last said.
    pub at: Millis,
}

impl Shelf {
    /// The threads of this database.
    #[must_use]
    pub fn new(database: &Database) -> Self {
        Self { database: database.clone() }
    }

    /// A user's threads, the latest first; empty where the database can not be read.
    pub async fn list(&self, user: &str) -> Vec<ThreadInfo> {
        let mut threads = self.rows().await;
        threads.retain(|(_, row)| row.user == user);
        threads.into_iter().map(|(id, row)| ThreadInfo { id, title: row.title, at: row.at }).collect()
    }

    /// Forgets a thread, with everything that belongs to it.
    pub async fn delete(&self, thread: &ThreadId) {
        let thread = JsValue::from_str(&thread.0);
        let mut deeds = vec![Deed::Delete(THREADS, Some((thread.clone(), behind(&thread))))];
        deeds.extend([LINES, ARTIFACTS, DAMAGED].map(|store| Deed::Delete(store, all_of(&thread))));
        let _ = self.database.run(Access::Write, deeds).await;
    }

    /// Forgets the oldest threads where there are too many.
    pub async fn prune(&self) {
        for (id, _) in self.rows().await.iter().skip(MOST) {
            self.delete(id).await;
        }
    }

    /// A thread as a file; `None` where there is none, or the database can not be read.
    pub async fn export(&self, thread: &ThreadId) -> Option<Value> {
        let id = JsValue::from_str(&thread.0);
        let deeds = vec![
            Deed::Get(THREADS, id.clone()),
            Deed::All(LINES, lines_of(&thread.0, 0, u32::MAX)),
            Deed::Keys(ARTIFACTS, all_of(&id)),
            Deed::All(ARTIFACTS, all_of(&id)),
        ];
        let read = self.database.run(Access::Read, deeds).await.ok()?;
        let row = Row::from_json(&json(&read[0])?);
        let [lines, keys, texts] = [1, 2, 3].map(|at| Array::from(&read[at]));
        let artifacts = keys.iter().zip(texts.iter()).filter_map(|(key, text)| {
            let key = Array::from(&key);
            let (name, version) = (key.get(1).as_string()?, key.get(2).as_f64()? as u32);
            let media = row.artifacts.get(&name).map_or("text/plain", |artifact| artifact.media_type.as_str());
            Some(object(vec![
                ("name", name.as_str().into()),
                ("version", version.into()),
                ("mediaType", media.into()),
                ("text", text.as_string()?.into()),
            ]))
        });
        Some(object(vec![
            ("format", FILE.into()),
            ("version", FILE_VERSION.into()),
            ("thread", thread.as_str().into()),
            ("title", row.title.as_str().into()),
            ("artifacts", artifacts.collect()),
            ("entries", lines.iter().filter_map(|line| json(&line)).collect()),
        ]))
    }

    /// Keeps the thread of a file, under an id of its own where there is one of that id already.
    ///
    /// # Errors
    /// Words that say what is wrong with the file, and where; or why nothing can be kept.
    pub async fn import(&self, file: &Value, user: &str) -> Result<ThreadId, String> {
        let (entries, artifacts, mut row) = read_file(file)?;
        user.clone_into(&mut row.user);
        let told = file.get("thread").and_then(Value::as_str).filter(|id| !id.is_empty());
        let mut id = told.map_or_else(fresh, str::to_owned);
        loop {
            let lines = (0..).zip(&entries).map(|(number, line)| Deed::Add(LINES, line_key(&id, number), line.clone()));
            let texts = artifacts
                .iter()
                .map(|(name, version, text)| Deed::put(ARTIFACTS, artifact_key(&id, name, *version), text));
            let row = [put_row(&id, &row.to_json().to_string())];
            match self.database.run(Access::Write, lines.chain(texts).chain(row).collect()).await {
                Ok(_) => return Ok(ThreadId(id)),
                Err(StoreError::Taken) => id = fresh(),
                Err(StoreError::Failed(why)) => return Err(why),
            }
        }
    }

    // The latest first.
    async fn rows(&self) -> Vec<(ThreadId, Row)> {
        let deeds = vec![Deed::Keys(THREADS, None), Deed::All(THREADS, None)];
        let Ok(read) = self.database.run(Access::Read, deeds).await else { return Vec::new() };
        let thread = |(key, row): (JsValue, JsValue)| Some((ThreadId(key.as_string()?), Row::from_json(&json(&row)?)));
        let (keys, texts) = (Array::from(&read[0]), Array::from(&read[1]));
        // Put in place one by one: for a hundred threads a sort is more to load than it is worth.
        let mut rows: Vec<(ThreadId, Row)> = Vec::new();
        for (id, row) in keys.iter().zip(texts.iter()).filter_map(thread) {
            let place = rows.iter().position(|(_, other)| other.at < row.at).unwrap_or(rows.len());
            rows.insert(place, (id, row));
        }
        rows
    }
}

type Texts = Vec<(String, u32, String)>;

fn read_file(file: &Value) -> Result<(Vec<String>, Texts, Row), String> {
    if file.get("format").and_then(Value::as_str) != Some(FILE) {
        return Err(format!("this is no thread: \"format\" is not \"{FILE}\""));
    }
    match file.get("version").and_then(Value::as_u64) {
        Some(version) if version <= FILE_VERSION => {}
        Some(version) => return Err(format!("the file is of version {version}; this page reads up to {FILE_VERSION}")),
        None => return Err("\"version\" is missing".to_owned()),
    }
    let mut row = Row { at: clock::now(), ..Row::default() };
    let mut entries = Vec::new();
    let list = file.get("entries").and_then(Value::as_array).ok_or("\"entries\" is no list")?;
    for (number, line) in (0..).zip(list) {
        let entry = Entry::from_json(line).ok_or_else(|| format!("entries[{number}] is no line of a journal"))?;
        row.follow(number, &entry);
        entries.push(line.to_string());
    }
    let mut texts = Vec::new();
    for (at, one) in file.get("artifacts").and_then(Value::as_array).into_iter().flatten().enumerate() {
        let text = |field: &str| one.get(field).and_then(Value::as_str);
        let version = one.get("version").and_then(Value::as_u64).and_then(|version| u32::try_from(version).ok());
        let (Some(name), Some(content), Some(version)) = (text("name"), text("text"), version) else {
            return Err(format!("artifacts[{at}] has no name, version or text"));
        };
        let known = row.artifacts.get(name).map_or(0, |artifact| artifact.versions);
        if version > known {
            let media_type = text("mediaType").unwrap_or("text/plain").to_owned();
            let artifact = Artifact { media_type, versions: version, characters: content.chars().count() };
            row.artifacts.insert(name.to_owned(), artifact);
        }
        texts.push((name.to_owned(), version, content.to_owned()));
    }
    Ok((entries, texts, row))
}

fn fresh() -> String {
    IdMint::new(random_seed()).mint()
}

fn json(text: &JsValue) -> Option<Value> {
    serde_json::from_str(&text.as_string()?).ok()
}

// Every key that begins with the thread's id: in the order of keys, a list stands behind all numbers and texts.
fn all_of(thread: &JsValue) -> Range {
    Some((Array::of1(thread).into(), Array::of2(thread, &Array::new()).into()))
}

// The first text behind another.
fn behind(text: &JsValue) -> JsValue {
    JsValue::from_str(&format!("{}\0", text.as_string().unwrap_or_default()))
}
