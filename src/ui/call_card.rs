//! A card for each tool call: what it is, where it runs, what it was given, what came of it.

use leptos::prelude::*;

use crate::browser::{now, sleep};
use crate::protocol::{CallState, CallView};
use crate::ui::approval::approval;
use crate::ui::live::Live;
use crate::ui::node::{Child, Node, live, live_text, node, nothing};
use crate::ui::{App, CallItem, Store, words};

/// The card.
pub(super) fn call_card(app: &App, item: CallItem) -> Node {
    let name = item.view.peek(|view| view.name.clone());
    // The parts that are expensive to make, or hold what the user has typed, follow the state and nothing else.
    let state = Live::new(item.view.peek(|view| view.state.clone()));
    let (view, followed) = (item.view.clone(), state.clone());
    Effect::new(move |_: Option<usize>| {
        let now = view.with(|view| view.state.clone());
        if followed.peek(|before| *before != now) {
            followed.set(now);
        }
        0
    });
    let (word, attribute) = (state.clone(), state.clone());
    let (titles, labels) = (app.store.clone(), app.store.clone());
    let (titled, labelled) = (name.clone(), name.clone());
    let head = node("div")
        .class("call-head")
        .child(node("span").class("call-mark").attr("aria-hidden", "true"))
        .child(node("span").class("call-title").child(live_text(move || titles.title_of(&titled))))
        .child(node("span").class("call-state").child(live_text(move || word.with(words::of_state).to_owned())))
        .child(time_spent(&item));
    let (store, placed) = (app.store.clone(), item.view.clone());
    let place = live_text(move || placed.with(|view| where_it_runs(&store, view)));
    node("div")
        .class("call")
        .attr("part", "tool-call")
        .attr("role", "group")
        .live_attr("aria-label", move || Some(format!("Tool: {}", labels.title_of(&labelled))))
        .attr("data-tool", name)
        .live_attr("data-state", move || Some(attribute.with(CallState::as_str).to_owned()))
        .child(head)
        .child(node("div").class("call-where").child(place))
        .child(question(app, &item, state.clone()))
        .child(progress(app, &item, state.clone()))
        .child(arguments(item.view))
        .child(live(move || outcome(&state.get())))
}

fn question(app: &App, item: &CallItem, state: Live<CallState>) -> AnyView {
    let (app, item) = (app.clone(), item.clone());
    live(move || match state.get() {
        // It is answered where the thread is at work.
        CallState::ApprovalRequested { reason, .. } if app.store.following.get() => {
            node("p").class("approval-why").child(format!("Waits for an answer in the other tab: {reason}")).view()
        }
        CallState::ApprovalRequested { reason, payload } => approval(&app, &item, &reason, &payload).view(),
        _ => nothing(),
    })
}

// How far it is, and the way to stop what goes on by itself.
fn progress(app: &App, item: &CallItem, state: Live<CallState>) -> AnyView {
    let (app, item) = (app.clone(), item.clone());
    live(move || {
        let pending = state.with(|state| matches!(state, CallState::Pending { .. }));
        if !pending && state.with(|state| !matches!(state, CallState::Running)) {
            return nothing();
        }
        let told = item.progress.clone();
        let words = live(move || match told.get() {
            None => nothing(),
            Some((fraction, words)) => {
                let bar = fraction.map(|fraction| {
                    // In whole percent: to write a float brings in 10 kB of code.
                    let percent = (fraction * 100.0) as u32;
                    node("progress")
                        .attr("max", "100")
                        .attr("value", percent.to_string())
                        .attr("aria-label", "Progress")
                });
                node("div").class("call-progress").child(bar.view()).child(node("span").child(words)).view()
            }
        });
        let (app, call) = (app.clone(), item.id.clone());
        // It is cancelled where the thread is at work.
        let cancel = (pending && !app.store.following.get()).then(|| {
            node("button")
                .attr("type", "button")
                .attr("part", "cancel-job")
                .on("click", move |_| app.cancel_job(call.clone()))
                .child("Cancel")
        });
        vec![words, cancel.view()].view()
    })
}

fn where_it_runs(store: &Store, view: &CallView) -> String {
    let scope = view.scope.or_else(|| store.registry.with(|registry| registry.find(&view.name).map(|tool| tool.scope)));
    if scope.is_none() && matches!(view.state, CallState::Failed { .. }) {
        return "not run".to_owned();
    }
    format!("{} · {}", words::of_scope(scope), view.name)
}

fn arguments(view: Live<CallView>) -> AnyView {
    live(move || {
        let (text, asked) =
            view.with(|view| (view.arguments.clone(), matches!(view.state, CallState::ApprovalRequested { .. })));
        // The question shows them itself.
        if asked || matches!(text.trim(), "" | "{}") { nothing() } else { more("Arguments", &text).view() }
    })
}

fn outcome(state: &CallState) -> AnyView {
    match state {
        CallState::ResultAvailable { content } => more("Result", content).view(),
        CallState::Failed { message, .. } => node("div").class("call-error").child(message.clone()).view(),
        CallState::InputStreaming
        | CallState::InputAvailable
        | CallState::ApprovalRequested { .. }
        | CallState::Running
        | CallState::Pending { .. }
        | CallState::Denied
        | CallState::Cancelled => nothing(),
    }
}

fn more(title: &str, json: &str) -> Node {
    let text = node("pre").attr("tabindex", "0").child(node("code").child(words::pretty(json)));
    node("details").class("call-more").child(node("summary").child(title)).child(text)
}

// Counts while it runs, stays when it is done.
fn time_spent(item: &CallItem) -> Node {
    let spent = Live::new(None::<u64>);
    let (view, started, counted) = (item.view.clone(), item.started.clone(), spent.clone());
    Effect::new(move |_: Option<usize>| {
        let Some(start) = started.get() else { return 0 };
        if view.with(|view| matches!(view.state, CallState::Running)) {
            count(view.clone(), counted.clone(), start);
        } else {
            let end = view.peek(|view| view.at);
            counted.set((end > 0).then(|| end.saturating_sub(start)));
        }
        0
    });
    let shown = live_text(move || spent.get().map(words::duration).unwrap_or_default());
    node("span").class("call-time").child(shown)
}

fn count(view: Live<CallView>, spent: Live<Option<u64>>, start: u64) {
    leptos::task::spawn_local(async move {
        loop {
            sleep(500).await;
            if !view.peek(|view| matches!(view.state, CallState::Running)) {
                return;
            }
            spent.set(Some(now().saturating_sub(start) / 100 * 100));
        }
    });
}
