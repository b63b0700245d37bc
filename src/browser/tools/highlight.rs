//! `scroll_to` and `highlight`: show the user where something is. Change nothing that lasts.

use serde_json::{Value, json};
use wasm_bindgen::JsCast;
use web_sys::{Document, Element, HtmlElement, Node, ScrollBehavior, ScrollIntoViewOptions, ScrollLogicalPosition};

use crate::browser::clock;
use crate::browser::tools::{definition as shared, failed, text};
use crate::protocol::{Outcome, ToolError};
use crate::tools::{Approval, Definition};

const SHOWN_MS: u64 = 3000;

pub(super) fn scroll_definition() -> Definition {
    let description = "Scrolls the screen to the first visible place that holds the given text, as it reads on the \
         screen. Returns the text of that place. Use page_read first when you do not know what is there.";
    shared("scroll_to", "Scroll", Approval::Tool, description, json!({ "text": wanted() }))
}

pub(super) fn definition() -> Definition {
    let description = "Scrolls to the first visible place that holds the given text and marks it for three seconds, to \
         point something out to the user. Returns the text of that place.";
    shared("highlight", "Point out", Approval::Tool, description, json!({ "text": wanted() }))
}

pub(super) fn scroll_to(arguments: &Value) -> Outcome {
    match find(text(arguments, "text")) {
        Some(element) => show(&element),
        None => not_found(text(arguments, "text")),
    }
}

pub(super) async fn highlight(arguments: Value) -> Outcome {
    let Some(element) = find(text(&arguments, "text")) else { return not_found(text(&arguments, "text")) };
    let outcome = show(&element);
    if let Some(element) = element.dyn_ref::<HtmlElement>() {
        let mark = Mark::set(element);
        wasm_bindgen_futures::spawn_local(async move {
            clock::sleep(SHOWN_MS).await;
            drop(mark);
        });
    }
    outcome
}

fn wanted() -> Value {
    json!({ "type": "string", "minLength": 1, "maxLength": 300, "description": "Text as it reads on the screen." })
}

fn not_found(wanted: &str) -> Outcome {
    let words = format!("Nothing on this screen reads \"{wanted}\". Use page_read to see what there is.");
    Outcome::Error(ToolError::new("not_found", words))
}

fn show(element: &Element) -> Outcome {
    let options = ScrollIntoViewOptions::new();
    let calm = web_sys::window()
        .and_then(|window| window.match_media("(prefers-reduced-motion: reduce)").ok().flatten())
        .is_some_and(|query| query.matches());
    options.set_behavior(if calm { ScrollBehavior::Instant } else { ScrollBehavior::Smooth });
    options.set_block(ScrollLogicalPosition::Center);
    element.scroll_into_view_with_scroll_into_view_options(&options);
    let words = element.text_content().unwrap_or_default();
    let words: String = words.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(300).collect();
    if words.is_empty() {
        failed("scroll_to", "the place is empty")
    } else {
        Outcome::Result(json!({ "shown": words }))
    }
}

/// The innermost visible element whose text holds the words, letter case aside.
fn find(wanted: &str) -> Option<Element> {
    let document: Document = web_sys::window()?.document()?;
    let wanted = wanted.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
    search(&document.body()?.into(), &wanted, 0)
}

fn search(element: &Element, wanted: &str, depth: usize) -> Option<Element> {
    let skipped =
        matches!(element.tag_name().to_ascii_lowercase().as_str(), "script" | "style" | "page-hand" | "template");
    if depth > 64 || skipped || !reads(element, wanted) {
        return None;
    }
    let mut next = element.first_element_child();
    while let Some(child) = next {
        if let Some(found) = search(&child, wanted, depth + 1) {
            return Some(found);
        }
        next = child.next_element_sibling();
    }
    let visible = element.get_client_rects().length() > 0;
    visible.then(|| element.clone())
}

fn reads(node: &Node, wanted: &str) -> bool {
    let text = node.text_content().unwrap_or_default();
    text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase().contains(wanted)
}

/// An outline that is taken back when it is dropped. Set through the CSSOM, which a strict CSP allows.
struct Mark {
    element: HtmlElement,
    before: [String; 2],
}

impl Mark {
    const NAMES: [&'static str; 2] = ["outline", "outline-offset"];

    fn set(element: &HtmlElement) -> Self {
        let style = element.style();
        let before = Self::NAMES.map(|name| style.get_property_value(name).unwrap_or_default());
        let _ = style.set_property("outline", "3px solid #d97706");
        let _ = style.set_property("outline-offset", "2px");
        Self { element: element.clone(), before }
    }
}

impl Drop for Mark {
    fn drop(&mut self) {
        for (name, value) in Self::NAMES.iter().zip(&self.before) {
            let _ = self.element.style().set_property(name, value);
        }
    }
}
