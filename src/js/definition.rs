//! Tools, toolsets and editors from JavaScript. Knows nothing of the registry's own rules.

use js_sys::{Array, Function, Reflect};
use send_wrapper::SendWrapper;
use serde_json::Value;
use std::rc::Rc;
use std::sync::Arc;
use wasm_bindgen::{JsCast, JsValue};

use crate::browser::tools::thrown_words;
use crate::js::{from_js, to_js, tool};
use crate::protocol::{ContextItem, Message, ModelRequest, Scope, UserMessage, delta_from_json, object};
use crate::tools::{Additions, Definition, Edit, Facts, Members};
use crate::ui::PageTool;

/// A tool as JavaScript registers it: the definition, `run`, and `editRequest` where it edits requests, too. What is
/// wrong with its shape comes along, in sentences.
pub(super) fn page_tool(definition: JsValue, run: JsValue, edit: &JsValue) -> (PageTool, Vec<String>) {
    let mut faults = Vec::new();
    let mut json = serde_wasm_bindgen::from_value::<Value>(definition).unwrap_or_else(|why| {
        faults.push(format!("the definition can not be read: {why}"));
        Value::Null
    });
    if let Value::Object(fields) = &mut json {
        // What a page registers runs in the page, whatever it says.
        if fields.get("scope").is_some_and(|scope| scope != Scope::Browser.as_str()) {
            faults.push("a tool that a page registers runs in the page; leave its scope out".to_owned());
        }
        fields.insert("scope".to_owned(), Value::from(Scope::Browser.as_str()));
    }
    if !run.is_function() {
        faults.push("nothing can run it; give it a function `run(args, context)`".to_owned());
    }
    if !edit.is_function() && !edit.is_undefined() {
        faults.push("its editRequest must be a function".to_owned());
    }
    let (definition, more) = Definition::from_json(&json, &[]);
    faults.extend(more);
    let run = tool::executor(&definition.name, run);
    let editor = edit.dyn_ref::<Function>().map(|edit| editor(edit.clone()));
    (PageTool { definition, run, editor }, faults)
}

/// A function that edits requests: it is given what the request holds, and returns what it adds.
pub(super) fn editor(edit: Function) -> Edit {
    // A registry may be shared between threads; a page has one.
    let edit = SendWrapper::new(edit);
    Arc::new(move |request: &ModelRequest| match edit.call1(&JsValue::UNDEFINED, &to_js(&described(request))) {
        Ok(added) => additions(&from_js(&added).unwrap_or_default()),
        Err(thrown) => {
            web_sys::console::warn_1(&format!("pagehand: an editor threw: {}", thrown_words(&thrown)).into());
            Additions::default()
        }
    })
}

fn described(request: &ModelRequest) -> Value {
    let said = request.messages.iter().rev().find_map(|message| match message {
        Message::User(UserMessage { content, .. }) => Some(content.as_str()),
        Message::Assistant(_) | Message::Tool(_) | Message::Job { .. } | Message::Notice { .. } => None,
    });
    let tools: Vec<&str> = request.tools.iter().map(|tool| tool.name.as_str()).collect();
    object(vec![
        ("threadId", request.thread.as_str().into()),
        ("runId", request.run.as_str().into()),
        ("instructions", request.instructions.as_str().into()),
        ("message", said.into()),
        ("messages", request.messages.len().into()),
        ("tools", tools.into()),
        ("state", request.state.to_json(|_| true)),
    ])
}

fn additions(json: &Value) -> Additions {
    let text = |value: &Value, name: &str| value.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let options = delta_from_json(json.get("options").unwrap_or(&Value::Null));
    let context = json.get("context").and_then(Value::as_array).into_iter().flatten();
    Additions {
        instructions: text(json, "instructions"),
        context: context.map(|item| ContextItem::new(text(item, "description"), text(item, "value"))).collect(),
        options,
    }
}

/// A function that says which tools of a toolset a request offers: `true` for all, `false` for none, or their names.
pub(super) fn resolver(resolve: JsValue) -> Box<dyn Fn(&Facts) -> Members + Send + Sync> {
    let resolve = SendWrapper::new(resolve);
    Box::new(move |facts: &Facts| {
        let Some(resolve) = resolve.dyn_ref::<Function>() else { return Members::All };
        // Whatever goes wrong, the least is offered.
        let Ok(answer) = resolve.call1(&JsValue::UNDEFINED, &to_js(&crate::protocol::delta_to_json(facts))) else {
            return Members::Only(Vec::new());
        };
        // Only `true` is all: a promise or a single name is a mistake, and offers nothing.
        match answer.dyn_ref::<Array>() {
            Some(names) => Members::Only(names.iter().filter_map(|name| name.as_string()).collect()),
            None if answer.as_bool() == Some(true) => Members::All,
            None => Members::Only(Vec::new()),
        }
    })
}

/// A function without arguments, as one of ours.
pub(super) fn closer(close: &JsValue) -> Option<Rc<dyn Fn()>> {
    let close = close.dyn_ref::<Function>()?.clone();
    Some(Rc::new(move || drop(close.call0(&JsValue::UNDEFINED))))
}

/// A field of an object; `undefined` where there is none.
pub(super) fn field(object: &JsValue, name: &str) -> JsValue {
    Reflect::get(object, &JsValue::from_str(name)).unwrap_or(JsValue::UNDEFINED)
}
