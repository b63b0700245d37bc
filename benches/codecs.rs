//! What reading a model's stream costs: bytes a second of each codec, and long arguments in small pieces, which must take
//! twice as long where they are twice as long.
//!
//! `cargo bench --bench codecs`. Times are the best of several rounds.

use std::hint::black_box;
use std::time::{Duration, Instant};

use pagehand::ag_ui::{AgUiDecoder, AgUiEncoder};
use pagehand::protocol::{FinishReason, ModelEvent, ModelRequest, RunId, ThreadId};
use pagehand::providers::{Target, Vendor};
use serde_json::{Map, Value, json};

const ROUNDS: usize = 15;
// A piece of a network, as browsers and servers hand them on.
const PIECE: usize = 16 * 1024;
const APIS: [&str; 6] = ["openai_chat", "openai_responses", "anthropic", "gemini", "gemini_interactions", "ollama"];

fn main() {
    throughput();
    arguments();
    text();
}

/// 32,000 tokens of text: bytes a second, against looking at each byte once.
fn throughput() {
    println!("32,000 pieces of text");
    for api in APIS {
        let stream = words(api, 32_000);
        let looking = best(|| {
            black_box(stream.iter().filter(|byte| **byte == b'\n').count());
        });
        let reading = best(|| {
            black_box(read(api, &stream));
        });
        line(api, &stream, reading, looking);
    }
    let stream = ag_ui(32_000);
    let looking = best(|| {
        black_box(stream.iter().filter(|byte| **byte == b'\n').count());
    });
    let reading = best(|| {
        let mut decoder = AgUiDecoder::new(&request());
        for piece in stream.chunks(PIECE) {
            decoder.push(piece);
            while let Some(event) = decoder.next() {
                black_box(event);
            }
        }
        decoder.finish();
    });
    line("ag_ui", &stream, reading, looking);
}

fn line(name: &str, stream: &[u8], reading: Duration, looking: Duration) {
    let rate = stream.len() as f64 / reading.as_secs_f64() / 1e6;
    let bytes = stream.len() as f64 / 1e6;
    let ratio = reading.as_secs_f64() / looking.as_secs_f64();
    println!("  {name:20} {bytes:5.1} MB  {rate:6.0} MB/s  {ratio:6.1} x looking at each byte once");
}

/// 22 kB of arguments in pieces of 8 characters, and twice that; 2,000 pieces, and 4,000.
fn arguments() {
    println!("arguments in pieces of 8 characters");
    for api in ["openai_chat", "openai_responses", "anthropic", "gemini_interactions"] {
        let time = |pieces: usize| {
            let stream = calls(api, pieces);
            best(|| {
                black_box(read(api, &stream));
            })
        };
        let (kb22, kb44) = (time(22_000 / 8), time(44_000 / 8));
        let (half, whole) = (time(2_000), time(4_000));
        println!(
            "  {api:20} 22 kB {:5.2} ms, twice that {:4.2} x;  4,000 pieces {:5.2} ms, {:4.2} x 2,000",
            ms(kb22),
            kb44.as_secs_f64() / kb22.as_secs_f64(),
            ms(whole),
            whole.as_secs_f64() / half.as_secs_f64()
        );
    }
}

