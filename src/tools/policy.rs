//! Whether a call may run or the user is asked. Knows nothing of names: rules are over a definition's own words.

use crate::protocol::{Names, Risk};
use crate::tools::{Approval, Definition};

/// The rules of one session and what the user has granted in it.
#[derive(Clone, Debug, Default)]
pub struct Policy {
    granted: Names,
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
    },
}

impl Policy {
    /// Judges a call of this tool.
    #[must_use]
    pub fn judge(&self, tool: &Definition) -> Verdict {
        let ask = |reason: &str| Verdict::Ask { reason: reason.to_owned() };
        match (tool.approval, tool.risk) {
            (_, Risk::Irreversible) => ask("This cannot be undone."),
            (Approval::Always, _) => ask("This tool always asks first."),
            (Approval::Risk, Risk::Write) if !self.granted.contains(&key(tool)) => {
                ask("This changes data. Your answer holds for this tool until the page is closed.")
            }
            (Approval::Risk | Approval::Tool, Risk::Read | Risk::Write) => Verdict::Allow,
        }
    }

    /// Remembers that the user approved this tool. Holds only where the policy asks once a session.
    pub fn grant(&mut self, tool: &Definition) {
        if tool.risk == Risk::Write {
            self.granted.add(key(tool));
        }
    }
}

fn key(tool: &Definition) -> String {
    format!("{} {}", tool.scope.as_str(), tool.name)
}
