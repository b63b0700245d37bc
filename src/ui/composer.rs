//! Where the user writes. Enter sends, Shift+Enter breaks the line.
//!
//! What is written and not sent is a draft. The tab keeps one for each thread: a reload, a navigation of the agent's and
//! another thread on screen lose none of it.

use leptos::prelude::*;
use send_wrapper::SendWrapper;
use wasm_bindgen::JsCast;
use web_sys::{Element, Event, HtmlElement, HtmlTextAreaElement, KeyboardEvent, ShadowRoot};

use crate::browser::{Life, Listener, draft, set_draft};
use crate::protocol::{Prompt, ThreadId};
use crate::ui::App;
use crate::ui::files::{attach_button, chosen_files, take_from};
use crate::ui::node::{Child, Node, Place, focus, live, node, nothing};

// A text of so many characters fills the area; its height is not measured.
const FULL: u32 = 2000;

/// The composer.
pub(super) fn composer(app: &App) -> Node {
    let area = Place::new();
    keep_drafts(app, area);
    let left = app.clone();
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
        // The browser says so when the focus leaves a text that was changed.
        .on("change", move |_| keep_draft(&left.thread(), area))
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
        "Enter" if !event.shift_key() && !is_composing(event) => {
            event.prevent_default();
            send_written(app, area);
        }
        _ => {}
    }
}

/// Whether a key belongs to an input method: while one composes, Enter takes a suggestion and Escape drops it. Safari
/// sends the key that ends a composition behind its end, and says whose it was by the code 229 alone.
pub(super) fn is_composing(event: &KeyboardEvent) -> bool {
    event.is_composing() || event.key_code() == 229
}

// The draft of the thread on screen is shown; it is kept when another thread takes its place, the page is left, or the
// panel is taken down.
fn keep_drafts(app: &App, area: Place) {
    let shown = app.store.shown.clone();
    Effect::new(move |before: Option<Option<ThreadId>>| {
        let (before, (thread, carries)) = (before.flatten(), shown.get());
        let Some(element) = area.get().and_then(|area| area.dyn_into::<HtmlTextAreaElement>().ok()) else {
            return before;
        };
        match before {
            Some(before) if carries || before == thread => {}
            Some(before) => {
                set_draft(&before, &element.value());
                element.set_value(&draft(&thread));
            }
            // The panel is new; one that died has handed on what was in it.
            None if element.value().is_empty() => element.set_value(&draft(&thread)),
            None => {}
        }
        fit(area);
        Some(thread)
    });
    let (left, closed) = (app.clone(), app.clone());
    let listener = Listener::of_page(move |life| {
        if life == Life::Left {
            keep_draft(&left.thread(), area);
        }
    });
    let listener = SendWrapper::new(listener);
    on_cleanup(move || {
        keep_draft(&closed.thread(), area);
        drop(listener);
    });
}

fn keep_draft(thread: &ThreadId, area: Place) {
    if let Some(element) = textarea(area) {
        set_draft(thread, &element.value());
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
        keep_draft(&app.thread(), area);
        fit(area);
    }
}

// As high as what is written, up to what the style sheet allows. Through the CSSOM, which a strict CSP allows. A browser
// that can do so by itself (`field-sizing`) does it in the layout it makes anyway; elsewhere a short text is measured.
fn fit(area: Place) {
    let Some(element) = textarea(area) else { return };
    let style = HtmlElement::style(&element);
    let _ = style.set_property("field-sizing", "content");
    if style.get_property_value("field-sizing").is_ok_and(|value| !value.is_empty()) {
        return;
    }
    let _ = style.set_property("height", "auto");
    let height = match element.text_length() {
        ..FULL => format!("{}px", element.scroll_height() + 2),
        _ => "100vh".to_owned(),
    };
    let _ = style.set_property("height", &height);
}

/// The focus goes to where the user writes on, from a button that goes away.
pub(super) fn to_composer(event: &Event) {
    let button = event.target().and_then(|target| target.dyn_into::<Element>().ok());
    let root = button.and_then(|button| button.get_root_node().dyn_into::<ShadowRoot>().ok());
    let area = root.and_then(|root| root.query_selector(".composer textarea").ok().flatten());
    if let Some(area) = area.and_then(|area| area.dyn_into::<HtmlElement>().ok()) {
        focus(&area);
    }
}

fn textarea(area: Place) -> Option<HtmlTextAreaElement> {
    area.try_get_untracked().flatten()?.dyn_into().ok()
}
