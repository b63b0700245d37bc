//! Wording: results → markdown. Knows nothing of when it is said.

use std::fmt::Write as _;

use serde_json::Value;

use crate::providers::demo::read::Failure;

/// Asks for an order; the next message is understood as the answer.
pub(super) const ASK_ORDER: &str = "Which order";
/// Asks why an order is refunded.
pub(super) const ASK_REASON: &str = "What is the reason";
/// Asks for the words of a note.
pub(super) const ASK_NOTE: &str = "What should the note";

/// The long answer, for those who want to see one stream.
pub(super) const LONG: &str = include_str!("long.md");

const ABOUT: &str = "I am Pagehand's built-in **demo model**: a small planner without a language model behind it. \
I can work with this shop's orders and help articles, and with the page you see. Try one of these:

- where is order A-1042? open it and copy the tracking number
- show late orders and open the first
- refund A-1042 because it arrived damaged
- what is our returns policy? open it";

/// What an intent has to say when it is done.
pub(super) enum Words {
    /// A paragraph.
    Text(String),
    /// Something that was done, to be said with its neighbours: `opened A-1042`.
    Did(String),
}

/// One answer out of what each intent says.
pub(super) fn together(words: Vec<Words>) -> String {
    let (mut paragraphs, mut deeds): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
    for word in words {
        match word {
            Words::Did(deed) => deeds.push(deed),
            Words::Text(text) => {
                paragraphs.extend(sentence(std::mem::take(&mut deeds)));
                paragraphs.push(text);
            }
        }
    }
    paragraphs.extend(sentence(deeds));
    if paragraphs.is_empty() { ABOUT.to_owned() } else { paragraphs.join("\n\n") }
}

fn sentence(mut deeds: Vec<String>) -> Option<String> {
    let last = deeds.pop()?;
    let list = if deeds.is_empty() { last } else { format!("{} and {last}", deeds.join(", ")) };
    Some(format!("I {list}."))
}

/// An order as a link to its screen.
pub(super) fn order(id: &str) -> String {
    format!("[{id}](/orders/{id})")
}

/// A screen as a link, by what its address says.
pub(super) fn screen(url: &str) -> String {
    let name = match url.trim_start_matches('/').split_once('/') {
        Some(("orders" | "customers", id)) => id.to_owned(),
        Some(("help", slug)) => format!("the article “{}”", slug.replace('-', " ")),
        _ if url == "/" => "the dashboard".to_owned(),
        _ => format!("the {} screen", url.trim_matches('/')),
    };
    format!("[{name}]({url})")
}

/// Text as code, whatever signs it holds.
pub(super) fn code(text: &str) -> String {
    if text.contains('`') { format!("`` {text} ``") } else { format!("`{text}`") }
}

/// `opened X` → `open X`, for what could not be done.
pub(super) fn attempt(done: &str) -> String {
    let (verb, rest) = done.split_once(' ').unwrap_or((done, ""));
    let verb = match verb {
        "copied" => "copy",
        "scrolled" => "scroll",
        "opened" => "open",
        "filtered" => "filter",
        "highlighted" => "highlight",
        other => other,
    };
    format!("{verb} {rest}")
}

/// Why something was not done, in words for the user.
pub(super) fn failed(what: &str, failure: &Failure) -> String {
    match failure.code.as_str() {
        "denied" => format!("You declined to {what}, so I did not. What would you like instead?"),
        "cancelled" | "interrupted" => {
            format!("I was stopped before I could {what}; please check before trying it again.")
        }
        "timeout" => format!(
            "I tried to {what}, but no answer came in time. Whether it took effect is unknown: please check first."
        ),
        _ => format!("I could not {what}: {}", first_sentences(&failure.message)),
    }
}

// Messages are for models and end with advice; the user wants what happened.
fn first_sentences(message: &str) -> String {
    let message = message.split_once("\": ").map_or(message, |(_, rest)| rest);
    let end = message.find(". ").map_or(message.len(), |at| at + 1);
    let text = message[..end].trim();
    if text.ends_with('.') { text.to_owned() } else { format!("{text}.") }
}

/// A tool that would be needed is not there.
pub(super) fn not_offered(name: &str) -> String {
    format!("I cannot do that here: it needs the tool {}, which this page does not offer.", code(name))
}

/// Orders: one in a sentence, several in a table, and words for those that are missing.
pub(super) fn statuses(rows: &[Result<&Value, String>]) -> String {
    let known: Vec<&Value> = rows.iter().filter_map(|row| row.as_ref().ok().copied()).collect();
    let mut parts = Vec::new();
    match known.as_slice() {
        [] => {}
        [one] => parts.push(status(one)),
        several => parts.push(table(several)),
    }
    parts.extend(rows.iter().filter_map(|row| row.as_ref().err().cloned()));
    parts.join("\n\n")
}

