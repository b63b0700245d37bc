//! The codes a failed call carries, and the words a model reads with them.
//!
//! | code | what happened | repeat it? |
//! |---|---|---|
//! | `unknown_tool` | nobody registered the name | no |
//! | `not_offered` | it is registered, but was not offered | no |
//! | `invalid_json` | the arguments are not a JSON object | corrected |
//! | `invalid_arguments` | they do not fit the schema | corrected |
//! | `arguments_too_long` | the arguments have more characters than they may | shorter |
//! | `tool_error` | the tool said so | as it says |
//! | `unserializable_result` | it ran, but its result is not JSON | no |
//! | `result_too_large` | it ran, but its result is longer than can be taken | for less |
//! | `invalid_result` | it ran, but its result is not what its definition promises | no |
//! | `timeout` | it took too long; whether it ran is unknown | no |
//! | `denied` | the user said no | no |
//! | `cancelled` | stopped before it ended | no |
//! | `duplicate_call` | the model's id was used before | no |
//! | `repeated_call` | same tool, same arguments, too often | no |
//! | `too_many_calls` | more calls in a step than allowed | fewer |
//! | `interrupted` | the page went away while it ran | no |
//! | `unreachable` | the gateway could not be reached | yes |
//! | `refused` | a rule forbids it | no |
//! | `unknown_outcome` | it was begun, and its end is not known | no |
//! | `key_reused` | its key is that of another call | no |
//! | `not_kept` | it was answered, and its answer is gone | no |

use crate::protocol::ToolError;
use crate::tools::Violation;

/// Nobody registered `name`; `nearest` are names that look like it.
#[must_use]
pub fn unknown_tool(name: &str, nearest: &[&str]) -> ToolError {
    let hint = match nearest {
        [] => "There is no tool with a similar name.".to_owned(),
        names => format!("The nearest names are: {}.", names.join(", ")),
    };
    ToolError::new("unknown_tool", format!("There is no tool named \"{name}\". {hint} Do not call \"{name}\" again."))
}

/// The tool is there, but not for this agent, or not now.
#[must_use]
pub fn not_offered(name: &str) -> ToolError {
    ToolError::new(
        "not_offered",
        format!("\"{name}\" can not be called here and was not run. Use only the tools you are offered now."),
    )
}

/// A rule forbids the call.
#[must_use]
pub fn refused(name: &str, why: &str) -> ToolError {
    ToolError::new("refused", format!("\"{name}\" was not run: {why} Do not repeat the call."))
}

/// It ran, but what came back is not what its definition promises.
#[must_use]
pub fn invalid_result(name: &str, violations: &[Violation]) -> ToolError {
    let list = violations.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ");
    let words = format!("\"{name}\" ran, but its result can not be used. Do not repeat the call; tell the user.");
    ToolError::new("invalid_result", words).for_operator(format!("its result does not fit its definition: {list}"))
}

/// It ran, but what came back is longer than this many bytes (or characters).
#[must_use]
pub fn result_too_large(name: &str, limit: usize) -> ToolError {
    ToolError::new(
        "result_too_large",
        format!(
            "\"{name}\" ran, but its result is longer than {} MiB and was not taken. Do not simply repeat the call; ask \
             for less at once, if it can do that.",
            limit >> 20
        ),
    )
}

/// The arguments' text is not a JSON object.
#[must_use]
pub fn invalid_json(name: &str, why: &str) -> ToolError {
    ToolError::new(
        "invalid_json",
        format!(
            "The arguments for \"{name}\" are not a JSON object: {why}. Call it again with one complete JSON object."
        ),
    )
    .retryable()
}

/// The arguments have more characters than a call may have.
#[must_use]
pub fn arguments_too_long(name: &str, limit: usize) -> ToolError {
    ToolError::new(
        "arguments_too_long",
        format!(
            "The arguments for \"{name}\" have more than {limit} characters, which is the limit. Nothing was run. Call it \
             again with shorter arguments, or in several calls."
        ),
    )
    .retryable()
}

/// The arguments do not fit the tool's schema.
#[must_use]
pub fn invalid_arguments(name: &str, violations: &[Violation]) -> ToolError {
    let list = violations.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ");
    ToolError::new(
        "invalid_arguments",
        format!("Invalid arguments for \"{name}\": {list}. Nothing was run. Correct the arguments and call it again."),
    )
    .retryable()
}

