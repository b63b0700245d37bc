//! The thread on screen. Knows nothing of how it comes about.

use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use leptos::mount::{UnmountHandle, mount_to};
use leptos::prelude::*;
use leptos::tachys::view::any_view::AnyViewState;
use wasm_bindgen::JsCast;
use web_sys::{Element, HtmlElement};

use crate::browser::ThreadInfo;
use crate::protocol::{Attachment, MessageStatus, UserMessage};
use crate::ui::call_card::call_card;
use crate::ui::composer::to_composer;
use crate::ui::follow::Follow;
use crate::ui::live::Live;
use crate::ui::markdown_dom::MarkdownView;
use crate::ui::node::{Child, Node, Place, focus, focus_on, live, live_text, node, nothing};
use crate::ui::{App, Item, Store, TextItem, frame, words};

/// The thread, kept at its end as it grows unless the user scrolled away.
pub(super) fn transcript(app: &App) -> Node {
    let follow = Follow::new();
    go_to_what_is_said(&app.store, follow.clone());
    let (shown, scrolled, clicked, place) = (app.clone(), follow.clone(), follow.clone(), follow.scroller);
    let list = list(&app.store, move |item| view_of(&shown, item));
    let content = node("div")
        .class("content")
        .place(follow.content)
        .child(empty_state(app))
        .child(earlier(app, place))
        .child(list)
        .child(waiting(&app.store));
    let scroller = node("div")
        .class("scroller")
        .attr("part", "transcript")
        .attr("tabindex", "0")
        .attr("role", "group")
        .attr("aria-label", "Conversation")
        .place(place)
        .on("scroll", move |_| scrolled.look())
        .on("click", move |event| {
            let Some(target) = event.target().and_then(|target| target.dyn_into::<HtmlElement>().ok()) else { return };
            clicked.clicked(&target);
            copy_code(target);
        })
        .child(content);
    node("div").class("conversation").child(scroller).child(latest(follow))
}

// Whoever says something sees it, wherever they were; and so does who opens another thread.
fn go_to_what_is_said(store: &Store, follow: Follow) {
    let (items, loads) = (store.items.clone(), Arc::clone(&store.loads));
    Effect::new(move |said: Option<(u32, Option<String>)>| {
        let last = items.with(|items| match items.last() {
            Some(item @ Item::User(_)) => Some(item.key()),
            _ => None,
        });
        let now = (loads.load(Ordering::Relaxed), last);
        if said.is_none_or(|(loads, said)| loads != now.0 || (now.1.is_some() && said != now.1)) {
            follow.to_end();
        }
        now
    });
}

// The way back to the end.
fn latest(follow: Follow) -> AnyView {
    live(move || {
        if follow.at_end.get() {
            return nothing();
        }
        let follow = follow.clone();
        let go = move |_| {
            // The button that had the focus is gone.
            focus_on(follow.scroller);
            follow.to_end();
        };
        let button = node("button").attr("type", "button").attr("part", "latest").class("latest");
        button.on("click", go).child("To the latest").view()
    })
}

/// A thread's items, each with a view of its own that is made once. They are added at the end or all replaced, so
/// this needs none of what Leptos' `For` does to move them about.
fn list(store: &Store, view: impl Fn(Item) -> AnyView + 'static) -> Node {
    let (items, loads) = (store.items.clone(), Arc::clone(&store.loads));
    let (place, view) = (Place::new(), Rc::new(view));
    // The rows' owner: an effect's own is cleaned up whenever it runs again.
    let owner = Owner::current().unwrap_or_default();
    Effect::new(move |rows: Option<(u32, Vec<Row>)>| {
        let (made, mut rows) = rows.unwrap_or_default();
        let now = loads.load(Ordering::Relaxed);
        let Some(parent) = place.get() else { return (made, rows) };
        if made != now {
            // Another thread, or the same one read anew: the old views follow what is not shown any more.
            rows.clear();
        }
        // What was let go of at the beginning.
        let gone = items.peek(|items| {
            let first = items.first().map(Item::key);
            rows.iter().position(|row| Some(&row.key) == first.as_ref()).unwrap_or(0)
        });
        rows.drain(..gone);
        // What was there before the first row stands in front of it; all else is behind the rows that stay.
        let (before, new) = items.with(|items| {
            let first = rows.first().and_then(|row| items.iter().position(|item| item.key() == row.key)).unwrap_or(0);
            let same = rows.iter().zip(&items[first..]).take_while(|(row, item)| row.key == item.key()).count();
            rows.truncate(same);
            let first = if same == 0 { 0 } else { first };
            (items[..first].to_vec(), items[first + same..].to_vec())
        });
        let mount = |item: Item, parent: HtmlElement| {
            let (key, view) = (item.key(), Rc::clone(&view));
            let view = owner.with(|| mount_to(parent, move || view(item)));
            Row { key, _view: view }
        };
        if let (false, Some(page)) = (before.is_empty(), page_before(&parent)) {
            rows.splice(..0, before.into_iter().map(|item| mount(item, page.clone())));
        }
        rows.extend(new.into_iter().map(|item| mount(item, parent.clone())));
        (now, rows)
    });
    node("div").class("items").place(place)
}

