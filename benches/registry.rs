//! What the registry costs: registration of 500 tools, and which of 100 one request offers.
//!
//! `cargo bench --bench registry`. Each figure is the best of several rounds, beside a yardstick taken in the same run
//! (the same definitions, parsed from their JSON), so that it reads on any machine.

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use pagehand::protocol::{Risk, Scope};
use pagehand::tools::{Definition, Facts, Registration, Registry};
use serde_json::{Value, json};

const ROUNDS: usize = 12;

fn main() {
    let many = definitions(500);
    let texts: Vec<String> = many.iter().map(|tool| tool.to_json().to_string()).collect();
    let parse = best(1, || {
        for text in &texts {
            let json: Value = serde_json::from_str(text).expect("our own JSON");
            black_box(Definition::from_json(&json, &[]));
        }
    });
    let register = best(1, || drop(black_box(registry(many.clone()))));
    println!("register 500 tools       {register:>10.2?}   {:.2} × parsing them from JSON", ratio(register, parse));

    let hundred = Arc::new(registry(definitions(100)));
    let mut facts = Facts::default();
    facts.insert("role".to_owned(), json!("admin"));
    let resolve = best(1000, || drop(black_box(hundred.resolve("support", &facts))));
    println!(
        "resolve 100 tools        {resolve:>10.2?}   goal: 20 µs   ({:.4} × parsing 100)",
        5.0 * ratio(resolve, parse)
    );
}

fn definitions(count: usize) -> Vec<Definition> {
    let one = |at: usize| {
        let description = format!("Looks after thing number {at} of the shop and returns what there is to know of it.");
        let mut definition = Definition::new(&format!("tool_{at}"), &description, Scope::Server, Risk::Read);
        definition.owner = "bench".to_owned();
        definition.parameters = Arc::new(json!({
            "type": "object", "required": ["id"], "additionalProperties": false,
            "properties": {
                "id": { "type": "string", "minLength": 1, "description": "Which thing." },
                "limit": { "type": "integer", "minimum": 1, "maximum": 50 },
                "kind": { "enum": ["a", "b", "c"] },
                "tags": { "type": "array", "items": { "type": "string" } },
            },
        }));
        match at % 3 {
            0 => definition.profiles = vec!["support".to_owned(), "sales".to_owned()],
            1 => drop(definition.requires.insert("role".to_owned(), vec![json!("owner"), json!("admin")])),
            _ => {}
        }
        definition
    };
    (0..count).map(one).collect()
}

fn registry(definitions: Vec<Definition>) -> Registry {
    let mut registry = Registry::default();
    registry.register(definitions.into_iter().map(Registration::executed).collect()).expect("no fault");
    registry
}

fn best(times: u32, mut work: impl FnMut()) -> Duration {
    let mut round = || {
        let start = Instant::now();
        (0..times).for_each(|_| work());
        start.elapsed() / times
    };
    (0..ROUNDS).map(|_| round()).min().unwrap_or_default()
}

fn ratio(a: Duration, b: Duration) -> f64 {
    a.as_secs_f64() / b.as_secs_f64()
}
