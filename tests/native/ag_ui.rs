//! AG-UI: what real servers send, what the order of events forbids, and our own two directions against each other.

use std::sync::Arc;

use pagehand::ag_ui::{AgUiDecoder, AgUiEncoder, read_input, write_input};
use pagehand::protocol::{
    AssistantMessage, ContextItem, FinishReason, Message, MessageId, MessageStatus, ModelError, ModelErrorKind,
    ModelEvent, ModelRequest, Part, RunId, ThreadId, ToolCall, ToolCallId, ToolError, ToolMessage, ToolOffer,
    ToolResult, Usage, UserMessage,
};
use serde_json::{Value, json};

use crate::support::words::words;
use crate::support::{fixture, whole_and_in_pieces};

// ---- decode ----

fn decode_for(request: &ModelRequest, pieces: &[&[u8]]) -> Vec<String> {
    let mut decoder = AgUiDecoder::new(request);
    let mut events = Vec::new();
    for piece in pieces {
        decoder.push(piece);
        events.extend(std::iter::from_fn(|| decoder.next()));
    }
    decoder.finish();
    events.extend(std::iter::from_fn(|| decoder.next()));
    words(&events)
}

fn decode(pieces: &[&[u8]]) -> Vec<String> {
    decode_for(&request(Vec::new()), pieces)
}

/// The same in any pieces; and a stream that breaks off anywhere says the beginning of it, and never that it is done.
fn check(bytes: &[u8], expected: &[&str]) {
    check_for(&request(Vec::new()), bytes, expected);
}

fn check_for(request: &ModelRequest, bytes: &[u8], expected: &[&str]) {
    let decode = |pieces: &[&[u8]]| decode_for(request, pieces);
    let whole = whole_and_in_pieces(bytes, decode);
    assert_eq!(whole, expected);
    for at in 0..bytes.len() {
        let mut cut = decode(&[&bytes[..at]]);
        if cut == whole {
            continue;
        }
        if cut.last().is_some_and(|word| word.starts_with("note an event's data ends too early")) {
            cut.pop();
        }
        assert!(whole.starts_with(&cut), "cut at {at}: {cut:?}");
        let done = |word: &String| word.starts_with("finish") || word.starts_with("error");
        assert!(!cut.iter().any(done), "cut at {at}: {cut:?}");
    }
}

fn check_fixture(name: &str, expected: &[&str]) {
    check(&fixture(&format!("ag_ui/{name}.sse")), expected);
}

/// A stream of frames made up here.
fn stream(frames: &[Value]) -> Vec<u8> {
    frames.iter().map(|frame| format!("data: {frame}\n\n")).collect::<String>().into_bytes()
}

fn started() -> Value {
    json!({ "type": "RUN_STARTED", "threadId": "t", "runId": "r" })
}

fn finished() -> Value {
    json!({ "type": "RUN_FINISHED", "threadId": "t", "runId": "r" })
}

fn run_of(frames: &[Value]) -> Vec<u8> {
    stream(&[&[started()], frames, &[finished()]].concat())
}

