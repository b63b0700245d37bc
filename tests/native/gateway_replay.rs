//! Calls that come again: none is run twice.

use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use pagehand::gateway::tools::ServerTool;
use pagehand::gateway::{AtWork, Config, Gateway};
use pagehand::protocol::{Outcome, Replay, ToolError};
use pagehand::tools::Alias;
use rusqlite::Connection;
use serde_json::{Value, json};

use crate::gateway_support::{Answer, Door, Folder, config, definition};

type Headers<'a> = &'a [(&'a str, &'a str)];

const STREAM: (&str, &str) = ("accept", "text/event-stream");

/// A tool that does as its arguments say, and counts how often it was run.
#[derive(Clone, Default)]
struct Counter(Arc<AtomicU32>);

impl Counter {
    fn runs(&self) -> u32 {
        self.0.load(Ordering::SeqCst)
    }

    fn tool(&self, name: &str, replay: Replay) -> ServerTool {
        let runs = Arc::clone(&self.0);
        let mut definition = definition(name);
        definition.replay = replay;
        definition.timeout_ms = Some(1000);
        definition.long_running = true;
        definition.parameters =
            Arc::new(json!({ "type": "object", "properties": { "do": { "type": "string" } }, "required": ["do"] }));
        definition.aliases = vec![Alias { name: format!("{name}_before"), offered: false }];
        ServerTool::new(definition, move |arguments, context| {
            let run = runs.fetch_add(1, Ordering::SeqCst) + 1;
            async move {
                context.state.set("run", json!(run));
                context.progress(0.5, "halfway");
                match arguments["do"].as_str().unwrap_or_default() {
                    "fail" => Outcome::Error(ToolError::new("conflict", "No.")),
                    "fail once" if run == 1 => Outcome::Error(ToolError::new("busy", "Later.").retryable()),
                    "ask" if !context.approved => ask(),
                    "ask always" => ask(),
                    "wait" => {
                        tokio::time::sleep(Duration::from_millis(100)).await;
                        Outcome::Result(json!(run))
                    }
                    "wait long" => {
                        tokio::time::sleep(Duration::from_secs(60)).await;
                        Outcome::Result(json!(run))
                    }
                    "break" => panic!("the secret reason"),
                    "job" => context.job(&Value::Null, |_| async { Outcome::Result(json!("done")) }),
                    "say much" => Outcome::Result(json!("x".repeat(1_900_000))),
                    "say far too much" => Outcome::Result(json!("x".repeat(50 * 1024 * 1024))),
                    "say too much" => Outcome::Result(json!("x".repeat(2 * 1024 * 1024))),
                    _ => Outcome::Result(json!(run)),
                }
            }
        })
    }

    fn door(&self, replay: Replay) -> Door {
        Door::of(vec![self.tool("counted", replay)])
    }
}

fn ask() -> Outcome {
    Outcome::NeedsApproval { reason: "Sure?".to_owned(), payload: Value::Null }
}

fn body(what: &str) -> Value {
    json!({ "arguments": { "do": what } })
}

async fn call(door: &Door, key: &str, what: &str) -> Answer {
    door.post("counted", &[("idempotency-key", key)], &body(what)).await
}

async fn standing(door: &Door, key: &str) -> Value {
    door.get(&format!("/calls/{key}")).await
}

fn is_replayed(answer: &Answer) -> bool {
    answer.headers.get("idempotency-replayed").is_some_and(|value| value == "true")
}

fn code(answer: &Answer) -> Value {
    answer.json()["error"]["code"].clone()
}

#[tokio::test(start_paused = true)]
async fn a_call_that_ended_is_answered_again_and_not_run() {
    for (what, status) in
        [("succeed", 200), ("fail", 200), ("job", 200), ("wait long", 504), ("break", 500), ("say much", 200)]
    {
        let counter = Counter::default();
        let door = counter.door(Replay::Effect);
        let first = call(&door, "one", what).await;
        assert_eq!((first.status, is_replayed(&first)), (status, false), "{what}");
        let again = call(&door, "one", what).await;
        assert_eq!((again.status, is_replayed(&again), again.json()), (status, true, first.json()), "{what}");
        let stream = door.post("counted", &[("idempotency-key", "one"), STREAM], &body(what)).await;
        assert_eq!((stream.status, is_replayed(&stream)), (200, true), "{what}");
        assert_eq!(stream.events(), [("answer".to_owned(), first.json())], "{what}");
        assert_eq!(standing(&door, "one").await, json!({ "status": "done", "answer": first.json() }), "{what}");
        assert_eq!(counter.runs(), 1, "{what}");
    }
}

