//! What another page must hear of a run, as JSON, and back. Knows nothing of how it gets there.
//!
//! Written out rather than derived, as the journal's lines are.

use serde_json::Value;

use crate::protocol::entry_json::{
    error_from_json, error_to_json, fields, reason_from_json, reason_to_json, text, usage_from_json, usage_to_json,
    user_from_json, user_to_json,
};
use crate::protocol::{CallState, CallView, Event, MessageId, MessageStatus, Millis, RunId, Scope, ToolCallId, Wait};

impl Event {
    /// The event as JSON: an object whose `event` says what it is. `None` for those that are nobody else's business.
    #[must_use]
    pub fn to_json(&self) -> Option<Value> {
        Some(match self {
            Self::RunStart { run, message } => fields(vec![
                ("event", "run_start".into()),
                ("run", run.as_str().into()),
                ("message", message.as_ref().map(user_to_json).unwrap_or_default()),
            ]),
            Self::StepStart { run, step, message, .. } => fields(vec![
                ("event", "step_start".into()),
                ("run", run.as_str().into()),
                ("step", (*step).into()),
                ("message", message.as_str().into()),
            ]),
            Self::TextDelta { message, text } => words("text", message, text),
            Self::ReasoningDelta { message, text } => words("reasoning", message, text),
            Self::TextWasReasoning { message } => {
                fields(vec![("event", "was_reasoning".into()), ("message", message.as_str().into())])
            }
            Self::Replaced { message, text } => words("replaced", message, text),
            Self::ArgumentsDelta { call, text } => fields(vec![
                ("event", "arguments".into()),
                ("call", call.as_str().into()),
                ("text", text.as_str().into()),
            ]),
            Self::MessageEnd { message, status } => words("message_end", message, status.as_str()),
            Self::Call(view) => call_to_json(view),
            Self::Progress { call, fraction, text } => fields(vec![
                ("event", "progress".into()),
                ("call", call.as_str().into()),
                ("fraction", (*fraction).into()),
                ("text", text.as_str().into()),
            ]),
            Self::Waiting { until, why } => wait_to_json(*until, why),
            Self::Usage { step, run } => {
                let mut event = usage_to_json(*run);
                event["event"] = "usage".into();
                event["step"] = usage_to_json(*step);
                event
            }
            Self::RunEnd { run, reason } => fields(vec![
                ("event", "run_end".into()),
                ("run", run.as_str().into()),
                ("reason", reason.as_str().into()),
                ("detail", reason_to_json(reason)),
            ]),
            Self::Saving(why) => fields(vec![("event", "saving".into()), ("text", why.as_deref().into())]),
            Self::Output { message, value } => {
                fields(vec![("event", "output".into()), ("message", message.as_str().into()), ("value", value.clone())])
            }
            Self::DecisionRefused { .. } | Self::Settled(_) | Self::Note(_) => return None,
        })
    }

    /// An event from its JSON; `None` where it is none.
    #[must_use]
    pub fn from_json(event: &Value) -> Option<Self> {
        let message = || text(event, "message").map(MessageId);
        let call = || text(event, "call").map(ToolCallId);
        let run = || text(event, "run").map(RunId);
        let said = || text(event, "text");
        let number = |name: &str| event.get(name)?.as_u64();
        Some(match event.get("event")?.as_str()? {
            "run_start" => Self::RunStart { run: run()?, message: event.get("message").and_then(user_from_json) },
            "step_start" => Self::StepStart {
                run: run()?,
                step: number("step")?.try_into().ok()?,
                message: message()?,
                tools: Vec::new(),
            },
            "text" => Self::TextDelta { message: message()?, text: said()? },
            "reasoning" => Self::ReasoningDelta { message: message()?, text: said()? },
            "was_reasoning" => Self::TextWasReasoning { message: message()? },
            "replaced" => Self::Replaced { message: message()?, text: said()? },
            "arguments" => Self::ArgumentsDelta { call: call()?, text: said()? },
            "message_end" => Self::MessageEnd { message: message()?, status: MessageStatus::parse(&said()?)? },
            "call" => Self::Call(call_from_json(event)?),
            "progress" => {
                Self::Progress { call: call()?, fraction: event.get("fraction").and_then(Value::as_f64), text: said()? }
            }
            "usage" => Self::Usage {
                step: event.get("step").map(usage_from_json).unwrap_or_default(),
                run: usage_from_json(event),
            },
            "waiting" => Self::Waiting { until: number("until")?, why: wait_from_json(event)? },
            "saving" => Self::Saving(said()),
            "output" => Self::Output { message: message()?, value: event.get("value").cloned().unwrap_or_default() },
            "run_end" => Self::RunEnd { run: run()?, reason: reason_from_json(event)? },
            _ => return None,
        })
    }
}

