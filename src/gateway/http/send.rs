//! One call → one request, and the bytes of its answer. Knows nothing of what they mean.

use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderValue};
use reqwest::{Client, RequestBuilder, Response};
use serde_json::{Map, Value};
use tracing::warn;

use crate::gateway::context::CallContext;
use crate::gateway::http::answer::{Told, read};
use crate::gateway::http::spec::{Leftovers, Spec};
use crate::gateway::http::template::Filling;
use crate::gateway::net::leads_inside;
use crate::protocol::{Outcome, Replay, ToolError};
use crate::tools::error;

pub(super) async fn send(
    client: &Client,
    spec: &Spec,
    replay: Replay,
    arguments: &Value,
    context: &CallContext,
) -> Outcome {
    let empty = Map::new();
    let arguments = arguments.as_object().unwrap_or(&empty);
    let filling = Filling { tool: &context.tool, arguments, user: context.user.as_ref() };
    let request = match request(client, spec, &filling, &context.call_id) {
        Ok(request) => request,
        Err(error) => return Outcome::Error(error),
    };
    let exchange = async {
        let response = request.send().await?;
        told(response, spec.max_bytes).await
    };
    let told = tokio::select! {
        told = tokio::time::timeout(spec.timeout, exchange) => told,
        () = context.cancel.cancelled() => return Outcome::Error(error::cancelled(&context.tool, true)),
    };
    match told {
        Ok(Ok(told)) => read(&told, spec, replay, &context.tool),
        Ok(Err(why)) => Outcome::Error(unreached(&why, replay, &context.tool)),
        Err(_) => {
            let ms = u64::try_from(spec.timeout.as_millis()).unwrap_or(u64::MAX);
            Outcome::Error(error::timeout(&context.tool, ms))
        }
    }
}

fn request(client: &Client, spec: &Spec, filling: &Filling<'_>, call_id: &str) -> Result<RequestBuilder, ToolError> {
    let leftovers: Vec<&str> = filling.arguments.keys().map(String::as_str).filter(|name| !spec.names(name)).collect();
    let in_query = if spec.leftovers == Leftovers::Query { leftovers.as_slice() } else { &[] };
    let url = spec.address.fill(filling, in_query)?;
    let mut headers = headers(spec, filling, call_id)?;
    let body = match &spec.body {
        Some(body) => body.fill(filling)?,
        None if spec.leftovers == Leftovers::Body => Some(object(filling.arguments, &leftovers)),
        None => None,
    };
    if body.is_some() && !headers.contains_key(CONTENT_TYPE) {
        headers.insert(CONTENT_TYPE, spec.kind.clone());
    }
    let builder = client.request(spec.method.clone(), url).headers(headers);
    Ok(match body {
        Some(body) => builder.body(body.to_string()),
        None => builder,
    })
}

fn object(arguments: &Map<String, Value>, names: &[&str]) -> Value {
    names.iter().filter_map(|name| Some(((*name).to_owned(), arguments.get(*name)?.clone()))).collect()
}

fn headers(spec: &Spec, filling: &Filling<'_>, call_id: &str) -> Result<HeaderMap, ToolError> {
    let mut headers = HeaderMap::new();
    headers.insert(ACCEPT, HeaderValue::from_static("application/json, text/*;q=0.5"));
    for (name, template) in &spec.headers {
        let Some(text) = template.fill(filling, &str::to_owned)? else { continue };
        let mut value = HeaderValue::from_str(&text).map_err(|_| {
            let argument = template.arguments().next().unwrap_or("the user's claim");
            filling.unfit(argument, "has signs that no header may have, such as a line break")
        })?;
        value.set_sensitive(template.secrets().next().is_some());
        headers.insert(name.clone(), value);
    }
    // The call's id is a header's value already: it came as one.
    if let Ok(key) = HeaderValue::from_str(call_id) {
        headers.insert("idempotency-key", key);
    }
    Ok(headers)
}

async fn told(mut response: Response, most: usize) -> reqwest::Result<Told> {
    let header =
        |name: &str| response.headers().get(name).and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned();
    let (kind, retry_after) = (header("content-type"), header("retry-after"));
    let status = response.status();
    let mut body = Vec::new();
    let mut too_long = false;
    while let Some(chunk) = response.chunk().await? {
        if body.len() + chunk.len() > most {
            too_long = true;
            break;
        }
        body.extend_from_slice(&chunk);
    }
    Ok(Told { status, kind, retry_after, body, too_long })
}

// The error's own text may hold the address, which may hold a user's data: it is for the log, without it.
fn unreached(why: &reqwest::Error, replay: Replay, tool: &str) -> ToolError {
    if leads_inside(why) {
        warn!(tool, "its host's name leads to the inside of a network; nothing was sent");
        return error::refused(
            tool,
            "its server's name leads to an address that the gateway does not reach. Tell the user.",
        );
    }
    let kind = if why.is_connect() { "no connection" } else { "the connection broke off" };
    warn!(tool, "{kind}");
    if why.is_connect() {
        let words = format!("\"{tool}\" was not run: its server can not be reached.");
        return ToolError::new("unreachable", words).retryable();
    }
    let words = "the connection to its server broke off; whether it took effect is unknown";
    let error = error::tool_error(tool, words);
    if replay == Replay::Effect { error } else { error.retryable() }
}
