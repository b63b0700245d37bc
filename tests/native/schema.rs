//! Schemas: what is refused and why, what is said of a value, what can not be made to hang; and that both engines agree.

use pagehand::tools::schema::{MAX_DEPTH, MAX_PATTERN, MAX_SUBSCHEMAS, MAX_VALUE_DEPTH};
use pagehand::tools::{ProblemKind, Schema};
use proptest::prelude::*;
use serde_json::{Value, json};

use ProblemKind::{Broken, Unchecked};

fn of(schema: Value) -> Value {
    let properties = Value::from_iter([("x", schema)]);
    Value::from_iter([("type", "object".into()), ("properties", properties)])
}

fn said(schema: &Schema, value: &Value) -> Vec<String> {
    schema.check(value).err().unwrap_or_default().iter().map(ToString::to_string).collect()
}

fn declared(schema: &Value) -> Schema {
    Schema::compile_declared(schema).unwrap_or_else(|problems| panic!("{schema}: {problems:?}"))
}

// ---- what is refused ----

fn refused(schema: &Value) -> Vec<(ProblemKind, String)> {
    let problems = Schema::compile_declared(schema).err().unwrap_or_default();
    problems.iter().map(|problem| (problem.kind, problem.to_string())).collect()
}

#[test]
fn every_refusal_has_its_words_and_says_whose_fault_it_is() {
    let unknown = "is a keyword this client does not check, so it can not promise it";
    let cases = [
        // Words of other languages.
        (json!({ "type": "dict" }), Broken, "/type: \"dict\" is no JSON Schema type; write \"object\""),
        (json!({ "type": "float" }), Broken, "/type: \"float\" is no JSON Schema type; write \"number\""),
        (json!({ "type": "tuple" }), Broken, "/type: \"tuple\" is no JSON Schema type; write \"array\""),
        (json!({ "type": "list" }), Broken, "/type: \"list\" is no JSON Schema type; write \"array\""),
        (json!({ "type": "int" }), Broken, "/type: \"int\" is no JSON Schema type; write \"integer\""),
        (json!({ "type": "str" }), Broken, "/type: \"str\" is no JSON Schema type; write \"string\""),
        (json!({ "type": "bool" }), Broken, "/type: \"bool\" is no JSON Schema type; write \"boolean\""),
        (json!({ "type": "None" }), Broken, "/type: \"None\" is no JSON Schema type; write \"null\""),
        (json!({ "type": "any" }), Broken, "/type: \"any\" is no JSON Schema type; leave \"type\" out"),
        (json!({ "type": "STRING" }), Broken, "/type: \"STRING\" is no JSON Schema type; write \"string\""),
        (json!({ "type": "money" }), Broken, "/type: \"money\" is no JSON Schema type"),
        (
            json!({ "type": "string", "nullable": true }),
            Broken,
            "/nullable: is OpenAPI's; write \"type\": [\"string\", \"null\"], with the type it has",
        ),
        (
            json!({ "type": "string", "required": true }),
            Broken,
            "/required: must be an array of strings, and stand in the object that has the property",
        ),
        // Shapes.
        (json!({ "type": [] }), Broken, "/type: must be a string or an array of strings"),
        (json!({ "properties": [] }), Broken, "/properties: must be an object"),
        (json!({ "patternProperties": 1 }), Broken, "/patternProperties: must be an object"),
        (json!({ "prefixItems": {} }), Broken, "/prefixItems: must be an array"),
        (json!({ "enum": "a" }), Broken, "/enum: must be an array"),
        (json!({ "not": 1 }), Broken, "/not: must be an object, true or false"),
        (json!({ "multipleOf": 0 }), Broken, "/multipleOf: must be a number greater than 0"),
        (json!({ "minimum": "1" }), Broken, "/minimum: must be a number"),
        (json!({ "maxItems": 1.5 }), Broken, "/maxItems: must be a whole number, 0 or more"),
        (json!({ "$ref": 1 }), Broken, "/$ref: must be a string"),
        (json!({ "items": [{}] }), Broken, "/items: must be a schema; for a list of schemas write \"prefixItems\""),
        (
            json!({ "properties": { "a/b": { "type": "dict" } } }),
            Broken,
            "/properties/a~1b/type: \"dict\" is no JSON Schema type; write \"object\"",
        ),
        // Drafts.
        (
            json!({ "dependencies": {} }),
            Unchecked,
            "/dependencies: is of draft 7; write \"items\" after \"prefixItems\", \"dependentRequired\" or \"dependentSchemas\"",
        ),
        (
            json!({ "$schema": "http://json-schema.org/draft-07/schema#", "prefixItems": [] }),
            Unchecked,
            "/prefixItems: is of draft 2020-12, and the schema says it is of draft 7",
        ),
        (
            json!({ "$schema": "http://json-schema.org/draft-04/schema#" }),
            Unchecked,
            "/$schema: names a draft this client does not check; it knows 2020-12 and 7",
        ),
        // References.
        (json!({ "$ref": "#/$defs/x" }), Broken, "/$ref: names #/$defs/x, and no schema is known at that place"),
        (
            json!({ "$ref": "#there" }),
            Unchecked,
            "/$ref: names an anchor, which is not checked here; write a place, such as #/$defs/name",
        ),
        (
            json!({ "$ref": "https://example.com/x.json" }),
            Unchecked,
            "/$ref: names another document, and nothing is fetched; put what it names into \"$defs\"",
        ),
        (
            json!({ "properties": { "x": { "$id": "x.json" } } }),
            Unchecked,
            "/properties/x/$id: gives a part of the schema a name of its own, which is not checked here",
        ),
        (
            json!({ "$ref": "#" }),
            Broken,
            "at its root: refers back to itself without going into the value, so no check would ever end",
        ),
        (
            json!({ "$defs": { "a": { "anyOf": [{ "$ref": "#/$defs/b" }] }, "b": { "not": { "$ref": "#/$defs/a" } } } }),
            Broken,
            "/$defs/a: refers back to itself without going into the value, so no check would ever end",
        ),
        // Keywords.
        (json!({ "unevaluatedProperties": false }), Unchecked, &format!("/unevaluatedProperties: {unknown}")),
        (json!({ "minLenght": 1 }), Unchecked, &format!("/minLenght: {unknown}")),
        // Patterns.
        (json!({ "pattern": "(" }), Broken, "/pattern: has a \"(\" without its end"),
        (json!({ "pattern": "a)" }), Broken, "/pattern: has a \")\" without its \"(\""),
        (json!({ "pattern": "[a" }), Broken, "/pattern: has a \"[\" without its end"),
        (json!({ "pattern": "*" }), Broken, "/pattern: has a \"*\" with nothing to repeat"),
        (json!({ "pattern": "a{2,1}" }), Broken, "/pattern: has a repetition with its bounds the wrong way round"),
        (json!({ "pattern": "a++" }), Broken, "/pattern: repeats a repetition"),
        (json!({ "pattern": "^*" }), Broken, "/pattern: repeats something that is not a character"),
        (
            json!({ "pattern": "a{b}" }),
            Broken,
            "/pattern: has a \"{\" that counts nothing; write \\{ for the character itself",
        ),
        (json!({ "pattern": "\\Aa" }), Broken, "/pattern: has \\A, which JSON Schema writes ^"),
        (json!({ "pattern": "\\q" }), Broken, "/pattern: has \\q, which is no escape of ECMA 262"),
        (json!({ "pattern": "(?P<a>b)" }), Broken, "/pattern: has Python's (?P<…>); write (?<…>) or (…)"),
        (
            json!({ "pattern": "^(?!a)" }),
            Unchecked,
            "/pattern: looks ahead or back, which can not be checked in bounded time",
        ),
        (
            json!({ "pattern": "(a)\\1" }),
            Unchecked,
            "/pattern: refers back to what it found before, which can not be checked in bounded time",
        ),
        (
            json!({ "pattern": "\\p{L}" }),
            Unchecked,
            "/pattern: asks for a class of Unicode's letters, which is not checked here; name the ranges",
        ),
        (
            json!({ "pattern": "(a{1000}){1000}" }),
            Unchecked,
            "/pattern: repeats too much to be checked here; say it with minLength and maxLength",
        ),
        (
            json!({ "patternProperties": { "(?=a)": {} } }),
            Unchecked,
            "/patternProperties/(?=a): looks ahead or back, which can not be checked in bounded time",
        ),
    ];
    for (schema, kind, words) in cases {
        assert_eq!(refused(&schema), [(kind, format!("schema {words}"))], "{schema}");
    }
}

