//! The journal in the tab's own storage, full or damaged.

use pagehand::browser::Journal;
use pagehand::protocol::{EndReason, Entry, RunId, ThreadId};
use wasm_bindgen_test::wasm_bindgen_test as test;

use crate::support::{FullStorage, fresh_name, storage};

fn thread() -> ThreadId {
    ThreadId(fresh_name())
}

fn start(at: u64) -> Entry {
    Entry::RunStart { run: RunId::from("r"), at, message: None }
}

fn entries() -> Vec<Entry> {
    vec![start(7), Entry::RunEnd { run: RunId::from("r"), reason: EndReason::MaxSteps { limit: 24 } }]
}

#[test]
fn what_was_written_is_there_when_it_is_opened_again() {
    let thread = thread();
    let (journal, opened) = Journal::open(&thread);
    assert!(opened.entries.is_empty() && !opened.damaged);
    for entry in entries() {
        assert!(journal.append(&entry));
    }
    let (again, opened) = Journal::open(&thread);
    assert_eq!(opened.entries, entries());
    assert!(!opened.damaged);

    assert!(again.append(&start(9)), "and it goes on where it ended");
    assert_eq!(Journal::open(&thread).1.entries.len(), 3);
}

#[test]
fn two_threads_do_not_mix() {
    let (one, other) = (thread(), thread());
    Journal::open(&one).0.append(&start(1));
    Journal::open(&other).0.append(&start(2));
    assert_eq!(Journal::open(&one).1.entries, [start(1)]);
}

#[test]
fn a_damaged_line_ends_the_journal_there() {
    let thread = thread();
    let (journal, _) = Journal::open(&thread);
    (0..3).for_each(|at| assert!(journal.append(&start(at))));
    storage().set_item(&format!("pagehand:{thread}:1"), "{\"run_start\":{\"run\":").unwrap();
    let (again, opened) = Journal::open(&thread);
    assert_eq!((opened.entries, opened.damaged), (vec![start(0)], true));

    assert!(again.append(&start(8)), "what comes now takes the damaged line's place");
    assert_eq!(Journal::open(&thread).1.entries, [start(0), start(8)], "and what stood behind it is gone");
}

#[test]
fn a_full_storage_ends_the_journal_for_good() {
    let thread = thread();
    let (journal, _) = Journal::open(&thread);
    assert!(journal.append(&start(0)) && journal.is_kept());
    let full = FullStorage::new();
    assert!(!journal.append(&start(1)));
    assert!(!journal.is_kept());
    drop(full);
    assert!(!journal.append(&start(2)), "a journal with a hole in it would be another thread");
    assert_eq!(Journal::open(&thread).1.entries, [start(0)]);
}

#[test]
fn a_tab_knows_which_thread_an_element_had_open() {
    let (name, other) = (fresh_name(), fresh_name());
    assert_eq!(Journal::current(&name), None);
    Journal::set_current(&name, &ThreadId::from("t1"));
    Journal::set_current(&name, &ThreadId::from("t2"));
    assert_eq!(Journal::current(&name), Some(ThreadId::from("t2")));
    assert_eq!(Journal::current(&other), None);
}

#[test]
fn a_retired_thread_leaves_nothing_and_writes_nothing_more() {
    let thread = thread();
    let (journal, _) = Journal::open(&thread);
    entries().iter().for_each(|entry| assert!(journal.append(entry)));
    journal.retire();
    journal.append(&start(5));
    assert!(Journal::open(&thread).1.entries.is_empty());
}