fn status(value: &Value) -> String {
    let text = |key: &str| value[key].as_str().unwrap_or("unknown");
    let mut said =
        format!("Order {} of {} ({}) is **{}**.", order(text("id")), text("customer"), total(value), text("status"));
    if let Some(number) = value["tracking_number"].as_str() {
        let carrier = text("carrier");
        let when = value["shipped_at"].as_str().map(|at| format!(" on {}", date(at))).unwrap_or_default();
        // Writing to a String can not fail.
        let _ = write!(said, " It left with {carrier}{when}; the tracking number is {}.", code(number));
    }
    if let Some(at) = value["delivered_at"].as_str() {
        let _ = write!(said, " It was delivered on {}.", date(at));
    }
    said
}

fn table(rows: &[&Value]) -> String {
    let mut table =
        "| Order | Customer | Status | Total | Carrier | Tracking number |\n|---|---|---|--:|---|---|".to_owned();
    for row in rows {
        let text = |key: &str| row[key].as_str().unwrap_or("–").replace('|', "\\|");
        let number = row["tracking_number"].as_str().map_or("–".to_owned(), code);
        let (id, customer, status, carrier) = (order(&text("id")), text("customer"), text("status"), text("carrier"));
        let _ = write!(table, "\n| {id} | {customer} | {status} | {} | {carrier} | {number} |", total(row));
    }
    table
}

/// An order that is not there, and those that are like it.
pub(super) fn unfound(id: &str, found: Option<&Value>) -> String {
    let orders = found.and_then(|found| found["orders"].as_array()).filter(|orders| !orders.is_empty());
    match orders {
        None => format!("There is no order `{id}`, and a search found none like it."),
        Some(orders) => {
            let like: Vec<String> = orders.iter().filter_map(|one| one["id"].as_str()).map(order).collect();
            format!("There is no order `{id}`. These are like it: {}.", like.join(", "))
        }
    }
}

/// A list of orders.
pub(super) fn found(found: &Value, q: Option<&str>, status: Option<&str>) -> String {
    let empty = Vec::new();
    let orders = found["orders"].as_array().unwrap_or(&empty);
    let count = found["total"].as_u64().unwrap_or(orders.len() as u64);
    let what = filter(q, status);
    if orders.is_empty() {
        return format!("I found no {what}.");
    }
    let shown =
        if count as usize > orders.len() { format!(" The newest {} are:", orders.len()) } else { String::new() };
    let noun = if count == 1 { what.replacen("orders", "order", 1) } else { what };
    let mut list = format!("I found **{count}** {noun}.{shown}\n");
    for one in orders {
        let text = |key: &str| one[key].as_str().unwrap_or("unknown");
        let (id, at) = (order(text("id")), date(text("placed_at")));
        let _ = write!(list, "\n- {id}: {}, {}, {}, placed on {at}", text("customer"), text("status"), total(one));
    }
    list
}

/// An export that was begun; its end is told later.
pub(super) fn exported(begun: &Value, status: Option<&str>) -> String {
    match begun["file"].as_str() {
        Some(file) => format!("The {} are in the file [{file}]({file}).", filter(None, status)),
        None => {
            format!("I export the {}. That takes a moment; I tell you when the file is there.", filter(None, status))
        }
    }
}

/// What a list is filtered to: `pending orders with “Lindqvist”`.
pub(super) fn filter(q: Option<&str>, status: Option<&str>) -> String {
    let status = status.map(|status| format!("{status} ")).unwrap_or_default();
    let q = q.map(|q| format!(" with “{q}”")).unwrap_or_default();
    format!("{status}orders{q}")
}

/// The address of the filtered list.
pub(super) fn orders_url(q: Option<&str>, status: Option<&str>) -> String {
    let pairs = [("status", status), ("q", q)];
    let pairs: Vec<String> =
        pairs.iter().filter_map(|(key, value)| Some(format!("{key}={}", encode((*value)?)))).collect();
    if pairs.is_empty() { "/orders".to_owned() } else { format!("/orders?{}", pairs.join("&")) }
}

// RFC 3986 §2.1: everything but the unreserved signs.
fn encode(text: &str) -> String {
    text.bytes().fold(String::new(), |mut out, byte| {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
        out
    })
}

/// Why an order can not be refunded, if so.
pub(super) fn not_refundable(id: &str, status: &Value) -> Option<String> {
    match status["status"].as_str()? {
        "shipped" | "delivered" => None,
        "refunded" => Some(format!("{} was already refunded; I did not try it again.", order(id))),
        other => Some(format!(
            "{} is **{other}**. Only shipped or delivered orders can be refunded, so I changed nothing.",
            order(id)
        )),
    }
}

/// A refund that was made.
pub(super) fn refunded(id: &str, reason: &str, result: &Value) -> String {
    let amount = result["refunded_cents"].as_i64().map(|cents| format!(" **{}**", euros(cents))).unwrap_or_default();
    // The user may have edited it before it ran: the result knows.
    let (id, reason) = (result["id"].as_str().unwrap_or(id), result["reason"].as_str().unwrap_or(reason));
    format!("Refunded{amount} for order {}. The reason on record is “{reason}”.", order(id))
}

