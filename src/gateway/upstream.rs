//! An OpenAI-compatible server, asked over HTTP. The one place that sends the key.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use futures::stream::{BoxStream, StreamExt, unfold};
use reqwest::header::{ACCEPT, ACCEPT_ENCODING};
use reqwest::{Response, StatusCode};
use serde_json::Value;
use tracing::warn;

use crate::gateway::config::Upstream;
use crate::protocol::{ModelError, ModelErrorKind, ModelEvent, ModelRequest, Usage};
use crate::providers::openai_chat::{ChatDecoder, encode, error_in};
use crate::wire::retry::RetryAdvice;

const CONNECT: Duration = Duration::from_secs(10);
// To the first byte: a local server may load its model first.
const FIRST_BYTE: Duration = Duration::from_secs(120);
const SILENCE: Duration = Duration::from_secs(120);
const MAX_ERROR_BYTES: usize = 64 * 1024;

/// A client for one server and model.
#[derive(Debug)]
pub struct Client {
    http: reqwest::Client,
    upstream: Upstream,
}

impl Client {
    pub(super) fn new(upstream: Upstream) -> Result<Self, String> {
        // Fails only where a provider is installed already, which does as well.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let http = reqwest::Client::builder()
            .connect_timeout(CONNECT)
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .map_err(|why| format!("no HTTP client can be made: {why}"))?;
        Ok(Self { http, upstream })
    }

    pub(super) fn upstream(&self) -> &Upstream {
        &self.upstream
    }

    pub(super) fn answer(&self, request: &ModelRequest) -> BoxStream<'static, ModelEvent> {
        let mut builder = self
            .http
            .post(&self.upstream.url)
            .header(ACCEPT, "text/event-stream")
            // A compressed stream is held back by whoever inflates it.
            .header(ACCEPT_ENCODING, "identity")
            .header("content-type", "application/json")
            .body(encode(request, &self.upstream.model).to_string());
        if let Some(key) = &self.upstream.key {
            builder = builder.bearer_auth(key.expose());
        }
        let answer = Answer {
            upstream: self.upstream.clone(),
            request: Some(builder),
            response: None,
            decoder: ChatDecoder::default(),
            over: false,
        };
        unfold(answer, |mut answer| async move { answer.next().await.map(|event| (event, answer)) }).boxed()
    }
}

struct Answer {
    upstream: Upstream,
    request: Option<reqwest::RequestBuilder>,
    response: Option<Response>,
    decoder: ChatDecoder,
    over: bool,
}

impl Answer {
    async fn next(&mut self) -> Option<ModelEvent> {
        loop {
            if let Some(event) = self.decoder.next() {
                return Some(match event {
                    ModelEvent::Error(error) => ModelEvent::Error(self.without_key(error)),
                    ModelEvent::Usage(usage) => ModelEvent::Usage(self.with_cost(usage)),
                    other => other,
                });
            }
            if self.over {
                return None;
            }
            if let Some(request) = self.request.take()
                && let Err(error) = self.connect(request).await
            {
                self.over = true;
                return Some(ModelEvent::Error(self.without_key(error)));
            }
            self.read().await;
        }
    }

    async fn read(&mut self) {
        let chunk = match &mut self.response {
            Some(response) => tokio::time::timeout(SILENCE, response.chunk()).await,
            None => Ok(Ok(None)),
        };
        match chunk {
            Ok(Ok(Some(bytes))) => return self.decoder.push(&bytes),
            Ok(Ok(None)) => {}
            Ok(Err(why)) => warn!("the model's stream broke off: {}", why.without_url()),
            Err(_) => warn!("the model's stream was silent for {} s", SILENCE.as_secs()),
        }
        self.decoder.finish();
        self.response = None;
        self.over = true;
    }

    async fn connect(&mut self, request: reqwest::RequestBuilder) -> Result<(), ModelError> {
        let response = match tokio::time::timeout(FIRST_BYTE, request.send()).await {
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
        if response.status().is_success() {
            self.response = Some(response);
            return Ok(());
        }
        Err(read_error(response).await)
    }

    fn with_cost(&self, usage: Usage) -> Usage {
        Usage { cost_micros: self.upstream.prices.map(|prices| prices.of(usage)), ..usage }
    }

    fn without_key(&self, mut error: ModelError) -> ModelError {
        if let Some(key) = &self.upstream.key {
            error.message = key.redact(&error.message);
        }
        error
    }
}

async fn read_error(mut response: Response) -> ModelError {
    let status = response.status();
    let kind = ModelErrorKind::from_status(status.as_u16());
    let header = |name: &str| Some(response.headers().get(name)?.to_str().ok()?.to_owned());
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
    let advice = RetryAdvice::read(header, u64::try_from(now).unwrap_or(u64::MAX));
    let asked_as = header("x-request-id").or_else(|| header("request-id")).unwrap_or_default();
    let mut body = Vec::new();
    while let Ok(Some(chunk)) = response.chunk().await {
        body.extend_from_slice(&chunk);
        if body.len() > MAX_ERROR_BYTES {
            break;
        }
    }
    warn!(%status, request_id = asked_as, "the model's server refused the request");
    let told: Value = serde_json::from_slice(&body).unwrap_or_default();
    let told = error_in(&told);
    // The head is nearer to who decides than the words of the body are.
    let retry = advice.retry.or_else(|| told.as_ref().and_then(|error| error.retry));
    let retry_after_ms = advice.after_ms.or_else(|| told.as_ref().and_then(|error| error.retry_after_ms));
    // Servers quote a wrong key in part, which no search for the whole one finds: so these words are ours.
    let message = if matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) {
        format!("The model's server refused the gateway's key (HTTP {}).", status.as_u16())
    } else {
        told.map(|error| error.message)
            .unwrap_or_else(|| format!("The model's server answered with HTTP {}.", status.as_u16()))
    };
    ModelError { kind, message, retry_after_ms, retry }
}
