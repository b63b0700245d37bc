//! Where the user writes. Enter sends, Shift+Enter breaks the line, Escape stops.

use leptos::ev;
use leptos::html::{Textarea, button, div, form, label, textarea};
use leptos::prelude::*;

use crate::ui::App;

/// The composer.
pub(super) fn composer(app: &App) -> impl IntoView + use<> {
    let store = app.store;
    let area = NodeRef::<Textarea>::new();
    let send = {
        let app = app.clone();
        move || {
            if let Some(element) = area.get_untracked() {
                app.send(&element.value());
                element.set_value("");
                fit(&element);
            }
        }
    };
    let by_key = send.clone();
    let stop_by_key = app.clone();
    let on_key = move |event: ev::KeyboardEvent| match event.key().as_str() {
        // While an input method composes, Enter belongs to it.
        "Enter" if !event.shift_key() && !event.is_composing() => {
            event.prevent_default();
            by_key();
        }
        "Escape" if store.running.get_untracked() => {
            event.stop_propagation();
            stop_by_key.stop();
        }
        _ => {}
    };
    let stop = app.clone();
    let stop_button = move || {
        store.running.get().then(|| {
            let stop = stop.clone();
            button()
                .attr("type", "button")
                .class("stop")
                .attr("part", "stop")
                .title("Stop (Escape)")
                .on(ev::click, move |_| stop.stop())
                .child("Stop")
        })
    };
    form()
        .class("composer")
        .attr("part", "composer")
        .on(ev::submit, move |event| {
            event.prevent_default();
            send();
        })
        .child((
            label().attr("for", "pagehand-message").class("sr-only").child("Message to the agent"),
            textarea()
                .attr("id", "pagehand-message")
                .attr("part", "input")
                .attr("rows", "1")
                .placeholder("Ask, or say what to do")
                .attr("enterkeyhint", "send")
                .node_ref(area)
                .on(ev::keydown, on_key)
                .on(ev::input, move |_| {
                    if let Some(element) = area.get_untracked() {
                        fit(&element);
                    }
                }),
            div().class("composer-buttons").child((
                stop_button,
                button().attr("type", "submit").class("primary").attr("part", "send").child("Send"),
            )),
        ))
}

// As high as what is written, up to what the style sheet allows. Through the CSSOM, which a strict CSP allows.
fn fit(area: &web_sys::HtmlTextAreaElement) {
    let style = web_sys::HtmlElement::style(area);
    let _ = style.set_property("height", "auto");
    let _ = style.set_property("height", &format!("{}px", area.scroll_height() + 2));
}
