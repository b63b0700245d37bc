//! The same answer in every dress that servers and proxies put on it: line ends, marks, glued and broken frames, a plain
//! body where a stream was asked for. What is said must not change.

use serde_json::{Value, json};

use super::{error_in, heard};
use crate::support::{fixture, whole_and_in_pieces};

// Those that stream events, with the folder of their fixtures.
const STREAMS: &[(&str, &str)] = &[
    ("openai_compatible", "openai_chat"),
    ("openai_responses", "openai_responses"),
    ("anthropic", "anthropic"),
    ("gemini", "gemini"),
    ("gemini_interactions", "gemini_interactions"),
];

/// Every vendor's documented stream, changed like this, says the same.
fn check(dress: impl Fn(&str) -> Vec<u8>) {
    for (vendor, folder) in STREAMS {
        let plain = fixture(&format!("providers/{folder}/two_calls.sse"));
        let dressed = dress(std::str::from_utf8(&plain).unwrap());
        assert_ne!(plain, dressed, "{vendor}");
        let expected = heard(vendor, &[&plain]);
        assert_eq!(heard(vendor, &[&dressed]), expected, "{vendor}");
        let single: Vec<&[u8]> = dressed.chunks(1).collect();
        assert_eq!(heard(vendor, &single), expected, "{vendor}, byte by byte");
    }
}

// The JSON of each event.
fn over_data(stream: &str, change: impl Fn(Value) -> String) -> Vec<u8> {
    let line = |line: &str| match line.strip_prefix("data: ").map(serde_json::from_str) {
        Some(Ok(value)) => change(value),
        _ => line.to_owned(),
    };
    stream.lines().map(|one| line(one) + "\n").collect::<String>().into_bytes()
}

#[test]
fn lines_end_in_any_way() {
    check(|stream| stream.replace('\n', "\r\n").into_bytes());
    check(|stream| stream.replace('\n', "\r").into_bytes());
    check(|stream| stream.replace("\n\n", "\r\n\n").into_bytes());
    let plain = String::from_utf8(fixture("providers/anthropic/no_arg_tool.sse")).unwrap();
    for end in ["\r\n", "\r"] {
        let dressed = plain.replace('\n', end);
        let found = whole_and_in_pieces(dressed.as_bytes(), |pieces| heard("anthropic", pieces));
        assert_eq!(found, heard("anthropic", &[plain.as_bytes()]));
    }
}

#[test]
fn a_mark_of_byte_order_is_no_part_of_the_first_line() {
    check(|stream| format!("\u{feff}{stream}").into_bytes());
    // Without the comment that a fixture begins with.
    check(|stream| format!("\u{feff}{}", stream.split_once("\n\n").unwrap().1).into_bytes());
}

#[test]
fn a_space_behind_the_colon_is_no_duty() {
    check(|stream| stream.replace("data: ", "data:").replace("event: ", "event:").into_bytes());
}

#[test]
fn comments_and_fields_nobody_knows_change_nothing() {
    check(|stream| stream.replace("\n\n", "\nid: 7\nretry: 10\nother\n\n: keep-alive\n\n\n").into_bytes());
}

#[test]
fn an_event_may_have_many_data_lines() {
    check(|stream| over_data(stream, |value| format!("data: {}", format!("{value:#}").replace('\n', "\ndata: "))));
}

#[test]
fn events_without_a_border_are_read_one_by_one() {
    check(|stream| stream.replace("\n\n", "\n").into_bytes());
    let glued = |stream: &str| {
        let values = stream.lines().filter_map(|line| line.strip_prefix("data: ")).filter(|data| *data != "[DONE]");
        format!("data: {}\n\ndata: [DONE]\n\n", values.collect::<String>()).into_bytes()
    };
    check(glued);
}

#[test]
fn a_blank_line_may_be_missing_at_the_end() {
    check(|stream| stream.trim_end().as_bytes().to_vec());
    check(|stream| format!("{}\n", stream.trim_end()).into_bytes());
}

