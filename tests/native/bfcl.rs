//! The function definitions of the Berkeley Function Calling Leaderboard: thousands that people wrote, in Python's
//! words. Each is refused with its fix named, and following the fixes makes it compile.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use pagehand::tools::{Schema, SchemaProblem};
use serde_json::Value;

use crate::support::root;

struct Function {
    name: String,
    parameters: Value,
}

// Without repetitions; `None`, said aloud, where this machine has not fetched them.
fn functions() -> Option<Vec<Function>> {
    let folder = std::env::var_os("PAGEHAND_BFCL").map_or_else(|| root().join("target/bfcl"), PathBuf::from);
    let Ok(entries) = fs::read_dir(&folder) else {
        println!("skipped: no BFCL data in {}; scripts/test native fetches it where there is pip", folder.display());
        return None;
    };
    let mut found = BTreeMap::new();
    for entry in entries {
        let text = fs::read_to_string(entry.unwrap().path()).unwrap();
        // A file holds one JSON object a line; those with other contents hold no functions.
        for line in text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
            for function in of_line(&line) {
                let name = function["name"].as_str().unwrap_or_default().to_owned();
                let parameters = function["parameters"].clone();
                found.insert(format!("{name} {parameters}"), Function { name, parameters });
            }
        }
    }
    Some(found.into_values().collect())
}

// A test case with its functions, or a function by itself.
fn of_line(line: &Value) -> Vec<&Value> {
    match line.get("function") {
        Some(Value::Array(list)) => list.iter().collect(),
        _ if line.get("parameters").is_some() => vec![line],
        _ => Vec::new(),
    }
}

// Does what a problem says, where it says it. `false` where it names no fix.
fn mend(schema: &mut Value, problem: &SchemaProblem) -> bool {
    let Some((place, keyword)) = problem.path.rsplit_once('/') else { return false };
    let Some(map) = schema.pointer_mut(place).and_then(Value::as_object_mut) else { return false };
    if problem.message.ends_with("; leave \"type\" out") {
        return map.remove(keyword).is_some();
    }
    let Some((_, word)) = problem.message.split_once("; write ") else { return false };
    map.insert(keyword.to_owned(), word.trim_matches('"').into());
    true
}

#[test]
fn every_definition_is_refused_with_its_fix_and_the_fix_helps() {
    let Some(functions) = functions() else { return };
    let (mut compiled, mut dotted) = (0, 0);
    let mut left: BTreeMap<String, usize> = BTreeMap::new();
    for Function { name, parameters } in &functions {
        dotted += usize::from(name.contains('.'));
        let problems = Schema::compile_arguments(parameters).unwrap_err();
        let fix = "schema /type: \"dict\" is no JSON Schema type; write \"object\"";
        assert!(problems.iter().any(|problem| problem.to_string() == fix), "{name}: {problems:?}");

        let mut mended = parameters.clone();
        let mut fixes = 0;
        for problem in &problems {
            fixes += usize::from(mend(&mut mended, problem));
        }
        assert!(fixes > 0, "{name}");
        match Schema::compile_arguments(&mended) {
            Ok(_) => compiled += 1,
            Err(problems) => {
                for problem in problems {
                    let keyword = problem.path.rsplit('/').next().unwrap_or_default();
                    *left.entry(format!("{keyword} {}", problem.message)).or_default() += 1;
                }
            }
        }
    }
    let all = functions.len();
    println!("{all} definitions, all refused as they are; {compiled} compile once mended; left: {left:?}");
    println!("{dotted} names have a dot, which most providers refuse");
    assert!(all > 3_000 && dotted > 1_000, "{all} {dotted}");
    assert!(compiled * 100 >= all * 97, "{compiled} of {all}: {left:?}");
}
