//! Answers that come in pieces, as an event stream. Knows nothing of what they say.

use std::convert::Infallible;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use futures::stream::Stream;
use serde_json::Value;

/// A proxy in between closes what is silent.
pub(super) const HEARTBEAT: Duration = Duration::from_secs(15);

/// What keeps the line open where there is nothing to say.
pub(super) const STILL_AT_WORK: Bytes = Bytes::from_static(b": still at work\n\n");

/// An answer that nobody in between may hold back.
pub(super) fn event_stream(frames: impl Stream<Item = Bytes> + Send + 'static) -> Response {
    use futures::StreamExt as _;
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream")),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-cache, no-transform")),
        (HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no")),
    ];
    (headers, Body::from_stream(frames.map(Ok::<Bytes, Infallible>))).into_response()
}

/// One named event. JSON has no line breaks outside of its texts, and none in them that are not escaped.
pub(super) fn frame(event: &str, data: &Value) -> Bytes {
    Bytes::from(format!("event: {event}\ndata: {data}\n\n"))
}

/// Whether a client asks for a stream.
pub(super) fn is_wanted(headers: &HeaderMap) -> bool {
    let accepted = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
    accepted.flat_map(|value| value.split(',')).any(|kind| {
        let mut parts = kind.split(';').map(str::trim);
        let named = parts.next().is_some_and(|kind| kind.eq_ignore_ascii_case("text/event-stream"));
        named && !parts.any(|part| part.replace(' ', "").trim_end_matches(['0', '.']) == "q=")
    })
}
