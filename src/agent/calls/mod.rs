//! The calls of one step, from the end of the model's answer until each has its one result.
//!
//! Knows nothing of models or of how a tool is run; it says what each call needs next.

mod arguments;
mod call;
mod view;

pub(super) use arguments::check_result;
pub(super) use call::{Call, State};
pub(super) use view::{late_result, settled_state, view};

use call::Checked;

use crate::agent::Transcript;
use crate::agent::draft::Slot;
use crate::agent::limits::{Limits, Spent};
use crate::protocol::{EndReason, MessageId, ToolResult};
use crate::tools::{Resolved, error};

/// Opens the calls of an answer: each is ready to be judged or settled with what is wrong with it.
/// With a reason, the run is over and every call is settled.
pub(super) fn open(
    message: &MessageId,
    slots: Vec<Slot>,
    tools: &Resolved,
    transcript: &Transcript,
    spent: &mut Spent,
    limits: &Limits,
) -> (Vec<Call>, Option<EndReason>) {
    let asked = slots.iter().filter(|slot| slot.answered.is_none()).count();
    let mut end = (asked > limits.max_calls).then_some(EndReason::MaxCalls { limit: limits.max_calls, asked });
    let mut calls = Vec::with_capacity(slots.len());
    for slot in slots {
        let mut call = Call::new(message.clone(), slot.call, tools);
        let checked = match slot.answered {
            Some(content) => {
                call.leave_to_agent();
                Checked::Answered(content)
            }
            None if end.is_some() => Checked::Waiting,
            None if slot.too_long => Checked::Bad(error::arguments_too_long(&call.call.name, limits.max_arguments)),
            None => call.check(tools, transcript, spent, limits),
        };
        match checked {
            Checked::Fits | Checked::Waiting => {}
            Checked::Answered(content) => {
                call.state = State::Settled(ToolResult { call: call.call.id.clone(), content, error: None });
            }
            Checked::Bad(error) => call.settle(&error),
            Checked::TooOften => {
                call.settle(&error::repeated_call(&call.call.name, limits.max_repeats));
                end = Some(EndReason::RepeatedCall { name: call.call.name.clone(), limit: limits.max_repeats });
            }
        }
        calls.push(call);
    }
    if let Some(reason) = &end {
        for call in calls.iter_mut().filter(|call| !call.is_settled()) {
            let name = &call.call.name;
            let error = match reason {
                EndReason::MaxCalls { limit, asked } => error::too_many_calls(*asked, *limit),
                _ => error::run_ended(name, "another call was repeated too often"),
            };
            call.settle(&error);
        }
    }
    (calls, end)
}