#[test]
fn a_schema_without_measure_is_refused() {
    let nested = |depth: usize, wrap: fn(Value) -> Value| (0..depth).fold(json!({}), |schema, _| wrap(schema));
    let deep = format!("is nested deeper than {MAX_DEPTH}");
    for depth in [MAX_DEPTH + 1, 60, 2_000] {
        let problems = refused(&nested(depth, |schema| Value::from_iter([("items", schema)])));
        assert!(problems[0].1.ends_with(&deep), "{depth}: {problems:?}");
    }
    assert_eq!(refused(&nested(MAX_DEPTH, of)), []);

    let wide = |count: usize| json!({ "anyOf": vec![json!({}); count] });
    assert_eq!(refused(&wide(MAX_SUBSCHEMAS - 1)), []);
    let problems = refused(&wide(MAX_SUBSCHEMAS));
    assert_eq!(problems, [(Broken, format!("schema at its root: holds more than {MAX_SUBSCHEMAS} schemas"))]);

    assert_eq!(refused(&json!({ "pattern": "a".repeat(MAX_PATTERN) })), []);
    assert_eq!(refused(&json!({ "pattern": "a".repeat(MAX_PATTERN + 1) }))[0].0, Unchecked);

    // Each name stands for the next: a chain with no loop in it.
    let chain = |length: usize| {
        let defs = (0..length).map(|at| (format!("d{at}"), json!({ "$ref": format!("#/$defs/d{}", at + 1) })));
        let last = [(format!("d{length}"), json!({ "type": "string" }))];
        json!({ "$ref": "#/$defs/d0", "$defs": defs.chain(last).collect::<serde_json::Map<_, _>>() })
    };
    assert_eq!(refused(&chain(20)), []);
    assert!(refused(&chain(100))[0].1.contains("passes through too many references"));
}

