//! The registry: what is refused and in which words, and which names look alike.

use std::sync::Arc;

use pagehand::protocol::{Risk, Scope};
use pagehand::tools::{Approval, Definition, Executor, Facts, Registration, Registry};
use serde_json::{Value, json};

use crate::support::tools::{executed, parameters, registry, tool};

fn faults(registrations: Vec<Registration>) -> Vec<String> {
    let mut registry = Registry::default();
    let problems = registry.register(registrations).err().unwrap_or_default();
    assert!(problems.is_empty() || registry.definitions().next().is_none(), "something was registered all the same");
    problems.iter().map(ToString::to_string).collect()
}

fn weather() -> Definition {
    tool("weather_read", Scope::Server, Risk::Read)
}

fn with(change: impl Fn(&mut Definition)) -> Registration {
    let mut definition = weather();
    change(&mut definition);
    executed(definition)
}

fn with_parameters(parameters: &Value) -> Registration {
    with(|tool| tool.parameters = Arc::new(parameters.clone()))
}

fn executor(name: &str, scope: Scope) -> Option<Executor> {
    Some(Executor { name: name.to_owned(), scope })
}

#[test]
fn every_fault_of_a_registration_has_its_words() {
    let name = "the name must match ^[a-z][a-z0-9_]{2,63}$, which every provider takes";
    let mut cases: Vec<(Registration, &str)> =
        ["", "ab", "Weather", "9lives", "_x_y", "order-status", "order.status", "wéather"]
            .into_iter()
            .map(|bad| (with(|tool| tool.name = bad.to_owned()), name))
            .collect();
    cases.push((with(|tool| tool.name = "x".repeat(65)), name));
    cases.extend([
        (
            with(|tool| tool.description = "  Reads weather.  ".to_owned()),
            "the description has 14 characters; say in at least 40 what the tool does, when to use it and what comes back",
        ),
        (with(|tool| tool.owner = " ".to_owned()), "it has no owner; name the team or package that answers for it"),
        (with(|tool| tool.version = String::new()), "it has no version"),
        (with(|tool| tool.timeout_ms = Some(0)), "a timeout of 0 ms would fail every call"),
        (
            with(|tool| (tool.risk, tool.approval) = (Risk::Irreversible, Approval::Tool)),
            "an irreversible tool always asks; it can not leave the asking to itself",
        ),
        (
            Registration::new(weather(), None),
            "nothing can run it in the server; give it an executor",
        ),
        (
            Registration::new(weather(), executor("weather_read", Scope::Browser)),
            "its definition says server, its executor runs in the browser",
        ),
        (
            Registration::new(weather(), executor("weather", Scope::Server)),
            "its executor answers to \"weather\"",
        ),
        (
            with_parameters(&json!({})),
            "schema at its root: the arguments' schema must have \"type\": \"object\" at its root; it has no type",
        ),
        (
            with_parameters(&json!({ "type": "string" })),
            "schema at its root: the arguments' schema must have \"type\": \"object\" at its root; it has type \"string\"",
        ),
        (
            with_parameters(&json!({ "type": "object", "properties": { "x": { "type": "dict" } } })),
            "schema /properties/x/type: \"dict\" is no JSON Schema type; write \"object\"",
        ),
        (
            with_parameters(&json!({ "type": "object", "properties": { "x": { "minLenght": 1 } } })),
            "schema /properties/x/minLenght: is a keyword this client does not check, so it can not promise it",
        ),
        (
            with_parameters(&json!({ "type": "object", "required": "x" })),
            "schema /required: must be an array of strings",
        ),
        (
            with_parameters(&json!({ "type": "object", "properties": { "x": 7 } })),
            "schema /properties/x: must be an object, true or false",
        ),
        (
            with_parameters(&json!({ "type": "object", "minLength": -1 })),
            "schema /minLength: must be a whole number, 0 or more",
        ),
        (with_parameters(&json!({ "type": "object", "anyOf": [] })), "schema /anyOf: must be a non-empty array"),
    ]);
    for (registration, words) in cases {
        let owner = registration.definition.owner.trim().to_owned();
        let owner = if owner.is_empty() { "an unnamed owner" } else { &owner };
        let expected = format!("tool \"{}\" of {owner}: {words}", registration.definition.name);
        assert_eq!(faults(vec![registration]), [expected]);
    }
}

