//! What each API refuses in a body, or misunderstands, as code: written from the vendors' references, not from our codecs.
//!
//! The first tests break a good body in one place each, so that every rule is seen to be kept.

use std::collections::BTreeSet;

use pagehand::providers::{Api, Vendor};
use serde_json::{Value, json};

use super::{asked, attached, body, followed, here, without_tools};

/// What is wrong with a body; empty where nothing is.
pub(super) fn violations(vendor: &Vendor, body: &Value) -> Vec<String> {
    let mut found = Vec::new();
    match vendor.api {
        Api::Messages => messages(body, &mut found),
        Api::GenerateContent => generate_content(body, &mut found),
        Api::Interactions => interactions(body, &mut found),
        Api::Responses => responses(body, &mut found),
        Api::OllamaChat => ollama(body, &mut found),
        Api::ChatCompletions => chat(vendor.name, body, &mut found),
    }
    found
}

const MODEL_LAST: &str = "the model has the last word";

fn list<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value.get(name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

fn is_plain(text: &str, more: &str, most: usize) -> bool {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || more.contains(letter);
    !text.is_empty() && text.len() <= most && text.chars().all(plain)
}

fn is_name(name: &str) -> bool {
    is_plain(name, "_-", 64)
}

fn is_anthropic_name(name: &str) -> bool {
    is_plain(name, "_-", 128)
}

// A letter or `_` first; then letters, digits and `_ . : -`.
fn is_gemini_name(name: &str) -> bool {
    is_plain(name, "_.:-", 128) && name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
}

fn check_tools<'a>(
    tools: impl Iterator<Item = (&'a str, Option<&'a Value>)>,
    takes: fn(&str) -> bool,
    most: usize,
    found: &mut Vec<String>,
) {
    let mut names = BTreeSet::new();
    for (name, schema) in tools {
        if !takes(name) {
            found.push(format!("a tool's name is refused: {name}"));
        }
        if !names.insert(name.to_lowercase()) {
            found.push(format!("two tools have one name: {name}"));
        }
        if schema.is_some_and(|schema| schema["type"] != "object") {
            found.push(format!("a schema is no object: {name}"));
        }
    }
    if names.len() > most {
        found.push("there are too many tools".to_owned());
    }
}

/// Calls and results by their ids: each call unique, with exactly one result before anything else is said.
struct Pairs<'a> {
    seen: BTreeSet<&'a str>,
    due: Vec<&'a str>,
    in_order: bool,
}

impl<'a> Pairs<'a> {
    fn new(in_order: bool) -> Self {
        Self { seen: BTreeSet::new(), due: Vec::new(), in_order }
    }

    fn call(&mut self, id: &'a str, takes: impl Fn(&str) -> bool, found: &mut Vec<String>) {
        if !takes(id) {
            found.push(format!("a call's id is refused: {id}"));
        }
        if !self.seen.insert(id) {
            found.push(format!("two calls have one id: {id}"));
        }
        self.due.push(id);
    }

    fn result(&mut self, id: &str, found: &mut Vec<String>) {
        match self.due.iter().position(|due| *due == id) {
            None => found.push(format!("a result answers nothing: {id}")),
            Some(at) => {
                if at > 0 && self.in_order {
                    found.push(format!("a result is out of order: {id}"));
                }
                self.due.remove(at);
            }
        }
    }

    fn settle(&mut self, found: &mut Vec<String>) {
        for id in self.due.drain(..) {
            found.push(format!("a call has no result: {id}"));
        }
    }
}

// ---- Anthropic Messages ----

