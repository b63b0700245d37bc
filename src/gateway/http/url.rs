//! The address a tool's request goes to: a fixed host, a path and a query with places. Knows nothing of sending.

use reqwest::Url;
use serde_json::Value;

use crate::gateway::http::template::{At, Filling, Template};
use crate::protocol::ToolError;

/// An address with places in its path and query, and none before them.
#[derive(Clone, Debug)]
pub(in crate::gateway) struct Address {
    base: Url,
    /// Between slashes.
    segments: Vec<Template>,
    query: Vec<(String, Template)>,
}

impl Address {
    /// The address of a template such as `https://api.example/orders/{order_id}?expand=lines`.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let no_secrets = |_: &str| None;
        let after_scheme = text.find("://").map_or(0, |at| at + 3);
        let end = text[after_scheme..].find(['/', '?', '#']).map_or(text.len(), |at| after_scheme + at);
        let (origin, rest) = text.split_at(end);
        if origin.contains(['{', '}']) {
            return Err("its url has a placeholder in the scheme, host or port; these are fixed".to_owned());
        }
        if rest.contains('#') {
            return Err("its url has a #, which is never sent".to_owned());
        }
        let base = Url::parse(origin).map_err(|why| format!("its url is none: {why}"))?;
        let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
        let segments = path.trim_start_matches('/').split('/');
        let segments: Vec<Template> =
            segments.map(|part| Template::parse(part, At::Elsewhere, &no_secrets)).collect::<Result<_, _>>()?;
        if segments.iter().filter_map(Template::fixed).any(is_step) {
            return Err("its url has a step such as \"..\" in its path; write the path that is meant".to_owned());
        }
        let mut address = Self::new(base, segments);
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            address.ask(name, Template::parse(value, At::Elsewhere, &no_secrets)?);
        }
        Ok(address)
    }

    /// An address of parts.
    pub(in crate::gateway) fn new(base: Url, segments: Vec<Template>) -> Self {
        let segments = segments.into_iter().map(|segment| segment.with_text(encode_literal)).collect();
        Self { base, segments, query: Vec::new() }
    }

    /// Adds something to the query.
    pub(in crate::gateway) fn ask(&mut self, name: &str, value: Template) {
        self.query.push((name.to_owned(), value));
    }

    pub(super) fn base(&self) -> &Url {
        &self.base
    }

    /// The arguments in the path: each must be there in every call.
    pub(super) fn path_arguments(&self) -> impl Iterator<Item = &str> {
        self.segments.iter().flat_map(Template::arguments)
    }

    pub(super) fn query_arguments(&self) -> impl Iterator<Item = &str> {
        self.query.iter().flat_map(|(_, value)| value.arguments())
    }

    /// The address of a call; `leftovers` are arguments that go into the query under their own names.
    pub(super) fn fill(&self, filling: &Filling<'_>, leftovers: &[&str]) -> Result<Url, ToolError> {
        let mut path = String::new();
        for segment in &self.segments {
            path.push('/');
            path.push_str(&self.segment(segment, filling)?);
        }
        let mut url = self.base.clone();
        url.set_path(&path);
        // What was put together is what is asked for: no step up, nothing read anew.
        if url.path() != path {
            let name = self.path_arguments().next().unwrap_or("an argument");
            return Err(filling.unfit(name, "can not stand in an address"));
        }
        let mut pairs = Vec::new();
        for (name, template) in &self.query {
            pairs.extend(self.asked(name, template, filling)?);
        }
        for name in leftovers {
            pairs.extend(self.asked(name, &Template::argument(name), filling)?);
        }
        if !pairs.is_empty() {
            url.query_pairs_mut().extend_pairs(pairs);
        }
        Ok(url)
    }

    // Encoded, so that it stays within its segment; and no value may be a step of the path, however it is written,
    // for a server that decodes more than once.
    fn segment(&self, template: &Template, filling: &Filling<'_>) -> Result<String, ToolError> {
        for name in template.arguments() {
            let text = Template::argument(name).fill(filling, &str::to_owned)?.unwrap_or_default();
            if text.is_empty() || is_step(&text) || text.chars().any(char::is_control) {
                return Err(filling.unfit(name, "is empty, or a step in a path such as \"..\""));
            }
        }
        let filled = template.fill(filling, &encode)?.unwrap_or_default();
        if is_step(&filled) {
            let name = template.arguments().next().unwrap_or("an argument");
            return Err(filling.unfit(name, "makes a step in a path such as \"..\""));
        }
        Ok(filled)
    }

    // Absent: left out. A list: once for each of its items.
    fn asked(
        &self,
        name: &str,
        template: &Template,
        filling: &Filling<'_>,
    ) -> Result<Vec<(String, String)>, ToolError> {
        if let Some(argument) = template.whole()
            && let Some(Value::Array(items)) = filling.arguments.get(argument)
        {
            let text = |item: &Value| match item {
                Value::String(text) => Ok((name.to_owned(), text.clone())),
                Value::Number(_) | Value::Bool(_) => Ok((name.to_owned(), item.to_string())),
                Value::Null | Value::Array(_) | Value::Object(_) => {
                    Err(filling.unfit(argument, "must hold texts, numbers, or true or false here"))
                }
            };
            return items.iter().map(text).collect();
        }
        let value = template.fill(filling, &str::to_owned)?;
        Ok(value.map(|value| (name.to_owned(), value)).into_iter().collect())
    }
}

fn is_step(text: &str) -> bool {
    let mut text = text.to_owned();
    for _ in 0..4 {
        if text.split(['/', '\\']).any(|part| matches!(part, "." | "..")) {
            return true;
        }
        let decoded = decode(&text);
        if decoded == text {
            return false;
        }
        text = decoded;
    }
    // Encoded more often than anybody means it.
    true
}

fn decode(text: &str) -> String {
    let bytes = text.as_bytes();
    let (mut out, mut at) = (Vec::with_capacity(bytes.len()), 0);
    while at < bytes.len() {
        let hex = bytes.get(at + 1..at + 3).and_then(|hex| std::str::from_utf8(hex).ok());
        match hex.filter(|_| bytes[at] == b'%').and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) => {
                out.push(byte);
                at += 3;
            }
            None => {
                out.push(bytes[at]);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

// RFC 3986 §2.3: all but the unreserved signs.
fn encode(text: &str) -> String {
    encode_all_but(text, b"-._~")
}

// RFC 3986 §3.3: all that may not stand in a segment. What is encoded already stays so.
fn encode_literal(text: &str) -> String {
    encode_all_but(text, b"-._~!$&'()*+,;=:@%")
}

fn encode_all_but(text: &str, kept: &[u8]) -> String {
    use std::fmt::Write as _;
    text.bytes().fold(String::new(), |mut out, byte| {
        if byte.is_ascii_alphanumeric() || kept.contains(&byte) {
            out.push(char::from(byte));
        } else {
            // Writing to a String can not fail.
            let _ = write!(out, "%{byte:02X}");
        }
        out
    })
}
