//! Where a thread can be read from without reading all of it. Part of the machine; knows nothing of where lines are kept.
//!
//! Between two runs a checkpoint says what a reader must know of everything before it. A machine that was restored from
//! one shows the thread's end at once, and asks for the rest before the first thing that needs it: a model call is made
//! of the whole thread.

use crate::agent::run::Run;
use crate::agent::{Input, Output, Transcript};
use crate::protocol::{Checkpoint, EndReason, Entry, Lifetime};

/// Lines between two checkpoints that suit a page: reading so many costs less than a look at a panel takes.
pub const CHECKPOINT_LINES: u32 = 120;

impl Run {
    /// Writes a checkpoint where one is due and the thread rests: the last answer is whole, and everything is told.
    pub(super) fn mark(&mut self, reason: &EndReason) {
        if self.lines < self.config.checkpoint_lines || *reason != EndReason::Completed || !self.untold.is_empty() {
            return;
        }
        let checkpoint = self.checkpoint();
        self.save(Entry::Checkpoint(checkpoint));
        self.lines = 0;
    }

    /// What a reader must know of everything so far; between two runs.
    #[must_use]
    pub fn checkpoint(&self) -> Checkpoint {
        let mut state = self.state.values().clone();
        state.retain(|key| Lifetime::of(key) == Lifetime::Thread);
        Checkpoint { state, jobs: self.jobs.iter().map(|one| one.job.clone()).collect() }
    }

    /// Holds back what needs the whole thread until it is there.
    pub(super) fn wait_for_whole(&mut self, input: Input) -> Option<Input> {
        let Some(waiting) = &mut self.waiting else { return Some(input) };
        let needs = matches!(input, Input::UserMessage(_) | Input::Resume | Input::Retry | Input::ToolOutcome { .. });
        if !needs {
            return Some(input);
        }
        if waiting.is_empty() {
            self.outputs.push_back(Output::LoadEarlier);
        }
        waiting.push(input);
        None
    }

    /// Takes the lines before the checkpoint, and what waited for them.
    pub(super) fn take_earlier(&mut self, entries: &[Entry]) {
        let Some(waiting) = self.waiting.take() else { return };
        self.transcript.prepend(Transcript::of(entries));
        for input in waiting {
            self.handle(self.at, input);
        }
    }
}

/// Whether lines were left out before these.
pub(super) fn starts_at_checkpoint(entries: &[Entry]) -> bool {
    matches!(entries.first(), Some(Entry::Checkpoint(_)))
}

pub(super) fn lines_since_checkpoint(entries: &[Entry]) -> u32 {
    let since = entries.iter().rev().take_while(|entry| !matches!(entry, Entry::Checkpoint(_)));
    since.count() as u32
}