fn messages(body: &Value, found: &mut Vec<String>) {
    if body["max_tokens"].as_u64().is_none_or(|most| most == 0) {
        found.push("max_tokens is missing".to_owned());
    }
    let tools = list(body, "tools");
    check_tools(
        tools.iter().map(|tool| (text(tool, "name"), tool.get("input_schema"))),
        is_anthropic_name,
        usize::MAX,
        found,
    );
    let messages = list(body, "messages");
    if messages.first().is_none_or(|first| first["role"] != "user") {
        found.push("the user has not the first word".to_owned());
    }
    let mut pairs = Pairs::new(false);
    for message in messages {
        let content = list(message, "content");
        if content.is_empty() {
            found.push("a message is empty".to_owned());
        }
        let is_result = |block: &Value| block["type"] == "tool_result";
        if message["role"] == "user" {
            let first_other = content.iter().position(|block| !is_result(block)).unwrap_or(content.len());
            for (at, block) in content.iter().enumerate().filter(|(_, block)| is_result(block)) {
                if at > first_other {
                    found.push("a result stands behind other blocks".to_owned());
                }
                pairs.result(text(block, "tool_use_id"), found);
            }
        }
        pairs.settle(found);
        let thought = |block: &Value| matches!(text(block, "type"), "thinking" | "redacted_thinking");
        if !content.is_empty() && content.iter().all(thought) {
            found.push("a message is thoughts alone".to_owned());
        }
        for block in content {
            match text(block, "type") {
                "text" if text(block, "text").trim().is_empty() => found.push("a text is empty".to_owned()),
                "thinking" if text(block, "signature").is_empty() => found.push("a thought is not signed".to_owned()),
                "redacted_thinking" if text(block, "data").is_empty() => {
                    found.push("a thought is not signed".to_owned());
                }
                "tool_use" => {
                    pairs.call(text(block, "id"), |id| is_plain(id, "_-", 64), found);
                    if !is_anthropic_name(text(block, "name")) {
                        found.push(format!("a called name is refused: {}", block["name"]));
                    }
                    if !block["input"].is_object() {
                        found.push("arguments are no object".to_owned());
                    }
                    if tools.is_empty() {
                        found.push("no tools are declared although some were called".to_owned());
                    }
                }
                "" => found.push("a block has no type".to_owned()),
                _ => {}
            }
        }
    }
    pairs.settle(found);
    // But for what the server's own tools left unfinished, which goes on by itself.
    let ours = |block: &Value| matches!(text(block, "type"), "text" | "thinking" | "redacted_thinking" | "tool_use");
    if messages.last().is_some_and(|last| last["role"] == "assistant" && list(last, "content").iter().all(ours)) {
        found.push(MODEL_LAST.to_owned());
    }
}

// ---- Gemini generateContent ----

const GEMINI_KINDS: &[&str] =
    &["text", "functionCall", "functionResponse", "inlineData", "fileData", "executableCode", "codeExecutionResult"];

fn generate_content(body: &Value, found: &mut Vec<String>) {
    let declarations = list(body, "tools").iter().flat_map(|tool| list(tool, "functionDeclarations"));
    for declaration in declarations.clone() {
        if declaration.get("parameters").is_some() && declaration.get("parametersJsonSchema").is_some() {
            found.push("a tool has two schemas".to_owned());
        }
        let empty = |schema: &Value| schema["properties"].as_object().is_none_or(serde_json::Map::is_empty);
        if declaration.get("parametersJsonSchema").is_some_and(empty) {
            found.push("a schema has no properties".to_owned());
        }
    }
    check_tools(declarations.map(|one| (text(one, "name"), None)), is_gemini_name, 512, found);
    let contents = list(body, "contents");
    if contents.first().is_none_or(|first| first["role"] != "user") {
        found.push("the user has not the first word".to_owned());
    }
    let mut due: Vec<&Value> = Vec::new();
    let mut before = "";
    for content in contents {
        let (role, parts) = (text(content, "role"), list(content, "parts"));
        if !matches!(role, "user" | "model") {
            found.push(format!("a role is unknown: {role}"));
        }
        if parts.is_empty() {
            found.push("a content is empty".to_owned());
        }
        for part in parts {
            let kinds = GEMINI_KINDS.iter().filter(|kind| part.get(**kind).is_some()).count();
            // One that nobody knows yet has another name.
            let unknown = part.as_object().is_some_and(|part| part.contains_key("hologram"));
            if kinds != 1 && !unknown {
                found.push(format!("a part is not of one kind: {part}"));
            }
            if part.pointer("/functionCall/thoughtSignature").is_some() {
                found.push("a signature stands inside a call".to_owned());
            }
        }
        let of = |kind: &str| parts.iter().filter_map(|part| part.get(kind)).collect::<Vec<_>>();
        answer_calls(&std::mem::take(&mut due), &of("functionResponse"), found);
        let calls = of("functionCall");
        if !calls.is_empty() {
            if role != "model" || before != "user" {
                found.push("a call does not follow the user".to_owned());
            }
            let signed = parts.iter().find(|part| part.get("functionCall").is_some());
            if signed.is_none_or(|part| text(part, "thoughtSignature").is_empty()) {
                found.push("the first call of a step is not signed".to_owned());
            }
            for call in &calls {
                if !is_gemini_name(text(call, "name")) {
                    found.push(format!("a called name is refused: {}", call["name"]));
                }
                if call.get("args").is_some_and(|args| !args.is_object()) {
                    found.push("arguments are no object".to_owned());
                }
            }
        }
        (due, before) = (calls, role);
    }
    answer_calls(&due, &[], found);
    if before == "model" {
        found.push(MODEL_LAST.to_owned());
    }
}

