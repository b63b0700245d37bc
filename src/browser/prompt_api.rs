//! Chrome's on-device model, asked by the page. Knows nothing of what is said.
//!
//! The API is found by its name, as it changes: nothing here is bound at build time. A session is made for each step and
//! let go of behind it, so that what it holds is the thread and nothing else.

use std::rc::Rc;

use futures::future::{Either, LocalBoxFuture, select};
use futures::stream::{LocalBoxStream, StreamExt, unfold};
use js_sys::{Array, Function, Object, Promise, Reflect};
use serde_json::{Value, json};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::ReadableStreamDefaultReader;

use crate::browser::value::{to_js, to_json};
use crate::browser::{Abort, Answers, ModelInfo, sleep};
use crate::protocol::{ModelError, ModelErrorKind, ModelEvent, ModelRequest, TEXTS};
use crate::providers::prompt_api::{Ask, Chunk, PromptReader, encode};

// What a model says at once is a word or a call; no more of it is taken over.
const MAX_CHARACTERS: usize = 8 * 1024 * 1024;

// A model that has to be loaded first takes its time, in which a run must not take it for dead.
const LOADING_MS: u64 = 30_000;

/// The model on this device, as a user may choose it; `None` where this browser has none.
#[must_use]
pub fn on_device() -> Option<(Answers, ModelInfo)> {
    global("LanguageModel")?;
    let info = ModelInfo {
        name: "prompt_api".to_owned(),
        label: "The model on this device".to_owned(),
        files: TEXTS.map(str::to_owned).to_vec(),
        ..ModelInfo::default()
    };
    Some((Rc::new(answer), info))
}

fn answer(request: &ModelRequest) -> LocalBoxStream<'static, ModelEvent> {
    // The open loop of tools is there where its constructors are.
    let open = global("LanguageModelToolSuccess").is_some();
    let ask = encode(request, open);
    let in_form = matches!(&ask, Ok(ask) if ask.constraint.is_some()) && !request.tools.is_empty();
    let abort = Abort::new();
    let signal: JsValue = abort.signal().map_or(JsValue::UNDEFINED, Into::into);
    let at_work = AtWork {
        opening: Some(Box::pin(open_session(ask, signal))),
        reader: PromptReader::new(request, in_form),
        session: None,
        abort,
    };
    unfold(at_work, |mut at_work| async move { at_work.next().await.map(|event| (event, at_work)) }).boxed_local()
}

/// An answer at work. Dropping it stops the model.
struct AtWork {
    opening: Option<LocalBoxFuture<'static, Result<Session, ModelError>>>,
    reader: PromptReader,
    session: Option<Session>,
    abort: Abort,
}

/// A session that speaks.
struct Session {
    object: JsValue,
    said: ReadableStreamDefaultReader,
}

