//! Anthropic Messages: the documented stream, its traps, the way back, and the exact bodies.

use pagehand::protocol::{AssistantMessage, Message, MessageId, MessageStatus, Part};
use serde_json::{Value, json};

use super::threads::{check_back, kept};
use super::{
    asked, attached, body, check_file, city, followed, form_in_words, formed, heard, here, no_arguments, refusal,
    request, target, there, user, without_tools,
};
use crate::support::fixture;

const VENDOR: &str = "anthropic";
const ENDS: &[&str] = &[r#"{"type":"message_stop"}"#];

fn check(name: &str, expected: &[&str]) {
    check_file(VENDOR, &format!("anthropic/{name}.sse"), ENDS, expected);
}

fn back(name: &str, expected: &Value) {
    check_back(VENDOR, &format!("anthropic/{name}.sse"), expected);
}

// ---- decode, and back again ----

#[test]
fn the_documented_stream_is_understood() {
    check(
        "two_calls",
        &[
            "usage 80 1",
            "reasoning+",
            r#"reasoning sealed {"signature":"SEALED-a"}"#,
            "reasoning-",
            "text+",
            "text Checking both.",
            "text-",
            "call 0 get_weather id=toolu_a",
            r#"args 0 {"city":"Os"#,
            r#"args 0 lo"}"#,
            "call- 0",
            "call 1 get_time id=toolu_b",
            r#"args 1 {"zone":"Europe/Oslo"}"#,
            "call- 1",
            "usage 80 71",
            "finish calls",
        ],
    );
    back(
        "two_calls",
        &json!([{"signature":"SEALED-a","thinking":"","type":"thinking"},{"text":"Checking both.","type":"text"},{"id":"toolu_a","input":{"city":"Oslo"},"name":"get_weather","type":"tool_use"},{"id":"toolu_b","input":{"zone":"Europe/Oslo"},"name":"get_time","type":"tool_use"}]),
    );
}

#[test]
fn a_tool_without_arguments_is_called_with_none() {
    check(
        "no_arg_tool",
        &[
            "usage 80 1",
            "call 0 get_weather id=toolu_a",
            "call 1 get_weather id=toolu_b",
            "usage 80 71",
            "call- 0",
            "call- 1",
            "finish calls",
        ],
    );
    back(
        "no_arg_tool",
        &json!([{"id":"toolu_a","input":{},"name":"get_weather","type":"tool_use"},{"id":"toolu_b","input":{},"name":"get_weather","type":"tool_use"}]),
    );
}

#[test]
fn thoughts_go_back_in_their_place_and_as_they_were() {
    check(
        "redacted_thinking",
        &[
            "usage 80 1",
            "reasoning+",
            r#"reasoning sealed {"data":"SEALED-r","type":"redacted_thinking"}"#,
            "reasoning-",
            "text+",
            "text Hi.",
            "text-",
            "usage 80 71",
            "finish done",
        ],
    );
    check(
        "signature_replaces",
        &[
            "usage 80 1",
            "reasoning+",
            "reasoning Two ",
            "reasoning tools.",
            r#"reasoning sealed {"signature":"SEALED-2"}"#,
            "reasoning-",
            "text+",
            "text Hi.",
            "text-",
            "usage 80 71",
            "finish done",
        ],
    );
    check(
        "thoughts_between",
        &[
            "usage 80 1",
            "reasoning+",
            "reasoning One.",
            r#"reasoning sealed {"signature":"SEALED-1"}"#,
            "reasoning-",
            "text+",
            "text A.",
            "text-",
            "reasoning+",
            "reasoning Two.",
            r#"reasoning sealed {"signature":"SEALED-2"}"#,
            "reasoning-",
            "call 0 get_weather id=toolu_a",
            "args 0 {}",
            "call- 0",
            "reasoning+",
            "reasoning Three.",
            "reasoning-",
            "text+",
            "text B.",
            "text-",
            "usage 80 71",
            "finish calls",
        ],
    );
    back("redacted_thinking", &json!([{"data":"SEALED-r","type":"redacted_thinking"},{"text":"Hi.","type":"text"}]));
    back(
        "signature_replaces",
        &json!([{"signature":"SEALED-2","thinking":"Two tools.","type":"thinking"},{"text":"Hi.","type":"text"}]),
    );
    back(
        "thoughts_between",
        &json!([{"signature":"SEALED-1","thinking":"One.","type":"thinking"},{"text":"A.","type":"text"},{"signature":"SEALED-2","thinking":"Two.","type":"thinking"},{"id":"toolu_a","input":{},"name":"get_weather","type":"tool_use"},{"text":"B.","type":"text"}]),
    );
}

#[test]
fn citations_stay_with_their_words() {
    check(
        "citations",
        &[
            "usage 80 1",
            "text+",
            "text Oslo is cold.",
            r#"text sealed {"citations":[{"cited_text":"cold","document_index":0,"document_title":null,"end_char_index":4,"start_char_index":0,"type":"char_location"},{"cited_text":"very","document_index":0,"document_title":null,"end_char_index":4,"start_char_index":0,"type":"char_location"}]}"#,
            "text-",
            "text+",
            "text  Rome is not.",
            "text-",
            "usage 80 71",
            "finish done",
        ],
    );
    back(
        "citations",
        &json!([{"citations":[{"cited_text":"cold","document_index":0,"document_title":null,"end_char_index":4,"start_char_index":0,"type":"char_location"},{"cited_text":"very","document_index":0,"document_title":null,"end_char_index":4,"start_char_index":0,"type":"char_location"}],"text":"Oslo is cold.","type":"text"},{"text":" Rome is not.","type":"text"}]),
    );
}

#[test]
fn what_the_server_ran_and_what_nobody_knows_goes_back_whole() {
    check(
        "server_tool",
        &[
            "usage 80 1",
            "text+",
            "text Looking.",
            "text-",
            "reasoning+",
            r#"reasoning sealed {"id":"srvtoolu_1","input":{"query":"oslo"},"name":"web_search","type":"server_tool_use"}"#,
            "reasoning-",
            "reasoning+",
            r#"reasoning sealed {"caller":null,"content":[{"encrypted_content":"SEALED-w","page_age":null,"title":"Oslo","type":"web_search_result","url":"https://example.org"}],"tool_use_id":"srvtoolu_1","type":"web_search_tool_result"}"#,
            "reasoning-",
            "text+",
            "text Cold.",
            r#"text sealed {"citations":[{"cited_text":"cold","encrypted_index":"SEALED-i","type":"web_search_result_location","url":"https://example.org"}]}"#,
            "text-",
            "usage 80 71",
            "finish done",
        ],
    );
    check(
        "unknown_kinds",
        &[
            "usage 80 1",
            "reasoning+",
            r#"reasoning sealed {"frames":[1,2,3],"note":null,"seed":"SEALED-h-more","type":"hologram"}"#,
            "reasoning-",
            "text+",
            "text Hi.",
            "text-",
            "usage 80 71",
            "finish done",
        ],
    );
    check(
        "caller",
        &[
            "usage 80 1",
            "call 0 get_weather id=toolu_a",
            r#"call 0 sealed {"caller":{"type":"direct"}}"#,
            r#"args 0 {"city":"Oslo"}"#,
            "call- 0",
            "usage 80 71",
            "finish calls",
        ],
    );
    back(
        "server_tool",
        &json!([{"text":"Looking.","type":"text"},{"id":"srvtoolu_1","input":{"query":"oslo"},"name":"web_search","type":"server_tool_use"},{"caller":null,"content":[{"encrypted_content":"SEALED-w","page_age":null,"title":"Oslo","type":"web_search_result","url":"https://example.org"}],"tool_use_id":"srvtoolu_1","type":"web_search_tool_result"},{"citations":[{"cited_text":"cold","encrypted_index":"SEALED-i","type":"web_search_result_location","url":"https://example.org"}],"text":"Cold.","type":"text"}]),
    );
    back(
        "unknown_kinds",
        &json!([{"frames":[1,2,3],"note":null,"seed":"SEALED-h-more","type":"hologram"},{"text":"Hi.","type":"text"}]),
    );
    back(
        "caller",
        &json!([{"caller":{"type":"direct"},"id":"toolu_a","input":{"city":"Oslo"},"name":"get_weather","type":"tool_use"}]),
    );
}

#[test]
fn a_paused_answer_goes_back_to_go_on() {
    check(
        "pause_turn",
        &[
            "usage 80 1",
            "text+",
            "text Looking.",
            "text-",
            "reasoning+",
            r#"reasoning sealed {"id":"srvtoolu_1","input":{"query":"oslo"},"name":"web_search","type":"server_tool_use"}"#,
            "reasoning-",
            "usage 80 71",
            "finish paused",
        ],
    );
    back(
        "pause_turn",
        &json!([{"text":"Looking.","type":"text"},{"id":"srvtoolu_1","input":{"query":"oslo"},"name":"web_search","type":"server_tool_use"}]),
    );
}

#[test]
fn an_error_inside_the_stream_is_an_error() {
    check("error_midstream", &["usage 80 1", "text+", "text Hi.", "error upstream: Overloaded"]);
}

#[test]
fn a_refusal_is_an_end_in_its_own_words_and_a_call_it_cut_off_never_looks_whole() {
    check("refusal", &["usage 80 1", "usage 80 71", "finish refused: cyber"]);
    check("refusal_midway", &["usage 80 1", "text+", "text I", "text-", "usage 80 71", "finish refused: cyber"]);
    check(
        "refusal_call",
        &[
            "usage 80 1",
            "call 0 get_weather id=toolu_a",
            "usage 80 71",
            r#"args 0 "[the arguments were cut off]""#,
            "call- 0",
            "finish refused: This is about an attack.",
        ],
    );
    check("stop_words", &["usage 80 1", "text+", "text Hi.", "text-", "usage 80 71", "finish sunset"]);
}

#[test]
fn arguments_that_the_limit_cut_never_look_whole() {
    check(
        "max_tokens_cut_tool",
        &[
            "usage 80 1",
            "call 0 get_weather id=toolu_a",
            r#"args 0 {"city":"Oslo"}"#,
            "call- 0",
            "call 1 get_weather id=toolu_b",
            r#"args 1 {"city":"Ro"#,
            "call- 1",
            "usage 80 71",
            "finish length",
        ],
    );
    check(
        "max_tokens_no_args",
        &[
            "usage 80 1",
            "text+",
            "text Hm.",
            "text-",
            "call 0 get_weather id=toolu_a",
            "usage 80 71",
            r#"args 0 "[the arguments were cut off]""#,
            "call- 0",
            "finish length",
        ],
    );
    back(
        "max_tokens_cut_tool",
        &json!([{"id":"toolu_a","input":{"city":"Oslo"},"name":"get_weather","type":"tool_use"},{"id":"toolu_b","input":{"_raw":"{\"city\":\"Ro"},"name":"get_weather","type":"tool_use"}]),
    );
}

#[test]
fn usage_is_said_anew_and_never_added() {
    check(
        "usage_cumulative",
        &[
            "usage 80 1 cached 50",
            "text+",
            "text Hi.",
            "text-",
            "usage 80 5 cached 50",
            "usage 82 9 cached 50 reasoning 4",
            "finish done",
        ],
    );
}

#[test]
fn blocks_that_nobody_closes_are_closed_at_the_end() {
    check(
        "no_block_stop",
        &[
            "usage 80 1",
            "reasoning+",
            "reasoning Hm.",
            r#"reasoning sealed {"signature":"SEALED-1"}"#,
            "reasoning-",
            "text+",
            "text Hi.",
            "text-",
            "call 0 get_weather id=toolu_a",
            "usage 80 71",
            r#"args 0 {"city":"Oslo"}"#,
            "call- 0",
            "finish calls",
        ],
    );
    back(
        "no_block_stop",
        &json!([{"signature":"SEALED-1","thinking":"Hm.","type":"thinking"},{"text":"Hi.","type":"text"},{"id":"toolu_a","input":{"city":"Oslo"},"name":"get_weather","type":"tool_use"}]),
    );
}

// ---- encode ----

fn tools() -> Value {
    json!([
        { "name": "get_weather", "description": "Reads the weather.", "input_schema": city() },
        { "name": "get_time", "description": "Reads the clock.", "input_schema": no_arguments() },
    ])
}

fn sent(user: &Value) -> Value {
    json!({
        "model": "small", "max_tokens": 8192, "stream": true, "system": "Be brief.", "tools": tools(),
        "messages": [{ "role": "user", "content": user }],
    })
}

#[test]
fn a_question_is_written_exactly() {
    let said = json!([{ "type": "text", "text": "Weather and time?" }]);
    assert_eq!(body(VENDOR, &asked()), sent(&said));
    let mut bare = sent(&said);
    bare.as_object_mut().unwrap().remove("tools");
    assert_eq!(body(VENDOR, &without_tools(asked())), bare);
    bare.as_object_mut().unwrap().remove("system");
    let mut request = without_tools(asked());
    request.instructions.clear();
    assert_eq!(body(VENDOR, &request), bare);
}

fn follow_up(ids: [&str; 2]) -> Value {
    json!([
        { "role": "user", "content": [{ "type": "text", "text": "Weather and time?" }] },
        { "role": "assistant", "content": [
            { "type": "text", "text": "Checking both." },
            { "type": "tool_use", "id": ids[0], "name": "get_weather", "input": { "city": "Oslo" } },
            { "type": "tool_use", "id": ids[1], "name": "get_time", "input": {} },
        ] },
        { "role": "user", "content": [
            { "type": "tool_result", "tool_use_id": ids[0], "content": "{\"tempC\":4}" },
            { "type": "tool_result", "tool_use_id": ids[1], "content": "no clock", "is_error": true },
        ] },
    ])
}

#[test]
fn results_stand_in_one_message_before_what_the_user_says_next() {
    let mut expected = sent(&Value::Null);
    expected["messages"] = follow_up(["toolu_a", "toolu_b"]);
    let mut request = followed(Some(["toolu_a", "toolu_b"]));
    assert_eq!(body(VENDOR, &request), expected);
    assert_eq!(body(VENDOR, &followed(None))["messages"], follow_up(["local0", "local1"]));
    request.messages.push(user("And now?"));
    let more = json!({ "type": "text", "text": "And now?" });
    expected["messages"][2]["content"].as_array_mut().unwrap().push(more);
    assert_eq!(body(VENDOR, &request), expected);
}

#[test]
fn ids_that_anthropic_refuses_are_others_on_both_sides() {
    let mistral = "aB3dE6gH9";
    let long = "x".repeat(65);
    for (given, stays) in [
        (["toolu_a", mistral], [true, true]),
        (["functions.get_weather:0", "functions.get_time:1"], [false, false]),
        (["x".repeat(60).as_str(), &long], [true, false]),
        (["same", "same"], [true, false]),
    ] {
        let messages = body(VENDOR, &followed(Some(given)))["messages"].clone();
        for at in 0..2 {
            let id = messages[1]["content"][at + 1]["id"].as_str().unwrap();
            assert_eq!(messages[2]["content"][at]["tool_use_id"], id);
            assert_eq!(id == given[at], stays[at], "{given:?}: {id}");
            assert!(
                id.len() <= 64 && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte)),
                "{id}"
            );
        }
        assert_ne!(messages[1]["content"][1]["id"], messages[1]["content"][2]["id"]);
    }
}