/// The best article, and what else there is.
pub(super) fn article(question: &str, found: &Value) -> String {
    let empty = Vec::new();
    let articles = found["articles"].as_array().unwrap_or(&empty);
    let Some((best, others)) = articles.split_first() else {
        return format!("The help articles say nothing about “{question}”.");
    };
    let text = best["text"].as_str().or(best["summary"].as_str()).unwrap_or_default();
    let others: Vec<String> = others.iter().map(link).collect();
    let also = if others.is_empty() { String::new() } else { format!("\n\nSee also: {}.", others.join(", ")) };
    format!("{text}\n\nFrom the article {}.{also}", link(best))
}

fn link(article: &Value) -> String {
    let slug = article["slug"].as_str().unwrap_or_default();
    format!("[{}](/help/{slug})", article["title"].as_str().unwrap_or(slug))
}

/// What the clipboard holds.
pub(super) fn clipboard(result: &Value) -> Words {
    let text = result["text"].as_str().or(result.as_str()).unwrap_or_default();
    Words::Text(if text.is_empty() {
        "The clipboard holds no text.".to_owned()
    } else {
        format!("The clipboard holds:\n\n{}", fenced(text))
    })
}

/// What the screen shows.
pub(super) fn page(result: &Value) -> Words {
    let title = result["title"].as_str().map(|title| format!("This page is **{title}**.")).unwrap_or_default();
    let text = ["text", "content", "markdown"].iter().find_map(|key| result[*key].as_str()).or(result.as_str());
    let text = text.map_or_else(|| result.to_string(), str::to_owned);
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).take(12).collect();
    let short: String = lines.join("\n").chars().take(700).collect();
    Words::Text(format!("{title} It begins with:\n\n{}", fenced(&short)).trim_start().to_owned())
}

// A fence longer than any in the text, so that the text can not end it.
fn fenced(text: &str) -> String {
    let longest = text.split(|letter| letter != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(3.max(longest + 1));
    format!("{fence}text\n{text}\n{fence}")
}

/// What came of the call of a tool that nobody has.
pub(super) fn teleport(result: Result<&Value, &Failure>) -> Words {
    Words::Text(match result {
        Ok(_) => "I called `teleport`, and to my surprise somebody answered.".to_owned(),
        Err(failure) => format!(
            "I called `teleport` on purpose. The loop ran nothing; it answered with the error {} and these words:\n\n> {}\n\n\
             A model reads that and goes on, as I do now: the run was not broken.",
            code(&failure.code),
            failure.message.replace('\n', " ")
        ),
    })
}

/// A field could not be read, and the reason was already given.
pub(super) fn nothing_copied(_: &Failure) -> String {
    "So nothing was copied.".to_owned()
}

/// No tool does that.
pub(super) fn cannot(what: &str) -> Words {
    Words::Text(format!(
        "I cannot do that: “{what}”. None of my tools is for it. I can look up, find, refund and annotate orders, search \
         the help articles, open screens, and use the clipboard."
    ))
}

/// A wish that was not understood: alone, who we are and what to try; among others, only that.
pub(super) fn not_understood(text: &str, alone: bool) -> Words {
    Words::Text(if alone { ABOUT.to_owned() } else { format!("I did not understand “{text}”.") })
}

fn total(value: &Value) -> String {
    value["total_cents"].as_i64().map_or("total unknown".to_owned(), euros)
}

fn euros(cents: i64) -> String {
    format!("€{}.{:02}", cents / 100, (cents % 100).abs())
}

// `2026-11-12T09:40:00Z` → `12 November 2026`; anything else as it is.
fn date(at: &str) -> String {
    const MONTHS: [&str; 12] = [
        "January",
        "February",
        "March",
        "April",
        "May",
        "June",
        "July",
        "August",
        "September",
        "October",
        "November",
        "December",
    ];
    let mut parts = at.split(['-', 'T']);
    let (year, month, day) = (parts.next(), parts.next(), parts.next());
    let month = month.and_then(|month| month.parse::<usize>().ok()).and_then(|month| MONTHS.get(month.wrapping_sub(1)));
    match (year, month, day.and_then(|day| day.parse::<u8>().ok())) {
        (Some(year), Some(month), Some(day)) => format!("{day} {month} {year}"),
        _ => at.to_owned(),
    }
}

/// What a job came to.
pub(super) fn job_done(name: &str, result: &Value) -> String {
    let name = match name {
        "orders_export" => "The export of the orders".to_owned(),
        other => format!("The job \"{}\"", other.replace('_', " ")),
    };
    match result["message"].as_str().filter(|_| result["status"] == "error") {
        Some(why) => format!("{name} did not work out: {why}"),
        None => match result["file"].as_str() {
            Some(file) => format!("{name} is done: [download the file]({file})."),
            None => format!("{name} is done: `{result}`"),
        },
    }
}
