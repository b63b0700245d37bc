//! A model call that is put off: it failed and is made again, or there is no network. What is sent again is the very
//! request that was sent before, so that no tool's result is asked for or made up twice. Part of the machine; knows
//! nothing of who carries anything out.
//!
//! | it broke off | then |
//! |---|---|
//! | and the agent behind the wire had run a tool for it | the run ends: that must not happen twice |
//! | because the connection was lost, while the browser says that it is offline | it waits for the network; not counted |
//! | in a way that asking again may help, with tries left and a bearable wait | it is asked again after the wait |
//! | otherwise | the run ends, and the user may try again |

use crate::agent::run::{Active, Phase, Run};
use crate::agent::stream::Stream;
use crate::protocol::{EndReason, Event, MessageStatus, Millis, ModelError, ModelErrorKind, Wait};
use crate::wire::backoff::{probe_ms, wait_ms};

// How long a step waits for the tools behind a gateway.
const TOOLS_MS: Millis = 8000;

/// A model call that is put off.
#[derive(Debug)]
pub(super) struct Waiting {
    /// When it is made, should nothing else happen.
    pub(super) until: Millis,
    /// The other side has asked not to be asked before this.
    not_before: Millis,
    /// The try it was put off for before the network went; `None` for the first.
    retry: Option<Wait>,
    /// Whether its step has not begun: the tools it may call are not known yet.
    before_step: bool,
}

enum Next {
    Retry,
    Network,
}

impl Run {
    /// Whether a model call that fails like this now is made again. Nobody else need answer in its place.
    #[must_use]
    pub fn will_retry(&self, error: &ModelError) -> bool {
        match &self.phase {
            Phase::Streaming(active, stream) => self.next(active, stream, Some(error)).is_some(),
            Phase::Idle | Phase::Waiting(..) | Phase::Settling(..) | Phase::Interrupted(_) => false,
        }
    }

    /// Asks the model, once there is a network.
    pub(super) fn send(&mut self, active: Active) {
        if self.online { self.call_model(active) } else { self.wait_for_network(active, 0, None) }
    }

    /// Decides what becomes of an answer that did not come to its end; without an error it was cut.
    pub(super) fn broke_off(&mut self, mut active: Active, stream: Stream, error: Option<ModelError>) {
        let next = self.next(&active, &stream, error.as_ref());
        let status = if next.is_some() { MessageStatus::Superseded } else { MessageStatus::Truncated };
        self.keep_broken(&active.tools, stream.draft, status);
        match next {
            None => self.close(active, error.map_or(EndReason::Truncated, EndReason::Error)),
            Some(Next::Network) => {
                active.silences = 0;
                self.wait_for_network(active, 0, None);
            }
            Some(Next::Retry) => {
                active.tries += 1;
                self.wait_to_retry(active, error);
            }
        }
    }

    fn next(&self, active: &Active, stream: &Stream, error: Option<&ModelError>) -> Option<Next> {
        let limits = &self.config.limits;
        if stream.draft.agent_ran() {
            return None;
        }
        if !self.online && error.is_none_or(|error| error.kind == ModelErrorKind::Network) {
            return Some(Next::Network);
        }
        let may_help = error.is_none_or(|error| {
            error.is_retryable() && error.retry_after_ms.is_none_or(|stated| stated <= limits.max_wait_ms)
        });
        // Silence is long enough to have been waited for twice.
        let patient = active.silences < 2;
        (may_help && patient && active.tries < limits.max_retries).then_some(Next::Retry)
    }

    fn wait_to_retry(&mut self, active: Active, error: Option<ModelError>) {
        let stated = error.as_ref().and_then(|error| error.retry_after_ms).unwrap_or(0);
        let until = self.at.saturating_add(wait_ms(active.tries, stated, |bound| self.mint.below(bound)));
        let words = error.as_ref().map_or("The answer broke off before its end.", |error| &error.message);
        self.note(format!("{words} The model is asked again in {} ms.", until - self.at));
        let why = Wait::Retry { attempt: active.tries, of: self.config.limits.max_retries, error };
        self.event(Event::Waiting { until, why: why.clone() });
        let not_before = if stated > 0 { until } else { 0 };
        self.phase = Phase::Waiting(active, Waiting { until, not_before, retry: Some(why), before_step: false });
    }

    /// Begins no step before the tools are known, nor waits for them for long.
    pub(super) fn wait_for_tools(&mut self, active: Active) {
        let until = self.at.saturating_add(TOOLS_MS);
        self.phase = Phase::Waiting(active, Waiting { until, not_before: 0, retry: None, before_step: true });
    }

    /// Whether more tools are being asked for.
    pub(super) fn take_listing(&mut self, listing: bool) {
        self.listing = listing;
        if !listing && std::mem::take(&mut self.resumes) {
            self.resume();
        }
        if !listing && matches!(&self.phase, Phase::Waiting(_, waiting) if waiting.before_step) {
            self.wait_no_longer();
        }
    }

    fn wait_for_network(&mut self, mut active: Active, not_before: Millis, retry: Option<Wait>) {
        let until = self.at.saturating_add(probe_ms(active.probes)).max(not_before);
        active.probes = active.probes.saturating_add(1);
        self.event(Event::Waiting { until, why: Wait::Offline });
        self.phase = Phase::Waiting(active, Waiting { until, not_before, retry, before_step: false });
    }

    /// What the browser says of the network. It is a hint: a model that answers proves it wrong.
    pub(super) fn take_online(&mut self, online: bool) {
        if std::mem::replace(&mut self.online, online) == online {
            return;
        }
        if let Phase::Streaming(_, stream) = &mut self.phase {
            stream.probe &= !online;
        }
        if matches!(&self.phase, Phase::Waiting(_, waiting) if waiting.before_step) {
            return;
        }
        let Some((mut active, Waiting { not_before, retry, .. })) = self.take_waiting() else { return };
        if !online {
            return self.wait_for_network(active, not_before, retry);
        }
        active.probes = 0;
        match retry {
            Some(why) if not_before > self.at => {
                self.event(Event::Waiting { until: not_before, why: why.clone() });
                let waiting = Waiting { until: not_before, not_before, retry: Some(why), before_step: false };
                self.phase = Phase::Waiting(active, waiting);
            }
            _ => self.call_model(active),
        }
    }

    /// Makes the call now: its time has come, or the user says so.
    pub(super) fn wait_no_longer(&mut self) {
        match self.take_waiting() {
            Some((active, waiting)) if waiting.before_step => {
                self.listing = false;
                self.step(active);
            }
            Some((active, _)) => self.call_model(active),
            None => {}
        }
    }

    fn take_waiting(&mut self) -> Option<(Active, Waiting)> {
        match std::mem::replace(&mut self.phase, Phase::Idle) {
            Phase::Waiting(active, waiting) => Some((active, waiting)),
            other => {
                self.phase = other;
                None
            }
        }
    }
}
