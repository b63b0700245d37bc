//! What the user must know of the last run or of the panel itself, and the way on.

use leptos::prelude::*;

use crate::browser::sleep;
use crate::protocol::EndReason;
use crate::ui::live::Live;
use crate::ui::node::{Child, Node, live, live_text, node, nothing};
use crate::ui::{App, words};

/// The banner: nothing where there is nothing to say.
pub(super) fn banner(app: &App) -> AnyView {
    let notice = app.store.notice.clone();
    let notice = live(move || notice.get().map(|words| frame("banner", words)).view());
    let saving = app.store.saving.clone();
    let saving = live(move || saving.get().map(|why| frame("banner", words::not_saved(&why))).view());
    let elsewhere = elsewhere(app);
    let app = app.clone();
    let ended = live(move || {
        let reason = app.store.ended.get();
        reason
            .map(|reason| {
                let class = if words::is_error(&reason) { "banner error" } else { "banner" };
                frame(class, words::of_end(&reason)).attr("part", "banner").child(retry_button(&app, &reason))
            })
            .view()
    });
    vec![notice, saving, elsewhere, ended].view()
}

// The thread is another page's: it is shown here, and may be taken over.
fn elsewhere(app: &App) -> AnyView {
    let (app, following) = (app.clone(), app.store.following.clone());
    live(move || {
        if !following.get() {
            return nothing();
        }
        let take = app.clone();
        let button = node("button")
            .attr("type", "button")
            .attr("part", "take-over")
            .on("click", move |_| take.take_over())
            .child("Continue here");
        frame("banner", "This conversation is open in another tab.".to_owned()).child(button).view()
    })
}

fn frame(class: &str, words: String) -> Node {
    node("div").class(class).attr("role", "status").child(node("p").child(words))
}

// Where the other side asks us to wait, the button counts down and works when the time is over.
fn retry_button(app: &App, reason: &EndReason) -> Node {
    let wait_ms = match reason {
        EndReason::Error(error) => error.retry_after_ms.unwrap_or(0),
        _ => 0,
    };
    let left = Live::new(wait_ms.div_ceil(1000));
    if wait_ms > 0 {
        count_down(left.clone());
    }
    let waits = left.clone();
    let label = live_text(move || match left.get() {
        0 => "Try again".to_owned(),
        seconds => format!("Try again in {seconds} s"),
    });
    let app = app.clone();
    node("button")
        .attr("type", "button")
        .attr("part", "retry")
        .live_attr("disabled", move || (waits.get() > 0).then(String::new))
        .on("click", move |_| app.retry())
        .child(label)
}

fn count_down(left: Live<u64>) {
    leptos::task::spawn_local(async move {
        while left.now() > 0 {
            sleep(1000).await;
            left.update(|left| *left = left.saturating_sub(1));
        }
    });
}
