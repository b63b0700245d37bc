//! What a screen reader says: whole sentences of an answer, each call's turn, how a run ended. Never fragments.

use std::sync::atomic::Ordering;

use leptos::prelude::*;
use web_sys::{Element, HtmlElement};

use crate::markdown::{Block, Inline, Item as ListItem};
use crate::protocol::CallState;
use crate::ui::node::{Node, Place, node};
use crate::ui::{CallItem, Item, Store, TextItem, words};

// As many sentences stay in the region as a reader may lag behind.
const KEPT: u32 = 12;

/// The polite live region, out of sight.
pub(super) fn announcer(store: &Store) -> Node {
    let watched = store.clone();
    // An effect made inside of another one ends with its next run; these go on as long as their thread is shown.
    let followers = Owner::new();
    // What was said last, by its key, and in which of the threads that were shown: what is read from a journal, in front of
    // it or in its place, was said long ago.
    Effect::new(move |said: Option<(u32, String)>| {
        let items = watched.items.get();
        let loads = watched.loads.load(Ordering::Relaxed);
        let last = items.last().map(Item::key).unwrap_or_default();
        let Some((before, said)) = said.filter(|(before, _)| *before == loads) else {
            followers.cleanup();
            return (loads, last);
        };
        // What was said last may be gone: then one item has taken its place.
        let gone = if said.is_empty() { 0 } else { items.len().saturating_sub(1) };
        let new = items.iter().rposition(|item| item.key() == said).map_or(gone, |at| at + 1);
        followers.with(|| {
            for item in &items[new..] {
                match item {
                    Item::Text(text) => follow_text(&watched, text),
                    Item::Call(call) => follow_call(&watched, call),
                    Item::User(..) | Item::Reasoning(_) => {}
                }
            }
        });
        (before, last)
    });
    let ended = store.clone();
    Effect::new(move |_: Option<usize>| {
        if let Some(reason) = ended.ended.get() {
            ended.announce(words::of_end(&reason));
        }
        0
    });
    let waits = store.clone();
    Effect::new(move |_: Option<usize>| {
        if let Some((_, why)) = waits.wait.get() {
            waits.announce(words::of_wait(&why));
        }
        0
    });
    let place = Place::new();
    let (items, loads) = (store.items.clone(), std::sync::Arc::clone(&store.loads));
    Effect::new(move |before: Option<u32>| {
        items.follow();
        let now = loads.load(Ordering::Relaxed);
        // What was said of another thread is not this one's.
        if let Some(region) = place.get().filter(|_| before.is_some_and(|before| before != now)) {
            region.set_text_content(None);
        }
        now
    });
    let waiting = store.announcement.clone();
    Effect::new(move |_: Option<usize>| {
        waiting.follow();
        if let Some(region) = place.get() {
            say(&region, waiting.update_silently(std::mem::take));
        }
        0
    });
    node("div").class("sr-only").attr("role", "log").attr("aria-live", "polite").place(place)
}

// Each in an element of its own, so that none takes the place of another that was not read yet.
fn say(region: &HtmlElement, sentences: Vec<String>) {
    let Some(document) = region.owner_document() else { return };
    for words in sentences {
        if let Ok(line) = document.create_element("p") {
            line.set_text_content(Some(&words));
            let _ = region.append_child(&line);
        }
    }
    while region.child_element_count() > KEPT {
        region.first_element_child().iter().for_each(Element::remove);
    }
}

// A block is said when it is frozen: by then it is whole.
fn follow_text(store: &Store, item: &TextItem) {
    let (store, item) = (store.clone(), item.clone());
    Effect::new(move |said: Option<usize>| {
        item.version.follow();
        let said = said.unwrap_or(0);
        let text = item.text();
        let whole = text.frozen();
        if whole.len() > said {
            let words: Vec<String> = whole[said..].iter().map(words_of).filter(|words| !words.is_empty()).collect();
            store.announce(words.join("\n"));
        }
        whole.len()
    });
}

fn follow_call(store: &Store, item: &CallItem) {
    let (store, item) = (store.clone(), item.clone());
    Effect::new(move |told: Option<usize>| {
        let view = item.view.get();
        let kind = match view.state {
            CallState::ApprovalRequested { .. } => 1,
            _ if view.state.is_settled() => 2,
            _ => 0,
        };
        if kind > 0 && told != Some(kind) {
            let title = store.title_of(&view.name);
            store.announce(format!("{title}: {}.", words::of_state(&view.state)));
        }
        kind
    });
}

fn words_of(block: &Block) -> String {
    match block {
        Block::Paragraph(content) | Block::Plain(content) | Block::Heading(_, content) => Inline::words(content),
        Block::Code { text, .. } => format!("Code, {} lines.", text.lines().count()),
        Block::List { items, .. } => items.iter().map(item_words).collect::<Vec<_>>().join("\n"),
        Block::Quote(blocks) => blocks.iter().map(words_of).collect::<Vec<_>>().join(" "),
        Block::Table { rows, .. } => format!("Table, {} rows.", rows.len()),
        Block::Rule => String::new(),
        Block::Html(html) => html.clone(),
    }
}

fn item_words(item: &ListItem) -> String {
    item.blocks.iter().map(words_of).collect::<Vec<_>>().join(" ").replace('\n', " ")
}
