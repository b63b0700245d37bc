//! Walks all ways through a program at once (K. Thompson, 1968), so no text makes it try one after another.

use super::{Program, Set, Step, is_word};

pub(super) fn is_in(program: &Program, text: &str, budget: &mut u32) -> Option<bool> {
    let seen = vec![0; program.steps.len() + 1];
    let mut threads = Threads { program, here: Vec::new(), stack: Vec::new(), seen, mark: 0, visits: 0 };
    let mut waiting: Vec<usize> = Vec::new();
    let anchored = program.steps.first() == Some(&Step::Start);
    let mut letters = text.chars();
    let mut before = None;
    loop {
        let next = letters.clone().next();
        threads.mark += 1;
        threads.here.clear();
        // A match may start at every place, unless it must at the first.
        if before.is_none() || !anchored {
            waiting.push(0);
        } else if waiting.is_empty() {
            return Some(false);
        }
        for at in waiting.drain(..) {
            if threads.add(at, before, next) {
                return Some(true);
            }
        }
        *budget = budget.checked_sub(std::mem::take(&mut threads.visits))?;
        let Some(letter) = letters.next() else { return Some(false) };
        for &at in &threads.here {
            if let Step::One(set) = program.steps[at]
                && program.sets[set].has(letter)
            {
                waiting.push(at + 1);
            }
        }
        before = Some(letter);
    }
}

struct Threads<'a> {
    program: &'a Program,
    // The steps that wait for a character.
    here: Vec<usize>,
    stack: Vec<usize>,
    // At which character a step was last reached.
    seen: Vec<u32>,
    mark: u32,
    visits: u32,
}

impl Threads<'_> {
    // Follows all steps that take no character; true where one way is at its end.
    fn add(&mut self, at: usize, before: Option<char>, next: Option<char>) -> bool {
        self.stack.push(at);
        while let Some(at) = self.stack.pop() {
            if std::mem::replace(&mut self.seen[at], self.mark) == self.mark {
                continue;
            }
            self.visits += 1;
            let go = |by: isize| at.wrapping_add_signed(by);
            let Some(step) = self.program.steps.get(at) else { return true };
            let fits = match *step {
                Step::One(_) => {
                    self.here.push(at);
                    false
                }
                Step::Fork(one, other) => {
                    self.stack.extend([go(other), go(one)]);
                    false
                }
                Step::Jump(by) => {
                    self.stack.push(go(by));
                    false
                }
                Step::Start => before.is_none(),
                Step::End => next.is_none(),
                Step::Edge(wanted) => (is_word(before) != is_word(next)) == wanted,
            };
            if fits {
                self.stack.push(at + 1);
            }
        }
        false
    }
}

impl Set {
    fn has(&self, letter: char) -> bool {
        let letter = u32::from(letter);
        self.ranges.iter().any(|(first, last)| (*first..=*last).contains(&letter)) != self.negated
    }
}
