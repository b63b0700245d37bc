//! A tool as data. Knows nothing of the code behind it.

use std::fmt::Write as _;
use std::sync::Arc;

use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::protocol::{Names, Replay, Risk, Scope, ToolOffer};
use crate::tools::{Words, definition_json};

/// What page and gateway, and a user who agreed to a tool, must agree on: the hash is over these, and a difference in one
/// of them is told.
pub(super) const AGREED: [&str; 11] = [
    "name",
    "version",
    "description",
    "parameters",
    "output",
    "examples",
    "scope",
    "risk",
    "replay",
    "approval",
    "longRunning",
];

/// Everything that is said about a tool, in one value.
///
/// On the wire (`GET /tools`), in JavaScript and in the gateway's configuration the fields are in camelCase.
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
    /// JSON Schema of its result, where it promises one.
    pub output: Option<Arc<Value>>,
    /// Arguments that fit, for a model and for the check that they do.
    pub examples: Vec<Value>,
    /// Where it runs.
    pub scope: Scope,
    /// What it may change.
    pub risk: Risk,
    /// What becomes of a call whose answer was lost.
    pub replay: Replay,
    /// When the user is asked.
    pub approval: Approval,
    /// The profiles whose agents may see it; empty for all.
    pub profiles: Vec<String>,
    /// What the host must have said of the session before an agent may see it: fact → values that will do.
    /// A fact that was never stated fits nothing.
    pub requires: Names<Vec<Value>>,
    /// Whether a call may be answered at first with a job that goes on by itself.
    pub long_running: bool,
    /// How long one call may take, in milliseconds; the run's limit where absent.
    pub timeout_ms: Option<u64>,
    /// What a person reads on its card; the name in words where empty.
    pub label: Words,
    /// What a person reads while it runs.
    pub progress: Words,
    /// Names it had before.
    pub aliases: Vec<Alias>,
}

/// A name that a tool had before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alias {
    /// The name.
    pub name: String,
    /// Whether a model is offered it still; if not, a call under it is answered all the same (old threads).
    pub offered: bool,
}

/// When the user is asked before a call runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Approval {
    /// As the policy says: by default reads never, writes once a session, the irreversible always.
    #[default]
    Risk,
    /// Always.
    Always,
    /// When the tool itself asks for it (`Outcome::NeedsApproval`). Not for irreversible tools.
    Tool,
}

impl Definition {
    /// A definition with its name, its words for a model, and the two things nothing may guess: where it runs and what
    /// it may change. It takes no arguments, belongs to no owner yet, and is replayed only if it changes nothing.
    #[must_use]
    pub fn new(name: &str, description: &str, scope: Scope, risk: Risk) -> Self {
        Self {
            name: name.to_owned(),
            version: "1".to_owned(),
            owner: String::new(),
            description: description.to_owned(),
            parameters: Arc::new(definition_json::no_arguments()),
            output: None,
            examples: Vec::new(),
            scope,
            risk,
            replay: Self::usual_replay(risk),
            approval: Approval::default(),
            profiles: Vec::new(),
            requires: Names::default(),
            long_running: false,
            timeout_ms: None,
            label: Words::default(),
            progress: Words::default(),
            aliases: Vec::new(),
        }
    }

    /// The replay class where a definition does not say: what reads is pure, what changes anything is an effect.
    #[must_use]
    pub fn usual_replay(risk: Risk) -> Replay {
        if risk == Risk::Read { Replay::Pure } else { Replay::Effect }
    }

    /// What a person reads: the label, or the name in words.
    #[must_use]
    pub fn title(&self, language: &str) -> String {
        if self.label.is_empty() { humanise(&self.name) } else { self.label.in_language(language).to_owned() }
    }

    /// The part a model sees.
    #[must_use]
    pub fn offer(&self) -> ToolOffer {
        let mut description = self.description.clone();
        for example in &self.examples {
            // Writing to a String can not fail.
            let _ = write!(description, "\nExample arguments: {example}");
        }
        ToolOffer { name: self.name.clone(), description, parameters: Arc::clone(&self.parameters) }
    }

    /// `name@version`, as journals and requests record it.
    #[must_use]
    pub fn tag(&self) -> String {
        format!("{}@{}", self.name, self.version)
    }

    /// SHA-256, in hex, over the canonical JSON (sorted keys) of all that page and gateway must agree on.
    #[must_use]
    pub fn hash(&self) -> String {
        let mut canonical = self.to_json();
        if let Some(fields) = canonical.as_object_mut() {
            fields.retain(|field, _| AGREED.contains(&field.as_str()));
        }
        Sha256::digest(canonical.to_string().as_bytes()).iter().fold(String::new(), |mut hex, byte| {
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
