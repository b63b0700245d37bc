//! One operation → a definition's JSON, and what is sent for a call. Knows nothing of who allowed it.

use std::time::Duration;

use reqwest::header::HeaderName;
use reqwest::{Method, Url};
use serde_json::{Map, Value, json};

use crate::gateway::http::{Address, Body, Leftovers, Setting, Spec, Template};
use crate::gateway::net::{Reach, reach};
use crate::gateway::openapi::document::{Document, Found};
use crate::gateway::openapi::schema::convert;

/// What operations are read from.
pub(super) struct Source<'a> {
    pub(super) document: &'a Document,
    pub(super) block: &'a Value,
    pub(super) owner: &'a str,
    pub(super) setting: &'a Setting<'a>,
}

// The one that a connection to the server decides, or that the configuration gives (OpenAPI 3.1 §4.8.12.1).
const IGNORED_HEADERS: [&str; 3] = ["accept", "content-type", "authorization"];
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
    let Parts { properties, required, query, headers, body, leftovers, mut faults, .. } = parts;
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

#[derive(Default)]
struct Parts {
    properties: Map<String, Value>,
    required: Vec<String>,
    /// The parameter's name → the argument's.
    path: Vec<(String, String)>,
    query: Vec<(String, String)>,
    headers: Vec<(String, String)>,
    body: Option<Body>,
    leftovers: Leftovers,
    faults: Vec<String>,
}

impl Parts {
    // The operation's own stand before those of its path.
    fn parameters(&mut self, document: &Document, found: &Found<'_>) {
        let of = |value: &'_ Value| value.get("parameters").and_then(Value::as_array).cloned().unwrap_or_default();
        let mut seen: Vec<(String, String)> = Vec::new();
        for parameter in of(found.operation).iter().chain(&of(found.shared)) {
            let parameter = match document.resolve(parameter) {
                Ok(parameter) => parameter,
                Err(why) => {
                    self.faults.push(why);
                    continue;
                }
            };
            let text = |name: &str| parameter.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
            let key = (text("in"), text("name"));
            if seen.contains(&key) {
                continue;
            }
            if let Err(why) = self.parameter(document, parameter, &key.0, &key.1) {
                self.faults.push(format!("its parameter {}: {why}", key.1));
            }
            seen.push(key);
        }
    }

    fn parameter(&mut self, document: &Document, parameter: &Value, place: &str, name: &str) -> Result<(), String> {
        let is_required = parameter.get("required") == Some(&Value::Bool(true)) || place == "path";
        let ignored = place == "header" && IGNORED_HEADERS.contains(&name.to_ascii_lowercase().as_str());
        if ignored || (place == "cookie" && !is_required) {
            return Ok(());
        }
        let usual = if matches!(place, "query" | "cookie") { "form" } else { "simple" };
        let style = parameter.get("style").and_then(Value::as_str).unwrap_or(usual);
        if style != usual {
            return Err(format!("it is written in the style {style}; only {usual} is sent"));
        }
        let schema = parameter.get("schema").ok_or("it has no schema; one of a media type is not sent")?;
        let mut schema = convert(document, schema)?;
        let is = |schema: &Value, kind: &str| match &schema["type"] {
            Value::String(one) => one == kind,
            Value::Array(list) => list.iter().any(|one| one == kind),
            _ => false,
        };
        let is_list = is(&schema, "array");
        if is(&schema, "object") || (is_list && place != "query") {
            return Err("it is no text, number, or true or false; such a parameter is not sent".to_owned());
        }
        if is_list && parameter.get("explode") == Some(&Value::Bool(false)) {
            return Err("its items stand in one text (explode: false); only one by one are they sent".to_owned());
        }
        if let (Some(map), Some(words)) = (schema.as_object_mut(), parameter.get("description")) {
            map.insert("description".to_owned(), words.clone());
        }
        let argument = self.argument(place, name);
        match place {
            "path" => self.path.push((name.to_owned(), argument.clone())),
            "query" => self.query.push((name.to_owned(), argument.clone())),
            "header" => self.headers.push((name.to_owned(), argument.clone())),
            other => return Err(format!("it is sent in the {other}, which no tool does")),
        }
        self.property(argument, schema, is_required);
        Ok(())
    }

