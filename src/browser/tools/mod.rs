//! Tools that run in the page: the table of them, and those that every page gets.
//!
//! | tool | file | asks |
//! |---|---|---|
//! | `navigate` | `navigate` | no; same origin only |
//! | `page_read` | `page_read` | no |
//! | `clipboard_write` | `clipboard` | where the browser wants a click |
//! | `clipboard_read` | `clipboard` | always |
//! | `scroll_to`, `highlight` | `highlight` | no |
//! | `open_link` | `open_link` | always |
//! | `artifact_read` | `artifact_read` | no; offered where there is an artifact |
//!
//! Knows nothing of the loop.

mod artifact_read;
mod clipboard;
mod highlight;
mod navigate;
mod open_link;
mod page_read;
mod readable;

pub(crate) use clipboard::copy as copy_text;

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use crate::agent::ToolRequest;
use crate::browser::ThreadServices;

use futures::future::LocalBoxFuture;
use serde_json::{Value, json};
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{AbortSignal, HtmlElement};

use crate::protocol::{Names, Outcome, Risk, Scope};
use crate::tools::{Approval, Definition, ToolState, error};

/// What runs a tool in the page. The arguments fit its schema.
pub type BrowserTool = Rc<dyn Fn(Value, ToolContext) -> LocalBoxFuture<'static, Outcome>>;

/// What a call brings beside its arguments.
#[derive(Clone)]
pub struct ToolContext {
    /// The call as it was made: its id (the idempotency key), thread, run, step, agent, the user's approval.
    pub request: Rc<ToolRequest>,
    /// What tools remember, and what this call changes of it.
    pub state: ToolState,
    /// Aborted when the call, or the job it began, is cancelled.
    pub signal: Option<AbortSignal>,
    /// What the page gives its tools.
    pub services: ThreadServices,
}

/// Every tool that runs in the page, by name.
#[derive(Default)]
pub struct BrowserTools {
    table: RefCell<Names<BrowserTool>>,
}

impl BrowserTools {
    /// Adds one.
    pub fn insert(&self, name: &str, tool: BrowserTool) {
        self.table.borrow_mut().insert(name.to_owned(), tool);
    }

    /// Takes one out.
    pub fn remove(&self, name: &str) {
        self.table.borrow_mut().remove(name);
    }

    /// What runs a tool.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<BrowserTool> {
        self.table.borrow().get(name).cloned()
    }
}

/// The tools every page gets; `element` is where their events start.
#[must_use]
pub fn built_in(element: &HtmlElement) -> Vec<(Definition, BrowserTool)> {
    let router = element.clone();
    vec![
        (navigate::definition(), tool(move |arguments, context| navigate::call(router.clone(), arguments, context))),
        (page_read::definition(), tool(|_, _| async { page_read::call() })),
        (clipboard::write_definition(), tool(clipboard::write)),
        (clipboard::read_definition(), tool(|_, _| clipboard::read())),
        (highlight::scroll_definition(), tool(|arguments, _| async move { highlight::scroll_to(&arguments) })),
        (highlight::definition(), tool(|arguments, _| highlight::highlight(arguments))),
        (open_link::definition(), tool(|arguments, _| async move { open_link::call(&arguments) })),
        (
            artifact_read::definition(),
            tool(|arguments, context| async move { artifact_read::call(&arguments, &context).await }),
        ),
    ]
}

fn tool<F>(run: impl Fn(Value, ToolContext) -> F + 'static) -> BrowserTool
where
    F: Future<Output = Outcome> + 'static,
{
    Rc::new(move |arguments, context| Box::pin(run(arguments, context)))
}

// What the built-in definitions share.
fn definition(
    name: &str,
    label: &str,
    approval: Approval,
    description: &str,
    properties: Value,
    required: &[&str],
) -> Definition {
    let mut parameters = json!({ "type": "object", "required": required, "additionalProperties": false });
    parameters["properties"] = properties;
    let mut definition = Definition::new(name, description, Scope::Browser, Risk::Read);
    definition.owner = "pagehand".to_owned();
    definition.parameters = Arc::new(parameters);
    definition.approval = approval;
    definition.label = label.into();
    definition
}

fn text<'a>(arguments: &'a Value, name: &str) -> &'a str {
    arguments.get(name).and_then(Value::as_str).unwrap_or_default()
}

fn failed(name: &str, words: &str) -> Outcome {
    Outcome::Error(error::tool_error(name, words))
}

/// The words of whatever JavaScript threw: an `Error`'s message, a `DOMException`'s, or the thing itself.
pub(crate) fn thrown_words(thrown: &JsValue) -> String {
    if let Some(text) = thrown.as_string() {
        return text;
    }
    let message = js_sys::Reflect::get(thrown, &JsValue::from_str("message")).ok().and_then(|words| words.as_string());
    message.filter(|words| !words.is_empty()).unwrap_or_else(|| {
        thrown
            .dyn_ref::<js_sys::Object>()
            .map_or("something without a message was thrown".to_owned(), |object| String::from(object.to_string()))
    })
}

/// The `name` of whatever JavaScript threw: `NotAllowedError`, say.
pub(crate) fn thrown_name(thrown: &JsValue) -> String {
    js_sys::Reflect::get(thrown, &JsValue::from_str("name")).ok().and_then(|name| name.as_string()).unwrap_or_default()
}
