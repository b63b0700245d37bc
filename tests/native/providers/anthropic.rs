//! Anthropic Messages: the documented stream, its traps, the way back, and the exact bodies.

use serde_json::{Value, json};

use super::check_file;
use super::threads::check_back;

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
fn a_refusal_without_words_is_an_error_and_one_with_words_an_end() {
    check("refusal", &["usage 80 1", "usage 80 71", "error bad_request: The model refused to answer this."]);
    check("refusal_midway", &["usage 80 1", "text+", "text I", "text-", "usage 80 71", "finish refused"]);
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
            r#"args 0 "[the arguments were cut off at the model's output limit]""#,
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
