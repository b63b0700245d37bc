//! The gateway over `fetch`: streams however they are cut, every way to fail, and letting go.

use std::cell::RefCell;
use std::rc::Rc;

use futures::StreamExt;
use futures::stream::LocalBoxStream;
use pagehand::agent::ToolRequest;
use pagehand::browser::{Gateway, Heard};
use pagehand::protocol::{
    FinishReason, Job, ModelError, ModelErrorKind, ModelEvent, ModelRequest, Outcome, Risk, RunId, Scope, ThreadId,
};
use serde_json::json;
use wasm_bindgen_test::wasm_bindgen_test as test;

use crate::support::fake::{Asked, Network};
use crate::support::{definition, listing, stream, tool_request, until_so};

fn request() -> ModelRequest {
    ModelRequest::new(ThreadId::from("t"), RunId::from("r"))
}

type Events = LocalBoxStream<'static, ModelEvent>;

/// Asks the model; a stream does nothing before it is polled, so it is polled until its request is there.
async fn ask(network: &Network) -> (Events, Asked) {
    let mut events = Gateway::new("/").call_model(&request());
    let asked = match futures::future::select(events.next(), Box::pin(network.asked("/agent"))).await {
        futures::future::Either::Left(_) => panic!("the model answered before it was asked"),
        futures::future::Either::Right((asked, _)) => asked,
    };
    (events, asked)
}

async fn error_of(network: &Network, answer: impl FnOnce(&Asked)) -> ModelError {
    let (events, asked) = ask(network).await;
    answer(&asked);
    match events.collect::<Vec<_>>().await.as_slice() {
        [ModelEvent::Error(error)] => error.clone(),
        other => panic!("{other:?}"),
    }
}

fn weather() -> ToolRequest {
    tool_request(definition("weather_read", Scope::Server, Risk::Read), json!({ "city": "Oslo" }))
}

fn refund() -> ToolRequest {
    tool_request(definition("order_refund", Scope::Server, Risk::Irreversible), json!({}))
}

/// A call without the time for another attempt.
fn hurried(mut request: ToolRequest) -> ToolRequest {
    std::sync::Arc::make_mut(&mut request.definition).timeout_ms = Some(100);
    request
}

fn unheard() -> Heard {
    Rc::new(|_, _| ())
}

async fn outcome_of(network: &Network, answer: impl FnOnce(&Asked)) -> Outcome {
    let outcome = Gateway::new("/").call_tool(&weather(), unheard());
    let answered = async { answer(&network.asked("/tools/weather_read").await) };
    futures::future::join(outcome, answered).await.0.outcome
}

fn told(outcome: Outcome) -> (String, String, bool) {
    match outcome {
        Outcome::Error(error) => (error.code.into_owned(), error.message, error.retryable),
        other => panic!("{other:?}"),
    }
}

fn said(events: &[ModelEvent]) -> String {
    events
        .iter()
        .filter_map(|event| if let ModelEvent::TextDelta(text) = event { Some(text.as_str()) } else { None })
        .collect()
}

#[test]
async fn an_answer_reads_the_same_however_the_connection_cuts_it() {
    let network = Network::install();
    let answer = stream::saying("Grüße aus Ålesund 🐟, sagt die Möwe.");
    for size in [1, 2, 3, 7, 4096] {
        let (events, asked) = ask(&network).await;
        let body = asked.answer(200);
        answer.as_bytes().chunks(size).for_each(|piece| body.send_bytes(piece));
        body.end();
        let events: Vec<_> = events.collect().await;
        assert_eq!(said(&events), "Grüße aus Ålesund 🐟, sagt die Möwe.", "in pieces of {size}");
        assert_eq!(events.last(), Some(&ModelEvent::Finish(FinishReason::Done)), "in pieces of {size}");
    }
}

#[test]
async fn words_are_there_as_soon_as_they_came() {
    let network = Network::install();
    let (mut events, asked) = ask(&network).await;
    let body = asked.answer(200);
    body.send_all(&[stream::started(), stream::text_start(), stream::text("so far")]);
    let mut seen = Vec::new();
    while said(&seen).is_empty() {
        seen.push(events.next().await.unwrap());
    }
    assert_eq!(said(&seen), "so far");
}

