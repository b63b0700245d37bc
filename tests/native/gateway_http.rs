//! Tools that are requests to another server: what is sent, what its answer becomes, and where nothing is ever sent.

use std::io;
use std::net::IpAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::response::{IntoResponse, Response};
use futures::future::BoxFuture;
use pagehand::gateway::net::{Lookup, is_public};
use pagehand::gateway::{Builder, Gateway};
use serde_json::{Value, json};

use crate::gateway_support::{Backend, Door, Folder, Seen, config, json_answer};

const SECRET: &str = "canary-7c0ffee5ecret";

fn builder(folder: &Folder, text: &str) -> Builder {
    let mut setup = config();
    setup.user_header = Some("x-user".to_owned());
    setup.claims_header = Some("x-claims".to_owned());
    setup.tools = Some(folder.write("tools.toml", text));
    Gateway::builder(setup).variables(|name| (name == "SHOP_KEY").then(|| SECRET.to_owned()))
}

// One tool with this [tool.http], its arguments these properties.
fn one(port: u16, properties: &str, required: &str, more: &str, http: &str) -> String {
    format!(
        r#"
allowHosts = ["127.0.0.1:{port}", "shop.test:{port}"]

[[tool]]
name = "shop_call"
owner = "shop"
description = "Asks the shop's own server, for the tests of this gateway. Returns what it answers."
{more}
[tool.parameters]
type = "object"
required = [{required}]
[tool.parameters.properties]
{properties}
[tool.http]
{}
"#,
        http.replace("PORT", &port.to_string())
    )
}

const ORDER: &str = r#"id = {}
lines = { type = "boolean" }
tags = { type = "array" }
note = {}
"#;

fn ok(_: &Seen) -> Response {
    json_answer(200, &json!({ "ok": true }))
}

struct Case {
    risk: &'static str,
    http: &'static str,
    arguments: Value,
    sent: &'static str,
    body: Value,
}

