//! Names of tools that a vendor refuses: others on the wire, and ours again in what is heard.

use std::sync::Arc;

use pagehand::protocol::{
    AssistantMessage, Message, MessageId, MessageStatus, ModelEvent, ModelRequest, Part, ToolCall, ToolCallId,
    ToolOffer,
};
use pagehand::providers::{Api, Vendor};
use serde_json::{Value, json};

use super::rules::violations;
use super::threads::said;
use super::{body, events, request, target, user};

fn names() -> Vec<String> {
    let long = "x".repeat(70);
    let names = ["shop.orders/list", "shop_orders_list", "shop:orders list", "9lives", "größe", "a", "get-it"];
    names.into_iter().map(str::to_owned).chain([format!("{long}a"), format!("{long}b")]).collect()
}

fn offering(names: &[String]) -> ModelRequest {
    let offer = |name: &String| {
        Arc::new(ToolOffer {
            name: name.clone(),
            description: "Does it.".to_owned(),
            parameters: Arc::new(json!({ "type": "object", "properties": {} })),
        })
    };
    ModelRequest { tools: names.iter().map(offer).collect(), ..request(vec![user("Go.")]) }
}

/// The names of the tools in a body.
fn offered(api: Api, body: &Value) -> Vec<String> {
    let tools = if api == Api::GenerateContent { &body["tools"][0]["functionDeclarations"] } else { &body["tools"] };
    let name = |tool: &Value| tool.pointer("/function/name").unwrap_or(&tool["name"]).as_str().unwrap().to_owned();
    tools.as_array().unwrap().iter().map(name).collect()
}

/// The names that the model called, in a body.
fn called(api: Api, body: &Value) -> Vec<String> {
    let said = said(api, body);
    let calls: Vec<Value> = match api {
        Api::ChatCompletions | Api::OllamaChat => {
            said.iter().flat_map(|one| one["tool_calls"].as_array().cloned().unwrap_or_default()).collect()
        }
        _ => said,
    };
    let name = |call: &Value| {
        let name =
            call.pointer("/function/name").or_else(|| call.pointer("/functionCall/name")).or_else(|| call.get("name"));
        name.and_then(Value::as_str).map(str::to_owned)
    };
    calls.iter().filter_map(name).collect()
}

/// A stream in which a model calls these.
fn stream(api: Api, names: &[String]) -> String {
    let events: Vec<Value> = names
        .iter()
        .enumerate()
        .flat_map(|(at, name)| match api {
            Api::Messages => vec![
                json!({ "type": "content_block_start", "index": at, "content_block": { "type": "tool_use", "id": at.to_string(), "name": name, "input": {} } }),
                json!({ "type": "content_block_stop", "index": at }),
            ],
            Api::GenerateContent => {
                vec![json!({ "candidates": [{ "content": { "parts": [{ "functionCall": { "name": name, "args": {} } }] } }] })]
            }
            Api::Interactions => vec![
                json!({ "event_type": "step.start", "index": at, "step": { "type": "function_call", "id": at.to_string(), "name": name, "arguments": {} } }),
            ],
            Api::Responses => vec![
                json!({ "type": "response.output_item.done", "output_index": at, "item": { "type": "function_call", "call_id": at.to_string(), "name": name, "arguments": "{}" } }),
            ],
            Api::OllamaChat => vec![
                json!({ "message": { "tool_calls": [{ "function": { "name": name, "arguments": {} } }] }, "done": false }),
            ],
            Api::ChatCompletions => vec![
                json!({ "choices": [{ "delta": { "tool_calls": [{ "index": at, "id": at.to_string(), "function": { "name": name, "arguments": "{}" } }] } }] }),
            ],
        })
        .collect();
    let line = |event: &Value| if api == Api::OllamaChat { format!("{event}\n") } else { format!("data: {event}\n\n") };
    events.iter().map(line).collect()
}

fn calls(names: &[String]) -> Message {
    let call = |(at, name): (usize, &String)| {
        Part::Call(ToolCall {
            id: ToolCallId(format!("c{at}")),
            wire_id: Some(format!("call_{at}")),
            name: name.clone(),
            arguments: "{}".to_owned(),
            encrypted_value: None,
        })
    };
    let parts = names.iter().enumerate().map(call).collect();
    Message::Assistant(AssistantMessage { id: MessageId::from("a"), parts, status: MessageStatus::Complete })
}

#[test]
fn a_name_that_is_refused_is_another_on_the_wire_and_ours_again_in_what_is_heard() {
    let names = names();
    let asked = offering(&names);
    for vendor in Vendor::all() {
        let written = body(vendor.name, &asked);
        assert_eq!(violations(vendor, &written), [""; 0], "{}", vendor.name);
        let wire = offered(vendor.api, &written);
        for (ours, theirs) in names.iter().zip(&wire) {
            let fits = vendor.provider().is_some_and(|provider| provider.takes_name(ours));
            assert!(!fits || ours == theirs, "{}: {ours} → {theirs}", vendor.name);
        }
        let heard: Vec<String> = events(&target(vendor.name), &asked, &[stream(vendor.api, &wire).as_bytes()])
            .into_iter()
            .filter_map(|event| if let ModelEvent::CallStart { name, .. } = event { Some(name) } else { None })
            .collect();
        assert_eq!(heard, names, "{}", vendor.name);
        let mut next = asked.clone();
        next.messages.push(calls(&names));
        let written = body(vendor.name, &next);
        assert_eq!(violations(vendor, &written), [""; 0], "{}: {written:#}", vendor.name);
        assert_eq!(called(vendor.api, &written), wire, "{}", vendor.name);
    }
}

#[test]
fn a_name_that_a_model_made_up_is_one_that_is_taken_back() {
    let names = ["made up!", "", "shop.orders/list", "übung"].map(str::to_owned);
    for vendor in Vendor::all() {
        let mut next = offering(&["shop_orders_list".to_owned()]);
        next.messages.push(calls(&names));
        let written = body(vendor.name, &next);
        assert_eq!(violations(vendor, &written), [""; 0], "{}: {written:#}", vendor.name);
        let called = called(vendor.api, &written);
        assert_eq!(called.len(), names.len(), "{}: {called:?}", vendor.name);
        assert_ne!(called[2], "shop_orders_list", "{}", vendor.name);
    }
}