    // The parameter's name, in signs that every provider takes, and not twice.
    fn argument(&self, place: &str, name: &str) -> String {
        let plain = |letter: char| if letter.is_ascii_alphanumeric() || "_.-".contains(letter) { letter } else { '_' };
        let name: String = name.chars().map(plain).take(64).collect();
        let name = name.trim_matches('_').to_owned();
        if self.properties.contains_key(&name) { format!("{place}_{name}") } else { name }
    }

    fn property(&mut self, name: String, schema: Value, is_required: bool) {
        if is_required {
            self.required.push(name.clone());
        }
        self.properties.insert(name, schema);
    }

    fn body(&mut self, document: &Document, found: &Found<'_>) {
        let Some(body) = found.operation.get("requestBody") else { return };
        if let Err(why) = self.take_body(document, body) {
            self.faults.push(format!("its body: {why}"));
        }
    }

    fn take_body(&mut self, document: &Document, body: &Value) -> Result<(), String> {
        let body = document.resolve(body)?;
        let is_required = body.get("required") == Some(&Value::Bool(true));
        let contents = body.get("content").and_then(Value::as_object);
        let is_json = |kind: &str| {
            let kind = kind.split(';').next().unwrap_or_default().trim();
            kind == "application/json" || kind.ends_with("+json")
        };
        let Some((_, content)) = contents.into_iter().flatten().find(|(kind, _)| is_json(kind)) else {
            let kinds: Vec<&str> = contents.into_iter().flat_map(Map::keys).map(String::as_str).collect();
            return if is_required { Err(format!("it is {}; only JSON is sent", kinds.join(", "))) } else { Ok(()) };
        };
        let schema = content.get("schema").ok_or("it has no schema")?;
        let schema = convert(document, schema)?;
        if self.fits_beside(&schema, is_required) {
            self.leftovers = Leftovers::Body;
            self.flatten(schema);
        } else {
            let argument = self.argument("request", "body");
            self.body = Some(Body::Argument(argument.clone()));
            self.property(argument, schema, is_required);
        }
        Ok(())
    }

    // A plain object's properties become arguments of their own.
    fn fits_beside(&self, schema: &Value, is_required: bool) -> bool {
        const PLAIN: [&str; 8] =
            ["type", "properties", "required", "additionalProperties", "title", "description", "examples", "default"];
        let Some(map) = schema.as_object() else { return false };
        let properties = map.get("properties").and_then(Value::as_object);
        let open = map.get("additionalProperties").is_some_and(|more| *more != Value::Bool(false));
        let all_optional = map.get("required").and_then(Value::as_array).is_none_or(Vec::is_empty);
        map.get("type") == Some(&Value::from("object"))
            && map.keys().all(|key| PLAIN.contains(&key.as_str()))
            && !open
            && (is_required || all_optional)
            && properties.is_some_and(|properties| {
                !properties.is_empty() && !properties.keys().any(|name| self.properties.contains_key(name))
            })
    }

    fn flatten(&mut self, mut schema: Value) {
        let required = schema["required"].take();
        let is_required = |name: &str| required.as_array().is_some_and(|list| list.iter().any(|one| one == name));
        if let Value::Object(properties) = schema["properties"].take() {
            for (name, schema) in properties {
                let required = is_required(&name);
                self.property(name, schema, required);
            }
        }
    }

    // `/orders/{orderId}`, behind the server's own path.
    fn segments(&mut self, base: &Url, path: &str) -> Vec<Template> {
        let own = base.path().trim_matches('/');
        let mut segments: Vec<Template> = own.split('/').filter(|part| !part.is_empty()).map(Template::plain).collect();
        for part in path.trim_start_matches('/').split('/') {
            match self.segment(part) {
                Ok(template) => segments.push(template),
                Err(why) => self.faults.push(why),
            }
        }
        segments
    }

    fn segment(&self, part: &str) -> Result<Template, String> {
        let (mut template, mut rest) = (Template::default(), part);
        while let Some((before, from)) = rest.split_once('{') {
            let (name, after) =
                from.split_once('}').ok_or_else(|| format!("its path has a brace without its other half: {part}"))?;
            let argument = self.path.iter().find(|(known, _)| known == name).map(|(_, argument)| argument);
            let argument = argument.ok_or_else(|| format!("its path names {{{name}}}, but no parameter is it"))?;
            if !before.is_empty() {
                template = template.then(Template::plain(before));
            }
            template = template.then(Template::argument(argument));
            rest = after;
        }
        Ok(if rest.is_empty() { template } else { template.then(Template::plain(rest)) })
    }
}
