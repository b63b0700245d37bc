//! The house's plan, held against its source: who may import whom, and what stands in one place only.

use std::fs;
use std::path::Path;

use crate::support::root;

/// Every module of `src/` and its floor, as in the design. A module imports floors below its own, and itself.
const FLOORS: &[(&str, u8)] = &[
    ("protocol", 0),
    ("wire", 1),
    ("tools", 1),
    ("markdown", 1),
    ("agent", 2),
    ("providers", 2),
    ("ag_ui", 2),
    ("session", 3),
    ("browser", 4),
    ("gateway", 4),
    ("ui", 5),
    ("js", 6),
];

/// The target is asked for here and in Cargo tables.
const TARGET_HEADS: &[&str] = &["src/lib.rs", "tests/native/main.rs", "tests/browser/main.rs"];

/// What turns text into a page or a program.
const UNSAFE_SINKS: &[&str] =
    &["innerHTML", "outerHTML", "eval(", "document.write", "insertAdjacentHTML", "new Function("];

struct File {
    path: String,
    text: String,
}

impl File {
    // The lines of code, numbered from 1, without those that are only a comment.
    fn code(&self) -> impl Iterator<Item = (usize, &str)> {
        let comment = |line: &str| ["//", "*", "/*"].iter().any(|mark| line.trim_start().starts_with(mark));
        self.text.lines().enumerate().filter(move |(_, line)| !comment(line)).map(|(at, line)| (at + 1, line))
    }

    fn module(&self) -> Option<&str> {
        let inside = self.path.strip_prefix("src/")?;
        Some(inside.split('/').next()?.trim_end_matches(".rs"))
    }

    fn is_rust(&self) -> bool {
        Path::new(&self.path).extension().is_some_and(|kind| kind == "rs")
    }
}

fn floor(module: &str) -> Option<u8> {
    FLOORS.iter().find(|(name, _)| *name == module).map(|(_, floor)| *floor)
}

// Every `crate::name` of a line, and every `crate::{name, …}`.
fn imports(line: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for (at, mark) in line.match_indices("crate::") {
        let rest = &line[at + mark.len()..];
        match rest.strip_prefix('{') {
            Some(group) => found.extend(group.split(',').map(first_word)),
            None => found.push(first_word(rest)),
        }
    }
    found.retain(|name| !name.is_empty());
    found
}

fn first_word(text: &str) -> &str {
    let text = text.trim_start();
    let end = text.find(|letter: char| !letter.is_alphanumeric() && letter != '_').unwrap_or(text.len());
    &text[..end]
}

fn floor_faults(files: &[File]) -> Vec<String> {
    let mut faults = Vec::new();
    for file in files.iter().filter(|file| file.is_rust()) {
        let Some(module) = file.module().filter(|module| !matches!(*module, "lib" | "bin")) else { continue };
        let Some(own) = floor(module) else {
            faults.push(format!("{module} is on no floor ({})", file.path));
            continue;
        };
        for (at, line) in file.code() {
            for import in imports(line) {
                if import != module && floor(import).is_none_or(|floor| floor >= own) {
                    faults.push(format!("{module} imports {import} ({}:{at})", file.path));
                }
            }
            // `super` from a module's root, or twice, may leave the module without saying so.
            let leaves = file.path.ends_with(&format!("{module}/mod.rs")) && line.contains("super::");
            if leaves || line.contains("super::super::") {
                faults.push(format!("{module} climbs by super:: ({}:{at})", file.path));
            }
        }
    }
    faults
}

fn target_faults(files: &[File]) -> Vec<String> {
    let asks = |file: &&File| file.is_rust() && !TARGET_HEADS.contains(&file.path.as_str());
    let lines = files.iter().filter(asks).flat_map(|file| file.code().map(move |(at, line)| (file, at, line)));
    // In a test's text the words may stand; as an attribute they may not.
    let code = |file: &File, line: &str| file.path.starts_with("src/") || line.trim_start().starts_with('#');
    lines
        .filter(|(file, _, line)| code(file, line) && line.contains("cfg") && line.contains("target_arch"))
        .map(|(file, at, _)| format!("{}:{at} asks for the target", file.path))
        .collect()
}

// An arm on a scope that does something. One whose right side is a text, or nothing but one, is a label.
fn dispatches(files: &[File]) -> Vec<String> {
    let arm = |line: &str| {
        let (pattern, action) = line.split_once("=>")?;
        let scoped = ["Scope::Browser", "Scope::Server"].iter().any(|scope| pattern.contains(scope));
        (scoped && !action.trim_start().starts_with('"')).then_some(())
    };
    let rust = files.iter().filter(|file| file.is_rust() && file.path.starts_with("src/"));
    rust.flat_map(|file| file.code().filter_map(move |(_, line)| arm(line).map(|()| file.path.clone()))).collect()
}

