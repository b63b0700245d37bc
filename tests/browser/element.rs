//! The life of a panel in its element: mounted, heard, taken down.

use std::cell::RefCell;
use std::rc::Rc;

use pagehand::js::{Instance, style};
use serde_json::{Value, json};
use wasm_bindgen::closure::Closure;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_test::wasm_bindgen_test as test;
use web_sys::{CustomEvent, HtmlElement};

use crate::support::fake::{Network, evaluate};
use crate::support::mounted::Mounted;
use crate::support::stream::{calling, saying, started, text, text_start};
use crate::support::{Place, fresh_name, until_so};

#[test]
async fn taking_a_panel_down_removes_its_nodes_and_lets_go_of_its_connections() {
    let network = Network::install();
    let mut panel = Mounted::new(&network).await;
    panel.send("Hello");
    let model = network.asked("/agent").await;
    model.answer(200).send_all(&[started(), text_start(), text("Well,")]);
    panel.reads(".md", "Well,").await;
    panel.instance.unmount();
    assert!(panel.find("[part=panel]").is_none());
    until_so("the model's abort", || model.is_aborted()).await;

    panel.instance.unmount();
    let _ = panel.instance.send(&"to nobody".into());
    panel.instance.stop();
    assert_eq!(network.count("/agent").await, 1);
}

#[test]
async fn a_tool_at_work_hears_that_the_panel_is_gone() {
    let network = Network::install();
    let panel = Mounted::new(&network).await;
    evaluate("globalThis.gone = 'not yet'");
    panel.register(
        "page_tool",
        "(args, { signal }) => new Promise(() => signal.addEventListener('abort', () => { gone = 'heard'; }))",
    );
    let body = panel.ask(&network, "Do it.").await;
    body.send(&calling(&[("c1", "page_tool", json!({}))]));
    body.end();
    panel.the("[data-state=running]").await;
    drop(panel);
    until_so("the signal", || evaluate("gone") == "heard").await;
}

#[test]
async fn a_panel_that_goes_before_its_gateway_answered_lets_go_of_that_too() {
    let network = Network::install();
    let panel = Mounted::waiting(&fresh_name());
    let listing = network.asked("/tools").await;
    drop(panel);
    until_so("the abort", || listing.is_aborted()).await;
}

#[test]
async fn two_panels_in_one_page_know_nothing_of_each_other() {
    let network = Network::install();
    let (one, mut other) = (Mounted::new(&network).await, Mounted::new(&network).await);
    assert_ne!(one.instance.thread(), other.instance.thread());
    one.register("page_tool", "() => 'one'");
    other.register("page_tool", "() => 'other'");
    assert_eq!(other.result_of(&network, "page_tool", &json!({})).await, "other");
    assert!(one.find("[part=user-message]").is_none());

    one.send("Hello");
    let model = network.asked("/agent").await;
    other.instance.unmount();
    assert!(!model.is_aborted(), "the end of one is not the other's");
    model.answer_text(200, "{}", &saying("Still here."));
    one.reads(".md", "Still here.").await;
    assert_eq!(one.result_of(&network, "page_tool", &json!({})).await, "one");
}

#[test]
async fn the_page_hears_of_a_run_as_the_contract_says() {
    let network = Network::install();
    let panel = Mounted::new(&network).await;
    let heard = Heard::on(&panel.element);
    panel.register("page_tool", "() => 1");
    panel.result_of(&network, "page_tool", &json!({ "n": 1 })).await;
    panel.reads(".md", "Done.").await;
    let names =
        ["pagehand-run-start", "input-streaming", "input-available", "running", "result-available", "pagehand-run-end"];
    until_so("the end", || heard.words().last().is_some_and(|last| last == "pagehand-run-end")).await;
    assert_eq!(heard.words(), names);
    let details = heard.details();
    assert_eq!(details[0]["message"], "Do it.");
    let call = &details[4];
    assert_eq!((&call["name"], &call["scope"]), (&json!("page_tool"), &json!("browser")));
    assert_eq!(call["arguments"], "{\"n\":1}");
    assert_eq!(details[5]["reason"], "completed");
    assert_eq!(details[5]["runId"], details[0]["runId"]);

    panel.send("Again");
    network.asked("/agent").await.fail();
    until_so("the wait", || heard.words().iter().any(|word| word == "pagehand-waiting")).await;
    let wait = heard.details().pop().unwrap();
    assert_eq!((&wait["why"], &wait["attempt"], &wait["of"]), (&json!("retry"), &json!(1), &json!(4)));
    assert_eq!(wait["code"], "network");
    let request = network.asked("/agent").await;
    request.answer_text(401, "{}", "");
    until_so("the error", || heard.words().iter().any(|word| word == "pagehand-error")).await;
    assert_eq!(heard.details()[8]["code"], "auth");
}

