//! A declared subset of JSON Schema, compiled once. Knows nothing of tools.
//!
//! Declared means: a keyword it does not know is an error when the schema is compiled, never ignored.
//!
//! | group | keywords |
//! |---|---|
//! | any | `type`, `enum`, `const`, `anyOf`, `oneOf`, `allOf` |
//! | objects | `properties`, `required`, `additionalProperties` |
//! | arrays | `items`, `minItems`, `maxItems`, `uniqueItems` |
//! | strings | `minLength`, `maxLength` (Unicode characters) |
//! | numbers | `minimum`, `maximum`, `exclusiveMinimum`, `exclusiveMaximum` |
//! | notes, not checked | `title`, `description`, `default`, `examples`, `format`, `deprecated`, `$schema`, `$comment` |
//!
//! Source: JSON Schema 2020-12, Validation §6 and Core §10.

use std::fmt;

use serde_json::{Map, Number, Value};

use crate::protocol::Names;

// Deeper than any provider takes; a bound, so that a hostile definition can not exhaust the stack.
const MAX_DEPTH: usize = 24;

/// A compiled schema. The default accepts anything.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Schema {
    never: bool,
    types: Vec<Type>,
    allowed: Option<Vec<Value>>,
    properties: Names<Schema>,
    required: Vec<String>,
    additional: Option<Box<Schema>>,
    items: Option<Box<Schema>>,
    unique: bool,
    length: Bounds,
    count: Bounds,
    minimum: Option<Number>,
    maximum: Option<Number>,
    exclusive_minimum: Option<Number>,
    exclusive_maximum: Option<Number>,
    any_of: Vec<Schema>,
    one_of: Vec<Schema>,
    all_of: Vec<Schema>,
}

/// Something wrong with a schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaProblem {
    /// Where in the schema, as a JSON Pointer.
    pub path: String,
    /// What is wrong.
    pub message: String,
}

