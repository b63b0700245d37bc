//! A Responses stream to our model events. Knows nothing of HTTP.

use crate::protocol::{FinishReason, Usage};
use crate::providers::answer::Answer;
use crate::providers::decoder::Reader;
use crate::providers::error::{self, error_in};
use crate::providers::json::{Json, at, count, field, list, rest, text};

/// Reads one answer.
#[derive(Debug, Default)]
pub(in crate::providers) struct Responses {
    items: Vec<Item>,
}

#[derive(Debug)]
struct Item {
    index: Option<u64>,
    id: Option<String>,
    kind: Kind,
    done: bool,
}

#[derive(Debug)]
enum Kind {
    Message { words: bool },
    Reasoning { words: bool },
    Call { slot: usize, arguments: String },
    Other,
}

impl Responses {
    fn find(&mut self, event: &Json<'_>) -> Option<&mut Item> {
        let index = field(event, "output_index").and_then(Json::as_u64);
        let id = text(event, "item_id").or_else(|| at(event, &["item", "id"])?.as_str());
        let by_index = index.and_then(|index| self.items.iter().rposition(|item| item.index == Some(index)));
        let by_id = || id.and_then(|id| self.items.iter().rposition(|item| item.id.as_deref() == Some(id)));
        let at = by_index.or_else(by_id)?;
        self.items.get_mut(at)
    }

    fn open(&mut self, event: &Json<'_>, item: &Json<'_>, answer: &mut Answer) {
        answer.close_part();
        let kind = match text(item, "type").unwrap_or_default() {
            "message" => Kind::Message { words: false },
            "reasoning" => Kind::Reasoning { words: false },
            "function_call" => {
                let slot = answer.call(text(item, "call_id"), text(item, "name").unwrap_or_default());
                Kind::Call { slot, arguments: String::new() }
            }
            _ => Kind::Other,
        };
        let index = field(event, "output_index").and_then(Json::as_u64);
        self.items.push(Item { index, id: text(item, "id").map(str::to_owned), kind, done: false });
    }

    fn delta(&mut self, event: &Json<'_>, answer: &mut Answer) {
        let Some(more) = text(event, "delta") else { return };
        let kind = text(event, "type").unwrap_or_default();
        let Some(item) = self.find(event) else { return };
        match (&mut item.kind, kind) {
            (Kind::Message { words }, "response.output_text.delta" | "response.refusal.delta") => {
                *words = true;
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
        if let Some(Item { kind: Kind::Reasoning { words: true }, .. }) = self.find(event) {
            answer.reasoning("\n\n");
        }
    }

    fn close(&mut self, event: &Json<'_>, item: &Json<'_>, answer: &mut Answer) {
        if self.find(event).is_none_or(|known| known.done) {
            self.open(event, item, answer);
        }
        let Some(known) = self.find(event) else { return };
        known.done = true;
        match &mut known.kind {
            Kind::Message { words } => close_message(item, *words, answer),
            Kind::Reasoning { words } => close_reasoning(item, *words, answer),
            Kind::Call { slot, arguments } => {
                let whole = text(item, "arguments").unwrap_or_default();
                match whole.strip_prefix(arguments.as_str()) {
                    Some(more) => answer.arguments(*slot, more),
                    // An item without them says nothing against what was streamed.
                    None if whole.is_empty() => {}
                    None => return answer.broken("the model's server sent two different arguments of one call"),
                }
                if let Some(more) = rest(item, &["type", "call_id", "name", "arguments"]) {
                    answer.seal_call(*slot, &more);
                }
                answer.close_call(*slot);
            }
            Kind::Other => answer.other(&item.to_string()),
        }
        answer.close_part();
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
        if self.items.is_empty() {
            for item in list(response, "output") {
                self.close(item, item, answer);
                if answer.is_over() {
                    return;
                }
            }
        }
        let reason = match at(response, &["incomplete_details", "reason"]).and_then(Json::as_str) {
            None if answer.has_calls() => FinishReason::Calls,
            None => FinishReason::Done,
            Some("max_output_tokens") => FinishReason::Length,
            Some("content_filter") => FinishReason::Refused,
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
                    self.open(event, item, answer);
                }
            }
            "response.output_item.done" => {
                if let Some(item) = field(event, "item") {
                    self.close(event, item, answer);
                }
            }
            "response.reasoning_summary_part.added" => self.next_summary(event, answer),
            "response.completed" | "response.incomplete" | "response.done" => {
                self.end(field(event, "response").unwrap_or(&Json::Null), answer);
            }
            "response.failed" => {
                let failed = Json::Null;
                answer.fail(error::read(at(event, &["response", "error"]).unwrap_or(&failed)));
            }
            _ if kind.ends_with(".delta") => self.delta(event, answer),
            _ => match error_in(event) {
                Some(error) => answer.fail(error),
                // The whole answer, where a stream was asked for.
                None if text(event, "object") == Some("response") => self.end(event, answer),
                None => {}
            },
        }
    }
}

fn close_message(item: &Json<'_>, words: bool, answer: &mut Answer) {
    let content = list(item, "content");
    if !words {
        let texts = content.iter().filter_map(|part| text(part, "text").or_else(|| text(part, "refusal")));
        texts.for_each(|words| answer.text(words));
    }
    let plain = |part: &Json<'_>| {
        text(part, "type") == Some("output_text")
            && list(part, "annotations").is_empty()
            && list(part, "logprobs").is_empty()
    };
    // What our view does not hold: the item's own fields, or all of it.
    let sealed = match content {
        [] => rest(item, &["type", "role", "content"]),
        [one] if plain(one) => rest(item, &["type", "role", "content"]),
        _ => Some(item.to_string()),
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
