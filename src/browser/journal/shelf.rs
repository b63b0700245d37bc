//! All threads of the database: their list, a thread as a file, and back. Knows nothing of one that is at work.
//!
//! The file is one JSON object:
//!
//! ```json
//! { "format": "pagehand-thread", "version": 2, "thread": "…", "title": "…", "entries": [ … ],
//!   "artifacts": [ { "name": "…", "version": 1, "mediaType": "…", "text": "…" } ] }
//! ```

use js_sys::Array;
use serde_json::Value;
use wasm_bindgen::{JsCast, JsValue};

use crate::agent::{CHECKPOINT_LINES, Config, Input, Output, Run};
use crate::browser::journal::database::{ARTIFACTS, Access, DAMAGED, Deed, LINES, Range, THREADS};
use crate::browser::journal::{Row, artifact_key, line_key, lines_of};
use crate::browser::{Artifact, Database, clock, fresh_thread, random_seed};
use crate::protocol::{EndReason, Entry, Millis, Names, ThreadId, UserMessage, object};
use crate::session::StoreError;

const FILE: &str = "pagehand-thread";
const FILE_VERSION: u64 = 2;

// Threads that are kept; the oldest go first.
const MOST: usize = 100;

/// All threads of a database.
pub struct Shelf {
    database: Database,
}

/// Why a file could not be taken in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ImportError {
    /// What is wrong with it, and where.
    File(String),
    /// Why nothing can be kept.
    Kept(String),
}