/// Text twice as long takes twice as long.
fn text() {
    println!("text of 64,000 pieces, beside 32,000");
    for api in APIS {
        let time = |pieces: usize| {
            let stream = words(api, pieces);
            best(|| {
                black_box(read(api, &stream));
            })
        };
        println!("  {api:20} {:4.2} x", time(64_000).as_secs_f64() / time(32_000).as_secs_f64());
    }
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

fn best(mut work: impl FnMut()) -> Duration {
    let round = |_| {
        let start = Instant::now();
        work();
        start.elapsed()
    };
    (0..ROUNDS).map(round).min().unwrap_or_default()
}

fn read(api: &str, stream: &[u8]) -> usize {
    let vendor = Vendor::find(api).expect("a vendor");
    let target = Target::new(vendor, "", "m", Map::new(), None);
    let mut decoder = target.decoder(&request());
    let mut events = 0;
    for piece in stream.chunks(PIECE) {
        decoder.push(piece);
        while let Some(event) = decoder.next() {
            black_box(event);
            events += 1;
        }
    }
    decoder.finish();
    let last = std::iter::from_fn(|| decoder.next()).last();
    assert!(events > 0 && last.is_none_or(|last| matches!(last, ModelEvent::Finish(_))));
    events
}

fn request() -> ModelRequest {
    ModelRequest::new(ThreadId::from("t"), RunId::from("r"))
}

// ---- streams, as each vendor's documentation writes them ----

const WORDS: [&str; 8] = [" the", " order", " is", " on its", " way", ",", " \"soon\"", " é"];

fn words(api: &str, pieces: usize) -> Vec<u8> {
    let word = |at: usize| WORDS[at % WORDS.len()];
    let (head, tail) = around(api);
    let piece = |at: usize| match api {
        "openai_chat" => chunk(&json!({ "content": word(at) }), None),
        "openai_responses" => event(&json!({
            "type": "response.output_text.delta", "sequence_number": at + 4, "item_id": "msg_1", "output_index": 0,
            "content_index": 0, "delta": word(at), "logprobs": [] })),
        "anthropic" => event(&json!({
            "type": "content_block_delta", "index": 0, "delta": { "type": "text_delta", "text": word(at) } })),
        "gemini" => data(&json!({
            "candidates": [{ "index": 0, "content": { "role": "model", "parts": [{ "text": word(at) }] } }],
            "usageMetadata": { "promptTokenCount": 80, "totalTokenCount": 84 }, "modelVersion": "m", "responseId": "r" })),
        "gemini_interactions" => step(&json!({
            "event_type": "step.delta", "index": 0, "delta": { "type": "text", "text": word(at) } })),
        _ => format!(
            "{}\n",
            json!({
            "model": "m", "created_at": "2026-11-30T10:00:00Z", "message": { "role": "assistant", "content": word(at) },
            "done": false })
        ),
    };
    let mut stream = head;
    stream.extend((0..pieces).map(piece));
    stream.push_str(&tail);
    stream.into_bytes()
}

fn calls(api: &str, pieces: usize) -> Vec<u8> {
    // One text in a JSON object, eight characters a piece.
    let mut text = format!("{{\"text\":\"{}", "abcdefg ".repeat(pieces));
    text.truncate(pieces * 8 - 2);
    text.push_str("\"}");
    let parts: Vec<&str> = (0..text.len()).step_by(8).map(|at| &text[at..(at + 8).min(text.len())]).collect();
    let mut stream = match api {
        "openai_chat" => chunk(
            &json!({ "tool_calls": [{ "index": 0, "id": "a", "type": "function", "function": { "name": "f", "arguments": "" } }] }),
            None,
        ),
        "openai_responses" => event(&json!({ "type": "response.output_item.added", "output_index": 0, "item": {
            "type": "function_call", "id": "fc_1", "call_id": "a", "name": "f", "arguments": "" } })),
        "anthropic" => event(&json!({ "type": "content_block_start", "index": 0, "content_block": {
            "type": "tool_use", "id": "a", "name": "f", "input": {} } })),
        _ => step(&json!({ "event_type": "step.start", "index": 0, "step": {
            "type": "function_call", "id": "a", "name": "f", "arguments": {} } })),
    };
    for part in parts {
        stream.push_str(&match api {
            "openai_chat" => chunk(&json!({ "tool_calls": [{ "index": 0, "function": { "arguments": part } }] }), None),
            "openai_responses" => event(&json!({
                "type": "response.function_call_arguments.delta", "sequence_number": 7, "item_id": "fc_1",
                "output_index": 0, "delta": part })),
            "anthropic" => event(&json!({ "type": "content_block_delta", "index": 0, "delta": {
                "type": "input_json_delta", "partial_json": part } })),
            _ => step(&json!({ "event_type": "step.delta", "index": 0, "delta": {
                "type": "arguments_delta", "arguments": part } })),
        });
    }
    stream.push_str(&around(api).1);
    stream.into_bytes()
}

fn around(api: &str) -> (String, String) {
    match api {
        "openai_chat" => (String::new(), chunk(&json!({}), Some("stop")) + "data: [DONE]\n\n"),
        "openai_responses" => (
            event(
                &json!({ "type": "response.output_item.added", "output_index": 0, "item": { "type": "message", "id": "msg_1" } }),
            ),
            event(&json!({ "type": "response.completed", "response": { "status": "completed" } })),
        ),
        "anthropic" => (
            event(
                &json!({ "type": "content_block_start", "index": 0, "content_block": { "type": "text", "text": "" } }),
            ),
            event(&json!({ "type": "message_stop" })),
        ),
        "gemini" => (String::new(), data(&json!({ "candidates": [{ "finishReason": "STOP" }] }))),
        "gemini_interactions" => (
            step(&json!({ "event_type": "step.start", "index": 0, "step": { "type": "model_output", "content": [] } })),
            step(&json!({ "event_type": "interaction.completed", "interaction": { "status": "completed" } })),
        ),
        _ => (String::new(), format!("{}\n", json!({ "done": true, "done_reason": "stop" }))),
    }
}

fn chunk(delta: &Value, finish: Option<&str>) -> String {
    data(&json!({
        "id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1_790_000_000, "model": "m",
        "choices": [{ "index": 0, "delta": delta, "finish_reason": finish }] }))
}

fn event(value: &Value) -> String {
    format!("event: {}\ndata: {value}\n\n", value["type"].as_str().unwrap_or_default())
}

fn step(value: &Value) -> String {
    format!("event: {}\ndata: {value}\n\n", value["event_type"].as_str().unwrap_or_default())
}

fn data(value: &Value) -> String {
    format!("data: {value}\n\n")
}

fn ag_ui(pieces: usize) -> Vec<u8> {
    let mut encoder = AgUiEncoder::new(ThreadId::from("t"), RunId::from("r"), 1);
    let mut stream = encoder.encode(ModelEvent::Start);
    for at in 0..pieces {
        stream.push_str(&encoder.encode(ModelEvent::TextDelta(WORDS[at % WORDS.len()].to_owned())));
    }
    stream.push_str(&encoder.encode(ModelEvent::Finish(FinishReason::Done)));
    stream.into_bytes()
}