#[test]
fn letters_may_be_cut_anywhere() {
    for (vendor, folder) in STREAMS {
        let plain = String::from_utf8(fixture(&format!("providers/{folder}/two_calls.sse"))).unwrap();
        let foreign = |text: &str| text.replace("both.", "både – 雨 🌧.").replace("Europe/", "Éurope/");
        let expected: Vec<String> = heard(vendor, &[plain.as_bytes()]).iter().map(|word| foreign(word)).collect();
        let dressed = foreign(&plain);
        let found = whole_and_in_pieces(dressed.as_bytes(), |pieces| heard(vendor, pieces));
        assert_eq!(found, expected, "{vendor}");
        let escaped = over_data(&dressed, |value| {
            let ascii = |letter: char| {
                if letter.is_ascii() {
                    letter.to_string()
                } else {
                    letter.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")).collect()
                }
            };
            format!("data: {}", value.to_string().chars().map(ascii).collect::<String>())
        });
        assert_eq!(heard(vendor, &[&escaped]), found, "{vendor}");
    }
}

#[test]
fn json_lines_end_in_any_way_too() {
    let plain = String::from_utf8(fixture("providers/ollama/two_calls.ndjson")).unwrap();
    let expected = heard("ollama", &[plain.as_bytes()]);
    for dressed in [
        plain.replace('\n', "\r\n"),
        plain.replace('\n', "\n\n \n"),
        plain.trim_end().to_owned(),
        plain.replace('\n', ""),
        format!("\u{feff}{plain}"),
        format!("[\n{}\n]\n", plain.trim_end().replace('\n', ",\n")),
    ] {
        assert_eq!(whole_and_in_pieces(dressed.as_bytes(), |pieces| heard("ollama", pieces)), expected, "{dressed}");
    }
}

#[test]
fn an_error_is_found_in_any_body() {
    let vendors = STREAMS.iter().map(|(vendor, _)| *vendor).chain(["ollama"]);
    for vendor in vendors {
        let error = json!({ "error": { "code": 429, "message": "Slow down.", "status": "RESOURCE_EXHAUSTED" } });
        for body in [error.clone(), json!([error])] {
            let found = error_in(vendor, &body).unwrap_or_else(|| panic!("{vendor} finds no error in {body}"));
            assert_eq!((found.kind.as_str(), found.message.as_str()), ("rate_limit", "Slow down."), "{vendor}");
            for body in [format!("{body}"), format!("{body:#}"), format!("\n {body:#}\n")] {
                let found = whole_and_in_pieces(body.as_bytes(), |pieces| heard(vendor, pieces));
                assert_eq!(found, ["start", "error rate_limit: Slow down."], "{vendor}: {body}");
            }
            for body in [format!("data: {body}\n\n"), format!("event: error\ndata: {body}\n\ndata: [DONE]\n\n")] {
                if vendor != "ollama" {
                    let found = whole_and_in_pieces(body.as_bytes(), |pieces| heard(vendor, pieces));
                    assert_eq!(found, ["start", "error rate_limit: Slow down."], "{vendor}: {body}");
                }
            }
        }
    }
}

