//! The journal in the browser's database: full, denied, dead, damaged, of another version, or somebody else's.

use std::cell::RefCell;
use std::rc::Rc;

use pagehand::browser::{Artifacts, Database, ImportError, Journal, OpenError, Opened, Shelf, VERSION};
use pagehand::protocol::{Checkpoint, EndReason, Entry, MessageId, RunId, ThreadId, Usage, UserMessage};
use pagehand::session::{Told, Written};
use serde_json::{Value, json};
use wasm_bindgen_test::wasm_bindgen_test as test;

use crate::support::database::{Fault, delete, get, open_layout, put};
use crate::support::{fresh_name, until_so};

/// A database of a test's own, and a journal in it.
struct Desk {
    name: String,
    database: Database,
    journal: Rc<Journal>,
    heard: Rc<RefCell<Vec<Option<String>>>>,
}

const THREAD: &str = "t";

impl Desk {
    fn new() -> Self {
        Self::at(&fresh_name())
    }

    /// Another page's view of the same database.
    fn at(name: &str) -> Self {
        let name = name.to_owned();
        let database = Database::new(&name);
        let journal = Rc::new(Journal::new(&database, &ThreadId::from(THREAD)));
        Self { name, database, journal, heard: Rc::default() }
    }

    fn told(&self) -> Told {
        let heard = Rc::clone(&self.heard);
        Rc::new(move |kept| heard.borrow_mut().push(kept))
    }

    async fn open(&self) -> Opened {
        self.journal.open(self.told()).await.unwrap()
    }

    async fn write(&self, entries: &[Entry]) -> Written {
        entries.iter().for_each(|entry| self.journal.append(entry));
        self.journal.flush().await
    }

    /// What a page that comes later finds.
    async fn found(&self) -> Vec<Entry> {
        Self::at(&self.name).open().await.entries
    }

    fn words(&self) -> Vec<String> {
        let words = |why: &Option<String>| why.clone().unwrap_or_else(|| "kept".to_owned());
        self.heard.borrow().iter().map(words).collect()
    }
}

fn start(at: u64) -> Entry {
    Entry::RunStart { run: RunId::from("r"), at, message: None }
}

fn end() -> Entry {
    Entry::RunEnd { run: RunId::from("r"), reason: EndReason::MaxSteps { limit: 24 }, used: Usage::default() }
}

fn checkpoint() -> Entry {
    Entry::Checkpoint(Checkpoint::default())
}

#[test]
async fn what_was_written_is_there_when_it_is_opened_again() {
    let desk = Desk::new();
    assert!(desk.open().await.entries.is_empty());
    assert_eq!(desk.write(&[start(7), end()]).await, Written::Yes);

    let again = Desk::at(&desk.name);
    let opened = again.open().await;
    assert_eq!((opened.entries, opened.damaged), (vec![start(7), end()], false));
    assert_eq!(again.write(&[start(9)]).await, Written::Yes, "and it goes on where it ended");
    assert_eq!(desk.found().await, [start(7), end(), start(9)]);
    assert!(desk.words().is_empty());
}

#[test]
async fn the_second_of_two_writers_learns_that_the_thread_is_not_its_own() {
    let one = Desk::new();
    one.open().await;
    one.write(&[start(1)]).await;
    let second = Desk::at(&one.name);
    second.open().await;
    assert_eq!(second.write(&[start(2)]).await, Written::Yes);
    assert_eq!(one.write(&[start(3)]).await, Written::Lost);
    assert_eq!(one.write(&[start(4)]).await, Written::Lost, "for good");
    assert_eq!(one.found().await, [start(1), start(2)]);
}

#[test]
async fn who_takes_over_keeps_the_other_from_writing_on() {
    let one = Desk::new();
    one.open().await;
    one.write(&[start(1)]).await;
    let other = Desk::at(&one.name);
    let opened = other.journal.take_over(other.told()).await.unwrap();
    assert_eq!(opened.entries, [start(1)]);
    assert_eq!(one.write(&[end()]).await, Written::Lost);
    assert_eq!(other.write(&[end()]).await, Written::Yes);
    assert!(matches!(
        one.found().await.as_slice(),
        [Entry::RunStart { .. }, Entry::Owner { .. }, Entry::RunEnd { .. }]
    ));
}

