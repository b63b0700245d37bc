//! A model's server, asked by the page itself: one on this machine, or with the user's own key. Knows nothing of the loop.
//!
//! The key is in this page's memory, and where the user wants that, in this browser's storage. It goes into the head of
//! the requests and nowhere else: no log, no error, no event, no journal.

use std::cell::RefCell;
use std::pin::pin;
use std::rc::Rc;

use futures::future::{Either, select};
use futures::stream::{LocalBoxStream, StreamExt};
use gloo_net::http::Method;
use serde_json::{Map, Value};

use crate::browser::answer::{Decode, answer};
use crate::browser::fetch::{Reply, send_here_alone};
use crate::browser::{Answers, ModelInfo, sleep};
use crate::protocol::{ModelError, ModelErrorKind, ModelEvent, ModelRequest, TEXTS};
use crate::providers::{Api, Decoder, Post, Target, Vendor, error};

const MAX_ERROR_BYTES: usize = 64 * 1024;
const ERROR_MS: u64 = 10_000;
// On this machine nobody has an account.
const LOCAL: [&str; 4] = ["localhost", "127.0.0.1", "[::1]", "0.0.0.0"];

/// A model that the page asks by itself.
#[derive(Clone)]
pub struct Direct {
    vendor: &'static Vendor,
    url: String,
    model: String,
    parameters: Map<String, Value>,
    key: Rc<RefCell<Option<String>>>,
}

/// Why it can not be asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DirectError(pub String);

impl Direct {
    /// A model by what JavaScript says of it: `{provider, url, model, parameters}`.
    ///
    /// # Errors
    /// What is missing, or not known.
    pub fn read(options: &Value) -> Result<Self, DirectError> {
        let text = |name: &str| options.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        let (provider, url, model) = (text("provider"), text("url"), text("model"));
        let vendor = match provider.as_str() {
            "" if url.is_empty() => return Err(DirectError("a model needs a provider, or a url".to_owned())),
            "" => Vendor::at(&url),
            name => Vendor::find(name).ok_or_else(|| {
                let known: Vec<&str> = Vendor::all().iter().map(|vendor| vendor.name).collect();
                DirectError(format!("the provider \"{name}\" is not known; there are: {}", known.join(", ")))
            })?,
        };
        if url.is_empty() && vendor.url.is_none() {
            return Err(DirectError(format!("the provider \"{provider}\" needs a url")));
        }
        if model.is_empty() {
            return Err(DirectError("a model needs its name: model".to_owned()));
        }
        let place = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"));
        if !url.is_empty() && place.is_none_or(|place| place.is_empty() || place.contains(['?', '#', '@', ' '])) {
            let words = "url must begin with http:// or https://, and have neither a query nor a name and password";
            return Err(DirectError(words.to_owned()));
        }
        let vendor = vendor.of_address(&url);
        let url = if url.is_empty() { vendor.url.unwrap_or_default().to_owned() } else { url };
        let parameters = options.get("parameters").and_then(Value::as_object).cloned().unwrap_or_default();
        Ok(Self { vendor, url, model, parameters, key: Rc::default() })
    }

