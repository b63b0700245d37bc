//! The demo's shop: its data, its API, its tools.

use std::sync::Arc;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{Request, StatusCode};
use pagehand::gateway::demo::{Store, router, tools};
use pagehand::gateway::tools::{CallContext, ServerTools};
use pagehand::protocol::{Outcome, ToolError};
use serde_json::{Value, json};
use tower::ServiceExt;

fn shop() -> Arc<Store> {
    Arc::new(Store::open(None).expect("a shop in memory opens"))
}

async fn get(app: &Router, path: &str) -> (StatusCode, Value) {
    let request = Request::get(path).body(Body::empty()).expect("a request");
    let response = app.clone().oneshot(request).await.expect("routers do not fail");
    let status = response.status();
    let bytes = to_bytes(response.into_body(), 1 << 20).await.expect("a body");
    (status, serde_json::from_slice(&bytes).expect("JSON"))
}

struct Desk(ServerTools);

impl Desk {
    fn new(store: Arc<Store>) -> Self {
        Self(ServerTools::new(tools(store)).expect("every definition is accepted"))
    }

    // The result, or the code and the message of the error.
    async fn call(&self, name: &str, arguments: Value, call_id: &str) -> Result<Value, (String, String)> {
        let schema = self.0.registry().schema(name).expect("a served tool");
        schema.check(&arguments).expect("arguments fit");
        let context = CallContext::alone(name, call_id).expect("artifacts in memory");
        match self.0.call(name, arguments, context).expect("a served tool").await {
            Outcome::Result(value) => Ok(value),
            Outcome::Error(error) => Err((error.code.into_owned(), error.message)),
            Outcome::Interim(job) => panic!("began a job: {}", job.id),
            Outcome::NeedsApproval { reason, .. } => panic!("asked for approval: {reason}"),
        }
    }
}

#[tokio::test]
async fn two_new_shops_are_equal() {
    let (one, two) = (router(shop()), router(shop()));
    let mut paths = vec!["/api/summary".to_owned(), "/api/articles".to_owned()];
    paths.extend((1..=5).map(|page| format!("/api/orders?size=100&page={page}")));
    paths.extend((1..=2).map(|page| format!("/api/customers?size=100&page={page}")));
    paths.extend((1000..1500).step_by(17).map(|id| format!("/api/orders/A-{id}")));
    paths.extend((1..=200).step_by(13).map(|id| format!("/api/customers/C-{id:03}")));
    for path in &paths {
        let (status, value) = get(&one, path).await;
        assert_eq!(status, StatusCode::OK, "{path}");
        assert_eq!(value, get(&two, path).await.1, "{path}");
    }
}

#[tokio::test]
async fn a_filled_file_is_not_filled_again() {
    let path = std::env::temp_dir().join(format!("pagehand-shop-{}.db", std::process::id()));
    let note = json!({ "order_id": "A-1042", "text": "customer called" });
    {
        let store = Arc::new(Store::open(Some(&path)).expect("a new file opens"));
        Desk::new(store).call("order_note_add", note, "call-1").await.expect("a note");
    }
    let again = router(Arc::new(Store::open(Some(&path)).expect("the same file opens")));
    let order = get(&again, "/api/orders/A-1042").await.1;
    let total = get(&again, "/api/orders").await.1["total"].clone();
    for end in ["", "-wal", "-shm"] {
        let _ = std::fs::remove_file(format!("{}{end}", path.display()));
    }
    assert_eq!(total, 500);
    assert_eq!(order["notes"].as_array().and_then(|notes| notes.last()).expect("a note")["text"], "customer called");
}

#[tokio::test]
async fn the_summary_adds_up() {
    let summary = get(&router(shop()), "/api/summary").await.1;
    let orders = &summary["orders"];
    let states = ["pending", "packed", "shipped", "delivered", "cancelled", "refunded"];
    let sum: i64 = states.iter().map(|state| orders[*state].as_i64().expect("a count")).sum();
    assert_eq!((orders["total"].as_i64(), sum), (Some(500), 500));
    assert!(states.iter().all(|state| orders[*state].as_i64() > Some(5)), "{orders}");
    assert!(summary["late"].as_i64() > Some(3), "{summary}");
    assert_eq!((&summary["currency"], &summary["customers"]), (&json!("EUR"), &json!(200)));
    let days: Vec<&str> =
        summary["by_day"].as_array().expect("days").iter().filter_map(|day| day["day"].as_str()).collect();
    assert_eq!(days.len(), 14);
    assert_eq!((days.first(), days.last()), (Some(&"2026-11-01"), Some(&"2026-11-14")));
    assert_eq!(summary["recent"].as_array().map(Vec::len), Some(8));
    assert_eq!(summary["recent"][0]["id"], "A-1499");
}