fn sink_faults(files: &[File]) -> Vec<String> {
    let ours = |file: &&File| file.path.starts_with("src/") || file.path.starts_with("www/");
    let lines = files.iter().filter(ours).flat_map(|file| file.code().map(move |(at, line)| (file, at, line)));
    lines
        .flat_map(|(file, at, line)| {
            let sinks = UNSAFE_SINKS.iter().filter(move |sink| line.contains(**sink));
            sinks.map(move |sink| format!("{}:{at} uses {sink}", file.path))
        })
        .collect()
}

fn tree() -> Vec<File> {
    let mut files = Vec::new();
    for folder in ["src", "tests", "www"] {
        walk(&root().join(folder), &mut files);
    }
    files
}

fn walk(folder: &Path, files: &mut Vec<File>) {
    let mut entries: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            walk(&path, files);
        } else if path.extension().is_some_and(|kind| kind == "rs" || kind == "js" || kind == "mjs") {
            let name = path.strip_prefix(root()).unwrap().to_string_lossy().replace('\\', "/");
            files.push(File { path: name, text: fs::read_to_string(&path).unwrap() });
        }
    }
}

// A made-up tree of one file.
fn made_up(path: &str, text: &str) -> Vec<File> {
    vec![File { path: path.to_owned(), text: text.to_owned() }]
}

#[test]
fn nobody_imports_a_floor_beside_or_above() {
    let files = tree();
    let modules: Vec<&str> = files.iter().filter_map(File::module).collect();
    for (module, _) in FLOORS {
        assert!(modules.contains(module), "{module} is in the plan and not in src/");
    }
    assert_eq!(floor_faults(&files), Vec::<String>::new());
}

#[test]
fn an_import_that_leaves_the_plan_is_named() {
    let cases = [
        ("src/wire/sse.rs", "\n\nuse crate::agent::Run;", "wire imports agent (src/wire/sse.rs:3)"),
        ("src/agent/run.rs", "use crate::ag_ui::Kind;", "agent imports ag_ui (src/agent/run.rs:1)"),
        ("src/ag_ui/mod.rs", "fn f(x: crate::agent::Run) {}", "ag_ui imports agent (src/ag_ui/mod.rs:1)"),
        ("src/providers/x/mod.rs", "use crate::ag_ui::Kind;", "providers imports ag_ui (src/providers/x/mod.rs:1)"),
        ("src/tools/mod.rs", "use crate::wire::sse;", "tools imports wire (src/tools/mod.rs:1)"),
        ("src/ui/app.rs", "use crate::{protocol::Scope, js::Door};", "ui imports js (src/ui/app.rs:1)"),
        ("src/agent/run.rs", "use crate::nowhere::X;", "agent imports nowhere (src/agent/run.rs:1)"),
        ("src/agent/mod.rs", "use super::session::Host;", "agent climbs by super:: (src/agent/mod.rs:1)"),
        ("src/agent/run.rs", "use super::super::session::Host;", "agent climbs by super:: (src/agent/run.rs:1)"),
        ("src/cellar/mod.rs", "", "cellar is on no floor (src/cellar/mod.rs)"),
    ];
    for (path, text, fault) in cases {
        assert_eq!(floor_faults(&made_up(path, text)), [fault], "{text}");
    }
    let allowed =
        "//! See crate::js.\nuse crate::agent::Run;\nuse crate::protocol::{Scope, Risk};\nuse super::host::Host;";
    assert_eq!(floor_faults(&made_up("src/session/driver.rs", allowed)), Vec::<String>::new());
}

#[test]
fn the_target_is_asked_for_in_one_place() {
    assert_eq!(target_faults(&tree()), Vec::<String>::new());
    let asks = "#[cfg(target_arch = \"wasm32\")]\nfn now() {}";
    assert_eq!(target_faults(&made_up("src/agent/run.rs", asks)), ["src/agent/run.rs:1 asks for the target"]);
    assert_eq!(target_faults(&made_up("src/lib.rs", asks)), Vec::<String>::new());
}

#[test]
fn one_place_decides_where_a_tool_runs() {
    assert_eq!(dispatches(&tree()), ["src/session/mod.rs", "src/session/mod.rs"], "one arm for each scope");
    let dispatch = "match scope {\n    Scope::Browser => here(),\n    Scope::Server => there(),\n}";
    assert_eq!(dispatches(&made_up("src/ui/card.rs", dispatch)), ["src/ui/card.rs", "src/ui/card.rs"]);
    let labels = "match scope {\n    Some(Scope::Browser) => \"in this page\",\n    Some(Scope::Server) => \"on the server\",\n}";
    assert_eq!(dispatches(&made_up("src/ui/words.rs", labels)), Vec::<String>::new());
}

#[test]
fn no_text_becomes_markup_or_program() {
    assert_eq!(sink_faults(&tree()), Vec::<String>::new());
    let bad = "// innerHTML is not used\nbox.innerHTML = words;\nbox.textContent = words;";
    assert_eq!(sink_faults(&made_up("www/demo/a.js", bad)), ["www/demo/a.js:2 uses innerHTML"]);
}
