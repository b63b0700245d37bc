//! What reading a model's stream costs in a page.

use js_sys::{Function, Reflect, Uint8Array};
use pagehand::ag_ui::{AgUiDecoder, AgUiEncoder};
use pagehand::protocol::{FinishReason, ModelEvent, ModelRequest, RunId, ThreadId};
use pagehand::providers::{Target, Vendor};
use serde_json::{Map, json};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use wasm_bindgen_test::{console_log, wasm_bindgen_test as test};

use crate::support::text;

const PIECE: usize = 16 * 1024;
const PIECES: usize = 32_000;

fn request() -> ModelRequest {
    ModelRequest::new(ThreadId::from("t"), RunId::from("r"))
}

fn stream(api: &str) -> Vec<u8> {
    let mut encoder = AgUiEncoder::new(ThreadId::from("t"), RunId::from("r"), 1);
    let mut out = if api == "ag_ui" { encoder.encode(ModelEvent::Start) } else { String::new() };
    for at in 0..PIECES {
        let word = [" the", " order", " is", " on its", " way", ",", " \"soon\"", " é"][at % 8];
        out.push_str(&match api {
            "openai_chat" => format!(
                "data: {}\n\n",
                json!({
                "id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1_790_000_000, "model": "m",
                "choices": [{ "index": 0, "delta": { "content": word }, "finish_reason": null }] })
            ),
            "anthropic" => format!(
                "event: content_block_delta\ndata: {}\n\n",
                json!({
                "type": "content_block_delta", "index": 0, "delta": { "type": "text_delta", "text": word } })
            ),
            _ => encoder.encode(ModelEvent::TextDelta(word.to_owned())),
        });
    }
    out.push_str(&match api {
        "openai_chat" => "data: [DONE]\n\n".to_owned(),
        "anthropic" => "data: {\"type\":\"message_stop\"}\n\n".to_owned(),
        _ => encoder.encode(ModelEvent::Finish(FinishReason::Done)),
    });
    out.into_bytes()
}

// How many characters of words are in a stream.
fn ours(api: &str, bytes: &[u8]) -> usize {
    let mut words = 0;
    let mut count = |event| {
        if let ModelEvent::TextDelta(text) = event {
            words += text.encode_utf16().count();
        }
    };
    if api == "ag_ui" {
        let mut decoder = AgUiDecoder::new(&request());
        for piece in bytes.chunks(PIECE) {
            decoder.push(piece);
            std::iter::from_fn(|| decoder.next()).for_each(&mut count);
        }
    } else {
        let target = Target::new(Vendor::find(api).unwrap(), "", "m", Map::new(), None);
        let mut decoder = target.decoder(&request());
        if api == "anthropic" {
            decoder.push(
                b"data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\"}}\n\n",
            );
        }
        for piece in bytes.chunks(PIECE) {
            decoder.push(piece);
            std::iter::from_fn(|| decoder.next()).for_each(&mut count);
        }
    }
    words
}

// `scripts/bench-codecs` puts the other there; else there is nothing to compare with.
#[test]
async fn how_fast_streams_are_read() {
    if text("/target/bench/events.js").await.is_none() {
        return;
    }
    let import = Function::new_with_args("path", "return import(path)");
    let module = import.call1(&JsValue::NULL, &"/target/bench/events.js".into()).unwrap();
    let module = JsFuture::from(module.unchecked_into::<js_sys::Promise>()).await.unwrap();
    let field = |of: &JsValue, name: &str| Reflect::get(of, &name.into()).unwrap();
    let read: Function = field(&module, "read").unchecked_into();
    console_log!("MB/s of {PIECES} pieces of text: ours, and eventsource-parser's with JSON.parse");
    for api in ["openai_chat", "anthropic", "ag_ui"] {
        let bytes = stream(api);
        let theirs = Uint8Array::from(bytes.as_slice());
        let word = field(&field(&module, "words"), api);
        let there = || read.call3(&JsValue::NULL, &theirs, &JsValue::from(PIECE as u32), &word).unwrap();
        let here = ours(api, &bytes);
        assert_eq!(there().as_f64(), Some(here as f64), "{api}: the same words");
        let rate = |ms: f64| bytes.len() as f64 / ms / 1e3;
        let (ours_ms, theirs_ms) = (best(|| _ = ours(api, &bytes)), best(|| _ = there()));
        console_log!("{api}: {:.0} : {:.0} = {:.2}", rate(ours_ms), rate(theirs_ms), theirs_ms / ours_ms);
    }
}

// Milliseconds, the best of several rounds.
fn best(mut work: impl FnMut()) -> f64 {
    let clock = web_sys::window().unwrap().performance().unwrap();
    let mut best = f64::INFINITY;
    for _ in 0..8 {
        let start = clock.now();
        work();
        best = best.min(clock.now() - start);
    }
    best
}
