//! The thread on screen. Knows nothing of how it comes about.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use leptos::ev;
use leptos::html::{Div, button, details, div, li, p, summary, ul};
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::{Element, HtmlElement};

use crate::protocol::MessageStatus;
use crate::ui::call_card::call_card;
use crate::ui::markdown_dom::MarkdownView;
use crate::ui::{App, Item, Store, TextItem, frame, words};

// How far from the end still counts as at the end, in CSS pixels.
const NEAR_END: i32 = 48;

/// The thread, kept at its end as it grows unless the user scrolled away.
pub(super) fn transcript(app: &App) -> impl IntoView + use<> {
    let store = app.store;
    let scroller = NodeRef::<Div>::new();
    let stuck = Arc::new(AtomicBool::new(true));
    let follow = Follow { scroller, stuck: Arc::clone(&stuck) };
    let watched = follow.clone();
    Effect::new(move |_| {
        store.items.track();
        store.ended.track();
        watched.soon();
    });
    let shown = app.clone();
    let list = For(ForProps::builder()
        .each(move || store.items.get())
        .key(Item::key)
        .children(move |item| view_of(&shown, item, follow.clone()))
        .build());
    div()
        .class("scroller")
        .attr("part", "transcript")
        .tabindex("0")
        .attr("role", "group")
        .aria_label("Conversation")
        .node_ref(scroller)
        .on(ev::scroll, move |_| {
            if let Some(element) = scroller.get_untracked() {
                let left = element.scroll_height() - element.scroll_top() - element.client_height();
                stuck.store(left < NEAR_END, Ordering::Relaxed);
            }
        })
        .on(ev::click, copy_code)
        .child((empty_state(app), list, waiting(store)))
}

/// Keeps the end of the thread in sight.
#[derive(Clone)]
struct Follow {
    scroller: NodeRef<Div>,
    stuck: Arc<AtomicBool>,
}

impl Follow {
    fn soon(&self) {
        let this = self.clone();
        frame::next(move || this.now());
    }

    fn now(&self) {
        if self.stuck.load(Ordering::Relaxed)
            && let Some(Some(element)) = self.scroller.try_get_untracked()
        {
            element.set_scroll_top(element.scroll_height());
        }
    }
}

fn view_of(app: &App, item: Item, follow: Follow) -> AnyView {
    match item {
        Item::User(_, text) => div()
            .class("user")
            .attr("part", "user-message")
            .child((div().class("sr-only").child("You said:"), text))
            .into_any(),
        Item::Text(text) => words_view(&text, follow).into_any(),
        Item::Reasoning(text) => reasoning_view(&text).into_any(),
        Item::Call(call) => call_card(app, call).into_any(),
    }
}

fn words_view(item: &TextItem, follow: Follow) -> impl IntoView + use<> {
    let container = NodeRef::<Div>::new();
    let status = item.status;
    let shown = item.clone();
    // The view lives in the effect; the first run makes it, the later ones patch what it made.
    Effect::new(move |view: Option<Option<MarkdownView>>| {
        shown.version.get();
        let mut view = view.flatten().or_else(|| MarkdownView::new(container.get()?.unchecked_into::<Element>()))?;
        let text = shown.text();
        let whole = shown.status.get_untracked().is_some();
        if whole && view.shown() > 0 && text.frozen().len() < view.shown() {
            view.rebuild(&text);
        } else {
            view.update(&text);
        }
        follow.now();
        Some(view)
    });
    let ending = move || status.get().and_then(words::of_status).map(|words| p().class("broken").child(words));
    let superseded = move || status.get() == Some(MessageStatus::Superseded);
    div()
        .class("answer")
        .class(("superseded", superseded))
        .attr("part", "assistant-message")
        .attr("aria-busy", move || if status.get().is_none() { "true" } else { "false" })
        .child((div().class("md").node_ref(container), ending))
}

fn reasoning_view(item: &TextItem) -> impl IntoView + use<> {
    let item = item.clone();
    let text = move || {
        item.version.get();
        item.text().source().to_owned()
    };
    details().class("reasoning").child((summary().child("Reasoning"), div().class("plain-text").child(text)))
}

fn waiting(store: Store) -> impl IntoView {
    move || {
        store.waiting.get().then(|| {
            div().class("waiting").attr("role", "img").aria_label("The agent is thinking").child((
                div().class("dot"),
                div().class("dot"),
                div().class("dot"),
            ))
        })
    }
}

fn empty_state(app: &App) -> impl IntoView + use<> {
    let store = app.store;
    let app = app.clone();
    move || {
        if store.items.with(|items| !items.is_empty()) {
            return None;
        }
        let suggestions = store.agent.with(|agent| agent.suggestions.clone());
        let buttons: Vec<_> = suggestions
            .into_iter()
            .map(|words| {
                let app = app.clone();
                let sent = words.clone();
                li().child(
                    button()
                        .attr("type", "button")
                        .class("suggestion")
                        .attr("part", "suggestion")
                        .on(ev::click, move |_| app.send(&sent))
                        .child(words),
                )
            })
            .collect();
        let ask = p().child("Ask a question, or say what should be done in this page.");
        let list = (!buttons.is_empty()).then(|| (p().class("hint").child("For example:"), ul().child(buttons)));
        Some(div().class("empty").child((ask, list)))
    }
}

// One listener for the copy buttons of all code blocks.
fn copy_code(event: ev::MouseEvent) {
    let Some(target) = event.target().and_then(|target| target.dyn_into::<HtmlElement>().ok()) else { return };
    if !target.class_list().contains("copy") {
        return;
    }
    let code = target.closest(".code").ok().flatten().and_then(|frame| frame.query_selector("code").ok().flatten());
    let Some(text) = code.and_then(|code| code.text_content()) else { return };
    leptos::task::spawn_local(async move {
        let copied = crate::browser::tools::copy_text(&text).await;
        target.set_text_content(Some(if copied { "Copied" } else { "Not copied" }));
        crate::browser::sleep(1500).await;
        target.set_text_content(Some("Copy"));
    });
}