#[cfg(feature = "gateway")]
#[test]
fn what_the_declared_engine_leaves_unchecked_the_full_one_takes_and_a_slip_nobody() {
    let takes = |schema: Value| Schema::compile(&schema).map(|_| ()).map_err(|problems| problems[0].kind);
    assert_eq!(takes(json!({ "unevaluatedProperties": false })), Ok(()));
    assert_eq!(takes(json!({ "pattern": "^(?!a)" })), Ok(()));
    assert_eq!(takes(json!({ "$anchor": "a", "properties": { "x": { "$ref": "#a" } } })), Ok(()));
    assert_eq!(takes(json!({ "minLenght": 1 })), Err(Unchecked));
    assert_eq!(takes(json!({ "$ref": "https://example.com/x.json" })), Err(Unchecked), "nothing is fetched");
    assert_eq!(takes(json!({ "$ref": "file:///etc/passwd" })), Err(Unchecked), "nothing is read");
    assert_eq!(takes(json!({ "type": "dict" })), Err(Broken));
    assert_eq!(takes(json!({ "$ref": "#" })), Err(Broken));

    let schema = Schema::compile(&json!({ "properties": { "a": {} }, "unevaluatedProperties": false })).unwrap();
    assert_eq!(said(&schema, &json!({ "b": 1 })), ["b is not a property here"]);
    // Exponential by backtracking; bounded, it counts as no match.
    let schema = Schema::compile(&json!({ "pattern": "^(?=a)(a|aa)+$(?<!b)" })).unwrap();
    let words = said(&schema, &json!(format!("{}b", "a".repeat(5_000))));
    assert_eq!(words.len(), 1, "{words:?}");
}

// ---- what is said of a value ----

fn person() -> Value {
    json!({
        "type": "object",
        "properties": {
            "name": { "type": "string" },
            "friends": { "type": "array", "items": { "$ref": "#" } },
            "home": { "$ref": "#/$defs/address" },
            "work": { "anyOf": [{ "$ref": "#/$defs/address" }, { "type": "null" }] },
        },
        "required": ["name"],
        "additionalProperties": false,
        "$defs": { "address": { "type": "object", "properties": { "city": { "type": "string" } }, "required": ["city"] } },
    })
}

fn shapes() -> Value {
    let shape = |kind: &str, size: &str| {
        json!({ "type": "object", "properties": { "kind": { "const": kind }, size: { "type": "number" } },
            "required": ["kind", size] })
    };
    json!({ "oneOf": [shape("circle", "radius"), shape("square", "side")] })
}

fn draft_7(schema: Value) -> Value {
    let mut schema = of(schema);
    schema["$schema"] = "http://json-schema.org/draft-07/schema#".into();
    schema
}

