//! The whole of JSON Schema, by the crate `jsonschema`, in the words of the declared engine. Fetches nothing.
//!
//! For the gateway alone: in a page it would weigh twice what the whole client does.

use std::fmt;

use jsonschema::error::{TypeKind, ValidationErrorKind};
use jsonschema::paths::LocationSegment;
use jsonschema::{PatternOptions, ValidationError, Validator};
use serde_json::{Map, Value};

use super::check::{Found, Slip, meant};
use super::place::{Step, push};
use super::{MAX_VIOLATIONS, Violation, words};

// Look-around and back-references can take exponential time; what needs more steps than this counts as no match.
const MAX_BACKTRACKS: usize = 50_000;
// Bytes of one compiled pattern.
const MAX_PROGRAM: usize = 1 << 20;

/// A schema as the full engine has it.
pub(super) struct Full {
    validator: Validator,
    // For the words: an error names its place in here.
    schema: Value,
}

impl Full {
    /// `None` where the schema is no schema, or names what would have to be fetched.
    pub(super) fn compile(schema: &Value) -> Option<Self> {
        let patterns = PatternOptions::fancy_regex()
            .backtrack_limit(MAX_BACKTRACKS)
            .size_limit(MAX_PROGRAM)
            .dfa_size_limit(MAX_PROGRAM);
        let options = jsonschema::options()
            .offline()
            // Notes, as in the declared engine and by default in 2020-12.
            .should_validate_formats(false)
            .without_content_encoding_support("base64")
            .without_content_media_type_support("application/json")
            .with_pattern_options(patterns);
        Some(Self { validator: options.build(schema).ok()?, schema: schema.clone() })
    }

    pub(super) fn check(&self, value: &Value) -> Vec<Violation> {
        if self.validator.is_valid(value) {
            return Vec::new();
        }
        // One error may be several violations, and several errors one.
        let mut violations: Vec<Violation> = Vec::new();
        for found in self.validator.iter_errors(value).flat_map(|error| self.found(&error, value)) {
            if !violations.contains(&found.violation) {
                violations.push(found.violation);
            }
            if violations.len() == MAX_VIOLATIONS {
                break;
            }
        }
        violations
    }

    fn found(&self, error: &ValidationError<'_>, root: &Value) -> Vec<Found> {
        let slip = match error.kind() {
            ValidationErrorKind::Type { .. } | ValidationErrorKind::Enum { .. } => Slip::Other,
            ValidationErrorKind::Constant { .. } => Slip::Constant,
            ValidationErrorKind::AnyOf { context } | ValidationErrorKind::OneOfNotValid { context } => {
                let all = |form: &Vec<_>| form.iter().flat_map(|error| self.found(error, root)).collect();
                let forms = context.iter().map(all).collect();
                if let Some(form) = meant(forms, depth(error)) {
                    return form;
                }
                Slip::Other
            }
            _ => Slip::Within,
        };
        let pairs = self.pairs(error, root);
        let found = |(path, expected)| Found { violation: Violation { path, expected }, depth: depth(error), slip };
        pairs.into_iter().map(found).collect()
    }

    // Places and words.
    fn pairs(&self, error: &ValidationError<'_>, root: &Value) -> Vec<(String, String)> {
        let here = path(error.instance_path().iter());
        let below = |name: &str| {
            let mut path = here.clone();
            push(&mut path, Step::Name(name));
            path
        };
        match error.kind() {
            ValidationErrorKind::Required { property } => {
                vec![(below(property.as_str().unwrap_or_default()), "is missing".to_owned())]
            }
            ValidationErrorKind::AdditionalProperties { unexpected } => {
                let known = self.parent(error).and_then(|schema| schema.get("properties")?.as_object());
                let words = words::no_property(known.into_iter().flat_map(Map::keys).map(String::as_str));
                unexpected.iter().map(|name| (below(name), words.clone())).collect()
            }
            ValidationErrorKind::UnevaluatedProperties { unexpected } => {
                unexpected.iter().map(|name| (below(name), "is not a property here".to_owned())).collect()
            }
            ValidationErrorKind::FalseSchema => self.never(error, root, here),
            ValidationErrorKind::PropertyNames { error: inner } => {
                let name = inner.instance().as_str().unwrap_or_default().to_owned();
                let pairs = self.pairs(inner, root).into_iter();
                pairs.map(|(_, words)| (below(&name), format!("is a name that {words}"))).collect()
            }
            _ => vec![(here, self.words(error))],
        }
    }

    // `false` as a schema: of all properties, of all their names, of all further items, or of one place.
    fn never(&self, error: &ValidationError<'_>, root: &Value, here: String) -> Vec<(String, String)> {
        let segments: Vec<_> = error.instance_path().iter().collect();
        let names = || {
            let map = value_at(root, &segments).and_then(Value::as_object);
            map.into_iter().flat_map(Map::keys).map(|name| {
                let mut path = here.clone();
                push(&mut path, Step::Name(name));
                path
            })
        };
        let (above, keyword) = error.schema_path().as_str().rsplit_once('/').unwrap_or_default();
        match (keyword, segments.split_last()) {
            _ if above.ends_with("/properties") => {}
            ("additionalProperties", _) => {
                return names().map(|path| (path, words::no_property(std::iter::empty()))).collect();
            }
            ("propertyNames", _) => {
                return names().map(|path| (path, "is a name that is not allowed".to_owned())).collect();
            }
            ("items" | "additionalItems", Some((LocationSegment::Index(_), above))) => {
                let first = self.parent(error).and_then(first_items).unwrap_or_default();
                let size = value_at(root, above).and_then(Value::as_array).map_or(0, Vec::len);
                return vec![(path(above.iter().cloned()), format!("must have at most {first} items, has {size}"))];
            }
            _ => {}
        }
        vec![(here, "is not allowed".to_owned())]
    }

