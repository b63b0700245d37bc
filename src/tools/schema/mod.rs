//! JSON Schema, drafts 2020-12 and 7: declared, bounded, compiled once. Knows nothing of tools.
//!
//! Declared means: a keyword it does not know is an error when the schema is compiled, never ignored. Bounded means:
//! neither a schema nor a value can make it loop, overflow the stack, or work without end.
//!
//! | group | keywords |
//! |---|---|
//! | any | `type`, `enum`, `const`, `anyOf`, `oneOf`, `allOf`, `not`, `if`, `then`, `else` |
//! | objects | `properties`, `patternProperties`, `additionalProperties`, `propertyNames`, `required`, `minProperties`, `maxProperties`, `dependentRequired`, `dependentSchemas` |
//! | arrays | `prefixItems`, `items`, `contains`, `minContains`, `maxContains`, `minItems`, `maxItems`, `uniqueItems` |
//! | strings | `minLength`, `maxLength` (Unicode characters), `pattern` |
//! | numbers | `minimum`, `maximum`, `exclusiveMinimum`, `exclusiveMaximum`, `multipleOf` (exact) |
//! | references | `$ref` as a JSON Pointer into the same schema (`#`, `#/$defs/…`), recursive too; `$defs`, `definitions` |
//! | draft 7 only | `items` with a list, `additionalItems`, `dependencies`; what stands beside a `$ref` is ignored |
//! | notes, not checked | `title`, `description`, `default`, `examples`, `format`, `deprecated`, `readOnly`, `writeOnly`, `contentEncoding`, `contentMediaType`, `contentSchema`, `$schema`, `$comment`, `$id` at the root, `x-…` |
//!
//! Not checked here: `$anchor`, `$dynamicRef`, `$id` below the root, `unevaluatedProperties`, `unevaluatedItems`,
//! patterns that look around or back. A schema with one of these is [`ProblemKind::Unchecked`]; with the feature
//! `gateway` a full engine takes it over. Nothing is ever fetched.
//!
//! Source: JSON Schema 2020-12 and draft 7, Core and Validation.

mod absent;
mod check;
mod compile;
#[cfg(feature = "gateway")]
mod full;
mod number;
mod pattern;
mod place;
mod reference;
mod rules;
mod words;

use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use self::rules::Rules;

/// Schemas within schemas: deeper than any provider takes.
pub const MAX_DEPTH: usize = 24;
/// Schemas within one schema, all told.
pub const MAX_SUBSCHEMAS: usize = 2_000;
/// Characters of one `pattern`.
pub const MAX_PATTERN: usize = 1_000;
/// How deep a value may be nested.
pub const MAX_VALUE_DEPTH: usize = 128;
/// Violations that one check tells.
pub const MAX_VIOLATIONS: usize = 8;

/// A compiled schema. The default accepts anything.
#[derive(Clone, Debug, Default)]
pub struct Schema {
    rules: Arc<Rules>,
    // Where it is there, it decides; the rules then only say which nulls are left out.
    #[cfg(feature = "gateway")]
    full: Option<Arc<full::Full>>,
}

/// Something wrong with a schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaProblem {
    /// Where in the schema, as a JSON Pointer.
    pub path: String,
    /// What is wrong.
    pub message: String,
    /// Whose fault it is.
    pub kind: ProblemKind,
}

/// Whose fault a problem is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProblemKind {
    /// The schema's: it would be refused anywhere.
    Broken,
    /// This engine's: it may be right, but can not be checked here. Another engine may.
    Unchecked,
}

/// A value that does not fit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Where in the value: `customer.city`, or empty for the whole.
    pub path: String,
    /// What was expected.
    pub expected: String,
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
            problems.push(SchemaProblem { path: String::new(), message, kind: ProblemKind::Broken });
        }
        Self::build(schema, problems)
    }

    /// Compiles a schema of anything.
    ///
    /// # Errors
    /// Every fault of the schema, each with its place.
    pub fn compile(schema: &Value) -> Result<Self, Vec<SchemaProblem>> {
        Self::build(schema, Vec::new())
    }

    /// The same with this engine alone, as in a page, also where a fuller one is built in.
    ///
    /// # Errors
    /// Every fault of the schema, each with its place.
    pub fn compile_declared(schema: &Value) -> Result<Self, Vec<SchemaProblem>> {
        Self::build_declared(schema, Vec::new())
    }

    fn build_declared(schema: &Value, mut problems: Vec<SchemaProblem>) -> Result<Self, Vec<SchemaProblem>> {
        let schema = Self {
            rules: Arc::new(compile::compile(schema, &mut problems)),
            #[cfg(feature = "gateway")]
            full: None,
        };
        if problems.is_empty() { Ok(schema) } else { Err(problems) }
    }

    #[cfg(not(feature = "gateway"))]
    fn build(schema: &Value, problems: Vec<SchemaProblem>) -> Result<Self, Vec<SchemaProblem>> {
        Self::build_declared(schema, problems)
    }

    #[cfg(feature = "gateway")]
    fn build(schema: &Value, mut problems: Vec<SchemaProblem>) -> Result<Self, Vec<SchemaProblem>> {
        let rules = Arc::new(compile::compile(schema, &mut problems));
        // A word no draft knows is more likely a slip than a wish: the full engine would ignore it in silence.
        if rules.strange_words || problems.iter().any(|problem| problem.kind == ProblemKind::Broken) {
            return Err(problems);
        }
        match full::Full::compile(schema) {
            Some(full) => Ok(Self { rules, full: Some(Arc::new(full)) }),
            // The other engine is stricter here and there (in what it takes for a pattern); this one can judge alone.
            None if problems.is_empty() => Ok(Self { rules, full: None }),
            None => Err(problems),
        }
    }

    /// Checks a value.
    ///
    /// # Errors
    /// Every place where the value does not fit, in words a model can repair it by; at most [`MAX_VIOLATIONS`].
    pub fn check(&self, value: &Value) -> Result<(), Vec<Violation>> {
        if number::is_deeper(value, MAX_VALUE_DEPTH) {
            let expected = format!("must not be nested deeper than {MAX_VALUE_DEPTH}");
            return Err(vec![Violation { path: String::new(), expected }]);
        }
        let violations = self.violations(value);
        if violations.is_empty() { Ok(()) } else { Err(violations) }
    }

    fn violations(&self, value: &Value) -> Vec<Violation> {
        #[cfg(feature = "gateway")]
        if let Some(full) = &self.full {
            return full.check(value);
        }
        check::check(&self.rules, value)
    }

    /// Takes out optional properties that are null where the schema has no null: models write both.
    ///
    /// It looks through `$ref`, `allOf`, and those forms of `anyOf` and `oneOf` that alone fit the value's type.
    pub fn drop_absent(&self, value: &mut Value) {
        if !number::is_deeper(value, MAX_VALUE_DEPTH) {
            absent::drop_absent(&self.rules, value);
        }
    }

    /// Writes whole numbers such as 3.0 as 3 where the schema has integers: serde reads no integer from 3.0.
    #[cfg(feature = "typed")]
    pub fn make_whole(&self, value: &mut Value) {
        if !number::is_deeper(value, MAX_VALUE_DEPTH) {
            absent::make_whole(&self.rules, value);
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
