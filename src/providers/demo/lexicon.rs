//! The words the demo model knows, and what it finds by them in a clause. Knows nothing of wishes.

use crate::providers::demo::clause::Clause;
use crate::providers::demo::intent::Field;

pub(super) const TRACKING: Field = ("tracking_number", "tracking number");

pub(super) const FIELDS: [(&str, Field); 7] = [
    ("tracking", TRACKING),
    ("number", TRACKING),
    ("carrier", ("carrier", "carrier")),
    ("total", ("total", "total")),
    ("amount", ("total", "total")),
    ("status", ("status", "status")),
    ("customer", ("customer", "customer's name")),
];

const STATUSES: [&str; 7] = ["pending", "packed", "shipped", "delivered", "cancelled", "refunded", "late"];

pub(super) const AREAS: [(&str, &str); 9] = [
    ("customers", "/customers"),
    ("customer", "/customers"),
    ("orders", "/orders"),
    ("dashboard", "/"),
    ("home", "/"),
    ("start", "/"),
    ("overview", "/"),
    ("help", "/help"),
    ("articles", "/help"),
];

const PANELS: [(&str, &str); 6] = [
    ("notes", "notes"),
    ("history", "history"),
    ("shipping", "shipping"),
    ("refund", "refund"),
    ("items", "items"),
    ("lines", "items"),
];

/// Words whose presence makes a question one for the help articles.
pub(super) const TOPICS: &[&str] = &[
    "policy",
    "policies",
    "return",
    "returns",
    "warranty",
    "warranties",
    "repair",
    "repairs",
    "size",
    "sizes",
    "sizing",
    "shipping",
    "delivery",
    "customs",
    "voucher",
    "vouchers",
    "invoice",
    "invoices",
    "payment",
    "payments",
    "exchange",
    "wash",
    "washing",
    "care",
    "newsletter",
    "password",
    "account",
    "lost",
    "damaged",
    "tent",
    "tents",
    "boots",
    "down",
    "merino",
    "stove",
    "refunds",
    "gift",
    "hours",
    "parcels",
    "costs",
    "desk",
    "express",
    "price",
    "prices",
    "statuses",
];

// What is said around a topic.
const FILLERS: &[&str] = &[
    "a",
    "an",
    "the",
    "is",
    "are",
    "was",
    "what",
    "what's",
    "whats",
    "how",
    "do",
    "does",
    "we",
    "our",
    "us",
    "you",
    "your",
    "i",
    "me",
    "my",
    "to",
    "of",
    "on",
    "in",
    "for",
    "with",
    "about",
    "can",
    "could",
    "should",
    "please",
    "tell",
    "help",
    "explain",
    "there",
    "it",
    "when",
    "which",
    "who",
    "long",
    "much",
    "article",
    "articles",
    "search",
    "find",
    "if",
    "has",
    "have",
    "and",
    "or",
    "that",
    "open",
    "show",
    "customer",
    "customers",
    "someone",
    "they",
    "be",
    "look",
    "up",
];

/// First words of wishes that no tool of the demo can fulfil.
pub(super) const CANNOT: &[&str] = &[
    "cancel",
    "delete",
    "remove",
    "email",
    "mail",
    "send",
    "phone",
    "buy",
    "pay",
    "book",
    "translate",
    "change",
    "update",
    "edit",
    "ship",
    "print",
    "upload",
    "download",
    "create",
    "draw",
    "play",
];

pub(super) fn status(clause: &Clause<'_>) -> Option<&'static str> {
    STATUSES.into_iter().find(|status| clause.has(&[status]))
}

pub(super) fn panel(clause: &Clause<'_>) -> Option<&'static str> {
    PANELS.iter().find(|(word, _)| clause.has(&[word])).map(|(_, panel)| *panel)
}

pub(super) fn is_question(clause: &Clause<'_>) -> bool {
    clause.begins(&[
        "what", "what's", "how", "when", "do", "does", "can", "could", "should", "is", "are", "who", "which", "help",
        "explain", "tell", "search",
    ])
}

pub(super) fn question(clause: &Clause<'_>) -> String {
    clause.words().filter(|word| !FILLERS.contains(word)).collect::<Vec<_>>().join(" ")
}

/// "orders of Lindqvist", "find Lindqvist", "filter by tent".
pub(super) fn search_text(clause: &Clause<'_>) -> Option<String> {
    let marks = ["orders of ", "orders by ", "orders from ", "orders for ", "orders with ", "order of ", "order from "];
    let verbs =
        ["filter the list by ", "filter the list for ", "filter by ", "filter for ", "search for ", "find ", "search "];
    let text = clause.quoted().or_else(|| clause.after(&marks)).or_else(|| clause.after(&verbs))?;
    let text = text.trim_end_matches(" on screen").trim_end_matches(" on the screen").trim_end_matches("'s orders");
    let text = text.trim_end_matches(" orders").trim_start_matches("the ").trim_start_matches("customer ").trim();
    let is_status = STATUSES.contains(&text.to_ascii_lowercase().as_str());
    let is_empty = text.is_empty() || matches!(text.to_ascii_lowercase().as_str(), "orders" | "all" | "order" | "list");
    (!is_status && !is_empty).then(|| text.to_owned()).filter(|text| !is_status_phrase(text))
}

// "shipped orders on screen" is a status with words around it.
fn is_status_phrase(text: &str) -> bool {
    let first = text.split_whitespace().next().unwrap_or_default().to_ascii_lowercase();
    STATUSES.contains(&first.as_str()) || first == "all"
}

pub(super) fn note_text(clause: &Clause<'_>) -> Option<String> {
    let text = clause.verbatim.split_once(':').map(|(_, text)| text.trim()).filter(|text| !text.is_empty());
    let text = text.or_else(|| clause.quoted()).or_else(|| clause.after(&[" saying ", " that says ", " that "]));
    text.map(str::to_owned)
}

/// What is to be marked, shown or copied: quoted, or what follows the verb.
pub(super) fn target(clause: &Clause<'_>, verbs: &[&str]) -> Option<String> {
    let text = clause.quoted().or_else(|| clause.after(verbs))?;
    let mut text = text.strip_suffix(" to the clipboard").unwrap_or(text);
    for lead in ["the text ", "the words ", "the word ", "text ", "the "] {
        text = text.strip_prefix(lead).unwrap_or(text);
    }
    Some(text.trim().trim_matches('\'').to_owned()).filter(|text| !text.is_empty())
}