#[test]
async fn the_model_is_asked_by_post_for_an_event_stream() {
    let network = Network::install();
    let (_events, asked) = ask(&network).await;
    assert_eq!(asked.method(), "POST");
    assert_eq!(asked.header("accept").as_deref(), Some("text/event-stream"));
    assert_eq!(asked.header("content-type").as_deref(), Some("application/json"));
    assert_eq!(asked.json().await["threadId"], "t");
}

#[test]
async fn a_lost_connection_ends_the_stream_without_a_finish() {
    let network = Network::install();
    let (mut events, asked) = ask(&network).await;
    let body = asked.answer(200);
    body.send_all(&[stream::started(), stream::text_start(), stream::text("half")]);
    let mut seen = vec![events.next().await.unwrap()];
    body.lose();
    seen.extend(events.collect::<Vec<_>>().await);
    assert_eq!(said(&seen), "half");
    assert!(!seen.iter().any(|event| matches!(event, ModelEvent::Finish(_) | ModelEvent::Error(_))), "{seen:?}");
}

#[test]
async fn each_status_is_a_kind_of_error() {
    let network = Network::install();
    let kinds = [
        (401, ModelErrorKind::Auth),
        (403, ModelErrorKind::Auth),
        (400, ModelErrorKind::BadRequest),
        (404, ModelErrorKind::BadRequest),
        (429, ModelErrorKind::RateLimit),
        (500, ModelErrorKind::Upstream),
        (503, ModelErrorKind::Upstream),
    ];
    for (status, kind) in kinds {
        let error = error_of(&network, |asked| asked.answer_text(status, "{}", "<h1>no</h1>")).await;
        assert_eq!(error.kind, kind, "{status}");
        assert_eq!(error.message, format!("The gateway answered with HTTP {status}."));
    }
}

#[test]
async fn the_gateways_own_words_for_an_error_are_kept() {
    let network = Network::install();
    let body = json!({ "error": { "message": "The model is asleep." } });
    let error = error_of(&network, |asked| asked.answer_json(503, &body)).await;
    assert_eq!(error.message, "The model is asleep.");
    let error = error_of(&network, |asked| asked.answer_json(422, &json!({ "detail": "no messages" }))).await;
    assert_eq!(error.message, "no messages");
}

#[test]
async fn a_rate_limit_says_how_long_to_wait() {
    let network = Network::install();
    let waits = [
        ("7", Some(7000)),
        (" 2 ", Some(2000)),
        ("Wed, 21 Oct 2026 07:28:00 GMT", Some(60_000)),
        ("Wednesday, 21-Oct-26 07:28:00 GMT", Some(60_000)),
        ("Wed Oct 21 07:28:00 2026", Some(60_000)),
        ("Wed, 21 Oct 2026 07:26:00 GMT", Some(0)),
        ("Wed, 21 Okt 2026 07:28:00 GMT", None),
        ("Wed, 99 Oct 2026 07:28:00 GMT", None),
        ("-1", None),
        ("21 Oct", None),
        ("soon", None),
        ("18446744073709551615", Some(u64::MAX)),
    ];
    for (header, wait) in waits {
        let headers = json!({ "retry-after": header, "date": "Wed, 21 Oct 2026 07:27:00 GMT" }).to_string();
        let error = error_of(&network, |asked| asked.answer_text(429, &headers, "")).await;
        assert_eq!(error.retry_after_ms, wait, "{header}");
    }
}

#[test]
async fn a_gateway_that_is_not_there_is_a_network_error_in_words() {
    let network = Network::install();
    let error = error_of(&network, Asked::fail).await;
    assert_eq!(error.kind, ModelErrorKind::Network);
    assert_eq!(error.message, "The gateway can not be reached. Check that it is running and that you are online.");
}

#[test]
async fn dropping_the_stream_lets_go_of_the_connection() {
    let network = Network::install();
    let (events, asked) = ask(&network).await;
    assert!(!asked.is_aborted());
    drop(events);
    assert!(asked.is_aborted(), "while it waits for the head");

    let (mut events, asked) = ask(&network).await;
    asked.answer(200).send(&stream::started());
    let _ = events.next().await;
    drop(events);
    assert!(asked.is_aborted(), "in the middle of the body");
}