#[test]
fn a_plain_answer_is_read_where_a_stream_was_asked_for() {
    let two = |calls: [&'static str; 2]| {
        [&["start", "text+", "text Checking.", "text-"][..], &calls[..1], &[r#"args 0 {"city":"Oslo"}"#, calls[1]]]
            .concat()
    };
    let call = "call 0 get_weather id=call_a";
    let cases = [
        (
            "anthropic",
            json!({
                "type": "message", "id": "msg_1", "role": "assistant", "stop_reason": "tool_use",
                "content": [
                    { "type": "text", "text": "Checking." },
                    { "type": "tool_use", "id": "call_a", "name": "get_weather", "input": { "city": "Oslo" } },
                ],
                "usage": { "input_tokens": 80, "output_tokens": 71 },
            }),
            [&two([call, "call- 0"])[..], &["usage 80 71", "finish calls"]].concat(),
        ),
        (
            "gemini",
            json!([
                { "candidates": [{ "content": { "role": "model", "parts": [{ "text": "Checking." }] } }] },
                { "candidates": [{ "finishReason": "STOP", "content": { "role": "model", "parts": [
                    { "functionCall": { "id": "call_a", "name": "get_weather", "args": { "city": "Oslo" } }, "thoughtSignature": "s" },
                ] } }] },
            ]),
            [&two([call, r#"call 0 sealed {"thoughtSignature":"s"}"#])[..], &["call- 0", "finish calls"]].concat(),
        ),
        (
            "gemini_interactions",
            json!({
                "id": "", "status": "requires_action",
                "steps": [
                    { "type": "model_output", "content": [{ "type": "text", "text": "Checking." }] },
                    { "type": "function_call", "id": "call_a", "name": "get_weather", "arguments": { "city": "Oslo" } },
                ],
                "usage": { "total_input_tokens": 80, "total_output_tokens": 31 },
            }),
            [&two([call, "call- 0"])[..], &["usage 80 31", "finish calls"]].concat(),
        ),
        (
            "openai_responses",
            json!({
                "object": "response", "id": "resp_1", "status": "completed",
                "output": [
                    { "type": "message", "role": "assistant", "content": [{ "type": "output_text", "text": "Checking.", "annotations": [] }] },
                    { "type": "function_call", "call_id": "call_a", "name": "get_weather", "arguments": "{\"city\":\"Oslo\"}" },
                ],
            }),
            [&two([call, "call- 0"])[..], &["finish calls"]].concat(),
        ),
        (
            "ollama",
            json!({
                "message": { "role": "assistant", "content": "Checking.", "tool_calls": [
                    { "id": "call_a", "function": { "name": "get_weather", "arguments": { "city": "Oslo" } } }] },
                "done": true, "done_reason": "stop", "prompt_eval_count": 80, "eval_count": 31,
            }),
            [&two([call, "call- 0"])[..], &["usage 80 31", "finish calls"]].concat(),
        ),
    ];
    for (vendor, body, expected) in cases {
        for body in [format!("{body}"), format!("{body:#}\n")] {
            let found = whole_and_in_pieces(body.as_bytes(), |pieces| heard(vendor, pieces));
            assert_eq!(found, expected, "{vendor}: {body}");
            for at in 0..body.trim_end().len() {
                let cut = heard(vendor, &[&body.as_bytes()[..at]]);
                assert!(!cut.iter().any(|word| word.starts_with("finish")), "{vendor} cut at {at}: {cut:?}");
            }
        }
    }
}

#[test]
fn an_answer_that_failed_as_a_whole_is_an_error() {
    let failed = json!({ "object": "response", "status": "failed", "output": [], "error": { "code": "server_error", "message": "Broken." } });
    assert_eq!(heard("openai_responses", &[failed.to_string().as_bytes()]), ["start", "error upstream: Broken."]);
}

#[test]
fn geminis_stream_cut_inside_a_chunk_is_no_end_though_it_began_with_one() {
    let stream = String::from_utf8(fixture("providers/gemini/stop_first.sse")).unwrap();
    let second = stream.find("\n\ndata: {\"candidates\":[{\"index\":0,\"content\"").unwrap();
    for at in second + "\n\ndata: {".len()..stream.trim_end().len() {
        let cut = &stream[..at];
        if cut.ends_with("\n\n") || cut.ends_with("}\n") || cut.ends_with('}') && cut.ends_with("\"r-1\"}") {
            continue;
        }
        // A line that is not yet one of data can not be told from nothing.
        if !cut.rsplit('\n').next().unwrap().starts_with("data: {") {
            continue;
        }
        let found = heard("gemini", &[cut.as_bytes()]);
        assert!(!found.iter().any(|word| word.starts_with("finish")), "{cut}: {found:?}");
    }
}
