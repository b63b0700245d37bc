//! A thread that is longer than what is shown of it.

use js_sys::Promise;
use pagehand::protocol::{
    AssistantMessage, Checkpoint, EndReason, Entry, Event, MessageId, MessageStatus, Part, RunId, Usage,
};
use pagehand::ui::{Item, Store};
use serde_json::{Value, json};
use wasm_bindgen::JsCast;
use wasm_bindgen_futures::JsFuture;
use wasm_bindgen_test::wasm_bindgen_test as test;

use crate::support::fake::Network;
use crate::support::mounted::{Mounted, text_of};
use crate::support::stream::saying;
use crate::support::until_so;

/// The journal of so many questions and answers, with a checkpoint every 30.
fn journal(runs: usize) -> Vec<Entry> {
    let mut lines = Vec::new();
    for at in 0..runs {
        let run = || RunId(format!("r{at}"));
        let answer = AssistantMessage {
            id: MessageId(format!("a{at}")),
            parts: vec![Part::Text { text: format!("Answer {at}.") }],
            status: MessageStatus::Complete,
        };
        lines.extend([
            Entry::RunStart {
                run: run(),
                at: at as u64,
                message: Some((MessageId(format!("u{at}")), format!("Question {at}?"))),
            },
            Entry::StepStart { run: run(), step: 1, tools: Vec::new(), used: Usage::default() },
            Entry::Message(answer),
            Entry::RunEnd { run: run(), reason: EndReason::Completed },
        ]);
        if at % 30 == 29 {
            lines.push(Entry::Checkpoint(Checkpoint::default()));
        }
    }
    lines
}

async fn import(panel: &Mounted, entries: &[Entry]) {
    let entries: Vec<Value> = entries.iter().map(Entry::to_json).collect();
    let file = json!({ "format": "pagehand-thread", "version": 1, "entries": entries }).to_string();
    let import: Promise = panel.instance.import_thread(&js_sys::JSON::parse(&file).unwrap());
    JsFuture::from(import).await.unwrap();
}

fn questions(panel: &Mounted) -> Vec<String> {
    panel.all("[part=user-message]").iter().map(text_of).collect()
}

#[test]
async fn the_end_of_a_long_thread_is_shown_and_the_rest_on_demand_and_all_of_it_is_sent() {
    let network = Network::install();
    let panel = Mounted::new(&network).await;
    import(&panel, &journal(100)).await;
    panel.reads(".items > :last-child .md", "Answer 99.").await;
    let shown = questions(&panel);
    assert!(shown.len() >= 30 && shown.len() < 80, "{} are shown at first", shown.len());
    assert_eq!(shown.last().unwrap(), "You said:Question 99?");

    while let Some(button) = panel.find("[part=earlier]") {
        let before = questions(&panel).len();
        button.unchecked_into::<web_sys::HtmlElement>().click();
        until_so("more of the thread", || questions(&panel).len() > before).await;
    }
    let all: Vec<String> = (0..100).map(|at| format!("You said:Question {at}?")).collect();
    assert_eq!(questions(&panel), all, "in order, each once");

    panel.send("And now?");
    let asked = network.asked("/agent").await;
    assert_eq!(asked.json().await["messages"].as_array().unwrap().len(), 201, "the whole thread is sent");
    asked.answer_text(200, "{}", &saying("Now, too."));
    panel.reads(".items > :last-child .md", "Now, too.").await;
}

#[test]
async fn a_thread_that_was_not_read_whole_is_sent_whole() {
    let network = Network::install();
    let panel = Mounted::new(&network).await;
    import(&panel, &journal(100)).await;
    panel.part("earlier").await;
    panel.send("And now?");
    assert_eq!(network.asked("/agent").await.json().await["messages"].as_array().unwrap().len(), 201);
}

fn start(at: usize) -> Event {
    let message = Some((MessageId(format!("u{at}")), format!("Question {at}?")));
    Event::RunStart { run: RunId(format!("r{at}")), message }
}

fn first(store: &Store) -> String {
    store.items.peek(|items| items.first().map(Item::key).unwrap_or_default())
}

#[test]
fn a_thread_that_grows_is_cut_where_it_can_be_read_on_from() {
    let owner = leptos::prelude::Owner::new();
    owner.with(|| {
        let store = Store::new();
        for at in 0..400 {
            store.apply(&start(at));
            if at % 100 == 99 {
                store.mark(at as u32 * 4);
            }
        }
        assert_eq!((store.items.peek(Vec::len), store.earlier.now()), (400, None));
        // The 401st fills it, the next one cuts it: at the last place that leaves enough.
        store.apply(&start(400));
        store.apply(&start(401));
        assert_eq!((first(&store).as_str(), store.items.peek(Vec::len)), ("u200", 202));
        assert_eq!(store.earlier.now(), Some(199 * 4));
    });
}
