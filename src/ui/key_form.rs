//! Where a user gives their own key for a model that the page asks. Knows nothing of where it is kept.

use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::{HtmlElement, HtmlInputElement};

use crate::browser::Direct;
use crate::protocol::{EndReason, ModelErrorKind};
use crate::ui::App;
use crate::ui::node::{Child, Place, focus, live, node, nothing};
use crate::ui::store::Store;

/// The form; nothing where no key is wanted.
pub(super) fn key_form(app: &App) -> AnyView {
    let app = app.clone();
    let store = app.store.clone();
    // Made anew only where it asks for another key: half of one may be written in it.
    let asked_for = Memo::new(move |_| {
        let refused = store
            .ended
            .with(|ended| matches!(ended, Some(EndReason::Error(error)) if error.kind == ModelErrorKind::Auth));
        let whose = store.wants_key.get().or_else(|| refused_by(&store, refused))?;
        Some((whose, refused))
    });
    live(move || {
        let Some((whose, refused)) = asked_for.get() else { return nothing() };
        let (key, keep) = (Place::new(), Place::new());
        let given = app.clone();
        let field = node("input")
            .attr("id", "pagehand-key")
            .attr("type", "password")
            .attr("autocomplete", "off")
            .attr("spellcheck", "false")
            .attr("aria-describedby", "pagehand-key-note")
            .place(key);
        let keep_it =
            node("label").child(node("input").attr("type", "checkbox").place(keep)).child(" Keep it in this browser");
        let note =
            "It is sent to the model's server alone. Scripts of this page could read it: give it to pages you trust.";
        node("form")
            .class("key")
            .attr("part", "key")
            .on("submit", move |event| {
                event.prevent_default();
                let Some(field) = input(key) else { return };
                let keep = input(keep).is_some_and(|keep| keep.checked());
                let value = field.value().trim().to_owned();
                if value.is_empty() {
                    return;
                }
                if !Direct::is_key(&value) {
                    let words = "This is no key: it has spaces, or letters that no key has.";
                    return given.store.notice.set(Some(words.to_owned()));
                }
                field.set_value("");
                given.store.notice.set(None);
                // The form goes, and the focus with it.
                let composer = field.closest("[part=panel]").ok().flatten();
                let composer = composer.and_then(|panel| panel.query_selector("textarea").ok().flatten());
                given.give_key(Some(value), keep);
                given.store.announce("The key is taken.".to_owned());
                if refused {
                    given.retry();
                }
                if let Some(area) = composer.and_then(|area| area.dyn_into::<HtmlElement>().ok()) {
                    focus(&area);
                }
            })
            .child(node("label").attr("for", "pagehand-key").child(format!("Your key for {whose}")))
            .child(field)
            .child(keep_it)
            .child(node("p").attr("id", "pagehand-key-note").child(note))
            .child(node("button").attr("type", "submit").class("primary").child("Use this key"))
            .view()
    })
}

// A key that its server does not take may be mistyped.
fn refused_by(store: &Store, refused: bool) -> Option<String> {
    store.direct.get().filter(|direct| refused && direct.name != "prompt_api").map(|direct| direct.label)
}

fn input(place: Place) -> Option<HtmlInputElement> {
    place.get_untracked()?.dyn_into().ok()
}
