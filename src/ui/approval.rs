//! The question before a call runs: why, the exact arguments (which can be changed), yes or no.

use leptos::prelude::*;
use serde_json::Value;
use wasm_bindgen::JsCast;
use web_sys::{HtmlElement, HtmlTextAreaElement, ShadowRoot};

use crate::agent::Decision;
use crate::ui::node::{Child, Node, Place, focus, live, node};
use crate::ui::{App, CallItem, frame, words};

/// The question.
pub(super) fn approval(app: &App, item: &CallItem, reason: &str, payload: &Value) -> Node {
    let original = item.view.peek(|view| words::pretty(&view.arguments));
    let (group, area, reply) = (Place::new(), Place::new(), Place::new());
    take_focus(group);
    let field = format!("pagehand-arguments-{}", item.id);
    let rows = original.lines().count().clamp(2, 12).to_string();
    let refused = item.refused.clone();
    let error = live(move || {
        refused.get().map(|words| node("p").class("call-error").attr("role", "alert").child(words)).view()
    });
    let decide = {
        let (app, id) = (app.clone(), item.id.clone());
        move |decision: Decision| {
            focus_composer(group);
            app.decide(id.clone(), decision);
        }
    };
    let deny = decide.clone();
    let written = original.clone();
    let approve = move |_| {
        let now = value_of(area).unwrap_or_else(|| original.clone());
        // What is not JSON is taken as the text it is.
        let payload = value_of(reply).filter(|text| !text.trim().is_empty());
        let payload = payload.map(|text| serde_json::from_str(&text).unwrap_or(Value::String(text)));
        decide(Decision::Approve { arguments: (now != original).then_some(now), payload: payload.unwrap_or_default() });
    };
    let buttons = node("div")
        .class("approval-buttons")
        .child(button("approve", "primary", "Approve").on("click", approve))
        .child(button("deny", "", "Decline").on("click", move |_| deny(Decision::Deny { reason: None })));
    node("div")
        .class("approval")
        .attr("part", "approval")
        .attr("role", "group")
        .attr("aria-label", "Approval")
        .attr("tabindex", "-1")
        .place(group)
        .child(node("p").class("approval-why").child(format!("May this run? {reason}")))
        .child(node("label").attr("for", field.clone()).child("Arguments"))
        .child(
            node("textarea")
                .attr("id", field)
                .class("approval-arguments")
                .attr("rows", rows)
                .attr("spellcheck", "false")
                .place(area)
                .child(written),
        )
        .child((!payload.is_null()).then(|| asked(item, payload, reply)).view())
        .child(error)
        .child(buttons)
}

// What the tool asks beside its arguments, and the place for an answer to it.
fn asked(item: &CallItem, payload: &Value, reply: Place) -> Node {
    let field = format!("pagehand-reply-{}", item.id);
    let words = match payload {
        Value::String(words) => words.clone(),
        other => words::pretty(&other.to_string()),
    };
    node("div")
        .class("approval-asked")
        .child(node("pre").attr("tabindex", "0").child(node("code").child(words)))
        .child(node("label").attr("for", field.clone()).child("Your answer to the tool"))
        .child(node("textarea").attr("id", field).class("approval-arguments").attr("rows", "2").place(reply))
}

fn button(part: &str, class: &str, words: &str) -> Node {
    node("button").attr("type", "button").class(class).attr("part", part).child(words)
}

fn value_of(area: Place) -> Option<String> {
    area.get_untracked()?.dyn_into::<HtmlTextAreaElement>().ok().map(|area| area.value())
}

// Focus goes to the question (not to a button, so that no key pressed by chance answers it), if it is in the panel and
// the user is not in the middle of writing something.
fn take_focus(group: Place) {
    Effect::new(move |done: Option<usize>| {
        let (None | Some(0), Some(element)) = (done, group.get()) else { return done.unwrap_or(0) };
        frame::next(move || {
            let Some(root) = root_of(&element) else { return };
            let writing = composer_of(&root).is_some_and(|area| !area.value().trim().is_empty());
            if root.active_element().is_some() && !writing {
                focus(&element);
            }
        });
        1
    });
}

fn focus_composer(group: Place) {
    let root = group.get_untracked().and_then(|element| root_of(&element));
    if let Some(area) = root.and_then(|root| composer_of(&root)) {
        focus(&area);
    }
}

fn composer_of(root: &ShadowRoot) -> Option<HtmlTextAreaElement> {
    root.query_selector(".composer textarea").ok().flatten()?.dyn_into().ok()
}

fn root_of(element: &HtmlElement) -> Option<ShadowRoot> {
    element.get_root_node().dyn_into().ok()
}
