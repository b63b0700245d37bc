//! Whether a call may run, the user is asked, or it is refused.
//!
//! Knows nothing of names: rules are over a definition's own words, where the arguments come from, and the state.
//! A tool can not change them: they come from the page's code or the gateway's configuration.

use serde_json::Value;

use crate::protocol::{Names, Risk, Scope, State};
use crate::tools::{Approval, Definition};

/// The rules of one session and what the user has granted in it.
#[derive(Clone, Debug, Default)]
pub struct Policy {
    rules: Vec<Rule>,
    granted: Names,
}

/// One rule: where all its conditions hold, its verdict stands. The first that holds decides.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    /// Any of these risks; empty for all.
    pub risks: Vec<Risk>,
    /// Any of these owners; empty for all.
    pub owners: Vec<String>,
    /// This scope.
    pub scope: Option<Scope>,
    /// Arguments that come from there.
    pub arguments: Option<Provenance>,
    /// What the state must hold: key → values that will do.
    pub state: Names<Vec<Value>>,
    /// What it says.
    pub verdict: Verdict,
}

/// Where a call's arguments come from, the least trustworthy of them counting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Provenance {
    /// The user wrote every text in them.
    User,
    /// The model made some of it up.
    Model,
    /// Some of it was read by a tool: a page, a mail, a search result.
    Tool,
}

/// What the policy says of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It may run.
    Allow,
    /// The user is asked first.
    Ask {
        /// Why, in words for the user.
        reason: String,
        /// Whether a yes holds for this tool until the page is closed.
        once: bool,
    },
    /// It may not run; the model reads why.
    Refuse {
        /// Why, in words for the model.
        reason: String,
    },
}

/// A call to be judged.
pub struct Case<'a> {
    /// The tool.
    pub tool: &'a Definition,
    /// The state as the call would see it.
    pub state: &'a State,
    /// Where its arguments come from; asked for only by rules that want to know.
    pub provenance: &'a dyn Fn() -> Provenance,
}

impl Policy {
    /// A policy of these rules; where none holds, the shipped default: reads are free, writes ask once a session, the
    /// irreversible always asks.
    #[must_use]
    pub fn new(rules: Vec<Rule>) -> Self {
        Self { rules, granted: Names::default() }
    }

    /// Takes another's rules in place of these; what the user has granted stays.
    pub fn take_rules(&mut self, other: Self) {
        self.rules = other.rules;
    }

    /// Forgets what the user has granted: another one is there.
    pub fn forget(&mut self) {
        self.granted.clear();
    }

    /// Puts another's rules behind these.
    pub fn append(&mut self, other: &Self) {
        self.rules.extend(other.rules.iter().cloned());
    }

    /// The policy that asks before every call: for rules that could not be read.
    #[must_use]
    pub fn ask_always() -> Self {
        let verdict = always_asks();
        let rule = Rule {
            risks: Vec::new(),
            owners: Vec::new(),
            scope: None,
            arguments: None,
            state: Names::default(),
            verdict,
        };
        Self::new(vec![rule])
    }

    /// Judges a call.
    #[must_use]
    pub fn judge(&self, case: &Case<'_>) -> Verdict {
        let rule = self.rules.iter().find(|rule| rule.holds(case));
        let verdict = rule.map_or_else(|| default_verdict(case.tool), |rule| rule.verdict.clone());
        match verdict {
            Verdict::Allow if case.tool.approval == Approval::Always => always_asks(),
            Verdict::Ask { once: true, .. } if self.granted.contains(&key(case.tool)) => Verdict::Allow,
            verdict => verdict,
        }
    }

    /// Remembers that the user approved this tool. Holds only where the policy asks once a session.
    pub fn grant(&mut self, tool: &Definition) {
        self.granted.add(key(tool));
    }
}

impl Rule {
    fn holds(&self, case: &Case<'_>) -> bool {
        let tool = case.tool;
        let within = |key: &str, values: &Vec<Value>| case.state.get(key).is_some_and(|value| values.contains(value));
        (self.risks.is_empty() || self.risks.contains(&tool.risk))
            && (self.owners.is_empty() || self.owners.contains(&tool.owner))
            && self.scope.is_none_or(|scope| scope == tool.scope)
            && self.state.iter().all(|(key, values)| within(key, values))
            && self.arguments.is_none_or(|wanted| wanted == (case.provenance)())
    }
}

impl Provenance {
    /// The word used in rules.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Model => "model",
            Self::Tool => "tool",
        }
    }

    /// The provenance of a word.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        [Self::User, Self::Model, Self::Tool].into_iter().find(|one| one.as_str() == word)
    }
}

fn default_verdict(tool: &Definition) -> Verdict {
    let ask = |reason: &str, once| Verdict::Ask { reason: reason.to_owned(), once };
    match (tool.approval, tool.risk) {
        (_, Risk::Irreversible) => ask("This cannot be undone.", false),
        (Approval::Always, _) => always_asks(),
        (Approval::Risk, Risk::Write) => {
            ask("This changes data. Your answer holds for this tool until the page is closed.", true)
        }
        (Approval::Risk | Approval::Tool, Risk::Read | Risk::Write) => Verdict::Allow,
    }
}

fn always_asks() -> Verdict {
    Verdict::Ask { reason: "This tool always asks first.".to_owned(), once: false }
}

fn key(tool: &Definition) -> String {
    format!("{} {}", tool.scope.as_str(), tool.name)
}