// Each schema, a value, and the words for it.
fn words() -> Vec<(Value, Value, Vec<&'static str>)> {
    let x = |schema: Value, value: Value, words: &'static str| (of(schema), json!({ "x": value }), vec![words]);
    let mut cases = vec![
        x(json!({ "type": ["integer", "null"] }), json!(1.5), "x must be a whole number or null, is a number"),
        x(json!({ "enum": ["a", "b"] }), json!("c"), "x must be one of \"a\", \"b\""),
        x(json!({ "const": 1 }), json!(2), "x must be 1"),
        x(json!({ "minLength": 2 }), json!("é"), "x must have at least 2 characters, has 1"),
        x(json!({ "maxLength": 1 }), json!("ab"), "x must have at most 1 characters, has 2"),
        x(json!({ "pattern": "^[A-Z]{2}$" }), json!("ab"), "x must match the pattern ^[A-Z]{2}$"),
        x(json!({ "minItems": 1 }), json!([]), "x must have at least 1 items, has 0"),
        x(json!({ "maxItems": 1 }), json!([1, 2]), "x must have at most 1 items, has 2"),
        x(json!({ "uniqueItems": true }), json!([1, 1.0]), "x must not hold the same item twice"),
        x(json!({ "items": { "type": "string" } }), json!(["a", 1]), "x[1] must be a string, is a number"),
        x(json!({ "prefixItems": [{ "type": "string" }] }), json!([1, 1]), "x[0] must be a string, is a number"),
        x(json!({ "prefixItems": [{}], "items": false }), json!([1, 2, 3]), "x must have at most 1 items, has 3"),
        x(json!({ "contains": { "type": "string" } }), json!([1]), "x must hold at least 1 items that are a string"),
        x(
            json!({ "contains": { "const": 1 }, "minContains": 0, "maxContains": 1 }),
            json!([1, 1]),
            "x must hold at least 0 and at most 1 items that are 1",
        ),
        x(json!({ "minProperties": 1 }), json!({}), "x must have at least 1 properties, has 0"),
        x(json!({ "maxProperties": 0 }), json!({ "a": 1 }), "x must have at most 0 properties, has 1"),
        x(
            json!({ "propertyNames": { "maxLength": 1 } }),
            json!({ "ab": 1 }),
            "x.ab is a name that must have at most 1 characters, has 2",
        ),
        x(
            json!({ "patternProperties": { "^n": { "type": "number" } } }),
            json!({ "n1": "" }),
            "x.n1 must be a number, is a string",
        ),
        x(json!({ "additionalProperties": false }), json!({ "a": 1 }), "x.a is not a property here; there are none"),
        x(
            json!({ "properties": { "b": {} }, "additionalProperties": false }),
            json!({ "a": 1 }),
            "x.a is not a property here; there are: b",
        ),
        x(json!({ "properties": { "a": false } }), json!({ "a": 1 }), "x.a is not allowed"),
        x(json!({ "propertyNames": false }), json!({ "a": 1 }), "x.a is a name that is not allowed"),
        x(json!({ "dependentRequired": { "a": ["b"] } }), json!({ "a": 1 }), "x.b is missing"),
        x(json!({ "dependentSchemas": { "a": { "required": ["b"] } } }), json!({ "a": 1 }), "x.b is missing"),
        x(json!({ "minimum": 1 }), json!(0), "x must be at least 1"),
        x(json!({ "maximum": 1.0 }), json!(2), "x must be at most 1.0"),
        x(json!({ "exclusiveMinimum": 1 }), json!(1), "x must be more than 1"),
        x(json!({ "exclusiveMaximum": 1 }), json!(1), "x must be less than 1"),
        x(json!({ "multipleOf": 0.01 }), json!(1.005), "x must be a multiple of 0.01"),
        x(json!({ "not": { "type": "string" } }), json!("a"), "x must not be a string"),
        x(json!({ "not": {} }), json!(1), "x has a form that is not allowed here"),
        x(
            json!({ "if": { "type": "string" }, "then": { "minLength": 1 } }),
            json!(""),
            "x must have at least 1 characters, has 0",
        ),
        x(json!({ "if": { "type": "string" }, "else": { "minimum": 1 } }), json!(0), "x must be at least 1"),
        x(
            json!({ "anyOf": [{ "type": "string" }, { "enum": [1, 2] }] }),
            json!(true),
            "x fits none of the allowed forms: a string, or one of 1, 2",
        ),
        x(
            json!({ "anyOf": [{ "type": "string", "minLength": 2 }, { "type": "null" }] }),
            json!("a"),
            "x must have at least 2 characters, has 1",
        ),
        x(
            json!({ "anyOf": [{ "required": ["a"] }, { "required": ["b", "c"] }] }),
            json!({}),
            "x fits none of the allowed forms: an object with a, or an object with b, c",
        ),
        x(json!({ "oneOf": [true, true] }), json!(1), "x must fit exactly one of the allowed forms, fits 2"),
        x(shapes(), json!({ "kind": "square", "radius": 1 }), "x.side is missing"),
        x(
            shapes(),
            json!({ "kind": "line" }),
            "x fits none of the allowed forms: an object whose kind is \"circle\", or an object whose kind is \"square\"",
        ),
        x(json!({ "allOf": [{ "minimum": 1 }, true] }), json!(0), "x must be at least 1"),
    ];
    cases.extend([
        (json!({ "required": ["customer"] }), json!({}), vec!["customer is missing"]),
        (json!(false), json!(1), vec!["the value is not allowed"]),
        (person(), json!({}), vec!["name is missing"]),
        (person(), json!({ "name": "a", "home": {} }), vec!["home.city is missing"]),
        (person(), json!({ "name": "a", "work": { "city": 1 } }), vec!["work.city must be a string, is a number"]),
        (person(), json!({ "name": "a", "work": null }), vec![]),
        (
            person(),
            json!({ "name": "a", "friends": [{ "name": "b", "friends": [{ "name": 1 }] }] }),
            vec!["friends[0].friends[0].name must be a string, is a number"],
        ),
        (
            person(),
            json!({ "name": "a", "town": 1 }),
            vec!["town is not a property here; there are: friends, home, name, work"],
        ),
        (
            draft_7(json!({ "items": [{}], "additionalItems": false })),
            json!({ "x": [1, 2] }),
            vec!["x must have at most 1 items, has 2"],
        ),
        (draft_7(json!({ "dependencies": { "a": ["b"] } })), json!({ "x": { "a": 1 } }), vec!["x.b is missing"]),
    ]);
    cases
}

