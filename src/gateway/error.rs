//! One shape for everything the gateway refuses: `{"error": {"code", "message", "retryable"}}`.

use axum::Json;
use axum::extract::rejection::JsonRejection;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

use crate::protocol::{MAX_DEPTH, ToolError};

/// A refusal. Its words are for the caller and hold no secret.
#[derive(Debug)]
pub(super) struct Refusal {
    status: StatusCode,
    error: ToolError,
    retry_after_s: Option<u32>,
    beside: Option<Box<(&'static str, Value)>>,
}

impl Refusal {
    pub(super) fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> Self {
        Self::with(status, ToolError::new(code, message))
    }

    pub(super) fn with(status: StatusCode, error: ToolError) -> Self {
        Self { status, error, retry_after_s: None, beside: None }
    }

    /// The same refusal with something the caller needs beside the words.
    pub(super) fn beside(mut self, name: &'static str, value: Value) -> Self {
        self.beside = Some(Box::new((name, value)));
        self
    }

    /// A body that can not be read.
    pub(super) fn unreadable(code: &'static str, why: &JsonRejection) -> Self {
        let words = why.body_text();
        // The reader's own words for it name no limit.
        let words = if words.contains("recursion limit exceeded") {
            format!("The body can not be read: it is nested deeper than {MAX_DEPTH} levels.")
        } else {
            words
        };
        Self::new(why.status(), code, words)
    }

    /// The error's code.
    pub(super) fn code(&self) -> &str {
        &self.error.code
    }

    /// Too much at once; asks to wait.
    pub(super) fn busy() -> Self {
        let error = ToolError::new("busy", "The gateway is busy with other requests.").retryable();
        Self { retry_after_s: Some(2), ..Self::with(StatusCode::TOO_MANY_REQUESTS, error) }
    }
}

/// An error as the gateway answers it; what is for the operator stays here.
pub(super) fn told(error: &ToolError) -> Value {
    let ToolError { code, message, retryable, .. } = error;
    json!({ "error": { "code": code, "message": message, "retryable": retryable } })
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let mut body = told(&self.error);
        if let Some(beside) = self.beside {
            let (name, value) = *beside;
            body[name] = value;
        }
        let mut response = (self.status, Json(body)).into_response();
        if let Some(seconds) = self.retry_after_s {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}