#[test]
async fn an_endless_line_ends_the_answer_with_the_limit_in_words_and_lets_go() {
    let network = Network::install();
    let (mut events, asked) = ask(&network).await;
    let body = asked.answer(200);
    body.send("data: ");
    (0..11).for_each(|_| body.send(&"x".repeat(1024 * 1024)));
    let error = match events.next().await {
        Some(ModelEvent::Error(error)) => error,
        other => panic!("{other:?}"),
    };
    assert_eq!(error.kind, ModelErrorKind::Protocol);
    assert!(error.message.contains("an event of the stream is longer than 10 MiB"), "{}", error.message);
    assert!(asked.is_aborted(), "nobody reads the rest");
    assert_eq!(events.next().await, None);
}

#[test]
async fn an_answer_read_to_its_end_is_not_aborted() {
    let network = Network::install();
    let (events, asked) = ask(&network).await;
    asked.answer_text(200, "{}", &stream::saying("done"));
    events.collect::<Vec<_>>().await;
    assert!(!asked.is_aborted());
}

#[test]
async fn a_server_tool_is_a_post_with_the_call_as_idempotency_key() {
    let network = Network::install();
    let outcome = Gateway::new("/api").call_tool(&weather(), unheard());
    let answered = async {
        let asked = network.asked("/api/tools/weather_read").await;
        assert_eq!(asked.method(), "POST");
        assert_eq!(asked.header("idempotency-key").as_deref(), Some("call00001"));
        assert_eq!(asked.header("pagehand-definition"), Some(weather().definition.hash()));
        let body = asked.json().await;
        assert_eq!(body["arguments"], json!({ "city": "Oslo" }));
        let context = json!({
            "threadId": "thread001", "runId": "run000001", "step": 2, "agent": "tester", "state": {}, "approved": false,
            "payload": null,
        });
        assert_eq!(body["context"], context);
        asked.answer_json(200, &json!({ "result": { "degrees": 4 } }));
    };
    let (answer, ()) = futures::future::join(outcome, answered).await;
    assert_eq!(answer.outcome, Outcome::Result(json!({ "degrees": 4 })));
}

#[test]
async fn a_result_of_null_is_a_result() {
    let network = Network::install();
    let outcome = outcome_of(&network, |asked| asked.answer_json(200, &json!({ "result": null }))).await;
    assert_eq!(outcome, Outcome::Result(json!(null)));
}

#[test]
async fn a_server_tools_error_keeps_its_code_and_words() {
    let network = Network::install();
    let body = json!({ "error": { "code": "sold_out", "message": "None is left.", "retryable": true } });
    let outcome = outcome_of(&network, |asked| asked.answer_json(409, &body)).await;
    assert_eq!(told(outcome), ("sold_out".to_owned(), "None is left.".to_owned(), true));
}

#[test]
async fn an_answer_nobody_can_read_is_an_error_in_words() {
    let network = Network::install();
    let answers = [
        ("<html>Not Found</html>", "the gateway's answer can not be read (HTTP 404)"),
        ("[]", "the gateway's answer can not be read (HTTP 404)"),
        ("{}", "the gateway's answer holds neither a result nor an error"),
    ];
    for (body, words) in answers {
        let (code, message, retryable) = told(outcome_of(&network, |asked| asked.answer_text(404, "{}", body)).await);
        assert_eq!((code.as_str(), retryable), ("tool_error", false), "{body}");
        assert!(message.contains(words), "{message}");
    }
}

#[test]
async fn a_result_that_is_too_long_is_let_go_of() {
    let network = Network::install();
    let outcome = Gateway::new("/").call_tool(&weather(), unheard());
    let answered = async {
        let asked = network.asked("/tools/weather_read").await;
        let body = asked.answer(200);
        (0..8).for_each(|_| body.send(&"x".repeat(1024 * 1024)));
        body.send("x");
        asked
    };
    let (outcome, asked) = futures::future::join(outcome, answered).await;
    let (code, message, _) = told(outcome.outcome);
    assert_eq!(code, "result_too_large");
    assert!(message.contains("longer than 8 MiB"), "{message}");
    assert!(asked.is_aborted(), "nobody reads the rest");
}

