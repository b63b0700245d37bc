//! What the user must know of the last run or of the panel itself, and the way on.

use leptos::ev;
use leptos::html::{button, div, p};
use leptos::prelude::*;

use crate::browser::sleep;
use crate::protocol::EndReason;
use crate::ui::{App, words};

/// The banner: nothing where there is nothing to say.
pub(super) fn banner(app: &App) -> impl IntoView + use<> {
    let store = app.store;
    let notice =
        move || store.notice.get().map(|words| div().class("banner").attr("role", "status").child(p().child(words)));
    let retried = app.clone();
    let ended = move || {
        store.ended.get().map(|reason| {
            let class = if words::is_error(&reason) { "banner error" } else { "banner" };
            div()
                .class(class)
                .attr("part", "banner")
                .attr("role", "status")
                .child((p().child(words::of_end(&reason)), retry_button(&retried, &reason)))
        })
    };
    (notice, ended)
}

// Where the other side asks us to wait, the button counts down and works when the time is over.
fn retry_button(app: &App, reason: &EndReason) -> impl IntoView + use<> {
    let wait_ms = match reason {
        EndReason::Error(error) => error.retry_after_ms.unwrap_or(0),
        _ => 0,
    };
    let left = RwSignal::new(wait_ms.div_ceil(1000));
    if wait_ms > 0 {
        leptos::task::spawn_local(async move {
            while left.try_get_untracked().is_some_and(|left| left > 0) {
                sleep(1000).await;
                left.try_update(|left| *left = left.saturating_sub(1));
            }
        });
    }
    let label = move || match left.get() {
        0 => "Try again".to_owned(),
        seconds => format!("Try again in {seconds} s"),
    };
    let app = app.clone();
    button()
        .attr("type", "button")
        .attr("part", "retry")
        .prop("disabled", move || left.get() > 0)
        .on(ev::click, move |_| app.retry())
        .child(label)
}