#[tokio::test]
async fn the_example_order_is_what_the_documentation_says() {
    let order = get(&router(shop()), "/api/orders/A-1042").await.1;
    assert_eq!(order["status"], "shipped");
    assert_eq!(order["customer"]["name"], "Maya Lindqvist");
    let shipping = &order["shipping"];
    assert_eq!((&shipping["carrier"], &shipping["tracking_number"]), (&json!("DHL"), &json!("JD014600003RE1042")));
    assert_eq!((&shipping["delivered_at"], &order["refund"]), (&Value::Null, &Value::Null));
    assert_eq!(shipping["address"].as_array().map(Vec::len), Some(4));
    let lines = order["lines"].as_array().expect("lines");
    let total: i64 =
        lines.iter().filter_map(|line| Some(line["quantity"].as_i64()? * line["unit_cents"].as_i64()?)).sum();
    assert_eq!(order["total_cents"], total);
    let times: Vec<&str> =
        order["history"].as_array().expect("history").iter().filter_map(|event| event["at"].as_str()).collect();
    assert!(times.is_sorted(), "{times:?}");
}

#[tokio::test]
async fn every_order_tells_a_possible_story() {
    let app = router(shop());
    let mut last_placed = String::new();
    for id in 1000..1500 {
        let order = get(&app, &format!("/api/orders/A-{id}")).await.1;
        let times: Vec<&str> =
            order["history"].as_array().expect("history").iter().filter_map(|event| event["at"].as_str()).collect();
        assert!(times.is_sorted() && times.iter().all(|at| *at < "2026-11-15"), "A-{id}: {times:?}");
        let placed = order["placed_at"].as_str().expect("a time").to_owned();
        assert!(placed > last_placed, "A-{id} was placed {placed}, the one before {last_placed}");
        last_placed = placed;
        let was_sent = matches!(order["status"].as_str(), Some("shipped" | "delivered" | "refunded"));
        assert_eq!(order["shipping"]["tracking_number"].is_string(), was_sent, "A-{id}");
        assert_eq!(order["refund"].is_object(), order["status"] == "refunded", "A-{id}");
    }
}

#[tokio::test]
async fn lists_are_filtered_and_paged() {
    let app = router(shop());
    // (query, smallest and largest total, words every row contains)
    let cases = [
        ("", 500..=500, ""),
        ("status=&q=&customer=", 500..=500, ""),
        ("status=pending", 20..=120, "\"pending\""),
        ("status=late", 4..=60, ""),
        ("q=1042", 1..=10, ""),
        ("q=JD014600003RE1042", 1..=1, "A-1042"),
        ("q=lindqvist", 6..=60, "Lindqvist"),
        ("q=Tarn%202", 5..=80, ""),
        ("customer=C-001", 5..=30, "Maya Lindqvist"),
        ("customer=C-001&status=shipped&q=A-1042", 1..=1, "A-1042"),
        ("q=%25", 0..=0, ""),
        ("q=no+such+thing", 0..=0, ""),
    ];
    for (query, expected, word) in cases {
        let (status, value) = get(&app, &format!("/api/orders?{query}")).await;
        let total = value["total"].as_i64().unwrap_or(-1);
        assert!(status == StatusCode::OK && expected.contains(&total), "{query}: {status} {total}");
        let items = value["items"].as_array().expect("items");
        assert!(items.iter().all(|item| item.to_string().contains(word)), "{query}: {value}");
        assert!(items.is_sorted_by(|a, b| a["placed_at"].as_str() >= b["placed_at"].as_str()), "{query}");
        assert_eq!(value["pages"].as_i64(), Some(((total + 19) / 20).max(1)), "{query}");
    }
    let last = get(&app, "/api/orders?size=30&page=17").await.1;
    assert_eq!((last["items"].as_array().map(Vec::len), &last["pages"]), (Some(20), &json!(17)));
    let customers = get(&app, "/api/customers?q=lindqvist").await.1;
    assert_eq!(customers["items"][0]["name"], "Maya Lindqvist");
    let maya = get(&app, "/api/customers/C-001").await.1;
    assert_eq!(maya["orders"].as_i64(), maya["orders_list"].as_array().map(|list| list.len() as i64));
    assert!(maya["phone"].is_string() && maya["spent_cents"].as_i64() > Some(0), "{maya}");
}

