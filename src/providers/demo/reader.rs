//! Clauses → intents: which words mean which wish, and what "it" is in each. Knows nothing of what was done about it.

use crate::providers::demo::clause::{Clause, cents, customer_id, order_ids};
use crate::providers::demo::intent::Intent;
use crate::providers::demo::lexicon::{
    AREAS, CANNOT, FIELDS, TOPICS, TRACKING, is_question, note_text, panel, question, search_text, status, target,
};
use crate::providers::demo::read::{Facts, Topic};

/// Reads clause after clause and remembers what the last one spoke of.
pub(super) struct Reader<'a> {
    facts: &'a Facts,
    topic: Option<Topic>,
    // The last list that was asked for: text and status.
    listed: Option<(Option<String>, Option<&'static str>)>,
}

impl<'a> Reader<'a> {
    /// Begins with what was spoken of before.
    pub(super) fn new(facts: &'a Facts) -> Self {
        let topic = facts.wish.order.clone().map(Topic::Order).or_else(|| facts.topic.clone());
        Self { facts, topic, listed: None }
    }

    /// What one clause wants.
    pub(super) fn read(&mut self, clause: &Clause<'_>) -> Vec<Intent> {
        let ids = order_ids(clause.text);
        let intents =
            self.special(clause).or_else(|| self.page(clause, &ids)).unwrap_or_else(|| self.shop(clause, &ids));
        if let Some(id) = ids.last() {
            self.topic = Some(Topic::Order(id.clone()));
        }
        for intent in &intents {
            match intent {
                Intent::Help(question) => self.topic = Some(Topic::Searched(question.clone())),
                Intent::Find { q, status } => {
                    self.topic = None;
                    self.listed = Some((q.clone(), *status));
                }
                _ => {}
            }
        }
        intents
    }

    // Demonstrations and courtesies.
    fn special(&self, clause: &Clause<'_>) -> Option<Vec<Intent>> {
        if clause.has(&["teleport"])
            || clause.has(&["tool"]) && clause.says(&["not exist", "n't exist", "nonexist", "unknown"])
        {
            return Some(vec![Intent::Teleport]);
        }
        if clause.says(&["long answer", "long text", "show me markdown", "show markdown", "markdown sample"]) {
            return Some(vec![Intent::Long]);
        }
        if clause.begins(&["thanks", "thank", "great", "perfect", "cool", "nice"]) && clause.words().count() < 6 {
            return Some(vec![Intent::Thanks]);
        }
        None
    }

    // What the page itself can do.
    fn page(&self, clause: &Clause<'_>, ids: &[String]) -> Option<Vec<Intent>> {
        if clause.has(&["clipboard", "copied"]) && !clause.begins(&["copy"]) || clause.begins(&["paste"]) {
            return Some(vec![Intent::Clipboard]);
        }
        let looks = clause.begins(&["what", "what's", "read", "summarise", "summarize", "describe", "tell"]);
        if looks && clause.says(&["page", "on screen", "the screen", "this screen", "do i see", "am i looking"]) {
            return Some(vec![Intent::PageRead]);
        }
        if clause.begins(&["highlight"]) {
            return Some(vec![target(clause, &["highlight "]).map_or_else(|| unknown(clause), Intent::Highlight)]);
        }
        if clause.begins(&["scroll"]) {
            let to = target(clause, &["scroll down to ", "scroll up to ", "scroll to "]);
            return Some(vec![to.map_or_else(|| unknown(clause), Intent::ScrollTo)]);
        }
        if clause.begins(&["copy"]) {
            return Some(vec![self.copy(clause, ids)]);
        }
        if clause.begins(&["open", "navigate", "go", "take", "visit"]) {
            return Some(self.open(clause, ids));
        }
        None
    }

