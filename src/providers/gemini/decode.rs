//! A `generateContent` stream to our model events. Knows nothing of HTTP.

use crate::protocol::{FinishReason, ModelError, ModelErrorKind, Usage};
use crate::providers::answer::Answer;
use crate::providers::decoder::Reader;
use crate::providers::error::error_in;
use crate::providers::json::{Json, at, count, field, list, rest, text};

/// Reads one answer.
#[derive(Debug, Default)]
pub(in crate::providers) struct Gemini {
    finish: Option<String>,
    // What the finish reason is about, in Google's words.
    words: String,
    // The last call, while it has no arguments.
    bare: Option<usize>,
}

impl Gemini {
    fn part(&mut self, part: &Json<'_>, answer: &mut Answer) {
        match field(part, "functionCall") {
            Some(call) => self.call(part, call, answer),
            None => read_part(part, answer),
        }
    }

    fn call(&mut self, part: &Json<'_>, call: &Json<'_>, answer: &mut Answer) {
        let arguments = field(call, "args").map(ToString::to_string).filter(|arguments| arguments != "{}");
        let first = !answer.has_calls();
        let (slot, first) = match (text(call, "name"), self.bare) {
            (Some(name), _) => (answer.call(text(call, "id"), name), first),
            // Some servers send the arguments in a part of their own, without the name.
            (None, Some(slot)) => (slot, false),
            (None, None) => return answer.note("Gemini sent a call without a name, which is left out"),
        };
        if let Some(arguments) = &arguments {
            answer.arguments(slot, arguments);
        }
        match rest(part, &["functionCall"]) {
            Some(sealed) => answer.seal_call(slot, &sealed),
            // Says that it came without a signature, so that it goes back without.
            None if first => answer.seal_call(slot, "{}"),
            None => {}
        }
        answer.close_call(slot);
        self.bare = arguments.is_none().then_some(slot);
    }
}

impl Reader for Gemini {
    fn read(&mut self, chunk: &Json<'_>, answer: &mut Answer) {
        if let Some(error) = error_in(chunk) {
            return answer.fail(error);
        }
        if let Some(usage) = field(chunk, "usageMetadata") {
            answer.usage(read_usage(usage));
        }
        let Some(candidate) = list(chunk, "candidates").first() else {
            if let Some(reason) = at(chunk, &["promptFeedback", "blockReason"]).and_then(Json::as_str) {
                answer.finish(FinishReason::Refused(reason.to_owned()));
            }
            return;
        };
        for part in field(candidate, "content").map(|content| list(content, "parts")).unwrap_or_default() {
            self.part(part, answer);
        }
        if let Some(reason) = text(candidate, "finishReason").filter(|reason| *reason != "FINISH_REASON_UNSPECIFIED") {
            self.finish = Some(reason.to_owned());
            text(candidate, "finishMessage").unwrap_or_default().clone_into(&mut self.words);
        }
    }

    fn done(&mut self, answer: &mut Answer) {
        self.end(false, answer);
    }

    // A chunk with a reason may be the first, with nothing in it; only the end of the body is the end, and one inside a
    // chunk is none.
    fn end(&mut self, cut: bool, answer: &mut Answer) {
        if cut {
            return;
        }
        let Some(word) = self.finish.take() else { return };
        let reason = match word.as_str() {
            "STOP" if answer.has_calls() => FinishReason::Calls,
            "STOP" => FinishReason::Done,
            "MAX_TOKENS" => FinishReason::Length,
            "CONTINUATION" => FinishReason::Paused,
            "MALFORMED_FUNCTION_CALL" | "UNEXPECTED_TOOL_CALL" | "MALFORMED_RESPONSE" | "TOO_MANY_TOOL_CALLS" => {
                let words = format!("The model wrote a call that Gemini can not read ({word}). {}", self.words);
                let error = ModelError::new(ModelErrorKind::Upstream, words.trim());
                return answer.fail(error);
            }
            "MISSING_THOUGHT_SIGNATURE" => {
                let words = "Gemini misses a thought signature in the thread (MISSING_THOUGHT_SIGNATURE).";
                return answer.fail(ModelError::new(ModelErrorKind::BadRequest, words));
            }
            _ if BLOCKED.contains(&word.as_str()) => {
                let place = if self.words.is_empty() { "" } else { ": " };
                FinishReason::Refused(format!("{word}{place}{}", self.words))
            }
            _ => FinishReason::Other(word),
        };
        answer.finish(reason);
    }
}

const BLOCKED: &[&str] = &[
    "SAFETY",
    "RECITATION",
    "LANGUAGE",
    "BLOCKLIST",
    "PROHIBITED_CONTENT",
    "SPII",
    "MODEL_ARMOR",
    "IMAGE_SAFETY",
    "IMAGE_PROHIBITED_CONTENT",
    "IMAGE_RECITATION",
];

fn read_part(part: &Json<'_>, answer: &mut Answer) {
    let Some(words) = field(part, "text").and_then(Json::as_str) else {
        // Code, files, tools of Google's own: a part without a thing in it says nothing.
        if rest(part, &["thought"]).is_some() {
            answer.other(&part.to_string());
        }
        return;
    };
    let thought = field(part, "thought").and_then(Json::as_bool) == Some(true);
    // A thought alone needs not come back. One without words keeps that it has a text, which tells it from a picture.
    let known: &[&str] = match (thought, words.is_empty()) {
        (true, true) => &[],
        (true, false) => &["text"],
        (false, _) => &["text", "thought"],
    };
    let sealed = rest(part, known).filter(|_| rest(part, &["text", "thought"]).is_some());
    if sealed.is_some() {
        answer.close_part();
    }
    match (thought, words.is_empty()) {
        (_, true) => {}
        (true, false) => answer.reasoning(words),
        (false, false) => answer.text(words),
    }
    if let Some(sealed) = sealed {
        if thought {
            answer.seal_reasoning(&sealed);
        } else {
            answer.seal_text(&sealed);
        }
        answer.close_part();
    }
}

fn read_usage(usage: &Json<'_>) -> Usage {
    let thoughts = count(usage, &["thoughtsTokenCount"]);
    Usage {
        input_tokens: count(usage, &["promptTokenCount"]).saturating_add(count(usage, &["toolUsePromptTokenCount"])),
        output_tokens: count(usage, &["candidatesTokenCount"]).saturating_add(thoughts),
        cached_tokens: count(usage, &["cachedContentTokenCount"]),
        reasoning_tokens: thoughts,
        cost_micros: None,
    }
}
