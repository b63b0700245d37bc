//! Names of tools and ids of calls at the border: what a vendor takes, and the way back. Knows nothing of any vendor.

use std::collections::BTreeSet;

use sha2::{Digest, Sha256};

use crate::protocol::{AssistantMessage, Message, ModelRequest, ToolCall};
use crate::providers::history::Settled;
use crate::tools::portability::Provider;

/// The tools of a request by the names their vendor takes.
#[derive(Clone, Debug, Default)]
pub(super) struct ToolNames {
    // The name here, the name there; those that are the same are not kept.
    changed: Vec<(String, String)>,
}

// What every vendor takes (see `tools::portability`).
const MAX_NAME: usize = 64;

impl ToolNames {
    /// Those of a request, in its tools and in its thread.
    pub(super) fn of(request: &ModelRequest, provider: Option<&Provider>) -> Self {
        let takes = |name: &str| provider.map_or(plain(name) == name, |provider| provider.takes_name(name));
        let offered = request.tools.iter().map(|offer| offer.name.as_str());
        let called = request.messages.iter().filter_map(Message::answer).flat_map(AssistantMessage::calls);
        let names: BTreeSet<&str> = offered.chain(called.map(|call| call.name.as_str())).collect();
        let mut taken: BTreeSet<String> =
            names.iter().filter(|name| takes(name)).map(|name| (*name).to_owned()).collect();
        let mut changed = Vec::new();
        for name in names.iter().filter(|name| !takes(name)) {
            let wire = plain(name);
            let wire = if taken.contains(&wire) { with_mark(&wire, name) } else { wire };
            taken.insert(wire.clone());
            changed.push(((*name).to_owned(), wire));
        }
        Self { changed }
    }

    /// The vendor's name of a tool.
    pub(super) fn wire<'a>(&'a self, name: &'a str) -> &'a str {
        self.changed.iter().find(|(real, _)| real == name).map_or(name, |(_, wire)| wire)
    }

    /// Our name of a tool.
    pub(super) fn real<'a>(&'a self, wire: &'a str) -> &'a str {
        self.changed.iter().find(|(_, other)| other == wire).map_or(wire, |(real, _)| real)
    }
}

fn plain(name: &str) -> String {
    let letter =
        |letter: char| if letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-') { letter } else { '_' };
    let mut plain: String = name.chars().map(letter).collect();
    if !plain.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_') {
        plain.insert(0, '_');
    }
    if plain.len() > MAX_NAME { with_mark(&plain, name) } else { plain }
}

// Cut to make room for a mark that tells it from others like it.
fn with_mark(plain: &str, name: &str) -> String {
    let mark = short_id(name);
    format!("{}_{mark}", &plain[..plain.len().min(MAX_NAME - 1 - mark.len())])
}

/// What a vendor takes as the id of a call when it is sent back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallIds {
    /// Anything of at most so many characters.
    Any(usize),
    /// Letters, digits, `_` and `-`, at most so many.
    Plain(usize),
    /// Nine letters and digits.
    Nine,
    /// `functions.<tool>:<number>`, numbered through the thread.
    Numbered,
}

/// The ids of the calls of one request, each once.
#[derive(Debug)]
pub(super) struct WireIds {
    rule: CallIds,
    used: BTreeSet<String>,
    count: usize,
}

impl WireIds {
    pub(super) fn new(rule: CallIds) -> Self {
        Self { rule, used: BTreeSet::new(), count: 0 }
    }

    /// The id of the next call of the thread: the model's own where this vendor takes it, or else one that follows from it.
    pub(super) fn take(&mut self, call: &ToolCall, wire_name: &str) -> String {
        let own = call.wire_id.as_deref().unwrap_or(call.id.as_str());
        self.count += 1;
        let id = match self.rule {
            CallIds::Numbered => format!("functions.{wire_name}:{}", self.count - 1),
            _ if self.takes(own) && !self.used.contains(own) => own.to_owned(),
            _ => {
                let id = short_id(own);
                if self.used.contains(&id) { short_id(&format!("{own} {}", self.count)) } else { id }
            }
        };
        self.used.insert(id.clone());
        id
    }

    /// Those of the calls of one answer.
    pub(super) fn take_all(&mut self, settled: &[Settled<'_>], names: &ToolNames) -> Vec<String> {
        settled.iter().map(|one| self.take(one.call, names.wire(&one.call.name))).collect()
    }

    fn takes(&self, id: &str) -> bool {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
        match self.rule {
            CallIds::Any(most) => !id.is_empty() && id.len() <= most,
            CallIds::Plain(most) => !id.is_empty() && id.len() <= most && id.bytes().all(plain),
            CallIds::Nine => id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric()),
            CallIds::Numbered => false,
        }
    }
}

/// Nine letters and digits that follow from a text: an id every vendor takes, and the same in every request.
pub(super) fn short_id(text: &str) -> String {
    const LETTERS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    let digest = Sha256::digest(text.as_bytes());
    digest.iter().take(9).map(|byte| char::from(LETTERS[usize::from(*byte) % LETTERS.len()])).collect()
}