fn answer_calls(calls: &[&Value], results: &[&Value], found: &mut Vec<String>) {
    if calls.len() != results.len() {
        found.push(format!("there are {} results for {} calls", results.len(), calls.len()));
    }
    for (call, result) in calls.iter().zip(results) {
        if call["name"] != result["name"] || call.get("id") != result.get("id") {
            found.push("a result is another call's".to_owned());
        }
        if !result["response"].is_object() {
            found.push("a result is no object".to_owned());
        }
    }
}

// ---- Gemini Interactions ----

fn interactions(body: &Value, found: &mut Vec<String>) {
    if body.get("model").is_some() == body.get("agent").is_some() {
        found.push("there must be a model or an agent".to_owned());
    }
    if body["store"] != false || body.get("previous_interaction_id").is_some() {
        found.push("it is not stateless".to_owned());
    }
    let tools = list(body, "tools").iter().map(|tool| (text(tool, "name"), tool.get("parameters")));
    check_tools(tools, is_gemini_name, 512, found);
    let steps = list(body, "input");
    if steps.first().is_none_or(|first| first["type"] != "user_input") {
        found.push("the user has not the first word".to_owned());
    }
    let mut pairs = Pairs::new(false);
    for step in steps {
        match text(step, "type") {
            "function_result" => {
                pairs.result(text(step, "call_id"), found);
                if step.get("result").is_none() {
                    found.push("a result is missing".to_owned());
                }
                continue;
            }
            "function_call" => {
                pairs.call(text(step, "id"), |id| !id.is_empty(), found);
                if !step["arguments"].is_object() {
                    found.push("arguments are no object".to_owned());
                }
                if !is_gemini_name(text(step, "name")) {
                    found.push(format!("a called name is refused: {}", step["name"]));
                }
                continue;
            }
            "thought" if text(step, "signature").is_empty() => found.push("a thought is not signed".to_owned()),
            "user_input" => pairs.settle(found),
            "" => found.push("a step has no type".to_owned()),
            _ => {}
        }
        let words = |kind: &str| kind == "user_input" || kind == "model_output";
        if words(text(step, "type")) && list(step, "content").is_empty() {
            found.push("a step is empty".to_owned());
        }
        let known = |name: &String| matches!(name.as_str(), "type" | "content");
        if words(text(step, "type")) && !step.as_object().is_some_and(|step| step.keys().all(known)) {
            found.push("a field of a content stands on its step".to_owned());
        }
    }
    pairs.settle(found);
    if steps.last().is_some_and(|last| !matches!(text(last, "type"), "user_input" | "function_result")) {
        found.push(MODEL_LAST.to_owned());
    }
}

// ---- OpenAI Responses ----

