//! The journal's lines as JSON, and back. Knows nothing of where they are kept.
//!
//! Written out rather than derived: a page loads this code, and what serde derives for it is four times as much.

use std::sync::Arc;

use serde_json::Value;

use crate::protocol::{
    AssistantMessage, Attachment, Checkpoint, Delta, EndReason, Entry, MessageId, MessageStatus, ModelError,
    ModelErrorKind, OpenJob, OutputFormat, Part, RunId, Scope, Source, ToolCall, ToolCallId, ToolResult, Usage,
    UserMessage, delta_from_json, delta_to_json, object,
};

impl Entry {
    /// The line as JSON: an object whose `entry` says what it is.
    #[must_use]
    pub fn to_json(&self) -> Value {
        match self {
            Self::RunStart { run, at, message } => {
                let mut line =
                    fields(vec![("entry", "run_start".into()), ("run", run.as_str().into()), ("at", (*at).into())]);
                if let Some(message) = message {
                    line["message"] = user_to_json(message);
                }
                line
            }
            Self::StepStart { run, step, tools, used } => fields(vec![
                ("entry", "step_start".into()),
                ("run", run.as_str().into()),
                ("step", (*step).into()),
                ("tools", tools.iter().map(String::as_str).collect()),
                ("used", used_to_json(*used)),
            ]),
            Self::Part { message, part } => fields(vec![
                ("entry", "part".into()),
                ("message", message.as_str().into()),
                ("part", part_to_json(part)),
            ]),
            Self::Message(answer) => fields(vec![
                ("entry", "message".into()),
                ("id", answer.id.as_str().into()),
                ("status", answer.status.as_str().into()),
                ("parts", answer.parts.iter().map(part_to_json).collect()),
            ]),
            Self::Decision { call, approved, arguments, payload } => fields(vec![
                ("entry", "decision".into()),
                ("call", call.as_str().into()),
                ("approved", (*approved).into()),
                ("arguments", arguments.as_deref().into()),
                ("payload", payload.clone()),
            ]),
            Self::CallStart { call, at, scope } => fields(vec![
                ("entry", "call_start".into()),
                ("call", call.as_str().into()),
                ("at", (*at).into()),
                ("scope", scope.as_str().into()),
            ]),
            Self::Result { result, message, changes, job, by } => {
                let mut line = result_to_json("result", result, message.as_str());
                put_changes(&mut line, changes);
                for (name, text) in [("job", job), ("by", by)] {
                    if let Some(text) = text {
                        line[name] = text.as_str().into();
                    }
                }
                line
            }
            Self::JobEnd { result, name, message, changes } => {
                let mut line = result_to_json("job_end", result, message.as_str());
                put_changes(&mut line, changes);
                line["name"] = name.as_str().into();
                line
            }
            Self::LateResult(result) => result_to_json("late_result", result, ""),
            Self::Notice { message, content } => fields(vec![
                ("entry", "notice".into()),
                ("message", message.as_str().into()),
                ("content", content.as_str().into()),
            ]),
            Self::RunEnd { run, reason, used } => fields(vec![
                ("entry", "run_end".into()),
                ("run", run.as_str().into()),
                ("reason", reason.as_str().into()),
                ("detail", reason_to_json(reason)),
                ("used", used_to_json(*used)),
            ]),
            Self::Checkpoint(Checkpoint { state, jobs }) => fields(vec![
                ("entry", "checkpoint".into()),
                ("state", delta_to_json(state)),
                ("jobs", jobs.iter().map(job_to_json).collect()),
            ]),
            Self::Owner { at } => fields(vec![("entry", "owner".into()), ("at", (*at).into())]),
        }
    }

