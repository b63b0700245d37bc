//! `scroll_to` and `highlight`: show the user where something is. Change nothing that lasts.

use std::cell::{Cell, RefCell};

use serde_json::{Value, json};
use wasm_bindgen::JsCast;
use web_sys::{Document, Element, HtmlElement, ScrollBehavior, ScrollIntoViewOptions, ScrollLogicalPosition};

use crate::browser::clock;
use crate::browser::tools::readable::{is_left_out, words_of};
use crate::browser::tools::{definition as shared, failed, text};
use crate::protocol::{Outcome, ToolError};
use crate::tools::{Approval, Definition};

const SHOWN_MS: u64 = 3000;

pub(super) fn scroll_definition() -> Definition {
    let description = "Scrolls the screen to the first visible place that holds the given text, as it reads on the \
         screen. Returns the text of that place. Use page_read first when you do not know what is there.";
    shared("scroll_to", "Scroll", Approval::Tool, description, json!({ "text": wanted() }), &["text"])
}

pub(super) fn definition() -> Definition {
    let description = "Scrolls to the first visible place that holds the given text and marks it for three seconds, to \
         point something out to the user. Returns the text of that place.";
    shared("highlight", "Point out", Approval::Tool, description, json!({ "text": wanted() }), &["text"])
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
        let number = Mark::show(element);
        wasm_bindgen_futures::spawn_local(async move {
            clock::sleep(SHOWN_MS).await;
            Mark::take_back(number);
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
    let words: String = words_of(element).chars().take(300).collect();
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
    if depth > 64 || !reads(element, wanted) || is_left_out(element) {
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

// Its whole text is had at once and rules most elements out; what of it may be read takes longer to find.
fn reads(element: &Element, wanted: &str) -> bool {
    let text = element.text_content().unwrap_or_default();
    let holds = |text: &str| text.to_lowercase().contains(wanted);
    holds(&text.split_whitespace().collect::<Vec<_>>().join(" ")) && holds(&words_of(element))
}

thread_local! {
    // One at a time: of two that overlap, the second would take the first's outline for the page's own.
    static SHOWN: RefCell<Option<Mark>> = const { RefCell::new(None) };
    static COUNT: Cell<u32> = const { Cell::new(0) };
}

/// An outline that is taken back when it is dropped. Set through the CSSOM, which a strict CSP allows.
struct Mark {
    number: u32,
    element: HtmlElement,
    before: [String; 2],
}

impl Mark {
    const NAMES: [&'static str; 2] = ["outline", "outline-offset"];

    /// Marks an element in place of the one that is marked, and gives the mark's number.
    fn show(element: &HtmlElement) -> u32 {
        drop(SHOWN.take());
        let number = COUNT.get().wrapping_add(1);
        COUNT.set(number);
        let style = element.style();
        let before = Self::NAMES.map(|name| style.get_property_value(name).unwrap_or_default());
        let _ = style.set_property("outline", "3px solid #d97706");
        let _ = style.set_property("outline-offset", "2px");
        SHOWN.set(Some(Self { number, element: element.clone(), before }));
        number
    }

    fn take_back(number: u32) {
        let ended = SHOWN.with_borrow_mut(|shown| shown.take_if(|mark| mark.number == number));
        drop(ended);
    }
}

impl Drop for Mark {
    fn drop(&mut self) {
        for (name, value) in Self::NAMES.iter().zip(&self.before) {
            let _ = self.element.style().set_property(name, value);
        }
    }
}
