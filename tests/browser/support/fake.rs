//! Stand-ins for the network, the clipboard and new tabs. Each is put back when it is dropped.

use pagehand::browser::sleep;
use serde_json::Value;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use web_sys::{Element, ShadowRoot};

use crate::support::until;

#[wasm_bindgen(module = "/tests/browser/support/fake.js")]
extern "C" {
    type FakeFetch;
    #[wasm_bindgen(constructor)]
    fn new() -> FakeFetch;
    #[wasm_bindgen(method)]
    fn take(this: &FakeFetch, path: &str) -> Option<Asked>;
    #[wasm_bindgen(method)]
    fn count(this: &FakeFetch, path: &str) -> u32;
    #[wasm_bindgen(method)]
    fn remove(this: &FakeFetch);

    /// A request that waits for its answer.
    pub(crate) type Asked;
    #[wasm_bindgen(method, getter)]
    pub(crate) fn method(this: &Asked) -> String;
    #[wasm_bindgen(method, getter, js_name = aborted)]
    pub(crate) fn is_aborted(this: &Asked) -> bool;
    #[wasm_bindgen(method)]
    pub(crate) fn header(this: &Asked, name: &str) -> Option<String>;
    #[wasm_bindgen(method)]
    pub(crate) fn fail(this: &Asked);
    #[wasm_bindgen(method, js_name = body)]
    fn body_text(this: &Asked) -> js_sys::Promise;
    #[wasm_bindgen(method, js_name = answer)]
    fn answer_with(this: &Asked, status: u16, headers: &str) -> Body;

    /// An answer's body on its way.
    pub(crate) type Body;
    #[wasm_bindgen(method, js_name = send)]
    pub(crate) fn send_bytes(this: &Body, bytes: &[u8]);
    #[wasm_bindgen(method)]
    pub(crate) fn end(this: &Body);
    #[wasm_bindgen(method)]
    pub(crate) fn lose(this: &Body);

    type FakeClipboard;
    #[wasm_bindgen(constructor)]
    fn new(text: &str, locked: bool) -> FakeClipboard;
    #[wasm_bindgen(method, getter)]
    fn text(this: &FakeClipboard) -> String;
    #[wasm_bindgen(method)]
    fn unlock(this: &FakeClipboard);
    #[wasm_bindgen(method)]
    fn remove(this: &FakeClipboard);

    type FakeTabs;
    #[wasm_bindgen(constructor)]
    fn new() -> FakeTabs;
    #[wasm_bindgen(method, getter)]
    fn words(this: &FakeTabs) -> String;
    #[wasm_bindgen(method)]
    fn remove(this: &FakeTabs);

    #[wasm_bindgen(js_name = press)]
    fn press_key(element: &Element, key: &str, more: &str) -> bool;

    /// Gives an element an open shadow root.
    #[wasm_bindgen(js_name = openShadow)]
    pub(crate) fn open_shadow(element: &Element) -> ShadowRoot;

    /// What an expression is in the page.
    pub(crate) fn evaluate(expression: &str) -> JsValue;
}

/// The network.
pub(crate) struct Network(FakeFetch);

impl Network {
    pub(crate) fn install() -> Self {
        Self(FakeFetch::new())
    }

    /// The next request for this path.
    pub(crate) async fn asked(&self, path: &str) -> Asked {
        until(&format!("a request for {path}"), || self.0.take(path)).await
    }

    /// How many requests there were for this path, after a moment in which another could have come.
    pub(crate) async fn count(&self, path: &str) -> u32 {
        sleep(30).await;
        self.0.count(path)
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        self.0.remove();
    }
}

impl Asked {
    pub(crate) async fn json(&self) -> Value {
        let text = JsFuture::from(self.body_text()).await.unwrap().as_string().unwrap();
        serde_json::from_str(&text).unwrap()
    }

    pub(crate) fn answer(&self, status: u16) -> Body {
        self.answer_with(status, "{}")
    }

    /// Answers with a head of these headers, a JSON object; the body is sent piece by piece.
    pub(crate) fn answer_with_headers(&self, status: u16, headers: &str) -> Body {
        self.answer_with(status, headers)
    }

    pub(crate) fn answer_json(&self, status: u16, body: &Value) {
        self.answer_text(status, "{}", &body.to_string());
    }

    /// Answers at once; `headers` is a JSON object.
    pub(crate) fn answer_text(&self, status: u16, headers: &str, text: &str) {
        let body = self.answer_with(status, headers);
        body.send(text);
        body.end();
    }
}

impl Body {
    pub(crate) fn send(&self, text: &str) {
        self.send_bytes(text.as_bytes());
    }

    pub(crate) fn send_all(&self, frames: &[String]) {
        self.send(&frames.concat());
    }
}

/// The clipboard.
pub(crate) struct ClipboardStub(FakeClipboard);

impl ClipboardStub {
    pub(crate) fn with(text: &str) -> Self {
        Self(FakeClipboard::new(text, false))
    }

    /// One that wants the user's click first.
    pub(crate) fn locked() -> Self {
        Self(FakeClipboard::new("", true))
    }

    pub(crate) fn unlock(&self) {
        self.0.unlock();
    }

    pub(crate) fn text(&self) -> String {
        self.0.text()
    }
}

impl Drop for ClipboardStub {
    fn drop(&mut self) {
        self.0.remove();
    }
}

/// `window.open`.
pub(crate) struct Tabs(FakeTabs);

impl Tabs {
    pub(crate) fn install() -> Self {
        Self(FakeTabs::new())
    }

    /// What was opened: a line each of address, target and features.
    pub(crate) fn opened(&self) -> String {
        self.0.words()
    }
}

impl Drop for Tabs {
    fn drop(&mut self) {
        self.0.remove();
    }
}

/// Presses a key; `true` where somebody took it.
pub(crate) fn press(element: &Element, key: &str) -> bool {
    press_with(element, key, "{}")
}

/// The same with more properties of the event, as JSON.
pub(crate) fn press_with(element: &Element, key: &str, more: &str) -> bool {
    press_key(element, key, more)
}
