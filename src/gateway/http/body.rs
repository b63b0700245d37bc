//! A request's JSON body with places. Knows nothing of the rest of the request.

use serde_json::{Map, Value};

use crate::gateway::http::template::{At, Filling, Template};
use crate::protocol::ToolError;

/// A body.
#[derive(Clone, Debug)]
pub(in crate::gateway) enum Body {
    /// A value as it is.
    Value(Value),
    /// One argument, as the JSON it is; left out where it is absent.
    Argument(String),
    /// A text with places; left out where an argument of it is absent.
    Text(Template),
    /// Each of these; what is left out takes its key along.
    Object(Vec<(String, Body)>),
    /// Each of these; what is left out leaves no gap.
    Array(Vec<Body>),
}

impl Body {
    pub(super) fn parse(json: &Value) -> Result<Self, String> {
        Ok(match json {
            Value::String(text) => {
                let template = Template::parse(text, At::Elsewhere, &|_| None)?;
                match template.whole() {
                    Some(name) => Self::Argument(name.to_owned()),
                    None => Self::Text(template),
                }
            }
            Value::Array(items) => Self::Array(items.iter().map(Self::parse).collect::<Result<_, _>>()?),
            Value::Object(map) => {
                let pair = |(key, value): (&String, &Value)| Ok((key.clone(), Self::parse(value)?));
                Self::Object(map.iter().map(pair).collect::<Result<_, String>>()?)
            }
            plain => Self::Value(plain.clone()),
        })
    }

    /// The arguments it names.
    pub(super) fn arguments(&self) -> Vec<&str> {
        match self {
            Self::Value(_) => Vec::new(),
            Self::Argument(name) => vec![name],
            Self::Text(template) => template.arguments().collect(),
            Self::Object(pairs) => pairs.iter().flat_map(|(_, body)| body.arguments()).collect(),
            Self::Array(items) => items.iter().flat_map(Self::arguments).collect(),
        }
    }

    /// The body of a call; `None` where nothing of it is there.
    pub(super) fn fill(&self, filling: &Filling<'_>) -> Result<Option<Value>, ToolError> {
        Ok(match self {
            Self::Value(value) => Some(value.clone()),
            Self::Argument(name) => filling.arguments.get(name).cloned(),
            Self::Text(template) => template.fill(filling, &str::to_owned)?.map(Value::String),
            Self::Object(pairs) => {
                let mut object = Map::new();
                for (key, body) in pairs {
                    if let Some(value) = body.fill(filling)? {
                        object.insert(key.clone(), value);
                    }
                }
                Some(Value::Object(object))
            }
            Self::Array(items) => {
                let mut array = Vec::new();
                for body in items {
                    array.extend(body.fill(filling)?);
                }
                Some(Value::Array(array))
            }
        })
    }
}
