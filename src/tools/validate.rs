//! What can be wrong with a tool, in sentences that say how to put it right. Knows nothing of who is told.

use std::fmt;

use crate::protocol::Risk;
use crate::tools::registry::{Executor, Profile, Registry};
use crate::tools::resolve::{Editor, Toolset};
use crate::tools::{Approval, Definition, Schema};

/// Something wrong with what was registered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// What it is about: `tool`, `toolset`, `profile`, …
    pub kind: &'static str,
    /// Its name.
    pub name: String,
    /// Who answers for it; empty for what belongs to nobody.
    pub owner: String,
    /// What is wrong and how to put it right.
    pub message: String,
}

impl Problem {
    /// A tool's.
    #[must_use]
    pub fn of_tool(definition: &Definition, message: String) -> Self {
        Self { kind: "tool", name: definition.name.clone(), owner: definition.owner.clone(), message }
    }

    /// A profile's.
    #[must_use]
    pub fn of_profile(name: &str, message: String) -> Self {
        Self { kind: "profile", name: name.to_owned(), owner: String::new(), message }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} \"{}\"", self.kind, self.name)?;
        if self.kind != "profile" {
            write!(f, " of {}", owner_words(&self.owner))?;
        }
        write!(f, ": {}", self.message)
    }
}

pub(super) fn owner_words(owner: &str) -> &str {
    if owner.trim().is_empty() { "an unnamed owner" } else { owner }
}

const NAME_RULE: &str = "must match ^[a-z][a-z0-9_]{2,63}$, which every provider takes";

/// What is wrong with a definition by itself, and with the executor behind it.
pub(super) fn definition(definition: &Definition, executor: Option<&Executor>) -> Vec<String> {
    let mut faults = Vec::new();
    if !is_portable(&definition.name) {
        faults.push(format!("the name {NAME_RULE}"));
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
    if definition.approval == Approval::Tool && definition.risk == Risk::Irreversible {
        faults.push("an irreversible tool always asks; it can not leave the asking to itself".to_owned());
    }
    for (fact, _) in definition.requires.iter().filter(|(_, values)| values.is_empty()) {
        faults.push(format!("it requires the fact \"{fact}\", but no value of it will do; list those that will"));
    }
    faults.extend(of_executor(definition, executor));
    faults
}

fn of_executor(definition: &Definition, executor: Option<&Executor>) -> Vec<String> {
    let mut faults = Vec::new();
    let Some(executor) = executor else {
        return vec![format!("nothing can run it in the {}; give it an executor", definition.scope.as_str())];
    };
    if executor.scope != definition.scope {
        let (said, runs) = (definition.scope.as_str(), executor.scope.as_str());
        faults.push(format!("its definition says {said}, its executor runs in the {runs}"));
    }
    if executor.name != definition.name {
        faults.push(format!("its executor answers to \"{}\"", executor.name));
    }
    faults
}

/// What is wrong with its name and aliases beside those of others.
pub(super) fn names(definition: &Definition, others: &Registry) -> Vec<String> {
    let mut faults = Vec::new();
    if let Some(earlier) = others.find(&definition.name) {
        let what = if earlier.name == definition.name { "the name is taken by" } else { "the name is an alias of" };
        faults.push(format!(
            "{what} a tool of {}; rename one of them or unregister the other first",
            owner_words(&earlier.owner)
        ));
    }
    for (at, alias) in definition.aliases.iter().enumerate() {
        let name = &alias.name;
        let twice = definition.aliases[..at].iter().any(|other| other.name == *name) || *name == definition.name;
        if !is_portable(name) {
            faults.push(format!("its alias \"{name}\" {NAME_RULE}"));
        } else if twice {
            faults.push(format!("its alias \"{name}\" is given twice, or is its own name"));
        } else if let Some(earlier) = others.find(name) {
            let owner = owner_words(&earlier.owner);
            faults.push(format!("its alias \"{name}\" is taken by the tool \"{}\" of {owner}", earlier.name));
        }
    }
    faults
}

/// Profiles that nobody declared.
pub(super) fn profiles(definition: &Definition, declared: &[Profile]) -> Vec<String> {
    let known = |name: &String| declared.is_empty() || declared.iter().any(|profile| profile.name == *name);
    let names = || declared.iter().map(|profile| profile.name.as_str()).collect::<Vec<_>>().join(", ");
    let unknown = definition.profiles.iter().filter(|name| !known(name));
    unknown
        .map(|name| format!("it names the profile \"{name}\", which nobody declared; there are: {}", names()))
        .collect()
}

/// Examples that do not pass the definition's own schema.
pub(super) fn examples(definition: &Definition, schema: &Schema) -> Vec<String> {
    let mut faults = Vec::new();
    for (at, example) in definition.examples.iter().enumerate() {
        let violations = schema.check(example).err().unwrap_or_default();
        faults.extend(violations.iter().map(|violation| format!("its example {}: {violation}", at + 1)));
    }
    faults
}

/// Profiles whose declarations are longer than they may be.
pub(super) fn budgets(registry: &Registry) -> Vec<Problem> {
    let mut problems = Vec::new();
    for profile in &registry.rules.profiles {
        let size = registry.declared_size(&profile.name);
        let tokens = registry.tokens(size);
        let limits = [(size, profile.max_characters, "characters"), (tokens, profile.max_tokens, "tokens (estimated)")];
        for (is, most, unit) in limits {
            if let Some(most) = most.filter(|most| is > *most) {
                let words = format!(
                    "its declarations have {is} {unit}, {most} are allowed; shorten descriptions, or leave tools out of it"
                );
                problems.push(Problem::of_profile(&profile.name, words));
            }
        }
    }
    problems
}

pub(super) fn toolset(toolset: &Toolset, earlier: Option<&Toolset>) -> Vec<Problem> {
    let mut faults = of_named(&toolset.name, &toolset.owner);
    if let Some(earlier) = earlier {
        let owner = owner_words(&earlier.owner);
        faults.push(format!("the name is taken by a toolset of {owner}; close that one first"));
    }
    problems("toolset", &toolset.name, &toolset.owner, faults)
}

pub(super) fn editor(editor: &Editor, others: &[Editor]) -> Vec<Problem> {
    let mut faults = of_named(&editor.name, &editor.owner);
    if let Some(earlier) = others.iter().find(|other| other.name == editor.name && !other.of_tool) {
        let owner = owner_words(&earlier.owner);
        faults.push(format!("the name is taken by an editor of {owner}; unregister that one first"));
    }
    problems("editor", &editor.name, &editor.owner, faults)
}

fn of_named(name: &str, owner: &str) -> Vec<String> {
    let mut faults = Vec::new();
    if !is_portable(name) {
        faults.push(format!("the name {NAME_RULE}"));
    }
    if owner.trim().is_empty() {
        faults.push("it has no owner; name the team or package that answers for it".to_owned());
    }
    faults
}

fn problems(kind: &'static str, name: &str, owner: &str, faults: Vec<String>) -> Vec<Problem> {
    let problem = |message| Problem { kind, name: name.to_owned(), owner: owner.to_owned(), message };
    faults.into_iter().map(problem).collect()
}

fn is_portable(name: &str) -> bool {
    let mut letters = name.bytes();
    (3..=64).contains(&name.len())
        && letters.next().is_some_and(|first| first.is_ascii_lowercase())
        && letters.all(|letter| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == b'_')
}
