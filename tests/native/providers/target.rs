//! Where a request goes, under which head, and what configuration may change in its body.

use pagehand::providers::{Post, Target, Vendor};
use serde_json::{Map, Value, json};

use super::{asked, body, request, user};

fn post(vendor: &str, url: &str, model: &str, parameters: &Value) -> Post {
    let parameters = parameters.as_object().cloned().unwrap_or_default();
    Target::new(Vendor::find(vendor).unwrap(), url, model, parameters, Some("key")).write(&asked()).unwrap()
}

/// A vendor; its address, head and place for the key.
type Case<'a> = (&'a str, &'a str, &'a [(&'a str, &'a str)], (&'a str, &'a str));

#[test]
fn every_api_has_its_address_its_head_and_its_place_for_the_key() {
    let google = "https://generativelanguage.googleapis.com/v1beta";
    let generate = format!("{google}/models/small:streamGenerateContent?alt=sse");
    let interactions = format!("{google}/interactions");
    let cases: [Case<'_>; 6] = [
        ("openai_chat", "https://api.openai.com/v1/chat/completions", &[], ("authorization", "Bearer ")),
        ("openai_responses", "https://api.openai.com/v1/responses", &[], ("authorization", "Bearer ")),
        (
            "anthropic",
            "https://api.anthropic.com/v1/messages",
            &[("anthropic-version", "2023-06-01")],
            ("x-api-key", ""),
        ),
        ("gemini", &generate, &[], ("x-goog-api-key", "")),
        ("gemini_interactions", &interactions, &[("api-revision", "2026-05-20")], ("x-goog-api-key", "")),
        ("ollama", "http://localhost:11434/api/chat", &[], ("authorization", "Bearer ")),
    ];
    for (vendor, address, head, key) in cases {
        let post = post(vendor, "", "small", &Value::Null);
        assert_eq!((post.url.as_str(), post.headers.as_slice(), post.key), (address, head, key), "{vendor}");
        assert!(!post.body.contains("\"key\""), "{vendor}");
        // An address that names the endpoint already, or ends in a slash.
        if vendor != "gemini" {
            assert_eq!(self::post(vendor, address, "small", &Value::Null).url, address);
        }
        let base = Vendor::find(vendor).unwrap().url.unwrap();
        assert_eq!(self::post(vendor, &format!("{base}/"), "small", &Value::Null).url, address);
    }
    assert_eq!(post("anthropic", "http://here/v1", "small", &Value::Null).url, "http://here/v1/messages");
    assert_eq!(post("gemini", "", "models/small", &Value::Null).url, generate, "as Google lists its models");
}

#[test]
fn what_is_configured_wins_and_a_null_takes_a_field_out() {
    let parameters = json!({
        "temperature": 0.2, "stream_options": { "include_obfuscation": false }, "parallel_tool_calls": null,
        "model": "large", "reasoning": { "effort": "low", "summary": null },
    });
    let found: Value = serde_json::from_str(&post("openai_chat", "", "small", &parameters).body).unwrap();
    let mut expected = body("openai_chat", &asked());
    expected["temperature"] = json!(0.2);
    expected["stream_options"] = json!({ "include_usage": true, "include_obfuscation": false });
    expected["model"] = json!("large");
    expected["reasoning"] = json!({ "effort": "low" });
    expected.as_object_mut().unwrap().remove("parallel_tool_calls");
    assert_eq!(found, expected);
    let none = Target::new(Vendor::find("ollama").unwrap(), "", "small", Map::new(), None);
    assert_eq!(none.write(&asked()).unwrap(), post("ollama", "", "small", &Value::Null), "the key is in nothing sent");
}

#[test]
fn an_address_says_whose_server_it_is() {
    for vendor in Vendor::all() {
        let Some(url) = vendor.url else { continue };
        // A base alone does not say which of two APIs, nor which server listens at a port that many use.
        let expected = match vendor.name {
            "openai_responses" => "openai_chat",
            "gemini_interactions" => "gemini",
            "llama_cpp" | "vllm" => "openai_compatible",
            name => name,
        };
        assert_eq!(Vendor::at(url).name, expected, "{url}");
    }
    assert_eq!(Vendor::at("https://models.example.org/v1").name, "openai_compatible");
}

#[test]
fn more_tools_than_a_vendor_takes_are_refused_with_the_number() {
    let mut many = request(vec![user("Hello.")]);
    let tool = many.tools[0].clone();
    many.tools = (0..129)
        .map(|at| std::sync::Arc::new(pagehand::protocol::ToolOffer { name: format!("tool_{at}"), ..(*tool).clone() }))
        .collect();
    let error = super::target("openai_chat").write(&many).unwrap_err();
    assert_eq!(error.message, "OpenAI takes at most 128 tools; this request has 129.");
    assert!(!error.is_retryable());
    assert!(super::target("anthropic").write(&many).is_ok());
}

#[test]
fn an_answer_without_an_end_is_given_up() {
    let mut decoder = super::target("openai_chat").decoder(&request(Vec::new()));
    let comment = [b": ".as_slice(), &[b'x'; 1 << 20], b"\n\n"].concat();
    let mut events = Vec::new();
    for _ in 0..200 {
        decoder.push(&comment);
        events.extend(std::iter::from_fn(|| decoder.next()));
    }
    assert_eq!(crate::support::words::words(&events), ["error protocol: the model's answer is longer than 128 MiB"]);
}