#[tokio::test]
async fn failures_say_what_and_where() {
    let app = router(shop());
    let cases = [
        ("/api/orders/A-9999", 404, "not_found", "A-9999"),
        ("/api/customers/C-999", 404, "not_found", "C-999"),
        ("/api/articles/no-such", 404, "not_found", "no-such"),
        ("/api/nothing/here", 404, "not_found", "nothing/here"),
        ("/api/orders?status=lost", 400, "bad_request", "lost"),
        ("/api/orders?page=0", 400, "bad_request", "pages"),
        ("/api/orders?size=1000", 400, "bad_request", "100"),
        ("/api/customers?page=x", 400, "bad_request", "page"),
    ];
    for (path, status, code, word) in cases {
        let (found, value) = get(&app, path).await;
        assert_eq!((found.as_u16(), value["error"]["code"].as_str()), (status, Some(code)), "{path}");
        assert!(value["error"]["message"].as_str().is_some_and(|message| message.contains(word)), "{path}: {value}");
    }
}

#[tokio::test]
async fn articles_are_found_whatever_is_typed() {
    let app = router(shop());
    assert_eq!(get(&app, "/api/articles").await.1["items"].as_array().map(Vec::len), Some(60));
    // (query, the first article; empty for none)
    let cases = [
        ("returns+policy", "returns-policy"),
        ("warranty", "warranty"),
        ("warranties", "warranty"),
        ("washing+merino", "care-merino"),
        ("size+boots", "size-guide-boots"),
        ("%22", ""),
        ("*", ""),
        ("%22returns", "gift-returns"),
        ("NEAR%28returns+policy%29", ""),
        ("returns+AND+NOT+OR", ""),
        ("title%3Awarranty", ""),
        ("zzzzz", ""),
        ("%22%29%3B+DROP+TABLE+articles%3B--", ""),
        ("%00", ""),
    ];
    for (query, first) in cases {
        let (status, value) = get(&app, &format!("/api/articles?q={query}")).await;
        assert_eq!(status, StatusCode::OK, "{query}: {value}");
        let found = value["items"][0]["slug"].as_str().unwrap_or_default();
        assert!(first.is_empty() || found == first, "{query}: {found}");
    }
    let article = get(&app, "/api/articles/returns-policy").await.1;
    assert!(article["body"].as_str().is_some_and(|body| body.contains("60 days")), "{article}");
}

#[tokio::test]
async fn an_order_is_refunded_once() {
    let store = shop();
    let desk = Desk::new(Arc::clone(&store));
    let refund = |order: &str| json!({ "order_id": order, "reason": "arrived damaged" });
    let first = desk.call("order_refund", refund("A-1042"), "call-1").await.expect("a refund");
    assert_eq!((&first["status"], &first["id"]), (&json!("refunded"), &json!("A-1042")));

    let replay = desk.call("order_refund", refund("a-1042"), "call-1").await.expect("the first answer");
    assert_eq!(replay, first, "the same call gets the same answer");
    let (code, message) = desk.call("order_refund", refund("A-1042"), "call-2").await.expect_err("once only");
    assert_eq!(code, "conflict");
    assert!(message.contains("already refunded"), "{message}");
    let (code, _) = desk.call("order_refund", refund("A-1043"), "call-1").await.expect_err("the id was used");
    assert_eq!(code, "conflict");

    let order = get(&router(store), "/api/orders/A-1042").await.1;
    assert_eq!((&order["status"], &order["refund"]["reason"]), (&json!("refunded"), &json!("arrived damaged")));
    assert_eq!(order["refund"]["amount_cents"], order["total_cents"]);
    let refunds = order["history"].to_string().matches("Refunded").count();
    assert_eq!(refunds, 1, "{order}");
}

#[tokio::test]
async fn calls_at_the_same_time_refund_once() {
    let desk = Desk::new(shop());
    let calls = (0..8).map(|call| {
        let arguments = json!({ "order_id": "A-1043", "reason": "lost twice" });
        let desk = &desk;
        async move { desk.call("order_refund", arguments, &format!("call-{call}")).await }
    });
    let results = futures::future::join_all(calls).await;
    assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 1, "{results:?}");
}

