//! Work that goes on after its call was answered.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use pagehand::gateway::tools::ServerTool;
use pagehand::gateway::{Config, Gateway};
use pagehand::protocol::{Outcome, ToolError};
use serde_json::{Value, json};

use crate::gateway_support::{Door, config, definition};

type Headers<'a> = &'a [(&'a str, &'a str)];

struct Bench {
    door: Door,
    started: Arc<AtomicU32>,
}

impl Bench {
    // A job that takes `steps` of 20 ms, fails, panics or does not listen, as its arguments say.
    fn new(config: Config) -> Self {
        let started = Arc::new(AtomicU32::new(0));
        let counted = Arc::clone(&started);
        let mut definition = definition("long_work");
        definition.long_running = true;
        let tool = ServerTool::new(definition, move |arguments, context| {
            let started = Arc::clone(&counted);
            async move {
                context.state.set("begun", json!(true));
                context.job(&json!({ "of": arguments["steps"] }), move |job| async move {
                    started.fetch_add(1, Ordering::SeqCst);
                    let steps = arguments["steps"].as_u64().unwrap_or(1);
                    for step in 1..=steps {
                        job.progress(step as f64 / steps as f64, &format!("step {step}"));
                        let deaf = arguments["deaf"] == true;
                        let ms = arguments["ms"].as_u64().unwrap_or(20);
                        tokio::select! {
                            () = tokio::time::sleep(Duration::from_millis(ms)) => {}
                            () = job.cancel.cancelled(), if !deaf => {
                                return Outcome::Error(ToolError::new("cancelled", format!("stopped at {step}")));
                            }
                        }
                    }
                    assert!(arguments["panic"] != true, "the secret reason");
                    job.state.set("done", json!(steps));
                    Outcome::Result(json!({ "steps": steps }))
                })
            }
        });
        Self { door: Door::built(Gateway::builder(config).tool(tool)), started }
    }

    async fn start(&self, headers: &[(&str, &str)], arguments: &Value) -> String {
        let mut all = headers.to_vec();
        if !headers.iter().any(|(name, _)| *name == "idempotency-key") {
            all.push(("idempotency-key", "call-1"));
        }
        let told = self.door.post("long_work", &all, &json!({ "arguments": arguments })).await.json();
        assert_eq!(told["state"], json!({ "begun": true }), "{told}");
        told["job"]["id"].as_str().unwrap_or_else(|| panic!("no job: {told}")).to_owned()
    }