#[test]
async fn dropping_a_tool_call_lets_go_of_the_connection() {
    let network = Network::install();
    let mut outcome = Gateway::new("/").call_tool(&weather(), unheard());
    assert!(futures::poll!(&mut outcome).is_pending());
    let asked = network.asked("/tools/weather_read").await;
    drop(outcome);
    until_so("the abort", || asked.is_aborted()).await;
}

#[test]
async fn the_list_of_tools_is_read_with_who_answers() {
    let network = Network::install();
    let tool = definition("weather_read", Scope::Server, pagehand::protocol::Risk::Read);
    let gateway = Gateway::new("/");
    let answered = async { network.asked("/tools").await.answer_json(200, &listing(std::slice::from_ref(&tool))) };
    let served = futures::future::join(gateway.served(), answered).await.0.unwrap();
    assert_eq!(served.agent.label, "A scripted model");
    assert_eq!(served.agent.suggestions.len(), 2);
    assert_eq!(served.tools[0].definition.name, "weather_read");
    assert_eq!(served.tools[0].hash, tool.hash());
}

#[test]
async fn a_list_of_tools_that_can_not_be_had_says_why() {
    let network = Network::install();
    type Answer = fn(&Asked);
    let answers: [(Answer, &str); 3] = [
        (|asked| asked.answer_text(500, "{}", ""), "did not list its tools (HTTP 500)"),
        (|asked| asked.answer_text(200, "{}", "not JSON"), "can not be read"),
        (|asked| asked.fail(), "can not be reached"),
    ];
    for (answer, words) in answers {
        let gateway = Gateway::new("/");
        let answered = async { answer(&network.asked("/tools").await) };
        let said = futures::future::join(gateway.served(), answered).await.0.unwrap_err();
        assert!(said.contains(words), "{said}");
    }
}

#[test]
async fn a_definition_that_can_not_be_read_is_left_out_by_itself() {
    let network = Network::install();
    let good = definition("weather_read", Scope::Server, Risk::Read);
    let mut list = listing(&[good]);
    list["tools"].as_array_mut().unwrap().push(json!({ "name": "x", "hash": "" }));
    list["refused"] = json!([{ "message": "tool \"broken\" of shop: no url" }]);
    let gateway = Gateway::new("/");
    let answered = async { network.asked("/tools").await.answer_json(200, &list) };
    let served = futures::future::join(gateway.served(), answered).await.0.unwrap();
    assert_eq!(served.tools.len(), 1);
    assert_eq!(served.faults.len(), 2, "{:?}", served.faults);
    assert!(served.faults[1].starts_with("x: its scope must be"), "{:?}", served.faults);
}

// ---- attempts of a tool ----

#[test]
async fn a_call_without_an_answer_is_sent_again_as_it_was_under_its_own_key() {
    let network = Network::install();
    let (hear, told) = heard();
    let outcome = Gateway::new("/").call_tool(&refund(), hear);
    let answered = async {
        let soon = json!({ "retry-after-ms": "1" }).to_string();
        let first = network.asked("/tools/order_refund").await;
        assert_eq!(first.header("pagehand-age"), None);
        let sent = first.json().await;
        first.fail();
        for attempt in 0..4 {
            let asked = network.asked("/tools/order_refund").await;
            assert_eq!(
                (asked.method().as_str(), asked.header("idempotency-key").as_deref()),
                ("POST", Some("call00001"))
            );
            assert_eq!(asked.json().await, sent);
            assert!(asked.header("pagehand-age").unwrap().parse::<u32>().unwrap() < 10_000);
            match attempt {
                0 => asked.answer_with_headers(200, STREAM).lose(),
                1 => asked.answer_text(503, &soon, "<h1>Service Unavailable</h1>"),
                2 => {
                    asked.answer_text(
                        429,
                        &soon,
                        "{\"error\":{\"code\":\"busy\",\"message\":\"\",\"retryable\":true}}",
                    );
                }
                _ => asked.answer_json(200, &json!({ "result": "paid" })),
            }
        }
    };
    let (answer, ()) = futures::future::join(outcome, answered).await;
    assert_eq!(answer.outcome, Outcome::Result(json!("paid")));
    let told = told.borrow().join("\n");
    for words in [
        "can not be reached. Check that it is running and that you are online. Trying again in 1 s.",
        "The connection to the gateway was lost. Trying again in 1 s.",
        "The gateway failed (HTTP 503). Trying again in 1 s.",
        "The gateway is busy. Trying again in 1 s.",
        "The gateway is there again",
    ] {
        assert!(told.contains(words), "{words:?} is not in:\n{told}");
    }
}