fn responses(body: &Value, found: &mut Vec<String>) {
    if body["store"] != false || body.get("previous_response_id").is_some() {
        found.push("it is not stateless".to_owned());
    }
    let tools = list(body, "tools");
    if tools.iter().any(|tool| tool.get("function").is_some()) {
        found.push("a tool is not flat".to_owned());
    }
    check_tools(tools.iter().map(|tool| (text(tool, "name"), tool.get("parameters"))), is_name, 128, found);
    let items = list(body, "input");
    let mut pairs = Pairs::new(false);
    for (at, item) in items.iter().enumerate() {
        match text(item, "type") {
            "function_call" => {
                pairs.call(text(item, "call_id"), |id| !id.is_empty() && id.len() <= 64, found);
                check_arguments(&item["arguments"], found);
                if !is_name(text(item, "name")) {
                    found.push(format!("a called name is refused: {}", item["name"]));
                }
                if item.get("id").is_some_and(|id| !id.as_str().is_some_and(|id| id.starts_with("fc"))) {
                    found.push(format!("an item's id is refused: {}", item["id"]));
                }
            }
            "function_call_output" => {
                pairs.result(text(item, "call_id"), found);
                if !item["output"].is_string() {
                    found.push("a result is missing".to_owned());
                }
            }
            "reasoning" => {
                if text(item, "encrypted_content").is_empty() {
                    found.push("a thought can not be found by its id".to_owned());
                }
                let next = items.get(at + 1).map_or("", |next| text(next, "type"));
                let own = items.get(at + 1).is_some_and(|next| next["role"] != "user");
                if !own || next == "function_call_output" {
                    found.push("a thought stands without its item".to_owned());
                }
            }
            "message" => {
                let kind = if item["role"] == "user" { "input_" } else { "" };
                if list(item, "content").is_empty() {
                    found.push("a message is empty".to_owned());
                }
                for part in list(item, "content") {
                    let word = text(part, "type");
                    if !(word.starts_with(kind) && (kind == "input_" || matches!(word, "output_text" | "refusal"))) {
                        found.push(format!("a content is of the wrong kind: {word}"));
                    }
                }
                if item["role"] == "user" {
                    pairs.settle(found);
                }
            }
            "" => found.push("an item has no type".to_owned()),
            _ => {}
        }
    }
    pairs.settle(found);
    if items.last().is_some_and(|last| last["role"] != "user" && last["type"] != "function_call_output") {
        found.push(MODEL_LAST.to_owned());
    }
}

fn check_arguments(arguments: &Value, found: &mut Vec<String>) {
    let value = arguments.as_str().map(serde_json::from_str::<Value>);
    if !matches!(value, Some(Ok(Value::Object(_)))) {
        found.push(format!("arguments are no object in a text: {arguments}"));
    }
}

// ---- Ollama ----

fn ollama(body: &Value, found: &mut Vec<String>) {
    let tools = list(body, "tools").iter().map(|tool| (text(&tool["function"], "name"), None));
    check_tools(tools, |name| !name.is_empty(), usize::MAX, found);
    let mut due: Vec<&Value> = Vec::new();
    for message in list(body, "messages") {
        if !message["content"].is_string() {
            found.push("a content is no text".to_owned());
        }
        if message["role"] == "tool" {
            match due.first().copied() {
                None => found.push("a result answers nothing".to_owned()),
                Some(call) => {
                    if message["tool_name"] != call["function"]["name"] || message.get("tool_call_id") != call.get("id")
                    {
                        found.push("a result is another call's".to_owned());
                    }
                    due.remove(0);
                }
            }
            continue;
        }
        if !due.is_empty() {
            found.push("a call has no result".to_owned());
        }
        due = list(message, "tool_calls").iter().collect();
        if due.iter().any(|call| !call["function"]["arguments"].is_object()) {
            found.push("arguments are no object".to_owned());
        }
        let silent = text(message, "content").is_empty() && due.is_empty();
        if message["role"] == "assistant" && silent {
            found.push("an answer is empty".to_owned());
        }
    }
    if !due.is_empty() {
        found.push("a call has no result".to_owned());
    }
    end_of_messages(body, found);
}

fn end_of_messages(body: &Value, found: &mut Vec<String>) {
    if list(body, "messages").last().is_some_and(|last| last["role"] == "assistant") {
        found.push(MODEL_LAST.to_owned());
    }
}

// ---- Chat Completions ----

