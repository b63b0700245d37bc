//! Tools that somebody else defines: admitted by name, pinned as the user agreed to them, stopped when they change.
//!
//! A source (an MCP server, say) can change what it says at any time. So its word alone puts nothing before a model:
//! the integrator allows names and says what each may change, the user agrees to a definition, and the agreement holds
//! for exactly that one. Knows nothing of how a source is spoken to.

use serde_json::{Map, Value, json};

use crate::protocol::{Names, Risk};
use crate::tools::{Approval, Definition, Problem, Words, diff};

/// Where tools come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// Its name, which goes before those of its tools.
    pub name: String,
    /// Who answers for using it.
    pub owner: String,
    /// What it says its version is.
    pub version: String,
}

/// A tool of a source that may be used, and what it may change: by the integrator's word, not the source's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allowed {
    /// The name the source has for it.
    pub name: String,
    /// What it may change.
    pub risk: Risk,
}

/// What the user agreed to, by the name the tool has here.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pins {
    version: String,
    tools: Names<Definition>,
}

/// What came of a source's offer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Admission {
    /// Those that may be registered: allowed, and as the user agreed to them.
    pub admitted: Vec<Definition>,
    /// Those the user is to be asked about; not usable until then.
    pub waiting: Vec<Waiting>,
    /// What is wrong.
    pub problems: Vec<Problem>,
    /// What the source offers and nobody allowed.
    pub left_out: Vec<String>,
    /// The source's version where the user agreed, and now, where they differ.
    pub version_drift: Option<(String, String)>,
}

/// A definition that waits for the user's word.
#[derive(Clone, Debug, PartialEq)]
pub struct Waiting {
    /// The definition, under the name it has here.
    pub definition: Definition,
    /// What changed since the user agreed, a line a field; `None` where they never did.
    pub changed: Option<Vec<String>>,
}

impl Pins {
    /// The user agrees to this definition, and no other, of a source in this version.
    pub fn agree(&mut self, source: &Source, definition: &Definition) {
        self.version.clone_from(&source.version);
        self.tools.insert(definition.name.clone(), definition.clone());
    }

    /// As JSON, to be kept.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let mut tools = Map::new();
        for (name, definition) in self.tools.iter() {
            tools.insert(name.to_owned(), definition.to_json());
        }
        json!({ "version": self.version, "tools": tools })
    }

    /// From JSON; what can not be read was never agreed to.
    #[must_use]
    pub fn from_json(json: &Value) -> Self {
        let version = json.get("version").and_then(Value::as_str).unwrap_or_default().to_owned();
        let mut tools = Names::default();
        for (name, one) in json.get("tools").and_then(Value::as_object).into_iter().flatten() {
            let (definition, faults) = Definition::from_json(one, &[]);
            if faults.is_empty() {
                tools.insert(name.clone(), definition);
            }
        }
        Self { version, tools }
    }
}

/// Holds a source's offer against what is allowed and what the user agreed to. The admitted are held to the registry's
/// rules like any other when they are registered.
#[must_use]
pub fn admit(source: &Source, allowed: &[Allowed], offered: Vec<Definition>, pins: &Pins) -> Admission {
    let mut admission = Admission::default();
    if allowed.is_empty() {
        let message = "it has no allowlist; name the tools that may be used".to_owned();
        admission.problems.push(problem(source, message));
    }
    if !pins.version.is_empty() && pins.version != source.version {
        admission.version_drift = Some((pins.version.clone(), source.version.clone()));
    }
    for wanted in allowed {
        if !offered.iter().any(|tool| tool.name == wanted.name) {
            let message = format!("it is allowed \"{}\", but does not offer it", wanted.name);
            admission.problems.push(problem(source, message));
        }
    }
    let mut taken: Names<String> = Names::default();
    for tool in offered {
        let Some(rule) = allowed.iter().find(|rule| rule.name == tool.name) else {
            admission.left_out.push(tool.name);
            continue;
        };
        let theirs = tool.name.clone();
        let definition = ours(source, rule, tool);
        if let Some(other) = taken.insert(definition.name.clone(), theirs.clone()) {
            let message = format!("its tools \"{other}\" and \"{theirs}\" would both be called {}", definition.name);
            admission.problems.push(problem(source, message));
            admission.admitted.retain(|other| other.name != definition.name);
            admission.waiting.retain(|other| other.definition.name != definition.name);
            continue;
        }
        match pins.tools.get(&definition.name) {
            Some(pinned) if pinned.hash() == definition.hash() => admission.admitted.push(definition),
            pinned => {
                let changed = pinned.map(|pinned| diff(pinned, &definition));
                admission.waiting.push(Waiting { definition, changed });
            }
        }
    }
    admission
}

// `Create-Issue` of `github` → `github__create_issue`: a source can not take a name of ours.
fn ours(source: &Source, rule: &Allowed, mut tool: Definition) -> Definition {
    let plain = |letter: char| if letter.is_ascii_alphanumeric() { letter.to_ascii_lowercase() } else { '_' };
    tool.name = format!("{}__{}", source.name, tool.name).chars().map(plain).collect();
    tool.owner.clone_from(&source.owner);
    tool.replay = Definition::usual_replay(rule.risk);
    tool.risk = rule.risk;
    // None of this is a source's to say: it would be read by the model or the user, or decide whom the tool is for.
    Definition {
        approval: Approval::default(),
        examples: Vec::new(),
        label: Words::default(),
        progress: Words::default(),
        profiles: Vec::new(),
        requires: Names::default(),
        aliases: Vec::new(),
        ..tool
    }
}

fn problem(source: &Source, message: String) -> Problem {
    Problem { kind: "source", name: source.name.clone(), owner: source.owner.clone(), message }
}
