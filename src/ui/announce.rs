//! What a screen reader says: whole sentences of an answer, each call's turn, how a run ended. Never fragments.

use leptos::html::div;
use leptos::prelude::*;

use crate::markdown::Inline;
use crate::markdown::{Block, Item as ListItem};
use crate::protocol::CallState;
use crate::tools::humanise;
use crate::ui::{CallItem, Item, Store, TextItem, words};

/// The polite live region, out of sight.
pub(super) fn announcer(store: Store) -> impl IntoView {
    Effect::new(move |said: Option<usize>| {
        let items = store.items.get();
        let said = said.unwrap_or(items.len()).min(items.len());
        for item in &items[said..] {
            match item {
                Item::Text(text) => follow_text(store, text),
                Item::Call(call) => follow_call(store, call),
                Item::User(..) | Item::Reasoning(_) => {}
            }
        }
        items.len()
    });
    Effect::new(move |_| {
        if let Some(reason) = store.ended.get() {
            store.announcement.set(words::of_end(&reason));
        }
    });
    div()
        .class("sr-only")
        .attr("role", "log")
        .aria_live("polite")
        .aria_relevant("additions text")
        .child(move || store.announcement.get())
}

// A block is said when it is frozen: by then it is whole.
fn follow_text(store: Store, item: &TextItem) {
    let item = item.clone();
    Effect::new(move |said: Option<usize>| {
        item.version.get();
        let said = said.unwrap_or(0);
        let text = item.text();
        let whole = text.frozen();
        if whole.len() > said {
            let words: Vec<String> = whole[said..].iter().map(words_of).filter(|words| !words.is_empty()).collect();
            store.announcement.set(words.join("\n"));
        }
        whole.len()
    });
}

fn follow_call(store: Store, item: &CallItem) {
    let item = item.clone();
    Effect::new(move |before: Option<&'static str>| {
        let view = item.view.get();
        let state = view.state.as_str();
        let worth_saying = view.state.is_settled() || matches!(view.state, CallState::ApprovalRequested { .. });
        if before != Some(state) && worth_saying {
            let title = store.registry.with(|registry| registry.get(&view.name).map(|tool| tool.title()));
            let title = title.unwrap_or_else(|| humanise(&view.name));
            store.announcement.set(format!("{title}: {}.", words::of_state(&view.state)));
        }
        state
    });
}

fn words_of(block: &Block) -> String {
    match block {
        Block::Paragraph(content) | Block::Plain(content) | Block::Heading(_, content) => inline_words(content),
        Block::Code { text, .. } => format!("Code, {} lines.", text.lines().count()),
        Block::List { items, .. } => items.iter().map(item_words).collect::<Vec<_>>().join(". "),
        Block::Quote(blocks) => blocks.iter().map(words_of).collect::<Vec<_>>().join(" "),
        Block::Table { rows, .. } => format!("Table, {} rows.", rows.len()),
        Block::Rule => String::new(),
        Block::Html(html) => html.clone(),
    }
}

fn item_words(item: &ListItem) -> String {
    item.blocks.iter().map(words_of).collect::<Vec<_>>().join(" ")
}

fn inline_words(content: &[Inline]) -> String {
    content
        .iter()
        .map(|inline| match inline {
            Inline::Text(text) | Inline::Code(text) => text.clone(),
            Inline::Emphasis(content) | Inline::Strong(content) | Inline::Strike(content) => inline_words(content),
            Inline::Link { content, .. } => inline_words(content),
            Inline::Image { description, .. } => format!("image: {description}"),
            Inline::Break => " ".to_owned(),
        })
        .collect()
}
