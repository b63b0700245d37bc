//! A compiled schema: a list of nodes that name each other by number, so that one may name itself. Checks nothing.

use serde_json::{Number, Value};

use super::number::Unit;
use super::pattern::Pattern;
use super::words;
use crate::protocol::Names;

/// All nodes of a schema; the first is the root. Without any, everything fits.
#[derive(Clone, Debug, Default)]
pub(super) struct Rules {
    pub(super) nodes: Vec<Node>,
    /// Whether a keyword was found that no draft knows.
    pub(super) strange_words: bool,
}

/// One schema within the schema.
#[derive(Clone, Debug, Default)]
pub(super) struct Node {
    /// The schema `false`.
    pub(super) never: bool,
    /// Empty for any.
    pub(super) types: Vec<Type>,
    pub(super) rules: Vec<Rule>,
}

/// The number of a node.
pub(super) type Id = usize;

#[derive(Clone, Debug)]
pub(super) enum Rule {
    Enum(Vec<Value>),
    Const(Value),
    Refer(Id),
    All(Vec<Id>),
    /// The forms, and their words.
    Any(Vec<Id>, String),
    One(Vec<Id>, String),
    /// The form that must not fit, and the words for it.
    Not(Id, String),
    When {
        test: Id,
        then: Option<Id>,
        otherwise: Option<Id>,
    },
    Number(Limit, Number),
    MultipleOf(Unit),
    Length(Bounds),
    Pattern(Pattern),
    Items {
        first: Vec<Id>,
        rest: Option<Id>,
    },
    ItemCount(Bounds),
    Unique,
    Contains {
        item: Id,
        count: Bounds,
        words: String,
    },
    Fields(Fields),
    FieldNames(Id),
    FieldCount(Bounds),
    Required(Vec<String>),
    /// Where the first property is there, the others must be.
    Needs(String, Vec<String>),
    /// Where the property is there, the whole object must fit.
    Implies(String, Id),
}

#[derive(Clone, Debug, Default)]
pub(super) struct Fields {
    pub(super) named: Names<Id>,
    pub(super) patterned: Vec<(Pattern, Id)>,
    pub(super) rest: Option<Id>,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Bounds {
    pub(super) least: Option<u64>,
    pub(super) most: Option<u64>,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Limit {
    Minimum,
    Maximum,
    Above,
    Below,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Type {
    Null,
    Boolean,
    Object,
    Array,
    Number,
    Integer,
    String,
}

impl Rules {
    pub(super) fn is_never(&self, id: Id) -> bool {
        self.nodes.get(id).is_some_and(|node| node.never)
    }
}

impl Rule {
    /// The nodes that judge the very value this rule judges, not a part of it.
    pub(super) fn same_value(&self) -> Vec<Id> {
        match self {
            Self::Refer(id) | Self::Not(id, _) | Self::Implies(_, id) => vec![*id],
            Self::All(ids) | Self::Any(ids, _) | Self::One(ids, _) => ids.clone(),
            Self::When { test, then, otherwise } => [Some(*test), *then, *otherwise].into_iter().flatten().collect(),
            _ => Vec::new(),
        }
    }
}

impl Type {
    pub(super) fn parse(word: &str) -> Option<Self> {
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

    pub(super) fn name(self) -> &'static str {
        let word = match self {
            Self::Null => "null",
            Self::Boolean => "boolean",
            Self::Object => "object",
            Self::Array => "array",
            Self::Number => "number",
            Self::Integer => "integer",
            Self::String => "string",
        };
        words::type_name(word).unwrap_or(word)
    }

    pub(super) fn fits(self, value: &Value) -> bool {
        match (self, value) {
            (Self::Null, Value::Null)
            | (Self::Boolean, Value::Bool(_))
            | (Self::Object, Value::Object(_))
            | (Self::Array, Value::Array(_))
            | (Self::Number, Value::Number(_))
            | (Self::String, Value::String(_)) => true,
            (Self::Integer, Value::Number(number)) => super::number::is_whole(number),
            _ => false,
        }
    }
}
