//! Gemini Interactions: the documented stream, its traps, the way back, and the exact bodies.

use serde_json::{Value, json};

use super::check_file;
use super::threads::check_back;

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
