//! What becomes of an answer: kept by the loop, carried over AG-UI, written again for whoever is asked next.

use pagehand::ag_ui::{read_input, write_input};
use pagehand::agent::{Config, Input, Output, Run};
use pagehand::protocol::{AssistantMessage, Message, MessageId, ModelRequest, ThreadId, ToolMessage, ToolResult};
use pagehand::providers::{Api, Target, Vendor};
use serde_json::{Map, Value};

use super::{events, request, target, user};
use crate::support::fixture;

/// What the loop keeps of an answer.
pub(super) fn kept(target: &Target, request: &ModelRequest, bytes: &[u8]) -> AssistantMessage {
    let mut run = Run::new(Config::new(ThreadId::from("t"), 7));
    run.handle(0, Input::UserMessage("Hello".into()));
    let mut call = 0;
    while let Some(output) = run.poll() {
        if let Output::CallModel { call: number, .. } = output {
            call = number;
        }
    }
    for event in events(target, request, &[bytes]) {
        run.handle(0, Input::Model { call, event });
        while run.poll().is_some() {}
    }
    run.handle(0, Input::ModelClosed { call });
    let answer = run.transcript().messages().iter().find_map(Message::answer).cloned();
    answer.unwrap_or_else(|| panic!("no answer in {}", String::from_utf8_lossy(bytes)))
}

/// The request as a gateway reads it that a page sends it to.
pub(super) fn over_ag_ui(request: &ModelRequest) -> ModelRequest {
    read_input(&write_input(request)).expect("what we write we read")
}

/// The request behind an answer, its calls answered.
pub(super) fn next(asked: &ModelRequest, answer: &AssistantMessage) -> ModelRequest {
    let mut next = asked.clone();
    next.messages.push(Message::Assistant(answer.clone()));
    for call in answer.calls() {
        let result = ToolResult { call: call.id.clone(), content: "4".to_owned(), error: None };
        next.messages.push(Message::Tool(ToolMessage { id: MessageId(format!("{}r", call.id)), result }));
    }
    next
}

/// What a body says in the model's name.
pub(super) fn said(api: Api, body: &Value) -> Vec<Value> {
    let list = |value: &Value, name: &str| value[name].as_array().cloned().unwrap_or_default();
    let by =
        |name: &str, role: &str| list(body, name).into_iter().filter(|one| one["role"] == role).collect::<Vec<_>>();
    match api {
        Api::Messages => by("messages", "assistant").iter().flat_map(|one| list(one, "content")).collect(),
        Api::GenerateContent => by("contents", "model").iter().flat_map(|one| list(one, "parts")).collect(),
        Api::ChatCompletions | Api::OllamaChat => by("messages", "assistant"),
        Api::Interactions | Api::Responses => list(body, "input")
            .into_iter()
            .filter(|one| {
                let kind = one["type"].as_str().unwrap_or_default();
                one["role"] != "user" && !matches!(kind, "user_input" | "function_result" | "function_call_output")
            })
            .collect(),
    }
}

/// An answer goes back to its own route as it came, and to no other with anything sealed.
pub(super) fn check_back(vendor: &str, file: &str, expected: &Value) {
    let home = target(vendor);
    let asked = request(vec![user("Weather?")]);
    let next = next(&asked, &kept(&home, &asked, &fixture(&format!("providers/{file}"))));
    for next in [&next, &over_ag_ui(&next)] {
        let body: Value = serde_json::from_str(&home.write(next).expect("a body").body).unwrap();
        assert_eq!(Value::from(said(home.vendor().api, &body)), *expected, "{file}");
        let other_model = Target::new(home.vendor(), "", "large", Map::new(), None);
        let other_key = Target::new(home.vendor(), "", "small", Map::new(), Some("another"));
        let others = Vendor::all().iter().filter(|other| other.name != vendor).map(|other| target(other.name));
        for other in others.chain([other_model, other_key]) {
            let body = other.write(next).expect("a body").body;
            assert!(!body.contains("SEALED"), "{file} to {}: {body}", other.vendor().name);
        }
    }
}