#[test]
fn tools_of_a_thread_are_named_although_none_is_offered() {
    let closed = |name: &str| json!({ "name": name, "description": "Not available any more.", "input_schema": { "type": "object" } });
    let request = without_tools(followed(None));
    assert_eq!(body(VENDOR, &request)["tools"], json!([closed("get_time"), closed("get_weather")]));
}

#[test]
fn files_are_blocks_and_texts_are_words() {
    let request = attached(&[
        here("a.png", "image/png"),
        there("b.jpg", "image/jpeg"),
        here("c.pdf", "application/pdf"),
        here("d.csv", "text/csv"),
    ]);
    let expected = json!([
        { "type": "text", "text": "Look." },
        { "type": "image", "source": { "type": "base64", "media_type": "image/png", "data": "aMOm" } },
        { "type": "image", "source": { "type": "url", "url": "https://example.org/b.jpg" } },
        { "type": "document", "title": "c.pdf", "source": { "type": "base64", "media_type": "application/pdf", "data": "aMOm" } },
        { "type": "text", "text": "[d.csv, text/csv]\nhæ" },
    ]);
    assert_eq!(body(VENDOR, &request)["messages"][0]["content"], expected);
    assert_eq!(
        refusal(VENDOR, here("e.wav", "audio/wav")),
        "e.wav is audio/wav, which Anthropic does not take; it takes image/jpeg, image/png, image/gif, image/webp, \
         application/pdf."
    );
}