#[test]
async fn only_what_is_no_answer_is_worth_another_attempt() {
    let network = Network::install();
    let of_gateway = |code: &str, retryable: bool| {
        json!({ "error": { "code": code, "message": "Words.", "retryable": retryable } }).to_string()
    };
    let soon = |more: &str| format!("{{\"retry-after-ms\":\"1\"{more}}}");
    let plain = String::new;
    // (status, more headers, body, whether it is sent again)
    let cases = [
        (408, "", plain(), true),
        (429, "", plain(), true),
        (500, "", plain(), true),
        (502, "", "<h1>Bad Gateway</h1>".to_owned(), true),
        (503, "", "{\"error\":{\"message\":\"from a proxy\"}}".to_owned(), true),
        (504, "", "[]".to_owned(), true),
        (429, "", of_gateway("busy", true), true),
        (503, "", of_gateway("no_record", true), true),
        // The gateway's own word on the call itself.
        (500, "", of_gateway("tool_error", false), false),
        (504, "", of_gateway("timeout", false), false),
        (200, "", of_gateway("busy", true), false),
        (409, "", of_gateway("unknown_outcome", false), false),
        (403, "", of_gateway("refused", false), false),
        (422, "", of_gateway("invalid_arguments", true), false),
        (400, "", plain(), false),
        (404, "", plain(), false),
        (413, "", plain(), false),
        (501, "", plain(), false),
        // Whoever answers may say otherwise.
        (409, ",\"x-should-retry\":\"true\"", plain(), true),
        (503, ",\"x-should-retry\":\"false\"", plain(), false),
    ];
    for (status, more, body, is_again) in cases {
        let outcome = Gateway::new("/").call_tool(&weather(), unheard());
        let answered = async {
            network.asked("/tools/weather_read").await.answer_text(status, &soon(more), &body);
            if is_again {
                network.asked("/tools/weather_read").await.answer_json(200, &json!({ "result": 4 }));
            }
        };
        let (answer, ()) = futures::future::join(outcome, answered).await;
        let is_result = answer.outcome == Outcome::Result(json!(4));
        assert_eq!(is_result, is_again, "{status} {more} {body}: {:?}", answer.outcome);
    }
}

#[test]
async fn a_pause_is_as_long_as_the_gateway_says_unless_there_is_no_time_for_it() {
    let network = Network::install();
    let (hear, told) = heard();
    let date = js_sys::Date::new(&(js_sys::Date::now() + 1500.0).into()).to_utc_string();
    let date = String::from(date);
    let outcome = Gateway::new("/").call_tool(&weather(), hear);
    let answered = async {
        for (name, value) in
            [("retry-after", "1"), ("retry-after", date.as_str()), ("retry-after", "99999999999999999999999")]
        {
            let headers = json!({ name: value }).to_string();
            network.asked("/tools/weather_read").await.answer_text(503, &headers, "");
        }
    };
    let (answer, ()) = futures::future::join(outcome, answered).await;
    assert!(matches!(answer.outcome, Outcome::Error(_)));
    let told = told.borrow().iter().filter(|told| told.contains("Trying again")).count();
    assert_eq!(told, 2, "the third would take longer than the call may");
}