fn chat(vendor: &str, body: &Value, found: &mut Vec<String>) {
    if body.get("tools").is_some() && list(body, "tools").is_empty() {
        found.push("the list of tools is empty".to_owned());
    }
    if body.get("tools").is_none() && body.get("parallel_tool_calls").is_some() {
        found.push("parallel calls are asked for without tools".to_owned());
    }
    let tools = list(body, "tools").iter().map(|tool| &tool["function"]);
    let takes = match vendor {
        "gemini_openai" => is_gemini_name,
        "ollama_openai" | "llama_cpp" => |name: &str| !name.is_empty(),
        _ => is_name,
    };
    check_tools(tools.map(|tool| (text(tool, "name"), tool.get("parameters"))), takes, 128, found);
    if vendor == "mistral" && body.get("stream_options").is_some() {
        found.push("a field is refused: stream_options".to_owned());
    }
    let mut pairs = Pairs::new(true);
    let (mut count, mut before) = (0, "");
    for (at, message) in list(body, "messages").iter().enumerate() {
        let role = text(message, "role");
        if vendor == "mistral" && role == "user" && before == "tool" {
            found.push("the user speaks right behind a result".to_owned());
        }
        before = role;
        if role == "tool" {
            pairs.result(text(message, "tool_call_id"), found);
            if !message["content"].is_string() {
                found.push("a result is missing".to_owned());
            }
            continue;
        }
        pairs.settle(found);
        match role {
            "system" if at > 0 => found.push("a system message is not the first".to_owned()),
            "user" if !message["content"].is_string() && list(message, "content").is_empty() => {
                found.push("a message is empty".to_owned());
            }
            "system" | "user" => {}
            "assistant" => {
                let calls = list(message, "tool_calls");
                if message.get("tool_calls").is_some() && calls.is_empty() {
                    found.push("the list of calls is empty".to_owned());
                }
                if calls.len() > 128 {
                    found.push("there are too many calls".to_owned());
                }
                if calls.is_empty() && text(message, "content").is_empty() {
                    found.push("an answer is empty".to_owned());
                }
                let wants_thoughts = matches!(vendor, "deepseek" | "kimi");
                // An empty one is none.
                if wants_thoughts && !calls.is_empty() && text(message, "reasoning_content").is_empty() {
                    found.push("thoughts do not come back".to_owned());
                }
                if !wants_thoughts && message.get("reasoning_content").is_some() {
                    found.push("thoughts come back where nobody wants them".to_owned());
                }
                let signature = "/extra_content/google/thought_signature";
                let unsigned = calls.first().is_some_and(|call| call.pointer(signature).is_none());
                if vendor == "gemini_openai" && unsigned {
                    found.push("the first call of a step is not signed".to_owned());
                }
                for call in calls {
                    let name = text(&call["function"], "name");
                    let own = |id: &str| match vendor {
                        "mistral" => id.len() == 9 && is_plain(id, "", 9),
                        "kimi" => id == format!("functions.{name}:{count}"),
                        _ => !id.is_empty() && id.len() <= 40,
                    };
                    pairs.call(text(call, "id"), own, found);
                    count += 1;
                    if !takes(name) {
                        found.push(format!("a called name is refused: {name}"));
                    }
                    check_arguments(&call["function"]["arguments"], found);
                    if call["type"] != "function" {
                        found.push("a call has no type".to_owned());
                    }
                }
            }
            other => found.push(format!("a role is unknown: {other}")),
        }
    }
    pairs.settle(found);
    end_of_messages(body, found);
}

// ---- the rules are kept ----

fn vendor(name: &str) -> &'static Vendor {
    Vendor::find(name).unwrap()
}

fn good(name: &str) -> Value {
    let mut request = followed(Some(["aaaaaaaa1", "aaaaaaaa2"]));
    request.messages.push(super::user("And now?"));
    body(name, &request)
}

#[test]
fn a_good_body_breaks_no_rule() {
    for vendor in Vendor::all() {
        for body in [good(vendor.name), body(vendor.name, &asked()), body(vendor.name, &without_tools(followed(None)))]
        {
            assert_eq!(violations(vendor, &body), [""; 0], "{}: {body:#}", vendor.name);
        }
        let file = body(vendor.name, &attached(&[here("a.txt", "text/plain")]));
        assert_eq!(violations(vendor, &file), [""; 0], "{}: {file:#}", vendor.name);
    }
}

