//! Interfaces of the browser that are there and refuse: they throw, reject, or never answer. None of it may stop a panel.

use futures::StreamExt;
use pagehand::browser::{Claim, Gateway, is_online};
use pagehand::protocol::{FinishReason, ModelErrorKind, ModelEvent, ModelRequest, RunId, ThreadId};
use serde_json::json;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_test::wasm_bindgen_test as test;

use crate::support::fake::{Network, evaluate};
use crate::support::fresh_name;
use crate::support::mounted::Mounted;
use crate::support::stream::saying;

/// Something of the page's replaced by a JavaScript expression, and put back in the end.
struct Replaced(JsValue);

impl Replaced {
    fn of(holder: &str, name: &str, value: &str) -> Self {
        let put_back = evaluate(&format!(
            "(() => {{
                const holder = {holder}, before = Object.getOwnPropertyDescriptor(holder, '{name}');
                Object.defineProperty(holder, '{name}', {{ configurable: true, writable: true, value: {value} }});
                return () => before ? Object.defineProperty(holder, '{name}', before) : delete holder['{name}'];
            }})()"
        ));
        Self(put_back)
    }

    fn getter(holder: &str, name: &str, body: &str) -> Self {
        let put_back = evaluate(&format!(
            "(() => {{
                const holder = {holder}, before = Object.getOwnPropertyDescriptor(holder, '{name}');
                Object.defineProperty(holder, '{name}', {{ configurable: true, get() {{ {body} }} }});
                return () => before ? Object.defineProperty(holder, '{name}', before) : delete holder['{name}'];
            }})()"
        ));
        Self(put_back)
    }
}

impl Drop for Replaced {
    fn drop(&mut self) {
        self.0.unchecked_ref::<js_sys::Function>().call0(&JsValue::UNDEFINED).unwrap();
    }
}

const DENIED: &str = "new DOMException('The request was denied.', 'SecurityError')";

// ---- locks ----

async fn a_panel_without_locks_answers(locks: Replaced) {
    let network = Network::install();
    let panel = Mounted::new(&network).await;
    panel.hear(&network, "Are you there?", "I am.").await;
    assert!(panel.find("[part=take-over]").is_none(), "no other page has it");
    drop(locks);
}

#[test]
async fn locks_that_reject_are_no_locks() {
    let locks = Replaced::of(
        "navigator",
        "locks",
        &format!("{{ request: () => Promise.reject({DENIED}), query: () => Promise.reject({DENIED}) }}"),
    );
    assert!(Claim::new(&fresh_name(), false).unwrap().granted().await.is_none());
    assert!(Claim::new(&fresh_name(), true).unwrap().granted().await.is_none(), "nor can one be stolen");
    a_panel_without_locks_answers(locks).await;
}

#[test]
async fn locks_that_throw_are_no_locks() {
    let locks = Replaced::of("navigator", "locks", &format!("{{ request() {{ throw {DENIED}; }} }}"));
    assert!(Claim::new(&fresh_name(), false).is_none());
    a_panel_without_locks_answers(locks).await;
    a_panel_without_locks_answers(Replaced::getter("navigator", "locks", &format!("throw {DENIED};"))).await;
}

#[test]
async fn locks_that_never_answer_are_no_locks() {
    let never = "new Promise(() => {})";
    let locks = Replaced::of("navigator", "locks", &format!("{{ request: () => {never}, query: () => {never} }}"));
    a_panel_without_locks_answers(locks).await;
}

// ---- fetch ----

async fn events_of_fetch(fetch: &str) -> Vec<ModelEvent> {
    let _fetch = Replaced::of("globalThis", "fetch", fetch);
    let request = ModelRequest::new(ThreadId::from("t"), RunId::from("r"));
    Gateway::new("/").call_model(&request).collect().await
}

#[test]
async fn a_fetch_that_throws_or_answers_nothing_is_an_error_in_words() {
    for fetch in ["() => { throw new Error('blocked'); }", "() => undefined", "undefined", "async () => null"] {
        match events_of_fetch(fetch).await.as_slice() {
            [ModelEvent::Error(error)] => assert_eq!(error.kind, ModelErrorKind::Network, "{fetch}"),
            other => panic!("{fetch}: {other:?}"),
        }
    }
}

