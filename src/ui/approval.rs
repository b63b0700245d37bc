//! The question before a call runs: why, the exact arguments (which can be changed), yes or no.

use leptos::ev;
use leptos::html::{Div, button, div, label, p, textarea};
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::{HtmlElement, ShadowRoot};

use crate::agent::Decision;
use crate::protocol::CallState;
use crate::ui::{App, CallItem, frame, words};

/// The question.
pub(super) fn approval(app: &App, item: &CallItem) -> impl IntoView + use<> {
    let original = item.view.with_untracked(|view| words::pretty(&view.arguments));
    let reason = item.view.with_untracked(|view| match &view.state {
        CallState::ApprovalRequested { reason } => reason.clone(),
        _ => String::new(),
    });
    let text = RwSignal::new(original.clone());
    let group = NodeRef::<Div>::new();
    take_focus(group);
    let id = item.id.clone();
    let field = format!("pagehand-arguments-{id}");
    let refused = item.refused;
    let error = move || refused.get().map(|words| p().class("call-error").attr("role", "alert").child(words));
    let rows = original.lines().count().clamp(2, 12).to_string();
    let decide = {
        let (app, id) = (app.clone(), id.clone());
        move |decision: Decision| {
            app.decide(id.clone(), decision);
            focus_composer(group);
        }
    };
    let deny = decide.clone();
    let approve = move |_| {
        let now = text.get_untracked();
        let arguments = (now != original).then_some(now);
        decide(Decision::Approve { arguments });
    };
    div()
        .class("approval")
        .attr("part", "approval")
        .attr("role", "group")
        .aria_label("Approval")
        .tabindex("-1")
        .node_ref(group)
        .child((
            p().class("approval-why").child(format!("May this run? {reason}")),
            label().attr("for", field.clone()).child("Arguments"),
            textarea()
                .attr("id", field)
                .class("approval-arguments")
                .attr("rows", rows)
                .attr("spellcheck", "false")
                .prop("value", text)
                .on(ev::input, move |event| text.set(event_target_value(&event))),
            error,
            div().class("approval-buttons").child((
                button()
                    .attr("type", "button")
                    .class("primary")
                    .attr("part", "approve")
                    .on(ev::click, approve)
                    .child("Approve"),
                button()
                    .attr("type", "button")
                    .attr("part", "deny")
                    .on(ev::click, move |_| deny(Decision::Deny { reason: None }))
                    .child("Decline"),
            )),
        ))
}

// Focus goes to the question (not to a button, so that no key pressed by chance answers it), unless the user is in the
// middle of writing something.
fn take_focus(group: NodeRef<Div>) {
    Effect::new(move |done: Option<bool>| {
        if done == Some(true) {
            return true;
        }
        let Some(element) = group.get() else { return false };
        frame::next(move || {
            let writing = root_of(&element)
                .and_then(|root| root.query_selector(".composer textarea").ok().flatten())
                .and_then(|area| area.dyn_into::<web_sys::HtmlTextAreaElement>().ok())
                .is_some_and(|area| !area.value().trim().is_empty());
            let inside = root_of(&element).is_some_and(|root| root.active_element().is_some());
            if inside && !writing {
                let _ = element.focus();
            }
        });
        true
    });
}

fn focus_composer(group: NodeRef<Div>) {
    let composer = group
        .get_untracked()
        .and_then(|element| root_of(&element))
        .and_then(|root| root.query_selector(".composer textarea").ok().flatten())
        .and_then(|area| area.dyn_into::<HtmlElement>().ok());
    if let Some(area) = composer {
        let _ = area.focus();
    }
}

fn root_of(element: &HtmlElement) -> Option<ShadowRoot> {
    element.get_root_node().dyn_into().ok()
}
