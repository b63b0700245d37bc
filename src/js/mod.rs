//! Floor 6, in the page: what JavaScript can call. `JsValue` to our types and back, here and nowhere else.
//!
//! The contract is `www/types.d.ts`; the element that calls this is `www/page-hand.js`.

mod callbacks;
mod context;
mod definition;
#[cfg(feature = "direct")]
mod direct;
mod events;
mod prompt;
mod threads;
mod tool;

use std::rc::Rc;

use futures::future::LocalBoxFuture;
use js_sys::{Function, Promise};
use leptos::mount::{UnmountHandle, mount_to};
use leptos::prelude::*;
use serde_json::Value;
use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::{JsFuture, future_to_promise};
use web_sys::HtmlElement;

use crate::agent::{Decision, Limits, Standing};
use crate::browser::tools::thrown_words;
use crate::browser::value::{NotJson, to_js, to_json};
use crate::browser::{MemorySearch, Watcher};
use crate::js::definition::field;
use crate::protocol::{ToolCallId, delta_from_json};
use crate::session::When;
use crate::tools::{Editor, Expected, Policy, Toolset};
use crate::ui::{App, Live, Options, Panel, STYLE};

/// A panel at work in an element.
#[wasm_bindgen]
pub struct Instance {
    app: App,
    label: Live<String>,
    owner: Owner,
    view: Option<Box<dyn FnOnce()>>,
}

/// What is done with a call.
type Act = Box<dyn FnOnce(&App, ToolCallId)>;

/// The panel's style sheet, for an adopted sheet of the element's shadow root.
#[wasm_bindgen]
#[must_use]
pub fn style() -> String {
    STYLE.to_owned()
}

#[wasm_bindgen]
impl Instance {
    /// Mounts a panel. `close` is called by its close button; without it there is none.
    ///
    /// # Errors
    /// Options of another shape.
    #[wasm_bindgen(constructor)]
    pub fn new(
        element: &HtmlElement,
        mount: HtmlElement,
        options: JsValue,
        close: Option<Function>,
    ) -> Result<Self, JsValue> {
        let options: Value =
            serde_wasm_bindgen::from_value(options).map_err(|why| error("invalid_options", &why.to_string()))?;
        let text = |name: &str| options.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        let owner = Owner::new();
        let (app, label, view) = owner.with(|| {
            let watcher: Watcher = events::dispatcher(element.clone());
            let label = Live::new(text("label"));
            let setup = Options {
                gateway: text("gateway"),
                instructions: text("instructions"),
                name: text("name"),
                agent: text("agent"),
                profile: text("profile"),
                language: text("language"),
                thread: text("thread"),
                restarted: options.get("restarted").and_then(Value::as_bool).unwrap_or_default(),
                database: text("database"),
                ..Options::default()
            };
            // The executor that drives the session is the one `mount_to` installs.
            let _ = any_spawner_ready();
            let app = App::open(element, setup, watcher);
            let (shown, named) = (app.clone(), label.clone());
            let close = close.map(|close| -> Rc<dyn Fn()> { Rc::new(move || drop(close.call0(&JsValue::UNDEFINED))) });
            let view = mount_to(mount, move || Panel(&shown, named, close));
            (app, label, view)
        });
        Ok(Self { app, label, owner, view: Some(unmounting(view)) })
    }

    /// Sends a message, as the user would: a text, or `{text, files, output}`. Its id; `undefined` where there is nothing to
    /// send.
    ///
    /// # Errors
    /// An `Error` with the code `not_json` or `invalid_prompt`.
    pub fn send(&self, prompt: &JsValue) -> Result<Option<String>, JsValue> {
        let prompt = match prompt.as_string() {
            Some(text) => text.into(),
            None => {
                let json = from_js_within(prompt, MAX_PROMPT).map_err(|why| error("not_json", &why))?;
                prompt::read(&json).map_err(|why| error("invalid_prompt", &why))?
            }
        };
        Ok(self.app.send(prompt).map(|id| id.0))
    }

    /// Has this model of the gateway's asked from the next step on; empty for its first.
    #[wasm_bindgen(js_name = setModel)]
    pub fn set_model(&self, name: &str) {
        self.app.use_model(name);
    }

    /// Stops what is at work.
    pub fn stop(&self) {
        self.app.stop();
    }

