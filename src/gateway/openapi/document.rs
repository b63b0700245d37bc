//! An OpenAPI document, and references into it. Nothing is ever fetched.

use std::path::Path;

use serde_json::{Map, Value};

use crate::gateway::catalog::text;
use crate::gateway::openapi::yaml;

/// A document.
pub(super) struct Document {
    json: Value,
    /// OpenAPI 3.0, whose schemas are no JSON Schema yet.
    pub(super) is_3_0: bool,
}

/// An operation, and where it stands.
pub(super) struct Found<'a> {
    pub(super) path: &'a str,
    pub(super) method: &'a str,
    pub(super) operation: &'a Value,
    /// What all operations of its path share.
    pub(super) shared: &'a Value,
}

const METHODS: [&str; 8] = ["get", "put", "post", "delete", "options", "head", "patch", "trace"];
const MAX_HOPS: usize = 16;

impl Document {
    pub(super) fn read(path: &Path) -> Result<Self, String> {
        let text = text(path)?;
        let is_yaml = path.extension().is_some_and(|kind| kind == "yaml" || kind == "yml");
        let json: Value = if is_yaml {
            yaml::parse(&text)?
        } else {
            serde_json::from_str(&text).map_err(|why| format!("it is no JSON: {why}"))?
        };
        let version = json.get("openapi").and_then(Value::as_str).unwrap_or_default();
        let is_3_0 = version.starts_with("3.0.");
        if !is_3_0 && !version.starts_with("3.1.") {
            let said = if json.get("swagger").is_some() { "Swagger 2" } else { "no version of OpenAPI" };
            return Err(format!("it says {said}; OpenAPI 3.0 and 3.1 are read"));
        }
        Ok(Self { json, is_3_0 })
    }

    /// The operation of an id.
    pub(super) fn find(&self, id: &str) -> Result<Found<'_>, String> {
        let paths = self.json.get("paths").and_then(Value::as_object);
        let mut ids = Vec::new();
        for (path, item) in paths.into_iter().flatten() {
            for method in METHODS {
                let Some(operation) = item.get(method) else { continue };
                match operation.get("operationId").and_then(Value::as_str) {
                    Some(found) if found == id => return Ok(Found { path, method, operation, shared: item }),
                    Some(other) => ids.push(other),
                    None => {}
                }
            }
        }
        ids.sort_unstable();
        ids.truncate(40);
        Err(format!("the document has no operation \"{id}\"; there are: {}", ids.join(", ")))
    }

    /// What stands there, or what is referred to there, how often so ever.
    pub(super) fn resolve<'a>(&'a self, mut value: &'a Value) -> Result<&'a Value, String> {
        for _ in 0..MAX_HOPS {
            let Some(reference) = value.get("$ref").and_then(Value::as_str) else { return Ok(value) };
            value = self.at(reference)?;
        }
        Err("a reference in it leads from one to the next without end".to_owned())
    }

    /// What a reference refers to.
    pub(super) fn at(&self, reference: &str) -> Result<&Value, String> {
        let Some(pointer) = reference.strip_prefix('#') else {
            return Err(format!("the reference \"{reference}\" leads out of the document; put what it names into it"));
        };
        self.json.pointer(pointer).ok_or_else(|| format!("the reference \"{reference}\" leads to nothing"))
    }

    /// The version of the interface it describes.
    pub(super) fn version(&self) -> String {
        match self.json.pointer("/info/version") {
            Some(Value::String(text)) if !text.is_empty() => text.clone(),
            // YAML reads 1.0 as a number.
            Some(Value::Number(number)) => number.to_string(),
            _ => "1".to_owned(),
        }
    }

    /// Where the document says that the server is, its variables at their defaults.
    pub(super) fn server<'a>(&'a self, found: &Found<'a>) -> Option<String> {
        let of = |value: &'a Value| value.get("servers").and_then(Value::as_array).and_then(|list| list.first());
        let server = of(found.operation).or_else(|| of(found.shared)).or_else(|| of(&self.json))?;
        let mut url = server.get("url").and_then(Value::as_str)?.to_owned();
        for (name, variable) in server.get("variables").and_then(Value::as_object).into_iter().flat_map(Map::iter) {
            let value = variable.get("default").and_then(Value::as_str).unwrap_or_default();
            url = url.replace(&format!("{{{name}}}"), value);
        }
        Some(url)
    }
}
