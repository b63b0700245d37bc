//! A model's server behind the gateway: what it says about asking again, and what it costs, reaches the page.

use axum::http::HeaderValue;
use axum::response::{IntoResponse, Response};
use pagehand::ag_ui::{AgUiDecoder, write_input};
use pagehand::gateway::{Config, Gateway};
use pagehand::protocol::{Message, MessageId, ModelEvent, ModelRequest, RunId, ThreadId, UserMessage};
use serde_json::json;

use crate::gateway_support::{Backend, Door, Seen, json_answer};
use crate::support::words::words;

fn request(text: &str) -> ModelRequest {
    ModelRequest {
        messages: vec![Message::User(UserMessage::new(MessageId::from("m"), text.to_owned()))],
        ..ModelRequest::new(ThreadId::from("t"), RunId::from("r"))
    }
}

fn set_up(port: u16, more: &[(&str, &str)]) -> Result<Option<Config>, String> {
    let url = format!("http://127.0.0.1:{port}/v1");
    Config::read(Vec::new(), |name| {
        let own = [("PAGEHAND_MODEL_URL", url.as_str()), ("PAGEHAND_MODEL", "small")];
        own.iter().chain(more).find(|(other, _)| *other == name).map(|(_, value)| (*value).to_owned())
    })
}

/// What the page hears of one answer.
async fn heard(port: u16, more: &[(&str, &str)], text: &str) -> Vec<String> {
    let config = set_up(port, more).expect("a configuration").expect("no help");
    let door = Door::built(Gateway::builder(config));
    let request = request(text);
    let answer = door.send("POST", "/agent", &[], Some(&write_input(&request))).await;
    assert_eq!(answer.status, 200);
    let mut decoder = AgUiDecoder::new(&request);
    decoder.push(answer.text.as_bytes());
    decoder.finish();
    let events: Vec<ModelEvent> = std::iter::from_fn(|| decoder.next()).collect();
    words(&events)
}

// What is asked says what is answered.
fn answers(seen: &Seen) -> Response {
    let asks = |word: &str| seen.body.contains(word);
    let error = json!({ "error": { "message": "No." } });
    let with = |status, headers: &[(&'static str, &'static str)]| {
        let mut answer = json_answer(status, &error);
        for (name, value) in headers {
            answer.headers_mut().insert(*name, HeaderValue::from_static(value));
        }
        answer
    };
    let stream = |data: &str| ([("content-type", "text/event-stream")], format!("data: {data}\n\n")).into_response();
    if asks("in seconds") {
        with(429, &[("retry-after", "3")])
    } else if asks("milliseconds") {
        with(429, &[("retry-after-ms", "120"), ("retry-after", "3")])
    } else if asks("date") {
        let dates = [("retry-after", "Wed, 21 Oct 2026 07:28:00 GMT"), ("date", "Wed, 21 Oct 2026 07:27:55 GMT")];
        with(503, &dates)
    } else if asks("never") {
        with(500, &[("x-should-retry", "false"), ("x-request-id", "req_1")])
    } else if asks("do ask") {
        with(400, &[("x-should-retry", "true")])
    } else if asks("quota") {
        json_answer(429, &json!({ "error": { "message": "Pay.", "code": "insufficient_quota" } }))
    } else if asks("inside") {
        stream(r#"{"error":{"message":"Overloaded.","type":"overloaded_error"}}"#)
    } else {
        let text = r#"{"choices":[{"delta":{"content":"Hi."},"finish_reason":"stop"}],"usage":{"prompt_tokens":1001,"completion_tokens":10}}"#;
        stream(&format!("{text}\n\ndata: [DONE]"))
    }
}

#[tokio::test]
async fn what_a_models_server_says_about_asking_again_reaches_the_page() {
    let backend = Backend::start(answers).await;
    let cases = [
        ("in seconds", "error rate_limit after 3000 ms: No."),
        ("in milliseconds", "error rate_limit after 120 ms: No."),
        ("with a date", "error upstream after 5000 ms: No."),
        ("never again", "error upstream final: No."),
        ("but do ask", "error bad_request retry: No."),
        ("over quota", "error rate_limit final: Pay."),
        ("inside", "error upstream: Overloaded."),
    ];
    for (asked, expected) in cases {
        assert_eq!(heard(backend.port, &[], asked).await.last().unwrap(), expected, "{asked}");
        assert_eq!(backend.taken().len(), 1, "the gateway asks once; the page decides");
    }
}

#[tokio::test]
async fn what_an_answer_costs_is_said_where_prices_are_known() {
    let backend = Backend::start(answers).await;
    assert!(heard(backend.port, &[], "Hello").await.contains(&"usage 1001 10".to_owned()));
    // 2.50 and 10.00 a million: 2502.5 and 100 millionths.
    let prices = [("PAGEHAND_PRICE_INPUT", "2500000"), ("PAGEHAND_PRICE_OUTPUT", "10000000")];
    let heard = heard(backend.port, &prices, "Hello").await;
    assert!(heard.contains(&"usage 1001 10 cost 2603".to_owned()), "{heard:?}");
}

#[test]
fn prices_are_both_there_and_whole_numbers() {
    let cases: [(&[(&str, &str)], &str); 3] = [
        (&[("PAGEHAND_PRICE_INPUT", "1")], "PAGEHAND_PRICE_OUTPUT is not"),
        (&[("PAGEHAND_PRICE_OUTPUT", "1")], "PAGEHAND_PRICE_INPUT is not"),
        (&[("PAGEHAND_PRICE_INPUT", "2.50"), ("PAGEHAND_PRICE_OUTPUT", "1")], "2.50 is 2500000"),
    ];
    for (variables, words) in cases {
        let fault = set_up(1, variables).unwrap_err();
        assert!(fault.contains(words), "{fault}");
    }
}

#[tokio::test]
async fn a_body_that_is_nested_too_deep_is_called_so() {
    let door = Door::of(vec![crate::gateway_support::tool("look", |_, _| async {
        pagehand::protocol::Outcome::Result(json!(1))
    })]);
    let answer = door.call("look", &json!({})).await;
    assert_eq!(answer["result"], 1);
    let body = format!("{}1{}", "[".repeat(200), "]".repeat(200));
    let answer = door.send_text("POST", "/tools/look", &[("idempotency-key", "deep-call-1")], &body).await;
    assert_eq!(answer.status, 400);
    assert!(answer.text.contains("nested deeper than 127 levels"), "{}", answer.text);
}
