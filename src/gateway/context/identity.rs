//! Who calls, as the host states it. Knows nothing of how the host found out; nothing in a request's body counts.

use std::sync::Arc;

use axum::http::HeaderMap;
use futures::future::BoxFuture;
use serde_json::Value;

use crate::protocol::Names;

/// Who calls a tool.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Identity {
    /// The user's id, the host's own.
    pub id: String,
    /// What else the host says of them: the facts that a definition's `requires` is held against.
    pub claims: Names<Value>,
}

/// Finds out who sent a request; `Err` where the headers can not be believed.
pub(crate) type Identify = Arc<dyn Fn(HeaderMap) -> BoxFuture<'static, Result<Option<Identity>, String>> + Send + Sync>;

const MAX_ID: usize = 255;

impl Identity {
    /// A user of whom nothing else is known.
    #[must_use]
    pub fn new(id: impl Into<String>) -> Self {
        Self { id: id.into(), claims: Names::default() }
    }

    /// The same user with a claim.
    #[must_use]
    pub fn with(mut self, claim: &str, value: Value) -> Self {
        self.claims.insert(claim.to_owned(), value);
        self
    }
}

/// The user a trusted proxy names in one header, and their claims as a JSON object in another.
pub(crate) fn from_headers(user: Option<String>, claims: Option<String>) -> Identify {
    let user: Option<Arc<str>> = user.map(Arc::from);
    let claims: Option<Arc<str>> = claims.map(Arc::from);
    Arc::new(move |headers| {
        let (user, claims) = (user.clone(), claims.clone());
        Box::pin(async move { read(&headers, user.as_deref(), claims.as_deref()) })
    })
}

fn read(headers: &HeaderMap, user: Option<&str>, claims: Option<&str>) -> Result<Option<Identity>, String> {
    let Some(id) = user.map(|name| single(headers, name)).transpose()?.flatten() else { return Ok(None) };
    if id.len() > MAX_ID {
        return Err(format!("the user's id has more than {MAX_ID} bytes"));
    }
    let mut identity = Identity::new(id);
    if let Some(text) = claims.map(|name| single(headers, name)).transpose()?.flatten() {
        let Ok(Value::Object(stated)) = serde_json::from_str(text) else {
            return Err("the header with the user's claims is not a JSON object".to_owned());
        };
        for (claim, value) in stated {
            identity.claims.insert(claim, value);
        }
    }
    Ok(Some(identity))
}

// Twice means that somebody in front adds the header instead of setting it, so one of them is the caller's own.
fn single<'a>(headers: &'a HeaderMap, name: &str) -> Result<Option<&'a str>, String> {
    let mut values = headers.get_all(name).iter();
    let Some(first) = values.next() else { return Ok(None) };
    if values.next().is_some() {
        return Err(format!("the header {name} came twice; the proxy in front must set it, not add it"));
    }
    let text = std::str::from_utf8(first.as_bytes()).map_err(|_| format!("the header {name} is not UTF-8"))?;
    Ok(Some(text.trim()).filter(|text| !text.is_empty()))
}
