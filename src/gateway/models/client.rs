//! A model's server, asked over HTTP. The one place that sends a key.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use axum::http::{HeaderMap, HeaderName, HeaderValue};
use futures::stream::{StreamExt, unfold};
use reqwest::Response;
use reqwest::header::{ACCEPT_ENCODING, CONTENT_TYPE};
use tracing::{info, warn};

use crate::gateway::models::Answering;
use crate::gateway::models::config::Upstream;
use crate::protocol::{ModelError, ModelErrorKind, ModelEvent, ModelRequest, Usage};
use crate::providers::{Decoder, Post, error};
use crate::wire::retry::{RetryAdvice, http_date};

const CONNECT: Duration = Duration::from_secs(10);
// To the first byte: a local server may load its model first.
const FIRST_BYTE: Duration = Duration::from_secs(120);
const SILENCE: Duration = Duration::from_secs(120);
// What is known of a refusal is not kept back by a body without an end.
const REFUSAL: Duration = Duration::from_secs(10);
const MAX_ERROR_BYTES: usize = 64 * 1024;

/// What a model's server says in the head of its answer of itself: ids and limits.
pub(in crate::gateway) type Head = Arc<Mutex<HeaderMap>>;

/// A client for one model.
#[derive(Clone, Debug)]
pub(super) struct Client {
    http: reqwest::Client,
    upstream: Arc<Upstream>,
}

/// What sends for all of them.
pub(super) fn http_client() -> Result<reqwest::Client, String> {
    // Fails only where a provider is installed already, which does as well.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder()
        .connect_timeout(CONNECT)
        .redirect(reqwest::redirect::Policy::none())
        .build()
        .map_err(|why| format!("no HTTP client can be made: {why}"))
}

impl Client {
    pub(super) fn new(http: reqwest::Client, upstream: Upstream) -> Self {
        Self { http, upstream: Arc::new(upstream) }
    }

    pub(super) fn upstream(&self) -> &Upstream {
        &self.upstream
    }

    fn send(&self, post: Post) -> reqwest::RequestBuilder {
        let mut builder = self
            .http
            .post(post.url)
            // A compressed stream is held back by whoever inflates it.
            .header(ACCEPT_ENCODING, "identity")
            .header(CONTENT_TYPE, "application/json")
            .body(post.body);
        for (name, value) in post.headers {
            builder = builder.header(name, value);
        }
        if let Some(key) = &self.upstream.key {
            let (name, before) = post.key;
            let value = HeaderValue::try_from(format!("{before}{}", key.expose()));
            if let Ok(mut value) = value {
                value.set_sensitive(true);
                builder = builder.header(name, value);
            }
        }
        builder
    }

    // Without whatever quotes the key.
    fn told(&self, headers: &HeaderMap) -> HeaderMap {
        let quotes = |value: &HeaderValue| {
            let (Some(key), Ok(text)) = (&self.upstream.key, value.to_str()) else { return false };
            key.redact(text) != text
        };
        let told = |(name, value): (&HeaderName, &HeaderValue)| {
            (TOLD.contains(&name.as_str()) && !quotes(value)).then(|| (name.clone(), value.clone()))
        };
        headers.iter().filter_map(told).collect()
    }

    fn with_cost(&self, usage: Usage) -> Usage {
        Usage { cost_micros: self.upstream.prices.map(|prices| prices.of(usage)), ..usage }
    }

    fn without_key(&self, error: ModelError) -> ModelError {
        match &self.upstream.key {
            Some(key) => error::without_key(error, key.expose()),
            None => error,
        }
    }
}

/// The answer of the first of these that can be reached.
pub(super) fn answer(clients: &[&Client], request: &ModelRequest) -> Answering {
    let head = Head::default();
    let answer = Answer {
        clients: clients.iter().map(|client| (*client).clone()).collect(),
        request: request.clone(),
        head: Arc::clone(&head),
        at_work: None,
        over: false,
    };
    let events = unfold(answer, |mut answer| async move { answer.next().await.map(|event| (event, answer)) });
    Answering { head, events: events.boxed() }
}

struct Answer {
    /// Those that have not been asked.
    clients: Vec<Client>,
    request: ModelRequest,
    head: Head,
    at_work: Option<AtWork>,
    over: bool,
}

struct AtWork {
    client: Client,
    response: Option<Response>,
    decoder: Decoder,
}

impl Answer {
    async fn next(&mut self) -> Option<ModelEvent> {
        loop {
            if self.over {
                return None;
            }
            let Some(at_work) = &mut self.at_work else {
                if let Err(error) = self.connect_to_any().await {
                    self.over = true;
                    return Some(ModelEvent::Error(error));
                }
                continue;
            };
            if let Some(event) = at_work.decoder.next() {
                return Some(match event {
                    ModelEvent::Error(error) => ModelEvent::Error(at_work.client.without_key(error)),
                    ModelEvent::Usage(usage) => ModelEvent::Usage(at_work.client.with_cost(usage)),
                    other => other,
                });
            }
            if at_work.response.is_none() {
                self.over = true;
                return None;
            }
            at_work.read().await;
        }
    }

