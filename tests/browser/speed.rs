//! What keeping a thread costs in a browser. Measured where `scripts/bench-journal` asks for it, and nowhere else.

use std::rc::Rc;

use pagehand::browser::{Database, Journal};
use pagehand::protocol::{
    AssistantMessage, Checkpoint, EndReason, Entry, MessageId, MessageStatus, Part, RunId, Scope, ThreadId, ToolCallId,
    UserMessage,
};
use pagehand::session::Written;
use serde_json::json;
use wasm_bindgen::JsCast;
use wasm_bindgen_test::{console_log, wasm_bindgen_test as test};

use crate::support::database::write_by_hand;
use crate::support::fake::Network;
use crate::support::mounted::Mounted;
use crate::support::stream::{calling, saying};
use crate::support::{fresh_name, text, until_so};

async fn is_wanted() -> bool {
    text("/target/bench/journal").await.is_some()
}

fn now() -> f64 {
    web_sys::window().unwrap().performance().unwrap().now()
}

fn start(at: u64) -> Entry {
    let text = "Please look after everything that is still open.".to_owned();
    Entry::RunStart { run: RunId::from("r"), at, message: Some(UserMessage::new(MessageId(format!("u{at}")), text)) }
}

fn answer(at: u64) -> Entry {
    let text = "I have looked after what was open; there are three orders that wait for an answer.".to_owned();
    Entry::Message(AssistantMessage {
        id: MessageId(format!("a{at}")),
        parts: vec![Part::text(text)],
        status: MessageStatus::Complete,
    })
}

#[test]
async fn what_a_line_costs_beside_a_write_by_hand() {
    if !is_wanted().await {
        return;
    }
    let database = Database::new(&fresh_name());
    let journal = Journal::new(&database, &ThreadId::from("t"));
    journal.open(Rc::new(|_| ())).await.unwrap();
    let effect = |at: u64| Entry::CallStart { call: ToolCallId(format!("c{at}")), at, scope: Scope::Browser };
    for (name, durability, line) in
        [("a line", "relaxed", &answer as &dyn Fn(u64) -> Entry), ("a call's line", "strict", &effect)]
    {
        let length = line(1).to_json().to_string().len() as u32;
        let by_hand = write_by_hand(&fresh_name(), 300, length, durability).await / 300.0;
        let begun = now();
        for at in 0..300 {
            journal.append(&line(at));
            assert_eq!(journal.flush().await, Written::Yes);
        }
        let ours = (now() - begun) / 300.0;
        console_log!(
            "{name} ({durability}): {:.0} µs, by hand {:.0} µs: {:.2} ×",
            ours * 1000.0,
            by_hand * 1000.0,
            ours / by_hand
        );
    }
}

#[test]
async fn what_opening_a_thread_of_5_000_messages_costs() {
    if !is_wanted().await {
        return;
    }
    let name = fresh_name();
    let journal = Journal::new(&Database::new(&name), &ThreadId::from("t"));
    journal.open(Rc::new(|_| ())).await.unwrap();
    let mut lines = 0;
    for at in 0..2_500 {
        let step = Entry::StepStart { run: RunId::from("r"), step: 1, tools: Vec::new(), used: Default::default() };
        let end = Entry::RunEnd { run: RunId::from("r"), reason: EndReason::Completed, used: Default::default() };
        for entry in [start(at), step, answer(at), end] {
            journal.append(&entry);
            lines += 1;
        }
        if at % 30 == 29 {
            journal.append(&Entry::Checkpoint(Checkpoint::default()));
            lines += 1;
            assert_eq!(journal.flush().await, Written::Yes);
        }
    }
    journal.flush().await;
    let again = Journal::new(&Database::new(&name), &ThreadId::from("t"));
    let begun = now();
    let opened = again.read().await.unwrap();
    let end = now() - begun;
    let begun = now();
    let earlier = again.earlier().await;
    let rest = now() - begun;
    console_log!(
        "5,000 messages: opened in {end:.1} ms ({} lines), the rest in {rest:.0} ms ({} lines): {:.3} × the whole",
        opened.entries.len(),
        earlier.len(),
        end / (end + rest)
    );
    assert_eq!(opened.entries.len() + earlier.len(), lines);
}

#[test]
async fn what_2_000_steps_hold() {
    if !is_wanted().await {
        return;
    }
    let network = Network::install();
    let panel = Mounted::new(&network).await;
    panel.register("look_tool", "({ n }) => ({ n, status: 'shipped' })");
    let memory = || {
        let memory: js_sys::WebAssembly::Memory = wasm_bindgen::memory().unchecked_into();
        f64::from(memory.buffer().unchecked_into::<js_sys::ArrayBuffer>().byte_length()) / 1024.0
    };
    let (mut steps, mut before, begun) = (0_u32, memory(), now());
    while steps < 2_000 {
        panel.send("Go on.");
        for _ in 0..19 {
            let asked = network.asked("/agent").await;
            asked.answer_text(200, "{}", &calling(&[(&format!("c{steps}"), "look_tool", json!({ "n": steps }))]));
            steps += 1;
        }
        network.asked("/agent").await.answer_text(200, "{}", &saying("That is all."));
        steps += 1;
        until_so("the end of the run", || panel.find("[part=stop]").is_none()).await;
        if steps % 500 == 0 {
            console_log!(
                "{steps} steps: {:.0} kB of memory, {:.2} kB a step since; {:.1} ms a step",
                memory(),
                (memory() - before) / 500.0,
                (now() - begun) / f64::from(steps)
            );
            before = memory();
        }
    }
}
