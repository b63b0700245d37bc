//! A thread that is longer than what is shown of it.

use js_sys::Promise;
use pagehand::browser::sleep;
use pagehand::protocol::{
    AssistantMessage, Checkpoint, EndReason, Entry, Event, MessageId, MessageStatus, Part, Risk, RunId, Scope,
    ToolCall, ToolCallId, Usage, UserMessage,
};
use pagehand::ui::{Item, Store};
use serde_json::{Value, json};
use wasm_bindgen::JsCast;
use wasm_bindgen_futures::JsFuture;
use wasm_bindgen_test::wasm_bindgen_test as test;

use crate::support::database::clear;
use crate::support::fake::Network;
use crate::support::mounted::{Mounted, text_of};
use crate::support::stream::saying;
use crate::support::{definition, fresh_name, listing, until_so};

/// The journal of so many questions and answers, with a checkpoint every 30.
fn journal(runs: usize) -> Vec<Entry> {
    let mut lines = Vec::new();
    for at in 0..runs {
        let run = || RunId(format!("r{at}"));
        let answer = AssistantMessage {
            id: MessageId(format!("a{at}")),
            parts: vec![Part::text(format!("Answer {at}."))],
            status: MessageStatus::Complete,
        };
        lines.extend([
            Entry::RunStart {
                run: run(),
                at: at as u64,
                message: Some(UserMessage::new(MessageId(format!("u{at}")), format!("Question {at}?"))),
            },
            Entry::StepStart { run: run(), step: 1, tools: Vec::new(), used: Usage::default() },
            Entry::Message(answer),
            Entry::RunEnd { run: run(), reason: EndReason::Completed, used: Usage::default() },
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

#[test]
async fn a_file_in_which_a_run_is_open_runs_nothing() {
    let network = Network::install();
    let refund = definition("order_refund", Scope::Server, Risk::Irreversible);
    let panel = Mounted::serving(&network, &[refund]).await;
    let call = Part::Call(ToolCall {
        id: ToolCallId::from("c"),
        wire_id: None,
        name: "order_refund".to_owned(),
        arguments: "{}".to_owned(),
        encrypted_value: None,
    });
    let answer = AssistantMessage { id: MessageId::from("a"), parts: vec![call], status: MessageStatus::Complete };
    let run = || RunId::from("r");
    let decision =
        Entry::Decision { call: ToolCallId::from("c"), approved: true, arguments: None, payload: Value::Null };
    let lines = [
        Entry::RunStart {
            run: run(),
            at: 1,
            message: Some(UserMessage::new(MessageId::from("u"), "Refund it.".to_owned())),
        },
        Entry::StepStart { run: run(), step: 1, tools: Vec::new(), used: Usage::default() },
        Entry::Message(answer),
        decision,
        // In the middle of a step a checkpoint would part a call from its result.
        Entry::Checkpoint(Checkpoint::default()),
    ];
    import(&panel, &lines).await;
    panel.the("[data-state=failed]").await;
    assert_eq!(network.count("/tools/order_refund").await + network.count("/agent").await, 0);
    panel.send("And now?");
    let asked = network.asked("/agent").await.json().await;
    let roles: Vec<&str> =
        asked["messages"].as_array().unwrap().iter().filter_map(|one| one["role"].as_str()).collect();
    assert_eq!(roles, ["user", "assistant", "tool", "user"]);
}

#[test]
async fn a_message_is_there_before_the_gateway_has_listed_its_tools_and_waits_for_them() {
    let network = Network::install();
    let panel = Mounted::waiting(&fresh_name());
    let asked = network.asked("/tools").await;
    panel.send("Tell me.");
    panel.reads("[part=user-message]", "Tell me.").await;
    assert_eq!(network.count("/agent").await, 0);
    asked.answer_json(200, &listing(&[definition("order_status", Scope::Server, Risk::Read)]));
    let request = network.asked("/agent").await.json().await;
    let offered = request["tools"].as_array().unwrap().iter().any(|tool| tool["name"] == "order_status");
    assert!(offered, "and is offered what is listed");
}

#[test]
async fn a_record_that_was_cleared_under_an_open_page_is_said_so_and_not_begun_in_the_middle() {
    let network = Network::install();
    let panel = Mounted::told(&network).await;
    let name = panel.name.clone();
    clear("pagehand").await;
    panel.ask(&network, "And now?").await.send(&saying("Now, too."));
    panel.reads(".banner", "record of it was cleared").await;
    drop(panel);
    let again = Mounted::waiting(&name);
    sleep(600).await;
    assert!(again.all("[part=user-message]").is_empty() && again.find(".banner").is_none());
}

fn start(at: usize) -> Event {
    let message = Some(UserMessage::new(MessageId(format!("u{at}")), format!("Question {at}?")));
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