/// It ran past its time.
#[must_use]
pub fn timeout(name: &str, limit_ms: u64) -> ToolError {
    ToolError::new(
        "timeout",
        format!(
            "\"{name}\" did not answer within {} s and was cancelled. Whether it took effect is unknown: \
             check before you do anything that depends on it, and do not simply repeat the call.",
            limit_ms / 1000
        ),
    )
}

/// It was begun, and the gateway stopped before it ended.
#[must_use]
pub fn unknown_outcome(name: &str) -> ToolError {
    ToolError::new(
        "unknown_outcome",
        format!(
            "\"{name}\" was begun earlier, and its end was not recorded. Whether it took effect is unknown: check \
             before you do anything that depends on it, and do not simply call it again."
        ),
    )
}

/// It was asked for, perhaps more than once, and no answer came.
#[must_use]
pub fn lost(name: &str) -> ToolError {
    ToolError::new(
        "unknown_outcome",
        format!(
            "The gateway could not be reached, or the connection was lost, before \"{name}\" was answered; whether it took \
             effect is unknown: check before you do anything that depends on it, and do not simply call it again."
        ),
    )
}

/// Its key is that of an earlier call, of the tool `other`.
#[must_use]
pub fn key_reused(name: &str, other: &str) -> ToolError {
    let earlier =
        if other == name { "with other arguments".to_owned() } else { format!("of another tool, \"{other}\"") };
    ToolError::new(
        "key_reused",
        format!("\"{name}\" was not run: its Idempotency-Key is that of an earlier call {earlier}."),
    )
}

/// It ran and was answered, but the answer is gone.
#[must_use]
pub fn not_kept(name: &str) -> ToolError {
    ToolError::new(
        "not_kept",
        format!(
            "\"{name}\" was run and answered earlier, but its answer is not kept any more. Check what it did before \
             you do anything that depends on it, and do not simply call it again."
        ),
    )
}

/// The user said no.
#[must_use]
pub fn denied(name: &str, why: Option<&str>) -> ToolError {
    let reason =
        why.filter(|why| !why.trim().is_empty()).map(|why| format!(" They said: \"{why}\".")).unwrap_or_default();
    ToolError::new(
        "denied",
        format!("The user declined to run \"{name}\".{reason} Do not repeat the call; ask what they want instead."),
    )
}

/// It was stopped before it ended. `ran`: whether it had been started.
#[must_use]
pub fn cancelled(name: &str, ran: bool) -> ToolError {
    let effect = if ran { "It had been started; whether it took effect is unknown." } else { "It was not run." };
    ToolError::new(
        "cancelled",
        format!("\"{name}\" was cancelled by the user. {effect} Do not repeat it unless the user asks for it."),
    )
}

/// The model's id was used by an earlier call.
#[must_use]
pub fn duplicate_call(name: &str) -> ToolError {
    ToolError::new(
        "duplicate_call",
        format!(
            "This call of \"{name}\" has the id of an earlier call and was not run again; its result is above. Do not repeat it."
        ),
    )
}

/// The same call was made too often.
#[must_use]
pub fn repeated_call(name: &str, limit: u32) -> ToolError {
    ToolError::new(
        "repeated_call",
        format!(
            "\"{name}\" was called with the same arguments more than {limit} times in this run and was not run again. Do not repeat it; use the results you have."
        ),
    )
}

/// More calls than a step may have.
#[must_use]
pub fn too_many_calls(asked: usize, limit: usize) -> ToolError {
    ToolError::new(
        "too_many_calls",
        format!(
            "{asked} calls were made in one step; at most {limit} are allowed, so none was run. Make fewer calls at once."
        ),
    )
}

/// The run ended for another reason before this call ran.
#[must_use]
pub fn run_ended(name: &str, why: &str) -> ToolError {
    ToolError::new("cancelled", format!("\"{name}\" was not run, because the run was ended: {why}."))
}

/// The page went away while the call was open. `ran`: whether it had been started.
#[must_use]
pub fn interrupted(name: &str, ran: bool) -> ToolError {
    let effect =
        if ran { "It had been started; whether it took effect is unknown, so check first." } else { "It was not run." };
    ToolError::new("interrupted", format!("The page was left or reloaded before \"{name}\" answered. {effect}"))
}

/// The tool failed, in its own words.
#[must_use]
pub fn tool_error(name: &str, message: &str) -> ToolError {
    ToolError::new("tool_error", format!("\"{name}\" failed: {message}"))
}
