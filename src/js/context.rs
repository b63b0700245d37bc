//! What a JavaScript tool is given beside its arguments: `ToolContext` of `www/types.d.ts`.
//!
//! Knows nothing of what a tool does with it.

use std::cell::RefCell;
use std::rc::Rc;

use js_sys::Object;
use serde_json::Value;
use wasm_bindgen::closure::Closure;
use wasm_bindgen::{JsCast, JsValue};

use crate::browser::tools::ToolContext;
use crate::js::{error, from_js, promise, set, to_js, tool};
use crate::protocol::{Answer, Event, Outcome};

/// The object, and what the tool asked for through it.
pub(super) struct ContextObject {
    pub(super) value: JsValue,
    said: Rc<RefCell<Said>>,
}

#[derive(Default)]
struct Said {
    asked: Option<(String, Value)>,
    job: Option<String>,
}

impl ContextObject {
    /// The approval the tool asked for, instead of an answer.
    pub(super) fn asked(&self) -> Option<Outcome> {
        let (reason, payload) = self.said.borrow_mut().asked.take()?;
        Some(Outcome::NeedsApproval { reason, payload })
    }

    /// The job the tool began.
    pub(super) fn job(&self) -> Option<String> {
        self.said.borrow_mut().job.take()
    }
}

/// The object for a call.
pub(super) fn object(context: &ToolContext) -> ContextObject {
    let object = Object::new();
    let said: Rc<RefCell<Said>> = Rc::default();
    let request = Rc::clone(&context.request);
    let text = |name: &str, words: &str| set(&object, name, &JsValue::from_str(words));
    text("callId", request.call.as_str());
    text("threadId", request.thread.as_str());
    text("runId", request.run.as_str());
    text("agent", &request.agent);
    set(&object, "step", &JsValue::from(request.step));
    set(&object, "approved", &JsValue::from_bool(request.approved));
    set(&object, "approval", &to_js(&request.payload));
    set(&object, "user", &to_js(&context.services.shared.user.borrow()));
    if let Some(signal) = &context.signal {
        set(&object, "signal", signal);
    }
    set(&object, "state", &state(context));
    set(&object, "artifacts", &artifacts(context));
    set(&object, "memory", &memory(context));
    talk(&object, context, &said);
    ContextObject { value: object.into(), said }
}

fn state(context: &ToolContext) -> Object {
    let object = Object::new();
    let kept = context.state.clone();
    method1(&object, "get", move |key| Ok(to_js(&kept.get(&text(&key)))));
    let kept = context.state.clone();
    method2(&object, "set", move |key, value| {
        kept.set(&text(&key), json(&value)?);
        Ok(JsValue::UNDEFINED)
    });
    let kept = context.state.clone();
    method1(&object, "delete", move |key| {
        kept.set(&text(&key), Value::Null);
        Ok(JsValue::UNDEFINED)
    });
    let kept = context.state.clone();
    method1(&object, "all", move |_| Ok(to_js(&kept.to_json())));
    object
}

fn artifacts(context: &ToolContext) -> Object {
    let object = Object::new();
    let kept = Rc::clone(&context.services.artifacts);
    method3(&object, "save", move |name, content, media| {
        let content = match content.as_string() {
            Some(content) => content,
            None => json(&content)?.to_string(),
        };
        let media = media.as_string().unwrap_or_else(|| "text/plain".to_owned());
        let (version, keeping) = kept.save(&text(&name), content, &media);
        wasm_bindgen_futures::spawn_local(keeping);
        Ok(JsValue::from(version))
    });
    let kept = Rc::clone(&context.services.artifacts);
    method2(&object, "load", move |name, version| {
        let (kept, name, version) = (Rc::clone(&kept), text(&name), version.as_f64().map(|version| version as u32));
        Ok(promise(Box::pin(async move {
            let loaded = kept.load(&name, version).await;
            Ok(loaded.map_or(JsValue::NULL, |(_, content)| JsValue::from_str(&content)))
        }))
        .into())
    });
    let kept = Rc::clone(&context.services.artifacts);
    method1(&object, "list", move |_| Ok(to_js(&kept.list())));
    let kept = Rc::clone(&context.services.artifacts);
    method1(&object, "versions", move |name| Ok(JsValue::from(kept.versions(&text(&name)))));
    object
}

