//! Chat Completions: each quirk of the servers that speak it, and the exact bodies we send them.

use std::collections::BTreeSet;

use pagehand::protocol::{ContextItem, Message, MessageId, ModelErrorKind, UserMessage};
use pagehand::providers::{Api, Vendor};
use serde_json::{Value, json};

use super::threads::check_back;
use super::{
    answer, asked, attached, body, check_bytes, check_file, city, error_in, followed, form_in_words, formed, heard,
    here, no_arguments, refusal, request, result, there, user, without_tools,
};
use crate::support::whole_and_in_pieces;

const VENDOR: &str = "openai_compatible";
const ENDS: &[&str] = &[r#""finish_reason":""#, r#""finish_reason": ""#, "[DONE]"];

fn check(name: &str, expected: &[&str]) {
    check_file(VENDOR, &format!("openai_chat/{name}.sse"), ENDS, expected);
}

fn decode(pieces: &[&[u8]]) -> Vec<String> {
    heard(VENDOR, pieces)
}

const OSLO: &str = r#"args 0 {"city":"Oslo"}"#;
const ROME: &str = r#"args 1 {"city":"Rome"}"#;

#[test]
fn the_documented_stream_is_understood() {
    check(
        "two_calls",
        &[
            "text+",
            "text Checking both.",
            "text-",
            "call 0 get_weather id=call_a",
            r#"args 0 {"city":"Os"#,
            r#"args 0 lo"}"#,
            "call 1 get_time id=call_b",
            r#"args 1 {"zone":"Europe/Oslo"}"#,
            "usage 80 31",
            "call- 0",
            "call- 1",
            "finish calls",
        ],
    );
    check("refusal", &["text+", "text I can", "text not.", "text-", "finish done"]);
}

#[test]
fn two_calls_stay_two_whatever_index_and_id_say() {
    let end = ["call- 0", "call- 1", "finish calls"];
    let with_ids = [&["call 0 get_weather id=call_a", OSLO, "call 1 get_weather id=call_b", ROME][..], &end].concat();
    check("index_missing", &with_ids);
    check("index_always_zero", &with_ids);
    check("id_shared", &[&["call 0 get_weather id=call_a", OSLO, "call 1 get_weather", ROME][..], &end].concat());
    check(
        "index_missing_pieces",
        &[
            "call 0 get_weather",
            r#"args 0 {"city":"#,
            r#"args 0 "Oslo"}"#,
            "call 1 get_weather",
            ROME,
            end[0],
            end[1],
            "finish done",
        ],
    );
    check(
        "index_reused",
        &[&["call 0 get_weather", OSLO, "call 1 get_time", r#"args 1 {"zone":"x"}"#][..], &end].concat(),
    );
    check(
        "id_missing",
        &[
            "call 0 get_weather",
            OSLO,
            "call 1 get_weather",
            ROME,
            "call 2 get_time",
            "args 2 {}",
            end[0],
            end[1],
            "call- 2",
            "finish calls",
        ],
    );
}

#[test]
fn one_call_stays_one_however_it_is_cut_up() {
    let end = ["call- 0", "finish calls"];
    let head = ["call 0 get_weather id=call_a", r#"args 0 {"city":"#];
    for name in ["index_twice_in_a_chunk", "id_empty_later", "last_chunk_repeats", "name_late"] {
        check(name, &[&head[..], &[r#"args 0 "Oslo"}"#], &end].concat());
    }
    check("id_changes", &[&head[..], &[r#"args 0 "Os"#, r#"args 0 lo"}"#], &end].concat());
}

#[test]
fn arguments_are_taken_in_any_form() {
    check(
        "arguments_whole",
        &[
            "call 0 get_weather id=a",
            OSLO,
            "call 1 get_weather id=b",
            ROME,
            "call 2 get_time id=c",
            "call 3 get_time id=d",
            "call 4 get_time id=e",
            "call- 0",
            "call- 1",
            "call- 2",
            "call- 3",
            "call- 4",
            "finish calls",
        ],
    );
    check(
        "in_message",
        &["text+", "text Looking.", "text-", "call 0 get_weather id=call_a", OSLO, "call- 0", "finish calls"],
    );
}

#[test]
fn reasoning_has_two_names() {
    check(
        "reasoning_ollama",
        &["reasoning+", "reasoning Hm", "reasoning .", "reasoning-", "text+", "text Hæ.", "text-", "finish done"],
    );
    check(
        "reasoning_deepseek",
        &["reasoning+", "reasoning Hm.", "reasoning-", "text+", "text Hi.", "text-", "finish done"],
    );
}

#[test]
fn every_form_of_an_end_is_an_end() {
    let hi = |end: &'static str| ["text+", "text Hi.", "text-", end];
    check("usage_missing", &hi("finish done"));
    check("stop_with_calls", &["call 0 get_weather id=call_a", OSLO, "call- 0", "finish done"]);
    check("calls_without_calls", &hi("finish calls"));
    check("finish_null", &hi("finish done"));
    check("finish_without_done", &hi("finish length"));
    check("finish_words", &hi("finish refused"));
}

#[test]
fn an_error_inside_the_stream_is_an_error_in_the_servers_words() {
    check("error_openrouter", &["text+", "text Hi.", "error rate_limit: Rate limited."]);
    check("error_vllm", &["text+", "text Hi.", "error upstream: Out of memory."]);
    let broken = "error upstream: The model wrote a call that its server can not read.";
    check("malformed_native", &["text+", "text Hm.", broken]);
    check("error_in_choice", &["text+", "text Hi.", "error rate_limit: Slow down."]);
    let unnamed = "error upstream: The model's server broke off with an error, and did not say which.";
    check("finish_error", &["text+", "text Hi.", unnamed]);
    check("error_gemini", &["error bad_request: Bad function name."]);
}

#[test]
fn chunks_without_a_border_are_read_one_by_one() {
    check("glued", &["text+", "text a", "text b", "text c", "text-", "finish done"]);
}

#[test]
fn a_character_that_two_chunks_share_is_one() {
    check(
        "halves_of_a_character",
        &[
            "text+",
            "text b",
            "text 👍 c",
            "text-",
            "call 0 get_weather id=call_a",
            r#"args 0 {"city":""#,
            r#"args 0 🐟"}"#,
            "call- 0",
            "finish calls",
        ],
    );
}

#[test]
fn a_body_that_is_cut_inside_the_mark_of_its_end_has_all_before_it() {
    let stop = "data: {\"choices\":[{\"delta\":{\"content\":\"Hi.\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DO";
    assert_eq!(decode(&[stop.as_bytes()]), ["start", "text+", "text Hi.", "text-", "finish done"]);
}

#[test]
fn a_stream_without_an_end_is_cut() {
    for (body, expected) in [
        ("", &[][..]),
        (": keep-alive\n\n", &[]),
        ("data: {\"choices\":[{\"delta\":{\"content\":\"Hi.\"}}]}\n\n", &["start", "text+", "text Hi."]),
    ] {
        check_bytes(VENDOR, body.as_bytes(), ENDS, expected);
    }
}

#[test]
fn a_broken_chunk_in_the_middle_ends_the_run_and_one_at_the_end_is_a_cut() {
    let hi = "data: {\"choices\":[{\"delta\":{\"content\":\"Hi.\"}}]}\n\n";
    let end = "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n";
    for (middle, expected) in [
        ("data: nonsense\n\n", "error protocol: the model's server sent a frame that can not be read"),
        ("data: {\"choices\":[{\"del\n\n", "error protocol: the model's server sent a frame that can not be read"),
    ] {
        let found = whole_and_in_pieces(format!("{hi}{middle}{end}").as_bytes(), decode);
        assert!(found.last().unwrap().starts_with(expected), "{found:?}");
    }
    let found = whole_and_in_pieces(format!("{hi}data: {{\"choices\":[{{\"del").as_bytes(), decode);
    assert_eq!(found[..3], ["start", "text+", "text Hi."]);
    assert!(found[3].starts_with("note a frame ends too early"), "{found:?}");
    assert_eq!(found.len(), 4);
}

#[test]
fn a_plain_body_is_read_as_one_chunk() {
    let answer = json!({ "object": "chat.completion", "usage": { "prompt_tokens": 3, "completion_tokens": 1 }, "choices": [{
        "index": 0, "finish_reason": "stop", "message": { "role": "assistant", "content": "Hi." } }] });
    for body in [answer.to_string(), format!("{answer:#}\n")] {
        assert_eq!(
            whole_and_in_pieces(body.as_bytes(), decode),
            ["start", "usage 3 1", "text+", "text Hi.", "text-", "finish done"]
        );
    }
    let error = json!({ "error": { "message": "no such model", "code": "model_not_found" } }).to_string();
    assert_eq!(whole_and_in_pieces(error.as_bytes(), decode), ["start", "error upstream: no such model"]);
    let cut = &answer.to_string()[..100];
    assert!(!decode(&[cut.as_bytes()]).iter().any(|word| word.starts_with("finish")));
}

#[test]
fn every_shape_of_an_error_is_found() {
    use ModelErrorKind::{Auth, BadRequest, RateLimit, Upstream};
    let cases = [
        (json!({ "error": { "message": "sk-m… is wrong", "code": 401 } }), Auth, "The model's server refused the key."),
        (
            json!({ "error": { "message": "m", "code": "invalid_api_key" } }),
            Auth,
            "The model's server refused the key.",
        ),
        (json!({ "error": { "message": "m", "code": "rate_limit_exceeded" } }), RateLimit, "m"),
        (json!({ "error": { "message": "m", "code": 429 } }), RateLimit, "m"),
        (json!({ "error": { "message": "m", "code": null, "type": "x" } }), Upstream, "m"),
        (json!({ "error": "m" }), Upstream, "m"),
        (json!({ "object": "error", "message": "m", "code": 400 }), BadRequest, "m"),
        (json!([{ "error": { "message": "m", "code": 503 } }]), Upstream, "m"),
        (
            json!({ "object": "error", "type": "invalid_request_error", "code": null, "message": { "detail": [
                { "type": "extra_forbidden", "loc": ["body", "messages", 0, "x"], "msg": "Not permitted" },
                { "loc": ["body", "y"], "msg": "Nor this" },
            ] } }),
            BadRequest,
            "body.messages.0.x: Not permitted; body.y: Nor this",
        ),
        (json!({ "error": { "message": { "message": "m" }, "code": 400 } }), BadRequest, "m"),
        (json!({ "error": {} }), Upstream, "the model's server reported an error without a message"),
    ];
    for (body, kind, words) in cases {
        let error = error_in(VENDOR, &body).unwrap_or_else(|| panic!("none in {body}"));
        assert_eq!((error.kind, error.message.as_str()), (kind, words), "{body}");
    }
    for body in [
        json!({ "error": null, "choices": [] }),
        json!({ "object": "chat.completion.chunk" }),
        json!([]),
        json!("error"),
    ] {
        assert_eq!(error_in(VENDOR, &body), None, "{body}");
    }
}

#[test]
fn arguments_that_are_odd_are_handed_on_as_they_came() {
    check(
        "args_double_encoded",
        &["call 0 get_weather id=call_a", r#"args 0 "{\"city\":\"Oslo\"}""#, "call- 0", "finish calls"],
    );
    check("args_null", &["call 0 get_weather id=call_a", "args 0 null", "call- 0", "finish calls"]);
    check(
        "name_null_later",
        &["call 0 get_weather id=call_a", r#"args 0 {"city":"#, r#"args 0 "Oslo"}"#, "call- 0", "finish calls"],
    );
    check("args_cut_eof", &["text+", "text Hm.", "text-", "call 0 get_weather id=call_a", r#"args 0 {"city":"Os"#]);
}

#[test]
fn comments_are_skipped_and_an_error_behind_them_is_found() {
    check("openrouter_comment_and_error", &["text+", "text Hi.", "error upstream: Upstream broke."]);
}

#[test]
fn content_in_parts_is_words_and_thoughts() {
    check("mistral_parts", &["reasoning+", "reasoning Hm.", "reasoning-", "text+", "text Hi.", "text-", "finish done"]);
}

// ---- back again ----

fn back(vendor: &str, name: &str, expected: &Value) {
    check_back(vendor, &format!("openai_chat/{name}.sse"), expected);
}

const OSLO_SENT: &str = r#"{"city":"Oslo"}"#;

#[test]
fn thoughts_go_back_to_who_wants_them_in_its_own_field() {
    let call =
        json!({ "id": "call_a", "type": "function", "function": { "name": "get_weather", "arguments": OSLO_SENT } });
    for (vendor, expected) in [
        (
            "deepseek",
            json!([{ "role": "assistant", "content": "Hi.", "reasoning_content": "One.Two.", "tool_calls": [call] }]),
        ),
        ("openai_compatible", json!([{ "role": "assistant", "content": "Hi.", "tool_calls": [call] }])),
    ] {
        back(vendor, "reasoning_twice", &expected);
    }
    back(
        "openrouter",
        "reasoning_details",
        &json!([{
            "role": "assistant", "content": "Checking.", "tool_calls": [call],
            "reasoning_details": [
                { "type": "reasoning.text", "text": "Two tools.", "index": 0, "format": "anthropic-claude-v1", "signature": "SEALED-1" },
                { "type": "reasoning.encrypted", "data": "SEALED-2", "id": "x", "index": 1 },
            ],
        }]),
    );
}

#[test]
fn what_stands_beside_a_call_goes_back_beside_it() {
    let call = |id: &str, city: &str| {
        let arguments = json!({ "city": city }).to_string();
        json!({ "id": id, "type": "function", "function": { "name": "get_weather", "arguments": arguments } })
    };
    let mut signed = call("call_a", "Oslo");
    signed["extra_content"] = json!({ "google": { "thought_signature": "SEALED-g" } });
    back(
        "gemini_openai",
        "extra_content",
        &json!([{ "role": "assistant", "content": "", "tool_calls": [signed, call("call_b", "Rome")] }]),
    );
}

#[test]
fn kimis_own_ids_go_back_as_they_were() {
    let call = |id: &str, name: &str, arguments: &str| json!({ "id": id, "type": "function", "function": { "name": name, "arguments": arguments } });
    back(
        "kimi",
        "kimi",
        &json!([{
            "role": "assistant", "content": "Checking both.", "reasoning_content": "Two tools.",
            "tool_calls": [
                call("functions.get_weather:0", "get_weather", OSLO_SENT),
                call("functions.get_time:1", "get_time", r#"{"zone":"x"}"#),
            ],
        }]),
    );
}

// ---- encode ----

fn sent(messages: Vec<Message>) -> Vec<Value> {
    body(VENDOR, &request(messages))["messages"].as_array().unwrap().clone()
}

#[test]
fn a_request_is_written_exactly() {
    let thread = vec![
        user("Weather?"),
        answer("Looking.", &[("one", r#"{"city":"Oslo"}"#)]),
        result("one", "4"),
        answer("Cold.", &[]),
    ];
    let expected = json!({
        "model": "small",
        "stream": true,
        "stream_options": { "include_usage": true },
        "messages": [
            { "role": "system", "content": "Be brief.\n\naddress of the page: /orders\ntime: noon" },
            { "role": "user", "content": "Weather?" },
            { "role": "assistant", "content": "Looking.", "tool_calls": [
                { "id": "one", "type": "function", "function": { "name": "get_weather", "arguments": "{\"city\":\"Oslo\"}" } }] },
            { "role": "tool", "tool_call_id": "one", "content": "4" },
            { "role": "assistant", "content": "Cold." },
            { "role": "user", "content": "[Go on.]" },
        ],
        "tools": [{ "type": "function", "function": {
            "name": "get_weather", "description": "Reads the weather.", "parameters": { "type": "object" } } }],
        "parallel_tool_calls": true,
    });
    let mut request = request(thread);
    request.instructions = "Be brief.".to_owned();
    request.context = vec![ContextItem::new("address of the page", "/orders"), ContextItem::new("time", "noon")];
    assert_eq!(body(VENDOR, &request), expected);
}

#[test]
fn what_is_not_there_is_not_written() {
    let mut bare = request(vec![user("Hello.")]);
    bare.tools.clear();
    let expected = json!({
        "model": "small", "stream": true, "stream_options": { "include_usage": true },
        "messages": [{ "role": "user", "content": "Hello." }],
    });
    assert_eq!(body(VENDOR, &bare), expected);
}

#[test]
fn arguments_that_are_not_json_are_written_as_json() {
    for (arguments, expected) in [
        (r#"{"a":1}"#, r#"{"a":1}"#),
        ("", "{}"),
        ("  ", "{}"),
        (r#"{"a":"#, r#"{"_raw":"{\"a\":"}"#),
        ("[1]", r#"{"_raw":"[1]"}"#),
        (r#""{\"a\":1}""#, r#"{"a":1}"#),
    ] {
        let found = sent(vec![user("Go."), answer("", &[("one", arguments)]), result("one", "4")]);
        assert_eq!(found[1]["tool_calls"][0]["function"]["arguments"], expected, "{arguments:?}");
    }
}

/// Every call is followed at once by exactly one message for it, in order; ids are short and there once.
fn assert_paired(messages: &[Value]) {
    let mut ids = BTreeSet::new();
    let mut due: Vec<String> = Vec::new();
    for message in messages {
        if message["role"] == "tool" {
            assert!(!due.is_empty(), "a result answers nothing: {messages:#?}");
            assert_eq!(message["tool_call_id"], json!(due.remove(0)), "{messages:#?}");
            continue;
        }
        assert!(due.is_empty(), "calls without results: {messages:#?}");
        for call in message.get("tool_calls").and_then(Value::as_array).into_iter().flatten() {
            let id = call["id"].as_str().unwrap().to_owned();
            assert!(id.len() <= 40 && !id.is_empty(), "{id}");
            assert!(ids.insert(id.clone()), "{id} is there twice: {messages:#?}");
            due.push(id);
        }
    }
    assert!(due.is_empty(), "calls without results at the end: {messages:#?}");
}

#[test]
fn every_call_is_followed_by_its_one_result_whatever_the_thread_looks_like() {
    let long = |end: &str| format!("{}{end}", "x".repeat(60));
    let (long_a, long_b) = (long("a"), long("b"));
    let threads = [
        vec![answer("", &[("one", "{}"), ("two", "{}")]), result("one", "1"), result("two", "2"), user("Go on.")],
        vec![answer("", &[("one", "{}"), ("two", "{}")]), result("two", "2"), result("one", "1")],
        vec![answer("", &[("one", "{}")]), user("Never mind.")],
        vec![answer("", &[("one", "{}")]), user("Never mind."), result("one", "1")],
        vec![answer("", &[("one", "{}")]), result("one", "1"), result("one", "1 again")],
        vec![result("none", "0"), user("Hello.")],
        vec![answer("", &[("one", "{}")]), result("one", "1"), answer("", &[("one", "{}")]), result("one", "2")],
        vec![answer("", &[(&long_a, "{}"), (&long_b, "{}")]), result(&long_a, "1"), result(&long_b, "2")],
        vec![answer("", &[("one", "{}")])],
    ];
    for thread in threads {
        assert_paired(&sent(thread));
    }
}

#[test]
fn results_stay_with_their_own_call() {
    let contents = |thread: Vec<Message>| -> Vec<Value> {
        sent(thread)
            .iter()
            .filter(|message| message["role"] == "tool")
            .map(|message| message["content"].clone())
            .collect()
    };
    let reused =
        vec![answer("", &[("one", "{}")]), result("one", "1"), answer("", &[("one", "{}")]), result("one", "2")];
    assert_eq!(contents(reused), ["1", "2"], "an id that two steps gave");
    let again = vec![answer("", &[("one", "{}")]), result("one", "1"), result("one", "1 again")];
    assert_eq!(contents(again), ["1"], "the first result counts");
    let missing = contents(vec![answer("", &[("one", "{}")]), answer("", &[("one", "{}")]), result("one", "2")]);
    assert!(missing[0].as_str().unwrap().contains("no result was produced"), "{missing:?}");
    assert_eq!(missing[1], "2");
}

fn tools() -> Value {
    json!([
        { "type": "function", "function": { "name": "get_weather", "description": "Reads the weather.", "parameters": city() } },
        { "type": "function", "function": { "name": "get_time", "description": "Reads the clock.", "parameters": no_arguments() } },
    ])
}

#[test]
fn several_calls_are_welcome_where_that_may_be_said() {
    for vendor in Vendor::all().iter().filter(|vendor| vendor.api == Api::ChatCompletions) {
        let mut expected = json!({
            "model": "small", "stream": true, "stream_options": { "include_usage": true }, "tools": tools(),
            "messages": [{ "role": "system", "content": "Be brief." }, { "role": "user", "content": "Weather and time?" }],
        });
        if !matches!(vendor.name, "gemini_openai" | "deepseek" | "kimi") {
            expected["parallel_tool_calls"] = json!(true);
        }
        // Tokens are counted there unasked, and asking is refused.
        if vendor.name == "mistral" {
            expected.as_object_mut().unwrap().remove("stream_options");
        }
        assert_eq!(body(vendor.name, &asked()), expected, "{}", vendor.name);
    }
}

#[test]
fn two_results_follow_their_calls_under_ids_that_the_vendor_takes() {
    let sixty = "x".repeat(60);
    let cases = [
        ("openai_chat", ["call_a", "functions.get_time:1"], Some(["call_a", "functions.get_time:1"])),
        ("openai_chat", [&sixty, "aB3dE6gH9"], None),
        ("mistral", ["call_a", "aB3dE6gH9"], None),
        ("mistral", ["aB3dE6gH8", "aB3dE6gH9"], Some(["aB3dE6gH8", "aB3dE6gH9"])),
        ("kimi", ["call_a", "toolu_b"], Some(["functions.get_weather:0", "functions.get_time:1"])),
        ("deepseek", ["call_a", "toolu_b"], Some(["call_a", "toolu_b"])),
        ("gemini_openai", ["call_a", "toolu_b"], Some(["call_a", "toolu_b"])),
    ];
    for (vendor, given, expected) in cases {
        let messages = body(vendor, &followed(Some(given)))["messages"].clone();
        let ids = expected
            .map(|ids| ids.map(str::to_owned))
            .unwrap_or_else(|| [0, 1].map(|at| messages[2]["tool_calls"][at]["id"].as_str().unwrap().to_owned()));
        let mut said = json!({ "role": "assistant", "content": "Checking both.", "tool_calls": [
            { "id": ids[0], "type": "function", "function": { "name": "get_weather", "arguments": "{\"city\":\"Oslo\"}" } },
            { "id": ids[1], "type": "function", "function": { "name": "get_time", "arguments": "{}" } },
        ] });
        // An empty one counts as none.
        if matches!(vendor, "deepseek" | "kimi") {
            said["reasoning_content"] = json!(" ");
        }
        if vendor == "gemini_openai" {
            said["tool_calls"][0]["extra_content"] =
                json!({ "google": { "thought_signature": "skip_thought_signature_validator" } });
        }
        let expected = json!([
            { "role": "system", "content": "Be brief." },
            { "role": "user", "content": "Weather and time?" },
            said,
            { "role": "tool", "tool_call_id": ids[0], "content": "{\"tempC\":4}" },
            { "role": "tool", "tool_call_id": ids[1], "content": "no clock" },
        ]);
        assert_eq!(messages, expected, "{vendor} {given:?}");
        let length = if vendor == "mistral" { 9 } else { 40 };
        assert!(ids[0] != ids[1] && ids.iter().all(|id| id.len() <= length), "{vendor}: {ids:?}");
    }
    assert_eq!(body(VENDOR, &followed(None))["messages"][2]["tool_calls"][0]["id"], "local0");
}

#[test]
fn files_are_parts_of_the_content_and_texts_are_words() {
    let files = [
        here("a.png", "image/png"),
        there("b.png", "image/png"),
        here("c.pdf", "application/pdf"),
        here("d.wav", "audio/wav"),
        here("e.mp3", "audio/mpeg"),
        here("f.yaml", "application/yaml"),
    ];
    let expected = json!([
        { "type": "text", "text": "Look." },
        { "type": "image_url", "image_url": { "url": "data:image/png;base64,aMOm" } },
        { "type": "image_url", "image_url": { "url": "https://example.org/b.png" } },
        { "type": "file", "file": { "filename": "c.pdf", "file_data": "data:application/pdf;base64,aMOm" } },
        { "type": "input_audio", "input_audio": { "data": "aMOm", "format": "wav" } },
        { "type": "input_audio", "input_audio": { "data": "aMOm", "format": "mp3" } },
        { "type": "text", "text": "[f.yaml, application/yaml]\nhæ" },
    ]);
    assert_eq!(body("openai_chat", &attached(&files))["messages"][0]["content"], expected);
    for (vendor, file, words) in [
        (
            "deepseek",
            here("a.png", "image/png"),
            "a.png is image/png, which DeepSeek does not take; it takes text alone.",
        ),
        (
            "kimi",
            there("a.png", "image/png"),
            "a.png stands at an address, from which Kimi fetches no such file; attach the file itself.",
        ),
        (
            "groq",
            here("c.pdf", "application/pdf"),
            "c.pdf is application/pdf, which Groq does not take; it takes image/png, image/jpeg, image/webp, image/gif.",
        ),
        (
            "openai_compatible",
            here("", "audio/wav"),
            "The file is audio/wav, which this server does not take; it takes image/png, image/jpeg, image/webp, image/gif.",
        ),
    ] {
        assert_eq!(refusal(vendor, file), words);
    }
    let latin = ("a.txt", "text/plain", pagehand::protocol::Source::Data("/w==".into()));
    let told = body(VENDOR, &attached(&[latin]))["messages"][0]["content"].clone();
    assert_eq!(told, "Look.\n\n[a.txt, text/plain]\n\u{fffd}", "a letter of another encoding is shown as one");
    let broken = ("a.txt", "text/plain", pagehand::protocol::Source::Data("/".into()));
    assert!(refusal(VENDOR, broken).starts_with("a.txt"));
}

#[test]
fn a_form_that_openai_would_refuse_is_told_in_words_or_not_held_to_strictly() {
    let form = |schema: Value| body("openai_chat", &formed(without_tools(asked()), schema))["response_format"].clone();
    for root in [json!({ "type": "array", "items": {} }), json!({ "type": "string" }), json!({})] {
        assert_eq!(form(root), Value::Null);
    }
    for (schema, strict) in [
        (json!({ "type": "object" }), false),
        (json!({ "type": "object", "properties": {}, "additionalProperties": false }), true),
    ] {
        assert_eq!(form(schema)["json_schema"]["strict"], strict);
    }
}

#[test]
fn files_of_earlier_messages_that_this_model_does_not_take_are_named() {
    let mut request = attached(&[here("a.png", "image/png"), here("b.txt", "text/plain")]);
    request.messages.push(Message::User(UserMessage::new(MessageId::from("v"), "And now?")));
    assert_eq!(
        body("deepseek", &request)["messages"][0]["content"],
        "Look.\n\n[a.png, image/png: a file that this model can not read]\n\n[b.txt, text/plain]\nhæ\n\nAnd now?"
    );
}

#[test]
fn a_form_is_asked_for_in_the_way_of_each() {
    let schema = |strict: bool, schema: Value| json!({ "type": "json_schema", "json_schema": { "name": "weather", "schema": schema, "strict": strict } });
    let words = json!({ "role": "system", "content": form_in_words(&city()) });
    let plain = json!({ "role": "system", "content": "Be brief." });
    for vendor in Vendor::all().iter().filter(|vendor| vendor.api == Api::ChatCompletions) {
        let alone = body(vendor.name, &formed(without_tools(asked()), city()));
        let beside = body(vendor.name, &formed(asked(), city()));
        let (alone, beside) =
            ((&alone["response_format"], &alone["messages"][0]), (&beside["response_format"], &beside["messages"][0]));
        let by_schema = schema(true, city());
        let object = json!({ "type": "json_object" });
        let expected = match vendor.name {
            "openai_chat" | "mistral" => [(&by_schema, &plain), (&by_schema, &plain)],
            "deepseek" | "kimi" | "dashscope" => [(&object, &words), (&Value::Null, &words)],
            "openai_compatible" => [(&Value::Null, &words), (&Value::Null, &words)],
            _ => [(&by_schema, &plain), (&Value::Null, &words)],
        };
        assert_eq!([alone, beside], expected, "{}", vendor.name);
    }
    let open = body("openai_chat", &formed(without_tools(asked()), no_arguments()));
    assert_eq!(open["response_format"], schema(false, no_arguments()));
}

#[test]
fn an_answer_without_words_and_calls_is_no_message() {
    let thread = vec![user("Hello."), answer("", &[]), user("Hello?")];
    let roles: Vec<Value> = sent(thread).iter().map(|message| message["role"].clone()).collect();
    assert_eq!(roles, ["user"]);
    let words: Vec<Value> = sent(vec![user("Hello."), answer("", &[]), user("Hello?")]);
    assert_eq!(words[0]["content"], "Hello.\n\nHello?", "templates of local models want the two to take turns");
}

#[test]
fn files_at_an_address_are_left_to_those_that_fetch_them() {
    assert_eq!(
        refusal("openai_chat", there("a.pdf", "application/pdf")),
        "a.pdf stands at an address, from which OpenAI fetches no such file; attach the file itself."
    );
    assert!(refusal("openai_chat", there("a.wav", "audio/wav")).contains("fetches no such file"));
    let fetched = body("openrouter", &attached(&[there("a.pdf", "application/pdf")]));
    assert_eq!(fetched["messages"][0]["content"][1]["file"]["file_data"], "https://example.org/a.pdf");
}

#[test]
fn mistral_hears_a_word_of_the_model_between_results_and_the_user() {
    let thread = || {
        let mut request = followed(Some(["aB3dE6gH8", "aB3dE6gH9"]));
        request.messages.push(user("Never mind."));
        request
    };
    let roles = |vendor: &str| -> Vec<String> {
        let body = body(vendor, &thread());
        let messages = body["messages"].as_array().unwrap();
        messages.iter().map(|message| message["role"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(roles("openai_chat"), ["system", "user", "assistant", "tool", "tool", "user"]);
    assert_eq!(roles("mistral"), ["system", "user", "assistant", "tool", "tool", "assistant", "user"]);
}

#[test]
fn a_call_that_was_cut_off_never_looks_whole() {
    let cut = r#"args 0 "[the arguments were cut off]""#;
    check("filtered_call", &["call 0 get_weather id=call_a", cut, "call- 0", "finish refused"]);
    check("done_in_call", &["call 0 get_weather id=call_a", r#"args 0 {"city":"#]);
    let broke_off = "error upstream: The model's server broke off with an error, and did not say which.";
    check("out_of_resource", &["text+", "text Hal", broke_off]);
}

#[test]
fn whole_calls_without_ids_under_one_index_are_two() {
    check(
        "same_index_no_ids",
        &[
            "call 0 get_weather",
            r#"args 0 {"city":"Oslo"}"#,
            "call 1 get_weather",
            r#"args 1 {"city":"Rome"}"#,
            "call- 0",
            "call- 1",
            "finish calls",
        ],
    );
}

#[test]
fn an_answer_of_more_calls_than_openai_takes_goes_back_as_several() {
    let calls: Vec<_> = (0..300).map(|at| (format!("call_{at}"), format!(r#"{{"city":"{at}"}}"#))).collect();
    let calls: Vec<_> = calls.iter().map(|(id, arguments)| (id.as_str(), arguments.as_str())).collect();
    let messages = sent(vec![user("All of them."), answer("So many.", &calls)]);
    let answers: Vec<_> = messages.iter().filter(|message| message["role"] == "assistant").collect();
    let counts: Vec<_> = answers.iter().map(|one| one["tool_calls"].as_array().unwrap().len()).collect();
    assert_eq!(counts, [128, 128, 44]);
    assert_eq!(answers.iter().map(|one| &one["content"]).collect::<Vec<_>>(), ["So many.", "", ""]);
    for at in 1..messages.len() {
        // Each call is answered before the model speaks again.
        if messages[at]["role"] == "assistant" {
            let calls = messages[at]["tool_calls"].as_array().unwrap();
            for (call, result) in calls.iter().zip(&messages[at + 1..]) {
                assert_eq!((&result["role"], &result["tool_call_id"]), (&Value::from("tool"), &call["id"]));
            }
        }
    }
}