    async fn end(&self, id: &str) -> Value {
        for _ in 0..500 {
            let told =
                self.door.send("GET", &format!("/jobs/{id}"), &[("idempotency-key", "call-1")], None).await.json();
            if told["status"] == "done" {
                return told["answer"].clone();
            }
            assert_eq!(told["status"], "pending", "{told}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        panic!("the job does not end");
    }
}

#[tokio::test(start_paused = true)]
async fn a_job_goes_on_and_can_be_asked_for() {
    let bench = Bench::new(config());
    let id = bench.start(&[], &json!({ "steps": 3 })).await;
    tokio::time::sleep(Duration::from_millis(30)).await;
    let path = format!("/jobs/{id}");
    let key = [("idempotency-key", "call-1")];
    let pending = bench.door.send("GET", &path, &key, None).await.json();
    let expected =
        json!({ "status": "pending", "state": { "of": 3 }, "progress": { "fraction": 2.0 / 3.0, "text": "step 2" } });
    assert_eq!(pending, expected);
    assert_eq!(bench.end(&id).await, json!({ "result": { "steps": 3 }, "state": { "done": 3 } }));
    let metrics = bench.door.send("GET", "/metrics", &[], None).await.text;
    assert!(metrics.contains("outcome=\"ok\"} 1"), "a job is counted once, at its end: {metrics}");
    assert!(metrics.contains("pagehand_jobs_running 0"), "{metrics}");
}

#[tokio::test(start_paused = true)]
async fn a_stream_follows_a_job_to_its_end() {
    let bench = Bench::new(config());
    let id = bench.start(&[], &json!({ "steps": 3 })).await;
    let headers = [("idempotency-key", "call-1"), ("accept", "text/event-stream")];
    let events = bench.door.send("GET", &format!("/jobs/{id}"), &headers, None).await.events();
    let names: Vec<&str> = events.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["progress", "progress", "progress", "answer"]);
    assert_eq!(events[2].1["text"], "step 3");
    assert_eq!(events[3].1["result"], json!({ "steps": 3 }));
    let late = bench.door.send("GET", &format!("/jobs/{id}"), &headers, None).await.events();
    assert_eq!(late.len(), 1, "of one that ended there is only the answer: {late:?}");
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_sent_again_gets_the_job_it_started() {
    let bench = Bench::new(config());
    let first = bench.start(&[], &json!({ "steps": 2 })).await;
    assert_eq!(bench.start(&[], &json!({ "steps": 2 })).await, first);
    let other = bench.start(&[("idempotency-key", "call-2")], &json!({ "steps": 2 })).await;
    assert_ne!(other, first);
    bench.end(&first).await;
    assert_eq!(bench.start(&[], &json!({ "steps": 2 })).await, first, "even when it has ended");
    assert_eq!(bench.started.load(Ordering::SeqCst), 2);
}

#[tokio::test(start_paused = true)]
async fn only_the_call_and_the_user_that_started_it_see_a_job() {
    let mut setup = config();
    setup.user_header = Some("x-user".to_owned());
    let bench = Bench::new(setup);
    let id = bench.start(&[("x-user", "ada")], &json!({ "steps": 100 })).await;
    let path = format!("/jobs/{id}");
    let cases: [(&str, Headers<'_>, u16); 7] = [
        (&path, &[("idempotency-key", "call-1"), ("x-user", "ada")], 200),
        (&path, &[("idempotency-key", "call-2"), ("x-user", "ada")], 404),
        (&path, &[("idempotency-key", "call-1"), ("x-user", "eve")], 404),
        (&path, &[("idempotency-key", "call-1")], 404),
        (&path, &[("x-user", "ada")], 404),
        ("/jobs/job-0", &[("idempotency-key", "call-1"), ("x-user", "ada")], 404),
        ("/jobs/..%2f..%2fetc", &[("idempotency-key", "call-1"), ("x-user", "ada")], 404),
    ];
    for (path, headers, status) in cases {
        for method in ["GET", "DELETE"] {
            if method == "DELETE" && status == 200 {
                continue;
            }
            let answer = bench.door.send(method, path, headers, None).await;
            assert_eq!(answer.status, status, "{method} {path} {headers:?}");
            if status == 404 {
                let error = answer.json()["error"].clone();
                assert_eq!(error["code"], "unknown_job");
                assert!(error["message"].as_str().is_some_and(|words| words.contains("unknown")), "{error}");
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_job_is_stopped_whether_it_listens_or_not() {
    let cases = [
        (json!({ "steps": 1000 }), "stopped at"),
        (json!({ "steps": 1000, "deaf": true }), "whether it took effect is unknown"),
    ];
    for (arguments, words) in cases {
        let bench = Bench::new(config());
        let id = bench.start(&[], &arguments).await;
        tokio::time::sleep(Duration::from_millis(50)).await;
        let told =
            bench.door.send("DELETE", &format!("/jobs/{id}"), &[("idempotency-key", "call-1")], None).await.json();
        assert_eq!(
            (&told["status"], &told["answer"]["error"]["code"]),
            (&json!("done"), &json!("cancelled")),
            "{told}"
        );
        assert!(told["answer"]["error"]["message"].as_str().is_some_and(|message| message.contains(words)), "{told}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_job_that_breaks_says_so_without_its_reason() {
    let bench = Bench::new(config());
    let id = bench.start(&[], &json!({ "panic": true })).await;
    let answer = bench.end(&id).await;
    assert_eq!(answer["error"]["code"], "tool_error");
    assert!(!answer.to_string().contains("secret"), "{answer}");
}

#[tokio::test(start_paused = true)]
async fn jobs_are_bounded_and_kept_a_day() {
    let bench = Bench::new(config());
    let first = bench.start(&[], &json!({})).await;
    bench.end(&first).await;
    for call in 0..128 {
        bench.start(&[("idempotency-key", &format!("many-{call}"))], &json!({ "ms": 1_000_000_000u64 })).await;
    }
    let more =
        bench.door.post("long_work", &[("idempotency-key", "one-more")], &json!({ "arguments": {} })).await.json();
    assert_eq!((&more["error"]["code"], &more["error"]["retryable"]), (&json!("busy"), &json!(true)));
    let key = [("idempotency-key", "call-1")];
    let path = format!("/jobs/{first}");
    assert_eq!(bench.door.send("GET", &path, &key, None).await.status, 200);
    tokio::time::sleep(Duration::from_secs(24 * 3600 - 60)).await;
    assert_eq!(bench.door.send("GET", &path, &key, None).await.status, 200);
    tokio::time::sleep(Duration::from_secs(120)).await;
    assert_eq!(bench.door.send("GET", &path, &key, None).await.status, 404);
}

#[tokio::test(start_paused = true)]
async fn the_demo_exports_orders_as_a_file() {
    let mut setup = config();
    setup.demo = true;
    let door = Door::built(Gateway::builder(setup));
    for (key, arguments, orders) in [("all", json!({}), Some(500)), ("late", json!({ "status": "late" }), None)] {
        let keyed = [("idempotency-key", key)];
        let told = door.post("orders_export", &keyed, &json!({ "arguments": arguments })).await.json();
        let id = told["job"]["id"].as_str().unwrap_or_else(|| panic!("no job: {told}")).to_owned();
        let follow = [keyed[0], ("accept", "text/event-stream")];
        let events = door.send("GET", &format!("/jobs/{id}"), &follow, None).await.events();
        let (name, answer) = events.last().expect("an end");
        assert_eq!(name, "answer");
        assert!(key == "late" || events.len() > 3, "it says how far it is: {events:?}");
        let result = &answer["result"];
        let count = result["orders"].as_u64().expect("a count");
        assert!(orders.is_none_or(|orders| orders == count) && count > 3, "{result}");
        let file = door.send("GET", result["file"].as_str().expect("a file"), &[], None).await;
        assert_eq!(file.headers["content-type"], "text/csv; charset=utf-8");
        assert!(file.headers["content-disposition"].to_str().is_ok_and(|how| how.starts_with("attachment")));
        assert_eq!(file.text.lines().count() as u64, count + 1);
        assert!(file.text.starts_with("Order,Customer,Status,Placed at,Total (EUR)\r\n\"A-"), "{}", &file.text[..80]);
    }
    assert_eq!(door.send("GET", "/api/exports/00000000.csv", &[], None).await.status, 404);
}

fn agent_run(messages: &Value) -> Value {
    let tool = json!({ "name": "orders_export", "description": "x", "parameters": { "type": "object" } });
    json!({ "threadId": "t", "runId": "r", "state": {}, "messages": messages, "tools": [tool], "context": [], "forwardedProps": {} })
}

// The arguments of the calls a step makes, and its text.
async fn step(door: &Door, messages: &Value) -> (String, String) {
    let answer = door.send("POST", "/agent", &[], Some(&agent_run(messages))).await;
    let events = answer.text.split("\n\n").filter_map(|frame| frame.strip_prefix("data: "));
    let (mut calls, mut text) = (String::new(), String::new());
    for event in events.map(|data| serde_json::from_str::<Value>(data).expect("JSON")) {
        match event["type"].as_str() {
            Some("TOOL_CALL_START") => calls += event["toolCallName"].as_str().unwrap_or_default(),
            Some("TOOL_CALL_ARGS") => calls += event["delta"].as_str().unwrap_or_default(),
            Some("TEXT_MESSAGE_CONTENT") => text += event["delta"].as_str().unwrap_or_default(),
            _ => {}
        }
    }
    (calls, text)
}

#[tokio::test(start_paused = true)]
async fn the_demo_model_exports_and_tells_of_the_end() {
    let mut setup = config();
    (setup.demo, setup.pace) = (true, 0.0);
    let door = Door::built(Gateway::builder(setup));
    let cases = [
        ("Export all orders", "{}", "I export the orders."),
        ("export the late orders", r#"{"status":"late"}"#, "I export the late orders."),
        ("please download the pending orders", r#"{"status":"pending"}"#, "I export the pending orders."),
    ];
    for (sentence, arguments, words) in cases {
        let asked = json!({ "id": "m1", "role": "user", "content": sentence });
        assert_eq!(step(&door, &json!([asked])).await.0, format!("orders_export{arguments}"), "{sentence}");
        let call = json!({ "id": "m2", "role": "assistant", "toolCalls": [
            { "id": "c1", "type": "function", "function": { "name": "orders_export", "arguments": arguments } }] });
        let pending = json!({ "status": "pending", "job": "job-1", "state": {}, "note": "It is at work." }).to_string();
        let begun = json!({ "id": "m3", "role": "tool", "toolCallId": "c1", "content": pending });
        let (calls, text) = step(&door, &json!([asked, call, begun])).await;
        assert!(calls.is_empty() && text.starts_with(words), "{sentence}: {calls} {text}");
    }
}

#[tokio::test]
async fn a_job_that_nobody_can_ask_for_or_read_is_an_error() {
    let mut made_up = definition("made_up");
    made_up.long_running = true;
    let mut longest = definition("longest");
    longest.long_running = true;
    let made_up = ServerTool::new(made_up, |_, _| async {
        Outcome::Interim(pagehand::protocol::Job { id: "mine".to_owned(), state: Value::Null })
    });
    let longest = ServerTool::new(longest, |_, context| async move {
        context.job(&Value::Null, |_| async { Outcome::Result(json!("x".repeat(2 * 1024 * 1024))) })
    });
    let door = Door::of(vec![made_up, longest]);
    let told = door.call("made_up", &json!({})).await;
    assert!(told["error"]["message"].as_str().is_some_and(|words| words.contains("nobody can ask for")), "{told}");
    let key = [("idempotency-key", "call-1")];
    let told = door.post("longest", &key, &json!({ "arguments": {} })).await.json();
    let id = told["job"]["id"].as_str().expect("a job").to_owned();
    let headers = [("idempotency-key", "call-1"), ("accept", "text/event-stream")];
    let events = door.send("GET", &format!("/jobs/{id}"), &headers, None).await.events();
    let answer = &events.last().expect("an end").1;
    assert!(answer["error"]["message"].as_str().is_some_and(|words| words.contains("longer than 2 MiB")), "{answer}");
}
