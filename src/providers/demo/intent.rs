//! What can be wanted, and how a sentence becomes a list of it. Knows nothing of words.

use crate::providers::demo::clause::{Clause, clauses};
use crate::providers::demo::read::Facts;
use crate::providers::demo::reader::Reader;

/// One thing that is wanted.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Intent {
    /// How far orders are; several are compared.
    Status(Vec<String>),
    /// A list of orders.
    Find { q: Option<String>, status: Option<&'static str> },
    /// Orders, as a file.
    Export(Option<&'static str>),
    /// The list on the screen, filtered.
    Filter { q: Option<String>, status: Option<&'static str> },
    /// An order paid back.
    Refund { order: String, reason: Option<String>, cents: Option<i64> },
    /// A note on an order.
    Note { order: String, text: Option<String> },
    /// An answer from the help articles.
    Help(String),
    /// A screen, by its address.
    Open(String),
    /// A part of an order's screen.
    Panel { order: String, panel: &'static str },
    /// The article a search found.
    OpenSearched(String),
    /// The first of the orders that were found.
    OpenFirst,
    /// A page of another site.
    Link(String),
    /// A value of an order, into the clipboard.
    CopyField { order: String, field: Field },
    /// Text, into the clipboard.
    CopyText(String),
    /// What the clipboard holds.
    Clipboard,
    /// What the screen shows.
    PageRead,
    /// A text on the screen, marked.
    Highlight(String),
    /// A text on the screen, brought into view.
    ScrollTo(String),
    /// A tool that nobody has, called on purpose.
    Teleport,
    /// A long answer, to see streaming.
    Long,
    /// An order is missing.
    AskOrder,
    /// A thing this model has no way to do.
    Cannot(String),
    /// The user took the wish back.
    Dropped,
    /// Courtesy.
    Thanks,
    /// Nothing that is understood.
    Unknown(String),
}

/// A value of an order: the key in the result, and the word for it.
pub(super) type Field = (&'static str, &'static str);

/// What the user wants, in order.
pub(super) fn intents(facts: &Facts) -> Vec<Intent> {
    if facts.wish.dropped {
        return vec![Intent::Dropped];
    }
    let mut reader = Reader::new(facts);
    clauses(&facts.wish.sentence).into_iter().flat_map(|text| reader.read(&Clause::new(text))).collect()
}
