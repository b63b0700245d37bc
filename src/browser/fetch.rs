//! HTTP by `fetch`: one answer read piece by piece, or whole. Knows nothing of what is in it.

use gloo_net::http::{Method, Response};
use js_sys::{Object, Reflect, Uint8Array};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::ReadableStreamDefaultReader;

use crate::browser::Abort;
use crate::browser::clock::now;
use crate::browser::interface::{ask, property};
use crate::wire::retry::RetryAdvice;

/// An answer on its way. Dropping it lets go of the connection.
pub(super) struct Reply {
    /// The HTTP status.
    pub(super) status: u16,
    response: Response,
    reader: Option<ReadableStreamDefaultReader>,
    // Whether all of the body has been read at once.
    is_read: bool,
    abort: Abort,
}

/// Sends a request with a JSON body (or none) and waits for the answer's head; `Err` where there is none.
pub(super) async fn send(
    method: Method,
    url: &str,
    headers: &[(&str, &str)],
    body: Option<String>,
) -> Result<Reply, ()> {
    send_by(method, url, headers, body, "follow").await
}

/// The same of one that must reach nobody else: where it is told to go elsewhere, there is no answer.
#[cfg(feature = "direct")]
pub(super) async fn send_here_alone(
    method: Method,
    url: &str,
    headers: &[(&str, &str)],
    body: Option<String>,
) -> Result<Reply, ()> {
    send_by(method, url, headers, body, "error").await
}

// By the page's `fetch` as it is now, with an address and an object of options: a page that has put its own in its place,
// to sign requests or to count them, seldom understands a `Request`.
async fn send_by(
    method: Method,
    url: &str,
    headers: &[(&str, &str)],
    body: Option<String>,
    redirect: &str,
) -> Result<Reply, ()> {
    let abort = Abort::new();
    let (options, head) = (Object::new(), Object::new());
    let set = |object: &Object, name: &str, value: &JsValue| Reflect::set(object, &name.into(), value).map_err(drop);
    for (name, value) in headers {
        set(&head, name, &(*value).into())?;
    }
    set(&options, "method", &method.as_ref().into())?;
    set(&options, "redirect", &redirect.into())?;
    if let Some(body) = body {
        set(&head, "content-type", &"application/json".into())?;
        set(&options, "body", &body.into())?;
    }
    set(&options, "headers", &head)?;
    if let Some(signal) = abort.signal() {
        set(&options, "signal", &signal)?;
    }
    let window = web_sys::window().ok_or(())?;
    let response = ask(&window, "fetch", &[&url.into(), &options]).await.map_err(drop)?;
    if !response.is_object() {
        return Err(());
    }
    let response = Response::from(response.unchecked_into::<web_sys::Response>());
    Ok(Reply { status: response.status(), response, reader: None, is_read: false, abort })
}

impl Reply {
    /// A header, where the server lets the page see it.
    pub(super) fn header(&self, name: &str) -> Option<String> {
        self.response.headers().get(name)
    }

    /// What the head says of sending the request again.
    pub(super) fn retry_advice(&self) -> RetryAdvice {
        RetryAdvice::read(|name| self.header(name), http_date, now())
    }

    /// The next piece of the body; `None` at its end, `Err` where the connection was lost.
    pub(super) async fn chunk(&mut self) -> Result<Option<Vec<u8>>, ()> {
        let reader = match &self.reader {
            Some(reader) => reader.clone(),
            None => {
                let Some(body) = self.response.body() else { return self.whole().await };
                let reader: ReadableStreamDefaultReader = body.get_reader().unchecked_into();
                self.reader.insert(reader).clone()
            }
        };
        let read = JsFuture::from(reader.read()).await.map_err(drop)?;
        if property(&read, "done").is_truthy() {
            self.abort.disarm();
            return Ok(None);
        }
        Ok(property(&read, "value").dyn_into::<Uint8Array>().ok().map(|bytes| bytes.to_vec()))
    }

    // A head without a body, or the answer of a `fetch` that knows no streams.
    async fn whole(&mut self) -> Result<Option<Vec<u8>>, ()> {
        if std::mem::replace(&mut self.is_read, true) {
            return Ok(None);
        }
        let text = self.response.text().await.map_err(drop)?;
        self.abort.disarm();
        Ok(Some(text.into_bytes()))
    }

    /// The whole body as text, up to a limit in bytes; `Err` where it is longer or the connection was lost.
    pub(super) async fn text(&mut self, limit: usize) -> Result<String, TextError> {
        let mut body = Vec::new();
        while let Some(chunk) = self.chunk().await.map_err(|()| TextError::Lost)? {
            body.extend_from_slice(&chunk);
            if body.len() > limit {
                return Err(TextError::TooLong);
            }
        }
        Ok(String::from_utf8_lossy(&body).into_owned())
    }
}

/// Why a body could not be read whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TextError {
    Lost,
    TooLong,
}

// The three forms of RFC 9110 §5.6.7, of which one does not say that it is in UTC. JavaScript takes more for a date.
fn http_date(text: &str) -> Option<u64> {
    let text = text.trim();
    let zone = if text.ends_with("GMT") { "" } else { " GMT" };
    let ms = js_sys::Date::parse(&format!("{text}{zone}"));
    (text.contains(':') && ms >= 0.0).then_some(ms as u64)
}
