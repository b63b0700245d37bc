//! One operation → a definition's JSON, and what is sent for a call. Knows nothing of who allowed it.

use std::time::Duration;

use reqwest::header::HeaderName;
use reqwest::{Method, Url};
use serde_json::{Value, json};

use crate::gateway::http::{Address, JSON, Setting, Spec, Template};
use crate::gateway::net::{Reach, reach};
use crate::gateway::openapi::document::{Document, Found};
use crate::gateway::openapi::parts::Parts;

/// What operations are read from.
pub(super) struct Source<'a> {
    pub(super) document: &'a Document,
    pub(super) block: &'a Value,
    pub(super) owner: &'a str,
    pub(super) setting: &'a Setting<'a>,
}

const TIMEOUT: Duration = Duration::from_secs(20);
const MAX_BYTES: usize = 1024 * 1024;
const MAX_LABEL: usize = 60;

pub(super) fn read(source: &Source<'_>, id: &str) -> Result<(Value, Spec), Vec<String>> {
    let found = source.document.find(id).map_err(|why| vec![why])?;
    let method = match found.method {
        "options" | "trace" => return Err(vec![format!("its method is {}, which no tool sends", found.method)]),
        word => Method::from_bytes(word.to_ascii_uppercase().as_bytes()).unwrap_or(Method::GET),
    };
    let (base, reach) = base(source, &found).map_err(|why| vec![why])?;
    let mut parts = Parts::default();
    parts.parameters(source.document, &found);
    parts.body(source.document, &found);
    let segments = parts.segments(&base, found.path);
    let Parts { properties, required, query, headers, body, leftovers, kind, mut faults, .. } = parts;
    let mut address = Address::new(origin(&base), segments);
    for (name, argument) in &query {
        address.ask(name, Template::argument(argument));
    }
    let mut named = Vec::new();
    for (name, argument) in &headers {
        match name.parse::<HeaderName>() {
            Ok(name) => named.push((name, Template::argument(argument))),
            Err(_) => faults.push(format!("its parameter {name} is no name of a header")),
        }
    }
    if !faults.is_empty() {
        return Err(faults);
    }
    let risk = match method {
        Method::GET | Method::HEAD => "read",
        Method::DELETE => "irreversible",
        _ => "write",
    };
    let parameters =
        json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false });
    let (description, label) = words(found.operation);
    let json = json!({
        "version": source.document.version(), "owner": source.owner, "description": description, "label": label,
        "scope": "server", "risk": risk, "parameters": parameters,
    });
    let spec = Spec {
        method,
        address,
        headers: named,
        body,
        kind: kind.unwrap_or(JSON),
        leftovers,
        reach,
        timeout: TIMEOUT,
        max_bytes: MAX_BYTES,
        result: None,
        error: None,
    };
    Ok((json, spec))
}

fn words(operation: &Value) -> (String, String) {
    let text = |name: &str| operation.get(name).and_then(Value::as_str).unwrap_or_default().trim().to_owned();
    let (summary, description) = (text("summary"), text("description"));
    let joined = match (summary.is_empty(), description.is_empty()) {
        (true, _) => description,
        (false, true) => summary.clone(),
        (false, false) if summary.ends_with(['.', '!', '?']) => format!("{summary} {description}"),
        (false, false) => format!("{summary}. {description}"),
    };
    let label =
        if summary.chars().count() <= MAX_LABEL { summary.trim_end_matches('.').to_owned() } else { String::new() };
    (joined, label)
}

fn base(source: &Source<'_>, found: &Found<'_>) -> Result<(Url, Reach), String> {
    let said = match source.block.get("baseUrl") {
        Some(said) => Some(said.as_str().ok_or("baseUrl must be a text")?.to_owned()),
        None => source.document.server(found),
    };
    let said = said.ok_or("the document names no server; say baseUrl")?;
    let url = Url::parse(&said).map_err(|_| {
        format!("its server \"{said}\" is no whole address; say baseUrl, such as \"https://api.example\"")
    })?;
    if url.query().is_some() || url.fragment().is_some() || url.cannot_be_a_base() {
        return Err(format!("its server \"{said}\" must end with a path"));
    }
    let reach = reach(&url, source.setting.allowed)?;
    Ok((url, reach))
}

fn origin(url: &Url) -> Url {
    let mut url = url.clone();
    url.set_path("");
    url
}