#[test]
fn a_form_is_asked_for_with_its_schema_where_it_is_closed_and_in_words_elsewhere() {
    let said = json!([{ "type": "text", "text": "Weather and time?" }]);
    let mut expected = sent(&said);
    expected["output_config"] = json!({ "format": { "type": "json_schema", "schema": city() } });
    assert_eq!(body(VENDOR, &formed(asked(), city())), expected);
    let mut expected = sent(&said);
    expected["system"] = json!(form_in_words(&no_arguments()));
    assert_eq!(body(VENDOR, &formed(asked(), no_arguments())), expected);
}

#[test]
fn empty_words_are_never_a_block() {
    let text = |text: &str, sealed: Option<&str>| Part::Text {
        text: text.to_owned(),
        encrypted_value: sealed.map(str::to_owned),
    };
    let route = {
        let answer = kept(&target(VENDOR), &request(Vec::new()), &fixture("providers/anthropic/citations.sse"));
        let Part::Text { encrypted_value: Some(value), .. } = &answer.parts[0] else { panic!("{answer:?}") };
        value.split_once(':').unwrap().0.to_owned()
    };
    let sealed = format!(r#"{route}:{{"citations":[]}}"#);
    let parts = vec![text("", None), text(" \n", None), text("", Some(&sealed)), text("Hi.", Some(&sealed))];
    let answer = |parts| {
        Message::Assistant(AssistantMessage { id: MessageId::from("a"), parts, status: MessageStatus::Complete })
    };
    let thread = vec![user(""), answer(parts), user(" "), answer(vec![text(" ", None)]), user("Go.")];
    let expected = json!([
        { "role": "user", "content": [{ "type": "text", "text": "(no words)" }] },
        { "role": "assistant", "content": [{ "type": "text", "text": "Hi.", "citations": [] }] },
        { "role": "user", "content": [{ "type": "text", "text": "(no words)" }, { "type": "text", "text": "Go." }] },
    ]);
    assert_eq!(body(VENDOR, &request(thread))["messages"], expected);
}

#[test]
fn each_counter_of_tokens_stands_until_it_is_said_anew() {
    let body = |later: Value| {
        let events = [
            json!({ "type": "message_start", "message": { "usage": { "input_tokens": 10, "cache_read_input_tokens": 100, "output_tokens": 1 } } }),
            json!({ "type": "message_delta", "delta": { "stop_reason": "end_turn" }, "usage": later }),
            json!({ "type": "message_stop" }),
        ];
        events.iter().map(|event| format!("data: {event}\n\n")).collect::<String>()
    };
    for (later, expected) in [
        (json!({ "output_tokens": 7 }), "usage 110 7 cached 100"),
        (json!({ "input_tokens": 10, "output_tokens": 7 }), "usage 110 7 cached 100"),
        (json!({ "cache_read_input_tokens": 90, "output_tokens": 7 }), "usage 100 7 cached 90"),
    ] {
        let said = heard("anthropic", &[body(later.clone()).as_bytes()]);
        assert!(said.contains(&expected.to_owned()), "{later}: {said:?}");
    }
}

#[test]
fn a_tool_of_the_server_that_was_stopped_is_left_out_unless_it_goes_on() {
    let asked = request(vec![user("Weather?")]);
    let answer = kept(&target(VENDOR), &asked, &fixture("providers/anthropic/server_tool_stopped.sse"));
    let mut later = asked;
    later.messages.push(Message::Assistant(answer));
    let kinds = |request: &pagehand::protocol::ModelRequest| {
        let content = body(VENDOR, request)["messages"][1]["content"].clone();
        content.as_array().unwrap().iter().map(|block| block["type"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(kinds(&later), ["server_tool_use", "text"], "the server goes on with it");
    later.messages.push(user("And tomorrow?"));
    assert_eq!(kinds(&later), ["text"], "nobody has its result");
    let asked = request(vec![user("Weather?")]);
    let answer = kept(&target(VENDOR), &asked, &fixture("providers/anthropic/server_tool_thought_stopped.sse"));
    let mut later = asked;
    later.messages.extend([Message::Assistant(answer), user("And tomorrow?")]);
    let roles: Vec<Value> =
        body(VENDOR, &later)["messages"].as_array().unwrap().iter().map(|one| one["role"].clone()).collect();
    assert_eq!(roles, ["user", "user"], "thoughts alone are no answer");
}

#[test]
fn a_thread_of_another_model_is_answered_without_thinking_where_its_thoughts_are_missing() {
    let thinking = |kind: &str, request: &pagehand::protocol::ModelRequest| {
        let parameters = json!({ "thinking": { "type": kind } }).as_object().unwrap().clone();
        let vendor = pagehand::providers::Vendor::find(VENDOR).unwrap();
        let target = pagehand::providers::Target::new(vendor, "", "small", parameters, None);
        let body: Value = serde_json::from_str(&target.write(request).unwrap().body).unwrap();
        body["thinking"]["type"].clone()
    };
    let foreign = followed(Some(["call_a", "call_b"]));
    assert_eq!(thinking("enabled", &foreign), Value::Null, "the API refuses it there");
    assert_eq!(thinking("adaptive", &foreign), "adaptive");
    let mut said_more = foreign;
    said_more.messages.push(user("Thanks."));
    assert_eq!(thinking("enabled", &said_more), Value::Null, "the results and the words are one message");
    assert_eq!(thinking("enabled", &request(vec![user("Hello.")])), "enabled");
}
