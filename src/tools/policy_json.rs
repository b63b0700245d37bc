//! A policy's rules from JSON: as JavaScript and the gateway's configuration have them. Knows nothing of judging.
//!
//! ```json
//! { "when": { "risk": ["write"], "owner": ["billing"], "scope": "server", "arguments": "tool",
//!             "state": { "user:tier": ["free"] } },
//!   "then": "ask", "reason": "These values were read by a tool.", "once": false }
//! ```

use serde_json::{Map, Value, json};

use crate::protocol::{Names, Risk, Scope};
use crate::tools::{Policy, Provenance, Rule, Verdict};

impl Policy {
    /// The policy of a JSON array of rules.
    ///
    /// # Errors
    /// Everything that is wrong with any of them, with its place.
    pub fn from_json(json: &Value) -> Result<Self, Vec<String>> {
        let Some(list) = json.as_array() else { return Err(vec!["a policy must be an array of rules".to_owned()]) };
        let mut faults = Vec::new();
        let rules = list.iter().enumerate().map(|(at, rule)| read(rule, at, &mut faults)).collect();
        if faults.is_empty() { Ok(Self::new(rules)) } else { Err(faults) }
    }
}

impl Rule {
    /// The rule as JSON.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let mut state = Map::new();
        for (key, values) in self.state.iter() {
            state.insert(key.to_owned(), Value::from(values.clone()));
        }
        let risks: Vec<&str> = self.risks.iter().map(|risk| risk.as_str()).collect();
        let (then, reason, once) = match &self.verdict {
            Verdict::Allow => ("allow", "", false),
            Verdict::Ask { reason, once } => ("ask", reason.as_str(), *once),
            Verdict::Refuse { reason } => ("refuse", reason.as_str(), false),
        };
        json!({
            "when": { "risk": risks, "owner": self.owners, "scope": self.scope.map(Scope::as_str),
                "arguments": self.arguments.map(Provenance::as_str), "state": state },
            "then": then, "reason": reason, "once": once,
        })
    }
}

fn read(rule: &Value, at: usize, faults: &mut Vec<String>) -> Rule {
    let mut fault = |words: &str| faults.push(format!("rule {}: {words}", at + 1));
    let nothing = Value::Null;
    let when = rule.get("when").unwrap_or(&nothing);
    unknown_keys(rule, &["when", "then", "reason", "once"], &mut fault);
    unknown_keys(when, &["risk", "owner", "scope", "arguments", "state"], &mut fault);
    let risks: Vec<Option<Risk>> = texts(when, "risk").iter().map(|word| Risk::parse(word)).collect();
    if risks.contains(&None) {
        fault("its risk must be of \"read\", \"write\", \"irreversible\"");
    }
    let scope = word(when, "scope").map(Scope::parse);
    if scope == Some(None) {
        fault("its scope must be \"browser\" or \"server\"");
    }
    let arguments = word(when, "arguments").map(Provenance::parse);
    if arguments == Some(None) {
        fault("its arguments must be from \"user\", \"model\" or \"tool\"");
    }
    let mut state = Names::default();
    for (key, values) in when.get("state").and_then(Value::as_object).into_iter().flatten() {
        state.insert(key.clone(), values.as_array().cloned().unwrap_or_else(|| vec![values.clone()]));
    }
    let reason = word(rule, "reason").unwrap_or_default().to_owned();
    let verdict = match word(rule, "then") {
        Some("allow") => Verdict::Allow,
        Some("ask" | "refuse") if reason.trim().is_empty() => {
            fault("it asks or refuses without a reason; give one in words for whoever reads it");
            Verdict::Refuse { reason }
        }
        Some("ask") => Verdict::Ask { reason, once: rule.get("once").and_then(Value::as_bool).unwrap_or_default() },
        Some("refuse") => Verdict::Refuse { reason },
        _ => {
            fault("its then must be \"allow\", \"ask\" or \"refuse\"");
            Verdict::Refuse { reason }
        }
    };
    Rule {
        risks: risks.into_iter().flatten().collect(),
        owners: texts(when, "owner"),
        scope: scope.flatten(),
        arguments: arguments.flatten(),
        state,
        verdict,
    }
}

// A condition nobody reads would make a rule hold too often.
fn unknown_keys(value: &Value, known: &[&str], fault: &mut impl FnMut(&str)) {
    for key in value.as_object().into_iter().flat_map(Map::keys) {
        if !known.contains(&key.as_str()) {
            fault(&format!("\"{key}\" is nothing a rule knows; there are: {}", known.join(", ")));
        }
    }
}

fn word<'a>(value: &'a Value, name: &str) -> Option<&'a str> {
    value.get(name).filter(|value| !value.is_null()).map(|value| value.as_str().unwrap_or_default())
}

fn texts(value: &Value, name: &str) -> Vec<String> {
    match value.get(name) {
        Some(Value::String(one)) => vec![one.clone()],
        Some(Value::Array(list)) => list.iter().map(|one| one.as_str().unwrap_or_default().to_owned()).collect(),
        _ => Vec::new(),
    }
}
