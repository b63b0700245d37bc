//! `GET /metrics`, in Prometheus's text format 0.0.4. Knows nothing of what is counted.

use std::fmt::Write as _;

use axum::extract::State;
use axum::http::header;
use axum::response::IntoResponse;

use crate::gateway::state::Gateway;
use crate::tools::Metrics;

pub(super) async fn metrics(State(gateway): State<Gateway>) -> impl IntoResponse {
    let text = write(&gateway.metrics(), gateway.jobs().running());
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], text)
}

fn write(metrics: &Metrics, running: usize) -> String {
    let mut out = String::new();
    head(&mut out, "pagehand_tool_call_seconds", "summary", "Calls of tools and how long they took.");
    for count in metrics.calls() {
        let labels = [
            ("tool", count.tool.as_str()),
            ("owner", &count.owner),
            ("version", &count.version),
            ("outcome", &count.outcome),
        ];
        let labels = label_text(&labels);
        line(
            &mut out,
            "pagehand_tool_call_seconds_sum",
            &labels,
            &format!("{}.{:03}", count.ms / 1000, count.ms % 1000),
        );
        line(&mut out, "pagehand_tool_call_seconds_count", &labels, &count.calls.to_string());
    }
    head(&mut out, "pagehand_tool_alias_calls_total", "counter", "Calls under a name that a tool had before.");
    for (alias, count) in metrics.aliases() {
        line(&mut out, "pagehand_tool_alias_calls_total", &label_text(&[("alias", alias)]), &count.to_string());
    }
    head(&mut out, "pagehand_tool_unknown_calls_total", "counter", "Calls under names that nobody registered.");
    for (name, count) in metrics.unknown() {
        line(&mut out, "pagehand_tool_unknown_calls_total", &label_text(&[("name", name)]), &count.to_string());
    }
    head(&mut out, "pagehand_jobs_running", "gauge", "Jobs that are at work.");
    line(&mut out, "pagehand_jobs_running", "", &running.to_string());
    out
}

// Writing to a String can not fail.
fn head(out: &mut String, name: &str, kind: &str, help: &str) {
    let _ = write!(out, "# HELP {name} {help}\n# TYPE {name} {kind}\n");
}

fn line(out: &mut String, name: &str, labels: &str, value: &str) {
    let _ = writeln!(out, "{name}{labels} {value}");
}

fn label_text(labels: &[(&str, &str)]) -> String {
    let pairs: Vec<String> = labels.iter().map(|(name, value)| format!("{name}=\"{}\"", escape(value))).collect();
    format!("{{{}}}", pairs.join(","))
}

// A name comes from whoever calls: it must not begin a line of its own.
fn escape(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n").replace('\r', " ")
}