#[tokio::test]
async fn what_is_not_final_is_run_again() {
    // Of each: approved, the answer's one field, how often it was run.
    type Calls<'a> = &'a [(bool, (&'a str, Value), u32)];
    let asked = json!({ "reason": "Sure?", "payload": null });
    let cases: [(&str, Calls<'_>); 4] = [
        (
            "ask",
            &[
                (false, ("needsApproval", asked.clone()), 1),
                (false, ("needsApproval", asked.clone()), 1),
                (true, ("result", json!(2)), 2),
                (true, ("result", json!(2)), 2),
                (false, ("result", json!(2)), 2),
            ],
        ),
        (
            "ask always",
            &[
                (false, ("needsApproval", asked.clone()), 1),
                (true, ("needsApproval", asked.clone()), 2),
                (true, ("needsApproval", asked.clone()), 2),
            ],
        ),
        (
            "fail once",
            &[
                (false, ("error", json!({ "code": "busy", "message": "Later.", "retryable": true })), 1),
                (false, ("result", json!(2)), 2),
                (false, ("result", json!(2)), 2),
            ],
        ),
        ("succeed", &[(false, ("result", json!(1)), 1), (true, ("result", json!(1)), 1)]),
    ];
    for (what, calls) in cases {
        let counter = Counter::default();
        let door = counter.door(Replay::Effect);
        let mut before = 0;
        for (approved, (field, expected), runs) in calls {
            let body = json!({ "arguments": { "do": what }, "context": { "approved": approved } });
            let answer = door.post("counted", &[("idempotency-key", "one")], &body).await;
            assert_eq!((&answer.json()[field], counter.runs()), (expected, *runs), "{what}");
            assert_eq!(is_replayed(&answer), before == *runs, "{what}");
            assert_eq!(standing(&door, "one").await["answer"], answer.json(), "{what}");
            before = *runs;
        }
    }
}

#[tokio::test]
async fn whoever_approves_may_change_the_arguments_and_nobody_else() {
    let counter = Counter::default();
    let door = counter.door(Replay::Effect);
    call(&door, "one", "ask").await;
    assert_eq!(code(&call(&door, "one", "succeed").await), "key_reused");
    let approved = json!({ "arguments": { "do": "succeed" }, "context": { "approved": true } });
    let key = [("idempotency-key", "one")];
    assert_eq!(door.post("counted", &key, &approved).await.json()["result"], 2);
    assert!(is_replayed(&call(&door, "one", "succeed").await));
    assert_eq!(code(&call(&door, "one", "ask").await), "key_reused");
    assert_eq!(counter.runs(), 2);
}

#[tokio::test(start_paused = true)]
async fn requests_at_once_run_it_once_and_get_one_answer() {
    let counter = Counter::default();
    let door = counter.door(Replay::Effect);
    let (one, stream) = (("idempotency-key", "one"), [("idempotency-key", "one"), STREAM]);
    let wait = body("wait");
    let later = async {
        while standing(&door, "one").await["status"] != "running" {
            tokio::task::yield_now().await;
        }
        let other = call(&door, "one", "succeed").await;
        assert_eq!((other.status, code(&other)), (422, json!("key_reused")), "it is at work with other arguments");
        door.post("counted", &stream, &wait).await
    };
    let asked = (0..20).map(|_| door.post("counted", std::slice::from_ref(&one), &wait));
    let (all, later) = tokio::join!(futures::future::join_all(asked), later);
    let expected = json!({ "result": 1, "state": { "run": 1 } });
    assert!(all.iter().all(|answer| answer.json() == expected), "{all:?}");
    assert_eq!(all.iter().filter(|answer| !is_replayed(answer)).count(), 1, "one of them ran it");
    assert_eq!(later.events(), [("answer".to_owned(), expected)]);
    assert_eq!(counter.runs(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_page_that_comes_back_gets_the_answer() {
    for patience in [0, 50, 500] {
        let counter = Counter::default();
        let door = counter.door(Replay::Effect);
        let left = tokio::time::timeout(Duration::from_millis(patience), call(&door, "one", "wait")).await;
        assert_eq!(left.is_ok(), patience == 500, "the page left before the end");
        let answer = call(&door, "one", "wait").await;
        assert_eq!((answer.json()["result"].clone(), counter.runs()), (json!(1), 1), "{patience} ms");
        assert!(is_replayed(&call(&door, "one", "wait").await));
        assert_eq!(counter.runs(), 1);
    }
}

#[tokio::test]
async fn what_was_refused_before_it_began_is_not_recorded() {
    let counter = Counter::default();
    let mut setup = config();
    setup.user_header = Some("x-user".to_owned());
    let door = Door::built(Gateway::builder(setup).tool(counter.tool("counted", Replay::Effect)));
    let key = ("idempotency-key", "one");
    let (fits, bare) = (body("succeed"), json!({ "arguments": {} }));
    let odd = json!({ "arguments": { "do": "succeed" }, "context": { "step": -1 } });
    let refusals: [(Headers<'_>, &Value, u16); 4] = [
        (&[key], &bare, 422),
        (&[key], &odd, 422),
        (&[key, ("x-user", "ada"), ("x-user", "eve")], &fits, 401),
        (&[key, ("pagehand-definition", "another")], &fits, 409),
    ];
    for (headers, body, status) in refusals {
        let answer = door.post("counted", headers, body).await;
        assert_eq!(answer.status, status, "{}", answer.text);
        assert_eq!(standing(&door, "one").await, json!({ "status": "none" }));
    }
    assert_eq!(call(&door, "one", "succeed").await.json()["result"], 1);
    // What is there is for its caller, though it would be refused now.
    for (headers, body, status) in &refusals[3..] {
        let answer = door.post("counted", headers, body).await;
        assert_eq!((answer.status, is_replayed(&answer)), (200, true), "not {status}: {}", answer.text);
    }
    assert_eq!(counter.runs(), 1);
}

#[tokio::test]
async fn a_key_is_of_one_call_of_one_user() {
    let (counter, other) = (Counter::default(), Counter::default());
    let mut setup = config();
    setup.user_header = Some("x-user".to_owned());
    let tools = [counter.tool("counted", Replay::Pure), other.tool("other_one", Replay::Pure)];
    let door = Door::built(Gateway::builder(setup).tools(tools));
    let key = ("idempotency-key", "one");
    let ada: &[_] = &[key, ("x-user", "ada")];
    let eve: &[_] = &[key, ("x-user", "eve")];
    // (tool, headers, what, status, code or result, runs)
    let cases = [
        ("counted", ada, "succeed", 200, json!(1), 1),
        ("counted", ada, "fail", 422, json!("key_reused"), 1),
        ("other_one", ada, "succeed", 422, json!("key_reused"), 1),
        ("counted_before", ada, "succeed", 200, json!(1), 1),
        ("counted", eve, "succeed", 200, json!(2), 2),
        ("counted", &[key], "fail", 200, json!("conflict"), 3),
        ("counted", &[key, ("x-user", "null")], "succeed", 200, json!(4), 4),
        ("counted", ada, "succeed", 200, json!(1), 4),
    ];
    for (tool, headers, what, status, expected, runs) in cases {
        let answer = door.post(tool, headers, &body(what)).await;
        let told = answer.json();
        let found = told["error"].get("code").unwrap_or(&told["result"]);
        assert_eq!((answer.status, found, counter.runs()), (status, &expected, runs), "{tool} {headers:?} {what}");
    }
    assert_eq!(other.runs(), 0);
    let words = door.post("other_one", ada, &body("succeed")).await.json()["error"]["message"].clone();
    assert_eq!(
        words,
        "\"other_one\" was not run: its Idempotency-Key is that of an earlier call of another tool, \"counted\"."
    );
    for (headers, result) in [(ada, json!(1)), (eve, json!(2)), (&[("x-user", "mallory")], Value::Null)] {
        let told = door.send("GET", "/calls/one", headers, None).await.json();
        assert_eq!(told["answer"]["result"], result, "{headers:?}");
    }
    assert_eq!(door.send("GET", "/calls/one", &[("x-user", "a"), ("x-user", "b")], None).await.status, 401);
    let foreign = [("origin", "https://evil.example")];
    assert_eq!(door.send("GET", "/calls/one", &foreign, None).await.status, 403);
}

fn over(file: &Path) -> Config {
    Config { calls: Some(file.to_owned()), ..config() }
}

// Something that is done in a process that then dies, whatever is at work in it.
fn in_a_process<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(work)
}

#[test]
fn a_call_that_a_process_died_over_is_run_again_only_where_it_may_be() {
    // (its class when it began, its class now, whether it is run)
    let cases = [
        (Replay::Effect, Replay::Effect, false),
        (Replay::Pure, Replay::Pure, true),
        (Replay::Idempotent, Replay::Idempotent, true),
        (Replay::Effect, Replay::Pure, false),
        (Replay::Pure, Replay::Effect, false),
    ];
    for (before, now, is_run) in cases {
        let folder = Folder::new();
        let file = folder.path().join("calls.db");
        let counter = Counter::default();
        let door = |replay| Door::built(Gateway::builder(over(&file)).tool(counter.tool("counted", replay)));
        in_a_process(async {
            let door = door(before);
            let _ = tokio::time::timeout(Duration::from_millis(300), call(&door, "one", "wait long")).await;
            assert_eq!(standing(&door, "one").await, json!({ "status": "running" }));
        });
        assert_eq!(counter.runs(), 1);
        in_a_process(async {
            let door = door(now);
            assert_eq!(standing(&door, "one").await, json!({ "status": "unknown" }), "{before:?} {now:?}");
            assert_eq!(code(&call(&door, "one", "succeed").await), "key_reused");
            for _ in 0..2 {
                let answer = call(&door, "one", "wait long").await;
                let (status, code) = (answer.status, code(&answer));
                if is_run {
                    assert_eq!((status, code), (504, json!("timeout")), "{before:?} {now:?}");
                } else {
                    assert_eq!((status, code), (409, json!("unknown_outcome")), "{before:?} {now:?}");
                    assert!(answer.text.contains("Whether it took effect is unknown: check"), "{}", answer.text);
                }
            }
            assert_eq!(call(&door, "two", "succeed").await.status, 200, "other keys are free");
        });
        assert_eq!(counter.runs(), if is_run { 3 } else { 2 }, "{before:?} {now:?}");
    }
}

#[test]
fn what_was_recorded_outlives_a_restart() {
    let folder = Folder::new();
    let file = folder.write("calls.db", "");
    let counter = Counter::default();
    let door = || Door::built(Gateway::builder(over(&file)).tool(counter.tool("counted", Replay::Effect)));
    let first = in_a_process(async {
        let door = door();
        call(&door, "asked", "ask").await;
        [call(&door, "one", "succeed").await.json(), call(&door, "job", "job").await.json()]
    });
    let (again, approved, job) = in_a_process(async {
        let door = door();
        let again = [call(&door, "one", "succeed").await.json(), call(&door, "job", "job").await.json()];
        let body = json!({ "arguments": { "do": "ask" }, "context": { "approved": true } });
        let approved = door.post("counted", &[("idempotency-key", "asked")], &body).await;
        let job = format!("/jobs/{}", again[1]["job"]["id"].as_str().expect("a job"));
        (again, approved.json(), door.send("GET", &job, &[("idempotency-key", "job")], None).await)
    });
    assert_eq!(again, first);
    assert_eq!(approved["result"], 4);
    assert_eq!((job.status, code(&job)), (404, json!("unknown_job")), "the job itself is not: it says so");
    assert_eq!(counter.runs(), 4);
}

#[test]
fn a_call_is_known_though_its_tool_has_another_name_now() {
    let folder = Folder::new();
    let file = folder.path().join("calls.db");
    let counter = Counter::default();
    let door = |name| Door::built(Gateway::builder(over(&file)).tool(counter.tool(name, Replay::Effect)));
    let key = [("idempotency-key", "a/b c")];
    for (served, called) in
        [("counted_before", "counted_before"), ("counted", "counted_before"), ("counted", "counted")]
    {
        in_a_process(async {
            let door = door(served);
            assert_eq!(door.post(called, &key, &body("succeed")).await.json()["result"], 1, "{served} {called}");
            assert_eq!(standing(&door, "a%2Fb%20c").await["answer"]["result"], 1);
        });
    }
    assert_eq!(counter.runs(), 1);
}

#[tokio::test]
async fn calls_are_known_for_a_week() {
    const MINUTE: Duration = Duration::from_secs(60);
    let week = 7 * 24 * 60 * MINUTE;
    let now = Arc::new(Mutex::new(SystemTime::now()));
    let clock = Arc::clone(&now);
    let counter = Counter::default();
    let builder = Gateway::builder(config()).tool(counter.tool("counted", Replay::Effect));
    let door = Door::built(builder.clock(move || *clock.lock().expect("no test panicked in here")));
    call(&door, "one", "succeed").await;
    // (how much later, how often it was run by then)
    for (later, runs) in [(Duration::ZERO, 1), (week - MINUTE, 1), (2 * MINUTE, 2), (week - MINUTE, 2)] {
        *now.lock().expect("no test panicked in here") += later;
        call(&door, "one", "succeed").await;
        assert_eq!(counter.runs(), runs, "{later:?} later");
    }
    // A clock that is set back forgets nothing and stops nothing.
    *now.lock().expect("no test panicked in here") -= week;
    call(&door, "one", "succeed").await;
    call(&door, "two", "succeed").await;
    assert_eq!(counter.runs(), 3);
}

#[tokio::test]
async fn an_answer_that_is_not_kept_is_said_to_be_gone() {
    let (effect, pure) = (Counter::default(), Counter::default());
    let door = Door::of(vec![effect.tool("effect", Replay::Effect), pure.tool("pure", Replay::Pure)]);
    let say = |tool: &'static str, key: String, what: &'static str| {
        let door = door.clone();
        async move { door.post(tool, &[("idempotency-key", &key)], &body(what)).await }
    };
    let long = say("effect", "long".to_owned(), "say too much").await;
    assert_eq!(long.text.len() >> 20, 2, "it is answered all the same");
    assert_eq!(code(&say("effect", "long".to_owned(), "say too much").await), "not_kept");
    assert_eq!(effect.runs(), 1);
    for tool in ["effect", "pure"] {
        say(tool, format!("early {tool}"), "say much").await;
    }
    // More than is kept in memory.
    for count in 0..40 {
        say("effect", count.to_string(), "say much").await;
    }
    assert_eq!(code(&say("effect", "early effect".to_owned(), "say much").await), "not_kept");
    assert!(!is_replayed(&say("pure", "early pure".to_owned(), "say much").await));
    assert_eq!((effect.runs(), pure.runs()), (42, 2));
    let last = say("effect", "39".to_owned(), "say much").await;
    assert!(is_replayed(&last) && last.text.len() > 1_900_000, "the newest are kept");
}

#[tokio::test]
async fn a_result_that_no_page_could_take_is_an_error_with_the_limit_in_it() {
    let counter = Counter::default();
    let door = counter.door(Replay::Effect);
    for _ in 0..2 {
        let answer = call(&door, "one", "say far too much").await;
        assert_eq!((answer.status, code(&answer)), (200, json!("result_too_large")));
        assert!(answer.text.contains("longer than 7 MiB"), "{}", answer.text);
    }
    assert_eq!(counter.runs(), 1);
}

#[test]
fn a_call_that_was_sent_before_a_record_in_memory_began_is_not_run() {
    // (whether the record is in a file, the class, the age of the call, whether it is run)
    let cases = [
        (false, Replay::Effect, None, true),
        (false, Replay::Effect, Some("0"), true),
        (false, Replay::Effect, Some("2000"), false),
        (false, Replay::Effect, Some("nonsense"), true),
        (false, Replay::Idempotent, Some("2000"), true),
        (false, Replay::Pure, Some("2000"), true),
        (true, Replay::Effect, Some("2000"), true),
    ];
    for (in_file, replay, age, is_run) in cases {
        let folder = Folder::new();
        let file = folder.path().join("calls.db");
        let setup = if in_file { over(&file) } else { config() };
        let counter = Counter::default();
        in_a_process(async {
            let door = Door::built(Gateway::builder(setup).tool(counter.tool("counted", replay)));
            let mut headers = vec![("idempotency-key", "one")];
            headers.extend(age.map(|age| ("pagehand-age", age)));
            let answer = door.post("counted", &headers, &body("succeed")).await;
            let expected = if is_run { 200 } else { 409 };
            assert_eq!(answer.status, expected, "{in_file} {replay:?} {age:?}: {}", answer.text);
            assert_eq!(is_run, counter.runs() == 1);
            assert!(is_run || code(&answer) == "unknown_outcome");
        });
    }
}

#[tokio::test]
async fn a_call_that_was_sent_after_a_record_in_memory_began_is_run() {
    let now = Arc::new(Mutex::new(SystemTime::now()));
    let clock = Arc::clone(&now);
    let counter = Counter::default();
    let builder = Gateway::builder(config()).tool(counter.tool("counted", Replay::Effect));
    let door = Door::built(builder.clock(move || *clock.lock().expect("no test panicked in here")));
    *now.lock().expect("no test panicked in here") += Duration::from_secs(60);
    for (age, status) in [("70000", 409), ("20000", 200)] {
        let headers = [("idempotency-key", age), ("pagehand-age", age)];
        assert_eq!(door.post("counted", &headers, &body("succeed")).await.status, status, "{age}");
    }
    assert_eq!(counter.runs(), 1);
}

#[tokio::test(start_paused = true)]
async fn whoever_stops_the_gateway_can_wait_for_its_calls() {
    let counter = Counter::default();
    let at_work = AtWork::default();
    let tool = counter.tool("counted", Replay::Effect);
    let door = Door::built(Gateway::builder(config()).tool(tool).at_work(at_work.clone()));
    at_work.none().await;
    let left = tokio::time::timeout(Duration::from_millis(50), call(&door, "one", "wait")).await;
    assert!(left.is_err(), "nobody listens any more");
    assert!(tokio::time::timeout(Duration::from_millis(20), at_work.none()).await.is_err(), "it is at work");
    at_work.none().await;
    assert_eq!(standing(&door, "one").await["answer"]["result"], 1);
}

#[test]
fn a_file_that_can_not_be_used_is_said_at_the_start() {
    let folder = Folder::new();
    let newer = folder.path().join("newer.db");
    drop(Gateway::builder(over(&newer)).build().expect("it is new"));
    Connection::open(&newer).unwrap().pragma_update(None, "user_version", 7).unwrap();
    let other = folder.path().join("other.db");
    let shelves = Config { artifacts: Some(other.clone()), ..config() };
    drop(Gateway::builder(shelves).build().expect("artifacts"));
    let shop = folder.path().join("shop.db");
    drop(Gateway::builder(Config { demo: true, data: Some(shop.clone()), ..config() }).build().expect("a shop"));
    let cases = [
        (folder.path().to_owned(), "can not be opened"),
        (folder.path().join("nowhere/calls.db"), "can not be opened"),
        (folder.write("text.db", &"no database at all ".repeat(100)), "can not be opened"),
        (newer, "written by a newer gateway (version 7 of the file, this one knows 1); start that one"),
        (other, "a database of something else; --calls wants a file of its own"),
        (shop, "a database of something else; --calls wants a file of its own"),
    ];
    for (file, words) in cases {
        let why = Gateway::builder(over(&file)).build().expect_err("it can not be used");
        assert!(why.starts_with(&format!("the calls in {} can not be", file.display())), "{why}");
        assert!(why.contains(words), "{why}");
    }
}

#[tokio::test]
async fn what_can_not_be_recorded_is_not_run() {
    let folder = Folder::new();
    let file = folder.path().join("calls.db");
    let counter = Counter::default();
    let door = Door::built(Gateway::builder(over(&file)).tool(counter.tool("counted", Replay::Pure)));
    Connection::open(&file).unwrap().execute_batch("DROP TABLE calls").unwrap();
    let answer = call(&door, "one", "succeed").await;
    assert_eq!((answer.status, code(&answer), counter.runs()), (503, json!("no_record"), 0));
    assert_eq!(door.send("GET", "/calls/one", &[], None).await.status, 503);
}

#[tokio::test]
async fn the_demo_refunds_once_whatever_key_it_is_asked_with() {
    let door = Door::built(Gateway::builder(Config { demo: true, ..config() }));
    let refund = json!({ "arguments": { "order_id": "A-1042", "reason": "arrived damaged" } });
    let (door, refund) = (&door, &refund);
    let ask = |key: &'static str| async move { door.post("order_refund", &[("idempotency-key", key)], refund).await };
    let (one, two) = tokio::join!(ask("same"), ask("same"));
    assert_eq!(one.json(), two.json());
    assert_eq!(one.json()["result"]["status"], "refunded");
    assert_eq!(code(&ask("another").await), "conflict");
    assert_eq!(ask("same").await.json(), one.json());
}
