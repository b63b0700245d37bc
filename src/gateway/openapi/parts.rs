//! An operation's parameters and body → arguments, and where each of them is sent. Knows nothing of the rest of it.

use reqwest::Url;
use reqwest::header::HeaderValue;
use serde_json::{Map, Value};

use crate::gateway::http::{Body, Leftovers, Template, is_ours_alone};
use crate::gateway::openapi::document::{Document, Found};
use crate::gateway::openapi::schema::convert;

// What a connection to the server decides, or the configuration gives (OpenAPI 3.1 §4.8.12.1).
const IGNORED_HEADERS: [&str; 3] = ["accept", "content-type", "authorization"];

/// What the parameters and the body of an operation come to.
#[derive(Default)]
pub(super) struct Parts {
    pub(super) properties: Map<String, Value>,
    pub(super) required: Vec<String>,
    /// The parameter's name → the argument's.
    path: Vec<(String, String)>,
    pub(super) query: Vec<(String, String)>,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Option<Body>,
    pub(super) leftovers: Leftovers,
    /// The media type of the body, where there is one.
    pub(super) kind: Option<HeaderValue>,
    pub(super) faults: Vec<String>,
}

impl Parts {
    /// Takes the parameters in; the operation's own stand before those of its path.
    pub(super) fn parameters(&mut self, document: &Document, found: &Found<'_>) {
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
        // A model that writes one of the connection's own would choose the host, or end a request where it likes.
        if place == "header" && (is_ours_alone(name) || name.eq_ignore_ascii_case("cookie")) {
            let words = "it is a header that is not for a tool to set";
            return if is_required { Err(words.to_owned()) } else { Ok(()) };
        }
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

    /// Takes the body in.
    pub(super) fn body(&mut self, document: &Document, found: &Found<'_>) {
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
        let Some((kind, content)) = contents.into_iter().flatten().find(|(kind, _)| is_json(kind)) else {
            let kinds: Vec<&str> = contents.into_iter().flat_map(Map::keys).map(String::as_str).collect();
            return if is_required { Err(format!("it is {}; only JSON is sent", kinds.join(", "))) } else { Ok(()) };
        };
        self.kind = HeaderValue::from_str(kind).ok();
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

    /// `/orders/{orderId}`, behind the server's own path.
    pub(super) fn segments(&mut self, base: &Url, path: &str) -> Vec<Template> {
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
