//! Keeps the end of a thread in sight for as long as the user does not look elsewhere. Knows nothing of what is in it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use js_sys::Reflect;
use leptos::prelude::*;
use send_wrapper::SendWrapper;
use wasm_bindgen::JsCast;
use wasm_bindgen::closure::Closure;
use web_sys::{Element, HtmlElement, ResizeObserver};

use crate::ui::live::Live;
use crate::ui::node::Place;

// A scroller at its end may miss it by a fraction of a CSS pixel.
const ROUNDING: f64 = 1.0;

/// What scrolls, and what is in it.
#[derive(Clone)]
pub(super) struct Follow {
    pub(super) scroller: Place,
    pub(super) content: Place,
    /// Whether the end is to stay in sight: until the user scrolls away from it.
    pub(super) at_end: Live<bool>,
    // Where the scroller stood when it was looked at last, in CSS pixels, as the bits of an `f64`.
    top: Arc<AtomicU64>,
    // Whether the user is about to open or to close something: what grows then is what they want to see.
    unfolds: Arc<AtomicBool>,
}

impl Follow {
    /// Begins at the end. Whatever grows or shrinks, the thread or the room for it, the end stays in sight.
    pub(super) fn new() -> Self {
        let (scroller, content) = (Place::new(), Place::new());
        let follow = Self { scroller, content, at_end: Live::new(true), top: Arc::default(), unfolds: Arc::default() };
        let watched = follow.clone();
        Effect::new(move |_: Option<()>| {
            let (Some(scroller), Some(content)) = (scroller.get(), content.get()) else { return };
            let follow = watched.clone();
            let resized = Closure::<dyn FnMut()>::new(move || follow.resized());
            let Ok(observer) = ResizeObserver::new(resized.as_ref().unchecked_ref()) else { return };
            observer.observe(&scroller);
            observer.observe(&content);
            let held = SendWrapper::new((observer, resized));
            on_cleanup(move || held.0.disconnect());
        });
        follow
    }

    /// The scroller has moved. Any way up is away from the end, for where the thread grows or the room shrinks nothing
    /// moves up, and where the thread shrinks its end stays in sight. The way down ends there only at the end itself.
    pub(super) fn look(&self) {
        let Some(element) = self.element().filter(|element| element.client_height() > 0) else { return };
        let top = top_of(&element);
        let before = f64::from_bits(self.top.swap(top.to_bits(), Ordering::Relaxed));
        self.stay(left(&element) < ROUNDING || (self.at_end.now() && top >= before));
    }

    /// Something in the content was clicked.
    pub(super) fn clicked(&self, target: &Element) {
        if matches!(target.closest("summary"), Ok(Some(_))) {
            self.unfolds.store(true, Ordering::Relaxed);
        }
    }

    fn resized(&self) {
        // An element that was taken out and put back has forgotten where it stood.
        if let Some(element) = self.element().filter(|element| !self.at_end.now() && top_of(element) == 0.0) {
            element.set_scroll_top(f64::from_bits(self.top.load(Ordering::Relaxed)) as i32);
        }
        if !self.unfolds.swap(false, Ordering::Relaxed) {
            return self.now();
        }
        self.stay(self.element().is_some_and(|element| left(&element) < ROUNDING));
    }

    /// Goes to the end, and stays there.
    pub(super) fn to_end(&self) {
        self.stay(true);
        self.now();
    }

    // Views are told of a change alone.
    fn stay(&self, at_end: bool) {
        if at_end != self.at_end.now() {
            self.at_end.set(at_end);
        }
    }

    fn now(&self) {
        if let Some(element) = self.element().filter(|_| self.at_end.now()) {
            element.set_scroll_top(element.scroll_height());
            self.top.store(top_of(&element).to_bits(), Ordering::Relaxed);
        }
    }

    fn element(&self) -> Option<HtmlElement> {
        self.scroller.try_get_untracked().flatten()?.dyn_into().ok()
    }
}

// How far the end is out of sight.
fn left(element: &HtmlElement) -> f64 {
    f64::from(element.scroll_height() - element.client_height()) - top_of(element)
}

// With its fraction, which the generated binding leaves out: a touch pad scrolls by less than a pixel.
fn top_of(element: &HtmlElement) -> f64 {
    Reflect::get(element, &"scrollTop".into()).ok().and_then(|top| top.as_f64()).unwrap_or_default()
}
