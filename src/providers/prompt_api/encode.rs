//! A request as sessions and prompts. Knows nothing of the answer.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::protocol::{AssistantMessage, ModelError, ModelRequest, Part, ToolCall, ToolOffer};
use crate::providers::history::{Said, Settled, Turn, arguments, system, turns};
use crate::providers::media::{self, Media, Piece};

/// What is asked.
#[derive(Clone, Debug, PartialEq)]
pub struct Ask {
    /// The tools of the session; none where they are told in words.
    pub tools: Vec<Value>,
    /// What the session begins with.
    pub initial: Vec<Value>,
    /// What is said now.
    pub prompt: Vec<Value>,
    /// The form of the answer, as a JSON Schema.
    pub constraint: Option<Value>,
}

/// What is asked for a request; `open`: whether the browser has the open loop of tools.
///
/// # Errors
/// A file, which the model on a device takes none of.
pub fn encode(request: &ModelRequest, open: bool) -> Result<Ask, ModelError> {
    let in_words = !open && !request.tools.is_empty();
    let mut initial = Vec::new();
    let form_in_words = request.output.is_some() && !request.tools.is_empty();
    let mut told = system(request, form_in_words);
    if in_words {
        told = format!("{told}\n\n{}", tools_in_words(request)).trim().to_owned();
    }
    if !told.is_empty() {
        initial.push(json!({ "role": "system", "content": told }));
    }
    let mut prompt: Vec<Value> = Vec::new();
    for turn in turns(request) {
        match turn {
            Turn::User(said) => prompt.push(json!({ "role": "user", "content": content(said)? })),
            Turn::Told(words) => prompt.push(json!({ "role": "user", "content": words })),
            Turn::Answer(answer, settled) => {
                initial.append(&mut prompt);
                initial.push(if open { answered(answer) } else { answered_in_form(answer, in_words) });
                if !settled.is_empty() {
                    prompt.push(if open { results(&settled) } else { results_in_words(&settled) });
                }
            }
        }
    }
    let constraint = if in_words {
        Some(calls_form(request))
    } else {
        request.output.as_ref().filter(|_| request.tools.is_empty()).map(|output| output.schema.clone())
    };
    let tools = if open {
        let tool = |offer: &Arc<ToolOffer>| json!({ "name": offer.name, "description": offer.description, "inputSchema": *offer.parameters });
        request.tools.iter().map(tool).collect()
    } else {
        Vec::new()
    };
    Ok(Ask { tools, initial, prompt, constraint })
}

fn content(said: Said<'_>) -> Result<String, ModelError> {
    let pieces = media::pieces(said, &Media::NONE, "the model on this device")?;
    let words = pieces.into_iter().filter_map(|piece| match piece {
        Piece::Text(words) => Some(words),
        Piece::File(_) => None,
    });
    Ok(words.collect::<Vec<_>>().join("\n\n"))
}

fn answered(answer: &AssistantMessage) -> Value {
    let part = |part: &Part| match part {
        Part::Text { text, .. } if !text.is_empty() => Some(json!({ "type": "text", "value": text })),
        Part::Text { .. } | Part::Reasoning { .. } => None,
        Part::Call(call) => {
            let value = json!({ "callID": "", "name": call.name, "arguments": arguments(&call.arguments) });
            Some(json!({ "type": "tool-call", "value": value }))
        }
    };
    let content: Vec<Value> = answer.parts.iter().filter_map(part).collect();
    json!({ "role": "assistant", "content": content })
}

fn results(settled: &[Settled<'_>]) -> Value {
    let result = |one: &Settled<'_>| {
        let mut value = json!({ "callID": "", "name": one.call.name });
        if one.is_error() {
            value["errorMessage"] = json!(one.content());
        } else {
            let result = match serde_json::from_str::<Value>(one.content()) {
                Ok(object @ Value::Object(_)) => json!({ "type": "object", "value": object }),
                _ => json!({ "type": "text", "value": one.content() }),
            };
            value["result"] = json!([result]);
        }
        json!({ "type": "tool-response", "value": value })
    };
    json!({ "role": "user", "content": settled.iter().map(result).collect::<Vec<_>>() })
}

fn answered_in_form(answer: &AssistantMessage, in_words: bool) -> Value {
    if !in_words {
        return json!({ "role": "assistant", "content": answer.text() });
    }
    let call = |call: &ToolCall| json!({ "name": call.name, "arguments": arguments(&call.arguments) });
    let calls: Vec<Value> = answer.calls().map(call).collect();
    json!({ "role": "assistant", "content": json!({ "say": answer.text(), "calls": calls }).to_string() })
}

fn results_in_words(settled: &[Settled<'_>]) -> Value {
    let line = |one: &Settled<'_>| format!("{}: {}", one.call.name, one.content());
    let lines: Vec<String> = settled.iter().map(line).collect();
    json!({ "role": "user", "content": format!("[What the calls came to:\n{}]", lines.join("\n")) })
}

fn tools_in_words(request: &ModelRequest) -> String {
    let line =
        |offer: &Arc<ToolOffer>| format!("- {}: {} Arguments: {}", offer.name, offer.description, offer.parameters);
    let lines: Vec<String> = request.tools.iter().map(line).collect();
    format!(
        "You can call these tools:\n{}\nAnswer with JSON: \"say\" is what the user reads, \"calls\" are the calls you want \
         to make now, none where you are done. What they come to is told to you next.",
        lines.join("\n")
    )
}

fn calls_form(request: &ModelRequest) -> Value {
    let names: Vec<&str> = request.tools.iter().map(|offer| offer.name.as_str()).collect();
    let call = json!({
        "type": "object", "required": ["name", "arguments"],
        "properties": { "name": { "enum": names }, "arguments": { "type": "object" } },
    });
    json!({
        "type": "object", "required": ["say", "calls"],
        "properties": { "say": { "type": "string" }, "calls": { "type": "array", "items": call } },
    })
}
