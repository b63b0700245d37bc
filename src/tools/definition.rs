//! A tool as data. Knows nothing of the code behind it.

use std::fmt::Write as _;
use std::sync::Arc;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::protocol::{Risk, Scope, ToolOffer};

/// Everything that is said about a tool, in one value.
///
/// On the wire (`GET /tools`) and in JavaScript the fields are in camelCase.
#[derive(Clone, Debug, PartialEq)]
pub struct Definition {
    /// `^[a-z][a-z0-9_]{2,63}$`, the form every provider takes.
    pub name: String,
    /// Changes when the tool changes; a changed *meaning* wants a new name.
    pub version: String,
    /// Who answers for it.
    pub owner: String,
    /// What it is for, to a model. At least 40 characters.
    pub description: String,
    /// JSON Schema of its arguments; the root is an object.
    pub parameters: Arc<Value>,
    /// Where it runs.
    pub scope: Scope,
    /// What it may change.
    pub risk: Risk,
    /// When the user is asked.
    pub approval: Approval,
    /// How long one call may take, in milliseconds; the run's limit where absent.
    pub timeout_ms: Option<u64>,
    /// What a person reads on its card; the name in words where empty.
    pub label: String,
}

/// When the user is asked before a call runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Approval {
    /// As the risk says: reads never, writes once a session, the irreversible always.
    #[default]
    Risk,
    /// Always.
    Always,
    /// When the tool itself asks for it (`Outcome::NeedsApproval`). Not for irreversible tools.
    Tool,
}

impl Definition {
    /// The definition as JSON, as `GET /tools` and JavaScript have it.
    #[must_use]
    pub fn to_json(&self) -> Value {
        json!({
            "name": self.name, "version": self.version, "owner": self.owner, "description": self.description,
            "parameters": *self.parameters, "scope": self.scope.as_str(), "risk": self.risk.as_str(),
            "approval": self.approval.as_str(), "timeoutMs": self.timeout_ms, "label": self.title(),
        })
    }

    /// A definition from its JSON, and what is wrong with the JSON's shape, in sentences. Where there is any, the
    /// definition holds what could be read, for the registry to find the other faults in.
    #[must_use]
    pub fn from_json(json: &Value) -> (Self, Vec<String>) {
        let mut faults = Vec::new();
        let mut text = |name: &str, absent: &str| match json.get(name) {
            Some(Value::String(text)) => text.clone(),
            None | Some(Value::Null) => absent.to_owned(),
            Some(_) => {
                faults.push(format!("its {name} must be a string"));
                String::new()
            }
        };
        let (name, version, owner) = (text("name", ""), text("version", "1"), text("owner", ""));
        let (description, label) = (text("description", ""), text("label", ""));
        let (scope, risk, approval) = (text("scope", ""), text("risk", ""), text("approval", "risk"));
        let scope = Scope::parse(&scope);
        let risk = Risk::parse(&risk);
        let approval = Approval::parse(&approval);
        let timeout = json.get("timeoutMs").filter(|ms| !ms.is_null());
        let timeout_ms = timeout.and_then(Value::as_u64);
        let checks = [
            (scope.is_some(), "its scope must be \"browser\" or \"server\""),
            (risk.is_some(), "its risk must be \"read\", \"write\" or \"irreversible\""),
            (approval.is_some(), "its approval must be \"risk\", \"always\" or \"tool\""),
            (timeout.is_some() == timeout_ms.is_some(), "its timeoutMs must be a whole number of milliseconds"),
        ];
        faults.extend(checks.iter().filter(|(fine, _)| !fine).map(|(_, words)| (*words).to_owned()));
        let no_arguments = || json!({ "type": "object", "properties": {}, "additionalProperties": false });
        let definition = Self {
            name,
            version,
            owner,
            description,
            parameters: Arc::new(json.get("parameters").cloned().unwrap_or_else(no_arguments)),
            // Whatever is not known is taken for the strictest.
            scope: scope.unwrap_or(Scope::Browser),
            risk: risk.unwrap_or(Risk::Irreversible),
            approval: approval.unwrap_or_default(),
            timeout_ms,
            label,
        };
        (definition, faults)
    }

    /// What a person reads: the label, or the name in words.
    #[must_use]
    pub fn title(&self) -> String {
        if self.label.is_empty() { humanise(&self.name) } else { self.label.clone() }
    }

    /// The part a model sees.
    #[must_use]
    pub fn offer(&self) -> ToolOffer {
        ToolOffer {
            name: self.name.clone(),
            description: self.description.clone(),
            parameters: Arc::clone(&self.parameters),
        }
    }

    /// SHA-256, in hex, over the canonical JSON (sorted keys) of all that page and gateway must agree on.
    #[must_use]
    pub fn hash(&self) -> String {
        let canonical = json!({
            "name": self.name, "version": self.version, "description": self.description,
            "parameters": *self.parameters, "scope": self.scope.as_str(), "risk": self.risk.as_str(),
        });
        Sha256::digest(canonical.to_string().as_bytes()).iter().fold(String::new(), |mut hex, byte| {
            // Writing to a String can not fail.
            let _ = write!(hex, "{byte:02x}");
            hex
        })
    }
}

impl Approval {
    /// The word used on wires.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Risk => "risk",
            Self::Always => "always",
            Self::Tool => "tool",
        }
    }

    /// The approval of a word.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        [Self::Risk, Self::Always, Self::Tool].into_iter().find(|approval| approval.as_str() == word)
    }
}

/// `order_status` → `Order status`: for a tool without a label, and for a name nobody registered.
#[must_use]
pub fn humanise(name: &str) -> String {
    let words = name.replace(['_', '-', '.'], " ");
    let mut letters = words.chars();
    letters.next().map_or(words.clone(), |first| first.to_uppercase().chain(letters).collect())
}