#[test]
fn pydantic_ai_is_understood() {
    check_fixture(
        "pydantic_call",
        &[
            "start",
            "text+",
            "text Let me ",
            "text-",
            "call 0 set_background id=call_fe_1",
            r#"args 0 {"color":"#,
            r#"args 0 "blue"}"#,
            "call- 0",
            "finish calls",
        ],
    );
    check_fixture(
        "pydantic_answer",
        &["start", "text+", "text done: ", r#"text [{"ok": true}]"#, "text-", "finish done"],
    );
    check_fixture("pydantic_nothing_new", &["start", "finish done"]);
    check_fixture(
        "pydantic_interrupt",
        &[
            "start",
            "text+",
            "text-",
            "call 0 delete_file id=call_srv_1",
            r#"args 0 {"path":"/x"}"#,
            "call- 0",
            "error bad_request: The agent asks something this page can not answer yet: \
             Approve delete_file({\"path\":\"/x\"})?",
        ],
    );
    // The result, and what is encrypted of it, is of a call of an earlier stream.
    let before = request(vec![Message::Assistant(answer("a", "", vec![call("c", Some("call_srv_1"))]))]);
    check_for(
        &before,
        &fixture("ag_ui/pydantic_cancelled.sse"),
        &[
            "start",
            "note an encrypted value of a message that is not at work was dropped",
            "text+",
            "text done: ",
            r#"text ["Cancelled by user."]"#,
            "text-",
            "finish done",
        ],
    );
    check_fixture(
        "pydantic_run_error",
        &[
            "start",
            "error upstream final: `ResumeEntry` payload for interrupt 'int-call_srv_1' does not match the \
             `responseSchema` advertised on the interrupt (approved: missing).",
        ],
    );
}

#[test]
fn ag_ui_adk_is_understood() {
    check_fixture(
        "adk_call",
        &["start", "call 0 fe_set_background id=adk-m1", r#"args 0 {"color":"blue"}"#, "call- 0", "finish calls"],
    );
    let found = whole_and_in_pieces(&fixture("ag_ui/adk_unknown_tool.sse"), decode);
    assert_eq!(found[..4], ["start", "call 0 no_such_tool id=adk-m1", r#"args 0 {"a":1}"#, "call- 0"]);
    assert!(found[4].starts_with(r#"result 0 {"error": "Invoking"#), "{}", found[4]);
    assert_eq!(found.last().unwrap(), "finish done", "the agent answered its own call, so none is ours");
}

#[test]
fn arguments_that_langgraph_loses_are_taken_from_its_snapshot() {
    check_fixture(
        "langgraph_lost_head",
        &[
            "start",
            "text+",
            "text Let me ",
            "text-",
            "call 0 set_bg id=c1",
            r#"args 0 "blue"}"#,
            "call- 0",
            r#"whole args 0 {"color": "blue"}"#,
            "finish calls",
        ],
    );
    check_fixture(
        "langgraph_lost_arguments",
        &[
            "start",
            "call 0 set_bg id=c1",
            "call- 0",
            "call 1 set_bg id=c2",
            "call- 1",
            r#"whole args 0 {"color": "blue"}"#,
            r#"whole args 1 {"color": "red"}"#,
            "finish calls",
        ],
    );
}

#[test]
fn what_langgraph_does_not_stream_is_taken_from_its_snapshot() {
    check_fixture("langgraph_unstreamed", &["start", "text+", r#"text gate answer {"ok": 1}"#, "text-", "finish done"]);
    check_fixture(
        "langgraph_interrupt",
        &["start", "error bad_request: The agent asks something this page can not answer yet"],
    );
}

#[test]
fn a_snapshot_repeats_neither_the_thread_nor_what_was_streamed() {
    let request = request(thread());
    let snapshot = json!({ "type": "MESSAGES_SNAPSHOT", "messages": [
        { "id": "u1", "role": "user", "content": "Weather?" },
        { "id": "a1", "role": "assistant", "content": "Looking.", "toolCalls": [
            { "id": "call_a", "type": "function", "function": { "name": "weather_read", "arguments": "{}" } }] },
        { "id": "other", "role": "tool", "toolCallId": "call_a", "content": "4" },
        { "id": "m1", "role": "assistant", "content": "Sunny.", "toolCalls": [
            { "id": "c1", "type": "function", "function": { "name": "weather_read", "arguments": { "city": "Rome" } } }] },
        { "id": "x1", "role": "tool", "toolCallId": "c1", "content": [{ "type": "text", "text": "9" }] },
    ] });
    let text = |kind: &str| json!({ "type": kind, "messageId": "m1", "delta": "Sunny." });
    let frames = [
        text("TEXT_MESSAGE_START"),
        text("TEXT_MESSAGE_CONTENT"),
        text("TEXT_MESSAGE_END"),
        snapshot.clone(),
        snapshot,
    ];
    let found = decode_for(&request, &[&run_of(&frames)]);
    let found: Vec<&str> = found.iter().map(String::as_str).filter(|word| !word.starts_with("note")).collect();
    assert_eq!(
        found,
        [
            "start",
            "text+",
            "text Sunny.",
            "text-",
            "call 0 weather_read id=c1",
            r#"args 0 {"city":"Rome"}"#,
            "call- 0",
            "result 0 9",
            "finish done",
        ]
    );
}

#[test]
fn chunks_are_starts_contents_and_ends() {
    check_fixture(
        "chunks",
        &[
            "start",
            "text+",
            "text Hæ",
            "text llo",
            "text-",
            "text+",
            "text again",
            "text-",
            "reasoning+",
            "reasoning Hm.",
            "reasoning-",
            "call 0 set_bg id=c1",
            r#"args 0 {"color":"#,
            r#"args 0 "blue"}"#,
            "call- 0",
            "call 1 set_bg id=c2",
            "call- 1",
            "finish calls",
        ],
    );
}

#[test]
fn retired_thinking_events_are_reasoning() {
    let found = whole_and_in_pieces(&fixture("ag_ui/thinking.sse"), decode);
    let found: Vec<&str> = found.iter().map(String::as_str).filter(|word| !word.starts_with("note")).collect();
    assert_eq!(
        found,
        ["start", "reasoning+", "reasoning Hm.", "reasoning-", "text+", "text Hi.", "text-", "finish done"]
    );
}

#[test]
fn a_subagents_words_are_its_own_with_or_without_its_tag() {
    check_fixture("subagent", &["start", "text+", "text Done.", "text-", "finish done"]);
}

#[test]
fn a_call_that_the_agent_sends_again_is_the_same_call() {
    let call = |kind: &str| json!({ "type": kind, "toolCallId": "c1", "toolCallName": "set_bg" });
    let args = json!({ "type": "TOOL_CALL_ARGS", "toolCallId": "c1", "delta": "{}" });
    let once = [call("TOOL_CALL_START"), args, json!({ "type": "TOOL_CALL_END", "toolCallId": "c1" })];
    let result = json!({ "type": "TOOL_CALL_RESULT", "messageId": "x", "toolCallId": "c1", "content": "done" });
    let found = decode(&[&run_of(&[&once[..], &once[..], &[result.clone(), result]].concat())]);
    let found: Vec<&str> = found.iter().map(String::as_str).filter(|word| !word.starts_with("note")).collect();
    assert_eq!(found, ["start", "call 0 set_bg id=c1", "args 0 {}", "call- 0", "result 0 done", "finish done"]);
}

#[test]
fn calls_the_agent_does_not_leave_to_us_are_answered() {
    let mut frames = vec![started()];
    for id in ["c1", "c2"] {
        frames.push(json!({ "type": "TOOL_CALL_START", "toolCallId": id, "toolCallName": "set_bg" }));
        frames.push(json!({ "type": "TOOL_CALL_END", "toolCallId": id }));
    }
    let mut end = finished();
    end["outcome"] = json!({ "type": "success", "pendingToolCallIds": ["c2"] });
    frames.push(end);
    let found = decode(&[&stream(&frames)]);
    assert!(found[5].starts_with(r#"result 0 {"status":"unknown""#), "{found:?}");
    assert_eq!(found[6..], ["finish calls"]);
}

// Made by us, as proxies of servers without ids send them.
#[test]
fn calls_without_an_id_stay_as_many_as_were_begun() {
    let start = |id: &Value, name: &str| json!({ "type": "TOOL_CALL_START", "toolCallId": id, "toolCallName": name });
    let part = |kind: &str, id: &Value, delta: &str| json!({ "type": kind, "toolCallId": id, "delta": delta });
    let chunk = |id: &Value, more: Value| {
        let mut chunk = more;
        chunk["type"] = json!("TOOL_CALL_CHUNK");
        chunk["toolCallId"] = id.clone();
        chunk
    };
    let call = |id: &Value, name: &str, arguments: &str| {
        vec![
            start(id, name),
            part("TOOL_CALL_ARGS", id, arguments),
            json!({ "type": "TOOL_CALL_END", "toolCallId": id }),
        ]
    };
    let without_the_field = |mut frames: Vec<Value>| {
        for frame in &mut frames {
            frame.as_object_mut().unwrap().remove("toolCallId");
        }
        frames
    };
    let (none, given) = (json!(""), json!("call_1"));
    let two = ["start", "call 0 f", "args 0 {\"a\":1}", "call- 0", "call 1 f", "args 1 {\"a\":2}", "call- 1"];
    let two_named = ["start", "call 0 f", "args 0 {}", "call- 0", "call 1 g id=call_1", "args 1 {}", "call- 1"];
    let both = [call(&none, "f", "{\"a\":1}"), call(&none, "f", "{\"a\":2}")].concat();
    let chunks = vec![
        chunk(&none, json!({ "toolCallName": "f", "delta": "{\"a\":" })),
        chunk(&none, json!({ "delta": "1}" })),
        chunk(&none, json!({ "toolCallName": "f" })),
        chunk(&none, json!({ "delta": "{\"a\":2}" })),
    ];
    let in_pieces =
        ["start", "call 0 f", "args 0 {\"a\":", "args 0 1}", "call- 0", "call 1 f", "args 1 {\"a\":2}", "call- 1"];
    let mixed =
        [vec![chunk(&none, json!({ "toolCallName": "f", "delta": "{\"a\":1}" }))], call(&none, "f", "{\"a\":2}")];
    let end = json!({ "type": "TOOL_CALL_END", "toolCallId": none });
    let nested = vec![
        start(&none, "f"),
        start(&none, "g"),
        part("TOOL_CALL_ARGS", &none, "2"),
        end.clone(),
        part("TOOL_CALL_ARGS", &none, "1"),
        end.clone(),
    ];
    let within = ["start", "call 0 f", "call 1 g", "args 1 2", "call- 1", "args 0 1", "call- 0"];
    for (frames, expected) in [
        (both.clone(), &two[..]),
        (without_the_field(both), &two[..]),
        (chunks.clone(), &in_pieces[..]),
        (without_the_field(chunks), &in_pieces[..]),
        (mixed.concat(), &two[..]),
        ([call(&none, "f", "{}"), call(&given, "g", "{}")].concat(), &two_named[..]),
        (nested, &within[..]),
    ] {
        check(&run_of(&frames), &[expected, &["finish calls"]].concat());
    }
}

#[test]
fn results_of_calls_without_an_id_come_in_the_order_of_the_calls() {
    let call = |arguments: &str| {
        [
            json!({ "type": "TOOL_CALL_START", "toolCallId": "", "toolCallName": "f" }),
            json!({ "type": "TOOL_CALL_ARGS", "toolCallId": "", "delta": arguments }),
            json!({ "type": "TOOL_CALL_END", "toolCallId": "" }),
        ]
    };
    let result = |id: &str| json!({ "type": "TOOL_CALL_RESULT", "messageId": id, "toolCallId": "", "content": format!("of {id}") });
    let called =
        |arguments: &str| json!({ "id": "", "type": "function", "function": { "name": "f", "arguments": arguments } });
    // The snapshot says again what was streamed.
    let snapshot = json!({ "type": "MESSAGES_SNAPSHOT", "messages": [
        { "id": "m", "role": "assistant", "toolCalls": [called("1"), called("2")] },
        { "id": "r1", "role": "tool", "toolCallId": "", "content": "of r1" },
    ] });
    let said = ["start", "call 0 f", "args 0 1", "call- 0", "call 1 f", "args 1 2", "call- 1", "result 0 of r1"];
    let frames = [&call("1")[..], &call("2"), &[result("r1"), snapshot]].concat();
    check(&run_of(&frames), &[&said[..], &["finish calls"]].concat());
    let frames = [&frames[..], &[result("r2")]].concat();
    check(&run_of(&frames), &[&said[..], &["result 1 of r2", "finish done"]].concat());
    let pending = |ids: Value| {
        json!({ "type": "RUN_FINISHED", "threadId": "t", "runId": "r",
            "outcome": { "type": "success", "pendingToolCallIds": ids } })
    };
    let ours = [&[started()], &call("1")[..], &[pending(json!([""]))]].concat();
    check(&stream(&ours), &["start", "call 0 f", "args 0 1", "call- 0", "finish calls"]);
}

#[test]
fn a_result_for_a_call_nobody_made_is_noted_and_changes_nothing() {
    let result = |id: &str| json!({ "type": "TOOL_CALL_RESULT", "messageId": "m", "toolCallId": id, "content": "x" });
    let note = "note a result for the call \"lost\", which nobody made, was dropped";
    check(&run_of(&[result("lost")]), &["start", note, "finish done"]);
    let before = request(vec![Message::Assistant(answer("a", "", vec![call("ours", Some("theirs"))]))]);
    check_for(&before, &run_of(&[result("theirs"), result("ours")]), &["start", "finish done"]);
}

// Made by us. What a stream says besides its start.
#[test]
fn unknown_material_is_dropped_with_a_note_and_malformed_material_ends_the_run() {
    let text = |delta: Value| json!({ "type": "TEXT_MESSAGE_CONTENT", "messageId": "m", "delta": delta });
    let cases = [
        (json!({ "type": "HOLOGRAM_START" }), r#"note an event of the unknown type "HOLOGRAM_START" was dropped"#),
        (
            json!({ "type": "CUSTOM", "name": "x", "colour": 1 }),
            r#"note CUSTOM: the unknown property "colour" was dropped"#,
        ),
        (
            json!({ "type": "TOOL_CALL_START", "toolCallId": "c", "toolCallName": "f", "parentMessageId": null }),
            r#"note TOOL_CALL_START: "parentMessageId" was null and is taken as absent"#,
        ),
        (text(json!(7)), r#"error protocol: TEXT_MESSAGE_CONTENT: "delta" has the wrong type"#),
        (text(Value::Null), r#"error protocol: TEXT_MESSAGE_CONTENT: "delta" has the wrong type"#),
        (json!({ "type": "TEXT_MESSAGE_END" }), r#"error protocol: TEXT_MESSAGE_END: "messageId" is missing"#),
        (
            json!({ "type": "TEXT_MESSAGE_START", "messageId": "m", "subagentRunId": null }),
            r#"error protocol: TEXT_MESSAGE_START: "subagentRunId" has the wrong type"#,
        ),
        (
            json!({ "type": "THINKING_TEXT_MESSAGE_CONTENT", "delta": 7 }),
            r#"error protocol: THINKING_TEXT_MESSAGE_CONTENT: "delta" has the wrong type"#,
        ),
        (json!({ "kind": "TEXT_MESSAGE_END" }), r#"error protocol: an event has no "type""#),
        (json!([1]), "error protocol: a frame is not a JSON object"),
    ];
    for (frame, expected) in cases {
        let found = whole_and_in_pieces(&stream(&[started(), frame]), decode);
        assert_eq!(found[1], expected);
    }
}

#[test]
fn data_that_is_not_json_ends_the_run_and_only_the_streams_own_end_excuses_half_a_frame() {
    let head = "data: {\"type\":\"RUN_STARTED\",\"threadId\":\"t\",\"runId\":\"r\"}\n\n";
    for (tail, expected) in [
        ("data: nonsense\n\n", "error protocol: an event's data is not JSON"),
        ("data: {\"type\":\"RUN_FI\n\ndata: {}\n\n", "error protocol: an event's data is not JSON"),
        ("data: {\"type\":\"RUN_FI", "note an event's data ends too early"),
    ] {
        let found = whole_and_in_pieces(format!("{head}{tail}").as_bytes(), decode);
        assert!(found[1].starts_with(expected), "{found:?}");
        assert_eq!(found.len(), 2, "{found:?}");
    }
}

// From the rules of @ag-ui/client 1.0.0 (verify), in their order.
#[test]
fn each_rule_of_the_order_of_events_has_its_error() {
    let event = |kind: &str, id: &str| json!({ "type": kind, "messageId": id, "delta": "x" });
    let call = |kind: &str, id: &str| json!({ "type": kind, "toolCallId": id, "toolCallName": "f", "delta": "x" });
    let step = |kind: &str| json!({ "type": kind, "stepName": "s" });
    let sub = |kind: &str, id: &str| json!({ "type": kind, "subagentRunId": id, "name": "n", "message": "x" });
    let tagged = |mut event: Value, tag: &str| {
        event["subagentRunId"] = json!(tag);
        event
    };
    let with = |mut event: Value, name: &str, value: &str| {
        event[name] = json!(value);
        event
    };
    let cases: Vec<(Vec<Value>, &str)> = vec![
        (vec![event("TEXT_MESSAGE_START", "m")], "the first event is TEXT_MESSAGE_START, not RUN_STARTED"),
        (vec![finished()], "the first event is RUN_FINISHED, not RUN_STARTED"),
        (vec![started(), started()], "RUN_STARTED while a run is open"),
        (
            vec![started(), event("TEXT_MESSAGE_START", "m"), event("TEXT_MESSAGE_START", "m")],
            "TEXT_MESSAGE_START: message \"m\" is open already",
        ),
        (
            vec![started(), call("TOOL_CALL_START", "c"), call("TOOL_CALL_START", "c")],
            "TOOL_CALL_START: tool call \"c\" is open already",
        ),
        (
            vec![started(), event("REASONING_START", "m"), event("REASONING_START", "m")],
            "REASONING_START: reasoning \"m\" is open already",
        ),
        (vec![started(), step("STEP_STARTED"), step("STEP_STARTED")], "STEP_STARTED: step \"s\" is open already"),
        (
            vec![started(), sub("SUBAGENT_STARTED", "a"), sub("SUBAGENT_STARTED", "a")],
            "SUBAGENT_STARTED: subagent \"a\" is open already",
        ),
        (
            vec![started(), sub("SUBAGENT_STARTED", "a"), sub("SUBAGENT_FINISHED", "a"), sub("SUBAGENT_STARTED", "a")],
            "SUBAGENT_STARTED: subagent \"a\" was another's",
        ),
        (
            vec![
                started(),
                event("TEXT_MESSAGE_START", "m"),
                event("TEXT_MESSAGE_END", "m"),
                tagged(event("TEXT_MESSAGE_START", "m"), "a"),
            ],
            "TEXT_MESSAGE_START: message \"m\" was another's",
        ),
        (vec![started(), event("TEXT_MESSAGE_CONTENT", "m")], "TEXT_MESSAGE_CONTENT: message \"m\" is not open"),
        (vec![started(), event("TEXT_MESSAGE_END", "m")], "TEXT_MESSAGE_END: message \"m\" is not open"),
        (vec![started(), call("TOOL_CALL_ARGS", "c")], "TOOL_CALL_ARGS: tool call \"c\" is not open"),
        (
            vec![started(), call("TOOL_CALL_START", "c"), call("TOOL_CALL_END", "c"), call("TOOL_CALL_ARGS", "c")],
            "TOOL_CALL_ARGS: tool call \"c\" is not open",
        ),
        (
            vec![started(), event("REASONING_MESSAGE_CONTENT", "m")],
            "REASONING_MESSAGE_CONTENT: reasoning message \"m\" is not open",
        ),
        (
            vec![started(), event("REASONING_START", "m"), event("REASONING_MESSAGE_END", "m")],
            "REASONING_MESSAGE_END: reasoning message \"m\" is not open",
        ),
        (vec![started(), step("STEP_FINISHED")], "STEP_FINISHED: step \"s\" is not open"),
        (vec![started(), sub("SUBAGENT_ERROR", "a")], "SUBAGENT_ERROR: subagent \"a\" is not open"),
        (vec![started(), event("TEXT_MESSAGE_START", "m"), finished()], "RUN_FINISHED while message \"m\" is open"),
        (vec![started(), call("TOOL_CALL_START", "c"), finished()], "RUN_FINISHED while tool call \"c\" is open"),
        (vec![started(), event("REASONING_START", "m"), finished()], "RUN_FINISHED while reasoning \"m\" is open"),
        (vec![started(), step("STEP_STARTED"), finished()], "RUN_FINISHED while step \"s\" is open"),
        (vec![started(), sub("SUBAGENT_STARTED", "a"), finished()], "RUN_FINISHED while subagent \"a\" is open"),
        (
            vec![started(), event("TEXT_MESSAGE_START", "m"), tagged(event("TEXT_MESSAGE_CONTENT", "m"), "a")],
            "TEXT_MESSAGE_CONTENT: message \"m\" belongs to another agent",
        ),
        (
            vec![started(), tagged(call("TOOL_CALL_START", "c"), "a"), tagged(call("TOOL_CALL_ARGS", "c"), "b")],
            "TOOL_CALL_ARGS: tool call \"c\" belongs to another agent",
        ),
        (
            vec![
                started(),
                event("TEXT_MESSAGE_START", "m"),
                tagged(with(call("TOOL_CALL_START", "c"), "parentMessageId", "m"), "a"),
            ],
            "TOOL_CALL_START: its parent message \"m\" belongs to another agent",
        ),
        (
            vec![started(), with(sub("SUBAGENT_STARTED", "a"), "parentSubagentRunId", "b")],
            "SUBAGENT_STARTED: its parent \"b\" was never started",
        ),
        (
            vec![started(), json!({ "type": "TEXT_MESSAGE_CHUNK", "delta": "x" })],
            "TEXT_MESSAGE_CHUNK: the first chunk has no \"messageId\"",
        ),
        (
            vec![started(), json!({ "type": "TOOL_CALL_CHUNK", "toolCallId": "c" })],
            "TOOL_CALL_CHUNK: the first chunk of \"c\" has no \"toolCallName\"",
        ),
    ];
    for (frames, expected) in cases {
        let found = decode(&[&stream(&frames)]);
        assert_eq!(found.last().unwrap(), &format!("error protocol: {expected}"), "{frames:?}");
    }
}

#[test]
fn what_the_order_of_events_allows_is_no_error() {
    let event = |kind: &str, id: &str| json!({ "type": kind, "messageId": id, "delta": "x" });
    let call = |kind: &str, id: &str| json!({ "type": kind, "toolCallId": id, "toolCallName": "f", "delta": "x" });
    let step = |kind: &str, tag: Option<&str>| {
        let mut event = json!({ "type": kind, "stepName": "s" });
        if let Some(tag) = tag {
            event["subagentRunId"] = json!(tag);
        }
        event
    };
    let cases = [
        vec![
            event("TEXT_MESSAGE_START", "m"),
            event("TEXT_MESSAGE_END", "m"),
            event("TEXT_MESSAGE_START", "m"),
            event("TEXT_MESSAGE_END", "m"),
        ],
        vec![
            call("TOOL_CALL_START", "a"),
            call("TOOL_CALL_START", "b"),
            call("TOOL_CALL_ARGS", "a"),
            call("TOOL_CALL_END", "b"),
            call("TOOL_CALL_END", "a"),
        ],
        vec![
            event("REASONING_START", "m"),
            event("REASONING_MESSAGE_START", "m"),
            event("REASONING_MESSAGE_END", "m"),
            event("REASONING_END", "m"),
        ],
        vec![
            step("STEP_STARTED", None),
            step("STEP_STARTED", Some("a")),
            step("STEP_FINISHED", None),
            step("STEP_FINISHED", Some("a")),
        ],
        vec![json!({ "type": "TOOL_CALL_RESULT", "messageId": "x", "toolCallId": "never", "content": "x" })],
        vec![
            json!({ "type": "STATE_DELTA", "delta": [] }),
            json!({ "type": "ACTIVITY_DELTA", "messageId": "m", "activityType": "a", "patch": [] }),
        ],
        vec![json!({ "type": "RAW", "event": null }), json!({ "type": "STATE_SNAPSHOT", "snapshot": null })],
    ];
    for frames in cases {
        let found = whole_and_in_pieces(&run_of(&frames), decode);
        assert!(found.last().unwrap().starts_with("finish"), "{frames:?}: {found:?}");
    }
}

#[test]
fn a_run_may_fail_at_any_moment_and_nothing_is_read_after_it() {
    let error = json!({
        "type": "RUN_ERROR", "message": "Slow down.", "code": "rate_limit",
        "metadata": { "pagehand": { "retryAfterMs": 3000 } }, "usage": [{ "inputTokens": 3, "outputTokens": 1 }],
    });
    let text = json!({ "type": "TEXT_MESSAGE_START", "messageId": "m" });
    let said = ["usage 3 1", "error rate_limit after 3000 ms: Slow down."];
    assert_eq!(decode(&[&stream(std::slice::from_ref(&error))]), said);
    let found = whole_and_in_pieces(&stream(&[started(), text, error, json!({ "type": 7 })]), decode);
    assert_eq!(found, ["start", "text+", said[0], said[1]]);
}

#[test]
fn a_body_that_is_no_event_stream_is_an_error_in_its_own_words() {
    for (body, expected) in [
        (r#"{"error":{"message":"no such model"}}"#, "no such model"),
        (r#"{"error":"no such model"}"#, "no such model"),
        (r#"[{"error":{"message":"no such model"}}]"#, "no such model"),
        (r#"{"detail":"Not Found"}"#, "Not Found"),
        (r#"{"detail":[{"loc":["body"]}]}"#, "the answer is not an event stream"),
        ("<html><title>502</title></html>", "the answer is not an event stream"),
    ] {
        let found = whole_and_in_pieces(body.as_bytes(), decode);
        assert_eq!(found, [format!("error protocol: The agent answered with an error: {expected}")]);
    }
}

#[test]
fn a_stream_that_ends_without_a_terminal_event_says_nothing_of_an_end() {
    for bytes in [b"".as_slice(), b": keep-alive\n\n", b"\n\n"] {
        check(bytes, &[]);
    }
    assert_eq!(decode(&[&stream(&[started()])]), ["start"]);
}

// ---- encode, and back ----

fn encode(events: Vec<ModelEvent>) -> String {
    let mut encoder = AgUiEncoder::new(ThreadId::from("t"), RunId::from("r"), 1);
    events.into_iter().map(|event| encoder.encode(event)).collect()
}

fn call_start(slot: usize, id: Option<&str>) -> ModelEvent {
    ModelEvent::CallStart { slot, id: id.map(str::to_owned), name: "weather_read".to_owned() }
}

fn call_delta(slot: usize, text: &str) -> ModelEvent {
    ModelEvent::CallDelta { slot, text: text.to_owned() }
}

#[test]
fn what_is_encoded_is_decoded_again() {
    let text = |text: &str| ModelEvent::TextDelta(text.to_owned());
    let usage =
        ModelEvent::Usage(Usage { input_tokens: 12, output_tokens: 3, cost_micros: Some(1_200), ..Usage::default() });
    let mut limited = ModelError::new(ModelErrorKind::RateLimit, "Slow down.");
    limited.retry_after_ms = Some(1_500);
    let scripts = [
        vec![ModelEvent::Start, ModelEvent::Finish(FinishReason::Done)],
        vec![
            ModelEvent::Start,
            ModelEvent::TextStart,
            text("Hæ\n\ndata: x\r"),
            text(""),
            ModelEvent::TextEnd,
            usage.clone(),
            ModelEvent::Finish(FinishReason::Done),
        ],
        vec![
            ModelEvent::Start,
            ModelEvent::ReasoningStart,
            ModelEvent::ReasoningDelta("Hm.".to_owned()),
            ModelEvent::ReasoningEnd,
            ModelEvent::TextStart,
            text("Looking."),
            ModelEvent::TextEnd,
            call_start(0, Some("call_a")),
            call_delta(0, "{\"city\":"),
            call_start(1, None),
            call_delta(0, "\"Oslo\"}"),
            ModelEvent::CallEnd { slot: 0 },
            ModelEvent::CallEncrypted { slot: 0, value: "opaque".to_owned() },
            ModelEvent::CallEnd { slot: 1 },
            usage,
            ModelEvent::Finish(FinishReason::Calls),
        ],
        vec![
            ModelEvent::Start,
            ModelEvent::TextStart,
            text("Hm."),
            ModelEvent::TextWasReasoning,
            ModelEvent::TextEnd,
            ModelEvent::TextStart,
            text("Yes."),
            ModelEvent::TextEnd,
            ModelEvent::Finish(FinishReason::Done),
        ],
        vec![ModelEvent::Start, ModelEvent::TextStart, text("It"), ModelEvent::Error(limited)],
        vec![ModelEvent::Start, ModelEvent::TextStart, text("It")],
    ];
    for events in scripts {
        let mut expected = words(&events);
        expected.retain(|word| word != "text ");
        assert_eq!(whole_and_in_pieces(encode(events).as_bytes(), decode), expected);
    }
}

#[test]
fn only_the_text_that_came_last_can_turn_out_to_be_thoughts() {
    let was = |id: Value| json!({ "type": "CUSTOM", "name": "pagehand.was_reasoning", "value": { "messageId": id } });
    let message = |kind: &str, id: &str| json!({ "type": kind, "messageId": id, "delta": "x" });
    let frames = [
        was(json!("a")),
        message("TEXT_MESSAGE_START", "a"),
        message("TEXT_MESSAGE_END", "a"),
        message("TEXT_MESSAGE_START", "b"),
        was(json!("a")),
        was(Value::Null),
        was(json!("b")),
        message("TEXT_MESSAGE_END", "b"),
    ];
    let mut found = decode(&[&run_of(&frames)]);
    found.retain(|word| !word.starts_with("note"));
    assert_eq!(found, ["start", "text+", "text-", "text+", "text was reasoning", "text-", "finish done"]);
}

#[test]
fn every_part_left_open_is_closed_before_the_run_is() {
    let text = ModelEvent::TextDelta("Hi.".to_owned());
    let events = vec![
        text.clone(),
        call_start(0, Some("a")),
        text,
        call_start(1, Some("b")),
        ModelEvent::Finish(FinishReason::Done),
    ];
    let found = decode(&[encode(events).as_bytes()]);
    assert_eq!(
        found,
        [
            "start",
            "text+",
            "text Hi.",
            "text-",
            "call 0 weather_read id=a",
            "text+",
            "text Hi.",
            "text-",
            "call 1 weather_read id=b",
            "call- 0",
            "call- 1",
            "finish calls",
        ]
    );
}

#[test]
fn an_id_no_model_gave_is_marked_on_the_wire_and_never_sent_back_to_one() {
    let written = encode(vec![
        call_start(0, None),
        call_start(1, Some("a")),
        call_start(2, Some("a")),
        ModelEvent::Finish(FinishReason::Calls),
    ]);
    let marks = written.matches(r#""metadata":{"pagehand":{"localId":true}}"#).count();
    assert_eq!(marks, 2, "a missing id, and one given twice: {written}");
    let found = decode(&[written.as_bytes()]);
    assert_eq!(found[1..4], ["call 0 weather_read", "call 1 weather_read id=a", "call 2 weather_read"]);

    let message = Message::Assistant(answer("a1", "", vec![call("local1", None)]));
    let sent = write_input(&request(vec![message]));
    assert_eq!(sent["messages"][1]["toolCalls"][0]["metadata"], json!({ "pagehand": { "localId": true } }));
    let read = read_input(&sent).unwrap();
    let Message::Assistant(answer) = &read.messages[0] else { panic!("no answer") };
    assert_eq!(answer.calls().next().unwrap().wire_id, None);
}

// ---- RunAgentInput ----

fn request(messages: Vec<Message>) -> ModelRequest {
    ModelRequest {
        instructions: "Be brief.".to_owned(),
        messages,
        tools: vec![Arc::new(ToolOffer {
            name: "weather_read".to_owned(),
            description: "Reads the weather.".to_owned(),
            parameters: Arc::new(json!({ "type": "object" })),
        })],
        context: vec![ContextItem::new("address of the page", "/orders")],
        ..ModelRequest::new(ThreadId::from("t"), RunId::from("r"))
    }
}

fn call(id: &str, wire_id: Option<&str>) -> ToolCall {
    ToolCall {
        id: ToolCallId::from(id),
        wire_id: wire_id.map(str::to_owned),
        name: "weather_read".to_owned(),
        arguments: "{\"city\":".to_owned(),
        encrypted_value: None,
    }
}

fn answer(id: &str, text: &str, calls: Vec<ToolCall>) -> AssistantMessage {
    let mut parts: Vec<Part> = calls.into_iter().map(Part::Call).collect();
    if !text.is_empty() {
        parts.insert(0, Part::text(text.to_owned()));
    }
    AssistantMessage { id: MessageId::from(id), parts, status: MessageStatus::Complete }
}

fn result(call: &str, result: ToolResult) -> Message {
    Message::Tool(ToolMessage { id: MessageId(format!("{call}r")), result })
}

// A user, two calls (one without an id), their results.
fn thread() -> Vec<Message> {
    let mut given = call("local1", Some("call_a"));
    given.encrypted_value = Some("opaque".to_owned());
    let denied = ToolError::new("denied", "The user declined.");
    vec![
        Message::User(UserMessage::new(MessageId::from("u1"), "Weather?".to_owned())),
        Message::Assistant(answer("a1", "Looking.", vec![given, call("local2", None)])),
        result("local1", ToolResult::ok(ToolCallId::from("local1"), &json!(4))),
        result("local2", ToolResult::failed(ToolCallId::from("local2"), &denied)),
    ]
}

#[test]
fn a_request_is_written_as_a_run_agent_input() {
    let function = json!({ "name": "weather_read", "arguments": "{\"city\":" });
    let denied = r#"{"code":"denied","message":"The user declined.","retryable":false,"status":"error"}"#;
    let expected = json!({
        "threadId": "t", "runId": "r", "protocolVersion": "1.0", "state": {}, "forwardedProps": {},
        "messages": [
            { "id": "instructions", "role": "system", "content": "Be brief." },
            { "id": "u1", "role": "user", "content": "Weather?" },
            { "id": "a1", "role": "assistant", "content": "Looking.", "toolCalls": [
                { "id": "call_a", "type": "function", "function": function, "encryptedValue": "opaque" },
                { "id": "local2", "type": "function", "function": function, "metadata": { "pagehand": { "localId": true } } },
            ] },
            { "id": "local1r", "role": "tool", "toolCallId": "call_a", "content": "4" },
            { "id": "local2r", "role": "tool", "toolCallId": "local2", "content": denied, "error": "denied" },
        ],
        "tools": [{ "name": "weather_read", "description": "Reads the weather.", "parameters": { "type": "object" } }],
        "context": [{ "description": "address of the page", "value": "/orders" }],
    });
    assert_eq!(write_input(&request(thread())), expected);
}

#[test]
fn a_request_that_is_read_and_written_again_is_the_same() {
    let written = write_input(&request(thread()));
    let read = read_input(&written).unwrap();
    assert_eq!(write_input(&read), written);
    assert_eq!((read.instructions.as_str(), read.messages.len(), read.tools.len()), ("Be brief.", 4, 1));
}

#[test]
fn an_id_that_two_steps_gave_stays_apart_on_the_wire() {
    let twice =
        |at: &str| Message::Assistant(answer(&format!("a{at}"), "", vec![call(&format!("local{at}"), Some("call_0"))]));
    let done = |at: &str| result(&format!("local{at}"), ToolResult::ok(ToolCallId(format!("local{at}")), &json!(at)));
    let written = write_input(&request(vec![twice("1"), done("1"), twice("2"), done("2")]));
    let ids: Vec<&Value> = [1, 3].iter().map(|at| &written["messages"][*at]["toolCalls"][0]["id"]).collect();
    assert_eq!(ids, ["call_0", "local2"]);
    assert_eq!(written["messages"][4]["toolCallId"], "local2");
}

#[test]
fn what_other_clients_send_is_read() {
    let input = json!({ "threadId": "t", "runId": "r", "messages": [
        { "id": "1", "role": "system", "content": "A." },
        { "id": "2", "role": "developer", "content": "B." },
        { "id": "3", "role": "user", "content": [{ "type": "text", "text": "Hel" }, { "type": "text", "text": "lo" }] },
        { "id": "4", "role": "activity", "activityType": "x", "content": {} },
        { "id": "5", "role": "reasoning", "content": "Hm." },
        { "id": "6", "role": "assistant", "content": null },
    ], "tools": null, "more": 1 });
    let read = read_input(&input).unwrap();
    assert_eq!(read.instructions, "A.\n\nB.");
    assert_eq!(
        read.messages,
        [
            Message::User(UserMessage::new(MessageId::from("3"), "Hello".to_owned())),
            Message::Assistant(answer("6", "", Vec::new())),
        ]
    );
    let bare = json!({ "threadId": "t", "runId": "r", "messages": [], "tools": [{ "name": "x", "description": "" }] });
    assert_eq!(*read_input(&bare).unwrap().tools[0].parameters, json!({ "type": "object", "properties": {} }));
}

#[test]
fn a_request_that_does_not_fit_is_refused_with_its_place() {
    let messages = |list: Value| json!({ "threadId": "t", "runId": "r", "messages": list });
    let cases = [
        (json!(7), "the body must be a JSON object (RunAgentInput)"),
        (json!({ "runId": "r", "messages": [] }), "/threadId must be a string"),
        (json!({ "threadId": "t", "runId": 7, "messages": [] }), "/runId must be a string"),
        (json!({ "threadId": "t", "runId": "r" }), "/messages must be an array"),
        (messages(json!([{ "role": "user", "content": "x" }])), "/messages/0/id must be a string"),
        (messages(json!([{ "id": "1", "content": "x" }])), "/messages/0/role must be a string"),
        (messages(json!([{ "id": "1", "role": "wizard" }])), "/messages/0/role \"wizard\" is no role of AG-UI"),
        (messages(json!([{ "id": "1", "role": "user" }])), "/messages/0/content must be a string or an array of parts"),
        (
            messages(json!([{ "id": "1", "role": "user", "content": [{ "type": "image" }] }])),
            "/messages/0/content/0/source is missing",
        ),
        (messages(json!([{ "id": "1", "role": "system" }])), "/messages/0/content must be a string"),
        (messages(json!([{ "id": "1", "role": "tool", "content": "x" }])), "/messages/0/toolCallId must be a string"),
        (
            messages(
                json!([{ "id": "0", "role": "user", "content": "x" }, { "id": "1", "role": "assistant", "toolCalls": [{ "id": "c" }] }]),
            ),
            "/messages/1/toolCalls/0/function is missing",
        ),
        (
            messages(
                json!([{ "id": "1", "role": "assistant", "toolCalls": [{ "id": "c", "function": { "name": "f", "arguments": {} } }] }]),
            ),
            "/messages/0/toolCalls/0/function/arguments must be a string",
        ),
        (json!({ "threadId": "t", "runId": "r", "messages": [], "tools": {} }), "/tools must be an array"),
        (
            json!({ "threadId": "t", "runId": "r", "messages": [], "tools": [{ "name": "x" }] }),
            "/tools/0/description must be a string",
        ),
        (
            json!({ "threadId": "t", "runId": "r", "messages": [], "context": [{ "description": "x" }] }),
            "/context/0/value must be a string",
        ),
    ];
    for (input, expected) in cases {
        assert_eq!(read_input(&input).unwrap_err().to_string(), expected);
    }
}

#[test]
fn what_was_read_is_said_though_the_answer_be_cut_and_a_sign_of_life_is_one() {
    let usage = |read, written| {
        let usage = Usage { input_tokens: read, output_tokens: written, cost_micros: Some(read), ..Usage::default() };
        ModelEvent::Usage(usage)
    };
    let mut encoder = AgUiEncoder::new(ThreadId::from("t"), RunId::from("r"), 1);
    let mut stream = String::new();
    for event in [ModelEvent::Start, usage(80, 1), ModelEvent::Alive, ModelEvent::TextStart, usage(80, 7)] {
        stream += &encoder.encode(event);
    }
    assert_eq!(stream.matches("pagehand.usage").count(), 1, "what is written grows with every piece, and waits");
    stream += &encoder.cut();
    let mut decoder = AgUiDecoder::new(&ModelRequest::new(ThreadId::from("t"), RunId::from("r")));
    decoder.push(stream.as_bytes());
    decoder.finish();
    let events: Vec<ModelEvent> = std::iter::from_fn(|| decoder.next()).collect();
    assert_eq!(events, [ModelEvent::Start, usage(80, 1), ModelEvent::Alive, ModelEvent::TextStart, usage(80, 7)]);
    assert_eq!(encoder.cut(), "", "said once");
}

#[test]
fn why_a_model_refused_crosses_the_wire() {
    let mut encoder = AgUiEncoder::new(ThreadId::from("t"), RunId::from("r"), 1);
    let refused = ModelEvent::Finish(FinishReason::Refused("attack".to_owned()));
    assert_eq!(decode(&[encoder.encode(refused).as_bytes()]), ["start", "finish refused: attack"]);
}