#[test]
async fn lines_that_were_written_before_the_connection_died_are_our_own() {
    let desk = Desk::new();
    desk.open().await;
    // As far as this page knows nothing was written; the database has the first of two lines.
    put(&desk.name, "lines", r#"["t", 0]"#, &start(1).to_json().to_string()).await;
    assert_eq!(desk.write(&[start(1), end()]).await, Written::Yes);
    assert_eq!(desk.found().await, [start(1), end()]);
    put(&desk.name, "lines", r#"["t", 2]"#, &start(2).to_json().to_string()).await;
    assert_eq!(desk.write(&[start(3)]).await, Written::Lost, "and what is not the same is somebody else's");
}

#[test]
async fn a_damaged_line_ends_the_journal_there_and_nothing_is_thrown_away() {
    let desk = Desk::new();
    desk.open().await;
    desk.write(&[start(0), start(1), start(2)]).await;
    put(&desk.name, "lines", r#"["t", 1]"#, r#"{"entry":"run_st"#).await;

    let again = Desk::at(&desk.name);
    let opened = again.open().await;
    assert_eq!((opened.entries, opened.damaged), (vec![start(0)], true));
    assert_eq!(again.write(&[start(8)]).await, Written::Yes, "what comes now takes the damaged line's place");
    assert_eq!(desk.found().await, [start(0), start(8)]);
    assert_eq!(get(&desk.name, "damaged", r#"["t", 1]"#).await.as_deref(), Some(r#"{"entry":"run_st"#));
    assert!(get(&desk.name, "damaged", r#"["t", 2]"#).await.is_some(), "what stood behind it is kept, too");
}

#[test]
async fn a_missing_line_ends_the_journal_there() {
    let desk = Desk::new();
    desk.open().await;
    desk.write(&[start(0), start(1), start(2)]).await;
    delete(&desk.name, "lines", r#"["t", 1]"#).await;
    let opened = Desk::at(&desk.name).open().await;
    assert_eq!((opened.entries, opened.damaged), (vec![start(0)], true));
}

#[test]
async fn a_full_storage_keeps_nobody_waiting_and_loses_nothing() {
    let desk = Desk::new();
    desk.open().await;
    let fault = Fault::full(1);
    assert_eq!(desk.write(&[start(0)]).await, Written::InMemory);
    assert_eq!(desk.write(&[start(1)]).await, Written::InMemory, "it is left alone for a while");
    drop(fault);
    // Nobody writes any more; it is tried again all the same.
    until_so("the journal to be written", || desk.words().len() == 2).await;
    assert_eq!(desk.words(), ["the browser's storage is full", "kept"]);
    assert_eq!(desk.found().await, [start(0), start(1)]);
}

#[test]
async fn without_a_database_the_thread_is_kept_in_memory() {
    for fault in [Fault::none, Fault::denied] {
        let (fault, why) = (fault(), "this browser does not let the page keep anything");
        let desk = Desk::new();
        assert_eq!(desk.journal.open(desk.told()).await.unwrap_err(), OpenError::Failed(why.to_owned()));
        desk.journal.begin(desk.told());
        assert_eq!(desk.write(&[start(0)]).await, Written::InMemory);
        assert_eq!(desk.words(), [why]);
        drop(fault);
    }
}

#[test]
async fn a_dead_connection_is_opened_anew() {
    let desk = Desk::new();
    desk.open().await;
    desk.write(&[start(0)]).await;
    let fault = Fault::dead(1);
    assert_eq!(desk.write(&[start(1)]).await, Written::Yes);
    drop(fault);
    desk.database.close();
    assert_eq!(desk.write(&[start(2)]).await, Written::Yes);
    assert_eq!(desk.found().await.len(), 3);
    assert!(desk.words().is_empty(), "nobody needs to hear of it");
}

#[test]
async fn a_connection_that_stays_dead_is_no_loss() {
    let desk = Desk::new();
    desk.open().await;
    let fault = Fault::dead(9);
    assert_eq!(desk.write(&[start(0)]).await, Written::InMemory);
    drop(fault);
    until_so("the journal to be written", || desk.words().last().is_some_and(|word| word == "kept")).await;
    assert_eq!(desk.found().await, [start(0)]);
}

#[test]
async fn an_older_layout_is_brought_up_to_date_with_what_is_in_it() {
    let name = fresh_name();
    open_layout(&name, 1, "lines threads").await.unwrap();
    put(&name, "lines", r#"["t", 0]"#, &start(5).to_json().to_string()).await;
    let desk = Desk::at(&name);
    assert_eq!(desk.open().await.entries, [start(5)]);
    assert_eq!(desk.write(&[end()]).await, Written::Yes);
    let artifacts = Artifacts::of(&desk.journal);
    artifacts.save("report", "long".to_owned(), "text/plain").1.await;
    assert!(get(&name, "artifacts", r#"["t", "report", 1]"#).await.is_some());
}

#[test]
async fn a_newer_layout_is_read_and_not_written() {
    let desk = Desk::new();
    desk.open().await;
    desk.write(&[start(1)]).await;
    open_layout(&desk.name, VERSION + 1, "lines threads artifacts damaged later")
        .await
        .expect("an open page lets a newer one change the layout");
    assert_eq!(desk.write(&[start(2)]).await, Written::InMemory);
    assert_eq!(desk.words(), ["a newer version of this page is open in another tab; load this one again"]);
    assert_eq!(Desk::at(&desk.name).journal.read().await.unwrap().entries, [start(1)]);
}

#[test]
async fn what_a_later_version_wrote_is_left_alone() {
    let desk = Desk::new();
    desk.open().await;
    desk.write(&[Entry::RunStart { run: RunId::from("r"), at: 1, message: None }]).await;
    put(&desk.name, "threads", r#""t""#, r#"{"format":3}"#).await;
    assert_eq!(Desk::at(&desk.name).journal.open(desk.told()).await.unwrap_err(), OpenError::Newer);
}

#[test]
async fn a_long_thread_is_read_from_a_checkpoint_and_the_rest_on_demand() {
    let desk = Desk::new();
    desk.open().await;
    let mut all = Vec::new();
    for round in 0..3 {
        all.extend((0..150).map(|at| start(round * 1000 + at)));
        all.push(checkpoint());
    }
    all.extend((0..10).map(|at| start(9000 + at)));
    desk.write(&all).await;

    let again = Desk::at(&desk.name);
    let opened = again.open().await;
    // The last checkpoint leaves too little to show; the one before it is at line 301.
    assert_eq!(opened.entries, all[301..]);
    assert_eq!(again.journal.first(), 301);
    let (from, page) = again.journal.page_before(301).await.unwrap();
    assert_eq!((from, page.as_slice()), (150, &all[150..301]));
    let (from, page) = again.journal.page_before(150).await.unwrap();
    assert_eq!((from, page.as_slice()), (0, &all[..150]));
    assert_eq!(again.journal.earlier().await, all[..301]);
    assert_eq!(again.write(&[end()]).await, Written::Yes);
    assert_eq!(desk.found().await.len(), all.len() - 301 + 1);
}

#[test]
async fn two_threads_do_not_mix() {
    let desk = Desk::new();
    desk.open().await;
    desk.write(&[start(1)]).await;
    let other = Journal::new(&desk.database, &ThreadId::from("t2"));
    assert!(other.open(desk.told()).await.unwrap().entries.is_empty());
    other.append(&start(2));
    assert_eq!(other.flush().await, Written::Yes);
    assert_eq!(desk.found().await, [start(1)]);
}

#[test]
async fn a_retired_thread_leaves_nothing_and_writes_nothing_more() {
    let desk = Desk::new();
    desk.open().await;
    desk.write(&[start(1)]).await;
    Artifacts::of(&desk.journal).save("report", "long".to_owned(), "text/plain").1.await;
    desk.journal.retire().await.unwrap();
    assert_eq!(desk.write(&[start(2)]).await, Written::Yes);
    assert!(desk.found().await.is_empty());
    assert_eq!(get(&desk.name, "artifacts", r#"["t", "report", 1]"#).await, None);
    assert!(Shelf::new(&desk.database).list("").await.is_empty());
}

#[test]
async fn artifacts_have_versions_and_outlive_the_page() {
    let desk = Desk::new();
    desk.open().await;
    let artifacts = Artifacts::of(&desk.journal);
    let (first, keeping) = artifacts.save("report", "one".to_owned(), "text/plain");
    assert_eq!(artifacts.load("report", None).await, Some((1, "one".to_owned())), "before it is kept");
    keeping.await;
    let (second, keeping) = artifacts.save("report", "two".to_owned(), "text/markdown");
    keeping.await;
    assert_eq!((first, second), (1, 2));

    let again = Desk::at(&desk.name);
    again.open().await;
    let artifacts = Artifacts::of(&again.journal);
    assert_eq!(artifacts.load("report", None).await, Some((2, "two".to_owned())));
    assert_eq!(artifacts.load("report", Some(1)).await, Some((1, "one".to_owned())));
    assert_eq!(artifacts.load("report", Some(3)).await, None);
    assert_eq!(artifacts.load("other", None).await, None);
    assert_eq!(artifacts.list(), json!({ "report": { "mediaType": "text/markdown", "versions": 2, "characters": 3 } }));
}

#[test]
async fn artifacts_are_kept_in_memory_where_there_is_no_database() {
    let fault = Fault::none();
    let desk = Desk::new();
    let artifacts = Artifacts::of(&desk.journal);
    artifacts.save("report", "one".to_owned(), "text/plain").1.await;
    assert_eq!(artifacts.load("report", None).await, Some((1, "one".to_owned())));
    drop(fault);
}

#[test]
async fn a_thread_goes_into_a_file_and_comes_out_of_it() {
    let desk = Desk::new();
    desk.open().await;
    let words = Entry::RunStart {
        run: RunId::from("r"),
        at: 7,
        message: Some(UserMessage::new(MessageId::from("m"), "Hello")),
    };
    desk.write(&[words.clone(), end()]).await;
    Artifacts::of(&desk.journal).save("report", "long".to_owned(), "text/csv").1.await;
    let shelf = Shelf::new(&desk.database);
    let file = shelf.export(&ThreadId::from(THREAD), desk.journal.waiting()).await.unwrap();
    assert_eq!(file["format"], "pagehand-thread");
    assert_eq!(file["title"], "Hello");

    // Beside the one that is there, under an id of its own; elsewhere under its old one.
    let copy = shelf.import(&file, "anna").await.unwrap();
    assert_ne!(copy.as_str(), THREAD);
    assert_eq!(shelf.list("anna").await[0].title, "Hello");
    assert_eq!(shelf.list("").await.len(), 1, "and the first is nobody else's");
    let elsewhere = Desk::new();
    let id = Shelf::new(&elsewhere.database).import(&file, "").await.unwrap();
    assert_eq!(id.as_str(), THREAD);
    assert_eq!(elsewhere.open().await.entries, [words, end()]);
    let artifacts = Artifacts::of(&elsewhere.journal);
    assert_eq!(artifacts.load("report", None).await, Some((1, "long".to_owned())));
    assert_eq!(artifacts.list()["report"]["mediaType"], "text/csv");
}

#[test]
async fn a_file_that_is_no_thread_is_refused_with_the_place() {
    let desk = Desk::new();
    let shelf = Shelf::new(&desk.database);
    let line = start(1).to_json();
    let words = Entry::RunStart {
        run: RunId::from("r"),
        at: 7,
        message: Some(UserMessage::new(MessageId::from("m"), "Hello")),
    };
    let words = words.to_json();
    for (file, words) in [
        (Value::Null, "this is no thread: \"format\" is not \"pagehand-thread\""),
        (json!({ "format": "pagehand-thread" }), "\"version\" is missing"),
        (json!({ "format": "pagehand-thread", "version": 3 }), "the file is of version 3; this page reads up to 2"),
        (json!({ "format": "pagehand-thread", "version": 1 }), "\"entries\" is no list"),
        (
            json!({ "format": "pagehand-thread", "version": 1, "entries": [words, line, words] }),
            "entries[2]: the id m is there twice",
        ),
        (
            json!({ "format": "pagehand-thread", "version": 1, "entries": [] }),
            "\"entries\" is empty: there is no thread in it",
        ),
        (
            json!({ "format": "pagehand-thread", "version": 1, "entries": [line, { "entry": "later" }] }),
            "entries[1] is no line of a journal",
        ),
        (
            json!({ "format": "pagehand-thread", "version": 1, "entries": [line], "artifacts": [{}] }),
            "artifacts[0] has no name, version or text",
        ),
    ] {
        assert_eq!(shelf.import(&file, "").await.unwrap_err(), ImportError::File(words.to_owned()));
    }
    assert!(shelf.list("").await.is_empty());
}

#[test]
async fn threads_are_listed_for_their_user_the_latest_first() {
    let desk = Desk::new();
    for (id, at, user) in [("a", 1, "anna"), ("b", 3, "anna"), ("c", 2, "anna"), ("d", 4, "bert")] {
        let journal = Journal::new(&desk.database, &ThreadId::from(id));
        journal.open(desk.told()).await.unwrap();
        journal.row().borrow_mut().user = user.to_owned();
        journal.append(&Entry::RunStart {
            run: RunId::from("r"),
            at,
            message: Some(UserMessage::new(MessageId::from("m"), id)),
        });
        journal.flush().await;
    }
    let list = Shelf::new(&desk.database).list("anna").await;
    assert_eq!(list.iter().map(|thread| thread.id.as_str()).collect::<Vec<_>>(), ["b", "c", "a"]);
}