    /// A line from its JSON; `None` where it is none.
    #[must_use]
    pub fn from_json(line: &Value) -> Option<Self> {
        let run = || text(line, "run").map(RunId);
        let call = || text(line, "call").map(ToolCallId);
        let at = || line.get("at")?.as_u64();
        let message = || text(line, "message").map(MessageId);
        let used = || line.get("used").map(usage_from_json).unwrap_or_default();
        Some(match line.get("entry")?.as_str()? {
            "run_start" => {
                let message = match line.get("message") {
                    Some(message) => Some(user_from_json(message)?),
                    None => None,
                };
                Self::RunStart { run: run()?, at: at()?, message }
            }
            "step_start" => {
                Self::StepStart { run: run()?, step: small(line, "step")?, tools: texts(line, "tools"), used: used() }
            }
            "part" => Self::Part { message: message()?, part: part_from_json(line.get("part")?)? },
            "message" => Self::Message(AssistantMessage {
                id: MessageId(text(line, "id")?),
                status: MessageStatus::parse(line.get("status")?.as_str()?)?,
                parts: line.get("parts")?.as_array()?.iter().map(part_from_json).collect::<Option<_>>()?,
            }),
            "decision" => Self::Decision {
                call: call()?,
                approved: line.get("approved")?.as_bool()?,
                arguments: text(line, "arguments"),
                payload: line.get("payload").cloned().unwrap_or_default(),
            },
            "call_start" => {
                Self::CallStart { call: call()?, at: at()?, scope: Scope::parse(line.get("scope")?.as_str()?)? }
            }
            "result" => Self::Result {
                result: result_from_json(line)?,
                message: message()?,
                changes: changes(line),
                job: text(line, "job"),
                by: text(line, "by"),
            },
            "job_end" => Self::JobEnd {
                result: result_from_json(line)?,
                name: text(line, "name")?,
                message: message()?,
                changes: changes(line),
            },
            "late_result" => Self::LateResult(result_from_json(line)?),
            "notice" => Self::Notice { message: message()?, content: text(line, "content")? },
            "run_end" => Self::RunEnd { run: run()?, reason: reason_from_json(line)?, used: used() },
            "checkpoint" => Self::Checkpoint(Checkpoint {
                state: delta_from_json(line.get("state")?),
                jobs: line.get("jobs")?.as_array()?.iter().map(job_from_json).collect::<Option<_>>()?,
            }),
            "owner" => Self::Owner { at: at()? },
            _ => return None,
        })
    }
}

// What is absent is left out.
pub(super) fn fields(mut fields: Vec<(&str, Value)>) -> Value {
    fields.retain(|(_, value)| !value.is_null());
    object(fields)
}

pub(super) fn text(value: &Value, name: &str) -> Option<String> {
    value.get(name)?.as_str().map(str::to_owned)
}

fn texts(value: &Value, name: &str) -> Vec<String> {
    let list = value.get(name).and_then(Value::as_array).into_iter().flatten();
    list.filter_map(Value::as_str).map(str::to_owned).collect()
}

fn put_changes(line: &mut Value, changes: &Delta) {
    if !changes.is_empty() {
        line["changes"] = delta_to_json(changes);
    }
}

fn changes(line: &Value) -> Delta {
    delta_from_json(line.get("changes").unwrap_or(&Value::Null))
}

fn small(value: &Value, name: &str) -> Option<u32> {
    value.get(name)?.as_u64()?.try_into().ok()
}

fn part_to_json(part: &Part) -> Value {
    match part {
        Part::Text { text, encrypted_value } => {
            fields(vec![("text", text.as_str().into()), ("encrypted_value", encrypted_value.as_deref().into())])
        }
        Part::Reasoning { text, encrypted_value } => {
            fields(vec![("reasoning", text.as_str().into()), ("encrypted_value", encrypted_value.as_deref().into())])
        }
        Part::Call(call) => fields(vec![
            ("call", call.id.as_str().into()),
            ("wire_id", call.wire_id.as_deref().into()),
            ("name", call.name.as_str().into()),
            ("arguments", call.arguments.as_str().into()),
            ("encrypted_value", call.encrypted_value.as_deref().into()),
        ]),
    }
}