    /// Adds a tool that runs in the page; `edit` is its `editRequest`, or undefined.
    ///
    /// # Errors
    /// An `Error` with the code `invalid_tool` and every fault of the definition.
    #[wasm_bindgen(js_name = registerTool)]
    pub fn register_tool(&self, definition: JsValue, run: JsValue, edit: &JsValue) -> Result<(), JsValue> {
        let (tool, faults) = definition::page_tool(definition, run, edit);
        let name = tool.definition.name.clone();
        let problems = if faults.is_empty() {
            self.app.register_tool(tool).err().unwrap_or_default()
        } else {
            self.app.check(tool.definition)
        };
        let faults = faults.iter().map(|fault| format!("tool \"{name}\": {fault}"));
        all_well("invalid_tool", &faults.chain(problems.iter().map(ToString::to_string)).collect::<Vec<_>>())
    }

    /// Takes a tool of the page, or an editor, out; `false` where there is none of that name.
    #[wasm_bindgen(js_name = unregisterTool)]
    #[must_use]
    pub fn unregister_tool(&self, name: &str) -> bool {
        self.app.unregister(name)
    }

    /// Adds a toolset: `{name, owner, tools: [definition & {run, editRequest}], resolve, close}`.
    ///
    /// # Errors
    /// An `Error` with the code `invalid_tool` and every fault of every tool.
    #[wasm_bindgen(js_name = registerToolset)]
    pub fn register_toolset(&self, toolset: &JsValue) -> Result<(), JsValue> {
        let text = |name: &str| field(toolset, name).as_string().unwrap_or_default();
        let (mut tools, mut faults) = (Vec::new(), Vec::new());
        for tool in js_sys::Array::from(&field(toolset, "tools")).iter() {
            let (tool, bad) =
                definition::page_tool(field(&tool, "definition"), field(&tool, "run"), &field(&tool, "edit"));
            faults.extend(bad.iter().map(|fault| format!("tool \"{}\": {fault}", tool.definition.name)));
            tools.push(tool);
        }
        let resolve = definition::resolver(field(toolset, "resolve"));
        let close = definition::closer(&field(toolset, "close"));
        let named = Toolset { name: text("name"), owner: text("owner"), resolve };
        if faults.is_empty() {
            let problems = self.app.register_toolset(named, tools, close).err().unwrap_or_default();
            faults.extend(problems.iter().map(ToString::to_string));
        }
        all_well("invalid_tool", &faults)
    }

    /// Takes a toolset out, with all its tools; `false` where there was none.
    #[wasm_bindgen(js_name = closeToolset)]
    #[must_use]
    pub fn close_toolset(&self, name: &str) -> bool {
        self.app.close_toolset(name)
    }

    /// Adds an editor of outgoing requests.
    ///
    /// # Errors
    /// An `Error` with the code `invalid_tool` and everything that is wrong with it.
    #[wasm_bindgen(js_name = registerEditor)]
    pub fn register_editor(&self, name: &str, owner: &str, order: i32, edit: &JsValue) -> Result<(), JsValue> {
        let Some(edit) = edit.dyn_ref::<Function>() else {
            return Err(error(
                "invalid_tool",
                &format!("editor \"{name}\": nothing edits; give it a function `edit(request)`"),
            ));
        };
        let editor = Editor::new(name, owner, order, definition::editor(edit.clone()));
        let problems = self.app.register_editor(editor).err().unwrap_or_default();
        all_well("invalid_tool", &problems.iter().map(ToString::to_string).collect::<Vec<_>>())
    }

    /// The rules of this page, once and for all.
    ///
    /// # Errors
    /// An `Error` with the code `invalid_policy` and everything that is wrong with them, or `policy_locked` where there
    /// are some already.
    #[wasm_bindgen(js_name = definePolicy)]
    pub fn define_policy(&self, rules: &JsValue) -> Result<(), JsValue> {
        let rules = from_js(rules).map_err(|why| error("invalid_policy", &why))?;
        let policy = Policy::from_json(&rules).map_err(|faults| error("invalid_policy", &faults.join("\n")))?;
        if self.app.set_policy(policy) {
            return Ok(());
        }
        Err(error(
            "policy_locked",
            "the policy of this element is defined already and can not be changed while it lives",
        ))
    }

    /// What the host says of the session: an object, fact by fact.
    ///
    /// # Errors
    /// An `Error` with the code `not_json`.
    #[wasm_bindgen(js_name = setFacts)]
    pub fn set_facts(&self, facts: &JsValue) -> Result<(), JsValue> {
        let facts = from_js(facts).map_err(|why| error("not_json", &why))?;
        self.app.set_facts(delta_from_json(&facts));
        Ok(())
    }

