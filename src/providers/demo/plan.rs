//! What is wanted and what was done → the next calls, or the answer. Knows nothing of how a sentence is read.
//!
//! Every intent is asked what it needs next. Whoever needs calls gets them, all of one step together; when nobody does,
//! what they have to say is the answer. A call is never made twice in a run, whatever came of it.

use serde_json::{Value, json};

use crate::providers::demo::intent::{Field, Intent};
use crate::providers::demo::read::{Done, Facts, Failure};
use crate::providers::demo::say::{self, Words};

// Fewer than any loop allows in one step; the rest follows in the next.
const MAX_CALLS: usize = 8;

// What changes something is never repeated, even where the user edited its arguments before it ran.
const WRITES: [&str; 3] = ["order_refund", "order_note_add", "clipboard_write"];

/// What one step of the model is.
pub(super) enum Step {
    /// It asks for calls.
    Calls {
        /// Words before them; may be empty.
        text: String,
        /// At least one.
        calls: Vec<Call>,
    },
    /// It answers.
    Answer(String),
}

/// A call to be made.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Call {
    pub(super) name: &'static str,
    pub(super) arguments: Value,
}

// What an intent needs next.
enum Next {
    Call(Call),
    Calls(Vec<Call>),
    Say(Words),
}

type Answer<'a> = Result<&'a Value, &'a Failure>;

pub(super) fn next_step(facts: &Facts, intents: &[Intent]) -> Step {
    let planner = Planner { facts, intents };
    let (mut calls, mut words): (Vec<Call>, Vec<Words>) = (Vec::new(), Vec::new());
    for intent in intents {
        // What reads the screen or the clipboard waits for those before it that may change them.
        if !calls.is_empty() && waits(intent) {
            continue;
        }
        let more = match planner.next(intent).unwrap_or_else(|next| next) {
            Next::Say(said) => {
                words.push(said);
                continue;
            }
            Next::Call(call) => vec![call],
            Next::Calls(calls) => calls,
        };
        for call in more {
            if !calls.contains(&call) {
                calls.push(call);
            }
        }
    }
    calls.truncate(MAX_CALLS);
    if calls.is_empty() {
        Step::Answer(say::together(words))
    } else {
        Step::Calls { text: planner.before(&calls), calls }
    }
}

fn waits(intent: &Intent) -> bool {
    matches!(intent, Intent::Clipboard | Intent::PageRead | Intent::Highlight(_) | Intent::ScrollTo(_))
}

struct Planner<'a> {
    facts: &'a Facts,
    intents: &'a [Intent],
}

impl<'a> Planner<'a> {
    // `Err` is an early "this first".
    fn next(&self, intent: &Intent) -> Result<Next, Next> {
        let words = match intent {
            Intent::Status(orders) => self.status(orders)?,
            Intent::Find { q, status } => self.find(q.as_deref(), *status)?,
            Intent::Export(status) => self.export(*status)?,
            Intent::Filter { q, status } => self.filter(q.as_deref(), *status)?,
            Intent::Refund { order, reason, cents } => self.refund(order, reason.as_deref(), *cents)?,
            Intent::Note { order, text } => self.note(order, text.as_deref())?,
            Intent::Help(question) => self.help(question)?,
            Intent::Open(url) => self.navigate(url, &say::screen(url))?,
            Intent::Panel { order, panel } => self.panel(order, panel)?,
            Intent::OpenSearched(question) => self.open_searched(question)?,
            Intent::OpenFirst => self.open_first()?,
            Intent::Link(url) => self.act("open_link", json!({ "url": url }), &format!("opened <{url}>"))?,
            Intent::CopyField { order, field } => self.copy_field(order, *field)?,
            Intent::CopyText(text) => self.copy(text, &format!("copied {}", say::code(text)))?,
            Intent::Clipboard => say::clipboard(self.must("clipboard_read", json!({}), "read the clipboard")?),
            Intent::PageRead => say::page(self.must("page_read", json!({}), "read the page")?),
            Intent::Highlight(text) => {
                self.act("highlight", json!({ "text": text }), &format!("highlighted “{text}”"))?
            }
            Intent::ScrollTo(text) => {
                self.act("scroll_to", json!({ "text": text }), &format!("scrolled to “{text}”"))?
            }
            Intent::Teleport => say::teleport(self.made("teleport", json!({ "to": "the warehouse" }))?),
            Intent::Long => Words::Text(say::LONG.to_owned()),
            Intent::AskOrder => {
                Words::Text(format!("{} do you mean? An id such as `A-1042` is enough.", say::ASK_ORDER))
            }
            Intent::Cannot(what) => say::cannot(what),
            Intent::Dropped => Words::Text("All right. Nothing was changed.".to_owned()),
            Intent::Thanks => Words::Text("You are welcome.".to_owned()),
            Intent::Unknown(text) => say::not_understood(text, self.intents.len() == 1),
        };
        Ok(Next::Say(words))
    }