fn part_from_json(part: &Value) -> Option<Part> {
    let encrypted_value = text(part, "encrypted_value");
    if let Some(text) = text(part, "text") {
        return Some(Part::Text { text, encrypted_value });
    }
    if let Some(text) = text(part, "reasoning") {
        return Some(Part::Reasoning { text, encrypted_value });
    }
    Some(Part::Call(ToolCall {
        id: ToolCallId(text(part, "call")?),
        wire_id: text(part, "wire_id"),
        name: text(part, "name")?,
        arguments: text(part, "arguments")?,
        encrypted_value,
    }))
}

pub(super) fn user_to_json(message: &UserMessage) -> Value {
    let mut written = fields(vec![("id", message.id.as_str().into()), ("text", message.content.as_str().into())]);
    if !message.attachments.is_empty() {
        written["attachments"] = message.attachments.iter().map(attachment_to_json).collect();
    }
    if let Some(output) = &message.output {
        written["output"] = fields(vec![("name", output.name.as_str().into()), ("schema", output.schema.clone())]);
    }
    written
}

pub(super) fn user_from_json(message: &Value) -> Option<UserMessage> {
    let attachments = message.get("attachments").and_then(Value::as_array).into_iter().flatten();
    let format =
        |output: &Value| Some(OutputFormat { name: text(output, "name")?, schema: output.get("schema")?.clone() });
    Some(UserMessage {
        id: MessageId(text(message, "id")?),
        content: text(message, "text")?,
        attachments: attachments.map(attachment_from_json).collect::<Option<_>>()?,
        output: message.get("output").and_then(format).map(Arc::new),
    })
}

fn attachment_to_json(attachment: &Attachment) -> Value {
    let (data, url) = match &attachment.source {
        Source::Data(data) => (Some(&**data), None),
        Source::Url(url) => (None, Some(url.as_str())),
    };
    fields(vec![
        ("name", attachment.name.as_str().into()),
        ("type", attachment.media_type.as_str().into()),
        ("data", data.into()),
        ("url", url.into()),
    ])
}

fn attachment_from_json(attachment: &Value) -> Option<Attachment> {
    let source = match text(attachment, "url") {
        Some(url) => Source::Url(url),
        None => Source::Data(attachment.get("data")?.as_str()?.into()),
    };
    Some(Attachment { name: text(attachment, "name")?, media_type: text(attachment, "type")?, source })
}

fn some(number: u64) -> Option<u64> {
    (number > 0).then_some(number)
}

// What nobody counted is left out.
fn used_to_json(used: Usage) -> Value {
    if used == Usage::default() { Value::Null } else { usage_to_json(used) }
}

pub(super) fn usage_to_json(usage: Usage) -> Value {
    fields(vec![
        ("input", usage.input_tokens.into()),
        ("output", usage.output_tokens.into()),
        ("cached", some(usage.cached_tokens).into()),
        ("reasoning", some(usage.reasoning_tokens).into()),
        ("cost_micros", usage.cost_micros.into()),
    ])
}

pub(super) fn usage_from_json(usage: &Value) -> Usage {
    let number = |name: &str| usage.get(name).and_then(Value::as_u64);
    Usage {
        input_tokens: number("input").unwrap_or_default(),
        output_tokens: number("output").unwrap_or_default(),
        cached_tokens: number("cached").unwrap_or_default(),
        reasoning_tokens: number("reasoning").unwrap_or_default(),
        cost_micros: number("cost_micros"),
    }
}

fn job_to_json(job: &OpenJob) -> Value {
    fields(vec![
        ("call", part_to_json(&Part::Call(job.call.clone()))),
        ("message", job.message.as_str().into()),
        ("job", job.job.as_str().into()),
    ])
}

fn job_from_json(job: &Value) -> Option<OpenJob> {
    let Part::Call(call) = part_from_json(job.get("call")?)? else { return None };
    Some(OpenJob { call, message: MessageId(text(job, "message")?), job: text(job, "job")? })
}