#[test]
async fn a_call_that_never_got_an_answer_may_have_taken_effect_where_its_tool_has_any() {
    let network = Network::install();
    type Answer = fn(&Asked);
    let answers: [Answer; 3] = [
        Asked::fail,
        |asked| asked.answer(200).lose(),
        |asked| {
            let body = asked.answer_with_headers(200, STREAM);
            body.send("event: progress\ndata: {}\n\n");
            body.lose();
        },
    ];
    for answer in answers {
        for (request, expected) in [(refund(), ("unknown_outcome", false)), (weather(), ("unreachable", true))] {
            let request = hurried(request);
            let outcome = Gateway::new("/").call_tool(&request, unheard());
            let path = format!("/tools/{}", request.name);
            let answered = async { answer(&network.asked(&path).await) };
            let (answer, ()) = futures::future::join(outcome, answered).await;
            let (code, message, retryable) = told(answer.outcome);
            assert_eq!((code.as_str(), retryable), expected);
            assert_eq!(message.contains("whether it took effect is unknown"), !retryable, "{message}");
        }
    }
}

#[test]
async fn a_call_that_was_refused_unrun_every_time_says_so() {
    let network = Network::install();
    let request = hurried(refund());
    let outcome = Gateway::new("/").call_tool(&request, unheard());
    let body = json!({ "error": { "code": "busy", "message": "The gateway is busy.", "retryable": true } });
    let answered = async { network.asked("/tools/order_refund").await.answer_json(429, &body) };
    let (answer, ()) = futures::future::join(outcome, answered).await;
    assert_eq!(told(answer.outcome), ("busy".to_owned(), "The gateway is busy.".to_owned(), true));
}

#[test]
async fn dropping_a_call_between_two_attempts_ends_them() {
    let network = Network::install();
    let mut outcome = Gateway::new("/").call_tool(&weather(), unheard());
    assert!(futures::poll!(&mut outcome).is_pending());
    network.asked("/tools/weather_read").await.fail();
    pagehand::browser::sleep(20).await;
    assert!(futures::poll!(&mut outcome).is_pending());
    drop(outcome);
    pagehand::browser::sleep(700).await;
    assert_eq!(network.count("/tools/weather_read").await, 1);
}

// ---- streams and jobs of a tool ----

fn heard() -> (Heard, Rc<RefCell<Vec<String>>>) {
    let told: Rc<RefCell<Vec<String>>> = Rc::default();
    let kept = Rc::clone(&told);
    (Rc::new(move |fraction, text| kept.borrow_mut().push(format!("{fraction:?} {text}"))), told)
}

const STREAM: &str = "{\"content-type\":\"text/event-stream\"}";

#[test]
async fn a_tool_that_answers_with_a_stream_is_heard_on_the_way() {
    let network = Network::install();
    let (hear, told) = heard();
    let outcome = Gateway::new("/").call_tool(&weather(), hear);
    let answered = async {
        let asked = network.asked("/tools/weather_read").await;
        assert!(asked.header("accept").unwrap().contains("text/event-stream"));
        let body = asked.answer_with_headers(200, STREAM);
        body.send("event: progress\ndata: {\"fraction\":0.5,\"text\":\"half\"}\n\n: beat\n\nevent: log\ndata: {}\n\n");
        body.send("event: answer\ndata: {\"result\":4,\"state\":{\"city\":\"Oslo\",\"old\":null}}\n\n");
        body.end();
    };
    let (answer, ()) = futures::future::join(outcome, answered).await;
    assert_eq!(answer.outcome, Outcome::Result(json!(4)));
    assert_eq!(pagehand::protocol::delta_to_json(&answer.changes), json!({ "city": "Oslo", "old": null }));
    assert_eq!(*told.borrow(), ["Some(0.5) half"]);
}

#[test]
async fn a_tool_may_begin_a_job_or_ask_for_approval() {
    let network = Network::install();
    let answers = [
        (
            json!({ "job": { "id": "j1", "state": { "rows": 2 } } }),
            Outcome::Interim(Job { id: "j1".to_owned(), state: json!({ "rows": 2 }) }),
        ),
        (
            json!({ "needsApproval": { "reason": "Really?", "payload": [1] } }),
            Outcome::NeedsApproval { reason: "Really?".to_owned(), payload: json!([1]) },
        ),
    ];
    for (body, expected) in answers {
        assert_eq!(outcome_of(&network, |asked| asked.answer_json(200, &body)).await, expected);
    }
}

