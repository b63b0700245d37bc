//! The schema engines against the public JSON-Schema-Test-Suite: drafts 2020-12 and 7, all required cases.

use std::collections::BTreeMap;
use std::fs;

use pagehand::tools::{ProblemKind, Schema, SchemaProblem};
use serde_json::{Value, json};

use crate::support::{root, suite};

const DRAFTS: [(&str, &str); 2] = [
    ("draft2020-12", "https://json-schema.org/draft/2020-12/schema"),
    ("draft7", "http://json-schema.org/draft-07/schema#"),
];

/// One schema of the suite with its cases.
struct Group {
    place: String,
    schema: Value,
    cases: Vec<(Value, bool)>,
}

#[derive(Default)]
struct Tally {
    schemas: usize,
    cases: usize,
    wrong: Vec<String>,
    // By keyword.
    refused: BTreeMap<String, usize>,
}

type Compile = fn(&Value) -> Result<Schema, Vec<SchemaProblem>>;

// `None` where this machine has no suite.
fn groups(draft: &str, meta: &str) -> Option<Vec<Group>> {
    let folder = suite(&format!("json-schema/{draft}"))?;
    let mut paths: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|kind| kind == "json"));
    paths.sort();
    let mut groups = Vec::new();
    for path in paths {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let file: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        for group in file.as_array().unwrap() {
            let mut schema = group["schema"].clone();
            // Draft 7 files leave their draft to the folder's name.
            if let Some(map) = schema.as_object_mut() {
                map.entry("$schema").or_insert(meta.into());
            }
            let cases = group["tests"].as_array().unwrap().iter();
            let cases = cases.map(|case| (case["data"].clone(), case["valid"].as_bool().unwrap())).collect();
            groups.push(Group { place: format!("{name}: {}", group["description"]), schema, cases });
        }
    }
    Some(groups)
}

// `whole`: only what would have to be fetched may be refused.
fn judge(groups: &[Group], compile: Compile, whole: bool) -> Tally {
    let mut tally = Tally::default();
    for group in groups {
        match compile(&group.schema) {
            Ok(schema) => {
                tally.schemas += 1;
                tally.cases += group.cases.len();
                for (data, valid) in &group.cases {
                    let found = schema.check(data);
                    if found.is_ok() != *valid {
                        tally
                            .wrong
                            .push(format!("{}: {data} in {} is {valid}, not {found:?}", group.place, group.schema));
                    }
                }
            }
            Err(problems) => {
                let remote = group.schema.to_string().contains("http://localhost:1234/");
                assert!(remote || !whole, "{}: {problems:?}", group.place);
                for problem in &problems {
                    let words = format!("{}: {problem} in {}", group.place, group.schema);
                    assert_eq!(problem.kind, ProblemKind::Unchecked, "{words}");
                    assert!(!problem.path.is_empty() && !problem.message.is_empty(), "{words}");
                }
                let keyword = problems[0].path.rsplit('/').next().unwrap_or_default();
                *tally.refused.entry(keyword.to_owned()).or_default() += 1;
            }
        }
    }
    tally
}

// At least so many schemas and cases must be taken, so that nothing is passed over in silence.
fn check(draft: usize, whole: bool, schemas: usize, cases: usize) {
    let compile: Compile = if whole { Schema::compile } else { Schema::compile_declared };
    let (folder, meta) = DRAFTS[draft];
    let Some(groups) = groups(folder, meta) else { return };
    let all: usize = groups.iter().map(|group| group.cases.len()).sum();
    let tally = judge(&groups, compile, whole);
    let refused: usize = tally.refused.values().sum();
    println!(
        "{folder}: {} of {} schemas taken, {} of {all} cases judged, {} of them wrong; {refused} schemas refused: {:?}",
        tally.schemas,
        groups.len(),
        tally.cases,
        tally.wrong.len(),
        tally.refused
    );
    assert_eq!(tally.wrong, Vec::<String>::new());
    assert!(tally.schemas >= schemas && tally.cases >= cases, "hardly anything was judged");
}

#[test]
fn the_declared_engine_judges_as_the_suite_does_in_draft_2020_12() {
    check(0, false, 245, 960);
}

#[test]
fn the_declared_engine_judges_as_the_suite_does_in_draft_7() {
    check(1, false, 230, 870);
}

#[cfg(feature = "gateway")]
#[test]
fn the_full_engine_judges_as_the_suite_does_in_draft_2020_12() {
    check(0, true, 360, 1250);
}

#[cfg(feature = "gateway")]
#[test]
fn the_full_engine_judges_as_the_suite_does_in_draft_7() {
    check(1, true, 245, 900);
}

// What the declared engine takes, for `tests/browser/schema.rs`, which can read no files: one JSON text.
#[test]
fn the_suite_is_put_together_for_the_browser() {
    let mut all = Vec::new();
    for (folder, meta) in DRAFTS {
        let Some(groups) = groups(folder, meta) else { return };
        let taken = groups.into_iter().filter(|group| Schema::compile_declared(&group.schema).is_ok());
        all.extend(taken.map(|group| json!([group.place, group.schema, group.cases])));
    }
    assert!(all.len() > 470, "{}", all.len());
    fs::create_dir_all(root().join("target")).unwrap();
    fs::write(root().join("target/schema-suite.json"), Value::from(all).to_string()).unwrap();
}