/// A good body with this in that place (or without it, for null) is found to be broken.
fn check(name: &str, place: &str, value: &Value, words: &str) {
    let mut broken = good(name);
    let (parent, last) = place.rsplit_once('/').unwrap();
    let parent = broken.pointer_mut(parent).unwrap_or_else(|| panic!("{name} has no {place}"));
    match (parent, value) {
        (Value::Object(object), Value::Null) => drop(object.remove(last).unwrap_or_else(|| panic!("no {place}"))),
        (Value::Object(object), _) => drop(object.insert(last.to_owned(), value.clone())),
        (Value::Array(list), Value::Null) => drop(list.remove(last.parse::<usize>().unwrap())),
        (Value::Array(list), _) => list.insert(last.parse().unwrap(), value.clone()),
        (parent, _) => panic!("{name}: {parent} holds nothing"),
    }
    let found = violations(vendor(name), &broken);
    assert!(
        found.iter().any(|one| one.starts_with(words)),
        "{name}: {place} = {value} should be \"{words}\": {found:?}"
    );
}

#[test]
fn a_body_that_breaks_a_rule_of_anthropic_is_caught() {
    let check = |place: &str, value: Value, words: &str| check("anthropic", place, &value, words);
    check("/max_tokens", Value::Null, "max_tokens is missing");
    check("/tools", Value::Null, "no tools are declared");
    check("/tools/0/name", json!("a.b"), "a tool's name is refused");
    check("/tools/0/name", json!("Get_Time"), "two tools have one name");
    check("/tools/0/input_schema", json!({}), "a schema is no object");
    check("/messages/0", Value::Null, "the user has not the first word");
    check("/messages/0/content", json!([]), "a message is empty");
    check("/messages/0/content/0/text", json!(" "), "a text is empty");
    check("/messages/1/content/1/id", json!("functions.x:0"), "a call's id is refused");
    check("/messages/1/content/1/id", json!("aaaaaaaa2"), "two calls have one id");
    check("/messages/1/content/1/name", json!("a/b"), "a called name is refused");
    check("/messages/1/content/1/input", json!("{}"), "arguments are no object");
    check("/messages/1/content/0", json!({ "type": "thinking", "thinking": "Hm." }), "a thought is not signed");
    check("/messages/1/content/0", json!({ "type": "redacted_thinking" }), "a thought is not signed");
    check("/messages/1/content/0", json!({ "text": "Hm." }), "a block has no type");
    let thought = json!({ "type": "thinking", "thinking": "Hm.", "signature": "s" });
    check("/messages/1", json!({ "role": "assistant", "content": [thought] }), "a message is thoughts alone");
    check("/messages/2/content/0", Value::Null, "a call has no result");
    check("/messages/2/content/0", json!({ "type": "text", "text": "x" }), "a result stands behind other blocks");
    check("/messages/2/content/0/tool_use_id", json!("other"), "a result answers nothing");
    check("/messages/3", json!({ "role": "assistant", "content": [{ "type": "text", "text": "x" }] }), MODEL_LAST);
    let again = json!({ "type": "tool_result", "tool_use_id": "aaaaaaaa1", "content": "4" });
    check("/messages/2/content/0", again, "a result answers nothing");
    check(
        "/messages/2",
        json!({ "role": "user", "content": [{ "type": "text", "text": "x" }] }),
        "a call has no result",
    );
}

#[test]
fn a_body_that_breaks_a_rule_of_gemini_is_caught() {
    let check = |place: &str, value: Value, words: &str| check("gemini", place, &value, words);
    check("/tools/0/functionDeclarations/0/parameters", json!({}), "a tool has two schemas");
    let empty = json!({ "type": "object" });
    check("/tools/0/functionDeclarations/1/parametersJsonSchema", empty, "a schema has no properties");
    check("/tools/0/functionDeclarations/0/name", json!("9lives"), "a tool's name is refused");
    check("/contents/0", Value::Null, "the user has not the first word");
    check("/contents/0/parts", json!([]), "a content is empty");
    check("/contents/0/parts/0", json!({ "text": "a", "inlineData": {} }), "a part is not of one kind");
    check("/contents/0/parts/0", json!({ "thought": true }), "a part is not of one kind");
    check("/contents/1/parts/1/functionCall/thoughtSignature", json!("s"), "a signature stands inside a call");
    check("/contents/1/parts/1/thoughtSignature", Value::Null, "the first call of a step is not signed");
    check("/contents/1/parts/1/functionCall/args", json!("{}"), "arguments are no object");
    check("/contents/1/parts/1/functionCall/name", json!("a b"), "a called name is refused");
    check("/contents/1", json!({ "role": "model", "parts": [{ "text": "x" }] }), "a call does not follow the user");
    check("/contents/2", json!({ "role": "user", "parts": [{ "text": "x" }] }), "there are 0 results for 2 calls");
    check("/contents/2/parts/0", Value::Null, "there are 1 results for 2 calls");
    check("/contents/2/parts/0/functionResponse/id", Value::Null, "a result is another call's");
    check("/contents/2/parts/0/functionResponse/name", json!("other"), "a result is another call's");
    check("/contents/2/parts/0/functionResponse/response", json!("4"), "a result is no object");
    check("/contents/2/role", json!("tool"), "a role is unknown");
    check("/contents/4", json!({ "role": "model", "parts": [{ "text": "x" }] }), MODEL_LAST);
}