#[test]
fn what_does_not_fit_is_said_in_words_to_repair_it_by() {
    for (schema, value, expected) in words() {
        assert_eq!(said(&declared(&schema), &value), expected, "{schema}");
    }
}

#[cfg(feature = "gateway")]
#[test]
fn the_full_engine_says_the_same() {
    for (schema, value, expected) in words() {
        assert_eq!(said(&Schema::compile(&schema).unwrap(), &value), expected, "{schema}");
    }
}

#[test]
fn numbers_are_what_they_are_written_as() {
    let fits = |schema: Value, value: &str| declared(&schema).check(&serde_json::from_str(value).unwrap()).is_ok();
    for (schema, value, expected) in [
        (json!({ "type": "integer" }), "3.0", true),
        (json!({ "type": "integer" }), "1e300", true),
        (json!({ "type": "integer" }), "3.5", false),
        (json!({ "multipleOf": 0.01 }), "19.99", true),
        (json!({ "multipleOf": 0.01 }), "0.07", true),
        (json!({ "multipleOf": 0.1 }), "0.3", true),
        (json!({ "multipleOf": 0.1 }), "0.35", false),
        (json!({ "multipleOf": 3 }), "9007199254740993", true),
        (json!({ "multipleOf": 7 }), "1e300", false),
        (json!({ "multipleOf": 1e-8 }), "12391239123", true),
        (json!({ "multipleOf": 1e300 }), "1", false),
        (json!({ "multipleOf": 0.5 }), "0", true),
        (json!({ "multipleOf": 0.5 }), "-0.0", true),
        (json!({ "multipleOf": 0.5 }), "-2.5", true),
        (json!({ "multipleOf": 0.07 }), "10.5", true),
        (json!({ "multipleOf": 0.07 }), "10.51", false),
        (json!({ "multipleOf": 0.01 }), "19.990000000000002", false),
        (json!({ "multipleOf": 0.01 }), "9007199254740993", true),
        (json!({ "multipleOf": 1e-20 }), "0.3", true),
        (json!({ "multipleOf": 20.0 }), "100", true),
        (json!({ "multipleOf": 20.0 }), "90", false),
        (json!({ "maximum": 9_007_199_254_740_992_u64 }), "9007199254740993", false),
        (json!({ "const": 9_007_199_254_740_992_u64 }), "9007199254740993", false),
        (json!({ "const": 1 }), "1.0", true),
        (json!({ "minimum": -1 }), "18446744073709551615", true),
    ] {
        assert_eq!(fits(schema.clone(), value), expected, "{schema} {value}");
    }
}

