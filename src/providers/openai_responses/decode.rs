//! A Responses stream to our model events. Knows nothing of HTTP.

use serde_json::Value;

use crate::protocol::{FinishReason, ModelError, ModelErrorKind, Usage};
use crate::providers::answer::Answer;
use crate::providers::decoder::Reader;
use crate::providers::error::{self, error_in};
use crate::providers::json::{Json, at, count, field, list, rest, text};

/// Reads one answer.
#[derive(Debug, Default)]
pub(in crate::providers) struct Responses {
    items: Vec<Item>,
    /// Whether a thought can not go back: an item by its id wants the thought that led to it, so what comes behind goes
    /// without its id.
    lost: bool,
}

#[derive(Debug)]
struct Item {
    index: Option<u64>,
    id: Option<String>,
    kind: Kind,
    done: bool,
}

/// Where an event says that its item is.
#[derive(Clone, Copy)]
struct Place<'a> {
    index: Option<u64>,
    id: Option<&'a str>,
}

impl<'a> Place<'a> {
    fn of(event: &'a Json<'_>) -> Self {
        let id = text(event, "item_id").or_else(|| at(event, &["item", "id"])?.as_str());
        Self { index: field(event, "output_index").and_then(Json::as_u64), id }
    }
}

#[derive(Debug)]
enum Kind {
    Message { said: String },
    Reasoning { words: bool },
    Call { slot: usize, arguments: String },
    Other,
}

impl Item {
    fn is_open_call(&self) -> bool {
        !self.done && matches!(self.kind, Kind::Call { .. })
    }
}

impl Responses {
    fn find(&self, place: Place<'_>) -> Option<usize> {
        let by_index = || self.items.iter().rposition(|item| item.index.is_some() && item.index == place.index);
        let by_id = || self.items.iter().rposition(|item| item.id.is_some() && item.id.as_deref() == place.id);
        by_index().or_else(by_id)
    }

    fn item(&mut self, event: &Json<'_>) -> Option<&mut Item> {
        let at = self.find(Place::of(event))?;
        self.items.get_mut(at)
    }

    fn open(&mut self, place: Place<'_>, item: &Json<'_>, answer: &mut Answer) -> usize {
        answer.close_part();
        let kind = match text(item, "type").unwrap_or_default() {
            "message" => Kind::Message { said: String::new() },
            "reasoning" => Kind::Reasoning { words: false },
            "function_call" => {
                let slot = answer.call(text(item, "call_id"), text(item, "name").unwrap_or_default());
                Kind::Call { slot, arguments: String::new() }
            }
            _ => Kind::Other,
        };
        self.items.push(Item { index: place.index, id: text(item, "id").map(str::to_owned), kind, done: false });
        self.items.len() - 1
    }

    fn delta(&mut self, event: &Json<'_>, answer: &mut Answer) {
        let Some(more) = text(event, "delta") else { return };
        let kind = text(event, "type").unwrap_or_default();
        // A piece behind the item's end is in it already.
        let Some(item) = self.item(event).filter(|item| !item.done) else { return };
        match (&mut item.kind, kind) {
            (Kind::Message { said }, "response.output_text.delta" | "response.refusal.delta") => {
                said.push_str(more);
                answer.text(more);
            }
            (Kind::Reasoning { words }, "response.reasoning_summary_text.delta" | "response.reasoning_text.delta") => {
                *words = true;
                answer.reasoning(more);
            }
            (Kind::Call { slot, arguments }, "response.function_call_arguments.delta") => {
                arguments.push_str(more);
                answer.arguments(*slot, more);
            }
            _ => {}
        }
    }

    // A summary has parts; a blank line stands between two.
    fn next_summary(&mut self, event: &Json<'_>, answer: &mut Answer) {
        if let Some(Item { kind: Kind::Reasoning { words: true }, .. }) = self.item(event) {
            answer.reasoning("\n\n");
        }
    }

    fn end_arguments(&mut self, event: &Json<'_>, answer: &mut Answer) {
        if let Some(Item { kind: Kind::Call { slot, arguments }, done: false, .. }) = self.item(event) {
            end_arguments(*slot, arguments, text(event, "arguments").unwrap_or_default(), answer);
        }
    }

    fn close(&mut self, place: Place<'_>, item: &Json<'_>, answer: &mut Answer) {
        let at = self.find(place).filter(|at| !self.items[*at].done);
        let at = at.unwrap_or_else(|| self.open(place, item, answer));
        let thought = matches!(self.items[at].kind, Kind::Reasoning { .. });
        self.lost |= thought && text(item, "encrypted_content").is_none();
        let id = if self.lost { "id" } else { "" };
        let known = &mut self.items[at];
        known.done = true;
        match &mut known.kind {
            Kind::Message { said } => close_message(item, said, id, answer),
            Kind::Reasoning { words } => close_reasoning(item, *words, answer),
            Kind::Call { slot, arguments } => {
                end_arguments(*slot, arguments, text(item, "arguments").unwrap_or_default(), answer);
                if answer.is_over() {
                    return;
                }
                if let Some(more) = rest(item, &["type", "call_id", "name", "arguments", id]) {
                    answer.seal_call(*slot, &more);
                }
                answer.close_call(*slot);
            }
            Kind::Other => answer.other(&item.to_string()),
        }
        answer.close_part();
    }