/// A value that does not fit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Where in the value: `customer.city`, or empty for the whole.
    pub path: String,
    /// What was expected.
    pub expected: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Type {
    Null,
    Boolean,
    Object,
    Array,
    Number,
    Integer,
    String,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Bounds {
    least: Option<u64>,
    most: Option<u64>,
}

impl Schema {
    /// Compiles the schema of a tool's arguments: the root must be an object.
    ///
    /// # Errors
    /// Every fault of the schema, each with its place.
    pub fn compile_arguments(schema: &Value) -> Result<Self, Vec<SchemaProblem>> {
        let mut problems = Vec::new();
        if schema.get("type") != Some(&Value::from("object")) {
            let found = schema.get("type").map_or("no type".to_owned(), |found| format!("type {found}"));
            let message = format!("the arguments' schema must have \"type\": \"object\" at its root; it has {found}");
            problems.push(SchemaProblem { path: String::new(), message });
        }
        let compiled = compile(schema, "", 0, &mut problems);
        if problems.is_empty() { Ok(compiled) } else { Err(problems) }
    }

    /// Compiles a schema of anything.
    ///
    /// # Errors
    /// Every fault of the schema, each with its place.
    pub fn compile(schema: &Value) -> Result<Self, Vec<SchemaProblem>> {
        let mut problems = Vec::new();
        let compiled = compile(schema, "", 0, &mut problems);
        if problems.is_empty() { Ok(compiled) } else { Err(problems) }
    }

    /// Checks a value.
    ///
    /// # Errors
    /// Every place where the value does not fit, in words a model can repair it by; at most 8.
    pub fn check(&self, value: &Value) -> Result<(), Vec<Violation>> {
        let mut violations = Vec::new();
        self.visit(value, "", &mut violations);
        violations.truncate(8);
        if violations.is_empty() { Ok(()) } else { Err(violations) }
    }

    /// Takes out optional properties that are null where the schema has no null: models write both.
    pub fn drop_absent(&self, value: &mut Value) {
        match value {
            Value::Object(map) => {
                map.retain(|key, value| {
                    let optional_null = value.is_null() && !self.required.contains(key);
                    !optional_null || self.properties.get(key).is_none_or(|schema| schema.check(value).is_ok())
                });
                for (key, value) in map {
                    if let Some(schema) = self.properties.get(key) {
                        schema.drop_absent(value);
                    }
                }
            }
            Value::Array(list) => {
                if let Some(schema) = &self.items {
                    list.iter_mut().for_each(|item| schema.drop_absent(item));
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    fn visit(&self, value: &Value, path: &str, out: &mut Vec<Violation>) {
        let mut fail = |expected: String| out.push(Violation { path: path.to_owned(), expected });
        if self.never {
            return fail("is not allowed".to_owned());
        }
        if !self.types.is_empty() && !self.types.iter().any(|kind| kind.fits(value)) {
            let names = self.types.iter().map(|kind| kind.name()).collect::<Vec<_>>().join(" or ");
            return fail(format!("must be {names}, is {}", name_of(value)));
        }
        if let Some(allowed) = &self.allowed
            && !allowed.iter().any(|candidate| same(candidate, value))
        {
            let names = allowed.iter().take(20).map(ToString::to_string).collect::<Vec<_>>().join(", ");
            fail(format!("must be one of {names}"));
        }
        match value {
            Value::String(text) => self.length.check(text.chars().count(), "characters", &mut fail),
            Value::Number(number) => self.visit_number(number.as_f64().unwrap_or(f64::NAN), &mut fail),
            Value::Array(list) => self.visit_array(list, path, out),
            Value::Object(map) => self.visit_object(map, path, out),
            Value::Null | Value::Bool(_) => {}
        }
        self.visit_combined(value, path, out);
    }

    fn visit_number(&self, number: f64, fail: &mut impl FnMut(String)) {
        type Fits = fn(f64, f64) -> bool;
        let checks: [(&Option<Number>, &str, Fits); 4] = [
            (&self.minimum, "at least", |number, bound| number >= bound),
            (&self.maximum, "at most", |number, bound| number <= bound),
            (&self.exclusive_minimum, "more than", |number, bound| number > bound),
            (&self.exclusive_maximum, "less than", |number, bound| number < bound),
        ];
        for (bound, words, fits) in checks {
            if let Some(bound) = bound
                && !bound.as_f64().is_some_and(|bound| fits(number, bound))
            {
                fail(format!("must be {words} {bound}"));
            }
        }
    }

    fn visit_array(&self, list: &[Value], path: &str, out: &mut Vec<Violation>) {
        let mut fail = |expected: String| out.push(Violation { path: path.to_owned(), expected });
        self.count.check(list.len(), "items", &mut fail);
        if self.unique && list.iter().enumerate().any(|(at, item)| list[..at].iter().any(|other| same(other, item))) {
            fail("must not hold the same item twice".to_owned());
        }
        if let Some(items) = &self.items {
            for (at, item) in list.iter().enumerate() {
                items.visit(item, &format!("{path}[{at}]"), out);
            }
        }
    }

    fn visit_object(&self, map: &Map<String, Value>, path: &str, out: &mut Vec<Violation>) {
        for name in &self.required {
            if !map.contains_key(name) {
                out.push(Violation { path: join(path, name), expected: "is missing".to_owned() });
            }
        }
        for (name, value) in map {
            let schema = self.properties.get(name).or(self.additional.as_deref());
            if let Some(schema) = schema {
                if schema.never {
                    let known = self.properties.keys().collect::<Vec<_>>().join(", ");
                    let expected = format!("is not a property here; there are: {known}");
                    out.push(Violation { path: join(path, name), expected });
                } else {
                    schema.visit(value, &join(path, name), out);
                }
            }
        }
    }

    fn visit_combined(&self, value: &Value, path: &str, out: &mut Vec<Violation>) {
        for schema in &self.all_of {
            schema.visit(value, path, out);
        }
        let fitting = |schemas: &[Self]| schemas.iter().filter(|schema| schema.check(value).is_ok()).count();
        if !self.any_of.is_empty() && fitting(&self.any_of) == 0 {
            out.push(Violation { path: path.to_owned(), expected: "fits none of the allowed forms".to_owned() });
        }
        if !self.one_of.is_empty() {
            let count = fitting(&self.one_of);
            if count != 1 {
                let expected = format!("must fit exactly one of the allowed forms, fits {count}");
                out.push(Violation { path: path.to_owned(), expected });
            }
        }
    }
}

impl Bounds {
    fn check(self, size: usize, unit: &str, fail: &mut impl FnMut(String)) {
        let size = size as u64;
        if let Some(least) = self.least.filter(|least| size < *least) {
            fail(format!("must have at least {least} {unit}, has {size}"));
        }
        if let Some(most) = self.most.filter(|most| size > *most) {
            fail(format!("must have at most {most} {unit}, has {size}"));
        }
    }
}

impl Type {
    fn parse(word: &str) -> Option<Self> {
        Some(match word {
            "null" => Self::Null,
            "boolean" => Self::Boolean,
            "object" => Self::Object,
            "array" => Self::Array,
            "number" => Self::Number,
            "integer" => Self::Integer,
            "string" => Self::String,
            _ => return None,
        })
    }

    fn name(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Boolean => "true or false",
            Self::Object => "an object",
            Self::Array => "an array",
            Self::Number => "a number",
            Self::Integer => "a whole number",
            Self::String => "a string",
        }
    }

    fn fits(self, value: &Value) -> bool {
        match (self, value) {
            (Self::Null, Value::Null)
            | (Self::Boolean, Value::Bool(_))
            | (Self::Object, Value::Object(_))
            | (Self::Array, Value::Array(_))
            | (Self::Number, Value::Number(_))
            | (Self::String, Value::String(_)) => true,
            // 3.0 is an integer (JSON Schema Core §4.2.3), and models write it so.
            (Self::Integer, Value::Number(number)) => {
                number.is_i64() || number.is_u64() || number.as_f64().is_some_and(|number| number.fract() == 0.0)
            }
            _ => false,
        }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = if self.path.is_empty() { "the value" } else { &self.path };
        write!(f, "{place} {}", self.expected)
    }
}

impl fmt::Display for SchemaProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = if self.path.is_empty() { "at its root" } else { &self.path };
        write!(f, "schema {place}: {}", self.message)
    }
}

fn compile(schema: &Value, path: &str, depth: usize, out: &mut Vec<SchemaProblem>) -> Schema {
    let mut fault = |path: String, message: String| out.push(SchemaProblem { path, message });
    if depth > MAX_DEPTH {
        fault(path.to_owned(), format!("is nested deeper than {MAX_DEPTH}"));
        return Schema::default();
    }
    let map = match schema {
        Value::Bool(true) => return Schema::default(),
        Value::Bool(false) => return Schema { never: true, ..Schema::default() },
        Value::Object(map) => map,
        Value::Null | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            fault(path.to_owned(), "must be an object, true or false".to_owned());
            return Schema::default();
        }
    };
    let mut compiled = Schema::default();
    for (keyword, value) in map {
        let place = format!("{path}/{keyword}");
        if let Err(expected) = compiled.set(keyword, value, &place, depth, out) {
            out.push(SchemaProblem { path: place, message: expected });
        }
    }
    compiled
}

impl Schema {
    fn set(
        &mut self,
        keyword: &str,
        value: &Value,
        place: &str,
        depth: usize,
        out: &mut Vec<SchemaProblem>,
    ) -> Result<(), String> {
        let mut sub = |value: &Value, place: &str| compile(value, place, depth + 1, out);
        match keyword {
            "title" | "description" | "default" | "examples" | "format" | "deprecated" | "$schema" | "$comment" => {}
            "type" => self.types = types(value)?,
            "enum" => self.allowed = Some(value.as_array().ok_or("must be an array")?.clone()),
            "const" => self.allowed = Some(vec![value.clone()]),
            "properties" => {
                for (name, schema) in value.as_object().ok_or("must be an object")? {
                    self.properties.insert(name.clone(), sub(schema, &format!("{place}/{name}")));
                }
            }
            "required" => self.required = strings(value)?,
            "additionalProperties" => self.additional = Some(Box::new(sub(value, place))),
            "items" => self.items = Some(Box::new(sub(value, place))),
            "uniqueItems" => self.unique = value.as_bool().ok_or("must be true or false")?,
            "minLength" => self.length.least = Some(size(value)?),
            "maxLength" => self.length.most = Some(size(value)?),
            "minItems" => self.count.least = Some(size(value)?),
            "maxItems" => self.count.most = Some(size(value)?),
            "minimum" => self.minimum = Some(number(value)?),
            "maximum" => self.maximum = Some(number(value)?),
            "exclusiveMinimum" => self.exclusive_minimum = Some(number(value)?),
            "exclusiveMaximum" => self.exclusive_maximum = Some(number(value)?),
            "anyOf" | "oneOf" | "allOf" => {
                let list = value.as_array().filter(|list| !list.is_empty()).ok_or("must be a non-empty array")?;
                let schemas = list.iter().enumerate().map(|(at, one)| sub(one, &format!("{place}/{at}"))).collect();
                match keyword {
                    "anyOf" => self.any_of = schemas,
                    "oneOf" => self.one_of = schemas,
                    _ => self.all_of = schemas,
                }
            }
            _ => return Err("is a keyword this client does not check, so it can not promise it".to_owned()),
        }
        Ok(())
    }
}

fn types(value: &Value) -> Result<Vec<Type>, String> {
    let one = |word: &str| {
        let hint = if word == "dict" { "; write \"object\"" } else { "" };
        Type::parse(word).ok_or_else(|| format!("\"{word}\" is no JSON Schema type{hint}"))
    };
    match value {
        Value::String(word) => Ok(vec![one(word)?]),
        Value::Array(_) => strings(value)?.iter().map(|word| one(word)).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => {
            Err("must be a string or an array of strings".to_owned())
        }
    }
}

fn strings(value: &Value) -> Result<Vec<String>, String> {
    let list = value.as_array().ok_or("must be an array of strings")?;
    list.iter()
        .map(|one| one.as_str().map(str::to_owned).ok_or_else(|| "must be an array of strings".to_owned()))
        .collect()
}

fn size(value: &Value) -> Result<u64, String> {
    // 2.0 is a whole number (Core §4.2.3).
    let whole = |number: &f64| number.fract() == 0.0 && (0.0..9e15).contains(number);
    let size = value.as_u64().or_else(|| value.as_f64().filter(whole).map(|number| number as u64));
    size.ok_or_else(|| "must be a whole number, 0 or more".to_owned())
}

// Kept as it was written, and so read back to whoever broke it.
fn number(value: &Value) -> Result<Number, String> {
    value.as_number().cloned().ok_or_else(|| "must be a number".to_owned())
}

// Equality by JSON Schema Core §4.2.2: 1 and 1.0 are the same number.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a == b || a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| same(a, b)))
        }
        _ => a == b,
    }
}

fn name_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

fn join(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}