#[test]
fn options_of_another_shape_are_refused_with_a_code() {
    let place = Place::new();
    let options = evaluate("({ gateway: Symbol('x') })");
    let thrown = Instance::new(&place.0, place.0.clone(), options, None).err().unwrap();
    assert_eq!(js_sys::Reflect::get(&thrown, &"code".into()).unwrap(), "invalid_options");
    assert_eq!(place.0.child_element_count(), 0);
}

#[test]
async fn the_close_button_is_there_for_those_who_can_be_closed() {
    let _network = Network::install();
    let place = Place::new();
    evaluate("globalThis.closings = 0");
    let close = evaluate("() => { closings += 1; }").unchecked_into();
    let options = js_sys::JSON::parse(&json!({ "name": fresh_name() }).to_string()).unwrap();
    let _instance = Instance::new(&place.0, place.0.clone(), options, Some(close)).unwrap();
    let button: HtmlElement = place.0.query_selector("[aria-label=Close]").unwrap().unwrap().unchecked_into();
    button.click();
    assert_eq!(evaluate("closings"), 1);

    let inline = Mounted::waiting(&fresh_name());
    assert!(inline.find("[aria-label=Close]").is_none());
}

#[test]
fn the_style_sheet_is_one_that_a_root_can_adopt() {
    let adopt = "(css) => { const sheet = new CSSStyleSheet(); sheet.replaceSync(css); return sheet.cssRules.length; }";
    let rules = evaluate(adopt).unchecked_into::<js_sys::Function>().call1(&JsValue::NULL, &style().into()).unwrap();
    assert!(rules.as_f64().unwrap() > 20.0, "{rules:?}");
}

/// The events of an element: a call's by its state, the others by their name.
struct Heard {
    events: Rc<RefCell<Vec<(String, Value)>>>,
    element: HtmlElement,
    listener: Closure<dyn FnMut(CustomEvent)>,
}

impl Heard {
    const NAMES: [&'static str; 5] =
        ["pagehand-run-start", "pagehand-tool-call", "pagehand-waiting", "pagehand-run-end", "pagehand-error"];

    fn on(element: &HtmlElement) -> Self {
        let events = Rc::<RefCell<Vec<(String, Value)>>>::default();
        let hearing = Rc::clone(&events);
        let listener = Closure::new(move |event: CustomEvent| {
            let detail = js_sys::JSON::stringify(&event.detail()).unwrap().as_string().unwrap();
            let detail: Value = serde_json::from_str(&detail).unwrap();
            let word = detail["state"].as_str().map_or_else(|| event.type_(), str::to_owned);
            hearing.borrow_mut().push((word, detail));
        });
        for name in Self::NAMES {
            element.add_event_listener_with_callback(name, listener.as_ref().unchecked_ref()).unwrap();
        }
        Self { events, element: element.clone(), listener }
    }

    fn words(&self) -> Vec<String> {
        self.events.borrow().iter().map(|(word, _)| word.clone()).collect()
    }

    fn details(&self) -> Vec<Value> {
        self.events.borrow().iter().map(|(_, detail)| detail.clone()).collect()
    }
}

impl Drop for Heard {
    fn drop(&mut self) {
        for name in Self::NAMES {
            let _ = self.element.remove_event_listener_with_callback(name, self.listener.as_ref().unchecked_ref());
        }
    }
}
