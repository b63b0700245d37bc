//! What each provider refuses in a tool's definition, row by row.

use pagehand::tools::portability::Provider;
use serde_json::{Value, json};

fn refuses(provider: &str, name: &str, description: &str, parameters: &Value) -> Vec<String> {
    Provider::find(provider).unwrap().refuses(name, description, parameters)
}

fn object(properties: Value) -> Value {
    Value::from_iter([("type", "object".into()), ("properties", properties)])
}

#[test]
fn every_provider_takes_the_portable_tool() {
    let portable = json!({
        "type": "object", "required": ["city", "days"], "additionalProperties": false,
        "properties": { "city": { "type": "string", "description": "Where" }, "days": { "type": ["integer", "null"] } },
    });
    let names: Vec<&str> = Provider::all().iter().map(|provider| provider.name).collect();
    for name in [
        "gemini",
        "gemini_interactions",
        "openai_chat",
        "openai_responses",
        "openai_strict",
        "anthropic",
        "ollama",
        "llama_cpp",
        "groq",
        "mistral",
        "deepseek",
        "prompt_api",
    ] {
        assert!(names.contains(&name), "{name}");
        assert_eq!(refuses(name, "weather_read", "Reads the weather.", &portable), [""; 0], "{name}");
    }
    assert!(Provider::find("nobody").is_none());
}

#[test]
fn a_name_fits_its_provider() {
    let long = "x".repeat(65);
    let longer = "x".repeat(129);
    // Those that take the name; all others must refuse it.
    let free = ["ollama", "llama_cpp", "prompt_api"];
    let gemini = ["gemini", "gemini_interactions"];
    let with = |more: &[&'static str]| -> Vec<&'static str> { free.iter().chain(more).copied().collect() };
    let all: Vec<&str> = Provider::all().iter().map(|provider| provider.name).collect();
    let cases = [
        ("weather-read", all.clone()),
        ("9lives", all.iter().copied().filter(|name| !gemini.contains(name)).collect()),
        ("weather.read", with(&gemini)),
        ("weather/read", with(&[])),
        ("wéather", with(&[])),
        (long.as_str(), with(&["gemini", "gemini_interactions", "anthropic"])),
        (longer.as_str(), with(&[])),
        ("", vec![]),
    ];
    for (name, takers) in cases {
        for provider in Provider::all() {
            let schema = json!({ "type": "object", "additionalProperties": false, "properties": {} });
            let taken = provider.refuses(name, "", &schema).is_empty();
            assert_eq!(taken, takers.contains(&provider.name), "{name} by {}", provider.name);
        }
    }
    let words = ["anthropic takes no tool named \"a.b\"; use letters, digits, _ and -, at most 128"];
    assert_eq!(refuses("anthropic", "a.b", "", &object(json!({}))), words);
}

#[test]
fn every_refusal_says_where_and_what_to_do() {
    let description = "x".repeat(1025);
    let wrap = "wrap it into a property, or say it in the description";
    let root = |provider: &str, keyword: &str| format!("{provider} does not take \"{keyword}\" at the root; {wrap}");
    let with = |keyword: &str| json!({ "type": "object", keyword: [] });
    let cases = [
        ("openai_chat", "", json!({}), vec!["openai_chat wants \"type\": \"object\" at the schema's root".to_owned()]),
        ("openai_chat", "", with("anyOf"), vec![root("openai_chat", "anyOf")]),
        ("openai_responses", "", with("enum"), vec![root("openai_responses", "enum")]),
        ("anthropic", "", with("oneOf"), vec![root("anthropic", "oneOf")]),
        ("anthropic", "", with("enum"), vec![]),
        ("openai_chat", "", object(json!({ "x": { "anyOf": [{}] } })), vec![]),
        ("gemini", "", with("anyOf"), vec![]),
        ("gemini", "", object(json!({ "x": { "exclusiveMinimum": 1, "const": 2, "type": ["string", "null"] } })), vec![]),
        (
            "openai_chat",
            description.as_str(),
            object(json!({})),
            vec!["openai_chat takes descriptions of at most 1024 characters; this has 1025".to_owned()],
        ),
        ("anthropic", description.as_str(), object(json!({})), vec![]),
        (
            "anthropic",
            "",
            object(json!({ "filter[id]": {}, "a.b-c": {}, "x": object(json!({ "y y": {} })) })),
            vec!["anthropic takes no argument named \"filter[id]\"; use letters, digits, _, . and -, at most 64".to_owned()],
        ),
        (
            "llama_cpp",
            "",
            object(json!({ "a": { "pattern": "x" }, "b": { "items": { "pattern": "^\\d$" } }, "c": { "pattern": "^[0-9]$" } })),
            vec![
                "llama_cpp does not take \"pattern\" at /properties/a; begin it with ^ and end it with $".to_owned(),
                "llama_cpp does not take \"pattern\" at /properties/b/items; write [0-9], [A-Za-z0-9_] or [ \\t\\n] for \\d, \\w or \\s"
                    .to_owned(),
            ],
        ),
        (
            "openai_strict",
            "",
            object(json!({ "a": { "oneOf": [] } })),
            vec![
                "openai_strict wants \"additionalProperties\": false at the root".to_owned(),
                "openai_strict has no optional properties, as \"a\" at the root; require it and let it be null".to_owned(),
                "openai_strict does not take \"oneOf\" at /properties/a; write anyOf".to_owned(),
            ],
        ),
    ];
    for (provider, description, schema, expected) in cases {
        assert_eq!(refuses(provider, "weather", description, &schema), expected, "{provider} {schema}");
    }
}

#[test]
fn a_schema_has_a_measure() {
    let nested = |depth: usize| {
        let closed = json!({ "type": "object", "properties": {}, "additionalProperties": false, "required": ["x"] });
        (0..depth).fold(json!({ "type": "string" }), |schema, _| {
            let mut outer = closed.clone();
            outer["properties"] = json!({ "x": schema });
            outer
        })
    };
    assert_eq!(refuses("openai_strict", "weather", "", &nested(10)), [""; 0]);
    let words = ["openai_strict takes at most 10 schemas within each other; this has 11"];
    assert_eq!(refuses("openai_strict", "weather", "", &nested(11)), words);
    assert_eq!(refuses("openai_chat", "weather", "", &nested(500)), [""; 0]);

    let tools = |name: &str| Provider::find(name).unwrap().max_tools;
    assert_eq!([tools("openai_chat"), tools("gemini"), tools("anthropic")], [Some(128), Some(512), None]);
}

#[test]
fn what_is_dropped_in_silence_is_told() {
    let schema =
        object(json!({ "x": { "type": "string", "minLength": 1, "pattern": "^a$" }, "y": { "minLength": 2 } }));
    let ignored = |name: &str| Provider::find(name).unwrap().ignores(&schema);
    assert_eq!(ignored("gemini"), [""; 0]);
    assert_eq!(ignored("gemini_interactions"), ["minLength"]);
    assert_eq!(ignored("ollama"), ["minLength", "pattern"]);
}

#[test]
fn declarations_are_counted_in_tokens() {
    for provider in Provider::all() {
        assert_eq!(provider.tokens(0), 0);
        assert!((250..=350).contains(&provider.tokens(1_000)), "{}: {}", provider.name, provider.tokens(1_000));
    }
}
