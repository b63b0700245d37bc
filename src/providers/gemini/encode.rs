//! A request as `generateContent` JSON. Knows nothing of the answer.

use serde_json::{Map, Value, json};

use crate::protocol::{AssistantMessage, Attachment, ModelError, ModelRequest, Part, Source, ToolOffer};
use crate::providers::history::{Said, Settled, Turn, arguments, result_object, system, turns};
use crate::providers::media::{self, Piece};
use crate::providers::names::WireIds;
use crate::providers::sealed::{open, put};
use crate::providers::target::Writing;

/// The body of `POST …:streamGenerateContent`.
pub(in crate::providers) fn encode(request: &ModelRequest, to: &Writing<'_>) -> Result<Value, ModelError> {
    let mut body = json!({ "contents": contents(request, to)? });
    let form = to.form(request);
    let system = system(request, form.is_none());
    if !system.is_empty() {
        body["systemInstruction"] = json!({ "parts": [{ "text": system }] });
    }
    if !request.tools.is_empty() {
        let declarations: Vec<Value> = request.tools.iter().map(|offer| declaration(offer, to)).collect();
        body["tools"] = json!([{ "functionDeclarations": declarations }]);
    }
    if let Some(output) = form {
        body["generationConfig"] =
            json!({ "responseMimeType": "application/json", "responseJsonSchema": output.schema });
    }
    Ok(body)
}

/// Whether a schema says nothing but that there are no arguments.
pub(in crate::providers) fn is_without_arguments(offer: &ToolOffer) -> bool {
    let properties = offer.parameters.get("properties").and_then(Value::as_object);
    let open = ["anyOf", "oneOf", "allOf", "$ref", "patternProperties"]
        .iter()
        .any(|word| offer.parameters.get(*word).is_some());
    properties.is_none_or(Map::is_empty)
        && !open
        && !offer.parameters.get("additionalProperties").is_some_and(Value::is_object)
}

fn declaration(offer: &ToolOffer, to: &Writing<'_>) -> Value {
    let mut written = json!({ "name": to.names.wire(&offer.name), "description": offer.description });
    if !is_without_arguments(offer) {
        written["parametersJsonSchema"] = (*offer.parameters).clone();
    }
    written
}

fn contents(request: &ModelRequest, to: &Writing<'_>) -> Result<Vec<Value>, ModelError> {
    let mut out: Vec<Value> = Vec::new();
    let mut said: Vec<Value> = Vec::new();
    let mut ids = WireIds::new(to.vendor.call_ids);
    for turn in turns(request) {
        match turn {
            Turn::User(message) => said.append(&mut content(message, to)?),
            Turn::Told(words) => said.push(json!({ "text": words })),
            Turn::Answer(answer, settled) => {
                // An id on one side of a turn and none on the other is refused.
                let given = settled.iter().all(|one| one.call.wire_id.is_some());
                let ids: Vec<Option<String>> = settled
                    .iter()
                    .map(|one| given.then(|| ids.take(one.call, to.names.wire(&one.call.name))))
                    .collect();
                let parts = parts(answer, &ids, to);
                if parts.is_empty() {
                    continue;
                }
                speak(&mut said, &mut out);
                // A call behind another content of the model's is refused: an answer that was paused goes on.
                match out
                    .last_mut()
                    .filter(|last| last["role"] == "model")
                    .and_then(|last| last["parts"].as_array_mut())
                {
                    Some(before) => before.extend(parts),
                    None => out.push(json!({ "role": "model", "parts": parts })),
                }
                let results: Vec<Value> = settled.iter().zip(ids).map(|(one, id)| result(one, id, to)).collect();
                if !results.is_empty() {
                    out.push(json!({ "role": "user", "parts": results }));
                }
            }
        }
    }
    speak(&mut said, &mut out);
    Ok(out)
}

fn speak(said: &mut Vec<Value>, out: &mut Vec<Value>) {
    if !said.is_empty() {
        out.push(json!({ "role": "user", "parts": std::mem::take(said) }));
    }
}

fn content(said: Said<'_>, to: &Writing<'_>) -> Result<Vec<Value>, ModelError> {
    let pieces = media::pieces(said, &to.vendor.media, to.vendor.label)?;
    let part = |piece: Piece<'_>| match piece {
        Piece::Text(words) => json!({ "text": words }),
        Piece::File(file) => file_part(file),
    };
    Ok(pieces.into_iter().map(part).collect())
}

fn file_part(file: &Attachment) -> Value {
    match &file.source {
        Source::Data(data) => json!({ "inlineData": { "mimeType": file.media_type, "data": **data } }),
        Source::Url(url) => json!({ "fileData": { "mimeType": file.media_type, "fileUri": url } }),
    }
}

fn parts(answer: &AssistantMessage, ids: &[Option<String>], to: &Writing<'_>) -> Vec<Value> {
    let mut ids = ids.iter().enumerate();
    let mut parts = Vec::new();
    let mut says = false;
    for part in &answer.parts {
        match part {
            Part::Text { text, encrypted_value } => {
                let sealed = open(encrypted_value.as_deref(), to.route).unwrap_or_default();
                if text.is_empty() && sealed.is_empty() {
                    continue;
                }
                says = true;
                let mut written = json!({ "text": text });
                put(&mut written, sealed);
                parts.push(written);
            }
            Part::Reasoning { text, encrypted_value } => {
                let Some(sealed) = open(encrypted_value.as_deref(), to.route) else { continue };
                let mut written = if text.is_empty() { json!({}) } else { json!({ "text": text }) };
                put(&mut written, sealed);
                parts.push(written);
            }
            Part::Call(call) => {
                let Some((at, id)) = ids.next() else { continue };
                says = true;
                let mut function = json!({ "name": to.names.wire(&call.name), "args": arguments(&call.arguments) });
                if let Some(id) = id {
                    function["id"] = json!(id);
                }
                let mut written = json!({ "functionCall": function });
                let own = open(call.encrypted_value.as_deref(), to.route);
                put(&mut written, own.or_else(|| to.first_call().filter(|_| at == 0)).unwrap_or_default());
                parts.push(written);
            }
        }
    }
    if says { parts } else { Vec::new() }
}

fn result(settled: &Settled<'_>, id: Option<String>, to: &Writing<'_>) -> Value {
    let mut response = json!({ "name": to.names.wire(&settled.call.name), "response": result_object(settled) });
    if let Some(id) = id {
        response["id"] = json!(id);
    }
    json!({ "functionResponse": response })
}
