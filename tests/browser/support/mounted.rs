//! A panel in a shadow root, as an element holds it, and a person's ways to find things in it.

use pagehand::js::Instance;
use pagehand::tools::Definition;
use serde_json::{Value, json};
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{Element, HtmlElement, HtmlTextAreaElement, ShadowRoot};

use crate::support::fake::{Asked, Body, Network, evaluate, open_shadow, press};
use crate::support::stream::{calling, saying, started, text, text_start};
use crate::support::{Place, document, fresh_name, listing, until, until_so};

/// A panel on the page.
pub(crate) struct Mounted {
    pub(crate) instance: Instance,
    pub(crate) element: HtmlElement,
    pub(crate) root: ShadowRoot,
    pub(crate) name: String,
    _place: Place,
}

impl Mounted {
    /// A panel whose gateway has no tools.
    pub(crate) async fn new(network: &Network) -> Self {
        Self::serving(network, &[]).await
    }

    /// A panel whose gateway has these tools.
    pub(crate) async fn serving(network: &Network, tools: &[Definition]) -> Self {
        let panel = Self::waiting(&fresh_name());
        network.asked("/tools").await.answer_json(200, &listing(tools));
        panel.button("Open the orders").await;
        panel
    }

    /// A panel without a gateway.
    pub(crate) fn alone(name: &str) -> Self {
        Self::behind("none", name)
    }

    /// A panel that still waits for its gateway.
    pub(crate) fn waiting(name: &str) -> Self {
        Self::behind("/", name)
    }

    fn behind(gateway: &str, name: &str) -> Self {
        let place = Place::new();
        let root = open_shadow(&place.0);
        let mount: HtmlElement = document().create_element("div").unwrap().unchecked_into();
        root.append_child(&mount).unwrap();
        let options = json!({ "gateway": gateway, "label": "Helper", "name": name }).to_string();
        let options = js_sys::JSON::parse(&options).unwrap();
        let instance = Instance::new(&place.0, mount, options, None).unwrap();
        Self { instance, element: place.0.clone(), root, name: name.to_owned(), _place: place }
    }

    pub(crate) fn find(&self, selector: &str) -> Option<HtmlElement> {
        self.root.query_selector(selector).unwrap().map(JsCast::unchecked_into)
    }

    /// Every element that fits, in order.
    pub(crate) fn all(&self, selector: &str) -> Vec<Element> {
        let found = self.root.query_selector_all(selector).unwrap();
        (0..found.length()).map(|at| found.item(at).unwrap().unchecked_into()).collect()
    }

    /// The element, once it is there.
    pub(crate) async fn the(&self, selector: &str) -> HtmlElement {
        until(selector, || self.find(selector)).await
    }

    /// The part, once it is there.
    pub(crate) async fn part(&self, name: &str) -> HtmlElement {
        self.the(&format!("[part={name}]")).await
    }

    /// The button that reads so, once it is there.
    pub(crate) async fn button(&self, words: &str) -> HtmlElement {
        until(&format!("a button {words:?}"), || self.find_button(words)).await
    }

    pub(crate) fn find_button(&self, words: &str) -> Option<HtmlElement> {
        self.all("button").into_iter().find(|button| text_of(button) == words).map(JsCast::unchecked_into)
    }

    /// Waits until an element reads so.
    pub(crate) async fn reads(&self, selector: &str, words: &str) {
        let what = format!("{selector} to read {words:?}");
        until_so(&what, || self.find(selector).is_some_and(|element| text_of(&element).contains(words))).await;
    }

    pub(crate) fn composer(&self) -> HtmlTextAreaElement {
        self.find("[part=input]").unwrap().unchecked_into()
    }

    /// Writes and presses Enter.
    pub(crate) fn send(&self, words: &str) {
        self.composer().set_value(words);
        assert!(press(&self.composer(), "Enter"), "the composer takes Enter");
    }

    /// Sends, and gives the model's answer on its way.
    pub(crate) async fn ask(&self, network: &Network, words: &str) -> Body {
        self.send(words);
        network.asked("/agent").await.answer(200)
    }

    /// Asks, and has these words answered.
    pub(crate) async fn hear(&self, network: &Network, question: &str, words: &str) {
        let body = self.ask(network, question).await;
        body.send(&saying(words));
        body.end();
        self.reads(".items > :last-child .md", words).await;
    }

    /// A panel whose user has asked, and has been told.
    pub(crate) async fn told(network: &Network) -> Self {
        let panel = Self::new(network).await;
        panel.hear(network, "Tell me.", "It was sent.").await;
        panel
    }

    /// A panel in the middle of an answer: "It was ". The rest is still to come.
    pub(crate) async fn being_told(network: &Network) -> (Self, Body) {
        let panel = Self::new(network).await;
        let body = panel.ask(network, "Tell me.").await;
        body.send_all(&[started(), text_start(), text("It was ")]);
        panel.reads(".md", "It was").await;
        (panel, body)
    }

    /// Registers a tool of the page: the function is a JavaScript expression.
    pub(crate) fn register(&self, name: &str, run: &str) {
        let definition = json!({
            "name": name, "owner": "tests", "risk": "read", "parameters": { "type": "object" },
            "description": "Answers what the test that registered it says it answers.",
        });
        self.try_register(&definition, run).unwrap();
    }

    pub(crate) fn try_register(&self, definition: &Value, run: &str) -> Result<(), JsValue> {
        let definition = js_sys::JSON::parse(&definition.to_string()).unwrap();
        self.instance.register_tool(definition, evaluate(run), &JsValue::UNDEFINED)
    }

    /// Lets the model call a tool, and gives what the model reads of it.
    pub(crate) async fn result_of(&self, network: &Network, tool: &str, arguments: &Value) -> Value {
        self.send("Do it.");
        let body = network.asked("/agent").await.answer(200);
        body.send(&calling(&[(&fresh_name(), tool, arguments.clone())]));
        body.end();
        let asked = network.asked("/agent").await;
        let result = results_in(&asked).await.remove(0);
        asked.answer_text(200, "{}", &saying("Done."));
        result
    }
}

/// The words of an element, as one line.
pub(crate) fn text_of(element: &Element) -> String {
    element.text_content().unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The tool results a request ends with, in order.
pub(crate) async fn results_in(asked: &Asked) -> Vec<Value> {
    let request = asked.json().await;
    let messages = request["messages"].as_array().unwrap();
    let first = messages.iter().rposition(|message| message["role"] != "tool").map_or(0, |at| at + 1);
    let read = |message: &Value| serde_json::from_str(message["content"].as_str().unwrap()).unwrap();
    messages[first..].iter().map(read).collect()
}