    fn status(&self, orders: &[String]) -> Result<Words, Next> {
        let missing: Vec<Call> = orders.iter().filter_map(|order| self.asked(&status_call(order))).collect();
        if !missing.is_empty() && self.facts.offers("order_status") {
            return Err(Next::Calls(missing));
        }
        let mut rows = Vec::new();
        for order in orders {
            match self.answer("order_status", json!({ "order_id": order }))? {
                Ok(status) => rows.push(Ok(status)),
                Err(failure) => rows.push(Err(self.unfound(order, failure)?)),
            }
        }
        Ok(Words::Text(say::statuses(&rows)))
    }

    // An order that is not there may be a mistyped one: look for what is like it before saying so.
    fn unfound(&self, order: &str, failure: &Failure) -> Result<String, Next> {
        if failure.code != "not_found" || !self.facts.offers("order_search") {
            return Ok(say::failed(&format!("look up {order}"), failure));
        }
        let digits = order.trim_start_matches("A-");
        let part = digits.get(..3).unwrap_or(digits);
        let found = self.answer("order_search", json!({ "q": format!("A-{part}"), "limit": 5 }))?;
        Ok(say::unfound(order, found.ok()))
    }

    fn find(&self, q: Option<&str>, status: Option<&str>) -> Result<Words, Next> {
        let mut arguments = json!({ "limit": 10 });
        if let Some(q) = q {
            arguments["q"] = json!(q);
        }
        if let Some(status) = status {
            arguments["status"] = json!(status);
        }
        let found = self.must("order_search", arguments, "search the orders")?;
        Ok(Words::Text(say::found(found, q, status)))
    }

    fn export(&self, status: Option<&str>) -> Result<Words, Next> {
        let arguments = status.map_or_else(|| json!({}), |status| json!({ "status": status }));
        let begun = self.must("orders_export", arguments, "export the orders")?;
        Ok(Words::Text(say::exported(begun, status)))
    }

    fn filter(&self, q: Option<&str>, status: Option<&str>) -> Result<Words, Next> {
        let what = say::filter(q, status);
        let takes = status.is_none_or(|status| self.facts.takes("orders_filter", "status", status));
        if !self.facts.offers("orders_filter") || !takes {
            return self.navigate(&say::orders_url(q, status), &what);
        }
        let mut arguments = json!({});
        for (key, value) in [("q", q), ("status", status)] {
            if let Some(value) = value {
                arguments[key] = json!(value);
            }
        }
        self.act("orders_filter", arguments, &format!("filtered the list on the screen to {what}"))
    }

    // Read first, so that a refund that can not be is never even asked for.
    fn refund(&self, order: &str, reason: Option<&str>, cents: Option<i64>) -> Result<Words, Next> {
        let Some(reason) = reason else {
            return Ok(Words::Text(format!(
                "{} for refunding {}? It is kept with the order.",
                say::ASK_REASON,
                say::order(order)
            )));
        };
        let mut arguments = json!({ "order_id": order, "reason": reason });
        if let Some(cents) = cents {
            arguments["amount_cents"] = json!(cents);
        }
        let what = format!("refund {order}");
        let attempted = self.find_done("order_refund", &arguments).is_some();
        if !attempted && self.facts.offers("order_status") && self.facts.offers("order_refund") {
            let status = match self.answer("order_status", json!({ "order_id": order }))? {
                Ok(status) => status,
                Err(failure) => return Ok(Words::Text(self.unfound(order, failure)?)),
            };
            if let Some(why) = say::not_refundable(order, status) {
                return Ok(Words::Text(why));
            }
        }
        let refund = self.must("order_refund", arguments, &what)?;
        Ok(Words::Text(say::refunded(order, reason, refund)))
    }

    fn note(&self, order: &str, text: Option<&str>) -> Result<Words, Next> {
        let Some(text) = text else {
            return Ok(Words::Text(format!("{} on {} say?", say::ASK_NOTE, say::order(order))));
        };
        match self.answer("order_note_add", json!({ "order_id": order, "text": text }))? {
            Ok(_) => Ok(Words::Did(format!("added a note to {}: “{text}”", say::order(order)))),
            Err(failure) if failure.code == "not_found" => Ok(Words::Text(self.unfound(order, failure)?)),
            Err(failure) => Ok(Words::Text(say::failed(&format!("add a note to {order}"), failure))),
        }
    }

    fn help(&self, question: &str) -> Result<Words, Next> {
        let found = self.must("kb_search", articles(question), "search the help articles")?;
        Ok(Words::Text(say::article(question, found)))
    }

    fn open_searched(&self, question: &str) -> Result<Words, Next> {
        let found = self.must("kb_search", articles(question), "search the help articles")?;
        match found["articles"][0]["screen"].as_str() {
            Some(screen) => self.navigate(screen, &say::screen(screen)),
            None => Ok(Words::Text("There was no article to open.".to_owned())),
        }
    }

    // A search of the same sentence goes first; otherwise the latest of the thread counts.
    fn open_first(&self) -> Result<Words, Next> {
        for intent in self.intents {
            if let Intent::Find { q, status } = intent {
                self.find(q.as_deref(), *status)?;
            }
        }
        let list =
            self.facts.latest().find(|done| done.name == "order_search").and_then(|done| done.result.as_ref().ok());
        match list.and_then(|list| list["orders"][0]["id"].as_str()) {
            Some(id) => self.navigate(&format!("/orders/{id}"), &say::order(id)),
            None => Ok(Words::Text("I have no list of orders to take the first from.".to_owned())),
        }
    }

