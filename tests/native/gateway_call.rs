//! The wire of a tool call, and what a call brings its tool.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use pagehand::gateway::context::{Level, Memory, Recalled};
use pagehand::gateway::tools::ServerTool;
use pagehand::gateway::{Gateway, Identity};
use pagehand::protocol::{Outcome, Risk, ToolError};
use pagehand::tools::{Alias, Definition};
use serde_json::{Value, json};

use crate::gateway_support::{Door, config, definition, tool};

fn echo() -> ServerTool {
    tool("echo_all", |arguments, context| async move {
        Outcome::Result(json!({
            "arguments": arguments, "call": context.call_id, "thread": context.thread, "run": context.run,
            "step": context.step, "agent": context.agent, "approved": context.approved, "payload": context.payload,
            "state": context.state.to_json(), "user": context.user.map(|user| user.id),
        }))
    })
}

#[tokio::test]
async fn a_call_brings_its_whole_context() {
    let door = Door::of(vec![echo()]);
    let body = json!({
        "arguments": { "x": 1 },
        "context": { "threadId": "t", "runId": "r", "step": 3, "agent": "main", "state": { "user:tier": "gold" },
            "approved": true, "payload": { "signature": "mine" }, "user": "root" },
        "user": "root",
    });
    let answer = door.post("echo_all", &[("idempotency-key", "call-1")], &body).await;
    assert_eq!(answer.status, 200);
    let expected = json!({
        "arguments": { "x": 1 }, "call": "call-1", "thread": "t", "run": "r", "step": 3, "agent": "main",
        "approved": true, "payload": { "signature": "mine" }, "state": { "user:tier": "gold" }, "user": null,
    });
    assert_eq!(answer.json()["result"], expected);
    let bare = door.call("echo_all", &json!({})).await;
    assert_eq!(
        (&bare["result"]["thread"], &bare["result"]["step"], &bare["result"]["approved"]),
        (&json!(""), &json!(0), &json!(false))
    );
}

