//! `[tool.http]` → what is sent. Knows nothing of sending.
//!
//! | field | default | |
//! |---|---|---|
//! | `url` | | a fixed host; `{argument}` and `{user.…}` in path and query |
//! | `method` | `GET` | `GET`, `POST`, `PUT`, `PATCH`, `DELETE` |
//! | `query` | | name → text with places; left out where the argument is absent |
//! | `body` | the arguments left over | JSON with places; not for `GET` and `DELETE` |
//! | `headers` | | name → text with places, `{env.NAME}` too |
//! | `timeoutMs` | the definition's, or 20 000 | until the answer is there |
//! | `maxBytes` | 1 MiB | of the answer |
//! | `result` | the whole | JSON pointer into a good answer |
//! | `error` | | JSON pointer into a bad one, to words for the model |

use std::time::Duration;

use reqwest::Method;
use reqwest::header::{HeaderName, HeaderValue};
use serde_json::{Map, Value};

use crate::gateway::Secret;
use crate::gateway::http::Setting;
use crate::gateway::http::body::Body;
use crate::gateway::http::template::{At, Template};
use crate::gateway::http::url::Address;
use crate::gateway::net::{Reach, reach};
use crate::tools::Definition;

/// What is sent for a call.
#[derive(Clone, Debug)]
pub(in crate::gateway) struct Spec {
    pub(in crate::gateway) method: Method,
    pub(in crate::gateway) address: Address,
    pub(in crate::gateway) headers: Vec<(HeaderName, Template)>,
    pub(in crate::gateway) body: Option<Body>,
    /// The media type of the body.
    pub(in crate::gateway) kind: HeaderValue,
    pub(in crate::gateway) leftovers: Leftovers,
    pub(in crate::gateway) reach: Reach,
    pub(in crate::gateway) timeout: Duration,
    pub(in crate::gateway) max_bytes: usize,
    pub(in crate::gateway) result: Option<String>,
    pub(in crate::gateway) error: Option<String>,
}

/// Where arguments go that nothing names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::gateway) enum Leftovers {
    /// Into the query.
    #[default]
    Query,
    /// Into the body, an object of them.
    Body,
}

const FIELDS: [&str; 9] = ["url", "method", "query", "body", "headers", "timeoutMs", "maxBytes", "result", "error"];
const METHODS: [Method; 5] = [Method::GET, Method::POST, Method::PUT, Method::PATCH, Method::DELETE];
/// The media type of a body.
pub(in crate::gateway) const JSON: HeaderValue = HeaderValue::from_static("application/json");
const DEFAULT_TIMEOUT_MS: u64 = 20_000;
const DEFAULT_MAX_BYTES: u64 = 1024 * 1024;
// A page takes no longer result.
const MOST_BYTES: u64 = 2 * 1024 * 1024;
// What the connection itself decides.
const NOT_OURS: [&str; 11] = [
    "host",
    "content-length",
    "transfer-encoding",
    "connection",
    "keep-alive",
    "proxy-authorization",
    "proxy-connection",
    "upgrade",
    "te",
    "trailer",
    "idempotency-key",
];

/// Whether a header decides where a request goes or how the connection is used: nobody's to set but ours.
pub(in crate::gateway) fn is_ours_alone(name: &str) -> bool {
    NOT_OURS.contains(&name.to_ascii_lowercase().as_str())
}

/// The spec of `[tool.http]`; `Err`: every fault of it.
pub(in crate::gateway) fn read(
    http: &Value,
    definition: &Definition,
    setting: &Setting<'_>,
) -> Result<Spec, Vec<String>> {
    let mut reader = Reader { http, faults: Vec::new() };
    for field in http.as_object().into_iter().flat_map(Map::keys).filter(|field| !FIELDS.contains(&field.as_str())) {
        reader.fault(format!("http has a field \"{field}\"; there are: {}", FIELDS.join(", ")));
    }
    let method = reader.method();
    let mut address = reader.address();
    let reach = match address.as_ref().map(|address| reach(address.base(), setting.allowed)) {
        Some(Ok(reach)) => reach,
        Some(Err(fault)) => {
            reader.fault(fault);
            Reach::Public
        }
        None => Reach::Public,
    };
    if let Some(address) = &mut address {
        reader.query(address);
    }
    let headers = match headers(http.get("headers"), setting) {
        Ok(headers) => headers,
        Err(faults) => {
            reader.faults.extend(faults);
            Vec::new()
        }
    };
    let takes_body = !matches!(method, Method::GET | Method::DELETE);
    let body = reader.body(takes_body);
    let usual = definition.timeout_ms.unwrap_or(DEFAULT_TIMEOUT_MS);
    let timeout = reader.number("timeoutMs", usual, 1..=10 * 60 * 1000);
    let max_bytes = reader.number("maxBytes", DEFAULT_MAX_BYTES, 1..=MOST_BYTES);
    let (result, error) = (reader.pointer("result"), reader.pointer("error"));
    let Reader { mut faults, .. } = reader;
    let Some(address) = address else { return Err(faults) };
    let spec = Spec {
        method,
        address,
        headers,
        body,
        kind: JSON,
        leftovers: if takes_body { Leftovers::Body } else { Leftovers::Query },
        reach,
        timeout: Duration::from_millis(timeout),
        max_bytes: usize::try_from(max_bytes).unwrap_or(usize::MAX),
        result,
        error,
    };
    faults.extend(spec.faults(definition));
    if faults.is_empty() { Ok(spec) } else { Err(faults) }
}