    /// How far a run may go: an object, limit by limit; the usual ones where it says nothing.
    ///
    /// # Errors
    /// An `Error` with the code `not_json`, or `invalid_limits` and everything that is wrong with them.
    #[wasm_bindgen(js_name = setLimits)]
    pub fn set_limits(&self, limits: &JsValue) -> Result<(), JsValue> {
        let told = from_js(limits).map_err(|why| error("not_json", &why))?;
        let limits = Limits::default().with(&told).map_err(|faults| error("invalid_limits", &faults.join("\n")))?;
        self.app.set_limits(limits);
        Ok(())
    }

    /// Who is signed in: a text, or an object with an `id`; null for nobody.
    ///
    /// # Errors
    /// An `Error` with the code `not_json`.
    #[wasm_bindgen(js_name = setUser)]
    pub fn set_user(&self, user: &JsValue) -> Result<(), JsValue> {
        self.app.set_user(from_js(user).map_err(|why| error("not_json", &why))?);
        Ok(())
    }

    /// Searches memory for tools: `(words, limit) => results`.
    #[wasm_bindgen(js_name = setMemory)]
    pub fn set_memory(&self, search: &JsValue) {
        *self.app.services().memory.borrow_mut() = search.dyn_ref::<Function>().map(|search| {
            let search = search.clone();
            let asking: MemorySearch = Rc::new(move |words: String, limit: u32| {
                let asked = search.call2(&JsValue::UNDEFINED, &JsValue::from_str(&words), &JsValue::from(limit));
                Box::pin(async move {
                    let found = match asked {
                        Ok(value) => JsFuture::from(Promise::resolve(&value)).await,
                        Err(thrown) => Err(thrown),
                    };
                    found.map_err(|thrown| thrown_words(&thrown)).and_then(|found| from_js(&found))
                })
            });
            asking
        });
    }

    /// Has a function hear of a moment, and answer in its place.
    ///
    /// # Errors
    /// An `Error` with the code `invalid_callback`: there is no such moment.
    #[wasm_bindgen(js_name = addCallback)]
    pub fn add_callback(&self, when: &str, name: &str, function: &JsValue) -> Result<(), JsValue> {
        let Some(function) = function.dyn_ref::<Function>() else {
            return Err(error("invalid_callback", "a callback must be a function"));
        };
        let Some(moment) = When::parse(when) else {
            let words =
                format!("\"{when}\" is no moment; there are before-model, after-model, before-tool, after-tool, error");
            return Err(error("invalid_callback", &words));
        };
        self.app.services().callbacks.add(moment, name, callbacks::callback(function.clone()));
        Ok(())
    }

    /// Takes out the callbacks of a name.
    #[wasm_bindgen(js_name = removeCallback)]
    pub fn remove_callback(&self, name: &str) {
        self.app.services().callbacks.remove(name);
    }

    /// Says what a job came to: `{result}` or `{error}`. A promise that rejects with the code `unknown_call` or
    /// `call_not_open` where there is no such job; then nothing has changed.
    ///
    /// # Errors
    /// An `Error` with the code `not_json`.
    pub fn complete(&self, call: String, answer: &JsValue) -> Result<Promise, JsValue> {
        let outcome = callbacks::answer("", answer);
        let outcome = outcome.ok_or_else(|| error("not_json", "an answer is { result } or { error }"))?;
        let act = |app: &App, call| app.complete(call, outcome.into());
        Ok(self.where_open(call, &[Standing::Running, Standing::Job], "at work", Box::new(act)))
    }

    /// Stops a job. A promise, as for `complete`.
    #[wasm_bindgen(js_name = cancelJob)]
    pub fn cancel_job(&self, call: String) -> Promise {
        self.where_open(call, &[Standing::Job], "a job at work", Box::new(App::cancel_job))
    }

    /// Decides on an approval: `{approve, arguments, payload, reason}`. A promise, as for `complete`.
    ///
    /// # Errors
    /// An `Error` with the code `not_json`.
    pub fn decide(&self, call: String, decision: &JsValue) -> Result<Promise, JsValue> {
        let told = from_js(decision).map_err(|why| error("not_json", &why))?;
        let decision = if told.get("approve").and_then(Value::as_bool) == Some(true) {
            let arguments = told.get("arguments").filter(|value| !value.is_null()).map(ToString::to_string);
            Decision::Approve { arguments, payload: told.get("payload").cloned().unwrap_or_default() }
        } else {
            Decision::Deny { reason: told.get("reason").and_then(Value::as_str).map(str::to_owned) }
        };
        let act = |app: &App, call| app.decide(call, decision);
        Ok(self.where_open(call, &[Standing::Asked], "waiting for a decision", Box::new(act)))
    }

