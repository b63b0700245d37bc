//! How often each tool was called and what came of it. Knows nothing of where that is shown.

use serde_json::{Map, Value};

use crate::protocol::{Names, Settled, object};

// A model may make up any number of names.
const MAX_UNKNOWN: usize = 256;

/// Counts since the start.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Metrics {
    calls: Names<Count>,
    aliases: Names<u64>,
    unknown: Names<u64>,
}

/// The calls of one tool, in one version, that came to the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Count {
    /// The tool.
    pub tool: String,
    /// Who answers for it.
    pub owner: String,
    /// Its version.
    pub version: String,
    /// What came of them: `ok`, or the error's code.
    pub outcome: String,
    /// How many.
    pub calls: u64,
    /// How long they took together, in milliseconds.
    pub ms: u64,
}

impl Metrics {
    /// Counts a settled call.
    pub fn count(&mut self, call: &Settled) {
        let Settled { tool, owner, version, outcome, ms, alias } = call;
        if outcome == "unknown_tool" {
            return self.count_unknown(tool);
        }
        let key = format!("{tool}\n{owner}\n{version}\n{outcome}");
        if let Some(count) = self.calls.get_mut(&key) {
            count.calls += 1;
            count.ms += ms;
        } else {
            let (tool, owner, version) = (tool.clone(), owner.clone(), version.clone());
            let count = Count { tool, owner, version, outcome: outcome.clone(), calls: 1, ms: *ms };
            self.calls.insert(key, count);
        }
        if let Some(alias) = alias {
            add(&mut self.aliases, alias);
        }
    }

    fn count_unknown(&mut self, name: &str) {
        let name: String = name.chars().take(64).collect();
        let known = self.unknown.contains(&name) || self.unknown.len() < MAX_UNKNOWN;
        add(&mut self.unknown, if known { &name } else { "(others)" });
    }

    /// The calls, by tool.
    pub fn calls(&self) -> impl Iterator<Item = &Count> {
        self.calls.values()
    }

    /// How often each alias was used.
    pub fn aliases(&self) -> impl Iterator<Item = (&str, u64)> {
        self.aliases.iter().map(|(name, count)| (name, *count))
    }

    /// How often each name nobody registered was called.
    pub fn unknown(&self) -> impl Iterator<Item = (&str, u64)> {
        self.unknown.iter().map(|(name, count)| (name, *count))
    }

    /// All of it as JSON.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let calls: Vec<Value> = self
            .calls()
            .map(|one| {
                object(vec![
                    ("tool", one.tool.as_str().into()),
                    ("owner", one.owner.as_str().into()),
                    ("version", one.version.as_str().into()),
                    ("outcome", one.outcome.as_str().into()),
                    ("calls", one.calls.into()),
                    ("ms", one.ms.into()),
                ])
            })
            .collect();
        object(vec![("calls", calls.into()), ("aliases", counts(&self.aliases)), ("unknown", counts(&self.unknown))])
    }
}

fn add(counts: &mut Names<u64>, name: &str) {
    let count = counts.get(name).copied().unwrap_or_default();
    counts.insert(name.to_owned(), count + 1);
}

fn counts(counts: &Names<u64>) -> Value {
    let mut object = Map::new();
    for (name, count) in counts.iter() {
        object.insert(name.to_owned(), Value::from(*count));
    }
    Value::Object(object)
}
