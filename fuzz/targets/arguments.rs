#![no_main]

mod common;

use serde_json::json;

// Calls in pieces, as no server would send them: what a byte says of index, id, name and arguments is put into a chunk.
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let mut body = String::new();
    for pair in bytes.chunks(3) {
        let byte = |at: usize| pair.get(at).copied().unwrap_or_default();
        let (shape, text) = (byte(0), byte(2));
        let mut entry = json!({ "function": {} });
        if shape & 1 != 0 {
            entry["index"] = json!(byte(1) % 3);
        }
        match shape >> 1 & 3 {
            1 => entry["id"] = json!(format!("call_{}", byte(1) % 5)),
            2 => entry["id"] = json!(""),
            3 => entry["id"] = json!(null),
            _ => {}
        }
        match shape >> 3 & 3 {
            1 => entry["function"]["name"] = json!(format!("tool_{}", byte(1) % 2)),
            2 => entry["function"]["name"] = json!(null),
            _ => {}
        }
        entry["function"]["arguments"] = match shape >> 5 & 3 {
            0 => json!(["{", "}", "{}", "\"a\":", "1", ",", "[", "]", " "][usize::from(text) % 9]),
            1 => json!({ "a": text }),
            2 => json!(null),
            _ => json!(""),
        };
        let chunk = json!({ "choices": [{ "delta": { "tool_calls": [entry] } }] });
        body.push_str(&format!("data: {chunk}\n\n"));
    }
    body.push_str("data: [DONE]\n\n");
    common::vendor("openai_chat", body.as_bytes());
});