#[test]
fn names_at_the_edge_of_what_is_allowed_are_taken() {
    for name in ["abc", "a_9", &"x".repeat(64)] {
        assert_eq!(faults(vec![with(|tool| tool.name = name.to_owned())]), [""; 0], "{name}");
    }
}

#[test]
fn all_faults_of_all_tools_come_together_and_nothing_is_registered() {
    let bare = Definition { name: "X".to_owned(), version: String::new(), owner: String::new(), ..weather() };
    let bare = Registration::new(bare, None);
    let found = faults(vec![executed(weather()), bare, with(|tool| tool.timeout_ms = Some(0))]);
    assert_eq!(found.len(), 6, "{found:#?}");
    assert!(found[..4].iter().all(|words| words.starts_with("tool \"X\" of an unnamed owner: ")));
}

#[test]
fn a_name_that_is_taken_is_refused_with_both_owners() {
    let taken = |owner: &str| {
        format!(
            "tool \"weather_read\" of them: the name is taken by a tool of {owner}; rename one of them or unregister \
             the other first"
        )
    };
    let theirs = || with(|tool| tool.owner = "them".to_owned());
    assert_eq!(faults(vec![executed(weather()), theirs()]), [taken("tests")], "in one registration");

    let mut registry = Registry::default();
    registry.register(vec![executed(weather())]).unwrap();
    let problems = registry.register(vec![theirs(), with(|tool| tool.name = "clock_read".to_owned())]).unwrap_err();
    assert_eq!(problems[0].to_string(), taken("tests"), "in a later one");
    assert_eq!(problems.len(), 1);
    assert!(registry.get("clock_read").is_none(), "all or none");
    assert_eq!(registry.get("weather_read").unwrap().owner, "tests");

    assert!(registry.unregister("weather_read"));
    assert!(!registry.unregister("weather_read"));
    registry.register(vec![theirs()]).unwrap();
    assert_eq!(registry.get("weather_read").unwrap().owner, "them");
}

#[test]
fn the_nearest_names_are_those_a_model_may_have_meant() {
    let names = ["order_search", "order_status", "order_refund", "kb_search", "navigate", "page_read"];
    let registry = registry(names.map(|name| tool(name, Scope::Server, Risk::Read)).into());
    for (name, expected) in [
        ("order_serach", &["order_search", "order_refund", "order_status"][..]),
        ("orderStatus", &["order_status"]),
        ("search", &["kb_search", "order_search"]),
        ("navigte", &["navigate"]),
        ("PAGE_READ", &[]),
        ("xyzzy", &[]),
        ("", &[]),
    ] {
        assert_eq!(registry.nearest(name), expected, "{name}");
    }
    // A model may send a name of any length.
    assert!(registry.nearest(&"order_search".repeat(100_000)).len() <= 3);
}

#[test]
fn the_same_tools_read_the_same_in_whatever_order_they_were_registered() {
    let tools = ["b_tool", "a_tool", "c_tool"].map(|name| tool(name, Scope::Server, Risk::Read));
    let mut reversed = tools.to_vec();
    reversed.reverse();
    let offers = |tools| registry(tools).resolve("", &Facts::default()).offers().to_vec();
    assert_eq!(offers(tools.into()), offers(reversed));
}

type Change = fn(&mut Definition);

#[test]
fn a_hash_changes_with_whatever_page_and_gateway_must_agree_on() {
    let hash = weather().hash();
    assert_eq!(hash.len(), 64);
    let changes: [(&str, Change); 11] = [
        ("name", |tool| tool.name.push('x')),
        ("version", |tool| tool.version.push('x')),
        ("description", |tool| tool.description.push('x')),
        ("parameters", |tool| tool.parameters = Arc::new(json!({ "type": "object" }))),
        ("scope", |tool| tool.scope = Scope::Browser),
        ("risk", |tool| tool.risk = Risk::Write),
        ("approval", |tool| tool.approval = Approval::Always),
        ("examples", |tool| tool.examples.push(json!({ "city": "Oslo" }))),
        ("same owner", |tool| tool.owner.push('x')),
        ("same label", |tool| tool.label = "x".into()),
        ("same timeout", |tool| tool.timeout_ms = Some(5)),
    ];
    for (what, change) in changes {
        let mut changed = weather();
        change(&mut changed);
        assert_eq!(changed.hash() == hash, what.starts_with("same"), "{what}");
    }
    let spelled = json!({ "required": ["city"], "additionalProperties": false, "type": "object",
        "properties": { "days": { "type": "integer" }, "city": { "type": "string" } } });
    assert_eq!(spelled, parameters());
}