fn result_to_json(entry: &str, result: &ToolResult, message: &str) -> Value {
    fields(vec![
        ("entry", entry.into()),
        ("call", result.call.as_str().into()),
        ("content", result.content.as_str().into()),
        ("error", result.error.as_deref().into()),
        ("message", message.into()),
    ])
}

fn result_from_json(line: &Value) -> Option<ToolResult> {
    Some(ToolResult {
        call: ToolCallId(text(line, "call")?),
        content: text(line, "content")?,
        error: text(line, "error"),
    })
}

pub(super) fn reason_to_json(reason: &EndReason) -> Value {
    match reason {
        EndReason::Completed
        | EndReason::Stopped
        | EndReason::Superseded
        | EndReason::Interrupted
        | EndReason::Truncated
        | EndReason::Empty
        | EndReason::Length => Value::Null,
        EndReason::Refused { why } if why.is_empty() => Value::Null,
        EndReason::MaxSteps { limit } => fields(vec![("limit", (*limit).into())]),
        EndReason::MaxCalls { limit, asked } => fields(vec![("limit", (*limit).into()), ("asked", (*asked).into())]),
        EndReason::MaxTime { limit_ms } => fields(vec![("limit", (*limit_ms).into())]),
        EndReason::MaxTokens { limit, used } | EndReason::MaxCost { limit_micros: limit, used_micros: used } => {
            fields(vec![("limit", (*limit).into()), ("used", (*used).into())])
        }
        EndReason::RepeatedCall { name, limit } => {
            fields(vec![("name", name.as_str().into()), ("limit", (*limit).into())])
        }
        EndReason::Refused { why } | EndReason::OutputMismatch { why } => fields(vec![("why", why.as_str().into())]),
        EndReason::Error(error) => error_to_json(error),
    }
}

pub(super) fn reason_from_json(line: &Value) -> Option<EndReason> {
    let detail = line.get("detail").unwrap_or(&Value::Null);
    let number = |name: &str| detail.get(name)?.as_u64();
    Some(match line.get("reason")?.as_str()? {
        "completed" => EndReason::Completed,
        "stopped" => EndReason::Stopped,
        "superseded" => EndReason::Superseded,
        "interrupted" => EndReason::Interrupted,
        "truncated" => EndReason::Truncated,
        "empty" => EndReason::Empty,
        "length" => EndReason::Length,
        "refused" => EndReason::Refused { why: text(detail, "why").unwrap_or_default() },
        "output-mismatch" => EndReason::OutputMismatch { why: text(detail, "why")? },
        "max-steps" => EndReason::MaxSteps { limit: small(detail, "limit")? },
        "max-calls" => {
            EndReason::MaxCalls { limit: small(detail, "limit")? as usize, asked: small(detail, "asked")? as usize }
        }
        "max-time" => EndReason::MaxTime { limit_ms: number("limit")? },
        "max-tokens" => EndReason::MaxTokens { limit: number("limit")?, used: number("used")? },
        "max-cost" => EndReason::MaxCost { limit_micros: number("limit")?, used_micros: number("used")? },
        "repeated-call" => EndReason::RepeatedCall { name: text(detail, "name")?, limit: small(detail, "limit")? },
        "error" => EndReason::Error(error_from_json(detail)?),
        _ => return None,
    })
}

pub(super) fn error_to_json(error: &ModelError) -> Value {
    fields(vec![
        ("kind", error.kind.as_str().into()),
        ("message", error.message.as_str().into()),
        ("retry_after_ms", error.retry_after_ms.into()),
        ("retry", error.retry.into()),
    ])
}

pub(super) fn error_from_json(error: &Value) -> Option<ModelError> {
    Some(ModelError {
        kind: ModelErrorKind::parse(error.get("kind")?.as_str()?)?,
        message: text(error, "message")?,
        retry_after_ms: error.get("retry_after_ms").and_then(Value::as_u64),
        retry: error.get("retry").and_then(Value::as_bool),
    })
}