#[test]
fn a_body_that_breaks_a_rule_of_interactions_is_caught() {
    let check = |place: &str, value: Value, words: &str| check("gemini_interactions", place, &value, words);
    check("/agent", json!("x"), "there must be a model or an agent");
    check("/store", Value::Null, "it is not stateless");
    check("/previous_interaction_id", json!("x"), "it is not stateless");
    check("/tools/0/name", json!("a b"), "a tool's name is refused");
    check("/input/0", Value::Null, "the user has not the first word");
    check("/input/0/content", json!([]), "a step is empty");
    check("/input/0/data", json!("x"), "a field of a content stands on its step");
    check("/input/1", json!({ "type": "thought", "summary": [] }), "a thought is not signed");
    check("/input/1", json!({ "content": [] }), "a step has no type");
    check("/input/2/id", json!(""), "a call's id is refused");
    check("/input/2/id", json!("aaaaaaaa2"), "two calls have one id");
    check("/input/2/arguments", json!("{}"), "arguments are no object");
    check("/input/2/name", json!("a b"), "a called name is refused");
    check("/input/4", Value::Null, "a call has no result");
    check("/input/4/call_id", json!("other"), "a result answers nothing");
    check("/input/4/result", Value::Null, "a result is missing");
    check("/input/7", json!({ "type": "model_output", "content": [{ "type": "text", "text": "x" }] }), MODEL_LAST);
}

#[test]
fn a_body_that_breaks_a_rule_of_responses_is_caught() {
    let check = |place: &str, value: Value, words: &str| check("openai_responses", place, &value, words);
    check("/store", json!(true), "it is not stateless");
    check("/previous_response_id", json!("x"), "it is not stateless");
    check("/tools/0/function", json!({}), "a tool is not flat");
    check("/tools/0/name", json!("a.b"), "a tool's name is refused");
    check("/tools/0/parameters", json!({}), "a schema is no object");
    check("/input/0/content", json!([]), "a message is empty");
    check("/input/0/content/0/type", json!("text"), "a content is of the wrong kind");
    check("/input/1/content/0/type", json!("input_text"), "a content is of the wrong kind");
    check("/input/2/call_id", json!("x".repeat(65)), "a call's id is refused");
    check("/input/2/call_id", json!("aaaaaaaa2"), "two calls have one id");
    check("/input/2/id", json!("call_a"), "an item's id is refused");
    check("/input/2/arguments", json!({}), "arguments are no object in a text");
    check("/input/2/arguments", json!("{\"a\":"), "arguments are no object in a text");
    check("/input/2/name", json!("a.b"), "a called name is refused");
    check("/input/2", json!({ "type": "reasoning", "id": "rs_1" }), "a thought can not be found by its id");
    let thought = json!({ "type": "reasoning", "id": "rs_1", "encrypted_content": "x" });
    check("/input/4", thought.clone(), "a thought stands without its item");
    check("/input/6", thought, "a thought stands without its item");
    check("/input/4", Value::Null, "a call has no result");
    check("/input/4/call_id", json!("other"), "a result answers nothing");
    check("/input/4/output", Value::Null, "a result is missing");
    check("/input/4", json!({ "role": "user" }), "an item has no type");
    check(
        "/input/7",
        json!({ "type": "message", "role": "assistant", "content": [{ "type": "output_text", "text": "x" }] }),
        MODEL_LAST,
    );
}

