//! A schema of an OpenAPI document → JSON Schema. Knows nothing of what it describes.
//!
//! References are put in place of themselves, what only a document needs is left out, and of OpenAPI 3.0's own words
//! `nullable`, `example` and true for `exclusiveMinimum` are put into JSON Schema's. Whatever else stands in it stays:
//! a keyword that nobody checks is found where the tool is registered. What a server alone writes (`readOnly`) is no
//! argument.

use serde_json::{Map, Value, json};

use crate::gateway::openapi::document::Document;

const MAX_DEPTH: usize = 24;
const MAX_SCHEMAS: usize = 5000;

// Nothing for whoever writes arguments.
const LEFT_OUT: [&str; 7] = ["xml", "externalDocs", "discriminator", "readOnly", "writeOnly", "nullable", "example"];
const HOLD_ONE: [&str; 8] = ["items", "additionalProperties", "not", "contains", "propertyNames", "if", "then", "else"];
const HOLD_LIST: [&str; 4] = ["allOf", "anyOf", "oneOf", "prefixItems"];
const HOLD_NAMED: [&str; 4] = ["properties", "patternProperties", "dependentSchemas", "$defs"];

/// The schema as JSON Schema; `Err` in a sentence, with its place.
pub(super) fn convert(document: &Document, schema: &Value) -> Result<Value, String> {
    Converter { document, within: Vec::new(), count: 0 }.convert(schema, 0)
}

struct Converter<'a> {
    document: &'a Document,
    /// The references that lead here.
    within: Vec<String>,
    count: usize,
}

impl Converter<'_> {
    fn convert(&mut self, schema: &Value, depth: usize) -> Result<Value, String> {
        self.count += 1;
        if depth > MAX_DEPTH || self.count > MAX_SCHEMAS {
            return Err(format!("its schema is nested deeper than {MAX_DEPTH}, or has more than {MAX_SCHEMAS} parts"));
        }
        let Some(map) = schema.as_object() else {
            return if schema.is_boolean() {
                Ok(schema.clone())
            } else {
                Err("a schema in it is no object".to_owned())
            };
        };
        match map.get("$ref").and_then(Value::as_str) {
            Some(reference) => self.refer(reference, map, depth),
            None => self.object(map, depth),
        }
    }

    // OpenAPI 3.0 ignores what stands beside a reference; 3.1 reads it, too.
    fn refer(&mut self, reference: &str, map: &Map<String, Value>, depth: usize) -> Result<Value, String> {
        if self.within.iter().any(|outer| outer == reference) {
            return Err(format!("the schema \"{reference}\" holds itself; no argument can be described by it"));
        }
        let document = self.document;
        let target = document.at(reference)?;
        self.within.push(reference.to_owned());
        let converted = self.convert(target, depth + 1);
        self.within.pop();
        let mut converted = converted?;
        if !document.is_3_0
            && let Some(object) = converted.as_object_mut()
        {
            for (key, value) in
                map.iter().filter(|(key, _)| matches!(key.as_str(), "description" | "title" | "default"))
            {
                object.insert(key.clone(), value.clone());
            }
        }
        Ok(converted)
    }

    fn object(&mut self, map: &Map<String, Value>, depth: usize) -> Result<Value, String> {
        if matches!(map.get("format").and_then(Value::as_str), Some("binary")) {
            return Err("it takes binary data, which no argument can hold".to_owned());
        }
        let mut out = Map::new();
        for (key, value) in map {
            let kept = match key.as_str() {
                key if LEFT_OUT.contains(&key) || key.starts_with("x-") => continue,
                key if HOLD_ONE.contains(&key) && !value.is_array() => self.convert(value, depth + 1)?,
                key if HOLD_LIST.contains(&key) => self.list(value, depth)?,
                key if HOLD_NAMED.contains(&key) => self.named(value, key == "properties", depth)?,
                _ => value.clone(),
            };
            out.insert(key.clone(), kept);
        }
        self.without_read_only(map, &mut out);
        if let Some(example) = map.get("example").filter(|_| !out.contains_key("examples")) {
            out.insert("examples".to_owned(), json!([example]));
        }
        exclusive(&mut out, "exclusiveMinimum", "minimum");
        exclusive(&mut out, "exclusiveMaximum", "maximum");
        let nullable = map.get("nullable") == Some(&Value::Bool(true));
        Ok(if nullable { or_null(out) } else { Value::Object(out) })
    }

    fn list(&mut self, value: &Value, depth: usize) -> Result<Value, String> {
        let list = value.as_array().ok_or("a list of schemas in it is no list")?;
        list.iter().map(|schema| self.convert(schema, depth + 1)).collect()
    }

    fn named(&mut self, value: &Value, are_properties: bool, depth: usize) -> Result<Value, String> {
        let named = value.as_object().ok_or("a table of schemas in it is no table")?;
        let mut out = Map::new();
        for (name, schema) in named {
            if !are_properties || !self.is_read_only(schema) {
                let converted = self.convert(schema, depth + 1).map_err(|why| within(name, &why))?;
                out.insert(name.clone(), converted);
            }
        }
        Ok(Value::Object(out))
    }

    fn is_read_only(&self, schema: &Value) -> bool {
        let says = |schema: &Value| schema.get("readOnly") == Some(&Value::Bool(true));
        says(schema) || self.document.resolve(schema).is_ok_and(says)
    }

    fn without_read_only(&self, map: &Map<String, Value>, out: &mut Map<String, Value>) {
        let properties = map.get("properties").and_then(Value::as_object);
        if let Some(Value::Array(required)) = out.get_mut("required") {
            required.retain(|name| {
                let schema = name.as_str().and_then(|name| properties?.get(name));
                !schema.is_some_and(|schema| self.is_read_only(schema))
            });
        }
    }
}

fn within(name: &str, why: &str) -> String {
    if why.starts_with("in ") { format!("in {name}, {why}") } else { format!("in {name}: {why}") }
}

// OpenAPI 3.0 (JSON Schema draft 4): true beside the bound. Later: the bound itself.
fn exclusive(out: &mut Map<String, Value>, key: &str, bound: &str) {
    match out.get(key) {
        Some(Value::Bool(true)) => {
            let value = out.remove(bound);
            out.remove(key);
            out.extend(value.map(|value| (key.to_owned(), value)));
        }
        Some(Value::Bool(false)) => drop(out.remove(key)),
        _ => {}
    }
}

fn or_null(mut out: Map<String, Value>) -> Value {
    let Some(Value::String(kind)) = out.get("type").cloned() else {
        return json!({ "anyOf": [out, { "type": "null" }] });
    };
    out.insert("type".to_owned(), json!([kind, "null"]));
    if let Some(Value::Array(allowed)) = out.get_mut("enum")
        && !allowed.contains(&Value::Null)
    {
        allowed.push(Value::Null);
    }
    Value::Object(out)
}
