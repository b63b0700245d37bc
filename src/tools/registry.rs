//! Every tool known now. Knows nothing of how one is run; only that somebody can.
//!
//! A [`Registry`] is built from registrations without a fault or not at all, so whoever holds one
//! holds tools that exist, run where they say, and check their arguments.

use std::fmt;
use std::sync::Arc;

use crate::protocol::{Names, Scope, ToolOffer};
use crate::tools::nearest::nearest;
use crate::tools::{Approval, Definition, Schema};

/// A definition and the executor that stands behind it.
#[derive(Clone, Debug)]
pub struct Registration {
    /// The tool as data.
    pub definition: Definition,
    /// Who runs it; `None` is a fault.
    pub executor: Option<Executor>,
}

/// What an executor says of itself, to be held against the definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Executor {
    /// The name it answers to.
    pub name: String,
    /// The world it runs in.
    pub scope: Scope,
}

/// Something wrong with a registration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Which tool.
    pub tool: String,
    /// Who answers for it.
    pub owner: String,
    /// What is wrong and how to put it right.
    pub message: String,
}

/// Every tool known now, by name.
#[derive(Clone, Debug, Default)]
pub struct Registry {
    tools: Names<Arc<Tool>>,
}

#[derive(Debug)]
struct Tool {
    definition: Arc<Definition>,
    schema: Schema,
}

impl Registry {
    /// Adds tools: all of them, or none and every fault of all of them.
    ///
    /// # Errors
    /// One [`Problem`] a fault: name, description, owner, version, schema, executor, duplicate.
    pub fn register(&mut self, registrations: Vec<Registration>) -> Result<(), Vec<Problem>> {
        let mut problems = Vec::new();
        let mut accepted: Names<Arc<Tool>> = Names::default();
        for Registration { definition, executor } in registrations {
            let mut faults = faults_of(&definition, executor.as_ref());
            let earlier = self.tools.get(&definition.name).or_else(|| accepted.get(&definition.name));
            if let Some(earlier) = earlier {
                faults.push(format!(
                    "the name is taken by a tool of {}; rename one of them or unregister the other first",
                    owner_words(&earlier.definition.owner)
                ));
            }
            let schema = Schema::compile_arguments(&definition.parameters).unwrap_or_else(|bad| {
                faults.extend(bad.iter().map(ToString::to_string));
                Schema::default()
            });
            problems.extend(faults.into_iter().map(|message| Problem {
                tool: definition.name.clone(),
                owner: definition.owner.clone(),
                message,
            }));
            if !accepted.contains(&definition.name) {
                let tool = Tool { definition: Arc::new(definition), schema };
                accepted.insert(tool.definition.name.clone(), Arc::new(tool));
            }
        }
        if problems.is_empty() {
            for (name, tool) in accepted {
                self.tools.insert(name, tool);
            }
            Ok(())
        } else {
            Err(problems)
        }
    }

    /// Takes a tool out; `false` where there was none.
    pub fn unregister(&mut self, name: &str) -> bool {
        self.tools.remove(name).is_some()
    }

    /// A tool's definition.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Arc<Definition>> {
        self.tools.get(name).map(|tool| &tool.definition)
    }

    /// The compiled schema of a tool's arguments.
    #[must_use]
    pub fn schema(&self, name: &str) -> Option<&Schema> {
        self.tools.get(name).map(|tool| &tool.schema)
    }

    /// Every definition, by name.
    pub fn definitions(&self) -> impl Iterator<Item = &Arc<Definition>> {
        self.tools.values().map(|tool| &tool.definition)
    }

    /// The tools as a model sees them, by name, so that the same set always reads the same.
    #[must_use]
    pub fn offers(&self) -> Vec<ToolOffer> {
        self.definitions().map(|definition| definition.offer()).collect()
    }

    /// Up to three names that look like `name`, nearest first.
    #[must_use]
    pub fn nearest(&self, name: &str) -> Vec<&str> {
        nearest(name, self.tools.keys())
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "tool \"{}\" of {}: {}", self.tool, owner_words(&self.owner), self.message)
    }
}

fn owner_words(owner: &str) -> &str {
    if owner.trim().is_empty() { "an unnamed owner" } else { owner }
}

fn faults_of(definition: &Definition, executor: Option<&Executor>) -> Vec<String> {
    let mut faults = Vec::new();
    if !is_portable(&definition.name) {
        faults.push("the name must match ^[a-z][a-z0-9_]{2,63}$, which every provider takes".to_owned());
    }
    let length = definition.description.trim().chars().count();
    if length < 40 {
        faults.push(format!(
            "the description has {length} characters; say in at least 40 what the tool does, when to use it and what comes back"
        ));
    }
    if definition.owner.trim().is_empty() {
        faults.push("it has no owner; name the team or package that answers for it".to_owned());
    }
    if definition.version.trim().is_empty() {
        faults.push("it has no version".to_owned());
    }
    if definition.timeout_ms == Some(0) {
        faults.push("a timeout of 0 ms would fail every call".to_owned());
    }
    if definition.approval == Approval::Tool && definition.risk == crate::protocol::Risk::Irreversible {
        faults.push("an irreversible tool always asks; it can not leave the asking to itself".to_owned());
    }
    match executor {
        None => faults.push(format!("nothing can run it in the {}; give it an executor", definition.scope.as_str())),
        Some(executor) => {
            if executor.scope != definition.scope {
                faults.push(format!(
                    "its definition says {}, its executor runs in the {}",
                    definition.scope.as_str(),
                    executor.scope.as_str()
                ));
            }
            if executor.name != definition.name {
                faults.push(format!("its executor answers to \"{}\"", executor.name));
            }
        }
    }
    faults
}

fn is_portable(name: &str) -> bool {
    let mut letters = name.bytes();
    (3..=64).contains(&name.len())
        && letters.next().is_some_and(|first| first.is_ascii_lowercase())
        && letters.all(|letter| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == b'_')
}
