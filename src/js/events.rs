//! A run's events as DOM events of the element. Their names and details are in `www/types.d.ts`.

use std::rc::Rc;

use serde_json::{Value, json};
use web_sys::{CustomEvent, CustomEventInit, HtmlElement};

use crate::browser::Watcher;
use crate::js::to_js;
use crate::protocol::{EndReason, Event, Scope};

/// A watcher that dispatches them.
pub(super) fn dispatcher(element: HtmlElement) -> Watcher {
    Rc::new(move |event: &Event| match event {
        Event::RunStart { run, message } => {
            let text = message.as_ref().map(|(_, text)| text);
            dispatch(&element, "pagehand-run-start", &json!({ "runId": run, "message": text }));
        }
        Event::Call(view) => {
            let detail = json!({
                "callId": view.id, "name": view.name, "scope": view.scope.map(Scope::as_str), "state": view.state.as_str(),
                "arguments": view.arguments,
            });
            dispatch(&element, "pagehand-tool-call", &detail);
        }
        Event::RunEnd { run, reason } => {
            if let EndReason::Error(error) = reason {
                let detail = json!({ "code": error.kind.as_str(), "message": error.message });
                dispatch(&element, "pagehand-error", &detail);
            }
            dispatch(&element, "pagehand-run-end", &json!({ "runId": run, "reason": reason.as_str() }));
        }
        Event::StepStart { run, step, tools, .. } => {
            dispatch(&element, "pagehand-step-start", &json!({ "runId": run, "step": step, "tools": tools }));
        }
        Event::Progress { call, fraction, text } => {
            dispatch(
                &element,
                "pagehand-tool-progress",
                &json!({ "callId": call, "fraction": fraction, "text": text }),
            );
        }
        Event::Settled(call) => {
            let detail = json!({
                "tool": call.tool, "owner": call.owner, "version": call.version, "outcome": call.outcome, "ms": call.ms,
                "alias": call.alias,
            });
            dispatch(&element, "pagehand-tool-settled", &detail);
        }
        Event::Note(text) => dispatch(&element, "pagehand-log", &json!({ "text": text })),
        Event::TextDelta { .. }
        | Event::ReasoningDelta { .. }
        | Event::ArgumentsDelta { .. }
        | Event::MessageEnd { .. }
        | Event::DecisionRefused { .. }
        | Event::Usage(_)
        | Event::Replaced { .. }
        | Event::NotSaved => {}
    })
}

fn dispatch(element: &HtmlElement, name: &str, detail: &Value) {
    let init = CustomEventInit::new();
    init.set_bubbles(true);
    init.set_composed(true);
    init.set_detail(&to_js(detail));
    if let Ok(event) = CustomEvent::new_with_event_init_dict(name, &init) {
        let _ = element.dispatch_event(&event);
    }
}
