//! A card for each tool call: what it is, where it runs, what it was given, what came of it.

use leptos::html::{code, details, div, pre, span, summary};
use leptos::prelude::*;

use crate::browser::{now, sleep};
use crate::protocol::{CallState, CallView};
use crate::tools::humanise;
use crate::ui::approval::approval;
use crate::ui::{App, CallItem, Store, words};

/// The card.
pub(super) fn call_card(app: &App, item: CallItem) -> impl IntoView + use<> {
    let store = app.store;
    let view = item.view;
    let name = view.with_untracked(|view| view.name.clone());
    let shown = name.clone();
    let title = move || {
        let label = store.registry.with(|registry| registry.get(&shown).map(|tool| tool.title()));
        label.unwrap_or_else(|| humanise(&shown))
    };
    let state = Memo::new(move |_| view.with(|view| view.state.clone()));
    let asks = move || matches!(state.get(), CallState::ApprovalRequested { .. });
    let asked = app.clone();
    let deciding = item.clone();
    div()
        .class("call")
        .attr("part", "tool-call")
        .attr("data-tool", name)
        .attr("data-state", move || state.get().as_str())
        .attr("role", "group")
        .attr("aria-label", {
            let title = title.clone();
            move || format!("Tool: {}", title())
        })
        .child((
            div().class("call-head").child((
                span().class("call-mark").aria_hidden("true"),
                span().class("call-title").child(title),
                span().class("call-state").child(move || words::of_state(&state.get())),
                time_spent(&item),
            )),
            div().class("call-where").child(move || where_it_runs(store, &view.get())),
            move || asks().then(|| approval(&asked, &deciding)),
            arguments(view),
            move || outcome(&state.get()),
        ))
}

fn where_it_runs(store: Store, view: &CallView) -> String {
    let scope = view.scope.or_else(|| store.registry.with(|registry| registry.get(&view.name).map(|tool| tool.scope)));
    if scope.is_none() && matches!(view.state, CallState::Failed { .. }) {
        return "not run".to_owned();
    }
    format!("{} · {}", words::of_scope(scope), view.name)
}

fn arguments(view: RwSignal<CallView>) -> impl IntoView {
    let text = Memo::new(move |_| view.with(|view| view.arguments.clone()));
    move || {
        let has_some = text.with(|text| !matches!(text.trim(), "" | "{}"));
        has_some.then(|| {
            details().class("call-more").child((
                summary().child("Arguments"),
                pre().tabindex("0").child(code().child(move || words::pretty(&text.get()))),
            ))
        })
    }
}

fn outcome(state: &CallState) -> Option<AnyView> {
    match state {
        CallState::ResultAvailable { content } => {
            let content = words::pretty(content);
            Some(
                details()
                    .class("call-more")
                    .child((summary().child("Result"), pre().tabindex("0").child(code().child(content))))
                    .into_any(),
            )
        }
        CallState::Failed { message, .. } => Some(div().class("call-error").child(message.clone()).into_any()),
        CallState::InputStreaming
        | CallState::InputAvailable
        | CallState::ApprovalRequested { .. }
        | CallState::Running
        | CallState::Denied
        | CallState::Cancelled => None,
    }
}

// Counts while it runs, stays when it is done.
fn time_spent(item: &CallItem) -> impl IntoView + use<> {
    let spent = RwSignal::new(None::<u64>);
    let (view, started) = (item.view, item.started);
    Effect::new(move |_| {
        let Some(start) = started.get() else { return };
        let running = view.with(|view| matches!(view.state, CallState::Running));
        if !running {
            let end = view.with(|view| view.at);
            if end > 0 {
                spent.set(Some(end.saturating_sub(start)));
            }
            return;
        }
        leptos::task::spawn_local(async move {
            loop {
                sleep(500).await;
                // The card may be gone by now.
                let Some(CallState::Running) = view.try_with_untracked(|view| view.state.clone()) else { return };
                spent.set(Some(now().saturating_sub(start) / 100 * 100));
            }
        });
    });
    span().class("call-time").child(move || spent.get().map(words::duration))
}
