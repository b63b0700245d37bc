//! The panel: header, thread, banner, composer. Knows nothing of what any of them does.

use leptos::ev;
use leptos::html::{button, div, h2, header, p, section, span};
use leptos::prelude::*;

use crate::ui::announce::announcer;
use crate::ui::banner::banner;
use crate::ui::composer::composer;
use crate::ui::transcript::transcript;
use crate::ui::{App, words};

/// The panel's style sheet; give it to the root that the panel is mounted in, as an adopted sheet.
pub const STYLE: &str = include_str!("panel.css");

/// The whole panel. `label` names it; `close` is called by its close button, which is left out without it.
#[expect(non_snake_case, reason = "a component's name, as Leptos has it")]
pub fn Panel(app: &App, label: RwSignal<String>, close: Option<std::rc::Rc<dyn Fn()>>) -> impl IntoView + use<> {
    let store = app.store;
    let renew = app.clone();
    let agent = move || store.agent.with(|agent| agent.label.clone());
    let usage = move || words::of_usage(store.usage.get());
    let top = header().class("top").attr("part", "header").child((
        div()
            .class("names")
            .child((h2().attr("id", "pagehand-title").child(move || label.get()), p().class("agent").child(agent))),
        button()
            .attr("type", "button")
            .class("quiet")
            .attr("part", "new-thread")
            .title("Start a new conversation")
            .on(ev::click, move |_| renew.new_thread())
            .child("New"),
        close.map(|close| {
            button()
                .attr("type", "button")
                .class("quiet close")
                .attr("part", "close")
                .aria_label("Close")
                .on(ev::click, move |_| close())
                .child(span().class("icon-close").aria_hidden("true"))
        }),
    ));
    section().class("panel").attr("part", "panel").aria_labelledby("pagehand-title").child((
        top,
        transcript(app),
        banner(app),
        composer(app),
        p().class("usage").child(usage),
        announcer(store),
    ))
}