#[test]
async fn a_fetch_that_is_the_pages_own_is_asked_with_an_address_and_options() {
    let answer = serde_json::to_string(&saying("Hello.")).unwrap();
    let fetch = format!(
        "async (url, options = {{}}) => {{
            if (typeof url !== 'string' || !url.startsWith('/') || options.headers['content-type'] !== 'application/json') throw new Error('not understood');
            return new Response({answer});
        }}"
    );
    let events = events_of_fetch(&fetch).await;
    assert_eq!(events.last(), Some(&ModelEvent::Finish(FinishReason::Done)), "{events:?}");
}

#[test]
async fn an_answer_without_a_stream_is_read_whole() {
    let answer = serde_json::to_string(&saying("Hello.")).unwrap();
    // As a polyfill's: it has a text, and no body.
    let fetch = format!(
        "async () => ({{ status: 200, ok: true, headers: new Headers(), body: null, text: async () => {answer} }})"
    );
    let events = events_of_fetch(&fetch).await;
    assert_eq!(events.last(), Some(&ModelEvent::Finish(FinishReason::Done)), "{events:?}");
}

// ---- the rest ----

#[test]
async fn a_clipboard_that_is_not_there_or_throws_is_an_error_of_the_call() {
    let throws = format!("{{ writeText() {{ throw {DENIED}; }} }}");
    for clipboard in ["undefined", "{}", throws.as_str()] {
        let _clipboard = Replaced::of("navigator", "clipboard", clipboard);
        let network = Network::install();
        let panel = Mounted::new(&network).await;
        let result = panel.result_of(&network, "clipboard_write", &json!({ "text": "x" })).await;
        assert_eq!(result["status"], "error", "{clipboard}: {result}");
    }
}

#[test]
fn a_browser_that_says_nothing_of_the_network_has_one() {
    let _silent = Replaced::of("navigator", "onLine", "undefined");
    assert!(is_online());
    drop(_silent);
    let _throws = Replaced::getter("navigator", "onLine", "throw new Error('no')");
    assert!(is_online());
    drop(_throws);
    let _offline = Replaced::of("navigator", "onLine", "false");
    assert!(!is_online());
}

#[test]
async fn without_a_resize_observer_a_thread_is_shown_all_the_same() {
    for observer in ["undefined", "class { constructor() { throw new Error('no'); } }"] {
        let _observer = Replaced::of("globalThis", "ResizeObserver", observer);
        let network = Network::install();
        let panel = Mounted::new(&network).await;
        panel.hear(&network, "Are you there?", "I am.").await;
    }
}

// ---- prototypes that somebody changed ----

#[test]
async fn a_to_json_that_an_old_library_gives_to_every_array_changes_no_result() {
    let network = Network::install();
    let panel = Mounted::new(&network).await;
    // Only while this task lasts: what drives this browser writes JSON in the same page.
    panel.register(
        "page_tool",
        "() => {
            const before = Object.getOwnPropertyDescriptor(Date.prototype, 'toJSON');
            Array.prototype.toJSON = function () { return '[' + this.join(', ') + ']'; };
            Object.prototype.toJSON = function () { return 'an object'; };
            Date.prototype.toJSON = function () { return '\"' + this.getTime() + '\"'; };
            let left = 200;
            const restore = () => {
                if (left--) return queueMicrotask(restore);
                globalThis.kept = JSON.stringify([[1]]);
                delete Array.prototype.toJSON;
                delete Object.prototype.toJSON;
                Object.defineProperty(Date.prototype, 'toJSON', before);
            };
            queueMicrotask(restore);
            return {
                list: [1, 2, 3], deep: { more: [[4], []] }, day: new Date(0),
                own: new (class { toJSON() { return 'as it says'; } })(),
            };
        }",
    );
    let result = panel.result_of(&network, "page_tool", &json!({})).await;
    let wanted = json!({
        "list": [1, 2, 3], "deep": { "more": [[4], []] }, "day": "1970-01-01T00:00:00.000Z", "own": "as it says",
    });
    assert_eq!(result, wanted);
    assert_eq!(evaluate("globalThis.kept").as_string().unwrap(), "\"[1]\"", "the page keeps what it has");
}