// A place in front of all rows, without a box of its own.
fn page_before(parent: &HtmlElement) -> Option<HtmlElement> {
    let page = parent.owner_document()?.create_element("div").ok()?.dyn_into::<HtmlElement>().ok()?;
    page.set_class_name("page");
    parent.insert_before(&page, parent.first_child().as_ref()).ok()?;
    Some(page)
}

// Where a long thread is not shown whole. What the user looks at stays where it is.
fn earlier(app: &App, scroller: Place) -> AnyView {
    let app = app.clone();
    live(move || {
        if app.store.earlier.get().is_none() {
            return nothing();
        }
        let app = app.clone();
        let show = move |_| {
            let app = app.clone();
            leptos::task::spawn_local(async move {
                let element = scroller.try_get_untracked().flatten();
                let from_end = element.as_ref().map(|element| element.scroll_height() - element.scroll_top());
                app.show_earlier().await;
                frame::next(move || {
                    if let (Some(element), Some(from_end)) = (element, from_end) {
                        element.set_scroll_top(element.scroll_height() - from_end);
                        focus(&element);
                    }
                });
            });
        };
        let button = node("button")
            .attr("type", "button")
            .attr("part", "earlier")
            .class("quiet")
            .on("click", show)
            .child("Show earlier messages");
        node("div").class("earlier").child(button).view()
    })
}

struct Row {
    key: String,
    // Takes the row down when it goes.
    _view: UnmountHandle<AnyViewState>,
}

fn view_of(app: &App, item: Item) -> AnyView {
    match item {
        Item::User(said) => user_view(said),
        Item::Text(text) => words_view(&text),
        Item::Reasoning(text) => reasoning_view(text),
        Item::Call(call) => call_card(app, call).view(),
    }
}

fn user_view(said: UserMessage) -> AnyView {
    let who = node("div").class("sr-only").child("You said:");
    // By name: a picture itself would need the page's policy to allow one.
    let file = |file: &Attachment| node("li").child(words::of_file(file));
    let files: Vec<Node> = said.attachments.iter().map(file).collect();
    let files = (!files.is_empty()).then(|| node("ul").class("files").attr("aria-label", "Files").child(files));
    node("div")
        .class("user")
        .attr("part", "user-message")
        .attr("data-message", said.id.as_str())
        .child(who)
        .child(said.content)
        .child(files)
        .view()
}

fn words_view(item: &TextItem) -> AnyView {
    let container = Place::new();
    let shown = item.clone();
    // The view lives in the effect; the first run makes it, the later ones patch what it made.
    Effect::new(move |view: Option<Option<MarkdownView>>| {
        shown.version.follow();
        let mut view = view.flatten().or_else(|| MarkdownView::new(container.get()?.unchecked_into::<Element>()))?;
        view.update(&shown.text());
        Some(view)
    });
    let (status, ended) = (item.status.clone(), item.status.clone());
    let class = move || {
        let superseded = status.get() == Some(MessageStatus::Superseded);
        Some(if superseded { "answer superseded" } else { "answer" }.to_owned())
    };
    let busy = item.status.clone();
    node("div")
        .live_attr("class", class)
        .attr("part", "assistant-message")
        .live_attr("aria-busy", move || busy.get().is_none().then(|| "true".to_owned()))
        .child(node("div").class("md").place(container))
        .child(live(move || {
            let words = ended.get().and_then(words::of_status);
            words.map(|words| node("p").class("broken").child(words)).view()
        }))
        .view()
}

