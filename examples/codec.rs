//! Codecs at the end of a pipe, for tests against other implementations: one JSON command a line in, one answer a line out.
//!
//! ```text
//! {"do": "write", "vendor": "anthropic", "input": {RunAgentInput}}         → {"url", "headers", "body"} or {"error"}
//! {"do": "read", "vendor": "anthropic", "input": {…}, "bytes": "base64"}   → {"text", "reasoning", "calls", "finish",
//!                                                                             "error", "usage", "messages"}
//! ```
//!
//! `messages` is the answer as AG-UI sends it back, to be put among the `messages` of a next input.

use std::io::{BufRead, Write};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use pagehand::ag_ui::{AgUiDecoder, AgUiEncoder, read_input, write_input};
use pagehand::agent::{Config, Input, Output, Run};
use pagehand::protocol::{Message, ModelEvent, ModelRequest, Part, RunId, ThreadId};
use pagehand::providers::{Target, Vendor};
use serde_json::{Map, Value, json};

fn main() -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let answer = serde_json::from_str(&line?).map_err(|why| why.to_string()).and_then(|line| perform(&line));
        writeln!(out, "{}", answer.unwrap_or_else(|why| json!({ "error": why })))?;
        out.flush()?;
    }
    Ok(())
}

fn perform(command: &Value) -> Result<Value, String> {
    let text = |name: &str| command.get(name).and_then(Value::as_str).unwrap_or_default();
    let vendor = Vendor::find(text("vendor")).ok_or_else(|| format!("no vendor \"{}\"", text("vendor")))?;
    let parameters = command.get("parameters").and_then(Value::as_object).cloned().unwrap_or_default();
    let model = if text("model").is_empty() { "small" } else { text("model") };
    let target = Target::new(vendor, text("url"), model, parameters, None);
    let request = read_input(command.get("input").unwrap_or(&Value::Null)).map_err(|why| why.to_string())?;
    match text("do") {
        "write" => {
            let post = target.write(&request).map_err(|error| error.message)?;
            let body: Value = serde_json::from_str(&post.body).map_err(|why| why.to_string())?;
            let headers: Map<String, Value> =
                post.headers.iter().map(|(name, value)| ((*name).to_owned(), Value::from(*value))).collect();
            Ok(json!({ "url": post.url, "headers": headers, "body": body }))
        }
        "read" => {
            let bytes = STANDARD.decode(text("bytes")).map_err(|why| why.to_string())?;
            let mut decoder = target.decoder(&request);
            decoder.push(&bytes);
            decoder.finish();
            Ok(read(&request, std::iter::from_fn(|| decoder.next()).collect()))
        }
        other => Err(format!("there is no \"{other}\"; there are read and write")),
    }
}

/// What a page makes of these events: through AG-UI and the loop, as behind a gateway.
fn read(request: &ModelRequest, events: Vec<ModelEvent>) -> Value {
    let mut said = json!({ "text": "", "reasoning": "", "calls": [], "finish": null, "error": null, "usage": null });
    let mut encoder = AgUiEncoder::new(ThreadId::from("t"), RunId::from("r"), 1);
    let mut decoder = AgUiDecoder::new(request);
    for event in events {
        match &event {
            ModelEvent::Finish(reason) => said["finish"] = json!(reason.as_str()),
            ModelEvent::Error(error) => {
                said["error"] = json!({
                    "kind": error.kind.as_str(), "message": error.message, "retryAfterMs": error.retry_after_ms,
                    "retry": error.retry,
                });
            }
            ModelEvent::Usage(usage) => {
                said["usage"] = json!({
                    "input": usage.input_tokens, "output": usage.output_tokens, "cached": usage.cached_tokens,
                    "reasoning": usage.reasoning_tokens,
                });
            }
            _ => {}
        }
        decoder.push(encoder.encode(event).as_bytes());
    }
    decoder.finish();
    let Some(answer) = answer(std::iter::from_fn(|| decoder.next()).collect()) else { return said };
    for part in &answer_parts(&answer) {
        match part {
            Part::Text { text, .. } => {
                said["text"] = json!(format!("{}{text}", said["text"].as_str().unwrap_or_default()));
            }
            Part::Reasoning { text, .. } => {
                said["reasoning"] = json!(format!("{}{text}", said["reasoning"].as_str().unwrap_or_default()));
            }
            Part::Call(call) => {
                if let Value::Array(calls) = &mut said["calls"] {
                    calls.push(json!({ "id": call.wire_id, "name": call.name, "arguments": call.arguments }));
                }
            }
        }
    }
    let sent = write_input(&ModelRequest { messages: vec![answer], instructions: String::new(), ..request.clone() });
    said["messages"] = sent["messages"].clone();
    said
}

fn answer_parts(message: &Message) -> Vec<Part> {
    message.answer().map(|answer| answer.parts.clone()).unwrap_or_default()
}

fn answer(events: Vec<ModelEvent>) -> Option<Message> {
    let mut run = Run::new(Config::new(ThreadId::from("t"), 7));
    run.handle(0, Input::UserMessage("Hello".into()));
    let mut call = 0;
    while let Some(output) = run.poll() {
        if let Output::CallModel { call: number, .. } = output {
            call = number;
        }
    }
    for event in events {
        run.handle(0, Input::Model { call, event });
        while run.poll().is_some() {}
    }
    run.handle(0, Input::ModelClosed { call });
    run.transcript().messages().iter().find(|message| matches!(message, Message::Assistant(_))).cloned()
}