impl AtWork {
    async fn next(&mut self) -> Option<ModelEvent> {
        loop {
            if let Some(event) = self.reader.next() {
                return Some(event);
            }
            if let Some(opening) = &mut self.opening {
                match select(opening, sleep(LOADING_MS)).await {
                    Either::Left((Ok(session), _)) => (self.opening, self.session) = (None, Some(session)),
                    Either::Left((Err(error), _)) => {
                        self.opening = None;
                        return Some(ModelEvent::Error(error));
                    }
                    Either::Right(_) => {
                        return Some(ModelEvent::Note("The model on this device is being loaded.".to_owned()));
                    }
                }
            }
            match chunk(&self.session.as_ref()?.said).await {
                Ok(Some(chunk)) => self.reader.push(chunk),
                Ok(None) => {
                    self.session = None;
                    self.abort.disarm();
                    self.reader.finish();
                }
                Err(thrown) => {
                    self.session = None;
                    return Some(ModelEvent::Error(read_error(&thrown)));
                }
            }
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if let Ok(destroy) = method(&self.object, "destroy") {
            let _ = destroy.call0(&self.object);
        }
    }
}

async fn open_session(ask: Result<Ask, ModelError>, signal: JsValue) -> Result<Session, ModelError> {
    let ask = ask?;
    let object = session(&ask, &signal).await.map_err(|thrown| read_error(&thrown))?;
    let said = speak(&object, &ask, &signal).map_err(|thrown| read_error(&thrown))?;
    Ok(Session { object, said })
}

async fn session(ask: &Ask, signal: &JsValue) -> Result<JsValue, JsValue> {
    let model = global("LanguageModel").ok_or_else(|| JsValue::from_str("this browser has no model of its own"))?;
    let kinds = |more: &str| {
        if ask.tools.is_empty() { json!([{ "type": "text" }]) } else { json!([{ "type": "text" }, { "type": more }]) }
    };
    let options = to_js(&json!({ "expectedInputs": kinds("tool-response"), "expectedOutputs": kinds("tool-call") }));
    if !ask.tools.is_empty() {
        set(&options, "tools", &to_js(&Value::from(ask.tools.clone())));
    }
    let state = settled(method(&model, "availability")?.call1(&model, &options)?).await?;
    if state.as_string().as_deref() == Some("unavailable") {
        return Err(JsValue::from_str("the model is not available on this device"));
    }
    set(&options, "initialPrompts", &prompts(&ask.initial)?);
    set(&options, "signal", signal);
    settled(method(&model, "create")?.call1(&model, &options)?).await
}

fn speak(session: &JsValue, ask: &Ask, signal: &JsValue) -> Result<ReadableStreamDefaultReader, JsValue> {
    let options = Object::new();
    set(&options, "signal", signal);
    if let Some(constraint) = &ask.constraint {
        set(&options, "responseConstraint", &to_js(constraint));
    }
    let stream = method(session, "promptStreaming")?.call2(session, &prompts(&ask.prompt)?, &options)?;
    Ok(method(&stream, "getReader")?.call0(&stream)?.unchecked_into())
}

async fn chunk(reader: &ReadableStreamDefaultReader) -> Result<Option<Chunk>, JsValue> {
    let read = JsFuture::from(reader.read()).await?;
    if get(&read, "done").is_truthy() {
        return Ok(None);
    }
    let value = get(&read, "value");
    Ok(Some(match value.as_string() {
        Some(words) => Chunk::Text(words),
        None => Chunk::Part(to_json(&value, MAX_CHARACTERS).unwrap_or_default()),
    }))
}

/// Prompts as the API has them: results are objects of its own.
fn prompts(prompts: &[Value]) -> Result<JsValue, JsValue> {
    let list = Array::from(&to_js(&Value::from(prompts.to_vec())));
    for prompt in list.iter() {
        let content = get(&prompt, "content");
        if !Array::is_array(&content) {
            continue;
        }
        for part in Array::from(&content).iter() {
            if get(&part, "type").as_string().as_deref() == Some("tool-response") {
                let value = get(&part, "value");
                let failed = !get(&value, "errorMessage").is_undefined();
                let name = if failed { "LanguageModelToolError" } else { "LanguageModelToolSuccess" };
                let kind = global(name).and_then(|kind| kind.dyn_into::<Function>().ok());
                let kind = kind.ok_or_else(|| JsValue::from_str("this browser takes no results of tools"))?;
                set(&part, "value", &Reflect::construct(&kind, &Array::of1(&value))?);
            }
        }
    }
    Ok(list.into())
}

fn read_error(thrown: &JsValue) -> ModelError {
    let text = |name: &str| get(thrown, name).as_string();
    let name = text("name").unwrap_or_default();
    let words = text("message").or_else(|| thrown.as_string()).unwrap_or_else(|| "it does not say why".to_owned());
    let (kind, retry) = match name.as_str() {
        "NetworkError" => (ModelErrorKind::Network, None),
        "UnknownError" => (ModelErrorKind::Upstream, None),
        _ => (ModelErrorKind::BadRequest, Some(false)),
    };
    let words = match name.as_str() {
        "QuotaExceededError" => format!("The conversation is too long for the model on this device. {words}"),
        "NotAllowedError" => format!("The model on this device has to be loaded first; press \"Try again\". {words}"),
        _ => format!("The model on this device can not answer: {words}"),
    };
    ModelError { retry, ..ModelError::new(kind, words) }
}

async fn settled(value: JsValue) -> Result<JsValue, JsValue> {
    JsFuture::from(Promise::resolve(&value)).await
}

fn global(name: &str) -> Option<JsValue> {
    let found = get(&js_sys::global(), name);
    (!found.is_undefined() && !found.is_null()).then_some(found)
}

fn get(object: &JsValue, name: &str) -> JsValue {
    Reflect::get(object, &JsValue::from_str(name)).unwrap_or(JsValue::UNDEFINED)
}

fn set(object: &JsValue, name: &str, value: &JsValue) {
    let _ = Reflect::set(object, &JsValue::from_str(name), value);
}

fn method(object: &JsValue, name: &str) -> Result<Function, JsValue> {
    get(object, name).dyn_into::<Function>().map_err(|_| JsValue::from_str(&format!("there is no {name}")))
}