#[tokio::test]
async fn a_refund_that_may_not_be_changes_nothing() {
    let store = shop();
    let desk = Desk::new(Arc::clone(&store));
    let app = router(store);
    let pending = get(&app, "/api/orders?status=pending&size=1").await.1["items"][0]["id"].clone();
    let cancelled = get(&app, "/api/orders?status=cancelled&size=1").await.1["items"][0]["id"].clone();
    let before = get(&app, "/api/summary").await.1;
    let cases = [
        (json!({ "order_id": pending, "reason": "no more wanted" }), "conflict", "pending"),
        (json!({ "order_id": cancelled, "reason": "no more wanted" }), "conflict", "cancelled"),
        (
            json!({ "order_id": "A-1042", "reason": "too much", "amount_cents": 99_999_999 }),
            "invalid_arguments",
            "total",
        ),
        (json!({ "order_id": "A-9999", "reason": "not there" }), "not_found", "A-9999"),
    ];
    for (arguments, code, word) in cases {
        let (found, message) = desk.call("order_refund", arguments.clone(), "call-x").await.expect_err("refused");
        assert!(found == code && message.contains(word), "{arguments}: {found} {message}");
    }
    assert_eq!(get(&app, "/api/summary").await.1, before);
    let partial = json!({ "order_id": "A-1042", "reason": "one mat was wet", "amount_cents": 5000 });
    assert_eq!(desk.call("order_refund", partial, "call-y").await.expect("a part")["refunded_cents"], 5000);
}

#[tokio::test]
async fn reading_tools_answer_with_what_a_model_needs() {
    let desk = Desk::new(shop());
    let status = desk.call("order_status", json!({ "order_id": "1042" }), "").await.expect("a status");
    for (key, value) in [
        ("id", "A-1042"),
        ("status", "shipped"),
        ("customer", "Maya Lindqvist"),
        ("carrier", "DHL"),
        ("tracking_number", "JD014600003RE1042"),
        ("screen", "/orders/A-1042"),
    ] {
        assert_eq!(status[key], value, "{key}");
    }
    let (code, message) = desk.call("order_status", json!({ "order_id": "A-7" }), "").await.expect_err("none");
    assert!(code == "not_found" && message.contains("order_search"), "{code} {message}");

    let found = desk.call("order_search", json!({ "q": "Lindqvist", "limit": 3 }), "").await.expect("orders");
    assert_eq!(found["orders"].as_array().map(Vec::len), Some(3));
    assert!(found["total"].as_i64() > Some(3), "{found}");
    let late = desk.call("order_search", json!({ "status": "late" }), "").await.expect("orders");
    assert!(late["total"].as_i64() > Some(3), "{late}");

    let found = desk.call("kb_search", json!({ "q": "returns policy" }), "").await.expect("articles");
    assert_eq!(found["articles"][0]["screen"], "/help/returns-policy");
    let found = desk.call("kb_search", json!({ "q": "\" NEAR( * ^ zzz" }), "").await.expect("hostile input is words");
    assert!(found["articles"].is_array());
}

#[test]
fn the_demo_model_reads_what_the_tools_answer() {
    // The last words of a run of these sentences, with the shop's own tools.
    let cases: [(&[&str], &[&str]); 7] = [
        (
            &["where is order A-1042?"],
            &["**shipped**", "DHL", "`JD014600003RE1042`", "Maya Lindqvist", "12 November 2026"],
        ),
        (&["compare A-1042 and A-1043"], &["| [A-1043](/orders/A-1043) |", "delivered"]),
        (&["find orders of Lindqvist"], &["orders with “Lindqvist”", "Maya Lindqvist"]),
        (&["what is our returns policy?"], &["60 days", "[Returns policy](/help/returns-policy)"]),
        (&["help with warranties"], &["[Warranty](/help/warranty)"]),
        (
            &["refund A-1042 because it arrived damaged", "refund A-1042 because it arrived damaged"],
            &["already refunded"],
        ),
        (&["where is A-1999?"], &["no order `A-1999`"]),
    ];
    for (sentences, words) in cases {
        let mut shop = crate::demo_model::Talk::new().in_world(shop_tools());
        let mut text = String::new();
        for sentence in sentences {
            text = shop.say(sentence).1;
        }
        for word in words {
            assert!(text.contains(word), "{sentences:?}: no \"{word}\" in: {text}");
        }
    }
}

fn shop_tools() -> impl Fn(&str, &Value) -> Result<Value, ToolError> {
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    let served = ServerTools::new(tools(shop())).expect("every definition is accepted");
    move |name, arguments| {
        served.registry().schema(name).expect("a served tool").check(arguments).expect("arguments fit");
        let context = CallContext::alone(name, "").expect("artifacts in memory");
        let call = served.call(name, arguments.clone(), context).expect("a served tool");
        match runtime.block_on(call) {
            Outcome::Result(value) => Ok(value),
            Outcome::Error(error) => Err(error),
            Outcome::Interim(job) => panic!("began a job: {}", job.id),
            Outcome::NeedsApproval { reason, .. } => panic!("asked for approval: {reason}"),
        }
    }
}