    fn panel(&self, order: &str, panel: &str) -> Result<Words, Next> {
        if !self.facts.offers("order_open_panel") || !self.facts.takes("order_open_panel", "panel", panel) {
            return self.navigate(&format!("/orders/{order}"), &say::order(order));
        }
        let done = format!("opened the {panel} of {}", say::order(order));
        self.act("order_open_panel", json!({ "id": order, "panel": panel }), &done)
    }

    // What an earlier call of the thread already told is not asked for again: a tracking number stays.
    fn copy_field(&self, order: &str, (key, word): Field) -> Result<Words, Next> {
        let known = self.facts.latest().find_map(|done| {
            let status = done.result.as_ref().ok().filter(|_| done.name == "order_status")?;
            status[key].as_str().filter(|_| status["id"] == order)
        });
        let value = match known.filter(|_| key == "tracking_number") {
            Some(value) => Some(value),
            None => match self.answer("order_status", json!({ "order_id": order }))? {
                Ok(status) => status[key].as_str(),
                // The status says it already where it was asked for too.
                Err(failure) if self.says_status_of(order) => return Ok(Words::Text(say::nothing_copied(failure))),
                Err(failure) => return Ok(Words::Text(self.unfound(order, failure)?)),
            },
        };
        match value {
            Some(value) => self.copy(value, &format!("copied the {word} {}", say::code(value))),
            None => Ok(Words::Text(format!("{} has no {word} yet, so nothing was copied.", say::order(order)))),
        }
    }

    fn says_status_of(&self, order: &str) -> bool {
        self.intents
            .iter()
            .any(|intent| matches!(intent, Intent::Status(orders) if orders.iter().any(|one| one == order)))
    }

    fn copy(&self, text: &str, done: &str) -> Result<Words, Next> {
        self.act("clipboard_write", json!({ "text": text }), &format!("{done} to the clipboard"))
    }

    fn navigate(&self, url: &str, name: &str) -> Result<Words, Next> {
        self.act("navigate", json!({ "url": url }), &format!("opened {name}"))
    }

    // A call whose result nobody needs to read.
    fn act(&self, name: &'static str, arguments: Value, done: &str) -> Result<Words, Next> {
        let what = say::attempt(done);
        self.must(name, arguments, &what)?;
        Ok(Words::Did(done.to_owned()))
    }

    // The result, or the words for its failure.
    fn must(&self, name: &'static str, arguments: Value, what: &str) -> Result<&'a Value, Next> {
        self.answer(name, arguments)?.map_err(|failure| Next::Say(Words::Text(say::failed(what, failure))))
    }

    // What came of a call; the call itself where it was not made yet, an excuse where nobody offers it.
    fn answer(&self, name: &'static str, arguments: Value) -> Result<Answer<'a>, Next> {
        if !self.facts.offers(name) && self.find_done(name, &arguments).is_none() {
            return Err(Next::Say(Words::Text(say::not_offered(name))));
        }
        self.made(name, arguments)
    }

    fn made(&self, name: &'static str, arguments: Value) -> Result<Answer<'a>, Next> {
        match self.find_done(name, &arguments) {
            Some(done) => Ok(done.result.as_ref()),
            None => Err(Next::Call(Call { name, arguments })),
        }
    }

    fn asked(&self, call: &Call) -> Option<Call> {
        self.find_done(call.name, &call.arguments).is_none().then(|| call.clone())
    }

    fn find_done(&self, name: &str, arguments: &Value) -> Option<&'a Done> {
        let mut made = self.facts.done.iter().filter(|done| done.name == name);
        made.clone().find(|done| done.arguments == *arguments).or_else(|| {
            let order = arguments["order_id"].as_str();
            made.find(|done| {
                WRITES.contains(&name) && (done.arguments["order_id"].as_str() == order || self.is_edited(done))
            })
        })
    }

    // A call for an order that no intent speaks of: the user changed it.
    fn is_edited(&self, done: &Done) -> bool {
        let order = done.arguments["order_id"].as_str();
        !self.intents.iter().any(|intent| match intent {
            Intent::Refund { order: wanted, .. } | Intent::Note { order: wanted, .. } => order == Some(wanted),
            _ => false,
        })
    }

    fn before(&self, calls: &[Call]) -> String {
        let checks = self.facts.done.is_empty() && calls.iter().all(|call| call.name == "order_status");
        let refunds = self.intents.iter().any(|intent| matches!(intent, Intent::Refund { .. }));
        if checks && refunds { "I check the order before anything is refunded.".to_owned() } else { String::new() }
    }
}

fn status_call(order: &str) -> Call {
    Call { name: "order_status", arguments: json!({ "order_id": order }) }
}

fn articles(question: &str) -> Value {
    json!({ "q": question, "limit": 3 })
}