fn words(event: &str, message: &MessageId, text: &str) -> Value {
    fields(vec![("event", event.into()), ("message", message.as_str().into()), ("text", text.into())])
}

fn wait_to_json(until: Millis, why: &Wait) -> Value {
    let (attempt, of, error) = match why {
        Wait::Offline => (None, None, None),
        Wait::Retry { attempt, of, error } => (Some(*attempt), Some(*of), error.as_ref().map(error_to_json)),
    };
    fields(vec![
        ("event", "waiting".into()),
        ("until", until.into()),
        ("attempt", attempt.into()),
        ("of", of.into()),
        ("error", error.unwrap_or_default()),
    ])
}

fn wait_from_json(event: &Value) -> Option<Wait> {
    let Some(attempt) = event.get("attempt").and_then(Value::as_u64) else { return Some(Wait::Offline) };
    let of = event.get("of")?.as_u64()?;
    let error = event.get("error").and_then(error_from_json);
    Some(Wait::Retry { attempt: attempt.try_into().ok()?, of: of.try_into().ok()?, error })
}

fn call_to_json(view: &CallView) -> Value {
    let (first, second) = match &view.state {
        CallState::ApprovalRequested { reason, payload } => (reason.as_str().into(), payload.clone()),
        CallState::Pending { job } => (job.as_str().into(), Value::Null),
        CallState::ResultAvailable { content } => (content.as_str().into(), Value::Null),
        CallState::Failed { code, message } => (code.as_str().into(), message.as_str().into()),
        CallState::InputStreaming
        | CallState::InputAvailable
        | CallState::Running
        | CallState::Denied
        | CallState::Cancelled => (Value::Null, Value::Null),
    };
    fields(vec![
        ("event", "call".into()),
        ("call", view.id.as_str().into()),
        ("message", view.message.as_str().into()),
        ("name", view.name.as_str().into()),
        ("scope", view.scope.map(Scope::as_str).into()),
        ("arguments", view.arguments.as_str().into()),
        ("at", view.at.into()),
        ("state", view.state.as_str().into()),
        ("first", first),
        ("second", second),
    ])
}

fn call_from_json(view: &Value) -> Option<CallView> {
    let first = || text(view, "first");
    let state = match view.get("state")?.as_str()? {
        "input-streaming" => CallState::InputStreaming,
        "input-available" => CallState::InputAvailable,
        "approval-requested" => {
            CallState::ApprovalRequested { reason: first()?, payload: view.get("second").cloned().unwrap_or_default() }
        }
        "running" => CallState::Running,
        "pending" => CallState::Pending { job: first()? },
        "result-available" => CallState::ResultAvailable { content: first()? },
        "failed" => CallState::Failed { code: first()?, message: text(view, "second")? },
        "denied" => CallState::Denied,
        "cancelled" => CallState::Cancelled,
        _ => return None,
    };
    Some(CallView {
        id: ToolCallId(text(view, "call")?),
        message: MessageId(text(view, "message")?),
        name: text(view, "name")?,
        scope: text(view, "scope").and_then(|scope| Scope::parse(&scope)),
        arguments: text(view, "arguments")?,
        state,
        at: view.get("at")?.as_u64()?,
    })
}
