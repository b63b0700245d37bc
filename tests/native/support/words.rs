//! Model events in one short line each, so that an expectation reads like the stream it is of.

use pagehand::protocol::{FinishReason, ModelError, ModelEvent};

/// Signs of life are left out: what they are is that something came.
pub(crate) fn words(events: &[ModelEvent]) -> Vec<String> {
    events.iter().filter(|event| **event != ModelEvent::Alive).map(word).collect()
}

fn word(event: &ModelEvent) -> String {
    match event {
        ModelEvent::Start => "start".to_owned(),
        ModelEvent::TextStart => "text+".to_owned(),
        ModelEvent::TextDelta(text) => format!("text {text}"),
        ModelEvent::TextWasReasoning => "text was reasoning".to_owned(),
        ModelEvent::TextEnd => "text-".to_owned(),
        ModelEvent::ReasoningStart => "reasoning+".to_owned(),
        ModelEvent::ReasoningDelta(text) => format!("reasoning {text}"),
        ModelEvent::TextEncrypted(value) => format!("text sealed {value}"),
        ModelEvent::ReasoningEncrypted(value) => format!("reasoning sealed {value}"),
        ModelEvent::ReasoningEnd => "reasoning-".to_owned(),
        ModelEvent::CallStart { slot, id: Some(id), name } => format!("call {slot} {name} id={id}"),
        ModelEvent::CallStart { slot, id: None, name } => format!("call {slot} {name}"),
        ModelEvent::CallDelta { slot, text } => format!("args {slot} {text}"),
        ModelEvent::CallEnd { slot } => format!("call- {slot}"),
        ModelEvent::CallArguments { slot, text } => format!("whole args {slot} {text}"),
        ModelEvent::CallEncrypted { slot, value } => format!("call {slot} sealed {value}"),
        ModelEvent::CallResult { slot, content } => format!("result {slot} {content}"),
        ModelEvent::Usage(usage) => {
            let cost = usage.cost_micros.map(|micros| format!(" cost {micros}")).unwrap_or_default();
            let part = |name: &str, count: u64| if count > 0 { format!(" {name} {count}") } else { String::new() };
            let cached = part("cached", usage.cached_tokens);
            let reasoning = part("reasoning", usage.reasoning_tokens);
            format!("usage {} {}{cached}{reasoning}{cost}", usage.input_tokens, usage.output_tokens)
        }
        ModelEvent::Finish(FinishReason::Refused(why)) if !why.is_empty() => format!("finish refused: {why}"),
        ModelEvent::Finish(reason) => format!("finish {}", reason.as_str()),
        ModelEvent::Error(ModelError { kind, message, retry_after_ms, retry }) => {
            let wait = retry_after_ms.map(|ms| format!(" after {ms} ms")).unwrap_or_default();
            let retry = match retry {
                None => "",
                Some(true) => " retry",
                Some(false) => " final",
            };
            format!("error {}{wait}{retry}: {message}", kind.as_str())
        }
        ModelEvent::Replace(text) => format!("replaced by {text}"),
        ModelEvent::Note(words) => format!("note {words}"),
        ModelEvent::Alive => "alive".to_owned(),
    }
}
