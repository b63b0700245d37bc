//! Ollama's own API: the documented stream, its traps, the way back, and the exact bodies.

use serde_json::{Value, json};

use super::threads::check_back;
use super::{
    asked, attached, body, check_file, city, followed, form_in_words, formed, here, no_arguments, refusal, there,
    without_tools,
};

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

// ---- encode ----

fn sent(messages: &Value) -> Value {
    json!({
        "model": "small", "stream": true, "messages": messages,
        "tools": [
            { "type": "function", "function": { "name": "get_weather", "description": "Reads the weather.", "parameters": city() } },
            { "type": "function", "function": { "name": "get_time", "description": "Reads the clock.", "parameters": no_arguments() } },
        ],
    })
}

fn question() -> [Value; 2] {
    [json!({ "role": "system", "content": "Be brief." }), json!({ "role": "user", "content": "Weather and time?" })]
}

#[test]
fn a_question_is_written_exactly() {
    assert_eq!(body(VENDOR, &asked()), sent(&json!(question())));
    let mut bare = sent(&json!(question()));
    bare.as_object_mut().unwrap().remove("tools");
    assert_eq!(body(VENDOR, &without_tools(asked())), bare);
}

#[test]
fn results_name_their_tool_and_have_an_id_only_where_there_was_one() {
    let [system, question] = question();
    let expected = json!([
        system, question,
        { "role": "assistant", "content": "Checking both.", "tool_calls": [
            { "id": "call_a", "function": { "index": 0, "name": "get_weather", "arguments": { "city": "Oslo" } } },
            { "id": "functions.b:1", "function": { "index": 1, "name": "get_time", "arguments": {} } },
        ] },
        { "role": "tool", "tool_name": "get_weather", "tool_call_id": "call_a", "content": "{\"tempC\":4}" },
        { "role": "tool", "tool_name": "get_time", "tool_call_id": "functions.b:1", "content": "no clock" },
    ]);
    assert_eq!(body(VENDOR, &followed(Some(["call_a", "functions.b:1"]))), sent(&expected));
    let mut without = expected;
    for at in 0..2 {
        without[2]["tool_calls"][at].as_object_mut().unwrap().remove("id");
        without[at + 3].as_object_mut().unwrap().remove("tool_call_id");
    }
    assert_eq!(body(VENDOR, &followed(None)), sent(&without));
}

#[test]
fn images_stand_beside_the_words_and_texts_in_them() {
    let request = attached(&[here("a.png", "image/png"), here("b.txt", "text/plain")]);
    let expected = json!([{ "role": "user", "content": "Look.\n\n[b.txt, text/plain]\nhæ", "images": ["aMOm"] }]);
    assert_eq!(body(VENDOR, &request)["messages"], expected);
    assert_eq!(
        refusal(VENDOR, here("c.pdf", "application/pdf")),
        "c.pdf is application/pdf, which Ollama does not take; it takes image/png, image/jpeg, image/webp, image/gif."
    );
    assert_eq!(
        refusal(VENDOR, there("a.png", "image/png")),
        "a.png stands at an address, from which Ollama fetches no such file; attach the file itself."
    );
}

#[test]
fn a_form_is_asked_for_with_its_schema_without_tools_and_in_words_with_them() {
    let mut expected = sent(&json!(question()));
    expected.as_object_mut().unwrap().remove("tools");
    expected["format"] = city();
    assert_eq!(body(VENDOR, &formed(without_tools(asked()), city())), expected);
    let mut expected = sent(&json!(question()));
    expected["messages"][0]["content"] = json!(form_in_words(&city()));
    assert_eq!(body(VENDOR, &formed(asked(), city())), expected);
}