fn reasoning_view(item: TextItem) -> AnyView {
    let (status, busy) = (item.status.clone(), item.status.clone());
    let text = live_text(move || {
        item.version.follow();
        item.text().source().to_owned()
    });
    let name = live_text(move || if status.get().is_none() { "Thinking …" } else { "Reasoning" }.to_owned());
    node("details")
        .class("reasoning")
        .live_attr("aria-busy", move || busy.get().is_none().then(|| "true".to_owned()))
        .child(node("summary").child(name))
        .child(node("div").class("plain-text").child(text))
        .view()
}

fn waiting(store: &Store) -> AnyView {
    let waiting = store.waiting.clone();
    let dot = || node("div").class("dot");
    live(move || {
        if !waiting.get() {
            return nothing();
        }
        let label = "The agent is thinking";
        node("div")
            .class("waiting")
            .attr("role", "img")
            .attr("aria-label", label)
            .child(vec![dot(), dot(), dot()])
            .view()
    })
}

fn empty_state(app: &App) -> AnyView {
    let others = others(app);
    let app = app.clone();
    live(move || {
        if app.store.items.with(|items| !items.is_empty()) || app.store.opening.get() {
            return nothing();
        }
        let suggestions = app.store.agent.with(|agent| agent.suggestions.clone());
        let suggestions = suggestions.into_iter().map(|words| suggestion(&app, words)).collect();
        let threads = others.get().into_iter().map(|thread| earlier_thread(&app, thread)).collect();
        node("div")
            .class("empty")
            .child(node("p").child("Ask a question, or say what should be done in this page."))
            .child(choice("For example:", suggestions))
            .child(choice("Earlier conversations:", threads))
            .view()
    })
}

fn choice(hint: &str, buttons: Vec<Node>) -> Vec<Node> {
    if buttons.is_empty() {
        return Vec::new();
    }
    vec![node("p").class("hint").child(hint), node("ul").child(buttons)]
}

// The other threads of whoever is signed in, read when there is nothing else to show.
fn others(app: &App) -> Live<Vec<ThreadInfo>> {
    let (app, others) = (app.clone(), Live::new(Vec::new()));
    let found = others.clone();
    Effect::new(move |_: Option<()>| {
        // Whose they are, and which there are, may have changed.
        let asked = app.store.shelf.get();
        if found.peek(|found| !found.is_empty()) {
            found.set(Vec::new());
        }
        if app.store.items.with(|items| !items.is_empty()) || app.store.opening.get() {
            return;
        }
        let (app, found) = (app.clone(), found.clone());
        leptos::task::spawn_local(async move {
            let mut threads = app.threads().await;
            let now = app.thread();
            threads.retain(|thread| thread.id != now && !thread.title.is_empty());
            threads.truncate(OTHERS);
            if asked == app.store.shelf.now() {
                found.set(threads);
            }
        });
    });
    others
}

// So many other threads are offered.
const OTHERS: usize = 5;

fn earlier_thread(app: &App, thread: ThreadInfo) -> Node {
    let (app, id) = (app.clone(), thread.id);
    let button = node("button")
        .attr("type", "button")
        .class("quiet thread")
        .attr("part", "thread")
        .on("click", move |event| {
            to_composer(&event);
            app.open_thread(id.clone());
        })
        .child(thread.title);
    node("li").child(button)
}

fn suggestion(app: &App, words: String) -> Node {
    let (app, sent) = (app.clone(), words.clone());
    let button = node("button")
        .attr("type", "button")
        .class("suggestion")
        .attr("part", "suggestion")
        .on("click", move |_| drop(app.send(sent.as_str())))
        .child(words);
    node("li").child(button)
}

// One listener for the copy buttons of all code blocks.
fn copy_code(target: HtmlElement) {
    if !target.class_list().contains("copy") {
        return;
    }
    let code = target.closest(".code").ok().flatten().and_then(|frame| frame.query_selector("code").ok().flatten());
    let Some(text) = code.and_then(|code| code.text_content()) else { return };
    leptos::task::spawn_local(async move {
        let copied = crate::browser::tools::copy_text(&text).await;
        target.set_text_content(Some(if copied { "Copied" } else { "Not copied" }));
        crate::browser::sleep(1500).await;
        target.set_text_content(Some("Copy"));
    });
}
