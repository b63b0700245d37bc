//! A tool as data. Knows nothing of the code behind it.

use std::fmt::Write as _;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::protocol::{Risk, Scope, ToolOffer};

/// Everything that is said about a tool, in one value.
///
/// On the wire (`GET /tools`) and in JavaScript the fields are in camelCase.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
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
    #[serde(default)]
    pub approval: Approval,
    /// How long one call may take, in milliseconds; the run's limit where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// What a person reads on its card; the name in words where empty.
    #[serde(default)]
    pub label: String,
}

/// When the user is asked before a call runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
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

/// `order_status` → `Order status`: for a tool without a label, and for a name nobody registered.
#[must_use]
pub fn humanise(name: &str) -> String {
    let words = name.replace(['_', '-', '.'], " ");
    let mut letters = words.chars();
    letters.next().map_or(words.clone(), |first| first.to_uppercase().chain(letters).collect())
}
