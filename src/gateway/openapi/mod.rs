//! `[[openapi]]`: operations of an OpenAPI 3.0 or 3.1 document as tools. Only those that are allowed by name.
//!
//! | file | does |
//! |---|---|
//! | `document` | JSON or YAML → a document; references into it |
//! | `yaml` | YAML → JSON |
//! | `operation` | one operation → a definition's JSON and what is sent |
//! | `parts` | its parameters and its body → arguments, and where they are sent |
//! | `schema` | a schema of the document → JSON Schema |
//!
//! Knows nothing of files beside the document, nor of what is served.

mod document;
mod operation;
mod parts;
mod schema;
mod yaml;

use std::path::Path;

use reqwest::header::HeaderName;
use serde_json::{Map, Value};

use crate::gateway::catalog::Entry;
use crate::gateway::http::{self, Setting, Template};
use crate::gateway::openapi::document::Document;
use crate::gateway::openapi::operation::Source;
use crate::gateway::tools::ServerTool;
use crate::tools::Definition;

const FIELDS: [&str; 5] = ["document", "baseUrl", "owner", "headers", "allow"];

/// The tools of one `[[openapi]]`: one entry for each operation that is allowed, and one without a name for faults of
/// the block itself.
pub(super) fn entries(block: &Value, directory: &Path, setting: &Setting<'_>) -> Vec<Entry> {
    let owner = block.get("owner").and_then(Value::as_str).unwrap_or_default();
    let mut faults = Vec::new();
    for field in block.as_object().into_iter().flat_map(Map::keys).filter(|field| !FIELDS.contains(&field.as_str())) {
        faults.push(format!("[[openapi]] has a field \"{field}\"; there are: {}", FIELDS.join(", ")));
    }
    let allowed = allowed(block.get("allow"), &mut faults);
    let headers = http::headers(block.get("headers"), setting);
    let source = block.get("document").and_then(Value::as_str).map(|file| Document::read(&directory.join(file)));
    let document = match source {
        Some(Ok(document)) => Ok(document),
        Some(Err(why)) => Err(format!("its document {}: {why}", block["document"])),
        None => Err("[[openapi]] has no document: the path of an OpenAPI file".to_owned()),
    };
    let mut entries: Vec<Entry> = Vec::new();
    for (operation, more) in &allowed {
        let name = more.get("name").and_then(Value::as_str).map_or_else(|| snake_case(operation), str::to_owned);
        let tool = match (&document, &headers) {
            (Ok(document), Ok(headers)) => {
                let source = Source { document, block, owner, setting };
                tool(&source, operation, &name, more, headers)
            }
            (Err(why), _) => Err(vec![why.clone()]),
            (_, Err(why)) => Err(why.clone()),
        };
        entries.push(Entry { name, owner: owner.to_owned(), tool });
    }
    if !faults.is_empty() {
        entries.push(Entry { name: String::new(), owner: owner.to_owned(), tool: Err(faults) });
    }
    entries
}

// Operation → what is said about it beside the document.
fn allowed(json: Option<&Value>, faults: &mut Vec<String>) -> Vec<(String, Map<String, Value>)> {
    let fault = "allow must name the operations that become tools: [\"getOrder\", …], or a table of them";
    match json {
        Some(Value::Array(list)) if !list.is_empty() && list.iter().all(Value::is_string) => {
            list.iter().filter_map(Value::as_str).map(|name| (name.to_owned(), Map::new())).collect()
        }
        Some(Value::Object(table)) if !table.is_empty() => {
            let mut found = Vec::new();
            for (operation, more) in table {
                match more {
                    Value::Object(more) => found.push((operation.clone(), more.clone())),
                    _ => faults.push(format!("allow.{operation} must be a table; {{}} where nothing is to be said")),
                }
            }
            found
        }
        _ => {
            faults.push(fault.to_owned());
            Vec::new()
        }
    }
}

fn tool(
    source: &Source<'_>,
    operation: &str,
    name: &str,
    more: &Map<String, Value>,
    headers: &[(HeaderName, Template)],
) -> Result<ServerTool, Vec<String>> {
    let (mut json, mut spec) = operation::read(source, operation)?;
    json["name"] = Value::from(name);
    for (field, value) in more {
        if matches!(field.as_str(), "scope" | "parameters") {
            return Err(vec![format!("its {field} comes from the document; it can not be said beside it")]);
        }
        json[field.as_str()] = value.clone();
    }
    let (definition, mut faults) = Definition::from_json(&json, &[]);
    faults.extend(http::broken_promises(&definition));
    if !faults.is_empty() {
        return Err(faults);
    }
    if let Some(ms) = definition.timeout_ms {
        spec.timeout = std::time::Duration::from_millis(ms);
    }
    spec.headers.extend(headers.iter().cloned());
    Ok(http::tool(definition, spec, &source.setting.surroundings.clients))
}

/// `getOrder` → `get_order`, `HTTPStatus` → `http_status`, `list-orders` → `list_orders`.
fn snake_case(name: &str) -> String {
    let letters: Vec<char> = name.chars().collect();
    let mut out = String::new();
    for (at, letter) in letters.iter().enumerate() {
        if !letter.is_ascii_alphanumeric() {
            if !out.ends_with('_') && !out.is_empty() {
                out.push('_');
            }
            continue;
        }
        let before = at.checked_sub(1).map(|at| letters[at]);
        let after = letters.get(at + 1);
        let begins = letter.is_ascii_uppercase()
            && before.is_some_and(|before| {
                before.is_ascii_lowercase()
                    || before.is_ascii_digit()
                    || (before.is_ascii_uppercase() && after.is_some_and(char::is_ascii_lowercase))
            });
        if begins && !out.ends_with('_') {
            out.push('_');
        }
        out.push(letter.to_ascii_lowercase());
    }
    out.trim_end_matches('_').to_owned()
}