#[tokio::test]
async fn arguments_go_where_the_configuration_says() {
    let cases = [
        Case {
            risk: "read",
            http: "url = \"http://127.0.0.1:PORT/orders/{id}\"",
            arguments: json!({ "id": "A-1 ä/ü?#&%", "lines": true, "tags": ["a b", "c&d"], "note": null }),
            sent: "GET /orders/A-1%20%C3%A4%2F%C3%BC%3F%23%26%25?lines=true&tags=a+b&tags=c%26d",
            body: Value::Null,
        },
        Case {
            risk: "read",
            http: "url = \"http://127.0.0.1:PORT/v{{1}}/o-{id}.json?fixed=1&also={note}\"\nquery = { expand = \"all\", tag = \"{tags}\", only = \"x-{note}\" }",
            arguments: json!({ "id": 7, "tags": [1, true] }),
            sent: "GET /v%7B1%7D/o-7.json?fixed=1&expand=all&tag=1&tag=true",
            body: Value::Null,
        },
        Case {
            risk: "write",
            http: "method = \"POST\"\nurl = \"http://127.0.0.1:PORT/orders/{id}/notes\"",
            arguments: json!({ "id": "A-1", "note": "{env.SHOP_KEY} {id}", "tags": [1, { "x": null }] }),
            sent: "POST /orders/A-1/notes",
            body: json!({ "note": "{env.SHOP_KEY} {id}", "tags": [1, { "x": null }] }),
        },
        Case {
            risk: "write",
            http: "method = \"PUT\"\nurl = \"http://127.0.0.1:PORT/o/{id}\"\nbody = { order = { note = \"{note}\", by = \"user {user.id}\", n = 5, tags = [\"{tags}\", \"{lines}\"] }, gone = \"{lines}\" }",
            arguments: json!({ "id": "A-1", "note": { "deep": [1] }, "tags": [1] }),
            sent: "PUT /o/A-1",
            body: json!({ "order": { "note": { "deep": [1] }, "by": "user ada", "n": 5, "tags": [[1]] } }),
        },
        Case {
            risk: "irreversible",
            http: "method = \"DELETE\"\nurl = \"http://127.0.0.1:PORT/o/{id}\"",
            arguments: json!({ "id": "A-1", "note": "why" }),
            sent: "DELETE /o/A-1?note=why",
            body: Value::Null,
        },
    ];
    for case in cases {
        let backend = Backend::start(ok).await;
        let folder = Folder::new();
        let http = format!(
            "{}\nheaders = {{ authorization = \"Bearer {{env.SHOP_KEY}}\", x-user = \"{{user.id}}\", x-tier = \"{{user.tier}}\" }}",
            case.http
        );
        let text = one(backend.port, ORDER, "\"id\"", &format!("risk = \"{}\"", case.risk), &http);
        let door = Door::built(builder(&folder, &text));
        let headers = [("x-user", "ada"), ("x-claims", r#"{"tier":3}"#), ("idempotency-key", "call-1")];
        let answer = door.post("shop_call", &headers, &json!({ "arguments": case.arguments })).await;
        assert_eq!(answer.json(), json!({ "result": { "ok": true } }), "{}", case.http);
        let [seen] = backend.taken().try_into().expect("one request");
        assert_eq!(format!("{} {}", seen.method, seen.path), case.sent);
        let body: Value = serde_json::from_str(&seen.body).unwrap_or_default();
        assert_eq!(body, case.body, "{}", case.http);
        for (name, value) in [
            ("authorization", format!("Bearer {SECRET}").as_str()),
            ("x-user", "ada"),
            ("x-tier", "3"),
            ("idempotency-key", "call-1"),
        ] {
            assert_eq!(seen.headers[name], value, "{}", case.http);
        }
    }
}

#[tokio::test]
async fn a_body_is_json_unless_another_kind_is_said() {
    for (said, kind) in
        [("", "application/json"), ("content-type = \"application/vnd.api+json\"", "application/vnd.api+json")]
    {
        let backend = Backend::start(ok).await;
        let folder = Folder::new();
        let http = format!("method = \"POST\"\nurl = \"http://127.0.0.1:PORT/x\"\nheaders = {{ {said} }}");
        let door = Door::built(builder(&folder, &one(backend.port, "", "", "risk = \"write\"", &http)));
        door.call("shop_call", &json!({})).await;
        let [seen] = backend.taken().try_into().expect("one request");
        let kinds: Vec<&str> =
            seen.headers.get_all("content-type").iter().filter_map(|kind| kind.to_str().ok()).collect();
        assert_eq!((kinds, seen.body.as_str()), (vec![kind], "{}"));
    }
}

#[tokio::test]
async fn hostile_arguments_are_not_sent() {
    let backend = Backend::start(ok).await;
    let folder = Folder::new();
    let http = "url = \"http://127.0.0.1:PORT/orders/{id}/lines\"\nheaders = { x-note = \"{note}\" }";
    let door = Door::built(builder(&folder, &one(backend.port, ORDER, "\"id\"", "risk = \"read\"", http)));
    let refused = [
        json!({ "id": ".." }),
        json!({ "id": "." }),
        json!({ "id": "" }),
        json!({ "id": "../admin" }),
        json!({ "id": "..\\admin" }),
        json!({ "id": "a/../../admin" }),
        json!({ "id": "%2e%2e" }),
        json!({ "id": "%2E%2e%2fadmin" }),
        json!({ "id": "%252e%252e%252fadmin" }),
        json!({ "id": "%25252525252e" }),
        json!({ "id": "a\r\nHost: evil" }),
        json!({ "id": "a\u{0}b" }),
        json!({ "id": ["a"] }),
        json!({ "id": { "a": 1 } }),
        json!({ "id": "A-1", "note": "a\r\nX-Admin: 1" }),
        json!({ "id": "A-1", "note": "a\nb" }),
        json!({ "id": "A-1", "note": ["a"] }),
        json!({ "id": "A-1", "tags": [{}] }),
    ];
    for arguments in refused {
        let told = door.call("shop_call", &arguments).await;
        assert_eq!(told["error"]["code"], "invalid_arguments", "{arguments}: {told}");
        assert!(told["error"]["message"].as_str().is_some_and(|words| words.contains("Nothing was run")), "{told}");
    }
    assert_eq!(backend.taken().len(), 0);
    let harmless = [
        (json!({ "id": "..." }), "/orders/.../lines"),
        (json!({ "id": "a..b" }), "/orders/a..b/lines"),
        (json!({ "id": "100%" }), "/orders/100%25/lines"),
        (json!({ "id": "http://evil.example/x?y#z@" }), "/orders/http%3A%2F%2Fevil.example%2Fx%3Fy%23z%40/lines"),
        (json!({ "id": ";a=b,c" }), "/orders/%3Ba%3Db%2Cc/lines"),
    ];
    for (arguments, path) in harmless {
        door.call("shop_call", &arguments).await;
        let seen = backend.taken();
        assert_eq!(seen.first().map(|seen| seen.path.as_str()), Some(path), "{arguments}");
    }
}

#[tokio::test]
async fn who_is_not_known_is_not_acted_for() {
    let backend = Backend::start(ok).await;
    let folder = Folder::new();
    let http = "url = \"http://127.0.0.1:PORT/users/{user.id}/orders\"\nheaders = { x-tenant = \"{user.tenant}\" }";
    let door = Door::built(builder(&folder, &one(backend.port, "", "", "risk = \"read\"", http)));
    let body = json!({ "arguments": {}, "context": { "state": { "user:id": "root" } } });
    let cases = [
        (vec![], "refused", 0),
        (vec![("x-user", "ada")], "refused", 0),
        (vec![("x-user", "ada"), ("x-claims", r#"{"tenant":["a"]}"#)], "refused", 0),
        (vec![("x-user", ".."), ("x-claims", r#"{"tenant":"t"}"#)], "invalid_arguments", 0),
        (vec![("x-user", "ada"), ("x-claims", "{\"tenant\":\"t\\r\\nx-admin: 1\"}")], "invalid_arguments", 0),
        (vec![("x-user", "a/b"), ("x-claims", r#"{"tenant":"t"}"#)], "", 1),
    ];
    for (headers, code, sent) in cases {
        let told = door.post("shop_call", &headers, &body).await.json();
        assert_eq!(told["error"]["code"].as_str().unwrap_or_default(), code, "{headers:?}: {told}");
        let seen = backend.taken();
        assert_eq!(seen.len(), sent, "{headers:?}");
        assert!(seen.iter().all(|seen| seen.path == "/users/a%2Fb/orders"), "{seen:?}");
    }
}

// The path says what to answer; every answer holds the secret that came with the request.
fn answers(seen: &Seen) -> Response {
    let secret = seen.headers.get("authorization").and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned();
    let told = json!({ "data": { "order": 1, "echo": secret, secret.as_str(): [secret.as_str()] }, "why": format!("no: {secret}") });
    let path = seen.path.trim_start_matches('/');
    if let Ok(status) = path.parse::<u16>() {
        let mut answer = json_answer(status, &told);
        answer.headers_mut().insert("retry-after", "7".parse().expect("a header"));
        let inside = format!("http://169.254.169.254/latest?{secret}").parse().expect("a header");
        answer.headers_mut().insert("location", inside);
        return answer;
    }
    match path {
        "broken" => ([("content-type", "application/json")], format!("{{\"a\": {secret}")).into_response(),
        "text" => ([("content-type", "text/plain")], format!("plain words {secret}")).into_response(),
        "image" => ([("content-type", "image/png")], secret).into_response(),
        "nothing" => axum::http::StatusCode::NO_CONTENT.into_response(),
        "huge" => ([("content-type", "application/json")], format!("\"{}\"", "x".repeat(3000))).into_response(),
        _ => json_answer(200, &told),
    }
}

#[tokio::test]
async fn an_answer_becomes_the_tools_and_the_secret_is_nowhere() {
    // (path, replay, more of http, the result or the error's code, whether it is worth repeating, a word)
    let cases = [
        ("good", "pure", "", "", false, "\"order\":1"),
        ("good", "pure", "result = \"/data/order\"", "", false, "1"),
        ("good", "pure", "result = \"/no/such\"", "tool_error", false, "/no/such"),
        ("text", "pure", "", "", false, "plain words"),
        ("nothing", "pure", "", "", false, "null"),
        ("201", "pure", "", "", false, "\"order\":1"),
        ("broken", "pure", "", "tool_error", false, "no JSON"),
        ("image", "pure", "", "tool_error", false, "neither JSON nor text"),
        ("huge", "pure", "maxBytes = 2000", "tool_error", false, "longer than 2000 bytes"),
        ("huge", "pure", "maxBytes = 4000", "", false, "xxx"),
        ("302", "pure", "", "tool_error", false, "redirect"),
        ("307", "pure", "", "tool_error", false, "redirect"),
        ("400", "pure", "error = \"/why\"", "invalid_arguments", false, "no: "),
        ("422", "pure", "", "invalid_arguments", false, "does not take"),
        ("401", "pure", "", "refused", false, "refused"),
        ("403", "pure", "error = \"/why\"", "refused", false, "no: "),
        ("404", "pure", "", "not_found", false, "no such thing"),
        ("410", "pure", "", "not_found", false, "no such thing"),
        ("409", "pure", "error = \"/no/such\"", "conflict", false, "forbids"),
        ("412", "pure", "", "conflict", false, "forbids"),
        ("418", "pure", "", "tool_error", false, "418"),
        ("429", "effect", "", "busy", true, "7 s"),
        ("500", "pure", "", "tool_error", true, "failed"),
        ("503", "idempotent", "", "tool_error", true, "failed"),
        ("502", "effect", "", "tool_error", false, "unknown"),
    ];
    for (path, replay, more, code, retryable, word) in cases {
        let backend = Backend::start(answers).await;
        let folder = Folder::new();
        let http = format!(
            "url = \"http://127.0.0.1:PORT/{path}\"\nheaders = {{ authorization = \"Bearer {{env.SHOP_KEY}}\" }}\n{more}"
        );
        let definition = format!("risk = \"write\"\nreplay = \"{replay}\"");
        let door = Door::built(builder(&folder, &one(backend.port, "", "", &definition, &http)));
        let answer = door.post("shop_call", &[], &json!({ "arguments": {} })).await;
        let told = answer.json();
        assert_eq!(told["error"]["code"].as_str().unwrap_or_default(), code, "{path} {more}: {told}");
        assert_eq!(told["error"]["retryable"].as_bool().unwrap_or_default(), retryable, "{path}: {told}");
        assert!(answer.text.contains(word), "{path} {more}: no {word} in {told}");
        assert!(!answer.text.contains(SECRET), "{path} {more}: {told}");
        assert_eq!(backend.taken().len(), 1, "{path}: no redirect is followed, nothing is sent twice");
    }
}

#[tokio::test]
async fn a_server_that_is_slow_cut_off_or_not_there() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let silent = tokio::spawn(async move {
        let mut open = Vec::new();
        while let Ok((socket, _)) = listener.accept().await {
            open.push(socket);
        }
    });
    let cutting = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let cut_port = cutting.local_addr().expect("an address").port();
    let cuts = tokio::spawn(async move {
        while let Ok((mut socket, _)) = cutting.accept().await {
            use tokio::io::{AsyncReadExt, AsyncWriteExt};
            let _ = socket.read(&mut [0; 1024]).await;
            let _ = socket.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{\"a\":").await;
        }
    });
    let free =
        tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port").local_addr().expect("an address").port();
    // (port, replay, code, whether it is worth repeating)
    let cases = [
        (port, "effect", "timeout", false),
        (cut_port, "effect", "tool_error", false),
        (cut_port, "pure", "tool_error", true),
        (free, "effect", "unreachable", true),
    ];
    for (port, replay, code, retryable) in cases {
        let folder = Folder::new();
        let http = "url = \"http://127.0.0.1:PORT/slow\"\ntimeoutMs = 200";
        let definition = format!("risk = \"write\"\nreplay = \"{replay}\"");
        let door = Door::built(builder(&folder, &one(port, "", "", &definition, http)));
        let began = std::time::Instant::now();
        let told = door.call("shop_call", &json!({})).await;
        assert_eq!((&told["error"]["code"], &told["error"]["retryable"]), (&json!(code), &json!(retryable)), "{told}");
        assert!(began.elapsed() < Duration::from_secs(5));
        assert!(!told.to_string().contains("127.0.0.1"), "the model needs no address: {told}");
    }
    silent.abort();
    cuts.abort();
}

// Names and the addresses they lead to, and which were asked for.
struct Names {
    table: Vec<(&'static str, Vec<&'static str>)>,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Lookup for Names {
    fn lookup(&self, host: String) -> BoxFuture<'static, io::Result<Vec<IpAddr>>> {
        let found = self.table.iter().find(|(name, _)| *name == host).map(|(_, addresses)| addresses.clone());
        self.asked.lock().expect("no test panicked in here").push(host);
        Box::pin(async move {
            let found = found.ok_or_else(|| io::Error::other("no such name"))?;
            Ok(found.iter().map(|address| address.parse().expect("an address")).collect())
        })
    }
}

#[tokio::test]
async fn a_name_that_leads_inside_is_not_reached() {
    let backend = Backend::start(ok).await;
    // (host, its addresses, code)
    let cases = [
        ("rebind.test", vec!["127.0.0.1"], "refused"),
        ("rebind.test.", vec!["127.0.0.1"], "refused"),
        ("mixed.test", vec!["93.184.216.34", "10.0.0.1"], "refused"),
        ("meta.test", vec!["169.254.169.254"], "refused"),
        ("mapped.test", vec!["::ffff:127.0.0.1"], "refused"),
        ("nat64.test", vec!["64:ff9b::a9fe:a9fe"], "refused"),
        ("empty.test", vec![], "unreachable"),
        // The configuration allows this one with its port, wherever it leads.
        ("shop.test", vec!["127.0.0.1"], ""),
        ("shop.test.", vec!["127.0.0.1"], ""),
        ("SHOP.test", vec!["127.0.0.1"], ""),
    ];
    for (host, addresses, code) in cases {
        let folder = Folder::new();
        let asked = Arc::default();
        let known: &'static str = Box::leak(host.trim_end_matches('.').to_lowercase().into_boxed_str());
        let names = Names { table: vec![(known, addresses)], asked: Arc::clone(&asked) };
        let http = format!("url = \"http://{host}:PORT/x\"");
        let door = Door::built(builder(&folder, &one(backend.port, "", "", "risk = \"read\"", &http)).lookup(names));
        let told = door.call("shop_call", &json!({})).await;
        assert_eq!(told["error"]["code"].as_str().unwrap_or_default(), code, "{host}: {told}");
        assert_eq!(backend.taken().len(), usize::from(code.is_empty()), "{host}");
        let asked = asked.lock().expect("no test panicked in here");
        assert!(!asked.is_empty() && asked.iter().all(|name| name == known), "one lookup, without the dot: {asked:?}");
    }
}

#[test]
fn addresses_inside_are_told_from_public_ones() {
    let inside = [
        "0.0.0.0",
        "0.1.2.3",
        "10.0.0.0",
        "10.255.255.255",
        "100.64.0.0",
        "100.127.255.255",
        "127.0.0.1",
        "127.255.255.254",
        "169.254.0.1",
        "169.254.169.254",
        "172.16.0.0",
        "172.31.255.255",
        "192.0.0.1",
        "192.0.0.170",
        "192.0.2.1",
        "192.88.99.1",
        "192.168.0.0",
        "192.168.255.255",
        "198.18.0.0",
        "198.19.255.255",
        "198.51.100.7",
        "203.0.113.7",
        "224.0.0.1",
        "239.255.255.255",
        "240.0.0.0",
        "255.255.255.255",
        "::",
        "::1",
        "::7f00:1",
        "::ffff:0:0",
        "::ffff:127.0.0.1",
        "::ffff:10.1.2.3",
        "::ffff:169.254.169.254",
        "64:ff9b::7f00:1",
        "64:ff9b::a9fe:a9fe",
        "64:ff9b::a00:1",
        "64:ff9b:1::1",
        "100::1",
        "2001::1",
        "2001:0:7f00:1::",
        "2001:2::1",
        "2001:10::1",
        "2001:1ff::1",
        "2001:db8::1",
        "2002:7f00:1::",
        "2002:a9fe:a9fe::",
        "2002:c0a8:1::1",
        "3fff::1",
        "5f00::1",
        "fc00::1",
        "fd12:3456::1",
        "fe80::1",
        "febf::1",
        "fec0::1",
        "feff::1",
        "ff02::1",
        "4000::1",
    ];
    let public = [
        "1.1.1.1",
        "8.8.8.8",
        "9.255.255.255",
        "11.0.0.0",
        "100.63.255.255",
        "100.128.0.0",
        "126.0.0.1",
        "128.0.0.1",
        "169.253.0.1",
        "169.255.0.1",
        "172.15.255.255",
        "172.32.0.0",
        "192.0.1.1",
        "192.167.0.1",
        "192.169.0.1",
        "198.17.0.1",
        "198.20.0.1",
        "223.255.255.255",
        "::ffff:8.8.8.8",
        "64:ff9b::808:808",
        "2002:808:808::1",
        "2001:200::1",
        "2001:4860:4860::8888",
        "2606:4700::1111",
        "2a00::1",
        "3fff:1000::1",
    ];
    for (addresses, expected) in [(&inside[..], false), (&public[..], true)] {
        for address in addresses {
            assert_eq!(is_public(address.parse().expect("an address")), expected, "{address}");
        }
    }
}

#[tokio::test]
async fn a_configuration_that_would_reach_inside_is_refused_at_the_start() {
    // (http, words)
    let cases = [
        ("url = \"http://localhost/x\"", "localhost"),
        ("url = \"http://localhost./x\"", "localhost"),
        ("url = \"http://db.internal/x\"", "allowHosts"),
        ("url = \"http://127.0.0.1:1/x\"", "127.0.0.1"),
        ("url = \"http://127.1:1/x\"", "127.0.0.1"),
        ("url = \"http://0x7f000001:1/x\"", "127.0.0.1"),
        ("url = \"http://2130706433:1/x\"", "127.0.0.1"),
        ("url = \"http://0177.0.0.1:1/x\"", "127.0.0.1"),
        ("url = \"http://127.0.0.1.:1/x\"", "127.0.0.1"),
        ("url = \"http://[::1]:1/x\"", "[::1]"),
        ("url = \"http://[::ffff:127.0.0.1]:1/x\"", "inside of a network"),
        ("url = \"http://[64:ff9b::a9fe:a9fe]/x\"", "inside of a network"),
        ("url = \"http://169.254.169.254/latest/meta-data\"", "169.254.169.254"),
        ("url = \"http://１２７.0.0.1/x\"", "127.0.0.1"),
        ("url = \"http://{id}/x\"", "placeholder"),
        ("url = \"http://{id}.example.com/x\"", "placeholder"),
        ("url = \"{id}://api.example.com/x\"", "placeholder"),
        ("url = \"http://api.example.com:{id}/x\"", "placeholder"),
        ("url = \"http://user:{id}@api.example.com/x\"", "placeholder"),
        ("url = \"http://user:pass@api.example.com/x\"", "password"),
        ("url = \"file:///etc/passwd\"", "file"),
        ("url = \"gopher://api.example.com/x\"", "gopher"),
        ("url = \"/orders\"", "url"),
        ("url = \"http://api.example.com/x#{id}\"", "#"),
        ("url = \"http://api.example.com/{id\"", "brace"),
        ("url = \"http://api.example.com/}\"", "brace"),
        ("url = \"http://api.example.com/{}\"", "brace"),
        ("url = \"http://api.example.com/{nobody}\"", "{nobody}"),
        ("url = \"http://api.example.com/{note}\"", "must require it"),
        ("url = \"http://api.example.com/x?key={env.SHOP_KEY}\"", "outside of a header"),
        (
            "url = \"http://api.example.com/x\"\nmethod = \"POST\"\nbody = { k = \"{env.SHOP_KEY}\" }",
            "outside of a header",
        ),
        ("url = \"http://api.example.com/x\"\nmethod = \"POST\"\nbody = { k = \"{id}\" }", "\"note\" goes nowhere"),
        ("url = \"http://api.example.com/x\"\nbody = { k = 1 }", "its method sends none"),
        ("url = \"http://api.example.com/x\"\nmethod = \"TRACE\"", "its method must be"),
        ("url = \"http://api.example.com/x\"\nheaders = { host = \"evil\" }", "not for a tool to set"),
        ("url = \"http://api.example.com/x\"\nheaders = { \"a b\" = \"x\" }", "no name of a header"),
        ("url = \"http://api.example.com/x\"\nheaders = { a = \"x\\r\\ny\" }", "line break"),
        ("url = \"http://api.example.com/x\"\nheaders = { a = \"{env.NOT_SET}\" }", "NOT_SET is not set"),
        ("url = \"http://api.example.com/x\"\ntimeoutMs = 0", "timeoutMs"),
        ("url = \"http://api.example.com/x\"\nmaxBytes = 99999999", "maxBytes"),
        ("url = \"http://api.example.com/x\"\nresult = \"data\"", "JSON pointer"),
        ("url = \"http://api.example.com/x\"\nretries = 3", "\"retries\""),
        ("url = \"http://api.example.com/a/../{id}\"", "a step"),
        ("url = \"http://api.example.com/a/%2e%2e/{id}\"", "a step"),
        ("method = \"GET\"", "no url"),
    ];
    for (http, words) in cases {
        let folder = Folder::new();
        let text = one(9, "id = {}\nnote = {}", "\"id\"", "risk = \"read\"", http);
        let why = builder(&folder, &text).build().err().unwrap_or_else(|| panic!("{http} was taken"));
        assert!(why.contains(words), "{http}: {why}");
        assert!(why.contains("shop_call") && why.contains("shop") && why.contains("tools.toml"), "whose it is: {why}");
        assert!(!why.contains(SECRET), "{why}");
    }
}

// What all tests of this program log, of lines that matter here. For the whole program: what one thread listens to,
// another one's first call may switch off.
#[derive(Clone, Copy)]
struct Log;

static LINES: Mutex<String> = Mutex::new(String::new());

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let line = String::from_utf8_lossy(bytes);
        if line.contains("shop_call") || line.contains(SECRET) {
            LINES.lock().expect("no test panicked in here").push_str(&line);
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn the_secret_is_in_no_log() {
    let subscriber =
        tracing_subscriber::fmt().with_max_level(tracing::Level::TRACE).with_ansi(false).with_writer(|| Log);
    tracing::subscriber::set_global_default(subscriber.finish()).expect("no other test listens");
    for path in ["good", "text", "broken", "image", "huge", "302", "401", "500"] {
        let backend = Backend::start(answers).await;
        let folder = Folder::new();
        let http = format!(
            "url = \"http://127.0.0.1:PORT/{path}\"\nheaders = {{ authorization = \"Bearer {{env.SHOP_KEY}}\" }}\nmaxBytes = 2000\nerror = \"/why\""
        );
        let door = Door::built(builder(&folder, &one(backend.port, "", "", "risk = \"read\"", &http)));
        door.call("shop_call", &json!({})).await;
        door.get("/tools").await;
        assert_eq!(backend.taken().len(), 1, "it was sent");
    }
    let lines = LINES.lock().expect("no test panicked in here");
    assert!(lines.contains("failed tool=shop_call"), "it was logged: {lines}");
    assert!(!lines.contains(SECRET), "{}", lines.lines().find(|line| line.contains(SECRET)).unwrap_or_default());
}
