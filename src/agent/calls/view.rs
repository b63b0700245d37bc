//! A call, and what came of it, as others see it. Knows nothing of how it came about.

use serde_json::Value;

use crate::protocol::{
    CallState, CallView, MessageId, Millis, Outcome, Scope, ToolCall, ToolCallId, ToolError, ToolResult,
};

/// A call as those who watch see it.
pub(in crate::agent) fn view(
    message: &MessageId,
    call: &ToolCall,
    scope: Option<Scope>,
    state: CallState,
    at: Millis,
) -> CallView {
    CallView {
        id: call.id.clone(),
        message: message.clone(),
        name: call.name.clone(),
        scope,
        arguments: call.arguments.clone(),
        state,
        at,
    }
}

/// What those who watch see of a result.
pub(in crate::agent) fn settled_state(result: &ToolResult) -> CallState {
    match result.error.as_deref() {
        None => CallState::ResultAvailable { content: result.content.clone() },
        Some("denied") => CallState::Denied,
        Some("cancelled") => CallState::Cancelled,
        Some(code) => {
            let told: Value = serde_json::from_str(&result.content).unwrap_or_default();
            let message = told.get("message").and_then(Value::as_str).unwrap_or(&result.content);
            CallState::Failed { code: code.to_owned(), message: message.to_owned() }
        }
    }
}

/// An executor's answer as a result, for one that came too late to count.
pub(in crate::agent) fn late_result(call: ToolCallId, outcome: &Outcome) -> ToolResult {
    match outcome {
        Outcome::Result(result) => ToolResult::ok(call, result),
        Outcome::Error(error) => ToolResult::failed(call, error),
        Outcome::Interim(job) => ToolResult::interim(call, job),
        Outcome::NeedsApproval { reason, .. } => ToolResult::failed(call, &ToolError::new("cancelled", reason)),
    }
}
