//! What several files of tests need: stand-ins for the world, an agent's words, a mounted panel, a way to wait.

pub(crate) mod database;
pub(crate) mod fake;
pub(crate) mod mounted;
pub(crate) mod stream;

use std::cell::Cell;
use std::sync::Arc;

use gloo_net::http::Request;
use pagehand::agent::ToolRequest;
use pagehand::browser::{now, sleep};
use pagehand::protocol::{Risk, RunId, Scope, ThreadId, ToolCallId};
use pagehand::tools::Definition;
use serde_json::{Value, json};
use wasm_bindgen::JsCast;
use web_sys::{Document, HtmlElement};

/// Waits until there is something, and takes it.
pub(crate) async fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let patience = now() + 10_000;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(now() < patience, "waited in vain for {what}");
        sleep(4).await;
    }
}

/// Waits until something holds.
pub(crate) async fn until_so(what: &str, mut holds: impl FnMut() -> bool) {
    until(what, || holds().then_some(())).await;
}

pub(crate) fn document() -> Document {
    web_sys::window().unwrap().document().unwrap()
}

/// An element at the beginning of the page, which is there as long as this is.
pub(crate) struct Place(pub(crate) HtmlElement);

impl Place {
    pub(crate) fn new() -> Self {
        let element: HtmlElement = document().create_element("div").unwrap().unchecked_into();
        document().body().unwrap().prepend_with_node_1(&element).unwrap();
        Self(element)
    }

    pub(crate) fn holding(html: &str) -> Self {
        let place = Self::new();
        place.0.set_inner_html(html);
        place
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.0.remove();
    }
}

/// A file of the repository, where it is there.
pub(crate) async fn text(path: &str) -> Option<String> {
    let response = Request::get(path).send().await.ok().filter(gloo_net::http::Response::ok)?;
    response.text().await.ok()
}

/// A name that no other test has, so that no two share a journal.
pub(crate) fn fresh_name() -> String {
    thread_local!(static COUNT: Cell<u32> = const { Cell::new(0) });
    let count = COUNT.get();
    COUNT.set(count + 1);
    format!("test-{count}")
}

/// A tool that takes anything.
pub(crate) fn definition(name: &str, scope: Scope, risk: Risk) -> Definition {
    let mut definition = Definition::new(name, "Answers what the test that called it says it answers.", scope, risk);
    definition.owner = "tests".to_owned();
    definition.parameters = Arc::new(json!({ "type": "object" }));
    definition
}

/// A call of a tool of this definition.
pub(crate) fn tool_request(definition: Definition, arguments: Value) -> ToolRequest {
    ToolRequest {
        call: ToolCallId::from("call00001"),
        name: definition.name.clone(),
        scope: definition.scope,
        definition: Arc::new(definition),
        arguments,
        approved: false,
        payload: Value::Null,
        job: None,
        resumed: false,
        thread: ThreadId::from("thread001"),
        run: RunId::from("run000001"),
        step: 2,
        agent: "tester".to_owned(),
        state: Arc::default(),
    }
}

/// What `GET /tools` answers.
pub(crate) fn listing(tools: &[Definition]) -> Value {
    let listed = |tool: &Definition| {
        let mut json = tool.to_json();
        json["hash"] = Value::from(tool.hash());
        json
    };
    json!({
        "agent": { "label": "A scripted model", "suggestions": ["Where is order A-1042?", "Open the orders"] },
        "tools": tools.iter().map(listed).collect::<Vec<_>>(),
    })
}