#[test]
fn patterns_are_those_of_ecma_262() {
    let cases: [(&str, &[&str], &[&str]); 22] = [
        ("b", &["abc"], &["a", ""]),
        ("^b$", &["b"], &["ab", "bc", "b\n"]),
        ("", &["", "a"], &[]),
        ("^(a|bc)*d?$", &["", "abca", "bcd"], &["b", "dd"]),
        ("^a{2,3}$", &["aa", "aaa"], &["a", "aaaa"]),
        ("^a{2}$", &["aa"], &["a", "aaa"]),
        ("^(ab){2,}$", &["abab", "ababab"], &["ab"]),
        ("^a{0}$", &[""], &["a"]),
        ("^a+?b*?$", &["a", "aab"], &["b"]),
        ("^[a-c_-]+$", &["a-b_c"], &["d"]),
        ("^[^a]$", &["b", "é", "\n"], &["a", ""]),
        ("^[]$", &[], &["", "a"]),
        ("^[^]$", &["a", "\n"], &[""]),
        ("^\\d\\D\\w\\W\\s\\S$", &["1aa- a"], &["aaa- a", "١aa- a"]),
        ("^[\\d\\s]+[\\D]$", &["1 2a"], &["1 22"]),
        ("^.$", &["a", "💙"], &["\n", "\u{2028}", ""]),
        ("\\bcat\\b", &["a cat"], &["concat"]),
        ("^\\u00e9\\x41\\u{1F499}\\uD83D\\uDC99$", &["éA💙💙"], &["eA💙💙"]),
        ("^(?:a)(?<name>b)$", &["ab"], &["a"]),
        ("^\\/\\.\\-\\$\\{$", &["/.-${"], &["/x-${"]),
        ("^(|a|)+$", &["", "aa"], &["b"]),
        ("\\cA[\\b]", &["\u{1}\u{8}"], &["A"]),
    ];
    for (pattern, found, missed) in cases {
        let schema = declared(&json!({ "pattern": pattern }));
        for text in found {
            assert!(schema.check(&json!(text)).is_ok(), "{pattern} in {text:?}");
        }
        for text in missed {
            assert!(schema.check(&json!(text)).is_err(), "{pattern} not in {text:?}");
        }
    }
}

// ---- what can not be made to hang ----

#[test]
fn work_without_end_is_given_up() {
    let too_large = ["the value is too large to be checked against its schema"];
    let schema = declared(&json!({ "$ref": "#/$defs/d0", "$defs": doubling() }));
    assert_eq!(said(&schema, &json!("a")), too_large);
    schema.drop_absent(&mut json!({ "a": null }));
    let not = declared(&json!({ "not": { "$ref": "#/$defs/d0" }, "$defs": doubling() }));
    assert_eq!(said(&not, &json!("a")), too_large, "a check given up is no \"does not fit\"");

    let many: Value = (0..20_000).map(Value::from).collect();
    assert_eq!(said(&declared(&json!({ "uniqueItems": true })), &many), too_large);

    // Exponential for whoever tries one way after another.
    let schema = declared(&json!({ "pattern": "^(a|a|aa)*$" }));
    assert_eq!(said(&schema, &json!(format!("{}b", "a".repeat(100_000)))).len(), 1);
    let schema = declared(&json!({ "pattern": "(a?){400}b" }));
    assert_eq!(said(&schema, &json!("a".repeat(100_000))), too_large);
}

// Each means the next twice, thirty times over: a thousand million ways through a schema of no size.
fn doubling() -> Value {
    let next = |at: usize| json!({ "$ref": format!("#/$defs/d{at}") });
    let twice = |at: usize| (format!("d{at}"), json!({ "allOf": [next(at + 1), next(at + 1)] }));
    let last = [("d30".to_owned(), json!({ "type": "string" }))];
    (0..30).map(twice).chain(last).collect::<serde_json::Map<_, _>>().into()
}

#[test]
fn a_value_nested_without_end_is_refused() {
    let list = |depth: usize| (0..depth).fold(json!([]), |value, _| Value::Array(vec![value]));
    let schema = declared(
        &json!({ "$ref": "#/$defs/l", "$defs": { "l": { "type": "array", "items": { "$ref": "#/$defs/l" } } } }),
    );
    assert_eq!(said(&schema, &list(MAX_VALUE_DEPTH - 1)), [""; 0]);
    let words = [format!("the value must not be nested deeper than {MAX_VALUE_DEPTH}")];
    assert_eq!(said(&schema, &list(MAX_VALUE_DEPTH)), words);
    assert_eq!(said(&Schema::default(), &list(5_000)), words);
    schema.drop_absent(&mut list(5_000));
}

// ---- nulls ----