#[test]
async fn a_job_is_waited_for_however_often_the_connection_is_lost() {
    let network = Network::install();
    let (hear, told) = heard();
    let waiting = ToolRequest { job: Some("job/7".to_owned()), ..weather() };
    let end = Gateway::new("/").call_tool(&waiting, hear);
    let answered = async {
        let asked = network.asked("/jobs/job%2F7").await;
        assert_eq!((asked.method().as_str(), asked.header("idempotency-key").as_deref()), ("GET", Some("call00001")));
        let body = asked.answer_with_headers(200, STREAM);
        body.send("event: progress\ndata: {\"text\":\"working\"}\n\n");
        until_so("the progress to be heard", || !told.borrow().is_empty()).await;
        body.lose();
        network.asked("/jobs/job%2F7").await.fail();
        network.asked("/jobs/job%2F7").await.answer_json(200, &json!({ "status": "pending", "state": null }));
        network
            .asked("/jobs/job%2F7")
            .await
            .answer_json(503, &json!({ "error": { "code": "busy", "message": "Busy." } }));
        network
            .asked("/jobs/job%2F7")
            .await
            .answer_json(200, &json!({ "status": "done", "answer": { "result": "file" } }));
    };
    let (answer, ()) = futures::future::join(end, answered).await;
    assert_eq!(answer.outcome, Outcome::Result(json!("file")));
    assert_eq!(*told.borrow(), ["None working"]);
}

#[test]
async fn a_job_nobody_knows_any_more_has_failed() {
    let network = Network::install();
    let waiting = ToolRequest { job: Some("gone".to_owned()), ..weather() };
    let end = Gateway::new("/").call_tool(&waiting, unheard());
    let body = json!({ "error": { "code": "unknown_job", "message": "Nobody knows it." } });
    let answered = async { network.asked("/jobs/gone").await.answer_json(404, &body) };
    let (answer, ()) = futures::future::join(end, answered).await;
    assert_eq!(told(answer.outcome).0, "unknown_job");
}

#[test]
async fn a_gateway_that_is_broken_is_asked_again_what_became_of_a_call() {
    let network = Network::install();
    let lost = ToolRequest { resumed: true, approved: true, ..refund() };
    let answer = Gateway::new("/").call_tool(&lost, unheard());
    let answered = async {
        let soon = json!({ "retry-after-ms": "1" }).to_string();
        network.asked("/calls/call00001").await.answer_text(502, &soon, "<h1>Bad Gateway</h1>");
        network.asked("/calls/call00001").await.answer_text(503, &soon, "{}");
        network.asked("/calls/call00001").await.answer_json(200, &json!({ "status": "unknown" }));
    };
    let (answer, ()) = futures::future::join(answer, answered).await;
    assert_eq!(told(answer.outcome).0, "interrupted");
}

#[test]
async fn a_call_that_may_have_taken_effect_is_asked_about_and_not_made_again() {
    let network = Network::install();
    let lost = || ToolRequest { resumed: true, approved: true, ..refund() };
    let done = json!({ "status": "done", "answer": { "result": { "refunded": true }, "state": { "x": 1 } } });
    let cases = [
        (json!({ "status": "running" }), None),
        (done, Some(Outcome::Result(json!({ "refunded": true })))),
        (json!({ "status": "unknown" }), None),
        (json!({ "status": "none" }), None),
    ];
    for (told_first, expected) in cases {
        let running = told_first["status"] == "running";
        let answer = Gateway::new("/").call_tool(&lost(), unheard());
        let answered = async {
            let asked = network.asked("/calls/call00001").await;
            assert_eq!(
                (asked.method().as_str(), asked.header("idempotency-key").as_deref()),
                ("GET", Some("call00001"))
            );
            asked.answer_json(200, &told_first);
            if running {
                let later = json!({ "status": "done", "answer": { "result": 1 } });
                network.asked("/calls/call00001").await.answer_json(200, &later);
            }
        };
        let (answer, ()) = futures::future::join(answer, answered).await;
        match expected {
            Some(outcome) => assert_eq!(answer.outcome, outcome),
            None if running => assert_eq!(answer.outcome, Outcome::Result(json!(1))),
            None => assert_eq!(told(answer.outcome).0, "interrupted"),
        }
    }
    assert_eq!(network.count("/tools/order_refund").await, 0);
}
