//! `navigate`: to another screen of the page's own site. Knows nothing of the page's router but how to ask it.
//!
//! Three ways, in this order:
//! 1. the event `pagehand-navigate`, for a page that wants to do it itself (and say when it is done);
//! 2. a click on a link, which the routers of the usual frameworks take;
//! 3. the browser follows that link, and the document is left, once the other calls of the step are done. The page that
//!    comes then takes the run up and says where it is: the call is made again, and told that it was made before.

use std::cell::RefCell;
use std::rc::Rc;

use js_sys::{Object, Promise, Reflect};
use serde_json::{Value, json};
use wasm_bindgen::JsValue;
use wasm_bindgen::closure::Closure;
use wasm_bindgen_futures::JsFuture;
use web_sys::{CustomEvent, CustomEventInit, HtmlElement, MouseEvent, MouseEventInit};

use crate::browser::clock;
use crate::browser::tools::{ToolContext, definition as shared, failed, text, thrown_words};
use crate::browser::url::{Address, Kind};
use crate::protocol::{Outcome, ToolError};
use crate::tools::{Approval, Definition};

// How long a screen gets that does not say when it is done.
const SETTLE_MS: u64 = 120;
// How long the other calls of a step get before the document is left.
const OTHERS_MS: u64 = 30_000;
// How long the browser gets to leave it.
const LEAVE_MS: u64 = 15_000;

pub(super) fn definition() -> Definition {
    let description = "Opens another screen of this web site in the user's browser, by its address (a path such as \
         \"/orders\" or a full address of this site). Other sites are refused. Returns the resulting address and title.";
    let url = json!({ "type": "string", "minLength": 1, "maxLength": 2000, "description": "A path or address of this site." });
    let mut definition =
        shared("navigate", "Open a screen", Approval::Tool, description, json!({ "url": url }), &["url"]);
    definition.timeout_ms = Some(OTHERS_MS + LEAVE_MS + 5_000);
    definition
}

pub(super) async fn call(element: HtmlElement, arguments: Value, context: ToolContext) -> Outcome {
    let wanted = text(&arguments, "url");
    if context.request.resumed {
        return arrived(wanted);
    }
    let Some(address) = Address::parse(wanted) else {
        return failed("navigate", &format!("\"{wanted}\" is not an address"));
    };
    if address.kind() != Kind::SameOrigin {
        let words = format!(
            "\"navigate\" opens screens of this site only; {} is not one. Use open_link for other sites.",
            address.href()
        );
        return Outcome::Error(ToolError::new("refused", words));
    }
    match ask_page(&element, &address) {
        Asked::Handled(Some(done)) => {
            if let Err(thrown) = JsFuture::from(done).await {
                return failed("navigate", &thrown_words(&thrown));
            }
        }
        Asked::Handled(None) => clock::sleep(SETTLE_MS).await,
        Asked::Ignored => {
            // Leaving the document cuts the other calls of this step off.
            let patience = clock::now() + OTHERS_MS;
            while context.services.is_busy_beside(&context.request.call) && clock::now() < patience {
                clock::sleep(20).await;
            }
            if follow_link(&address) || address.is_on_this_page() {
                clock::sleep(SETTLE_MS).await;
            } else {
                // The document is being left; what is not done by now is done by the next page.
                clock::sleep(LEAVE_MS).await;
                return failed("navigate", "the browser did not leave the page");
            }
        }
    }
    here().map_or_else(
        || failed("navigate", "there is no window"),
        |(address, title)| Outcome::Result(json!({ "address": address, "title": title })),
    )
}

// The document was left, and this is the one that came.
fn arrived(wanted: &str) -> Outcome {
    let Some((address, title)) = here() else { return failed("navigate", "there is no window") };
    let there = Address::parse(wanted).is_some_and(|wanted| wanted.href() == address);
    let mut result = json!({ "address": address, "title": title });
    if !there {
        let note = "This is not the address that was asked for: the site led elsewhere (a sign-in page, say), or the user \
                    moved on. Go on from here, or ask the user.";
        result["note"] = Value::from(note);
    }
    Outcome::Result(result)
}

fn here() -> Option<(String, String)> {
    let window = web_sys::window()?;
    let title = window.document().map(|document| document.title()).unwrap_or_default();
    Some((window.location().href().ok()?, title))
}

enum Asked {
    Handled(Option<Promise>),
    Ignored,
}

fn ask_page(element: &HtmlElement, address: &Address) -> Asked {
    let promise: Rc<RefCell<Option<Promise>>> = Rc::default();
    let given = Rc::clone(&promise);
    let wait_until = Closure::<dyn FnMut(JsValue)>::new(move |value: JsValue| {
        *given.borrow_mut() = Some(Promise::resolve(&value));
    });
    let detail = Object::new();
    let set = |name: &str, value: &JsValue| Reflect::set(&detail, &JsValue::from_str(name), value).is_ok();
    set("url", &JsValue::from_str(&address.path()));
    set("waitUntil", wait_until.as_ref());
    let init = CustomEventInit::new();
    init.set_bubbles(true);
    init.set_composed(true);
    init.set_cancelable(true);
    init.set_detail(&detail);
    let handled = CustomEvent::new_with_event_init_dict("pagehand-navigate", &init)
        .ok()
        .is_some_and(|event| !element.dispatch_event(&event).unwrap_or(true));
    let promise = promise.borrow_mut().take();
    if handled { Asked::Handled(promise) } else { Asked::Ignored }
}

/// Clicks a link to the address; `true` where the page's router took it.
fn follow_link(address: &Address) -> bool {
    let Some(document) = web_sys::window().and_then(|window| window.document()) else { return false };
    let (Some(body), Ok(link)) = (document.body(), document.create_element("a")) else { return false };
    let _ = link.set_attribute("href", &address.href());
    let _ = link.set_attribute("hidden", "");
    let _ = body.append_child(&link);
    let init = MouseEventInit::new();
    init.set_bubbles(true);
    init.set_cancelable(true);
    let click = MouseEvent::new_with_mouse_event_init_dict("click", &init);
    let taken = click.and_then(|click| link.dispatch_event(&click)).map(|followed| !followed);
    link.remove();
    taken.unwrap_or(false)
}
