//! Where the user writes. Enter sends, Shift+Enter breaks the line, Escape stops.

use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::{Event, HtmlElement, HtmlTextAreaElement, KeyboardEvent};

use crate::protocol::Prompt;
use crate::ui::App;
use crate::ui::files::{attach_button, chosen_files, take_from};
use crate::ui::node::{Child, Node, Place, live, node, nothing};

/// The composer.
pub(super) fn composer(app: &App) -> Node {
    let area = Place::new();
    let (submitted, keyed, pasted, dropped) = (app.clone(), app.clone(), app.clone(), app.clone());
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
    let send = node("button").attr("type", "submit").class("primary").attr("part", "send").child("Send");
    node("form")
        .class("composer")
        .attr("part", "composer")
        .on("submit", move |event| {
            event.prevent_default();
            send_written(&submitted, area);
        })
        // Only where a drop is allowed does one come.
        .on("dragover", |event| event.prevent_default())
        .on("drop", move |event| {
            if take_from(&dropped, &event) {
                event.prevent_default();
            }
        })
        .child(chosen_files(app, area))
        .child(node("label").attr("for", "pagehand-message").class("sr-only").child("Message to the agent"))
        .child(field)
        .child(node("div").class("composer-buttons").child(attach_button(app)).child(stop_button(app)).child(send))
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
            .on("click", move |_| stop.stop())
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
        "Escape" if app.store.running.now() => {
            event.prevent_default();
            app.stop();
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

fn textarea(area: Place) -> Option<HtmlTextAreaElement> {
    area.get_untracked()?.dyn_into().ok()
}
