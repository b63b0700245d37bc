//! The panel: header, thread, banner, composer. Knows nothing of what any of them does.

use std::rc::Rc;

use leptos::prelude::*;

use crate::ui::announce::announcer;
use crate::ui::banner::banner;
use crate::ui::composer::composer;
use crate::ui::live::Live;
use crate::ui::node::{Child, Node, live_text, node};
use crate::ui::transcript::transcript;
use crate::ui::{App, words};

/// The panel's style sheet; give it to the root that the panel is mounted in, as an adopted sheet.
pub const STYLE: &str = include_str!("panel.css");

/// The whole panel. `label` names it; `close` is called by its close button, which is left out without it.
#[expect(non_snake_case, reason = "a component's name, as Leptos has it")]
pub fn Panel(app: &App, label: Live<String>, close: Option<Rc<dyn Fn()>>) -> AnyView {
    let usage = app.store.usage.clone();
    node("section")
        .class("panel")
        .attr("part", "panel")
        .attr("aria-labelledby", "pagehand-title")
        .child(top(app, label, close))
        .child(transcript(app))
        .child(banner(app))
        .child(composer(app))
        .child(node("p").class("usage").child(live_text(move || words::of_usage(usage.get()))))
        .child(announcer(&app.store))
        .view()
}

fn top(app: &App, label: Live<String>, close: Option<Rc<dyn Fn()>>) -> Node {
    let renew = app.clone();
    let agent = app.store.agent.clone();
    let close = close.map(|close| {
        quiet_button("close", "quiet close")
            .attr("aria-label", "Close")
            .on("click", move |_| close())
            .child(node("span").class("icon-close").attr("aria-hidden", "true"))
    });
    let names = node("div")
        .class("names")
        .child(node("h2").attr("id", "pagehand-title").child(live_text(move || label.get())))
        .child(node("p").class("agent").child(live_text(move || agent.with(|agent| agent.label.clone()))));
    let renew = quiet_button("new-thread", "quiet")
        .attr("title", "Start a new conversation")
        .on("click", move |_| renew.new_thread())
        .child("New");
    node("header").class("top").attr("part", "header").child(names).child(renew).child(close)
}

fn quiet_button(part: &str, class: &str) -> Node {
    node("button").attr("type", "button").class(class).attr("part", part)
}
