//! Where the user writes. Enter sends, Shift+Enter breaks the line.

use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::{Element, Event, HtmlElement, HtmlTextAreaElement, KeyboardEvent, ShadowRoot};

use crate::protocol::Prompt;
use crate::ui::App;
use crate::ui::files::{attach_button, chosen_files, take_from};
use crate::ui::node::{Child, Node, Place, live, node, nothing};

/// The composer.
pub(super) fn composer(app: &App) -> Node {
    let area = Place::new();
    let (submitted, keyed, pasted) = (app.clone(), app.clone(), app.clone());
    let field = node("textarea")
        .attr("id", "pagehand-message")
        .attr("part", "input")
        .attr("rows", "1")
        .attr("placeholder", "Ask, or say what to do")
        .attr("enterkeyhint", "send")
        .place(area)
        .on("keydown", move |event| on_key(&keyed, area, &event))
        .on("input", move |_| fit(area))
        .on("paste", move |event| {
            if take_from(&pasted, &event) {
                event.prevent_default();
            }
        });
    // Each has a place of its own: what comes and goes puts no other under the pointer.
    let buttons = node("div")
        .class("composer-buttons")
        // A click beside them, as where one was a moment ago, takes the focus from nowhere.
        .on("mousedown", |event| {
            let button = event.target().and_then(|target| target.dyn_into::<Element>().ok());
            if button.is_none_or(|target| !matches!(target.closest("button"), Ok(Some(_)))) {
                event.prevent_default();
            }
        })
        .child(attach_button(app));
    let send = node("button").attr("type", "submit").class("primary").attr("part", "send").child("Send");
    let buttons = buttons.child(node("span").class("room")).child(stop_button(app)).child(send);
    node("form")
        .class("composer")
        .attr("part", "composer")
        .on("submit", move |event| {
            event.prevent_default();
            send_written(&submitted, area);
        })
        .child(chosen_files(app, area))
        .child(node("label").attr("for", "pagehand-message").class("sr-only").child("Message to the agent"))
        .child(field)
        .child(buttons)
}

fn stop_button(app: &App) -> AnyView {
    let app = app.clone();
    live(move || {
        if !app.store.running.get() {
            return nothing();
        }
        let stop = app.clone();
        node("button")
            .attr("type", "button")
            .class("stop")
            .attr("part", "stop")
            .attr("title", "Stop (Escape)")
            .on("click", move |event| {
                to_composer(&event);
                stop.stop();
            })
            .child("Stop")
            .view()
    })
}

fn on_key(app: &App, area: Place, event: &Event) {
    let Some(event) = event.dyn_ref::<KeyboardEvent>() else { return };
    match event.key().as_str() {
        // While an input method composes, Enter belongs to it.
        "Enter" if !event.shift_key() && !event.is_composing() => {
            event.prevent_default();
            send_written(app, area);
        }
        _ => {}
    }
}

fn send_written(app: &App, area: Place) {
    if let Some(element) = textarea(area) {
        if app.store.reading.now() > 0 {
            let words = "A file is still being read; send again in a moment.";
            return app.store.notice.set(Some(words.to_owned()));
        }
        let attachments = app.store.files.now();
        if app.send(Prompt { attachments, ..Prompt::from(element.value()) }).is_some() {
            app.store.files.set(Vec::new());
            app.store.notice.set(None);
        }
        element.set_value("");
        fit(area);
    }
}

// As high as what is written, up to what the style sheet allows. Through the CSSOM, which a strict CSP allows.
fn fit(area: Place) {
    if let Some(element) = textarea(area) {
        let style = HtmlElement::style(&element);
        let _ = style.set_property("height", "auto");
        let _ = style.set_property("height", &format!("{}px", element.scroll_height() + 2));
    }
}

/// The focus goes to where the user writes on, from a button that goes away.
pub(super) fn to_composer(event: &Event) {
    let button = event.target().and_then(|target| target.dyn_into::<Element>().ok());
    let root = button.and_then(|button| button.get_root_node().dyn_into::<ShadowRoot>().ok());
    let area = root.and_then(|root| root.query_selector(".composer textarea").ok().flatten());
    if let Some(area) = area.and_then(|area| area.dyn_into::<HtmlElement>().ok()) {
        let _ = area.focus();
    }
}

fn textarea(area: Place) -> Option<HtmlTextAreaElement> {
    area.get_untracked()?.dyn_into().ok()
}
