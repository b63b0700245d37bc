//! A run's events as DOM events of the element. Their names and details are in `www/types.d.ts`.

use std::rc::Rc;

use serde_json::Value;
use web_sys::{CustomEvent, CustomEventInit, HtmlElement};

use crate::browser::Watcher;
use crate::js::to_js;
use crate::protocol::{EndReason, Event, Scope, Usage, Wait, object};

/// A watcher that dispatches them.
pub(super) fn dispatcher(element: HtmlElement) -> Watcher {
    Rc::new(move |event: &Event| match event {
        Event::RunStart { run, message } => {
            let text = message.as_ref().map(|said| said.content.as_str());
            dispatch(
                &element,
                "pagehand-run-start",
                &object(vec![
                    ("runId", run.as_str().into()),
                    ("messageId", message.as_ref().map(|said| said.id.as_str()).into()),
                    ("message", text.into()),
                ]),
            );
        }
        Event::Call(view) => {
            let detail = object(vec![
                ("callId", view.id.as_str().into()),
                ("name", view.name.as_str().into()),
                ("scope", view.scope.map(Scope::as_str).into()),
                ("state", view.state.as_str().into()),
                ("arguments", view.arguments.as_str().into()),
            ]);
            dispatch(&element, "pagehand-tool-call", &detail);
        }
        Event::RunEnd { run, reason } => {
            if let EndReason::Error(error) = reason {
                let detail =
                    object(vec![("code", error.kind.as_str().into()), ("message", error.message.as_str().into())]);
                dispatch(&element, "pagehand-error", &detail);
            }
            dispatch(
                &element,
                "pagehand-run-end",
                &object(vec![("runId", run.as_str().into()), ("reason", reason.as_str().into())]),
            );
        }
        Event::StepStart { run, step, tools, .. } => {
            dispatch(
                &element,
                "pagehand-step-start",
                &object(vec![
                    ("runId", run.as_str().into()),
                    ("step", (*step).into()),
                    ("tools", tools.iter().map(String::as_str).collect()),
                ]),
            );
        }
        Event::Progress { call, fraction, text } => {
            dispatch(
                &element,
                "pagehand-tool-progress",
                &object(vec![
                    ("callId", call.as_str().into()),
                    ("fraction", (*fraction).into()),
                    ("text", text.as_str().into()),
                ]),
            );
        }
        Event::Settled(call) => {
            let detail = object(vec![
                ("tool", call.tool.as_str().into()),
                ("owner", call.owner.as_str().into()),
                ("version", call.version.as_str().into()),
                ("outcome", call.outcome.as_str().into()),
                ("ms", call.ms.into()),
                ("alias", call.alias.as_deref().into()),
            ]);
            dispatch(&element, "pagehand-tool-settled", &detail);
        }
        Event::Waiting { until, why } => {
            let (why, attempt, of, error) = match why {
                Wait::Offline => ("offline", None, None, None),
                Wait::Retry { attempt, of, error } => ("retry", Some(*attempt), Some(*of), error.as_ref()),
            };
            let detail = object(vec![
                ("why", why.into()),
                ("until", (*until).into()),
                ("attempt", attempt.into()),
                ("of", of.into()),
                ("code", error.map(|error| error.kind.as_str()).into()),
                ("message", error.map(|error| error.message.as_str()).into()),
            ]);
            dispatch(&element, "pagehand-waiting", &detail);
        }
        Event::Output { message, value } => dispatch(
            &element,
            "pagehand-output",
            &object(vec![("messageId", message.as_str().into()), ("value", value.clone())]),
        ),
        Event::Usage { step, run } => {
            let usage = |usage: &Usage| {
                object(vec![
                    ("inputTokens", usage.input_tokens.into()),
                    ("outputTokens", usage.output_tokens.into()),
                    ("cachedTokens", usage.cached_tokens.into()),
                    ("reasoningTokens", usage.reasoning_tokens.into()),
                    ("costMicros", usage.cost_micros.into()),
                ])
            };
            dispatch(&element, "pagehand-usage", &object(vec![("step", usage(step)), ("run", usage(run))]));
        }
        Event::Note(text) => dispatch(&element, "pagehand-log", &object(vec![("text", text.as_str().into())])),
        Event::Saving(why) => dispatch(
            &element,
            "pagehand-saving",
            &object(vec![("saved", why.is_none().into()), ("reason", why.as_deref().into())]),
        ),
        Event::TextDelta { .. }
        | Event::ReasoningDelta { .. }
        | Event::TextWasReasoning { .. }
        | Event::ArgumentsDelta { .. }
        | Event::MessageEnd { .. }
        | Event::DecisionRefused { .. }
        | Event::Replaced { .. } => {}
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