    /// Whether this can be a key: a header takes no other letters.
    #[must_use]
    pub fn is_key(text: &str) -> bool {
        !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic())
    }

    /// Gives it the key, or takes it back. What can be no key is none.
    pub fn set_key(&self, key: Option<String>) {
        *self.key.borrow_mut() = key.map(|key| key.trim().to_owned()).filter(|key| Self::is_key(key));
    }

    /// Whether it answers nobody without a key, and has none.
    #[must_use]
    pub fn wants_key(&self) -> bool {
        let has_account = self.vendor.url.is_some_and(|url| url.starts_with("https://"));
        has_account && self.key.borrow().is_none() && !LOCAL.contains(&host(&self.url))
    }

    /// Whose server its key is sent to.
    #[must_use]
    pub fn origin(&self) -> String {
        origin(&self.url).to_owned()
    }

    /// Whose it is.
    #[must_use]
    pub fn vendor(&self) -> &'static Vendor {
        self.vendor
    }

    /// As a user may choose it.
    #[must_use]
    pub fn info(&self) -> ModelInfo {
        let media = &self.vendor.media;
        ModelInfo {
            name: self.model.clone(),
            label: format!("{}, asked by this page", self.model),
            files: media.types.iter().chain(&TEXTS).map(|kind| (*kind).to_owned()).collect(),
            max_file_bytes: media.max_bytes as u64,
        }
    }

    /// What asks it.
    #[must_use]
    pub fn answers(&self) -> Answers {
        let direct = self.clone();
        Rc::new(move |request| direct.call_model(request))
    }

    fn call_model(&self, request: &ModelRequest) -> LocalBoxStream<'static, ModelEvent> {
        let key = self.key.borrow().clone();
        let target = Target::new(self.vendor, &self.url, &self.model, self.parameters.clone(), key.as_deref());
        let decoder = target.decoder(request);
        let (request, url) = (request.clone(), self.url.clone());
        let secret = key.clone();
        let opening = async move {
            let mut target = target;
            loop {
                let answer = ask(&target, target.write(&request)?, &url, key.as_deref()).await;
                let Err(refusal) = &answer else { return answer };
                let Some(unsealed) = target.unsealed(&request, refusal) else { return answer };
                target = unsealed;
            }
        };
        let events = answer(Box::pin(opening), Box::new(decoder));
        let without_key = move |event| match (event, &secret) {
            (ModelEvent::Error(error), Some(key)) => ModelEvent::Error(error::without_key(error, key)),
            (event, _) => event,
        };
        events.map(without_key).boxed_local()
    }
}

async fn ask(target: &Target, post: Post, url: &str, key: Option<&str>) -> Result<Reply, ModelError> {
    let mut headers = post.headers.clone();
    if target.vendor().api == Api::Messages {
        // It answers a page only where the page says that it knows what it does.
        headers.push(("anthropic-dangerous-direct-browser-access", "true"));
    }
    let key_header = key.map(|key| format!("{}{key}", post.key.1));
    if let Some(value) = &key_header {
        headers.push((post.key.0, value));
    }
    let mut reply = send_here_alone(Method::POST, &post.url, &headers, Some(post.body)).await.map_err(|()| {
        let words = format!(
            "The model's server at {} can not be reached from this page. Check that it is running, and that it lets this \
             page's origin ask it (CORS).",
            origin(url)
        );
        ModelError::new(ModelErrorKind::Network, words)
    })?;
    if (200..300).contains(&reply.status) {
        let page = reply.header("content-type").and_then(|kind| error::of_page(&kind));
        return page.map_or(Ok(reply), Err);
    }
    let advice = reply.retry_advice();
    let status = reply.status;
    // What is known is not kept back by a body without an end.
    let body = match select(pin!(reply.text(MAX_ERROR_BYTES)), sleep(ERROR_MS)).await {
        Either::Left((body, _)) => body.unwrap_or_default(),
        Either::Right(_) => String::new(),
    };
    Err(error::of_answer(status, advice, &body))
}

// An address without its path.
fn origin(url: &str) -> &str {
    let start = url.find("://").map_or(0, |at| at + 3);
    let end = url[start..].find('/').map_or(url.len(), |at| start + at);
    &url[..end]
}

// Without its port, too.
fn host(url: &str) -> &str {
    let place = origin(url).split_once("://").map_or("", |(_, place)| place);
    let port = place.rfind(':').filter(|at| place[at + 1..].bytes().all(|byte| byte.is_ascii_digit()));
    port.map_or(place, |at| &place[..at])
}

impl Decode for Decoder {
    fn push(&mut self, bytes: &[u8]) {
        Self::push(self, bytes);
    }

    fn finish(&mut self) {
        Self::finish(self);
    }

    fn lost(&mut self) {
        Self::lost(self);
    }

    fn next(&mut self) -> Option<ModelEvent> {
        Self::next(self)
    }
}
