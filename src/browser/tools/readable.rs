//! What of the page may be read: what is in sight and not private. Knows nothing of how it is written down.

use js_sys::{Function, Object, Reflect};
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{Element, HtmlElement, Node};

/// Whether nothing of an element may be read.
pub(super) fn is_left_out(element: &Element) -> bool {
    let tag = element.tag_name().to_ascii_lowercase();
    matches!(
        tag.as_str(),
        "script" | "style" | "template" | "noscript" | "iframe" | "object" | "svg" | "canvas" | "page-hand"
    ) || element.has_attribute("hidden")
        || element.has_attribute("data-pagehand-private")
        || element.get_attribute("aria-hidden").as_deref() == Some("true")
        || !is_visible(element)
}

/// The words in an element, on one line: without what may not be read, and without the contents of fields.
pub(super) fn words_of(element: &Element) -> String {
    let mut text = String::new();
    collect(element, &mut text);
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn collect(element: &Element, text: &mut String) {
    let mut next = element.first_child();
    while let Some(node) = next {
        if node.node_type() == Node::TEXT_NODE {
            text.push_str(&node.text_content().unwrap_or_default());
        } else if let Some(child) = node.dyn_ref::<Element>()
            && !is_field(child)
            && !is_left_out(child)
        {
            collect(child, text);
        }
        next = node.next_sibling();
    }
}

fn is_field(element: &Element) -> bool {
    matches!(element.tag_name().to_ascii_lowercase().as_str(), "input" | "textarea" | "select")
}

fn is_visible(element: &Element) -> bool {
    // Not in every web-sys yet: Chrome 105, Firefox 106, Safari 17.4.
    let check = Reflect::get(element, &JsValue::from_str("checkVisibility")).ok();
    let seen = match check.and_then(|check| check.dyn_into::<Function>().ok()) {
        Some(check) => {
            let options = Object::new();
            let _ = Reflect::set(&options, &JsValue::from_str("visibilityProperty"), &JsValue::TRUE);
            check.call1(element, &options).is_ok_and(|visible| visible.is_truthy())
        }
        None => element.dyn_ref::<HtmlElement>().is_none_or(|element| element.offset_width() > 0),
    };
    seen || has_no_box(element)
}

// `display: contents`: it is not drawn, but what is in it is.
fn has_no_box(element: &Element) -> bool {
    let style = web_sys::window().and_then(|window| window.get_computed_style(element).ok().flatten());
    style.and_then(|style| style.get_property_value("display").ok()).as_deref() == Some("contents")
}