impl ImportError {
    /// The code of the error in JavaScript.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::File(_) => "invalid_thread",
            Self::Kept(_) => "not_saved",
        }
    }

    /// In words.
    #[must_use]
    pub fn words(&self) -> &str {
        match self {
            Self::File(words) | Self::Kept(words) => words,
        }
    }
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
    ///
    /// # Errors
    /// Why it could not be forgotten, for the user.
    pub async fn delete(&self, thread: &ThreadId) -> Result<(), String> {
        let thread = JsValue::from_str(&thread.0);
        let mut deeds = vec![Deed::Delete(THREADS, (thread.clone(), behind(&thread)))];
        deeds.extend([LINES, ARTIFACTS, DAMAGED].map(|store| Deed::Delete(store, all_of(&thread))));
        self.database.run(Access::Write, deeds).await.map(drop).map_err(StoreError::into_words)
    }

    /// Forgets a user's oldest threads where there are too many.
    pub async fn prune(&self, user: &str) {
        for thread in self.list(user).await.iter().skip(MOST) {
            let _ = self.delete(&thread.id).await;
        }
    }

    /// A thread as a file, with the lines of it that are not written yet; `None` where nothing was said in it, or the
    /// database can not be read.
    pub async fn export(&self, thread: &ThreadId, waiting: (u32, Vec<Entry>)) -> Option<Value> {
        let id = JsValue::from_str(&thread.0);
        let deeds = vec![
            Deed::Get(THREADS, id.clone()),
            Deed::All(LINES, lines_of(&thread.0, 0, u32::MAX)),
            Deed::Keys(ARTIFACTS, all_of(&id)),
            Deed::All(ARTIFACTS, all_of(&id)),
        ];
        let read = match self.database.run(Access::Read, deeds).await {
            Ok(read) => read,
            // Nothing was ever written: all of it waits.
            Err(_) if waiting.0 == 0 => vec![JsValue::UNDEFINED; 4],
            Err(_) => return None,
        };
        let row = json(&read[0]).as_ref().map(Row::from_json).unwrap_or_default();
        let [lines, keys, texts] = [1, 2, 3].map(|at| read[at].dyn_ref::<Array>().cloned().unwrap_or_default());
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
        let mut entries: Vec<Value> = lines.iter().filter_map(|line| json(&line)).collect();
        if !waiting.1.is_empty() {
            entries.truncate(waiting.0 as usize);
            entries.extend(waiting.1.iter().map(Entry::to_json));
        }
        if entries.is_empty() {
            return None;
        }
        Some(object(vec![
            ("format", FILE.into()),
            ("version", FILE_VERSION.into()),
            ("thread", thread.as_str().into()),
            ("title", row.title.as_str().into()),
            ("artifacts", artifacts.collect()),
            ("entries", entries.into()),
        ]))
    }

    /// Keeps the thread of a file, under an id of its own where there is one of that id already.
    ///
    /// # Errors
    /// What is wrong with the file, and where; or why nothing can be kept.
    pub async fn import(&self, file: &Value, user: &str) -> Result<ThreadId, ImportError> {
        let (entries, artifacts, mut row) = read_file(file).map_err(ImportError::File)?;
        user.clone_into(&mut row.user);
        let told = file.get("thread").and_then(Value::as_str).filter(|id| !id.is_empty());
        let mut id = told.map_or_else(fresh_thread, |told| ThreadId(told.to_owned()));
        loop {
            let lines =
                (0..).zip(&entries).map(|(number, line)| Deed::Add(LINES, line_key(&id.0, number), line.clone()));
            let texts = artifacts
                .iter()
                .map(|(name, version, text)| Deed::put(ARTIFACTS, artifact_key(&id.0, name, *version), text));
            let row = [Deed::Add(THREADS, JsValue::from_str(&id.0), row.to_json().to_string())];
            match self.database.run(Access::Write, lines.chain(texts).chain(row).collect()).await {
                Ok(_) => return Ok(id),
                Err(StoreError::Taken) => id = fresh_thread(),
                Err(StoreError::Failed(why)) => return Err(ImportError::Kept(why)),
            }
        }
    }

    // The latest first.
    async fn rows(&self) -> Vec<(ThreadId, Row)> {
        let deeds = vec![Deed::Keys(THREADS, all_texts()), Deed::All(THREADS, all_texts())];
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
    let list = file.get("entries").and_then(Value::as_array).ok_or("\"entries\" is no list")?;
    let mut entries = Vec::new();
    for (at, line) in list.iter().enumerate() {
        entries.push(Entry::from_json(line).ok_or_else(|| format!("entries[{at}] is no line of a journal"))?);
    }
    unique(&entries)?;
    if entries.is_empty() {
        return Err("\"entries\" is empty: there is no thread in it".to_owned());
    }
    let entries = at_rest(entries);
    let mut row = Row { at: clock::now(), ..Row::default() };
    for (number, entry) in (0..).zip(&entries) {
        row.follow(number, entry);
    }
    let entries = entries.iter().map(|entry| entry.to_json().to_string()).collect();
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

// An id that is there twice would part a call from its result.
fn unique(entries: &[Entry]) -> Result<(), String> {
    let mut ids = Names::default();
    for (at, entry) in entries.iter().enumerate() {
        let (message, calls) = match entry {
            Entry::RunStart { message: Some(UserMessage { id, .. }), .. } => (id, Vec::new()),
            Entry::Message(answer) => (&answer.id, answer.calls().map(|call| call.id.as_str()).collect()),
            _ => continue,
        };
        for id in calls.into_iter().chain([message.as_str()]) {
            if !ids.add(id) {
                return Err(format!("entries[{at}]: the id {id} is there twice"));
            }
        }
    }
    Ok(())
}

// What a file says was begun is not gone on with: nobody here has agreed to it, or is at work on it. Its checkpoints are
// made anew, as they are what is trusted of a thread that is not read whole.
fn at_rest(mut entries: Vec<Entry>) -> Vec<Entry> {
    entries.retain(|entry| !matches!(entry, Entry::Checkpoint(_)));
    let config = Config { checkpoint_lines: u32::MAX, ..Config::new(ThreadId(String::new()), random_seed()) };
    let mut run = Run::restore(config.clone(), &entries);
    run.handle(clock::now(), Input::Stop);
    for job in run.checkpoint().jobs {
        run.handle(clock::now(), Input::CancelJob { call: job.call.id });
    }
    let said = std::iter::from_fn(|| run.poll()).filter_map(|output| match output {
        Output::Save(entry) => Some(entry),
        _ => None,
    });
    entries.extend(said);
    let (mut marked, mut since): (Vec<Entry>, usize) = (Vec::new(), 0);
    for entry in entries {
        let ends = matches!(entry, Entry::RunEnd { reason: EndReason::Completed, .. });
        marked.push(entry);
        if ends && marked.len() - since >= CHECKPOINT_LINES as usize {
            let part = Run::restore(config.clone(), &marked[since..]);
            since = marked.len();
            marked.push(Entry::Checkpoint(part.checkpoint()));
        }
    }
    marked
}

fn json(text: &JsValue) -> Option<Value> {
    serde_json::from_str(&text.as_string()?).ok()
}

// Every key that is a text. In the order of keys, a list stands behind all numbers and texts.
fn all_texts() -> Range {
    (JsValue::from_str(""), Array::new().into())
}

// Every key that begins with the thread's id.
fn all_of(thread: &JsValue) -> Range {
    (Array::of1(thread).into(), Array::of2(thread, &Array::new()).into())
}

// The first text behind another.
fn behind(text: &JsValue) -> JsValue {
    JsValue::from_str(&format!("{}\0", text.as_string().unwrap_or_default()))
}
