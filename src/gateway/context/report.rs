//! What running work says of itself: how far it is, and lines for a log. Knows nothing of who listens.

use serde_json::{Value, json};
use tokio::sync::mpsc;
use tracing::{debug, error, info, warn};

use crate::gateway::jobs::JobEntry;

/// How much a line of a log matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// For whoever looks for a fault.
    Debug,
    /// As it should be.
    Info,
    /// Not as it should be.
    Warn,
    /// Wrong.
    Error,
}

impl Level {
    /// The word used on wires.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Debug => "debug",
            Self::Info => "info",
            Self::Warn => "warn",
            Self::Error => "error",
        }
    }
}

/// How far work is.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Progress {
    fraction: Option<f64>,
    text: String,
}

/// One thing said.
#[derive(Clone, Debug)]
pub(crate) enum Report {
    Progress(Progress),
    Log { level: Level, text: String },
}

/// Where it is said.
#[derive(Clone)]
pub(crate) enum Reporter {
    Nobody,
    /// A call's stream; what does not fit is lost, so that a slow reader holds no tool up.
    Call(mpsc::Sender<Report>),
    Job(std::sync::Arc<JobEntry>),
}

const MAX_TEXT: usize = 500;

impl Progress {
    pub(crate) fn new(fraction: Option<f64>, text: &str) -> Self {
        let fraction = fraction.filter(|fraction| fraction.is_finite()).map(|fraction| fraction.clamp(0.0, 1.0));
        Self { fraction, text: short(text) }
    }

    pub(crate) fn to_json(&self) -> Value {
        json!({ "fraction": self.fraction, "text": self.text })
    }
}

impl Report {
    /// The event's name and its data.
    pub(crate) fn to_event(&self) -> (&'static str, Value) {
        match self {
            Self::Progress(progress) => ("progress", progress.to_json()),
            Self::Log { level, text } => ("log", json!({ "level": level.as_str(), "text": text })),
        }
    }
}

impl Reporter {
    pub(crate) fn progress(&self, progress: Progress) {
        match self {
            Self::Nobody => {}
            Self::Call(listener) => drop(listener.try_send(Report::Progress(progress))),
            Self::Job(job) => job.set_progress(progress),
        }
    }

    pub(crate) fn log(&self, tool: &str, level: Level, text: &str) {
        match level {
            Level::Debug => debug!(tool, "{text}"),
            Level::Info => info!(tool, "{text}"),
            Level::Warn => warn!(tool, "{text}"),
            Level::Error => error!(tool, "{text}"),
        }
        if let Self::Call(listener) = self {
            let _ = listener.try_send(Report::Log { level, text: short(text) });
        }
    }
}

fn short(text: &str) -> String {
    text.chars().take(MAX_TEXT).collect()
}
