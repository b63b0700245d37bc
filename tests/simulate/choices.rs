//! Where every decision of a simulated world comes from: a seed, or the decisions of an earlier run. Choice 0 is always
//! the calmest: a list that has run out brings the world to rest.

use std::cell::{Cell, RefCell};

/// A source of decisions that remembers them.
pub(crate) struct Choices {
    state: Cell<u64>,
    script: Option<Vec<u32>>,
    made: RefCell<Vec<u32>>,
}

impl Choices {
    pub(crate) fn seeded(seed: u64) -> Self {
        Self { state: Cell::new(seed), script: None, made: RefCell::default() }
    }

    pub(crate) fn scripted(script: &[u32]) -> Self {
        Self { state: Cell::new(0), script: Some(script.to_vec()), made: RefCell::default() }
    }

    /// One of `of` ways, the calmest being 0.
    pub(crate) fn pick(&self, of: u32) -> u32 {
        let choice = match &self.script {
            Some(script) => script.get(self.made.borrow().len()).copied().unwrap_or(0) % of,
            None => (self.next() >> 33) as u32 % of,
        };
        self.made.borrow_mut().push(choice);
        choice
    }

    /// Whether the one way in `of` that is not calm is taken.
    pub(crate) fn once_in(&self, of: u32) -> bool {
        self.pick(of) == of - 1 && of > 1
    }

    pub(crate) fn made(&self) -> Vec<u32> {
        self.made.borrow().clone()
    }

    // SplitMix64.
    fn next(&self) -> u64 {
        let state = self.state.get().wrapping_add(0x9E37_79B9_7F4A_7C15);
        self.state.set(state);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }
}

/// The shortest list that still fails, as far as leaving out and calming down finds it.
pub(crate) fn shrink(mut choices: Vec<u32>, fails: impl Fn(&[u32]) -> bool) -> Vec<u32> {
    let mut size = choices.len().div_ceil(2);
    while size > 0 {
        let mut at = 0;
        while at < choices.len() {
            let end = (at + size).min(choices.len());
            let mut shorter = choices.clone();
            shorter.drain(at..end);
            let mut calmer = choices.clone();
            calmer[at..end].fill(0);
            if fails(&shorter) {
                choices = shorter;
            } else if calmer != choices && fails(&calmer) {
                choices = calmer;
                at = end;
            } else {
                at = end;
            }
        }
        size /= 2;
    }
    while choices.last() == Some(&0) {
        choices.pop();
    }
    choices
}
