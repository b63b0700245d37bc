//! What is written and not sent: kept by thread, for as long as the tab lives.

use wasm_bindgen::JsCast;
use wasm_bindgen_test::wasm_bindgen_test as test;
use web_sys::HtmlElement;

use crate::support::fake::{Network, evaluate, press};
use crate::support::mounted::Mounted;
use crate::support::{fresh_name, listing, until_so};

fn leave_page() {
    let window = web_sys::window().unwrap();
    window.dispatch_event(&web_sys::Event::new("pagehide").unwrap()).unwrap();
}

async fn opened(network: &Network, name: &str) -> Mounted {
    let panel = Mounted::waiting(name);
    network.asked("/tools").await.answer_json(200, &listing(&[]));
    panel.part("input").await;
    panel
}

async fn holds(panel: &Mounted, words: &str) {
    until_so(&format!("the composer to hold {words:?}"), || panel.composer().value() == words).await;
}

#[test]
async fn a_draft_outlives_the_page_and_the_panel() {
    let network = Network::install();
    let name = fresh_name();
    let panel = opened(&network, &name).await;
    panel.composer().set_value("half a thought");
    leave_page();
    drop(panel);
    let next = opened(&network, &name).await;
    holds(&next, "half a thought").await;
    next.composer().set_value("half a thought, and more");
    drop(next);
    let last = opened(&network, &name).await;
    holds(&last, "half a thought, and more").await;
}

#[test]
async fn a_draft_belongs_to_its_thread() {
    let network = Network::install();
    let panel = Mounted::told(&network).await;
    let first = panel.instance.thread();
    panel.composer().set_value("for the first");
    panel.instance.new_thread();
    holds(&panel, "").await;
    panel.composer().set_value("for the second");
    panel.instance.open_thread(first);
    holds(&panel, "for the first").await;
    panel.instance.new_thread();
    holds(&panel, "").await;
}

#[test]
async fn what_is_sent_is_no_draft_any_more() {
    let network = Network::install();
    let name = fresh_name();
    let panel = opened(&network, &name).await;
    panel.composer().set_value("send me");
    leave_page();
    evaluate("dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))");
    holds(&panel, "send me").await;
    assert!(press(&panel.composer(), "Enter"));
    assert_eq!(panel.composer().value(), "");
    drop(panel);
    let next = opened(&network, &name).await;
    next.part("user-message").await;
    assert_eq!(next.composer().value(), "");
}

#[test]
async fn the_composer_grows_with_what_is_written() {
    let network = Network::install();
    let panel = opened(&network, &fresh_name()).await;
    let area = panel.composer();
    let high = || area.unchecked_ref::<HtmlElement>().offset_height();
    let empty = high();
    area.set_value("one\ntwo\nthree\nfour");
    area.dispatch_event(&web_sys::Event::new("input").unwrap()).unwrap();
    assert!(high() > empty + 40, "{empty} → {}", high());
    area.set_value("");
    area.dispatch_event(&web_sys::Event::new("input").unwrap()).unwrap();
    assert_eq!(high(), empty);
}