fn memory(context: &ToolContext) -> Object {
    let object = Object::new();
    let services = context.services.shared.clone();
    method2(&object, "search", move |words, limit| {
        let (words, limit) = (text(&words), limit.as_f64().unwrap_or(5.0) as u32);
        let search = services.memory.borrow().clone();
        Ok(promise(Box::pin(async move {
            match search {
                None => Ok(js_sys::Array::new().into()),
                Some(search) => match search(words, limit).await {
                    Ok(found) => Ok(to_js(&found)),
                    Err(why) => Err(error("memory_failed", &why)),
                },
            }
        }))
        .into())
    });
    object
}

// What a tool says while it runs, and when it does not answer at once.
fn talk(object: &Object, context: &ToolContext, said: &Rc<RefCell<Said>>) {
    let (services, call) = (context.services.clone(), context.request.call.clone());
    method2(object, "progress", move |fraction, words| {
        services.progress(&call, fraction.as_f64(), words.as_string().unwrap_or_default());
        Ok(JsValue::UNDEFINED)
    });
    let (services, name) = (context.services.clone(), context.request.name.clone());
    method1(object, "log", move |words| {
        (services.watcher)(&Event::Note(format!("{name}: {}", text(&words))));
        Ok(JsValue::UNDEFINED)
    });
    let asked = Rc::clone(said);
    method2(object, "requestApproval", move |reason, payload| {
        asked.borrow_mut().asked = Some((text(&reason), json(&payload)?));
        Ok(JsValue::UNDEFINED)
    });
    let begun = Rc::clone(said);
    method1(object, "startJob", move |job| {
        begun.borrow_mut().job = Some(text(&job));
        Ok(JsValue::UNDEFINED)
    });
    let (services, request, state) = (context.services.clone(), Rc::clone(&context.request), context.state.clone());
    method1(object, "complete", move |result| {
        let outcome = tool::outcome(&request.name, &result);
        let answer = Answer { changes: state.take_changes(), ..outcome.into() };
        (services.complete)(request.call.clone(), answer);
        Ok(JsValue::UNDEFINED)
    });
    let (services, request) = (context.services.clone(), Rc::clone(&context.request));
    method1(object, "fail", move |thrown| {
        let outcome = Outcome::Error(tool::thrown_error(&request.name, &thrown));
        (services.complete)(request.call.clone(), outcome.into());
        Ok(JsValue::UNDEFINED)
    });
}

type Method3 = dyn Fn(JsValue, JsValue, JsValue) -> Result<JsValue, JsValue>;

// One type of closure for all of them, for a small payload; a function of JavaScript leaves out what it is not given.
// Given to the page's collector: a tool may keep its context for as long as its job goes on.
fn method(object: &Object, name: &str, call: Box<Method3>) {
    let function = Closure::<Method3>::wrap(call).into_js_value();
    set(object, name, function.unchecked_ref());
}

fn method1(object: &Object, name: &str, call: impl Fn(JsValue) -> Result<JsValue, JsValue> + 'static) {
    method(object, name, Box::new(move |a, _, _| call(a)));
}

fn method2(object: &Object, name: &str, call: impl Fn(JsValue, JsValue) -> Result<JsValue, JsValue> + 'static) {
    method(object, name, Box::new(move |a, b, _| call(a, b)));
}

fn method3(
    object: &Object,
    name: &str,
    call: impl Fn(JsValue, JsValue, JsValue) -> Result<JsValue, JsValue> + 'static,
) {
    method(object, name, Box::new(call));
}

fn text(value: &JsValue) -> String {
    value.as_string().unwrap_or_default()
}

fn json(value: &JsValue) -> Result<Value, JsValue> {
    from_js(value).map_err(|why| error("not_json", &why))
}