    fn copy(&self, clause: &Clause<'_>, ids: &[String]) -> Intent {
        if let Some(text) = clause.quoted() {
            return Intent::CopyText(text.to_owned());
        }
        let field = FIELDS.iter().find(|(word, _)| clause.has(&[word])).map(|(_, field)| *field);
        let pronoun = clause.has(&["it", "that"]) && clause.words().count() <= 5;
        if let Some(field) = field.or(pronoun.then_some(TRACKING)) {
            return self.with_order(ids, |order| Intent::CopyField { order, field });
        }
        target(clause, &["copy "]).map_or_else(|| unknown(clause), Intent::CopyText)
    }

    fn open(&self, clause: &Clause<'_>, ids: &[String]) -> Vec<Intent> {
        let link =
            clause.text.split_whitespace().find(|word| word.starts_with("https://") || word.starts_with("http://"));
        if let Some(link) = link {
            return vec![Intent::Link(link.trim_matches(['"', '<', '>', '`']).to_owned())];
        }
        if let Some(panel) = panel(clause).filter(|_| !ids.is_empty() || clause.has(&["its", "order", "panel"])) {
            return vec![self.with_order(ids, |order| Intent::Panel { order, panel })];
        }
        if !ids.is_empty() {
            return ids.iter().map(|id| Intent::Open(format!("/orders/{id}"))).collect();
        }
        if let Some(id) = customer_id(clause) {
            return vec![Intent::Open(format!("/customers/{id}"))];
        }
        if clause.has(&["first", "newest", "latest"]) {
            return vec![Intent::OpenFirst];
        }
        if let Some(status) = status(clause) {
            return vec![Intent::Filter { q: None, status: Some(status) }];
        }
        let points = clause.has(&["it", "that", "this", "there", "order", "article"]);
        if points {
            return vec![self.open_topic(clause)];
        }
        let question = question(clause);
        if clause.has(TOPICS) && !question.is_empty() {
            return vec![Intent::Help(question.clone()), Intent::OpenSearched(question)];
        }
        let area = AREAS.iter().find(|(word, _)| clause.has(&[word])).map(|(_, url)| (*url).to_owned());
        vec![area.map_or_else(|| Intent::Cannot(clause.text.to_owned()), Intent::Open)]
    }

    fn open_topic(&self, clause: &Clause<'_>) -> Intent {
        match &self.topic {
            Some(Topic::Screen(url)) if !clause.has(&["order"]) => Intent::Open(url.clone()),
            Some(Topic::Searched(question)) if !clause.has(&["order"]) => Intent::OpenSearched(question.clone()),
            _ => self.with_order(&[], |order| Intent::Open(format!("/orders/{order}"))),
        }
    }

    // What the shop's tools can do.
    fn shop(&self, clause: &Clause<'_>, ids: &[String]) -> Vec<Intent> {
        if clause.has(&["note"]) && clause.begins(&["add", "note", "leave", "write", "make", "put"]) {
            let text = note_text(clause).or_else(|| self.facts.wish.note.clone());
            // Ids in the note's own words are not the order it belongs to.
            let named = order_ids(clause.text.split(':').next().unwrap_or(clause.text));
            return vec![self.with_order(&named, |order| Intent::Note { order, text })];
        }
        let is_refund = clause.begins(&["refund"]) && !clause.has(&["policy", "times"]);
        if is_refund || clause.says(&["pay back", "a refund"]) && !is_question(clause) {
            return self.refund(clause);
        }
        if clause.begins(&["export"]) || clause.begins(&["download"]) && clause.has(&["orders"]) {
            return vec![Intent::Export(status(clause))];
        }
        if clause.begins(CANNOT) {
            return vec![Intent::Cannot(clause.text.to_owned())];
        }
        if !ids.is_empty() {
            return vec![self.shown(clause, ids)];
        }
        let (status, q) = (status(clause), search_text(clause));
        let on_screen = clause.has(&["filter", "screen"]) || clause.says(&["the list", "on the page"]);
        if on_screen && (status.is_some() || q.is_some()) {
            return vec![Intent::Filter { q, status }];
        }
        if let Some((q, status)) = self.listed.clone().filter(|_| on_screen && clause.has(&["them", "these", "those"]))
        {
            return vec![Intent::Filter { q, status }];
        }
        let asks = is_question(clause);
        let finds = clause.begins(&["find", "search", "list", "show", "which", "any", "look"]);
        let lists = clause.has(&["orders"])
            && (finds || clause.says(&["how many", "are there"]) || clause.words().count() <= 3);
        let all = finds && clause.words().count() <= 4;
        if lists && (all || status.is_some() || q.is_some())
            || clause.begins(&["find"]) && q.is_some() && !clause.has(TOPICS)
        {
            return vec![Intent::Find { q, status }];
        }
        self.rest(clause, asks || finds)
    }