    // Another is asked only before the first byte of an answer, and not where the request itself is what is refused.
    async fn connect_to_any(&mut self) -> Result<(), ModelError> {
        let mut first: Option<(Client, ModelError)> = None;
        for client in std::mem::take(&mut self.clients) {
            let post = match (client.upstream.target.write(&self.request), &first) {
                (Ok(post), _) => post,
                (Err(error), None) => return Err(error),
                // One that can not take the request at all is no help.
                (Err(_), Some(_)) => continue,
            };
            if let Some((meant, error)) = &first {
                let (model, next) = (&meant.upstream.name, &client.upstream.name);
                info!(model, next, "another model is asked: {}", error.message);
            }
            let mut answer = connect(&client, post, &self.head).await;
            if let Err(refusal) = &answer
                && let Some(unsealed) = client.upstream.target.unsealed(&self.request, refusal)
                && let Ok(post) = unsealed.write(&self.request)
            {
                warn!(
                    model = client.upstream.name,
                    "what the model's server sealed itself is left out, and it is asked again"
                );
                answer = connect(&client, post, &self.head).await;
            }
            match answer {
                Ok(response) => {
                    let decoder = client.upstream.target.decoder(&self.request);
                    self.at_work = Some(AtWork { client, response: Some(response), decoder });
                    return Ok(());
                }
                Err(error) => {
                    let error = client.without_key(error);
                    if error.kind == ModelErrorKind::BadRequest {
                        return Err(error);
                    }
                    first.get_or_insert((client, error));
                }
            }
        }
        // Where each failed in its own way, the one that was meant is told of.
        let told = first.map(|(_, error)| error);
        Err(told.unwrap_or_else(|| ModelError::new(ModelErrorKind::Upstream, "There is no model to ask.")))
    }
}

impl AtWork {
    async fn read(&mut self) {
        let chunk = match &mut self.response {
            Some(response) => tokio::time::timeout(SILENCE, response.chunk()).await,
            None => Ok(Ok(None)),
        };
        match chunk {
            Ok(Ok(Some(bytes))) => return self.decoder.push(&bytes),
            Ok(Ok(None)) => self.decoder.finish(),
            Ok(Err(why)) => {
                warn!("the model's stream broke off: {}", why.without_url());
                self.decoder.lost();
            }
            Err(_) => {
                warn!("the model's stream was silent for {} s", SILENCE.as_secs());
                self.decoder.lost();
            }
        }
        self.response = None;
    }
}

async fn connect(client: &Client, post: Post, head: &Head) -> Result<Response, ModelError> {
    let response = match tokio::time::timeout(FIRST_BYTE, client.send(post).send()).await {
        Ok(Ok(response)) => response,
        Ok(Err(why)) => {
            warn!("the model's server can not be reached: {}", why.without_url());
            let words = "The gateway can not reach the model's server.";
            return Err(ModelError::new(ModelErrorKind::Upstream, words));
        }
        Err(_) => {
            let words = format!("The model's server did not answer within {} s.", FIRST_BYTE.as_secs());
            return Err(ModelError::new(ModelErrorKind::Upstream, words));
        }
    };
    let said = client.told(response.headers());
    let id = ["x-request-id", "request-id"].iter().find_map(|name| said.get(*name)?.to_str().ok()).unwrap_or_default();
    if !response.status().is_success() {
        warn!(status = %response.status(), request_id = id, "the model's server refused the request");
    }
    *head.lock().unwrap_or_else(PoisonError::into_inner) = said.clone();
    if !response.status().is_success() {
        return Err(read_error(response).await);
    }
    let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    kind.and_then(error::of_page).map_or(Ok(response), Err)
}

/// Ids to ask a vendor about, and what is left of limits.
pub(in crate::gateway) const TOLD: [&str; 20] = [
    "request-id",
    "x-request-id",
    "x-ratelimit-limit-requests",
    "x-ratelimit-limit-tokens",
    "x-ratelimit-remaining-requests",
    "x-ratelimit-remaining-tokens",
    "x-ratelimit-reset-requests",
    "x-ratelimit-reset-tokens",
    "anthropic-ratelimit-requests-limit",
    "anthropic-ratelimit-requests-remaining",
    "anthropic-ratelimit-requests-reset",
    "anthropic-ratelimit-tokens-limit",
    "anthropic-ratelimit-tokens-remaining",
    "anthropic-ratelimit-tokens-reset",
    "anthropic-ratelimit-input-tokens-limit",
    "anthropic-ratelimit-input-tokens-remaining",
    "anthropic-ratelimit-input-tokens-reset",
    "anthropic-ratelimit-output-tokens-limit",
    "anthropic-ratelimit-output-tokens-remaining",
    "anthropic-ratelimit-output-tokens-reset",
];

async fn read_error(mut response: Response) -> ModelError {
    let status = response.status();
    let header = |name: &str| Some(response.headers().get(name)?.to_str().ok()?.to_owned());
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
    let advice = RetryAdvice::read(header, http_date, u64::try_from(now).unwrap_or(u64::MAX));
    let mut body = Vec::new();
    let end = tokio::time::Instant::now() + REFUSAL;
    while let Ok(Ok(Some(chunk))) = tokio::time::timeout_at(end, response.chunk()).await {
        body.extend_from_slice(&chunk);
        if body.len() > MAX_ERROR_BYTES {
            break;
        }
    }
    error::of_answer(status.as_u16(), advice, &String::from_utf8_lossy(&body))
}
