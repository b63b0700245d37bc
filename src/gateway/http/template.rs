//! Texts with places that a call fills in: `{argument}`, `{user.id}`, `{env.NAME}`. Knows nothing of where they stand.
//!
//! `{{` and `}}` are braces. What fills a place is never read for places again.

use serde_json::{Map, Value};

use crate::gateway::Secret;
use crate::gateway::context::Identity;
use crate::protocol::ToolError;
use crate::tools::error;

/// A text with places.
#[derive(Clone, Debug, Default)]
pub(in crate::gateway) struct Template {
    pieces: Vec<Piece>,
}

#[derive(Clone, Debug)]
enum Piece {
    Text(String),
    Argument(String),
    User(String),
    Secret(Secret),
}

/// What fills the places of one call.
pub(super) struct Filling<'a> {
    pub(super) tool: &'a str,
    pub(super) arguments: &'a Map<String, Value>,
    pub(super) user: Option<&'a Identity>,
}

/// Where a template stands: what may stand in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum At {
    /// A header, the one place for secrets.
    Header,
    /// Anywhere else.
    Elsewhere,
}

impl Template {
    pub(super) fn parse(text: &str, at: At, variable: &dyn Fn(&str) -> Option<String>) -> Result<Self, String> {
        let (mut pieces, mut plain, mut rest) = (Vec::new(), String::new(), text);
        while let Some(found) = rest.find(['{', '}']) {
            let (before, from) = rest.split_at(found);
            plain.push_str(before);
            if from.starts_with("{{") || from.starts_with("}}") {
                plain.push_str(&from[..1]);
                rest = &from[2..];
                continue;
            }
            let inside = from.strip_prefix('{').and_then(|inside| inside.split_once('}'));
            let Some((name, after)) = inside.filter(|(name, _)| !name.is_empty() && !name.contains('{')) else {
                return Err(format!(
                    "\"{text}\" has a brace without its other half; write {{{{ or }}}} for a brace itself"
                ));
            };
            if !plain.is_empty() {
                pieces.push(Piece::Text(std::mem::take(&mut plain)));
            }
            pieces.push(place(name, at, variable)?);
            rest = after;
        }
        plain.push_str(rest);
        if !plain.is_empty() {
            pieces.push(Piece::Text(plain));
        }
        Ok(Self { pieces })
    }

    /// The text itself, whatever signs are in it.
    pub(in crate::gateway) fn plain(text: &str) -> Self {
        Self { pieces: vec![Piece::Text(text.to_owned())] }
    }

    /// One argument and nothing else.
    pub(in crate::gateway) fn argument(name: &str) -> Self {
        Self { pieces: vec![Piece::Argument(name.to_owned())] }
    }

    /// What follows it.
    pub(in crate::gateway) fn then(mut self, other: Self) -> Self {
        self.pieces.extend(other.pieces);
        self
    }

    /// The same with what was written in the configuration put into other words.
    pub(super) fn with_text(mut self, words: impl Fn(&str) -> String) -> Self {
        for piece in &mut self.pieces {
            if let Piece::Text(text) = piece {
                *text = words(text);
            }
        }
        self
    }

    /// What it is without a call, where it has no places.
    pub(super) fn fixed(&self) -> Option<&str> {
        match self.pieces.as_slice() {
            [] => Some(""),
            [Piece::Text(text)] => Some(text),
            _ => None,
        }
    }

    /// The arguments it names.
    pub(super) fn arguments(&self) -> impl Iterator<Item = &str> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Argument(name) => Some(name.as_str()),
            Piece::Text(_) | Piece::User(_) | Piece::Secret(_) => None,
        })
    }

    /// The argument it is, where it is one and nothing else.
    pub(super) fn whole(&self) -> Option<&str> {
        match self.pieces.as_slice() {
            [Piece::Argument(name)] => Some(name),
            _ => None,
        }
    }

    pub(super) fn secrets(&self) -> impl Iterator<Item = &Secret> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Secret(secret) => Some(secret),
            Piece::Text(_) | Piece::Argument(_) | Piece::User(_) => None,
        })
    }

    /// The text, each place through `write`; what was written in the configuration goes in as it is. `None` where an
    /// argument is absent.
    pub(super) fn fill(
        &self,
        filling: &Filling<'_>,
        write: &dyn Fn(&str) -> String,
    ) -> Result<Option<String>, ToolError> {
        let mut text = String::new();
        for piece in &self.pieces {
            match piece {
                Piece::Text(plain) => text.push_str(plain),
                Piece::Secret(secret) => text.push_str(secret.expose()),
                Piece::User(claim) => text.push_str(&write(&filling.claim(claim)?)),
                Piece::Argument(name) => match filling.arguments.get(name) {
                    None | Some(Value::Null) => return Ok(None),
                    Some(value) => text.push_str(&write(&filling.text(name, value)?)),
                },
            }
        }
        Ok(Some(text))
    }
}

fn place(name: &str, at: At, variable: &dyn Fn(&str) -> Option<String>) -> Result<Piece, String> {
    if let Some(claim) = name.strip_prefix("user.") {
        return Ok(Piece::User(claim.to_owned()));
    }
    let Some(variable_name) = name.strip_prefix("env.") else { return Ok(Piece::Argument(name.to_owned())) };
    if at == At::Elsewhere {
        return Err(format!("{{{name}}} stands outside of a header; a secret in an address or a body ends up in logs"));
    }
    let value = variable(variable_name).filter(|value| !value.is_empty());
    let value =
        value.ok_or_else(|| format!("the environment variable {variable_name} is not set; a header needs it"))?;
    Ok(Piece::Secret(Secret::new(value)))
}

impl Filling<'_> {
    fn text(&self, name: &str, value: &Value) -> Result<String, ToolError> {
        match value {
            Value::String(text) => Ok(text.clone()),
            Value::Number(number) => Ok(number.to_string()),
            Value::Bool(flag) => Ok(flag.to_string()),
            Value::Null | Value::Array(_) | Value::Object(_) => {
                Err(self.unfit(name, "must be a text, a number, or true or false here"))
            }
        }
    }

    /// Nothing was sent because of this argument.
    pub(super) fn unfit(&self, name: &str, why: &str) -> ToolError {
        let words = format!(
            "Invalid arguments for \"{}\": {name} {why}. Nothing was run. Correct the arguments and call it again.",
            self.tool
        );
        ToolError::new("invalid_arguments", words).retryable()
    }

    fn claim(&self, claim: &str) -> Result<String, ToolError> {
        let refused = |why: &str| error::refused(self.tool, why);
        let user = self
            .user
            .ok_or_else(|| refused("nobody is signed in, and it acts for a user. Ask the user to sign in."))?;
        if claim == "id" {
            return Ok(user.id.clone());
        }
        match user.claims.get(claim) {
            Some(Value::String(text)) => Ok(text.clone()),
            Some(value @ (Value::Number(_) | Value::Bool(_))) => Ok(value.to_string()),
            _ => Err(refused(&format!("the host does not state the user's \"{claim}\", which it needs."))),
        }
    }
}