    fn rest(&self, clause: &Clause<'_>, asks: bool) -> Vec<Intent> {
        let refers = clause.has(&["it", "its", "it's", "order", "parcel", "package", "tracking", "carrier"]);
        let follows = clause
            .begins(&["where", "where's", "track", "when", "status", "check", "show", "what", "what's", "is", "has"]);
        if refers && follows && !clause.has(&["our", "we"]) && !clause.has(&["policy", "mean"]) {
            return vec![self.with_order(&[], |order| Intent::Status(vec![order]))];
        }
        let question = question(clause);
        let wanted =
            clause.says(&["help with", "our ", "about "]) || clause.has(TOPICS) || clause.says(&["do we", "how do"]);
        if !question.is_empty() && wanted && (asks || clause.says(&["help with"]) || clause.has(TOPICS)) {
            return vec![Intent::Help(question)];
        }
        vec![unknown(clause)]
    }

    // Orders named without a verb of change: said, shown, or a part of one opened.
    fn shown(&self, clause: &Clause<'_>, ids: &[String]) -> Intent {
        match panel(clause) {
            Some(panel) if ids.len() == 1 && clause.begins(&["show"]) && self.facts.offers("order_open_panel") => {
                Intent::Panel { order: ids[0].clone(), panel }
            }
            _ if ids.len() == 1 && clause.begins(&["compare"]) => {
                let other = self.with_order(&[], |order| Intent::Status(vec![order]));
                match other {
                    Intent::Status(mut orders) if orders != ids => {
                        orders.extend_from_slice(ids);
                        Intent::Status(orders)
                    }
                    _ => Intent::Status(ids.to_vec()),
                }
            }
            _ => Intent::Status(ids.to_vec()),
        }
    }

    fn refund(&self, clause: &Clause<'_>) -> Vec<Intent> {
        let marks = ["because of ", "because ", "due to ", "reason: ", " since ", " — ", " - "];
        let comma = clause.text.split_once(", ").map(|(_, tail)| tail).filter(|tail| order_ids(tail).is_empty());
        let reason = clause.after(&marks).or(comma);
        // Ids and amounts in the reason are part of the story, not of what is refunded.
        let asked = reason.map_or(clause.text, |reason| &clause.text[..clause.text.len() - reason.len()]);
        let (ids, cents) = (order_ids(asked), cents(&asked.to_ascii_lowercase()));
        let reason = reason.map(str::to_owned).or_else(|| self.facts.wish.reason.clone());
        let refund = |order: String| Intent::Refund { order, reason: reason.clone(), cents };
        if ids.is_empty() { vec![self.with_order(&ids, refund)] } else { ids.into_iter().map(refund).collect() }
    }

    // The order a clause is about: named in it, spoken of before, or on the screen.
    fn with_order(&self, ids: &[String], make: impl FnOnce(String) -> Intent) -> Intent {
        let spoken = match &self.topic {
            Some(Topic::Order(id)) => Some(id.clone()),
            Some(Topic::Screen(_) | Topic::Searched(_)) | None => None,
        };
        let order = ids.first().cloned().or(spoken).or_else(|| self.facts.on_screen.clone());
        order.map_or(Intent::AskOrder, make)
    }
}

fn unknown(clause: &Clause<'_>) -> Intent {
    Intent::Unknown(clause.text.to_owned())
}
