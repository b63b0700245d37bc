//! OpenAI Responses: the documented stream, its traps, the way back, and the exact bodies.

use pagehand::protocol::Message;
use serde_json::{Value, json};

use super::threads::{check_back, kept};
use super::{
    asked, attached, body, check_file, city, followed, formed, heard, here, no_arguments, refusal, request, target,
    there, user, without_tools,
};
use crate::support::fixture;

const VENDOR: &str = "openai_responses";
const ENDS: &[&str] = &[r#""type":"response.completed""#, r#""type":"response.incomplete""#];

fn check(name: &str, expected: &[&str]) {
    check_file(VENDOR, &format!("openai_responses/{name}.sse"), ENDS, expected);
}

fn back(name: &str, expected: &Value) {
    check_back(VENDOR, &format!("openai_responses/{name}.sse"), expected);
}

// ---- decode, and back again ----

#[test]
fn the_documented_stream_is_understood() {
    check(
        "two_calls",
        &[
            "reasoning+",
            r#"reasoning sealed {"encrypted_content":"SEALED-r","id":"rs_1","summary":[],"type":"reasoning"}"#,
            "reasoning-",
            "text+",
            "text Checking",
            "text  both.",
            r#"text sealed {"id":"msg_1","status":"completed"}"#,
            "text-",
            "call 0 get_weather id=call_a",
            r#"args 0 {"city":"Os"#,
            r#"args 0 lo"}"#,
            r#"call 0 sealed {"id":"fc_1","status":"completed"}"#,
            "call- 0",
            "call 1 get_time id=call_b",
            r#"args 1 {"zone":"Europe/Oslo"}"#,
            r#"call 1 sealed {"id":"fc_2","status":"completed"}"#,
            "call- 1",
            "usage 80 71 reasoning 40",
            "finish calls",
        ],
    );
    back(
        "two_calls",
        &json!([{"encrypted_content":"SEALED-r","id":"rs_1","summary":[],"type":"reasoning"},{"content":[{"annotations":[],"text":"Checking both.","type":"output_text"}],"id":"msg_1","role":"assistant","status":"completed","type":"message"},{"arguments":"{\"city\":\"Oslo\"}","call_id":"call_a","id":"fc_1","name":"get_weather","status":"completed","type":"function_call"},{"arguments":"{\"zone\":\"Europe/Oslo\"}","call_id":"call_b","id":"fc_2","name":"get_time","status":"completed","type":"function_call"}]),
    );
}

#[test]
fn nothing_behind_the_end_is_read() {
    check(
        "event_after_completed",
        &[
            "text+",
            "text Hi.",
            r#"text sealed {"id":"msg_1","status":"completed"}"#,
            "text-",
            "usage 80 71 reasoning 40",
            "finish done",
        ],
    );
}

#[test]
fn items_count_wherever_they_come_whole() {
    check(
        "done_without_added",
        &[
            "reasoning+",
            r#"reasoning sealed {"encrypted_content":"SEALED-r","id":"rs_1","summary":[],"type":"reasoning"}"#,
            "reasoning-",
            "text+",
            "text Hi.",
            r#"text sealed {"id":"msg_1","status":"completed"}"#,
            "text-",
            "call 0 get_weather id=call_a",
            r#"args 0 {"city":"Oslo"}"#,
            r#"call 0 sealed {"id":"fc_1","status":"completed"}"#,
            "call- 0",
            "usage 80 71 reasoning 40",
            "finish calls",
        ],
    );
    check(
        "only_in_completed",
        &[
            "usage 80 71 reasoning 40",
            "reasoning+",
            r#"reasoning sealed {"encrypted_content":"SEALED-r","id":"rs_1","summary":[],"type":"reasoning"}"#,
            "reasoning-",
            "text+",
            "text Hi.",
            r#"text sealed {"id":"msg_1","status":"completed"}"#,
            "text-",
            "call 0 get_weather id=call_a",
            r#"args 0 {"city":"Oslo"}"#,
            r#"call 0 sealed {"id":"fc_1","status":"completed"}"#,
            "call- 0",
            "finish calls",
        ],
    );
    check(
        "undone_items",
        &[
            "text+",
            "text Hi.",
            "text-",
            "call 0 get_weather id=call_a",
            r#"args 0 {"city":"#,
            "usage 80 71 reasoning 40",
            r#"args 0 "Oslo"}"#,
            r#"call 0 sealed {"id":"fc_1","status":"completed"}"#,
            "call- 0",
            "finish calls",
        ],
    );
    check(
        "no_places",
        &[
            "call 0 get_weather id=call_a",
            "call 1 get_time id=call_b",
            r#"args 1 {"zone":"x"}"#,
            r#"args 0 {"city":"Oslo"}"#,
            r#"call 0 sealed {"id":"fc_1","status":"completed"}"#,
            "call- 0",
            r#"call 1 sealed {"id":"fc_2","status":"completed"}"#,
            "call- 1",
            "usage 80 71 reasoning 40",
            "finish calls",
        ],
    );
    back(
        "done_without_added",
        &json!([{"encrypted_content":"SEALED-r","id":"rs_1","summary":[],"type":"reasoning"},{"content":[{"annotations":[],"text":"Hi.","type":"output_text"}],"id":"msg_1","role":"assistant","status":"completed","type":"message"},{"arguments":"{\"city\":\"Oslo\"}","call_id":"call_a","id":"fc_1","name":"get_weather","status":"completed","type":"function_call"}]),
    );
    back(
        "only_in_completed",
        &json!([{"encrypted_content":"SEALED-r","id":"rs_1","summary":[],"type":"reasoning"},{"content":[{"annotations":[],"text":"Hi.","type":"output_text"}],"id":"msg_1","role":"assistant","status":"completed","type":"message"},{"arguments":"{\"city\":\"Oslo\"}","call_id":"call_a","id":"fc_1","name":"get_weather","status":"completed","type":"function_call"}]),
    );
    back(
        "undone_items",
        &json!([{"content":[{"annotations":[],"text":"Hi.","type":"output_text"}],"role":"assistant","type":"message"},{"arguments":"{\"city\":\"Oslo\"}","call_id":"call_a","id":"fc_1","name":"get_weather","status":"completed","type":"function_call"}]),
    );
    back(
        "no_places",
        &json!([{"arguments":"{\"city\":\"Oslo\"}","call_id":"call_a","id":"fc_1","name":"get_weather","status":"completed","type":"function_call"},{"arguments":"{\"zone\":\"x\"}","call_id":"call_b","id":"fc_2","name":"get_time","status":"completed","type":"function_call"}]),
    );
}

#[test]
fn the_end_of_an_item_adds_what_its_pieces_left_out() {
    check(
        "arguments_at_the_end",
        &[
            "call 0 get_weather id=call_a",
            r#"args 0 {"city":"Oslo"}"#,
            r#"call 0 sealed {"id":"fc_1","status":"completed"}"#,
            "call- 0",
            "usage 80 71 reasoning 40",
            "finish calls",
        ],
    );
    check(
        "arguments_spaced",
        &[
            "call 0 get_weather id=call_a",
            r#"args 0 {"city": "#,
            r#"args 0 "Oslo"}"#,
            r#"call 0 sealed {"id":"fc_1","status":"completed"}"#,
            "call- 0",
            "usage 80 71 reasoning 40",
            "finish calls",
        ],
    );
    check(
        "arguments_differ",
        &[
            "call 0 get_weather id=call_a",
            r#"args 0 {"city":"Oslo"}"#,
            "error protocol retry: the model's server sent two different arguments of one call",
        ],
    );
    check(
        "text_goes_on",
        &[
            "text+",
            "text Hi",
            "text  there.",
            r#"text sealed {"id":"msg_1","status":"completed"}"#,
            "text-",
            "usage 80 71 reasoning 40",
            "finish done",
        ],
    );
    back(
        "arguments_at_the_end",
        &json!([{"arguments":"{\"city\":\"Oslo\"}","call_id":"call_a","id":"fc_1","name":"get_weather","status":"completed","type":"function_call"}]),
    );
    back(
        "arguments_spaced",
        &json!([{"arguments":"{\"city\": \"Oslo\"}","call_id":"call_a","id":"fc_1","name":"get_weather","status":"completed","type":"function_call"}]),
    );
    back(
        "text_goes_on",
        &json!([{"content":[{"annotations":[],"text":"Hi there.","type":"output_text"}],"id":"msg_1","role":"assistant","status":"completed","type":"message"}]),
    );
}

#[test]
fn an_answer_that_is_not_complete_says_so() {
    check(
        "incomplete",
        &[
            "text+",
            "text Hi",
            r#"text sealed {"id":"msg_1","status":"completed"}"#,
            "text-",
            "usage 80 71 reasoning 40",
            "finish length",
        ],
    );
    check(
        "incomplete_call",
        &[
            "call 0 get_weather id=call_a",
            r#"args 0 {"city":"Os"#,
            r#"call 0 sealed {"id":"fc_1","status":"incomplete"}"#,
            "call- 0",
            "usage 80 71 reasoning 40",
            "finish length",
        ],
    );
    check(
        "incomplete_without_reason",
        &[
            "text+",
            "text Hi",
            r#"text sealed {"id":"msg_1","status":"completed"}"#,
            "text-",
            "usage 80 71 reasoning 40",
            "finish incomplete",
        ],
    );
    check(
        "filtered",
        &[
            "text+",
            "text Hi",
            r#"text sealed {"id":"msg_1","status":"completed"}"#,
            "text-",
            "usage 80 71 reasoning 40",
            "finish refused",
        ],
    );
    back(
        "incomplete_call",
        &json!([{"arguments":"{\"_raw\":\"{\\\"city\\\":\\\"Os\"}","call_id":"call_a","id":"fc_1","name":"get_weather","status":"incomplete","type":"function_call"}]),
    );
}

#[test]
fn an_error_is_an_error_wherever_it_stands() {
    check("failed", &["error rate_limit: Slow down."]);
    check(
        "flat_error",
        &[
            "text+",
            "text Hi.",
            r#"text sealed {"id":"msg_1","status":"completed"}"#,
            "text-",
            "error upstream: Overloaded.",
        ],
    );
    check("nested_error", &["error bad_request: No."]);
}

#[test]
fn encrypted_thoughts_go_back_before_their_item_and_others_not_at_all() {
    check(
        "thoughts",
        &[
            "reasoning+",
            "reasoning Two ",
            "reasoning tools.",
            "reasoning \n\n",
            "reasoning Or one.",
            r#"reasoning sealed {"encrypted_content":"SEALED-r","id":"rs_1","summary":[{"text":"Two tools.","type":"summary_text"},{"text":"Or one.","type":"summary_text"}],"type":"reasoning"}"#,
            "reasoning-",
            "text+",
            "text Hi.",
            r#"text sealed {"id":"msg_1","status":"completed","phase":"commentary"}"#,
            "text-",
            "usage 80 71 reasoning 40",
            "finish done",
        ],
    );
    check(
        "thoughts_by_id",
        &[
            "text+",
            "text Hi.",
            r#"text sealed {"status":"completed"}"#,
            "text-",
            "usage 80 71 reasoning 40",
            "finish done",
        ],
    );
    back(
        "thoughts",
        &json!([{"encrypted_content":"SEALED-r","id":"rs_1","summary":[{"text":"Two tools.","type":"summary_text"},{"text":"Or one.","type":"summary_text"}],"type":"reasoning"},{"content":[{"annotations":[],"text":"Hi.","type":"output_text"}],"id":"msg_1","phase":"commentary","role":"assistant","status":"completed","type":"message"}]),
    );
    back(
        "thoughts_by_id",
        &json!([{"content":[{"annotations":[],"text":"Hi.","type":"output_text"}],"role":"assistant","status":"completed","type":"message"}]),
    );
}

#[test]
fn what_is_more_than_words_goes_back_whole() {
    check(
        "refusal",
        &[
            "text+",
            "text I can ",
            "text not.",
            r#"text sealed {"content":[{"refusal":"I can not.","type":"refusal"}],"id":"msg_1","role":"assistant","status":"completed","type":"message"}"#,
            "text-",
            "usage 80 71 reasoning 40",
            "finish done",
        ],
    );
    check(
        "two_texts",
        &[
            "text+",
            "text a",
            "text b",
            r#"text sealed {"content":[{"annotations":[{"end_index":1,"start_index":0,"title":"x","type":"url_citation","url":"https://example.org"}],"text":"a","type":"output_text"},{"annotations":[],"text":"b","type":"output_text"}],"id":"msg_1","role":"assistant","status":"completed","type":"message"}"#,
            "text-",
            "usage 80 71 reasoning 40",
            "finish done",
        ],
    );
    check(
        "unknown_items",
        &[
            "reasoning+",
            r#"reasoning sealed {"action":{"query":"oslo","type":"search"},"id":"ws_1","status":"completed","type":"web_search_call"}"#,
            "reasoning-",
            "reasoning+",
            r#"reasoning sealed {"call_id":"call_c","id":"ctc_1","input":"ls","name":"shell","type":"custom_tool_call"}"#,
            "reasoning-",
            "reasoning+",
            r#"reasoning sealed {"encrypted_content":"SEALED-c","id":"cmp_1","type":"compaction"}"#,
            "reasoning-",
            "reasoning+",
            r#"reasoning sealed {"note":null,"seed":"SEALED-h","type":"hologram"}"#,
            "reasoning-",
            "text+",
            "text Cold.",
            r#"text sealed {"id":"msg_1","status":"completed"}"#,
            "text-",
            "usage 80 71 reasoning 40",
            "finish done",
        ],
    );
    back(
        "refusal",
        &json!([{"content":[{"refusal":"I can not.","type":"refusal"}],"id":"msg_1","role":"assistant","status":"completed","type":"message"}]),
    );
    back(
        "two_texts",
        &json!([{"content":[{"annotations":[{"end_index":1,"start_index":0,"title":"x","type":"url_citation","url":"https://example.org"}],"text":"a","type":"output_text"},{"annotations":[],"text":"b","type":"output_text"}],"id":"msg_1","role":"assistant","status":"completed","type":"message"}]),
    );
    back(
        "unknown_items",
        &json!([{"action":{"query":"oslo","type":"search"},"id":"ws_1","status":"completed","type":"web_search_call"},{"call_id":"call_c","id":"ctc_1","input":"ls","name":"shell","type":"custom_tool_call"},{"encrypted_content":"SEALED-c","id":"cmp_1","type":"compaction"},{"note":null,"seed":"SEALED-h","type":"hologram"},{"content":[{"annotations":[],"text":"Cold.","type":"output_text"}],"id":"msg_1","role":"assistant","status":"completed","type":"message"}]),
    );
}

#[test]
fn a_call_without_an_id_is_a_call() {
    check(
        "no_call_id",
        &[
            "call 0 get_weather",
            r#"args 0 {"city":"Oslo"}"#,
            r#"call 0 sealed {"id":"fc_1","status":"completed"}"#,
            "call- 0",
            "usage 80 71 reasoning 40",
            "finish calls",
        ],
    );
}

// ---- encode ----

fn sent(input: &Value) -> Value {
    json!({
        "model": "small", "stream": true, "store": false, "include": ["reasoning.encrypted_content"],
        "instructions": "Be brief.", "input": input,
        "tools": [
            { "type": "function", "name": "get_weather", "description": "Reads the weather.", "parameters": city(), "strict": false },
            { "type": "function", "name": "get_time", "description": "Reads the clock.", "parameters": no_arguments(), "strict": false },
        ],
        "parallel_tool_calls": true,
    })
}

fn question() -> Value {
    json!({ "type": "message", "role": "user", "content": [{ "type": "input_text", "text": "Weather and time?" }] })
}

fn bare() -> Value {
    let mut bare = sent(&json!([question()]));
    bare.as_object_mut().unwrap().retain(|name, _| !matches!(name.as_str(), "tools" | "parallel_tool_calls"));
    bare
}

#[test]
fn a_question_is_written_exactly() {
    assert_eq!(body(VENDOR, &asked()), sent(&json!([question()])));
    assert_eq!(body(VENDOR, &without_tools(asked())), bare());
}

#[test]
fn a_result_is_an_item_of_its_own() {
    let expected = |ids: [&str; 2]| {
        json!([
            question(),
            { "type": "message", "role": "assistant", "content": [{ "type": "output_text", "text": "Checking both.", "annotations": [] }] },
            { "type": "function_call", "call_id": ids[0], "name": "get_weather", "arguments": "{\"city\":\"Oslo\"}" },
            { "type": "function_call", "call_id": ids[1], "name": "get_time", "arguments": "{}" },
            { "type": "function_call_output", "call_id": ids[0], "output": "{\"tempC\":4}" },
            { "type": "function_call_output", "call_id": ids[1], "output": "no clock" },
        ])
    };
    let ids = ["call_a", "functions.get_time:1"];
    assert_eq!(body(VENDOR, &followed(Some(ids))), sent(&expected(ids)));
    assert_eq!(body(VENDOR, &followed(None)), sent(&expected(["local0", "local1"])));
}

#[test]
fn an_id_is_at_most_sixty_four_letters() {
    for (length, stays) in [(64, true), (65, false)] {
        let long = "x".repeat(length);
        let input = body(VENDOR, &followed(Some([&long, "b"])))["input"].clone();
        assert_eq!(input[2]["call_id"] == long.as_str(), stays, "{length}");
        assert_eq!(input[2]["call_id"], input[4]["call_id"]);
    }
}

#[test]
fn files_are_inputs_and_texts_are_words() {
    let request = attached(&[
        here("a.png", "image/png"),
        there("b.jpg", "image/jpeg"),
        here("c.pdf", "application/pdf"),
        here("", "application/pdf"),
        there("d.pdf", "application/pdf"),
        here("e.md", "text/markdown"),
    ]);
    let expected = json!([
        { "type": "input_text", "text": "Look." },
        { "type": "input_image", "image_url": "data:image/png;base64,aMOm", "detail": "auto" },
        { "type": "input_image", "image_url": "https://example.org/b.jpg", "detail": "auto" },
        { "type": "input_file", "filename": "c.pdf", "file_data": "data:application/pdf;base64,aMOm" },
        { "type": "input_file", "filename": "file", "file_data": "data:application/pdf;base64,aMOm" },
        { "type": "input_file", "file_url": "https://example.org/d.pdf" },
        { "type": "input_text", "text": "[e.md, text/markdown]\nhæ" },
    ]);
    assert_eq!(body(VENDOR, &request)["input"][0]["content"], expected);
    assert_eq!(
        refusal(VENDOR, here("e.wav", "audio/wav")),
        "e.wav is audio/wav, which OpenAI does not take; it takes image/png, image/jpeg, image/webp, image/gif, application/pdf."
    );
}

#[test]
fn a_form_is_asked_for_with_its_schema_and_strictly_where_it_is_closed() {
    for (schema, strict) in [(city(), true), (no_arguments(), false)] {
        let mut expected = bare();
        expected["text"] =
            json!({ "format": { "type": "json_schema", "name": "weather", "schema": schema, "strict": strict } });
        assert_eq!(body(VENDOR, &formed(without_tools(asked()), schema)), expected);
    }
}

#[test]
fn a_thought_without_what_it_led_to_is_left_out() {
    let home = target(VENDOR);
    let asked = request(vec![user("Weather?")]);
    let mut answer = kept(&home, &asked, &fixture("providers/openai_responses/two_calls.sse"));
    answer.parts.truncate(1);
    let mut next = asked.clone();
    next.messages.extend([Message::Assistant(answer), user("Go on.")]);
    let input = body(VENDOR, &next)["input"].clone();
    assert!(input.as_array().unwrap().iter().all(|item| item["role"] == "user"), "{input}");
}

#[test]
fn a_piece_behind_the_end_of_its_item_is_no_more_of_it() {
    let done = json!({ "type": "response.output_item.done", "output_index": 0, "item": {
        "type": "function_call", "call_id": "call_a", "name": "get_weather", "arguments": "{\"city\":\"Oslo\"}" } });
    let late =
        json!({ "type": "response.function_call_arguments.delta", "output_index": 0, "delta": "{\"city\":\"Oslo\"}" });
    let end = json!({ "type": "response.completed", "response": { "status": "completed" } });
    let stream: String = [done, late, end].iter().map(|event| format!("data: {event}\n\n")).collect();
    let expected = ["start", "call 0 get_weather id=call_a", r#"args 0 {"city":"Oslo"}"#, "call- 0", "finish calls"];
    assert_eq!(heard(VENDOR, &[stream.as_bytes()]), expected);
}

#[test]
fn a_filter_behind_the_name_of_a_call_never_makes_it_whole() {
    check(
        "filtered_call",
        &["call 0 get_weather id=call_a", r#"args 0 "[the arguments were cut off]""#, "call- 0", "finish refused"],
    );
}
