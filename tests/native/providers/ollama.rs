//! Ollama's own API: the documented stream, its traps, the way back, and the exact bodies.

use serde_json::{Value, json};

use super::check_file;
use super::threads::check_back;

const VENDOR: &str = "ollama";
const ENDS: &[&str] = &[r#""done":true"#, r#""error""#];

fn check(name: &str, expected: &[&str]) {
    check_file(VENDOR, &format!("ollama/{name}.ndjson"), ENDS, expected);
}

fn back(name: &str, expected: &Value) {
    check_back(VENDOR, &format!("ollama/{name}.ndjson"), expected);
}

// ---- decode, and back again ----

#[test]
fn the_documented_stream_is_understood() {
    check(
        "two_calls",
        &[
            "text+",
            "text Checking both.",
            "text-",
            "call 0 get_weather id=call_k3x9q2ab",
            r#"args 0 {"city":"Oslo"}"#,
            "call- 0",
            "call 1 get_time id=call_p7d1m0zz",
            r#"args 1 {"zone":"Europe/Oslo"}"#,
            "call- 1",
            "usage 80 31",
            "finish calls",
        ],
    );
    back(
        "two_calls",
        &json!([{"content":"Checking both.","role":"assistant","tool_calls":[{"function":{"arguments":{"city":"Oslo"},"index":0,"name":"get_weather"},"id":"call_k3x9q2ab"},{"function":{"arguments":{"zone":"Europe/Oslo"},"index":1,"name":"get_time"},"id":"call_p7d1m0zz"}]}]),
    );
}

#[test]
fn calls_stay_apart_without_ids_and_numbers() {
    check(
        "no_ids",
        &[
            "call 0 get_weather",
            r#"args 0 {"city":"Oslo"}"#,
            "call- 0",
            "call 1 get_weather",
            r#"args 1 {"city":"Rome"}"#,
            "call- 1",
            "call 2 get_time",
            "args 2 {}",
            "call- 2",
            "usage 80 31",
            "finish calls",
        ],
    );
    back(
        "no_ids",
        &json!([{"content":"","role":"assistant","tool_calls":[{"function":{"arguments":{"city":"Oslo"},"index":0,"name":"get_weather"}},{"function":{"arguments":{"city":"Rome"},"index":1,"name":"get_weather"}},{"function":{"arguments":{},"index":2,"name":"get_time"}}]}]),
    );
}

#[test]
fn an_error_is_a_line_of_its_own() {
    check(
        "error_line",
        &[
            "text+",
            "text Hi.",
            r#"error upstream: error parsing tool call: raw='{"city":', err=unexpected end of JSON input"#,
        ],
    );
}

#[test]
fn loading_is_no_answer() {
    check("load", &[r#"error upstream: Ollama has done a "load" of its model instead of answering."#]);
    check("unload", &[r#"error upstream: Ollama has done a "unload" of its model instead of answering."#]);
}

#[test]
fn thoughts_go_back() {
    check(
        "thinking",
        &[
            "reasoning+",
            "reasoning Two ",
            "reasoning sealed {}",
            "reasoning tools.",
            "reasoning-",
            "text+",
            "text Hi.",
            "text-",
            "reasoning+",
            "reasoning More.",
            "reasoning sealed {}",
            "reasoning-",
            "text+",
            "text  There.",
            "usage 80 31",
            "text-",
            "finish done",
        ],
    );
    back("thinking", &json!([{"content":"Hi. There.","role":"assistant","thinking":"Two tools.More."}]));
}

#[test]
fn the_last_line_may_hold_calls_and_says_how_it_ended() {
    check(
        "call_with_more",
        &[
            "call 0 get_weather id=call_a",
            r#"args 0 {"city":"Oslo"}"#,
            r#"call 0 sealed {"extra":{"seal":"SEALED-o"}}"#,
            "call- 0",
            "call 1 get_time id=call_b",
            r#"args 1 {"zone":"x"}"#,
            "call- 1",
            "usage 80 31",
            "finish calls",
        ],
    );
    check("length", &["text+", "text Hi", "usage 80 31", "text-", "finish length"]);
    back(
        "call_with_more",
        &json!([{"content":"","role":"assistant","tool_calls":[{"extra":{"seal":"SEALED-o"},"function":{"arguments":{"city":"Oslo"},"index":0,"name":"get_weather"},"id":"call_a"},{"function":{"arguments":{"zone":"x"},"index":1,"name":"get_time"},"id":"call_b"}]}]),
    );
}
