//! The declared engine beside the crate `jsonschema`, on arguments as tools have them: one run, printed as ratios.
//!
//! `cargo bench --bench schema --features gateway`. Absolute times say more about the machine than about the code.

use std::hint::black_box;
use std::time::{Duration, Instant};

use pagehand::tools::Schema;
use serde_json::Value;

fn main() {
    let cases: Value = serde_json::from_str(include_str!("schemas.json")).expect("the cases are JSON");
    println!("{:<8} {:>12} {:>12} {:>8} {:>14}", "", "declared", "jsonschema", "ratio", "to compile");
    for case in cases.as_array().into_iter().flatten() {
        let (name, schema, value) = (&case["name"], &case["schema"], &case["value"]);
        let ours = Schema::compile_declared(schema).expect("the declared engine takes it");
        let theirs = jsonschema::options().offline().build(schema).expect("jsonschema takes it");
        assert!(ours.check(value).is_ok() && theirs.is_valid(value), "{name} does not fit");

        let [ours, theirs] =
            [time(|| ours.check(black_box(value)).is_ok()), time(|| theirs.is_valid(black_box(value)))];
        let compile = [
            time(|| Schema::compile_declared(black_box(schema)).is_ok()),
            time(|| jsonschema::options().offline().build(black_box(schema)).is_ok()),
        ];
        let ratio = |ours: Duration, theirs: Duration| ours.as_secs_f64() / theirs.as_secs_f64();
        println!(
            "{:<8} {ours:>12.2?} {theirs:>12.2?} {:>8.2} {:>14.2}",
            name.as_str().unwrap_or_default(),
            ratio(ours, theirs),
            ratio(compile[0], compile[1])
        );
    }
}

// One call: the best of several rounds.
fn time(mut call: impl FnMut() -> bool) -> Duration {
    let round = |call: &mut dyn FnMut() -> bool| {
        let (start, mut calls) = (Instant::now(), 0);
        while start.elapsed() < Duration::from_millis(60) {
            for _ in 0..50 {
                assert!(black_box(call()));
            }
            calls += 50;
        }
        start.elapsed() / calls
    };
    (0..6).map(|_| round(&mut call)).min().unwrap_or_default()
}
