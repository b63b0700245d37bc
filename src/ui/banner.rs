//! What the user must know of the last run or of the panel itself, and the way on.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use leptos::prelude::*;

use crate::browser::{now, sleep};
use crate::protocol::{EndReason, Millis, Wait};
use crate::ui::composer::to_composer;
use crate::ui::live::Live;
use crate::ui::node::{Child, Node, live, live_text, node, nothing};
use crate::ui::{App, words};

/// The banner: nothing where there is nothing to say.
pub(super) fn banner(app: &App) -> AnyView {
    let notice = said(&app.store.notice, |words| words);
    let tools = said(&app.store.tools_notice, |words| words);
    let saving = said(&app.store.saving, |why| words::not_saved(&why));
    let waits = app.clone();
    let wait = live(move || {
        let wait = waits.store.wait.get();
        wait.map(|(until, why)| waiting(&waits, until, &why)).view()
    });
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
    vec![notice, tools, saving, elsewhere, wait, ended].view()
}

fn said(what: &Live<Option<String>>, words: fn(String) -> String) -> AnyView {
    let what = what.clone();
    live(move || what.get().map(|what| frame("banner", words(what))).view())
}

// The thread is another page's: it is shown here, and may be taken over.
fn elsewhere(app: &App) -> AnyView {
    let (app, following) = (app.clone(), app.store.following.clone());
    live(move || {
        if !following.get() {
            return nothing();
        }
        let button = way_on(&app, "take-over", "Continue here", App::take_over);
        frame("banner", "This conversation is open in another tab.".to_owned()).child(button).view()
    })
}

// A button that goes away with its banner.
fn way_on(app: &App, part: &'static str, label: &'static str, act: fn(&App)) -> Node {
    let app = app.clone();
    let button = node("button").attr("type", "button").attr("part", part).child(label);
    button.on("click", move |event| {
        to_composer(&event);
        act(&app);
    })
}

fn frame(class: &str, words: String) -> Node {
    node("div").class(class).attr("role", "status").child(node("p").child(words))
}

// The sentence is said once; the seconds are for the eye alone.
fn waiting(app: &App, until: Millis, why: &Wait) -> Node {
    let counting = (*why != Wait::Offline).then(|| {
        let left = Live::new(until.saturating_sub(now()).div_ceil(1000));
        count_down(&left);
        let words = live_text(move || match left.get() {
            0 => String::new(),
            seconds => format!("in {}", words::left(seconds)),
        });
        node("span").class("countdown").attr("aria-hidden", "true").child(words)
    });
    let button = way_on(app, "try-now", "Try now", App::retry);
    frame("banner", words::of_wait(why)).attr("part", "waiting").child(counting).child(button)
}

// Where the other side asks us to wait, the button counts down and works when the time is over.
fn retry_button(app: &App, reason: &EndReason) -> Node {
    let wait_ms = match reason {
        EndReason::Error(error) => error.retry_after_ms.unwrap_or(0),
        _ => 0,
    };
    let left = Live::new(wait_ms.div_ceil(1000));
    if wait_ms > 0 {
        count_down(&left);
    }
    let waits = left.clone();
    let label = live_text(move || match left.get() {
        0 => "Try again".to_owned(),
        seconds => format!("Try again in {}", words::left(seconds)),
    });
    let app = app.clone();
    node("button")
        .attr("type", "button")
        .attr("part", "retry")
        .live_attr("disabled", move || (waits.get() > 0).then(String::new))
        .on("click", move |event| {
            to_composer(&event);
            app.retry();
        })
        .child(label)
}

// Counting ends with the view that shows it.
fn count_down(left: &Live<u64>) {
    let left = left.clone();
    let gone = Arc::new(AtomicBool::new(false));
    let told = Arc::clone(&gone);
    on_cleanup(move || told.store(true, Ordering::Relaxed));
    leptos::task::spawn_local(async move {
        while left.now() > 0 && !gone.load(Ordering::Relaxed) {
            sleep(1000).await;
            left.update(|left| *left = left.saturating_sub(1));
        }
    });
}