#[tokio::test]
async fn a_request_that_can_not_be_read_runs_nothing() {
    let runs = Arc::new(AtomicU32::new(0));
    let counted = Arc::clone(&runs);
    let door = Door::of(vec![tool("counted", move |_, _| {
        counted.fetch_add(1, Ordering::SeqCst);
        async { Outcome::Result(Value::Null) }
    })]);
    let long = "x".repeat(256);
    // (headers, body, status, code, a word of the message)
    let cases = [
        (vec![("idempotency-key", "")], json!({ "arguments": {} }), 400, "no_idempotency_key", "Idempotency-Key"),
        (vec![("idempotency-key", long.as_str())], json!({ "arguments": {} }), 400, "no_idempotency_key", "255"),
        (vec![], json!({}), 422, "invalid_json", "arguments"),
        (vec![], json!({ "arguments": [] }), 422, "invalid_json", "arguments"),
        (vec![], json!({ "arguments": {}, "context": [] }), 422, "bad_request", "context"),
        (vec![], json!({ "arguments": {}, "context": { "state": [] } }), 422, "bad_request", "context.state"),
        (vec![], json!({ "arguments": {}, "context": { "step": -1 } }), 422, "bad_request", "context.step"),
        (vec![], json!({ "arguments": {}, "context": { "approved": "yes" } }), 422, "bad_request", "context.approved"),
        (vec![], json!({ "arguments": {}, "context": { "threadId": long } }), 422, "bad_request", "context.threadId"),
    ];
    for (headers, body, status, code, word) in cases {
        let answer = door.post("counted", &headers, &body).await;
        let error = answer.json()["error"].clone();
        assert_eq!((answer.status, error["code"].as_str()), (status, Some(code)), "{body}");
        assert!(error["message"].as_str().is_some_and(|message| message.contains(word)), "{body}: {error}");
    }
    assert_eq!(runs.load(Ordering::SeqCst), 0);
    door.call("counted", &json!({})).await;
    assert_eq!(runs.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn every_outcome_has_its_shape() {
    let door = Door::of(vec![tool("answers", |arguments, context| async move {
        context.state.set("seen", json!(arguments["want"]));
        context.state.set("gone", Value::Null);
        match arguments["want"].as_str() {
            Some("result") => Outcome::Result(json!([1])),
            Some("nothing") => Outcome::Result(Value::Null),
            Some("error") => {
                Outcome::Error(ToolError::new("conflict", "No.").retryable().for_operator("the secret log"))
            }
            Some("approval") => Outcome::NeedsApproval { reason: "Sure?".to_owned(), payload: json!({ "amount": 5 }) },
            _ => context.job(&Value::Null, |_| async { Outcome::Result(Value::Null) }),
        }
    })]);
    let state = |want: &str| json!({ "gone": null, "seen": want });
    let cases = [
        ("result", json!({ "result": [1], "state": state("result") })),
        ("nothing", json!({ "result": null, "state": state("nothing") })),
        (
            "error",
            json!({ "error": { "code": "conflict", "message": "No.", "retryable": true }, "state": state("error") }),
        ),
        (
            "approval",
            json!({ "needsApproval": { "reason": "Sure?", "payload": { "amount": 5 } }, "state": state("approval") }),
        ),
    ];
    for (want, expected) in cases {
        let answer = door.post("answers", &[], &json!({ "arguments": { "want": want } })).await;
        assert_eq!((answer.status, answer.json()), (200, expected), "{want}");
    }
    let job = door.call("answers", &json!({ "want": "job" })).await;
    assert!(job["error"]["message"].as_str().is_some_and(|words| words.contains("longRunning")), "{job}");
}

#[tokio::test]
async fn another_definition_than_the_page_knows_is_not_run() {
    let run = |_, _| async { Outcome::Result(json!("ran")) };
    let known = definition("steady");
    let mut served = known.clone();
    served.version = "2".to_owned();
    served.risk = Risk::Write;
    let hash = served.hash();
    let door = Door::of(vec![ServerTool::new(served, run)]);
    let body = json!({ "arguments": {} });
    let answer = door.post("steady", &[("pagehand-definition", &known.hash())], &body).await;
    let told = answer.json();
    assert_eq!((answer.status, told["error"]["code"].as_str()), (409, Some("definition_changed")));
    let message = told["error"]["message"].as_str().expect("words");
    for part in [&known.hash()[..12], &hash[..12], "version 2", "risk write"] {
        assert!(message.contains(part), "no {part}: {message}");
    }
    assert_eq!((&told["served"]["hash"], &told["served"]["name"]), (&json!(hash), &json!("steady")));
    let (read, faults) = Definition::from_json(&told["served"], &["hash"]);
    assert_eq!((read.hash(), faults), (hash.clone(), Vec::new()), "the page can take it over");
    assert_eq!(door.post("steady", &[("pagehand-definition", &hash)], &body).await.json()["result"], "ran");
    assert_eq!(door.post("steady", &[], &body).await.json()["result"], "ran", "who knows no hash is not asked for it");
}

#[tokio::test]
async fn a_stream_tells_of_the_work_and_then_the_answer() {
    let door = Door::of(vec![tool("slow_work", |_, context| async move {
        context.progress(0.4, "halfway\nthere");
        context.log(Level::Warn, "it is slow");
        context.progress(None, &"x".repeat(900));
        context.progress(f64::NAN, "who knows");
        context.state.set("temp:done", json!(true));
        Outcome::Result(json!("done\n\nevent: answer"))
    })]);
    let body = json!({ "arguments": {} });
    let answer = door.post("slow_work", &[("accept", "text/event-stream")], &body).await;
    assert_eq!((answer.status, answer.headers["content-type"].to_str().ok()), (200, Some("text/event-stream")));
    assert_eq!(answer.headers["cache-control"], "no-cache, no-transform");
    let events = answer.events();
    let names: Vec<&str> = events.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["progress", "log", "progress", "progress", "answer"]);
    assert_eq!(events[0].1, json!({ "fraction": 0.4, "text": "halfway\nthere" }));
    assert_eq!(events[1].1, json!({ "level": "warn", "text": "it is slow" }));
    assert_eq!((&events[2].1["fraction"], events[2].1["text"].as_str().map(str::len)), (&Value::Null, Some(500)));
    assert_eq!(events[3].1["fraction"], Value::Null);
    assert_eq!(events[4].1, json!({ "result": "done\n\nevent: answer", "state": { "temp:done": true } }));

    let refused = door.post("slow_work", &[("accept", "text/event-stream")], &json!({})).await;
    assert_eq!(refused.status, 422, "what does not begin is no stream");
    let plain = door.post("slow_work", &[("accept", "application/json, text/event-stream;q=0")], &body).await;
    assert_eq!(plain.headers["content-type"], "application/json");
}

#[tokio::test(start_paused = true)]
async fn a_call_past_its_time_gets_the_sign_and_its_work_goes_on() {
    let done = Arc::new(AtomicU32::new(0));
    let counted = Arc::clone(&done);
    let mut definition = definition("endless");
    definition.timeout_ms = Some(1000);
    let door = Door::of(vec![ServerTool::new(definition, move |_, context| {
        let done = Arc::clone(&counted);
        async move {
            context.cancel.cancelled().await;
            tokio::time::sleep(Duration::from_secs(5)).await;
            done.fetch_add(1, Ordering::SeqCst);
            Outcome::Result(Value::Null)
        }
    })]);
    let answer = door.post("endless", &[], &json!({ "arguments": {} })).await;
    assert_eq!((answer.status, &answer.json()["error"]["code"]), (504, &json!("timeout")));
    assert_eq!(done.load(Ordering::SeqCst), 0);
    tokio::time::sleep(Duration::from_secs(10)).await;
    assert_eq!(done.load(Ordering::SeqCst), 1, "nothing is cut in two");
    let streamed = door.post("endless", &[("accept", "text/event-stream")], &json!({ "arguments": {} })).await;
    assert_eq!(streamed.events().last().expect("an answer").1["error"]["code"], "timeout");
}

#[tokio::test]
async fn a_page_that_goes_away_cuts_nothing_and_one_that_cancels_is_heard() {
    let done = Arc::new(AtomicU32::new(0));
    let counted = Arc::clone(&done);
    let door = Door::of(vec![tool("writes", move |_, context| {
        let done = Arc::clone(&counted);
        async move {
            tokio::select! {
                () = context.cancel.cancelled() => Outcome::Error(ToolError::new("cancelled", "Stopped in time.")),
                () = tokio::time::sleep(Duration::from_millis(150)) => {
                    done.fetch_add(1, Ordering::SeqCst);
                    Outcome::Result(json!("written"))
                }
            }
        }
    })]);
    let body = json!({ "arguments": {} });
    let left = tokio::time::timeout(Duration::from_millis(30), door.post("writes", &[], &body)).await;
    assert!(left.is_err(), "the page left before the end");
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_eq!(done.load(Ordering::SeqCst), 1);

    let key = [("idempotency-key", "call-2")];
    let cancelling = async {
        tokio::time::sleep(Duration::from_millis(30)).await;
        let other = door.send("DELETE", "/tools/writes", &[("idempotency-key", "call-3")], None).await;
        assert_eq!((other.status, other.json()), (200, json!({ "cancelled": false })));
        door.send("DELETE", "/tools/writes", &key, None).await
    };
    let (answer, cancelled) = tokio::join!(door.post("writes", &key, &body), cancelling);
    assert_eq!(cancelled.json(), json!({ "cancelled": true }));
    assert_eq!(answer.json()["error"]["message"], "Stopped in time.");
    assert_eq!(done.load(Ordering::SeqCst), 1);
    assert_eq!(door.send("DELETE", "/tools/writes", &key, None).await.json()["cancelled"], false, "it is over");
}

#[tokio::test]
async fn a_panic_ends_the_call_and_not_the_gateway() {
    let door = Door::of(vec![tool("breaks", |arguments, _| async move {
        assert!(arguments["safe"] == true, "the secret reason");
        Outcome::Result(Value::Null)
    })]);
    let answer = door.post("breaks", &[], &json!({ "arguments": {} })).await;
    assert_eq!(answer.status, 500);
    assert!(answer.text.contains("unknown") && !answer.text.contains("secret"), "{}", answer.text);
    assert_eq!(door.call("breaks", &json!({ "safe": true })).await["result"], Value::Null);
}

#[tokio::test]
async fn a_result_is_held_against_what_is_promised() {
    let mut definition = definition("promises");
    definition.output = Some(Arc::new(json!({ "type": "object", "required": ["id"] })));
    let door = Door::of(vec![ServerTool::new(definition, |arguments, _| async move { Outcome::Result(arguments) })]);
    assert_eq!(door.call("promises", &json!({ "id": 1 })).await["result"]["id"], 1);
    assert_eq!(door.call("promises", &json!({})).await["error"]["code"], "invalid_result");
}

#[tokio::test]
async fn a_name_it_had_before_runs_the_tool() {
    let mut definition = definition("new_name");
    definition.aliases = vec![Alias { name: "old_name".to_owned(), offered: false }];
    let door =
        Door::of(vec![ServerTool::new(definition, |_, context| async move { Outcome::Result(json!(context.tool)) })]);
    assert_eq!(door.call("old_name", &json!({})).await["result"], "new_name");
}

#[tokio::test]
async fn hiding_is_not_authorisation() {
    let mut gold = definition("gold_only");
    gold.requires.insert("tier".to_owned(), vec![json!("gold"), json!("platinum")]);
    let mine = tool("my_own", |_, context| async move {
        let id = context.require_user().map(|user| json!(user.id));
        Outcome::from(id)
    });
    let mut setup = config();
    setup.user_header = Some("x-user".to_owned());
    setup.claims_header = Some("x-claims".to_owned());
    let gold = ServerTool::new(gold, |_, _| async { Outcome::Result(json!("ran")) });
    let door = Door::built(Gateway::builder(setup).tools([gold, mine]));
    let body =
        json!({ "arguments": {}, "context": { "user": "ada", "state": { "tier": "gold" } }, "user": { "id": "ada" } });
    // (tool, headers, status, result or code)
    let cases = [
        ("gold_only", vec![], 403, "refused"),
        ("gold_only", vec![("x-user", "ada")], 403, "refused"),
        ("gold_only", vec![("x-claims", r#"{"tier":"gold"}"#)], 403, "refused"),
        ("gold_only", vec![("x-user", "ada"), ("x-claims", r#"{"tier":"silver"}"#)], 403, "refused"),
        ("gold_only", vec![("x-user", "ada"), ("x-claims", r#"{"tier":"gold"}"#)], 200, "ran"),
        ("gold_only", vec![("x-user", "ada"), ("x-claims", "tier=gold")], 401, "unknown_user"),
        ("my_own", vec![], 200, "refused"),
        ("my_own", vec![("x-user", "  ")], 200, "refused"),
        ("my_own", vec![("x-user", "ada")], 200, "ada"),
        ("my_own", vec![("x-user", "ada"), ("x-user", "root")], 401, "unknown_user"),
    ];
    for (name, headers, status, expected) in cases {
        let answer = door.post(name, &headers, &body).await;
        let told = answer.json();
        let found = told["result"].as_str().or(told["error"]["code"].as_str());
        assert_eq!((answer.status, found), (status, Some(expected)), "{name} {headers:?}: {told}");
    }
}

#[tokio::test]
async fn a_host_says_by_itself_who_calls() {
    let door = Door::built(Gateway::builder(config()).tool(echo()).identity(|headers| async move {
        match headers.get("authorization").and_then(|value| value.to_str().ok()) {
            None => Ok(None),
            Some("Bearer good") => Ok(Some(Identity::new("ada").with("tier", json!("gold")))),
            Some(_) => Err("the token secret-token is forged".to_owned()),
        }
    }));
    let body = json!({ "arguments": {} });
    let good = door.post("echo_all", &[("authorization", "Bearer good")], &body).await;
    assert_eq!(good.json()["result"]["user"], "ada");
    assert_eq!(door.post("echo_all", &[], &body).await.json()["result"]["user"], Value::Null);
    let bad = door.post("echo_all", &[("authorization", "Bearer bad")], &body).await;
    assert!(bad.status == 401 && !bad.text.contains("secret-token"), "{bad:?}");
}

struct Diary;

impl Memory for Diary {
    fn search<'a>(
        &'a self,
        user: Option<&'a Identity>,
        query: &'a str,
        limit: usize,
    ) -> futures::future::BoxFuture<'a, Result<Vec<Recalled>, ToolError>> {
        let text = format!("{} asked for {query}, {limit}", user.map_or("nobody", |user| &user.id));
        Box::pin(async move { Ok(vec![Recalled { text, about: Value::Null }]) })
    }
}

#[tokio::test]
async fn memory_is_the_hosts_and_of_its_user() {
    let recall = || {
        tool("recalls", |_, context| async move {
            match context.memory.search("boots", 3).await {
                Ok(found) => Outcome::Result(json!(found.iter().map(|one| &one.text).collect::<Vec<_>>())),
                Err(error) => Outcome::Error(error),
            }
        })
    };
    assert_eq!(Door::of(vec![recall()]).call("recalls", &json!({})).await["result"], json!([]));
    let mut setup = config();
    setup.user_header = Some("x-user".to_owned());
    let door = Door::built(Gateway::builder(setup).tool(recall()).memory(Diary));
    let answer = door.post("recalls", &[("x-user", "ada")], &json!({ "arguments": {} })).await;
    assert_eq!(answer.json()["result"], json!(["ada asked for boots, 3"]));
}

fn shelf() -> ServerTool {
    tool("shelf", |arguments, context| async move {
        let shelf = &context.artifacts;
        let name = arguments["name"].as_str().unwrap_or_default();
        let done = match arguments["do"].as_str() {
            Some("save") => {
                let bytes = arguments["text"]
                    .as_str()
                    .unwrap_or_default()
                    .repeat(arguments["times"].as_u64().unwrap_or(1) as usize);
                shelf.save(name, "text/plain", bytes.into_bytes()).await.map(|version| json!(version))
            }
            Some("load") => {
                let version = arguments["version"].as_u64().map(|version| version as u32);
                let found = shelf.load(name, version).await;
                found.map(|found| json!(found.map(|found| String::from_utf8_lossy(&found.bytes).into_owned())))
            }
            Some("versions") => shelf.versions(name).await.map(|versions| json!(versions)),
            _ => shelf
                .list()
                .await
                .map(|list| json!(list.iter().map(|one| json!([one.name, one.version, one.size])).collect::<Vec<_>>())),
        };
        Outcome::from(done)
    })
}

#[tokio::test]
async fn files_are_kept_in_versions_for_a_thread_or_a_user() {
    let mut setup = config();
    setup.user_header = Some("x-user".to_owned());
    let folder = crate::gateway_support::Folder::new();
    setup.artifacts = Some(folder.path().join("files.db"));
    let door = Door::built(Gateway::builder(setup.clone()).tool(shelf()));
    // (user, thread, what, result)
    let steps = [
        ("ada", "t1", json!({ "do": "save", "name": "a.txt", "text": "one" }), json!(1)),
        ("ada", "t1", json!({ "do": "save", "name": "a.txt", "text": "second" }), json!(2)),
        ("ada", "t1", json!({ "do": "save", "name": "user:b.txt", "text": "mine" }), json!(1)),
        ("ada", "t1", json!({ "do": "load", "name": "a.txt" }), json!("second")),
        ("ada", "t1", json!({ "do": "load", "name": "a.txt", "version": 1 }), json!("one")),
        ("ada", "t1", json!({ "do": "load", "name": "a.txt", "version": 9 }), Value::Null),
        ("ada", "t1", json!({ "do": "versions", "name": "a.txt" }), json!([1, 2])),
        ("ada", "t1", json!({ "do": "list" }), json!([["a.txt", 2, 6], ["user:b.txt", 1, 4]])),
        ("ada", "t2", json!({ "do": "list" }), json!([["user:b.txt", 1, 4]])),
        ("eve", "t1", json!({ "do": "list" }), json!([])),
        ("eve", "t1", json!({ "do": "load", "name": "user:b.txt" }), Value::Null),
        ("", "t1", json!({ "do": "load", "name": "a.txt" }), Value::Null),
    ];
    let ask = async |door: &Door, user: &str, thread: &str, what: &Value| {
        let body = json!({ "arguments": what, "context": { "threadId": thread } });
        door.post("shelf", &[("x-user", user)], &body).await.json()
    };
    for (user, thread, what, expected) in &steps {
        assert_eq!(ask(&door, user, thread, what).await["result"], *expected, "{user} {thread} {what}");
    }
    let faults = [
        ("", json!({ "do": "save", "name": "user:b.txt", "text": "x" }), "refused"),
        ("ada", json!({ "do": "save", "name": "", "text": "x" }), "tool_error"),
        ("ada", json!({ "do": "save", "name": "a\nb", "text": "x" }), "tool_error"),
        ("ada", json!({ "do": "save", "name": "big", "text": "0123456789abcdef", "times": 600_000 }), "too_large"),
    ];
    for (user, what, code) in &faults {
        assert_eq!(ask(&door, user, "t1", what).await["error"]["code"], *code, "{user} {what}");
    }
    for version in 3..=30 {
        let what = json!({ "do": "save", "name": "a.txt", "text": "again" });
        assert_eq!(ask(&door, "ada", "t1", &what).await["result"], version);
    }
    let kept = ask(&door, "ada", "t1", &json!({ "do": "versions", "name": "a.txt" })).await;
    assert_eq!(kept["result"], json!((11..=30).collect::<Vec<_>>()), "the oldest went");
    drop(door);
    let again = Door::built(Gateway::builder(setup).tool(shelf()));
    assert_eq!(ask(&again, "ada", "t2", &json!({ "do": "load", "name": "user:b.txt" })).await["result"], "mine");
}

#[tokio::test]
async fn what_was_called_is_counted() {
    let mut definition = definition("counts");
    definition.owner = "a \"quoted\\ owner".to_owned();
    definition.aliases = vec![Alias { name: "count_old".to_owned(), offered: false }];
    let door = Door::of(vec![ServerTool::new(definition, |arguments, _| async move {
        if arguments["fail"] == true {
            Outcome::Error(ToolError::new("conflict", "No."))
        } else {
            Outcome::Result(json!(1))
        }
    })]);
    for _ in 0..2 {
        door.call("counts", &json!({})).await;
    }
    door.call("count_old", &json!({})).await;
    door.call("counts", &json!({ "fail": true })).await;
    door.post("counts", &[], &json!({})).await;
    door.call("made%0Aup%22", &json!({})).await;
    let answer = door.send("GET", "/metrics", &[], None).await;
    assert_eq!(answer.headers["content-type"], "text/plain; version=0.0.4; charset=utf-8");
    let labels = |outcome: &str| format!(r#"tool="counts",owner="a \"quoted\\ owner",version="1",outcome="{outcome}""#);
    for line in [
        format!("pagehand_tool_call_seconds_count{{{}}} 3", labels("ok")),
        format!("pagehand_tool_call_seconds_count{{{}}} 1", labels("conflict")),
        format!("pagehand_tool_call_seconds_count{{{}}} 1", labels("invalid_json")),
        r#"pagehand_tool_alias_calls_total{alias="count_old"} 1"#.to_owned(),
        r#"pagehand_tool_unknown_calls_total{name="made\nup\""} 1"#.to_owned(),
        "# TYPE pagehand_tool_call_seconds summary".to_owned(),
    ] {
        assert!(answer.text.lines().any(|one| one == line), "no {line} in:\n{}", answer.text);
    }
    let well_formed = |line: &str| {
        line.starts_with("# ") || line.rsplit_once(' ').is_some_and(|(_, value)| value.parse::<f64>().is_ok())
    };
    assert!(answer.text.lines().all(well_formed), "{}", answer.text);
    let foreign = door.send("GET", "/metrics", &[("origin", "https://evil.example")], None).await;
    assert_eq!(foreign.status, 403);
}

#[tokio::test]
async fn what_the_provider_of_the_model_refuses_is_refused_of_a_pages_tool_and_at_the_start() {
    let at = |url: &'static str, provider: Option<&'static str>| {
        let variable = move |name: &str| match name {
            "PAGEHAND_MODEL_URL" => Some(url.to_owned()),
            "PAGEHAND_MODEL" => Some("m".to_owned()),
            "PAGEHAND_PROVIDER" => provider.map(str::to_owned),
            _ => None,
        };
        pagehand::gateway::Config::read(Vec::new(), variable)
    };
    let mut odd = definition("any_of_tool");
    odd.parameters =
        std::sync::Arc::new(json!({ "type": "object", "anyOf": [{ "required": ["a"] }, { "required": ["b"] }] }));
    for (url, provider, refused) in [
        ("https://api.openai.com/v1", None, true),
        ("http://localhost:8000/v1", Some("openai_chat"), true),
        ("http://localhost:8000/v1", None, false),
    ] {
        let config = at(url, provider).expect("a configuration").expect("no help");
        let door = Door::built(Gateway::builder(config.clone()).tool(echo()));
        let answer = door.send("POST", "/check", &[], Some(&json!({ "tools": [odd.to_json()] }))).await.json();
        let words = answer["problems"][0]["message"].as_str().map(str::to_owned);
        assert_eq!(words.is_some_and(|words| words.contains("openai_chat")), refused, "{url} {provider:?}: {answer}");
        let mut served = odd.clone();
        served.scope = pagehand::protocol::Scope::Server;
        let tool = ServerTool::new(served, |_, _| async { Outcome::Result(Value::Null) });
        assert_eq!(Gateway::builder(config).tool(tool).build().is_err(), refused, "{url} {provider:?}");
    }
    let why = at("http://localhost:8000/v1", Some("opnai")).expect_err("it is not known");
    assert!(why.contains("PAGEHAND_PROVIDER: \"opnai\" is not known; there are: openai_chat"), "{why}");
}

#[tokio::test]
async fn definitions_of_a_page_are_checked() {
    let builder = Gateway::builder(config()).tool(echo()).refusals(|definition| {
        let bad = definition.name.contains("forbidden");
        if bad { vec!["this provider takes no such name".to_owned()] } else { Vec::new() }
    });
    let door = Door::built(builder);
    let own = door.get("/tools").await["tools"][0].clone();
    let page = |name: &str| {
        let mut definition = definition(name);
        definition.scope = pagehand::protocol::Scope::Browser;
        definition.to_json()
    };
    let mut misspelt = page("misspelt_tool");
    misspelt["aproval"] = json!("always");
    let body = json!({ "tools": [own, page("fine_tool"), page("forbidden_tool"), misspelt, page("echo_all")] });
    let answer = door.send("POST", "/check", &[], Some(&body)).await;
    let problems = answer.json()["problems"].as_array().cloned().expect("problems");
    let found: Vec<(&str, &str)> =
        problems.iter().filter_map(|problem| Some((problem["name"].as_str()?, problem["message"].as_str()?))).collect();
    assert_eq!(found.len(), 3, "{found:?}");
    assert_eq!(found[0], ("forbidden_tool", "this provider takes no such name"));
    assert!(found[1].0 == "misspelt_tool" && found[1].1.contains("approval"), "{found:?}");
    assert!(found[2].0 == "echo_all" && found[2].1.contains("taken"), "{found:?}");
    assert_eq!((&problems[0]["kind"], &problems[0]["owner"]), (&json!("tool"), &json!("tests")));
    assert_eq!(door.send("POST", "/check", &[], Some(&json!({}))).await.status, 422);
    assert_eq!(door.get("/tools").await["tools"].as_array().map(Vec::len), Some(1), "nothing was kept");
}

#[tokio::test(start_paused = true)]
async fn a_silent_stream_is_kept_open() {
    let mut definition = definition("silent");
    definition.timeout_ms = Some(60_000);
    let door = Door::of(vec![ServerTool::new(definition, |_, _| async {
        tokio::time::sleep(Duration::from_secs(40)).await;
        Outcome::Result(Value::Null)
    })]);
    let answer = door.post("silent", &[("accept", "text/event-stream")], &json!({ "arguments": {} })).await;
    assert_eq!(answer.text.matches(": still at work\n\n").count(), 2, "{}", answer.text);
    assert_eq!(answer.events().len(), 1);
}

#[tokio::test]
async fn other_sites_reach_none_of_the_routes() {
    let door = Door::of(vec![echo()]);
    let foreign = [("origin", "https://evil.example"), ("idempotency-key", "call-1")];
    for (method, path) in [
        ("DELETE", "/tools/echo_all"),
        ("GET", "/jobs/j"),
        ("DELETE", "/jobs/j"),
        ("POST", "/check"),
        ("GET", "/metrics"),
    ] {
        let body = json!({ "tools": [] });
        let answer = door.send(method, path, &foreign, (method == "POST").then_some(&body)).await;
        assert_eq!(
            (answer.status, &answer.json()["error"]["code"]),
            (403, &json!("unknown_origin")),
            "{method} {path}"
        );
    }
}

#[test]
fn what_is_set_up_wrong_is_said() {
    use pagehand::gateway::Config;
    let read = |arguments: &[&str], variables: &[(&str, &str)]| {
        let variable =
            |name: &str| variables.iter().find(|(other, _)| *other == name).map(|(_, value)| (*value).to_owned());
        Config::read(arguments.iter().map(|text| (*text).to_owned()), variable)
    };
    let faults = [
        (&["--tools"][..], &[][..], "--tools wants a .toml file"),
        (&["--artifacts"], &[], "--artifacts wants a file"),
        (&["--calls"], &[], "--calls wants a file"),
        (&[], &[("PAGEHAND_USER_HEADER", "x user")], "PAGEHAND_USER_HEADER: \"x user\" is no name of a header"),
        (&[], &[("PAGEHAND_CLAIMS_HEADER", "x-claims")], "PAGEHAND_USER_HEADER (whose claims they are) is not"),
    ];
    for (arguments, variables, words) in faults {
        let why = read(arguments, variables).expect_err("it is wrong");
        assert!(why.contains(words), "{why}");
    }
    let variables = [("PAGEHAND_USER_HEADER", "x-user"), ("PAGEHAND_CLAIMS_HEADER", "x-claims")];
    let config =
        read(&["--tools", "t", "--artifacts", "a.db"], &variables).expect("nothing is wrong").expect("no help");
    assert_eq!(config.tools.as_deref(), Some(std::path::Path::new("t")));
    assert_eq!(config.artifacts.as_deref(), Some(std::path::Path::new("a.db")));
    assert_eq!((config.user_header.as_deref(), config.claims_header.as_deref()), (Some("x-user"), Some("x-claims")));
}
