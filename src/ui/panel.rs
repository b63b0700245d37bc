//! The panel: header, thread, banner, composer. Knows nothing of what any of them does.

use std::rc::Rc;

use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::{Element, Event, HtmlSelectElement, KeyboardEvent, MouseEvent, Node as DomNode};

use crate::browser::ModelInfo;
use crate::ui::announce::announcer;
use crate::ui::banner::banner;
use crate::ui::composer::{composer, is_composing, to_composer};
use crate::ui::files::{brings_files, take_from};
use crate::ui::live::Live;
use crate::ui::node::{Child, Node, Place, live, live_text, node};
use crate::ui::transcript::transcript;
use crate::ui::{App, words};

/// The panel's style sheet; give it to the root that the panel is mounted in, as an adopted sheet.
pub const STYLE: &str = include_str!("panel.css");

/// The whole panel. `label` names it; `close` is called by its close button, which is left out without it.
#[expect(non_snake_case, reason = "a component's name, as Leptos has it")]
pub fn Panel(app: &App, label: Live<String>, close: Option<Rc<dyn Fn()>>) -> AnyView {
    let usage = app.store.usage.clone();
    let (keyed, dropped) = (app.clone(), app.clone());
    let (dragged, over) = (app.clone(), Live::new(false));
    let (enters, leaves, drops, shows) = (over.clone(), over.clone(), over.clone(), over);
    let class = move || Some(if shows.get() { "panel dropping" } else { "panel" }.to_owned());
    node("section")
        .live_attr("class", class)
        .attr("part", "panel")
        .on("keydown", move |event| {
            let key = event.dyn_ref::<KeyboardEvent>().filter(|event| !is_composing(event)).map(KeyboardEvent::key);
            if key.as_deref() == Some("Escape") && !event.default_prevented() && keyed.store.running.now() {
                event.prevent_default();
                keyed.stop();
            }
        })
        // Only where a drop is allowed does one come. What is not taken the browser would open in place of the page; words
        // that are dropped on a field it puts there.
        .on("dragover", |event| {
            if is_for_panel(&event) {
                event.prevent_default();
            }
        })
        .on("dragenter", move |event| {
            if !enters.now() && brings_files(&event) && !dragged.store.model_now().files.is_empty() {
                enters.set(true);
            }
        })
        .on("dragleave", move |event| {
            let panel = event.current_target().and_then(|panel| panel.dyn_into::<DomNode>().ok());
            let to = event.dyn_ref::<MouseEvent>().and_then(MouseEvent::related_target);
            let to = to.and_then(|to| to.dyn_into::<DomNode>().ok());
            if leaves.now() && !panel.is_some_and(|panel| panel.contains(to.as_ref())) {
                leaves.set(false);
            }
        })
        .on("drop", move |event| {
            drops.set(false);
            let is_ours = is_for_panel(&event);
            if take_from(&dropped, &event) || is_ours {
                event.prevent_default();
            }
        })
        .attr("aria-labelledby", "pagehand-title")
        .child(top(app, label, close))
        .child(transcript(app))
        .child(banner(app))
        .child(key(app))
        .child(composer(app))
        .child(node("p").class("usage").child(live_text(move || words::of_usage(usage.get()))))
        .child(announcer(&app.store))
        .view()
}

fn is_for_panel(event: &Event) -> bool {
    let target = event.target().and_then(|target| target.dyn_into::<Element>().ok());
    brings_files(event) || !target.is_some_and(|target| target.matches("textarea, input").unwrap_or_default())
}

#[cfg(feature = "direct")]
fn key(app: &App) -> AnyView {
    crate::ui::key_form::key_form(app)
}

#[cfg(not(feature = "direct"))]
fn key(_: &App) -> AnyView {
    ().into_any()
}

fn top(app: &App, label: Live<String>, close: Option<Rc<dyn Fn()>>) -> Node {
    let renew = app.clone();
    let close = close.map(|close| {
        quiet_button("close", "quiet close")
            .attr("aria-label", "Close")
            .on("click", move |_| close())
            .child(node("span").class("icon-close").attr("aria-hidden", "true"))
    });
    let names = node("div")
        .class("names")
        .child(node("h2").attr("id", "pagehand-title").child(live_text(move || label.get())))
        .child(models(app));
    let renew = quiet_button("new-thread", "quiet")
        .attr("title", "Start a new conversation")
        .on("click", move |event| {
            to_composer(&event);
            renew.new_thread();
        })
        .child("New");
    node("header").class("top").attr("part", "header").child(names).child(renew).child(close)
}

// Who answers; where there are several, the user may choose.
fn models(app: &App) -> AnyView {
    let app = app.clone();
    // The choice itself changes nothing here: who chooses by keyboard would lose their place.
    live(move || {
        let direct = app.store.direct.get();
        let (label, models) = app.store.agent.with(|agent| (agent.label.clone(), agent.models.clone()));
        if direct.is_some() || models.len() < 2 {
            let label = direct.map_or(label, |direct| direct.label);
            return node("p").class("agent").child(label).view();
        }
        let asked = app.store.model_now();
        let option = |model: ModelInfo| {
            let option = node("option").attr("value", model.name.as_str()).child(model.label);
            if model.name == asked.name { option.attr("selected", "") } else { option }
        };
        let options: Vec<Node> = models.into_iter().map(option).collect();
        let (chosen, place, store) = (app.clone(), Place::new(), app.store.clone());
        // What the page says is shown, too; of a model that is not there, no choice.
        Effect::new(move |_: Option<()>| {
            let (name, meant) = (store.model.get(), store.model_info().name);
            let name = if name.is_empty() { meant } else { name };
            let select = place.get().and_then(|element| element.dyn_into::<HtmlSelectElement>().ok());
            if let Some(select) = select.filter(|select| select.value() != name) {
                select.set_value(&name);
            }
        });
        node("select")
            .class("agent")
            .attr("part", "model")
            .attr("aria-label", "Model")
            .place(place)
            .on("change", move |_| {
                let select = place.get_untracked().and_then(|element| element.dyn_into::<HtmlSelectElement>().ok());
                if let Some(select) = select {
                    chosen.choose_model(&select.value());
                }
            })
            .child(options)
            .view()
    })
}

fn quiet_button(part: &str, class: &str) -> Node {
    node("button").attr("type", "button").class(class).attr("part", part)
}
