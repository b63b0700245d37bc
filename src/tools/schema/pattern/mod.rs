//! Regular expressions as JSON Schema has them (ECMA 262, with the flag `u`), matched in time that grows with the text
//! and never explodes. Knows nothing of schemas.
//!
//! What can not be matched in bounded time (look-around, back-references) and what would bring tables of all the
//! world's letters into a page (`\p{L}`) is refused in words. A library for this, `regex-lite`, is 19 kB brotli in a
//! page; a match alone, without places and captures, needs a fraction of that.

mod matcher;
mod parser;

use std::sync::Arc;

/// A compiled pattern.
#[derive(Clone, Debug)]
pub(super) struct Pattern {
    text: Arc<str>,
    program: Arc<Program>,
}

/// Steps for the matcher; jumps are relative, so that a piece may be copied.
#[derive(Debug, Default)]
struct Program {
    steps: Vec<Step>,
    sets: Vec<Set>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Step {
    /// One character of the set with this number.
    One(usize),
    /// Goes on at both places.
    Fork(isize, isize),
    Jump(isize),
    /// The text's start.
    Start,
    /// The text's end.
    End,
    /// Whether a word begins or ends here.
    Edge(bool),
}

/// Characters, by their numbers.
#[derive(Debug, PartialEq)]
struct Set {
    negated: bool,
    ranges: Vec<Range>,
}

type Range = (u32, u32);

const DIGIT: &[Range] = &[(0x30, 0x39)];
const WORD: &[Range] = &[(0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A)];
const SPACE: &[Range] = &[
    (0x09, 0x0D),
    (0x20, 0x20),
    (0xA0, 0xA0),
    (0x1680, 0x1680),
    (0x2000, 0x200A),
    (0x2028, 0x2029),
    (0x202F, 0x202F),
    (0x205F, 0x205F),
    (0x3000, 0x3000),
    (0xFEFF, 0xFEFF),
];
const LINE_END: &[Range] = &[(0x0A, 0x0A), (0x0D, 0x0D), (0x2028, 0x2029)];
const LAST: u32 = 0x0010_FFFF;

/// Why a pattern is refused.
#[derive(Debug, PartialEq)]
pub(super) enum Refusal {
    /// It is no regular expression.
    Broken(String),
    /// It is one, of a kind that is not matched here.
    Unchecked(String),
}

impl Pattern {
    pub(super) fn new(text: &str) -> Result<Self, Refusal> {
        Ok(Self { text: text.into(), program: Arc::new(parser::parse(text)?) })
    }

    /// Whether the pattern is found anywhere in a text. Each step of the work takes one from `steps`; `None` when they
    /// are used up.
    pub(super) fn is_in(&self, text: &str, steps: &mut u32) -> Option<bool> {
        matcher::is_in(&self.program, text, steps)
    }

    /// As it was written.
    pub(super) fn text(&self) -> &str {
        &self.text
    }
}

fn is_word(letter: Option<char>) -> bool {
    letter.is_some_and(|letter| letter.is_ascii_alphanumeric() || letter == '_')
}
