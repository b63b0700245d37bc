//! Gemini `generateContent`: the documented stream, its traps, the way back, and the exact bodies.

use serde_json::{Value, json};

use super::threads::check_back;
use super::{
    answer, asked, attached, body, check_file, city, followed, form_in_words, formed, here, refusal, request, result,
    target, there, user, without_tools,
};
use crate::support::fixture;

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
fn arguments_in_a_part_of_their_own_are_the_last_calls() {
    check(
        "nameless_call",
        &[
            "call 0 get_weather",
            r#"call 0 sealed {"thoughtSignature":"SEALED-c"}"#,
            r#"args 0 {"city":"Oslo"}"#,
            "call- 0",
            "call 1 get_time",
            r#"args 1 {"zone":"x"}"#,
            "call- 1",
            "finish calls",
        ],
    );
    back(
        "nameless_call",
        &json!([
            { "functionCall": { "name": "get_weather", "args": { "city": "Oslo" } }, "thoughtSignature": "SEALED-c" },
            { "functionCall": { "name": "get_time", "args": { "zone": "x" } } },
        ]),
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
    check("blocked_prompt", &["usage 8 0", "finish refused: PROHIBITED_CONTENT"]);
    check("blocked_answer", &["finish refused: SAFETY"]);
    check("blocked_midway", &["text+", "text Well", "text-", "finish refused: SAFETY"]);
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

// ---- encode ----

fn sent(contents: &Value) -> Value {
    json!({
        "systemInstruction": { "parts": [{ "text": "Be brief." }] },
        "contents": contents,
        "tools": [{ "functionDeclarations": [
            { "name": "get_weather", "description": "Reads the weather.", "parametersJsonSchema": city() },
            { "name": "get_time", "description": "Reads the clock." },
        ] }],
    })
}

fn question() -> Value {
    json!({ "role": "user", "parts": [{ "text": "Weather and time?" }] })
}

#[test]
fn a_question_is_written_exactly() {
    assert_eq!(body(VENDOR, &asked()), sent(&json!([question()])));
    let mut bare = sent(&json!([question()]));
    bare.as_object_mut().unwrap().remove("tools");
    assert_eq!(body(VENDOR, &without_tools(asked())), bare);
    bare.as_object_mut().unwrap().remove("systemInstruction");
    let mut request = without_tools(asked());
    request.instructions.clear();
    assert_eq!(body(VENDOR, &request), bare);
}

#[test]
fn results_stand_in_one_content_and_a_foreign_call_has_the_stand_in() {
    let expected = |ids: Option<[&str; 2]>| {
        let with = |mut value: Value, at: usize| {
            if let Some(ids) = ids {
                value["id"] = json!(ids[at]);
            }
            value
        };
        json!([
            question(),
            { "role": "model", "parts": [
                { "text": "Checking both." },
                {
                    "functionCall": with(json!({ "name": "get_weather", "args": { "city": "Oslo" } }), 0),
                    "thoughtSignature": "skip_thought_signature_validator",
                },
                { "functionCall": with(json!({ "name": "get_time", "args": {} }), 1) },
            ] },
            { "role": "user", "parts": [
                { "functionResponse": with(json!({ "name": "get_weather", "response": { "output": { "tempC": 4 } } }), 0) },
                { "functionResponse": with(json!({ "name": "get_time", "response": { "error": "no clock" } }), 1) },
            ] },
        ])
    };
    let ids = ["call_1", "functions.get_time:1"];
    assert_eq!(body(VENDOR, &followed(Some(ids))), sent(&expected(Some(ids))));
    assert_eq!(body(VENDOR, &followed(None)), sent(&expected(None)), "no id on either side");
}

#[test]
fn results_are_objects_whatever_they_are() {
    for (content, expected) in [
        ("4", json!({ "output": 4 })),
        ("[1]", json!({ "output": [1] })),
        ("cold", json!({ "output": "cold" })),
        ("", json!({ "output": "" })),
        (r#"{"output":1}"#, json!({ "output": { "output": 1 } })),
    ] {
        let request = request(vec![user("Go."), answer("", &[("one", "{}")]), result("one", content)]);
        let part = &body(VENDOR, &request)["contents"][2]["parts"][0];
        assert_eq!(part["functionResponse"]["response"], expected, "{content}");
    }
}

#[test]
fn a_paused_answer_and_what_follows_it_are_one_content() {
    let request = request(vec![user("Go."), answer("One.", &[]), answer("Two.", &[("one", "{}")]), result("one", "4")]);
    let contents = &body(VENDOR, &request)["contents"];
    let roles: Vec<&str> = contents.as_array().unwrap().iter().map(|one| one["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["user", "model", "user"]);
    assert_eq!(contents[1]["parts"].as_array().unwrap().len(), 3);
}

#[test]
fn files_are_parts_and_texts_are_words() {
    let request = attached(&[
        here("a.png", "image/png"),
        there("b.mp4", "video/mp4"),
        here("c.pdf", "application/pdf"),
        here("d.json", "application/json"),
    ]);
    let expected = json!([
        { "text": "Look." },
        { "inlineData": { "mimeType": "image/png", "data": "aMOm" } },
        { "fileData": { "mimeType": "video/mp4", "fileUri": "https://example.org/b.mp4" } },
        { "inlineData": { "mimeType": "application/pdf", "data": "aMOm" } },
        { "text": "[d.json, application/json]\nhæ" },
    ]);
    assert_eq!(body(VENDOR, &request)["contents"][0]["parts"], expected);
    assert_eq!(
        refusal(VENDOR, here("e.zip", "application/zip")),
        "e.zip is application/zip, which Gemini does not take; it takes image/png, image/jpeg, image/webp, image/heic, image/heif, audio/*, video/*, application/pdf."
    );
}

#[test]
fn a_form_is_asked_for_with_its_schema_without_tools_and_in_words_with_them() {
    let mut expected = sent(&json!([question()]));
    expected.as_object_mut().unwrap().remove("tools");
    expected["generationConfig"] = json!({ "responseMimeType": "application/json", "responseJsonSchema": city() });
    assert_eq!(body(VENDOR, &formed(without_tools(asked()), city())), expected);
    let mut expected = sent(&json!([question()]));
    expected["systemInstruction"] = json!({ "parts": [{ "text": form_in_words(&city()) }] });
    assert_eq!(body(VENDOR, &formed(asked(), city())), expected);
}

#[test]
fn a_reason_that_came_first_is_no_end_where_the_connection_is_lost() {
    let bytes = fixture("providers/gemini/stop_first.sse");
    let first = String::from_utf8_lossy(&bytes).match_indices("\n\n").nth(1).map_or(0, |(at, _)| at + 2);
    let target = target(VENDOR);
    let mut decoder = target.decoder(&request(Vec::new()));
    decoder.push(&bytes[..first]);
    decoder.lost();
    let events: Vec<_> = std::iter::from_fn(|| decoder.next()).collect();
    assert!(!events.iter().any(|event| matches!(event, pagehand::protocol::ModelEvent::Finish(_))), "{events:?}");
}