    // The last event's items count where none came before, and for calls that have begun and not ended: what else was left
    // open has its words already, and no place for more.
    fn end_items(&mut self, output: &[Json<'_>], answer: &mut Answer) {
        let none = self.items.is_empty();
        for (item, index) in output.iter().zip(0..) {
            let place = Place { index: Some(index), id: text(item, "id") };
            let begun = text(item, "type") == Some("function_call")
                && self.find(place).is_some_and(|at| self.items[at].is_open_call());
            if none || begun {
                self.close(place, item, answer);
            }
            if answer.is_over() {
                return;
            }
        }
    }

    fn end(&mut self, response: &Json<'_>, answer: &mut Answer) {
        if let Some(usage) = field(response, "usage") {
            answer.usage(Usage {
                input_tokens: count(usage, &["input_tokens"]),
                output_tokens: count(usage, &["output_tokens"]),
                cached_tokens: count(usage, &["input_tokens_details", "cached_tokens"]),
                reasoning_tokens: count(usage, &["output_tokens_details", "reasoning_tokens"]),
                cost_micros: None,
            });
        }
        self.end_items(list(response, "output"), answer);
        if answer.is_over() {
            return;
        }
        let status = text(response, "status").unwrap_or("completed");
        if status == "failed" {
            return fail(response, answer);
        }
        if status == "cancelled" {
            return answer.fail(ModelError::new(ModelErrorKind::Upstream, "The model's server cancelled its answer."));
        }
        let reason = match at(response, &["incomplete_details", "reason"]).and_then(Json::as_str) {
            None if status != "completed" => FinishReason::Other(status.to_owned()),
            None if answer.has_calls() => FinishReason::Calls,
            None => FinishReason::Done,
            Some("max_output_tokens") => FinishReason::Length,
            Some("content_filter") => FinishReason::Refused(String::new()),
            Some(other) => FinishReason::Other(other.to_owned()),
        };
        answer.finish(reason);
    }
}

impl Reader for Responses {
    fn read(&mut self, event: &Json<'_>, answer: &mut Answer) {
        let kind = text(event, "type").unwrap_or_default();
        match kind {
            "response.output_item.added" => {
                if let Some(item) = field(event, "item") {
                    self.open(Place::of(event), item, answer);
                }
            }
            "response.output_item.done" => {
                if let Some(item) = field(event, "item") {
                    self.close(Place::of(event), item, answer);
                }
            }
            "response.function_call_arguments.done" => self.end_arguments(event, answer),
            "response.reasoning_summary_part.added" => self.next_summary(event, answer),
            "response.completed" | "response.incomplete" | "response.done" => {
                self.end(field(event, "response").unwrap_or(&Json::Null), answer);
            }
            "response.failed" => fail(field(event, "response").unwrap_or(&Json::Null), answer),
            _ if kind.ends_with(".delta") => self.delta(event, answer),
            _ => match error_in(event) {
                Some(error) => answer.fail(error),
                // The whole answer, where a stream was asked for.
                None if text(event, "object") == Some("response") => self.end(event, answer),
                None => answer.alive(),
            },
        }
    }
}

fn fail(response: &Json<'_>, answer: &mut Answer) {
    answer.fail(error::read(field(response, "error").unwrap_or(&Json::Null)));
}

// What is missing follows; the same in another spelling is the same.
fn end_arguments(slot: usize, streamed: &mut String, whole: &str, answer: &mut Answer) {
    let value = |text: &str| serde_json::from_str::<Value>(text).ok();
    match whole.strip_prefix(streamed.as_str()) {
        Some(more) => {
            answer.arguments(slot, more);
            streamed.push_str(more);
        }
        // Nothing said against what was streamed.
        None if whole.is_empty() || value(whole).is_some_and(|whole| Some(whole) == value(streamed)) => {}
        // Which of the two is meant nobody can say; it is asked again.
        None => {
            let words = "the model's server sent two different arguments of one call";
            answer.fail(ModelError { retry: Some(true), ..ModelError::new(ModelErrorKind::Protocol, words) });
        }
    }
}

fn close_message(item: &Json<'_>, said: &str, id: &str, answer: &mut Answer) {
    let content = list(item, "content");
    let whole: String =
        content.iter().filter_map(|part| text(part, "text").or_else(|| text(part, "refusal"))).collect();
    let more = whole.strip_prefix(said);
    if let Some(more) = more.filter(|more| !more.is_empty()) {
        answer.text(more);
    }
    let plain = |part: &Json<'_>| {
        text(part, "type") == Some("output_text")
            && list(part, "annotations").is_empty()
            && list(part, "logprobs").is_empty()
    };
    // What our view does not hold: the item's own fields, or all of it.
    let sealed = match content {
        [one] if plain(one) && more.is_some() => rest(item, &["type", "role", "content", id]),
        _ if id.is_empty() => Some(item.to_string()),
        _ => rest(item, &[id]),
    };
    if let Some(sealed) = sealed {
        answer.seal_text(&sealed);
    }
}

fn close_reasoning(item: &Json<'_>, words: bool, answer: &mut Answer) {
    if !words {
        let said: Vec<&str> =
            list(item, "summary").iter().chain(list(item, "content")).filter_map(|part| text(part, "text")).collect();
        if !said.is_empty() {
            answer.reasoning(&said.join("\n\n"));
        }
    }
    // By its id alone it can not be found again.
    if text(item, "encrypted_content").is_some() {
        answer.seal_reasoning(&item.to_string());
    }
}
