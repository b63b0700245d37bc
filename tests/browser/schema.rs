//! The schema engine as a page has it, against the public JSON-Schema-Test-Suite.
//!
//! The native tests put the cases together (`tests/native/schema_suite.rs`); the test server hands out the package's
//! folder, so they can be fetched from there.

use js_sys::{Function, JSON, Reflect};
use pagehand::tools::Schema;
use serde_json::{Value, json};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use wasm_bindgen_test::{console_log, wasm_bindgen_test as test};

use crate::support::text;

#[test]
async fn the_page_judges_as_the_suite_does() {
    let Some(suite) = text("/target/schema-suite.json").await else {
        console_log!("skipped: no target/schema-suite.json; the native tests make it where the suite is");
        return;
    };
    let suite: Value = serde_json::from_str(&suite).unwrap();
    let (mut schemas, mut cases) = (0, 0);
    for group in suite.as_array().unwrap() {
        let (place, written) = (&group[0], &group[1]);
        let schema = Schema::compile(written).unwrap_or_else(|problems| panic!("{place}: {}", problems[0]));
        schemas += 1;
        for case in group[2].as_array().unwrap() {
            assert_eq!(Value::from(schema.check(&case[0]).is_ok()), case[1], "{place}: {} in {written}", case[0]);
            cases += 1;
        }
    }
    console_log!("{schemas} schemas, {cases} cases");
    assert!(schemas > 470 && cases > 1_800, "{schemas} schemas, {cases} cases");
}

// A page's stack is a megabyte: what goes as deep as it may must fit in it.
#[test]
fn the_deepest_value_fits_the_stack() {
    let written =
        json!({ "$ref": "#/$defs/l", "$defs": { "l": { "anyOf": [{ "items": { "$ref": "#/$defs/l" } }, false] } } });
    let schema = Schema::compile(&written).unwrap();
    for depth in [100, 5_000] {
        let mut value = (0..depth).fold(json!([]), |value, _| Value::Array(vec![value]));
        schema.drop_absent(&mut value);
        assert_eq!(schema.check(&value).is_ok(), depth == 100);
    }
}

// `scripts/bench-schema` puts ajv there; else there is nothing to compare with.
#[test]
async fn how_fast_it_is_beside_ajv() {
    let Some(cases) = text("/target/bench/schemas.json").await else { return };
    let import = Function::new_with_args("path", "return import(path)");
    let module = import.call1(&JsValue::NULL, &"/target/bench/ajv.js".into()).unwrap();
    let module = JsFuture::from(module.unchecked_into::<js_sys::Promise>()).await.unwrap();
    let compile: Function = Reflect::get(&module, &"compile".into()).unwrap().unchecked_into();

    console_log!("µs a check, ours and ajv's: of a value already read | of its text");
    for case in serde_json::from_str::<Value>(&cases).unwrap().as_array().unwrap() {
        let (name, schema, value) = (&case["name"], case["schema"].to_string(), case["value"].to_string());
        let ours = Schema::compile(&case["schema"]).unwrap();
        let theirs: Function = compile.call1(&JsValue::NULL, &JSON::parse(&schema).unwrap()).unwrap().unchecked_into();
        let object = JSON::parse(&value).unwrap();
        let fits = |object: &JsValue| theirs.call1(&JsValue::NULL, object).unwrap().is_truthy();
        assert!(ours.check(&case["value"]).is_ok() && fits(&object), "{name}");

        let read = [time(|| ours.check(&case["value"]).is_ok()), time(|| fits(&object))];
        let from_text = [
            time(|| ours.check(&serde_json::from_str(&value).unwrap()).is_ok()),
            time(|| fits(&JSON::parse(&value).unwrap())),
        ];
        let words = |[ours, theirs]: [f64; 2]| format!("{ours:.2} : {theirs:.2} = {:.2}", ours / theirs);
        console_log!("{name}: {} | {}", words(read), words(from_text));
    }
}

// Microseconds of one call: the best of several rounds, after one to warm up.
fn time(mut call: impl FnMut() -> bool) -> f64 {
    let clock = web_sys::window().unwrap().performance().unwrap();
    let mut best = f64::INFINITY;
    for _ in 0..6 {
        let start = clock.now();
        let mut calls = 0;
        while clock.now() - start < 60.0 {
            for _ in 0..100 {
                assert!(call());
            }
            calls += 100;
        }
        best = best.min((clock.now() - start) * 1_000.0 / f64::from(calls));
    }
    best
}