#[test]
fn a_null_that_only_says_absent_is_left_out() {
    let cases = [
        (json!({ "properties": { "a": { "type": "string" } } }), json!({ "a": null }), json!({})),
        (json!({ "properties": { "a": { "type": ["string", "null"] } } }), json!({ "a": null }), json!({ "a": null })),
        (json!({ "properties": { "a": {} } }), json!({ "a": null }), json!({ "a": null })),
        (
            json!({ "properties": { "a": { "type": "string" } }, "required": ["a"] }),
            json!({ "a": null }),
            json!({ "a": null }),
        ),
        (json!({ "properties": { "a": { "enum": ["b"] } } }), json!({ "a": null }), json!({})),
        (json!({ "additionalProperties": { "type": "string" } }), json!({ "a": null }), json!({ "a": null })),
        (
            person(),
            json!({ "name": "a", "home": null, "work": null, "friends": [{ "name": null, "home": null }] }),
            json!({ "name": "a", "work": null, "friends": [{ "name": null }] }),
        ),
        (
            json!({ "allOf": [{ "properties": { "a": { "type": "string" } } }, { "required": ["b"] }] }),
            json!({ "a": null, "b": null }),
            json!({ "b": null }),
        ),
        (
            json!({ "allOf": [{ "properties": { "a": { "type": "string" } } }, { "required": ["a"] }] }),
            json!({ "a": null }),
            json!({ "a": null }),
        ),
        (
            json!({ "anyOf": [{ "type": "object", "properties": { "a": { "type": "string" } } }, { "type": "null" }] }),
            json!({ "a": null }),
            json!({}),
        ),
        (
            json!({ "oneOf": [
                { "properties": { "kind": { "const": 1 }, "a": { "type": "string" } } },
                { "properties": { "kind": { "const": 2 }, "a": { "type": "null" } } } ] }),
            json!({ "kind": 1.0, "a": null }),
            json!({ "kind": 1.0 }),
        ),
        (
            json!({ "anyOf": [{ "properties": { "a": { "type": "string" } } }, { "properties": { "a": { "type": "null" } } }] }),
            json!({ "a": null }),
            json!({ "a": null }),
        ),
        (
            json!({ "prefixItems": [{ "properties": { "a": { "type": "string" } } }] }),
            json!([{ "a": null }, { "a": null }]),
            json!([{}, { "a": null }]),
        ),
    ];
    for (schema, mut value, expected) in cases {
        declared(&schema).drop_absent(&mut value);
        assert_eq!(value, expected, "{schema}");
    }
}

// ---- anything at all ----

// The other engine works with floats; where their digits end, ours is right and it is not.
#[cfg(feature = "gateway")]
fn any_tame_value() -> impl Strategy<Value = Value> {
    any_value_with((-1e6..1e6f64).boxed())
}

fn any_value() -> impl Strategy<Value = Value> {
    any_value_with(any::<f64>().boxed())
}

fn any_value_with(floats: BoxedStrategy<f64>) -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-30i64..30).prop_map(Value::from),
        (-300i64..300).prop_map(|number| Value::from(number as f64 / 100.0)),
        floats.prop_map(Value::from),
        "[ab1é]{0,4}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[abc]", inner, 0..4).prop_map(Value::from_iter),
        ]
    })
}

// Schemas of which most compile.
#[cfg(feature = "gateway")]
fn any_schema() -> impl Strategy<Value = Value> {
    let word = prop::sample::select(vec!["null", "boolean", "object", "array", "number", "integer", "string"]);
    let size = 0u32..4;
    let pattern =
        prop::sample::select(vec!["a", "^a", "b$", "^[ab]*$", "^(a|b1)+$", "\\d", "^.{2}$", "[^a]", "\\Wb?", "a{2}"]);
    let leaf = prop_oneof![
        any::<bool>().prop_map(Value::from),
        word.clone().prop_map(|word| json!({ "type": word })),
        prop::collection::vec(any_tame_value(), 1..4).prop_map(|list| json!({ "enum": list })),
        any_tame_value().prop_map(|value| json!({ "const": value })),
        (size.clone(), size.clone()).prop_map(|(least, most)| json!({ "minLength": least, "maxLength": most })),
        pattern.clone().prop_map(|pattern| json!({ "pattern": pattern })),
        (-200i32..200).prop_map(|bound| json!({ "minimum": f64::from(bound) / 100.0 })),
        (-20i32..20).prop_map(|bound| json!({ "exclusiveMaximum": bound })),
        (1i32..300).prop_map(|unit| json!({ "multipleOf": f64::from(unit) / 100.0 })),
        (size.clone(), size.clone())
            .prop_map(|(least, most)| json!({ "minItems": least, "maxItems": most, "uniqueItems": true })),
        (size.clone(), size).prop_map(|(least, most)| json!({ "minProperties": least, "maxProperties": most })),
        prop::collection::vec("[abc]", 0..3).prop_map(|names| json!({ "required": names })),
        prop::sample::select(vec!["#", "#/$defs/a", "#/$defs/b"]).prop_map(|place| json!({ "$ref": place })),
    ];
    leaf.prop_recursive(4, 24, 3, move |inner| {
        let map = prop::collection::btree_map("[abc]", inner.clone(), 0..3);
        prop_oneof![
            (map.clone(), inner.clone())
                .prop_map(|(map, rest)| json!({ "properties": map, "additionalProperties": rest })),
            (pattern.clone(), inner.clone())
                .prop_map(|(pattern, one)| json!({ "patternProperties": { pattern: one } })),
            (inner.clone(), inner.clone()).prop_map(|(first, rest)| json!({ "prefixItems": [first], "items": rest })),
            inner.clone().prop_map(|one| json!({ "contains": one, "maxContains": 2 })),
            inner.clone().prop_map(|one| json!({ "not": one })),
            inner.clone().prop_map(|one| json!({ "propertyNames": one })),
            (inner.clone(), inner.clone(), inner.clone())
                .prop_map(|(a, b, c)| json!({ "if": a, "then": b, "else": c })),
            prop::collection::vec(inner.clone(), 1..4).prop_map(|list| json!({ "anyOf": list })),
            prop::collection::vec(inner.clone(), 1..4).prop_map(|list| json!({ "oneOf": list })),
            prop::collection::vec(inner.clone(), 1..4).prop_map(|list| json!({ "allOf": list })),
            (inner.clone(), word.clone())
                .prop_map(|(a, word)| json!({ "type": ["object", word], "dependentSchemas": { "a": a } })),
            (map, inner).prop_map(|(map, one)| json!({ "allOf": [one], "$defs": map })),
        ]
    })
}

