//! A gateway without a socket, a backend with one, and folders that go away.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use pagehand::gateway::tools::{CallContext, ServerTool};
use pagehand::gateway::{Builder, Config, Gateway};
use pagehand::protocol::{Outcome, Risk, Scope};
use pagehand::tools::Definition;
use serde_json::{Value, json};
use tower::ServiceExt;

/// A configuration that says nothing.
pub(crate) fn config() -> Config {
    Config::read(Vec::new(), |_| None).expect("nothing is wrong with nothing").expect("no help was asked for")
}

/// A gateway's routes.
#[derive(Clone)]
pub(crate) struct Door(pub(crate) Router);

/// An answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) text: String,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|why| panic!("no JSON ({why}): {}", self.text))
    }

    /// The events of a stream: names and data.
    pub(crate) fn events(&self) -> Vec<(String, Value)> {
        let frames = self.text.split("\n\n").filter(|frame| frame.starts_with("event: "));
        let read = |frame: &str| {
            let (event, data) = frame.split_once("\ndata: ").expect("an event has data");
            (event["event: ".len()..].to_owned(), serde_json::from_str(data).expect("data is JSON"))
        };
        frames.map(read).collect()
    }
}

impl Door {
    pub(crate) fn of(tools: Vec<ServerTool>) -> Self {
        Self::built(Gateway::builder(config()).tools(tools))
    }

    pub(crate) fn built(builder: Builder) -> Self {
        Self(builder.build().expect("a gateway"))
    }

    pub(crate) async fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: Option<&Value>,
    ) -> Answer {
        self.send_text(method, path, headers, &body.map(Value::to_string).unwrap_or_default()).await
    }

    /// The same with a body that need not be JSON; an empty one is none.
    pub(crate) async fn send_text(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        let mut request = Request::builder().method(method).uri(path).header("host", "localhost");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        if !body.is_empty() {
            request = request.header("content-type", "application/json");
        }
        let body = Body::from(body.to_owned());
        let response =
            self.0.clone().oneshot(request.body(body).expect("a request")).await.expect("routers do not fail");
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let bytes = to_bytes(response.into_body(), 8 << 20).await.expect("a body");
        Answer { status, headers, text: String::from_utf8(bytes.to_vec()).expect("UTF-8") }
    }

    pub(crate) async fn get(&self, path: &str) -> Value {
        self.send("GET", path, &[], None).await.json()
    }

    /// A call with a body of one's own, and a key of its own unless one is given.
    pub(crate) async fn post(&self, tool: &str, headers: &[(&str, &str)], body: &Value) -> Answer {
        static CALLS: AtomicU32 = AtomicU32::new(0);
        let key = format!("call-of-its-own-{}", CALLS.fetch_add(1, Ordering::Relaxed));
        let mut all = vec![("idempotency-key", key.as_str())];
        all.retain(|(name, _)| !headers.iter().any(|(other, _)| other == name));
        all.extend(headers);
        self.send("POST", &format!("/tools/{tool}"), &all, Some(body)).await
    }

    /// A call with nothing but arguments.
    pub(crate) async fn call(&self, tool: &str, arguments: &Value) -> Value {
        self.post(tool, &[], &json!({ "arguments": arguments })).await.json()
    }
}

/// A definition of a tool that takes anything.
pub(crate) fn definition(name: &str) -> Definition {
    let words = "Does what its test wants of it. Use it in that test and nowhere else. Returns what it was made to.";
    let mut definition = Definition::new(name, words, Scope::Server, Risk::Read);
    definition.owner = "tests".to_owned();
    definition.parameters = Arc::new(json!({ "type": "object" }));
    definition
}

/// A tool of that definition.
pub(crate) fn tool<F, O>(name: &str, run: impl Fn(Value, CallContext) -> F + Send + Sync + 'static) -> ServerTool
where
    F: Future<Output = O> + Send + 'static,
    O: Into<Outcome> + 'static,
{
    ServerTool::new(definition(name), run)
}

/// A request that reached the backend.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: String,
}

impl Seen {
    /// A header's text.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }
}

/// A server that tools ask.
pub(crate) struct Backend {
    pub(crate) port: u16,
    pub(crate) seen: Arc<Mutex<Vec<Seen>>>,
    task: tokio::task::JoinHandle<()>,
}

type Reply = fn(&Seen) -> Response;

impl Backend {
    pub(crate) async fn start(reply: Reply) -> Self {
        let seen: Arc<Mutex<Vec<Seen>>> = Arc::default();
        let app = Router::new().fallback(take).with_state((Arc::clone(&seen), reply));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let task = tokio::spawn(async move { axum::serve(listener, app).await.expect("it serves") });
        Self { port, seen, task }
    }

    pub(crate) fn taken(&self) -> Vec<Seen> {
        std::mem::take(&mut self.seen.lock().expect("no test panicked in here"))
    }
}

impl Drop for Backend {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn take(State((seen, reply)): State<(Arc<Mutex<Vec<Seen>>>, Reply)>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let bytes = to_bytes(body, 1 << 20).await.unwrap_or_default();
    let one = Seen {
        method: parts.method.to_string(),
        path: parts.uri.to_string(),
        headers: parts.headers,
        body: String::from_utf8_lossy(&bytes).into_owned(),
    };
    let answer = reply(&one);
    seen.lock().expect("no test panicked in here").push(one);
    answer
}

/// A JSON answer.
pub(crate) fn json_answer(status: u16, value: &Value) -> Response {
    let status = StatusCode::from_u16(status).expect("a status");
    (status, [("content-type", "application/json")], value.to_string()).into_response()
}

/// A folder for a test.
pub(crate) struct Folder(PathBuf);

static FOLDERS: AtomicU32 = AtomicU32::new(0);

impl Folder {
    pub(crate) fn new() -> Self {
        let number = FOLDERS.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("pagehand-gateway-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a folder");
        Self(path)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.join(name);
        std::fs::write(&path, text).expect("a file");
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
