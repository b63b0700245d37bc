//! What changed between two definitions of one name, and whether page and gateway agree on them.
//!
//! Knows nothing of who wrote either.

use serde_json::Value;

use crate::protocol::Risk;
use crate::tools::definition::AGREED;
use crate::tools::{Definition, Problem};

// As much of a value as helps to see what changed.
const SHOWN: usize = 120;

/// What a page was built against.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expected {
    /// The tool.
    pub name: String,
    /// Its version.
    pub version: Option<String>,
    /// Its hash.
    pub hash: Option<String>,
    /// Its risk.
    pub risk: Option<Risk>,
}

impl Expected {
    /// What a listing says (`GET /tools`, or its `tools`), as a page keeps it from when it was built.
    ///
    /// # Errors
    /// The first entry that names no tool.
    pub fn list_from_json(json: &Value) -> Result<Vec<Self>, String> {
        let list =
            json.get("tools").unwrap_or(json).as_array().ok_or("must be an array of tools, or { tools: […] }")?;
        let read = |(at, one): (usize, &Value)| {
            let text = |name: &str| one.get(name).and_then(Value::as_str).map(str::to_owned);
            let name = one.as_str().map(str::to_owned).or_else(|| text("name"));
            Ok(Self {
                name: name.ok_or_else(|| format!("entry {} has no name", at + 1))?,
                version: text("version"),
                hash: text("hash"),
                risk: text("risk").as_deref().and_then(Risk::parse),
            })
        };
        list.iter().enumerate().map(read).collect()
    }
}

/// What changed from one definition to the other, a line a field, both sides shown. Empty where nothing did that page
/// and gateway, or a user who agreed to it, would have to know.
#[must_use]
pub fn diff(before: &Definition, now: &Definition) -> Vec<String> {
    let (before, now) = (before.to_json(), now.to_json());
    let changed = AGREED.iter().chain(&["owner"]).filter(|field| before[**field] != now[**field]);
    changed.map(|field| format!("{field}: {} → {}", short(&before[*field]), short(&now[*field]))).collect()
}

/// Where what the page expects and what the gateway serves differ, both sides shown: a tool that is missing, one that
/// nobody expects, another version, risk or definition.
#[must_use]
pub fn cross_check(expected: &[Expected], served: &[(&Definition, &str)]) -> Vec<Problem> {
    let mut problems = Vec::new();
    for wanted in expected {
        let found = served.iter().find(|(definition, _)| definition.name == wanted.name);
        let message = match found {
            None => Some(format!(
                "the page expects {}, and the gateway serves no tool of that name; deploy it there, or build the page anew",
                described(wanted)
            )),
            Some((definition, hash)) if !agrees(wanted, definition, hash) => Some(format!(
                "the page expects {}, the gateway serves {}; build the page against this gateway, or deploy the one it expects",
                described(wanted),
                described(&Expected {
                    name: definition.name.clone(),
                    version: Some(definition.version.clone()),
                    hash: Some((*hash).to_owned()),
                    risk: Some(definition.risk),
                })
            )),
            Some(_) => None,
        };
        problems.extend(message.map(|message| Problem {
            kind: "tool",
            name: wanted.name.clone(),
            owner: found.map(|(definition, _)| definition.owner.clone()).unwrap_or_default(),
            message,
        }));
    }
    for (definition, _) in served {
        if !expected.iter().any(|wanted| wanted.name == definition.name) {
            let message = format!(
                "the gateway serves it (version {}, {}), and the page does not expect it; build the page anew to use it",
                definition.version,
                definition.risk.as_str()
            );
            problems.push(Problem::of_tool(definition, message));
        }
    }
    problems
}

fn agrees(wanted: &Expected, definition: &Definition, hash: &str) -> bool {
    wanted.version.as_ref().is_none_or(|version| *version == definition.version)
        && wanted.hash.as_deref().is_none_or(|expected| expected == hash)
        && wanted.risk.is_none_or(|risk| risk == definition.risk)
}

fn described(one: &Expected) -> String {
    let mut parts = vec![one.name.clone()];
    parts.extend(one.version.as_ref().map(|version| format!("version {version}")));
    parts.extend(one.risk.map(|risk| risk.as_str().to_owned()));
    parts.extend(one.hash.as_ref().map(|hash| format!("hash {}…", hash.chars().take(8).collect::<String>())));
    parts.join(", ")
}

fn short(value: &Value) -> String {
    let text = value.to_string();
    if text.chars().count() <= SHOWN { text } else { format!("{}…", text.chars().take(SHOWN).collect::<String>()) }
}