// Patterns by their grammar, of characters that the texts below are made of.
#[cfg(feature = "gateway")]
fn any_pattern() -> impl Strategy<Value = String> {
    let atoms = vec![
        "a", "b", "1", ".", "\\d", "\\D", "\\w", "\\W", "\\s", "\\S", "[ab]", "[^a]", "[a-c1]", "[^\\d ]", "[\\s-]",
        "^", "$", "\\b", "\\B", "\\.", "é", "[à-ü]", "\\x61", "\\u0062",
    ];
    let leaf = prop::sample::select(atoms).prop_map(str::to_owned);
    let times = prop::sample::select(vec!["*", "+", "?", "{2}", "{1,}", "{0,2}", "{0}", "*?", "+?", "??"]);
    leaf.prop_recursive(4, 16, 4, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 1..4).prop_map(|parts| parts.concat()),
            prop::collection::vec(inner.clone(), 1..4).prop_map(|parts| format!("({})", parts.join("|"))),
            (inner.clone(), times.clone()).prop_map(|(part, times)| format!("(?:{part}){times}")),
            (inner, times.clone()).prop_map(|(part, times)| format!("(?<n>{part}|){times}")),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    #[test]
    fn no_schema_and_no_value_makes_it_panic(schema in any_value(), value in any_value(), word in "\\PC{0,12}") {
        for schema in [json!({ "pattern": word }), json!({ "properties": schema }), json!({ "anyOf": [schema], "$ref": word }), schema] {
            if let Ok(compiled) = Schema::compile_declared(&schema) {
                let _ = compiled.check(&value);
                let _ = compiled.check(&json!(word));
                compiled.drop_absent(&mut value.clone());
            }
        }
    }

    #[cfg(feature = "gateway")]
    #[test]
    fn both_engines_find_patterns_alike(pattern in any_pattern(), texts in prop::collection::vec("[ab1é .]{0,6}", 1..8)) {
        let schema = json!({ "pattern": pattern });
        if let (Ok(ours), Ok(full)) = (Schema::compile_declared(&schema), Schema::compile(&schema)) {
            // The other engine has edges of words in all alphabets; ECMA 262 §22.2.2.9.3 knows ASCII's.
            let edges = pattern.contains("\\b") || pattern.contains("\\B");
            for text in texts.into_iter().filter(|text| text.is_ascii() || !edges) {
                let text = Value::from(text);
                prop_assert_eq!(ours.check(&text).is_ok(), full.check(&text).is_ok(), "{} in {}", schema, text);
            }
        }
    }

    #[cfg(feature = "gateway")]
    #[test]
    fn both_engines_judge_alike(schema in any_schema(), values in prop::collection::vec(any_tame_value(), 1..8)) {
        let mut schema = json!({ "allOf": [schema], "$defs": { "a": { "type": "string" }, "b": { "items": { "$ref": "#" } } } });
        // An empty key of its own would hide the definitions.
        schema["$comment"] = "random".into();
        if let (Ok(ours), Ok(full)) = (Schema::compile_declared(&schema), Schema::compile(&schema)) {
            for value in values {
                let (found, expected) = (ours.check(&value), full.check(&value));
                prop_assert_eq!(found.is_ok(), expected.is_ok(), "{} {}: {:?} {:?}", schema, value, found, expected);
            }
        }
    }
}