/// The headers of a table: name → text with places.
pub(in crate::gateway) fn headers(
    json: Option<&Value>,
    setting: &Setting<'_>,
) -> Result<Vec<(HeaderName, Template)>, Vec<String>> {
    let Some(json) = json else { return Ok(Vec::new()) };
    let Some(map) = json.as_object() else { return Err(vec!["headers must be a table: name → text".to_owned()]) };
    let (mut headers, mut faults) = (Vec::new(), Vec::new());
    for (name, value) in map {
        match header(name, value, setting) {
            Ok(header) => headers.push(header),
            Err(fault) => faults.push(format!("its header {name}: {fault}")),
        }
    }
    if faults.is_empty() { Ok(headers) } else { Err(faults) }
}

fn header(name: &str, value: &Value, setting: &Setting<'_>) -> Result<(HeaderName, Template), String> {
    let text = value.as_str().ok_or("it must be a text")?;
    let parsed: HeaderName = name.parse().map_err(|_| "that is no name of a header")?;
    if is_ours_alone(parsed.as_str()) {
        return Err("it is not for a tool to set".to_owned());
    }
    let template = Template::parse(text, At::Header, &*setting.surroundings.variable)?;
    if HeaderValue::from_str(text).is_err()
        || template.secrets().any(|secret| HeaderValue::from_str(secret.expose()).is_err())
    {
        return Err(
            "its text, or the variable in it, has signs that no header may have, such as a line break".to_owned()
        );
    }
    Ok((parsed, template))
}

impl Spec {
    /// Everything secret that is sent, so that it can be kept out of what comes back.
    pub(super) fn secrets(&self) -> impl Iterator<Item = &Secret> {
        self.headers.iter().flat_map(|(_, template)| template.secrets())
    }

    /// Whether a place names the argument.
    pub(super) fn names(&self, argument: &str) -> bool {
        let in_headers = || self.headers.iter().any(|(_, template)| template.arguments().any(|name| name == argument));
        self.address.path_arguments().chain(self.address.query_arguments()).any(|name| name == argument)
            || in_headers()
            || self.body.as_ref().is_some_and(|body| body.arguments().contains(&argument))
    }

    fn faults(&self, definition: &Definition) -> Vec<String> {
        let empty = Map::new();
        let properties = definition.parameters.get("properties").and_then(Value::as_object).unwrap_or(&empty);
        let required = definition.parameters.get("required").and_then(Value::as_array);
        let is_required = |name: &str| required.is_some_and(|list| list.iter().any(|one| one == name));
        let mut faults = Vec::new();
        let headers = self.headers.iter().flat_map(|(_, template)| template.arguments());
        let body = self.body.as_ref().map(Body::arguments).unwrap_or_default();
        let named = self.address.path_arguments().chain(self.address.query_arguments()).chain(headers).chain(body);
        for name in named.filter(|name| !properties.contains_key(*name)) {
            faults.push(format!("http names {{{name}}}, but its parameters have no property of that name"));
        }
        for name in self.address.path_arguments().filter(|name| properties.contains_key(*name) && !is_required(name)) {
            faults.push(format!("{{{name}}} stands in the path of its url, so its parameters must require it"));
        }
        if self.body.is_some() {
            for name in properties.keys().filter(|name| !self.names(name)) {
                faults.push(format!("the argument \"{name}\" goes nowhere; name it in url, query, headers or body"));
            }
        }
        faults
    }
}

struct Reader<'a> {
    http: &'a Value,
    faults: Vec<String>,
}

impl Reader<'_> {
    fn fault(&mut self, fault: impl Into<String>) {
        self.faults.push(fault.into());
    }

    fn method(&mut self) -> Method {
        let word = self.http.get("method").map_or(Some("GET"), Value::as_str).unwrap_or_default();
        METHODS.into_iter().find(|method| method.as_str() == word).unwrap_or_else(|| {
            self.fault("its method must be \"GET\", \"POST\", \"PUT\", \"PATCH\" or \"DELETE\"");
            Method::GET
        })
    }

    fn address(&mut self) -> Option<Address> {
        let Some(text) = self.http.get("url").and_then(Value::as_str) else {
            self.fault("http has no url");
            return None;
        };
        Address::parse(text).map_err(|fault| self.fault(fault)).ok()
    }

    fn query(&mut self, address: &mut Address) {
        match self.http.get("query") {
            None => {}
            Some(Value::Object(pairs)) => {
                for (name, value) in pairs {
                    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                    match Template::parse(&text, At::Elsewhere, &|_| None) {
                        Ok(template) => address.ask(name, template),
                        Err(fault) => self.fault(format!("its query {name}: {fault}")),
                    }
                }
            }
            Some(_) => self.fault("its query must be a table: name → text"),
        }
    }

    fn body(&mut self, takes_body: bool) -> Option<Body> {
        let json = self.http.get("body")?;
        if !takes_body {
            self.fault("it has a body, but its method sends none");
            return None;
        }
        Body::parse(json).map_err(|fault| self.fault(format!("its body: {fault}"))).ok()
    }

    fn number(&mut self, name: &str, usual: u64, range: std::ops::RangeInclusive<u64>) -> u64 {
        let Some(value) = self.http.get(name) else { return usual };
        value.as_u64().filter(|number| range.contains(number)).unwrap_or_else(|| {
            self.fault(format!("its {name} must be a whole number from {} to {}", range.start(), range.end()));
            usual
        })
    }

    fn pointer(&mut self, name: &str) -> Option<String> {
        let value = self.http.get(name)?;
        let pointer = value.as_str().filter(|text| text.is_empty() || text.starts_with('/'));
        if pointer.is_none() {
            self.fault(format!("its {name} must be a JSON pointer, such as \"/data/order\""));
        }
        pointer.map(str::to_owned)
    }
}