    fn words(&self, error: &ValidationError<'_>) -> String {
        use ValidationErrorKind as Kind;
        let instance = error.instance();
        let size = || match &**instance {
            Value::String(text) => text.chars().count(),
            Value::Array(list) => list.len(),
            Value::Object(map) => map.len(),
            Value::Null | Value::Bool(_) | Value::Number(_) => 0,
        };
        let written = self.schema.pointer(error.schema_path().as_str());
        // As the schema has it: 1.0 stays 1.0.
        let limit = |found: &Value| written.unwrap_or(found).to_string();
        match error.kind() {
            Kind::Type { kind } => {
                let types = written.map_or_else(|| kind_words(kind), words::types);
                format!("must be {types}, is {}", words::name_of(instance))
            }
            Kind::Enum { options } => {
                format!("must be one of {}", words::allowed(options.as_array().map_or(&[][..], Vec::as_slice)))
            }
            Kind::Constant { expected_value } => format!("must be {expected_value}"),
            Kind::Minimum { limit: bound } => format!("must be at least {}", limit(bound)),
            Kind::Maximum { limit: bound } => format!("must be at most {}", limit(bound)),
            Kind::ExclusiveMinimum { limit: bound } => format!("must be more than {}", limit(bound)),
            Kind::ExclusiveMaximum { limit: bound } => format!("must be less than {}", limit(bound)),
            Kind::MultipleOf { multiple_of } => {
                format!("must be a multiple of {}", limit(&Value::from(*multiple_of)))
            }
            Kind::MinLength { limit } => format!("must have at least {limit} characters, has {}", size()),
            Kind::MaxLength { limit } => format!("must have at most {limit} characters, has {}", size()),
            Kind::MinItems { limit } => format!("must have at least {limit} items, has {}", size()),
            Kind::MaxItems { limit } => format!("must have at most {limit} items, has {}", size()),
            Kind::AdditionalItems { limit } => format!("must have at most {limit} items, has {}", size()),
            Kind::MinProperties { limit } => format!("must have at least {limit} properties, has {}", size()),
            Kind::MaxProperties { limit } => format!("must have at most {limit} properties, has {}", size()),
            Kind::UniqueItems => "must not hold the same item twice".to_owned(),
            Kind::Pattern { pattern } => format!("must match the pattern {pattern}"),
            Kind::BacktrackLimitExceeded { .. } | Kind::RegexEngineFailure { .. } => {
                "can not be held against the pattern in bounded time".to_owned()
            }
            Kind::Contains => self.parent(error).map_or_else(String::new, words::contains),
            Kind::AnyOf { .. } | Kind::OneOfNotValid { .. } => {
                let forms = written.and_then(Value::as_array).map_or_else(String::new, |forms| words::forms(forms));
                format!("fits none of the allowed forms{forms}")
            }
            Kind::OneOfMultipleValid { context } => {
                let count = context.iter().filter(|form| form.is_empty()).count();
                format!("must fit exactly one of the allowed forms, fits {count}")
            }
            Kind::Not { schema } => words::ruled_out(schema),
            Kind::UnevaluatedItems { .. } => "has more items than the schema knows of".to_owned(),
            _ => error.to_string(),
        }
    }

    // The schema that has the keyword that was not kept.
    fn parent(&self, error: &ValidationError<'_>) -> Option<&Map<String, Value>> {
        let (above, _) = error.schema_path().as_str().rsplit_once('/')?;
        self.schema.pointer(above)?.as_object()
    }
}

impl fmt::Debug for Full {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Full({})", self.schema)
    }
}

fn depth(error: &ValidationError<'_>) -> usize {
    error.instance_path().iter().count()
}

fn path<'a>(segments: impl Iterator<Item = LocationSegment<'a>>) -> String {
    let mut text = String::new();
    for segment in segments {
        match segment {
            LocationSegment::Property(name) => push(&mut text, Step::Name(&name)),
            LocationSegment::Index(at) => push(&mut text, Step::At(at)),
        }
    }
    text
}

fn value_at<'v>(root: &'v Value, segments: &[LocationSegment<'_>]) -> Option<&'v Value> {
    segments.iter().try_fold(root, |value, step| match step {
        LocationSegment::Property(name) => value.get(name.as_ref()),
        LocationSegment::Index(at) => value.get(at),
    })
}

// How many items have a schema of their own.
fn first_items(schema: &Map<String, Value>) -> Option<usize> {
    schema.get("prefixItems").or_else(|| schema.get("items"))?.as_array().map(Vec::len)
}

fn kind_words(kind: &TypeKind) -> String {
    match kind {
        TypeKind::Single(one) => words::types(&Value::from(one.to_string())),
        TypeKind::Multiple(set) => words::types(&set.iter().map(|one| Value::from(one.to_string())).collect()),
    }
}
