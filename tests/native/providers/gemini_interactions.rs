//! Gemini Interactions: the documented stream, its traps, the way back, and the exact bodies.

use serde_json::{Value, json};

use super::threads::check_back;
use super::{
    asked, attached, body, check_file, city, followed, form_in_words, formed, heard, here, refusal, there,
    without_tools,
};

const VENDOR: &str = "gemini_interactions";
const ENDS: &[&str] = &[r#""event_type":"interaction.completed""#];

fn check(name: &str, expected: &[&str]) {
    check_file(VENDOR, &format!("gemini_interactions/{name}.sse"), ENDS, expected);
}

fn back(name: &str, expected: &Value) {
    check_back(VENDOR, &format!("gemini_interactions/{name}.sse"), expected);
}

// ---- decode, and back again ----

#[test]
fn the_documented_stream_is_understood() {
    check(
        "two_calls",
        &[
            "reasoning+",
            r#"reasoning sealed {"signature":"SEALED-t","type":"thought"}"#,
            "reasoning-",
            "text+",
            "text Checking both.",
            "text-",
            "call 0 get_weather id=fc1",
            r#"args 0 {"city":"#,
            r#"args 0 "Oslo"}"#,
            "call- 0",
            "call 1 get_time id=fc2",
            r#"args 1 {"zone":"Europe/Oslo"}"#,
            "call- 1",
            "usage 80 71 reasoning 40",
            "finish calls",
        ],
    );
    back(
        "two_calls",
        &json!([{"signature":"SEALED-t","type":"thought"},{"content":[{"text":"Checking both.","type":"text"}],"type":"model_output"},{"arguments":{"city":"Oslo"},"id":"fc1","name":"get_weather","type":"function_call"},{"arguments":{"zone":"Europe/Oslo"},"id":"fc2","name":"get_time","type":"function_call"}]),
    );
}

#[test]
fn a_placeholder_counts_only_where_nothing_else_came() {
    check(
        "placeholder_args",
        &[
            "call 0 get_weather id=fc1",
            r#"args 0 {"city":"Oslo"}"#,
            "call- 0",
            "call 1 get_time id=fc2",
            "call 2 get_weather id=fc3",
            r#"args 2 {"city":"#,
            r#"args 2 "Rome"}"#,
            "call- 2",
            "usage 80 71 reasoning 40",
            "call- 1",
            "finish calls",
        ],
    );
    back(
        "placeholder_args",
        &json!([{"arguments":{"city":"Oslo"},"id":"fc1","name":"get_weather","type":"function_call"},{"arguments":{},"id":"fc2","name":"get_time","type":"function_call"},{"arguments":{"city":"Rome"},"id":"fc3","name":"get_weather","type":"function_call"}]),
    );
}

#[test]
fn a_thought_goes_back_with_its_summary_and_its_one_signature() {
    check(
        "thoughts",
        &[
            "reasoning+",
            "reasoning Two ",
            "reasoning tools.",
            r#"reasoning sealed {"signature":"SEALED-t","summary":[{"text":"Two tools.","type":"text"}],"type":"thought"}"#,
            "reasoning-",
            "text+",
            "text Hi",
            "text  there.",
            "text-",
            "usage 80 71 reasoning 40",
            "finish done",
        ],
    );
    check(
        "signature_twice",
        &[
            "reasoning+",
            r#"reasoning sealed {"signature":"SEALED-t","type":"thought"}"#,
            "reasoning-",
            "text+",
            "text Hi.",
            "text-",
            "usage 80 71 reasoning 40",
            "finish done",
        ],
    );
    back(
        "thoughts",
        &json!([{"signature":"SEALED-t","summary":[{"text":"Two tools.","type":"text"}],"type":"thought"},{"content":[{"text":"Hi there.","type":"text"}],"type":"model_output"}]),
    );
    back(
        "signature_twice",
        &json!([{"signature":"SEALED-t","type":"thought"},{"content":[{"text":"Hi.","type":"text"}],"type":"model_output"}]),
    );
}

#[test]
fn steps_nobody_knows_go_back_whole() {
    check(
        "unknown_steps",
        &[
            "reasoning+",
            r#"reasoning sealed {"arguments":{"queries":["oslo"]},"id":"gs1","signature":"SEALED-g","type":"google_search_call"}"#,
            "reasoning-",
            "reasoning+",
            r#"reasoning sealed {"call_id":"gs1","result":[{"search_suggestions":"SEALED-s"}],"signature":"SEALED-r","type":"google_search_result"}"#,
            "reasoning-",
            "reasoning+",
            r#"reasoning sealed {"frames":[1,2],"seed":"SEALED-h","type":"hologram"}"#,
            "reasoning-",
            "text+",
            "text Cold.",
            "text-",
            "usage 80 71 reasoning 40",
            "finish done",
        ],
    );
    back(
        "unknown_steps",
        &json!([{"arguments":{"queries":["oslo"]},"id":"gs1","signature":"SEALED-g","type":"google_search_call"},{"call_id":"gs1","result":[{"search_suggestions":"SEALED-s"}],"signature":"SEALED-r","type":"google_search_result"},{"frames":[1,2],"seed":"SEALED-h","type":"hologram"},{"content":[{"text":"Cold.","type":"text"}],"type":"model_output"}]),
    );
}

#[test]
fn what_stands_beside_words_stays_where_it_was() {
    check(
        "annotations",
        &[
            "text+",
            "text Oslo ",
            "text is cold.",
            r#"text sealed {"content":[{"annotations":[{"end_index":4,"start_index":0,"type":"url_citation","url":"https://example.org/1"},{"end_index":7,"start_index":5,"type":"url_citation","url":"https://example.org/2"}],"text":"Oslo is cold.","type":"text"}],"type":"model_output"}"#,
            "text-",
            "usage 80 71 reasoning 40",
            "finish done",
        ],
    );
    check(
        "picture",
        &[
            "text+",
            "text Look: ",
            "text nice.",
            r#"text sealed {"content":[{"text":"Look: ","type":"text"},{"data":"SEALED+pic","mime_type":"image/png","type":"image"},{"text":"nice.","type":"text"}],"type":"model_output"}"#,
            "text-",
            "usage 80 71 reasoning 40",
            "finish done",
        ],
    );
    check(
        "content_at_start",
        &[
            "text+",
            "text a",
            "text b",
            "text c",
            r#"text sealed {"content":[{"text":"a","type":"text"},{"text":"bc","type":"text"}],"type":"model_output"}"#,
            "text-",
            "usage 80 71 reasoning 40",
            "finish done",
        ],
    );
    back(
        "annotations",
        &json!([{"content":[{"annotations":[{"end_index":4,"start_index":0,"type":"url_citation","url":"https://example.org/1"},{"end_index":7,"start_index":5,"type":"url_citation","url":"https://example.org/2"}],"text":"Oslo is cold.","type":"text"}],"type":"model_output"}]),
    );
    back(
        "picture",
        &json!([{"content":[{"text":"Look: ","type":"text"},{"data":"SEALED+pic","mime_type":"image/png","type":"image"},{"text":"nice.","type":"text"}],"type":"model_output"}]),
    );
    back(
        "content_at_start",
        &json!([{"content":[{"text":"a","type":"text"},{"text":"bc","type":"text"}],"type":"model_output"}]),
    );
}

#[test]
fn steps_that_nobody_closes_are_closed_at_the_end() {
    check(
        "no_step_stop",
        &[
            "reasoning+",
            r#"reasoning sealed {"signature":"SEALED-t","type":"thought"}"#,
            "reasoning-",
            "text+",
            "text Hi.",
            "text-",
            "call 0 get_weather id=fc1",
            r#"args 0 {"city":"Oslo"}"#,
            "call- 0",
            "usage 80 71 reasoning 40",
            "finish calls",
        ],
    );
    back(
        "no_step_stop",
        &json!([{"signature":"SEALED-t","type":"thought"},{"content":[{"text":"Hi.","type":"text"}],"type":"model_output"},{"arguments":{"city":"Oslo"},"id":"fc1","name":"get_weather","type":"function_call"}]),
    );
}

#[test]
fn an_error_is_an_error_wherever_it_stands() {
    check("error", &["text+", "text Hi.", "text-", "error upstream: Took too long."]);
    check("failed", &["text+", "text Hi.", "text-", "usage 80 71 reasoning 40", "error rate_limit: Slow down."]);
    check(
        "failed_without_words",
        &["usage 80 71 reasoning 40", r#"error upstream: The interaction ended as "cancelled"."#],
    );
}

// ---- encode ----

fn sent(input: &Value) -> Value {
    json!({
        "model": "small", "stream": true, "store": false, "system_instruction": "Be brief.", "input": input,
        "tools": [
            { "type": "function", "name": "get_weather", "description": "Reads the weather.", "parameters": city() },
            { "type": "function", "name": "get_time", "description": "Reads the clock." },
        ],
    })
}

fn question() -> Value {
    json!({ "type": "user_input", "content": [{ "type": "text", "text": "Weather and time?" }] })
}

#[test]
fn a_question_is_written_exactly() {
    assert_eq!(body(VENDOR, &asked()), sent(&json!([question()])));
    let mut bare = sent(&json!([question()]));
    bare.as_object_mut().unwrap().remove("tools");
    assert_eq!(body(VENDOR, &without_tools(asked())), bare);
}

#[test]
fn a_result_names_its_call_and_says_whether_it_failed() {
    let expected = |ids: [&str; 2]| {
        json!([
            question(),
            { "type": "model_output", "content": [{ "type": "text", "text": "Checking both." }] },
            { "type": "function_call", "id": ids[0], "name": "get_weather", "arguments": { "city": "Oslo" } },
            { "type": "function_call", "id": ids[1], "name": "get_time", "arguments": {} },
            { "type": "function_result", "call_id": ids[0], "name": "get_weather", "result": { "tempC": 4 } },
            { "type": "function_result", "call_id": ids[1], "name": "get_time", "result": "no clock", "is_error": true },
        ])
    };
    let ids = ["fc1", "functions.get_time:1"];
    assert_eq!(body(VENDOR, &followed(Some(ids))), sent(&expected(ids)));
    assert_eq!(body(VENDOR, &followed(None)), sent(&expected(["local0", "local1"])), "an id is a duty here");
}

#[test]
fn files_are_content_of_their_kind_and_texts_are_words() {
    let request = attached(&[
        here("a.png", "image/png"),
        there("b.mp4", "video/mp4"),
        here("c.pdf", "application/pdf"),
        here("d.txt", "text/plain; charset=utf-8"),
    ]);
    let expected = json!([
        { "type": "text", "text": "Look." },
        { "type": "image", "mime_type": "image/png", "data": "aMOm" },
        { "type": "video", "mime_type": "video/mp4", "uri": "https://example.org/b.mp4" },
        { "type": "document", "mime_type": "application/pdf", "data": "aMOm" },
        { "type": "text", "text": "[d.txt, text/plain; charset=utf-8]\nhæ" },
    ]);
    assert_eq!(body(VENDOR, &request)["input"][0]["content"], expected);
    assert!(
        refusal(VENDOR, here("e.zip", "application/zip"))
            .starts_with("e.zip is application/zip, which Gemini does not take")
    );
}

#[test]
fn a_form_is_asked_for_with_its_schema_without_tools_and_in_words_with_them() {
    let mut expected = sent(&json!([question()]));
    expected.as_object_mut().unwrap().remove("tools");
    expected["response_format"] = json!({ "type": "text", "mime_type": "application/json", "schema": city() });
    assert_eq!(body(VENDOR, &formed(without_tools(asked()), city())), expected);
    let mut expected = sent(&json!([question()]));
    expected["system_instruction"] = json!(form_in_words(&city()));
    assert_eq!(body(VENDOR, &formed(asked(), city())), expected);
}

#[test]
fn every_status_has_a_meaning() {
    for (status, expected) in [
        ("completed", "finish done"),
        ("requires_action", "finish calls"),
        ("incomplete", "finish length"),
        ("budget_exceeded", "finish length"),
        ("requires_continuation", "finish paused"),
        ("queued", "finish queued"),
        ("failed", "error upstream: The interaction ended as \"failed\"."),
        ("cancelled", "error upstream: The interaction ended as \"cancelled\"."),
    ] {
        let event = json!({ "event_type": "interaction.completed", "interaction": { "id": "", "status": status } });
        let found = heard(VENDOR, &[format!("data: {event}\n\n").as_bytes()]);
        assert_eq!(found, ["start", expected], "{status}");
    }
}

#[test]
fn a_signature_in_pieces_is_one() {
    let event = |delta: Value| json!({ "event_type": "step.delta", "index": 0, "delta": delta });
    let stream: String = [
        json!({ "event_type": "step.start", "index": 0, "step": { "type": "thought", "signature": "" } }),
        event(json!({ "type": "thought_signature", "signature": "QUJ" })),
        event(json!({ "type": "thought_signature", "signature": "D" })),
        json!({ "event_type": "step.stop", "index": 0 }),
        json!({ "event_type": "interaction.completed", "interaction": { "status": "completed" } }),
    ]
    .iter()
    .map(|event| format!("data: {event}\n\n"))
    .collect();
    let sealed = r#"reasoning sealed {"signature":"QUJD","type":"thought"}"#;
    assert_eq!(heard(VENDOR, &[stream.as_bytes()]), ["start", "reasoning+", sealed, "reasoning-", "finish done"]);
}