#[test]
fn a_body_that_breaks_a_rule_of_ollama_is_caught() {
    let check = |place: &str, value: Value, words: &str| check("ollama", place, &value, words);
    check("/messages/1/content", json!([]), "a content is no text");
    check("/messages/2/tool_calls/0/function/arguments", json!("{}"), "arguments are no object");
    check("/messages/3", Value::Null, "a result is another call's");
    check("/messages/3/tool_name", json!("other"), "a result is another call's");
    check("/messages/3/tool_call_id", Value::Null, "a result is another call's");
    check("/messages/4", Value::Null, "a call has no result");
    check("/messages/4", json!({ "role": "user", "content": "x" }), "a call has no result");
    check("/messages/5", json!({ "role": "tool", "content": "x" }), "a result answers nothing");
    check("/messages/5", json!({ "role": "assistant", "content": "" }), "an answer is empty");
    check("/messages/6", json!({ "role": "assistant", "content": "x" }), MODEL_LAST);
}

#[test]
fn a_body_that_breaks_a_rule_of_chat_completions_is_caught() {
    let chat = |place: &str, value: Value, words: &str| check("openai_chat", place, &value, words);
    chat("/tools", json!([]), "the list of tools is empty");
    chat("/tools", Value::Null, "parallel calls are asked for without tools");
    chat("/tools/0/function/name", json!("a.b"), "a tool's name is refused");
    chat("/tools/0/function/parameters", json!({}), "a schema is no object");
    chat("/messages/2", json!({ "role": "system", "content": "x" }), "a system message is not the first");
    chat("/messages/2", json!({ "role": "model", "content": "x" }), "a role is unknown");
    chat("/messages/1/content", json!([]), "a message is empty");
    chat("/messages/2", json!({ "role": "assistant", "content": "" }), "an answer is empty");
    chat("/messages/2/tool_calls", json!([]), "the list of calls is empty");
    let many: Vec<Value> = (0..129).map(|at| json!({ "id": at.to_string() })).collect();
    chat("/messages/2/tool_calls", json!(many), "there are too many calls");
    chat("/messages/2/tool_calls/0/id", json!("x".repeat(41)), "a call's id is refused");
    chat("/messages/2/tool_calls/0/id", json!("aaaaaaaa2"), "two calls have one id");
    chat("/messages/2/tool_calls/0/type", Value::Null, "a call has no type");
    chat("/messages/2/tool_calls/0/function/name", json!("a.b"), "a called name is refused");
    chat("/messages/2/tool_calls/0/function/arguments", json!({}), "arguments are no object in a text");
    chat("/messages/2/reasoning_content", json!("Hm."), "thoughts come back where nobody wants them");
    chat("/messages/3", Value::Null, "a result is out of order");
    chat("/messages/4", Value::Null, "a call has no result");
    chat("/messages/4", json!({ "role": "user", "content": "x" }), "a call has no result");
    chat("/messages/3/tool_call_id", json!("other"), "a result answers nothing");
    chat("/messages/3/content", Value::Null, "a result is missing");
    chat("/messages/6", json!({ "role": "assistant", "content": "x" }), MODEL_LAST);
    check("mistral", "/messages/2/tool_calls/0/id", &json!("call_a"), "a call's id is refused");
    check("kimi", "/messages/2/tool_calls/0/id", &json!("functions.get_weather:1"), "a call's id is refused");
    check("kimi", "/messages/2/reasoning_content", &Value::Null, "thoughts do not come back");
    check("kimi", "/messages/2/reasoning_content", &json!(""), "thoughts do not come back");
    check("mistral", "/stream_options", &json!({}), "a field is refused");
    check(
        "mistral",
        "/messages/5",
        &json!({ "role": "user", "content": "x" }),
        "the user speaks right behind a result",
    );
    check("deepseek", "/messages/2/reasoning_content", &Value::Null, "thoughts do not come back");
    check("deepseek", "/messages/2/reasoning_content", &json!(""), "thoughts do not come back");
    check(
        "gemini_openai",
        "/messages/2/tool_calls/0/extra_content",
        &Value::Null,
        "the first call of a step is not signed",
    );
}
