//! What types and documents name, held against what there is.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use pagehand::protocol::{CallState, EndReason, ModelError, ModelErrorKind};
use serde_json::Value;

use crate::support::root;

// The texts of a union in `www/types.d.ts`: from these words to the end of the statement.
fn union(begins: &str) -> BTreeSet<String> {
    let types = fs::read_to_string(root().join("www/types.d.ts")).unwrap();
    let (_, rest) = types.split_once(begins).unwrap_or_else(|| panic!("no {begins}"));
    let (texts, _) = rest.split_once(';').unwrap();
    texts.split('\'').skip(1).step_by(2).map(str::to_owned).collect()
}

fn names<const N: usize>(names: [&str; N]) -> BTreeSet<String> {
    names.map(str::to_owned).into()
}

#[test]
fn every_end_of_a_run_is_in_the_types() {
    let all = [
        EndReason::Completed,
        EndReason::Stopped,
        EndReason::Superseded,
        EndReason::Interrupted,
        EndReason::Truncated,
        EndReason::Empty,
        EndReason::Length,
        EndReason::Refused { why: String::new() },
        EndReason::OutputMismatch { why: String::new() },
        EndReason::MaxSteps { limit: 1 },
        EndReason::MaxCalls { limit: 1, asked: 2 },
        EndReason::MaxTime { limit_ms: 1 },
        EndReason::MaxTokens { limit: 1, used: 2 },
        EndReason::MaxCost { limit_micros: 1, used_micros: 2 },
        EndReason::RepeatedCall { name: String::new(), limit: 1 },
        EndReason::Error(ModelError::new(ModelErrorKind::Network, "")),
    ];
    assert_eq!(names(all.each_ref().map(EndReason::as_str)), union("export type EndReason ="));
}

#[test]
fn every_state_of_a_call_is_in_the_types() {
    let all = [
        CallState::InputStreaming,
        CallState::InputAvailable,
        CallState::ApprovalRequested { reason: String::new(), payload: Value::Null },
        CallState::Running,
        CallState::Pending { job: String::new() },
        CallState::ResultAvailable { content: String::new() },
        CallState::Failed { code: String::new(), message: String::new() },
        CallState::Denied,
        CallState::Cancelled,
    ];
    assert_eq!(names(all.each_ref().map(CallState::as_str)), union("export type CallState ="));
}

#[test]
fn every_code_of_an_error_is_in_the_types() {
    let mut codes = BTreeSet::new();
    let mut read = |path: PathBuf, before: &str, mark: char| {
        let text: String = fs::read_to_string(path).unwrap().split_whitespace().collect();
        for (at, _) in text.match_indices(before) {
            codes.extend(text[at + before.len()..].split(mark).next().map(str::to_owned));
        }
    };
    for file in fs::read_dir(root().join("src/js")).unwrap() {
        let path = file.unwrap().path();
        read(path.clone(), "error(\"", '"');
        read(path, "all_well(\"", '"');
    }
    read(root().join("www/page-hand.js"), "fault('", '\'');
    // What an import says is between the two.
    codes.insert("invalid_thread".to_owned());
    assert_eq!(codes, union("export interface PageHandError extends Error"));
}

// A cell of the table names tests as: native/runs.rs: `one`, `another`; journeys/tabs: "a title"
#[test]
fn every_test_that_the_docs_name_exists() {
    let table = fs::read_to_string(root().join("docs/reliability.md")).unwrap();
    let (mut named, mut missing) = (0, Vec::new());
    for part in table.split(['|', ';', '\n']) {
        let Some((file, tests)) = part.trim().split_once(": ").filter(|(file, _)| file.ends_with(".rs")) else {
            continue;
        };
        let text = fs::read_to_string(root().join("tests").join(file)).unwrap_or_default();
        for test in tests.split('`').skip(1).step_by(2) {
            named += 1;
            if !text.contains(&format!("fn {test}(")) {
                missing.push(format!("{file}: {test}"));
            }
        }
    }
    assert_eq!(missing, [""; 0]);
    assert!(named > 50, "the table is read as it is written: {named}");
}