    // Does something with a call that waits for it, and with no other.
    fn where_open(&self, call: String, wanted: &'static [Standing], words: &'static str, act: Act) -> Promise {
        let (app, call) = (self.app.clone(), ToolCallId(call));
        promise(Box::pin(async move {
            match app.standing(&call).await {
                standing if wanted.contains(&standing) => {
                    act(&app, call);
                    Ok(JsValue::UNDEFINED)
                }
                Standing::Unknown => Err(error("unknown_call", &format!("this thread has no call \"{call}\""))),
                Standing::Closed | Standing::Asked | Standing::Running | Standing::Job => {
                    Err(error("call_not_open", &format!("the call \"{call}\" is not {words} here")))
                }
            }
        }))
    }

    /// Says what the page was built against: a listing of `GET /tools`, or its tools.
    ///
    /// # Errors
    /// An `Error` with the code `invalid_options`.
    pub fn expect(&self, tools: &JsValue) -> Result<(), JsValue> {
        let expected = from_js(tools).and_then(|json| Expected::list_from_json(&json));
        self.app.expect(expected.map_err(|why| error("invalid_options", &why))?);
        Ok(())
    }

    /// The tools, what each profile's declarations take, what was refused and why, and the counts.
    #[must_use]
    pub fn report(&self) -> JsValue {
        to_js(&self.app.report())
    }

    /// The names of all tools there are now, with their scopes.
    #[must_use]
    pub fn tools(&self) -> JsValue {
        to_js(&self.app.registry().definitions().map(|tool| tool.to_json()).collect())
    }

    /// The id of the thread at work.
    #[wasm_bindgen(getter)]
    #[must_use]
    pub fn thread(&self) -> String {
        self.app.thread().0
    }

    /// What the panel is called.
    #[wasm_bindgen(js_name = setLabel)]
    pub fn set_label(&self, label: String) {
        self.label.set(label);
    }

    /// Takes the panel down and lets go of everything: run, connections, listeners, signals.
    pub fn unmount(&mut self) {
        if let Some(unmount) = self.view.take() {
            unmount();
            self.app.close();
            self.owner.cleanup();
        }
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        self.unmount();
    }
}

fn unmounting<M: leptos::tachys::view::Mountable + 'static>(view: UnmountHandle<M>) -> Box<dyn FnOnce()> {
    Box::new(move || drop(view))
}

fn any_spawner_ready() -> bool {
    any_spawner::Executor::init_wasm_bindgen().is_ok()
}

/// A real `Error` with a `code`.
fn error(code: &str, message: &str) -> JsValue {
    let error = js_sys::Error::new(message);
    let _ = js_sys::Reflect::set(&error, &JsValue::from_str("code"), &JsValue::from_str(code));
    error.into()
}

// More than this the page should not hold; what is too long to be read at once is kept as an artifact.
const MAX_CHARACTERS: usize = 8 * 1024 * 1024;

// A message with its files.
const MAX_PROMPT: usize = 32 * 1024 * 1024;

/// JavaScript's value as JSON, of what the page should hold, with its fault in words.
fn from_js(value: &JsValue) -> Result<Value, String> {
    from_js_within(value, MAX_CHARACTERS)
}

/// The same with a bound of its own.
fn from_js_within(value: &JsValue, most: usize) -> Result<Value, String> {
    to_json(value, most).map_err(|why| match why {
        NotJson::TooLong => format!("it is longer than {} MiB", most >> 20),
        NotJson::Words(words) => words,
    })
}

/// A promise of what comes of this. One function for all of them: a page loads one for each type of future otherwise.
fn promise(work: LocalBoxFuture<'static, Result<JsValue, JsValue>>) -> Promise {
    future_to_promise(work)
}

fn set(object: &js_sys::Object, name: &str, value: &JsValue) {
    // Fails only on a frozen object, and these are ours.
    let _ = js_sys::Reflect::set(object, &JsValue::from_str(name), value);
}

fn all_well(code: &str, faults: &[String]) -> Result<(), JsValue> {
    if faults.is_empty() { Ok(()) } else { Err(error(code, &faults.join("\n"))) }
}
