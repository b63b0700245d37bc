//! Gemini `generateContent`: the documented stream, its traps, the way back, and the exact bodies.

use serde_json::{Value, json};

use super::check_file;
use super::threads::check_back;

const VENDOR: &str = "gemini";
const ENDS: &[&str] = &[r#""finishReason""#, r#""error""#];

fn check(name: &str, expected: &[&str]) {
    check_file(VENDOR, &format!("gemini/{name}.sse"), ENDS, expected);
}

fn back(name: &str, expected: &Value) {
    check_back(VENDOR, &format!("gemini/{name}.sse"), expected);
}

// ---- decode, and back again ----

#[test]
fn the_documented_stream_is_understood() {
    check(
        "two_calls",
        &[
            "usage 80 0",
            "text+",
            "text Checking both.",
            "text-",
            "call 0 get_weather id=call_101",
            r#"args 0 {"city":"Oslo"}"#,
            r#"call 0 sealed {"thoughtSignature":"SEALED-c"}"#,
            "call- 0",
            "usage 80 71 reasoning 40",
            "call 1 get_time id=call_102",
            r#"args 1 {"zone":"Europe/Oslo"}"#,
            "call- 1",
            "finish calls",
        ],
    );
    back(
        "two_calls",
        &json!([{"text":"Checking both."},{"functionCall":{"args":{"city":"Oslo"},"id":"call_101","name":"get_weather"},"thoughtSignature":"SEALED-c"},{"functionCall":{"args":{"zone":"Europe/Oslo"},"id":"call_102","name":"get_time"}}]),
    );
}

#[test]
fn a_first_chunk_that_says_stop_is_no_end() {
    check(
        "stop_first",
        &[
            "text+",
            "text Hi.",
            "text-",
            "call 0 get_weather id=call_1",
            r#"args 0 {"city":"Oslo"}"#,
            r#"call 0 sealed {"thoughtSignature":"SEALED-c"}"#,
            "call- 0",
            "finish calls",
        ],
    );
    back(
        "stop_first",
        &json!([{"text":"Hi."},{"functionCall":{"args":{"city":"Oslo"},"id":"call_1","name":"get_weather"},"thoughtSignature":"SEALED-c"}]),
    );
}

#[test]
fn a_signature_stays_on_its_own_part() {
    check(
        "sig_on_empty_text",
        &[
            "text+",
            "text Hi ",
            "text there.",
            "text-",
            "text+",
            r#"text sealed {"thoughtSignature":"SEALED-e"}"#,
            "text-",
            "finish done",
        ],
    );
    check(
        "sig_then_unsigned_chunk",
        &[
            "text+",
            "text a",
            r#"text sealed {"thoughtSignature":"SEALED-1"}"#,
            "text-",
            "text+",
            "text b",
            "text c",
            "text-",
            "text+",
            "text d",
            r#"text sealed {"thoughtSignature":"SEALED-2"}"#,
            "text-",
            "finish done",
        ],
    );
    check(
        "sig_everywhere",
        &[
            "reasoning+",
            "reasoning Hm.",
            "reasoning-",
            "reasoning+",
            "reasoning Two.",
            r#"reasoning sealed {"thought":true,"thoughtSignature":"SEALED-t"}"#,
            "reasoning-",
            "reasoning+",
            r#"reasoning sealed {"text":"","thought":true,"thoughtSignature":"SEALED-u"}"#,
            "reasoning-",
            "text+",
            "text Checking.",
            r#"text sealed {"thoughtSignature":"SEALED-w"}"#,
            "text-",
            "text+",
            "text  Both.",
            "text-",
            "call 0 get_weather id=call_1",
            r#"args 0 {"city":"Oslo"}"#,
            r#"call 0 sealed {"thoughtSignature":"SEALED-c"}"#,
            "call- 0",
            "call 1 get_weather id=call_2",
            r#"args 1 {"city":"Rome"}"#,
            "call- 1",
            "finish calls",
        ],
    );
    back("sig_on_empty_text", &json!([{"text":"Hi there."},{"text":"","thoughtSignature":"SEALED-e"}]));
    back(
        "sig_then_unsigned_chunk",
        &json!([{"text":"a","thoughtSignature":"SEALED-1"},{"text":"bc"},{"text":"d","thoughtSignature":"SEALED-2"}]),
    );
    back(
        "sig_everywhere",
        &json!([{"text":"Two.","thought":true,"thoughtSignature":"SEALED-t"},{"text":"","thought":true,"thoughtSignature":"SEALED-u"},{"text":"Checking.","thoughtSignature":"SEALED-w"},{"text":" Both."},{"functionCall":{"args":{"city":"Oslo"},"id":"call_1","name":"get_weather"},"thoughtSignature":"SEALED-c"},{"functionCall":{"args":{"city":"Rome"},"id":"call_2","name":"get_weather"}}]),
    );
}

#[test]
fn calls_without_ids_stay_without() {
    check(
        "no_id",
        &[
            "call 0 get_weather",
            r#"args 0 {"city":"Oslo"}"#,
            "call 0 sealed {}",
            "call- 0",
            "call 1 get_weather",
            r#"args 1 {"city":"Rome"}"#,
            "call- 1",
            "call 2 get_time",
            "args 2 {}",
            "call- 2",
            "finish calls",
        ],
    );
    back(
        "no_id",
        &json!([{"functionCall":{"args":{"city":"Oslo"},"name":"get_weather"}},{"functionCall":{"args":{"city":"Rome"},"name":"get_weather"}},{"functionCall":{"args":{},"name":"get_time"}}]),
    );
}

#[test]
fn parts_nobody_knows_go_back_whole() {
    check(
        "code_and_pictures",
        &[
            "reasoning+",
            r#"reasoning sealed {"executableCode":{"code":"print(1)","language":"PYTHON"},"thoughtSignature":"SEALED-x"}"#,
            "reasoning-",
            "reasoning+",
            r#"reasoning sealed {"codeExecutionResult":{"outcome":"OUTCOME_OK","output":"1\n"}}"#,
            "reasoning-",
            "reasoning+",
            r#"reasoning sealed {"inlineData":{"data":"SEALED+pic","mimeType":"image/png"},"thought":true}"#,
            "reasoning-",
            "reasoning+",
            r#"reasoning sealed {"hologram":{"seed":"SEALED-h"}}"#,
            "reasoning-",
            "text+",
            "text One.",
            "text-",
            "finish done",
        ],
    );
    back(
        "code_and_pictures",
        &json!([{"executableCode":{"code":"print(1)","language":"PYTHON"},"thoughtSignature":"SEALED-x"},{"codeExecutionResult":{"outcome":"OUTCOME_OK","output":"1\n"}},{"inlineData":{"data":"SEALED+pic","mimeType":"image/png"},"thought":true},{"hologram":{"seed":"SEALED-h"}},{"text":"One."}]),
    );
}

#[test]
fn a_call_that_gemini_can_not_read_is_an_error_worth_another_try() {
    check(
        "malformed",
        &[
            "text+",
            "text Hm.",
            "error upstream: The model wrote a call that Gemini can not read (MALFORMED_FUNCTION_CALL). Malformed function call: print(get_weather(",
        ],
    );
    check(
        "unexpected_call",
        &["error upstream: The model wrote a call that Gemini can not read (UNEXPECTED_TOOL_CALL)."],
    );
    check(
        "missing_signature",
        &["error bad_request: Gemini misses a thought signature in the thread (MISSING_THOUGHT_SIGNATURE)."],
    );
}

#[test]
fn what_is_blocked_is_told() {
    check(
        "blocked_prompt",
        &["usage 8 0", "error bad_request: Gemini gave no answer to this; its reason is PROHIBITED_CONTENT."],
    );
    check("blocked_answer", &["error bad_request: Gemini gave no answer to this; its reason is SAFETY."]);
    check("blocked_midway", &["text+", "text Well", "text-", "finish refused"]);
}

#[test]
fn every_word_of_an_end_has_a_meaning() {
    check("max_tokens", &["text+", "text Hi", "usage 80 71 reasoning 40", "text-", "finish length"]);
    check("continuation", &["text+", "text Hi", "text-", "finish paused"]);
    check(
        "usage_grows",
        &["usage 80 0", "text+", "text Hi", "usage 80 71 reasoning 40", "text .", "text-", "finish done"],
    );
}

#[test]
fn an_error_inside_the_stream_is_an_error() {
    check("error_in_stream", &["text+", "text Hi.", "error upstream: The model is overloaded."]);
}
