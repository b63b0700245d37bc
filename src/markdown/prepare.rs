//! The text as the parser is given it, so that it reads some things as people mean them.
//!
//! `pulldown-cmark` follows CommonMark to the letter. Where an answer of a model means something else, the parser is given
//! a copy of the text with noncharacters in it (U+FDD0 to U+FDDF, which no text may hold), and [`restore`] takes them out
//! of whatever comes back:
//!
//! | in the text | CommonMark reads | so in the copy |
//! |---|---|---|
//! | `**注意：**请` | asterisks, since a closing mark behind punctuation wants a space behind it | [`MARK`] between the mark and its neighbour, which is a letter to the parser |
//! | `<br>` alone on a line | a block of raw HTML | `MARK` before it: a line break in a paragraph |
//! | `\( a_1 \)`, `$$ … $$` | escapes, emphasis, links | every character with a meaning is hidden behind one without |
//! | `https://e.org/__init__.py` | strong emphasis | the marks inside are hidden |
//!
//! The first rule is the proposal "CommonMark CJK-friendly emphasis". A formula needs a partner for what opens it before
//! the next blank line, or the text ends in it; and it has to look like one: `\[1\]` and `\[see here\]` are escapes.

use std::borrow::Cow;

/// Stands beside a mark of emphasis and is nothing itself.
const MARK: char = '\u{FDD0}';
// The characters that can be hidden; the first one's stand-in is U+FDD1, and so on.
const HIDDEN: &[u8] = b"\\*_~[<&:-+=#";

/// What stands for `_` where it is hidden.
pub(super) const HIDDEN_UNDERSCORE: char = '\u{FDD3}';

/// A text for the parser.
pub(super) struct Prepared<'a> {
    pub(super) text: Cow<'a, str>,
    // Up to where offsets have been translated, in the text and in the original.
    done: (usize, usize),
}

/// The text for the parser: the same one, where there is nothing to do.
pub(super) fn prepare(text: &str) -> Prepared<'_> {
    let bytes = text.as_bytes();
    let marks = bytes.iter().any(|byte| matches!(byte, b'*' | b'_' | b'~'));
    let needed =
        bytes.iter().any(|byte| matches!(byte, b'\\' | b'$' | b'<') || (*byte >= 0xE1 && marks) || *byte == 0xEF)
            || (marks && (text.contains("://") || text.contains("www.")));
    let text = if needed { Cow::Owned(copy(text)) } else { Cow::Borrowed(text) };
    Prepared { text, done: (0, 0) }
}

impl Prepared<'_> {
    /// The offset in the original of an offset in the text. They have to come in order.
    pub(super) fn original(&mut self, offset: usize) -> usize {
        let (from, at) = self.done;
        let Some(between) = self.text.get(from..offset) else { return at };
        let added: usize =
            between.chars().map(|letter| if letter == MARK { 3 } else { 2 * usize::from(is_stand_in(letter)) }).sum();
        self.done = (offset, at + between.len() - added);
        self.done.1
    }
}

fn is_stand_in(letter: char) -> bool {
    hidden_by(letter).is_some()
}

fn hidden_by(letter: char) -> Option<char> {
    let at = u32::from(letter).checked_sub(0xFDD1)?;
    HIDDEN.get(at as usize).map(|byte| char::from(*byte))
}

fn stand_in(letter: char) -> Option<char> {
    let at = HIDDEN.iter().position(|byte| char::from(*byte) == letter)?;
    char::from_u32(0xFDD1 + at as u32)
}

/// A text that came from the parser without the marks; what is hidden stays so.
pub(super) fn without_marks(text: &str) -> Cow<'_, str> {
    if text.contains(MARK) { Cow::Owned(text.replace(MARK, "")) } else { Cow::Borrowed(text) }
}

/// A text that came from the parser, as it was written.
pub(super) fn restore(text: &str) -> String {
    text.chars().filter(|letter| *letter != MARK).map(|letter| hidden_by(letter).unwrap_or(letter)).collect()
}

fn copy(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 32);
    let mut before = '\n';
    let mut at = 0;
    // Up to where a formula goes; and whether only white space has come since its line began.
    let (mut formula, mut fresh) = (0, true);
    let mut address = Address::default();
    while let Some(letter) = text[at..].chars().next() {
        let rest = &text[at..];
        let mut step = letter.len_utf8();
        if at >= formula && !address.inside {
            formula = formula_at(rest, before, fresh).map_or(0, |length| at + length);
        }
        address.take(rest, letter, before);
        if u32::from(letter).wrapping_sub(0xFDD0) < 0x20 {
            out.push('\u{FFFD}');
        } else if at < formula {
            let hides = fresh || !matches!(letter, '-' | '+' | '=' | '#');
            out.push(stand_in(letter).filter(|_| hides).unwrap_or(letter));
        } else if letter == '*' || letter == '~' || letter == '_' {
            step = rest.len() - rest.trim_start_matches(letter).len();
            let behind = rest[step..].chars().next().unwrap_or('\n');
            if address.goes_on(&rest[step..]) {
                out.extend((0..step).filter_map(|_| stand_in(letter)));
            } else {
                let can = before != '\\' && letter != '_' && (letter == '*' || step > 1);
                let beside = |one: char, other: char| {
                    can && !one.is_whitespace() && one != '|' && (is_cjk(one) || is_cjk(other))
                };
                if beside(before, behind) {
                    out.push(MARK);
                }
                out.push_str(&rest[..step]);
                if beside(behind, before) {
                    out.push(MARK);
                }
            }
        } else {
            if letter == '<'
                && before != '\\'
                && rest.get(1..3).is_some_and(|name| name.eq_ignore_ascii_case("br"))
                && is_break(rest.split_inclusive('>').next().unwrap_or_default())
            {
                out.push(MARK);
            }
            out.push(letter);
        }
        fresh = letter == '\n' || (fresh && matches!(letter, ' ' | '\t' | '>'));
        // An escaped backslash escapes nothing.
        before = if letter == '\\' && before == '\\' { ' ' } else { letter };
        at += step;
    }
    out
}

/// Whether a piece of raw HTML is `<br>`, in any of its spellings.
pub(super) fn is_break(html: &str) -> bool {
    let inner = html.trim().strip_prefix('<').and_then(|rest| rest.strip_suffix('>'));
    inner.is_some_and(|inner| inner.trim_end_matches('/').trim_end().eq_ignore_ascii_case("br"))
}

/// Whether it belongs to writing without spaces between words: ideographs, kana, hangul, and their punctuation.
pub(super) fn is_cjk(letter: char) -> bool {
    matches!(u32::from(letter),
        0x1100..=0x11FF | 0x2E80..=0xA4CF | 0xA960..=0xA97F | 0xAC00..=0xD7FF | 0xF900..=0xFAFF | 0xFE10..=0xFE1F
        | 0xFE30..=0xFE6F | 0xFF00..=0xFFEF | 0x1F200..=0x1F2FF | 0x20000..=0x3FFFF)
}

// ---- bare addresses ----

/// Where in a bare address a place is.
#[derive(Default)]
struct Address {
    inside: bool,
    depth: usize,
}

impl Address {
    fn take(&mut self, rest: &str, letter: char, before: char) {
        let begins = (letter == ':' && rest.starts_with("://")) || (letter == 'w' && rest.starts_with("www."));
        if begins && before.is_ascii_alphanumeric() == (letter == ':') {
            (self.inside, self.depth) = (true, 0);
        }
        match letter {
            '(' | '[' => self.depth += 1,
            ')' | ']' if self.depth > 0 => self.depth -= 1,
            ')' | ']' | '<' | '>' | '"' | '`' | '|' => self.inside = false,
            _ if letter.is_whitespace() || is_cjk(letter) => self.inside = false,
            _ => {}
        }
    }

    // Whether a mark belongs to the address: more of it follows.
    fn goes_on(&self, rest: &str) -> bool {
        let more =
            rest.trim_start_matches(|letter: char| letter.is_ascii_punctuation() && !"<>()[]\"`|".contains(letter));
        self.inside && more.starts_with(|letter: char| letter.is_ascii_alphanumeric())
    }
}

// ---- formulas ----

// Bytes; what is longer is none.
const LONGEST: usize = 4000;

// The length of the formula that begins here; `fresh`: at the beginning of a line.
fn formula_at(rest: &str, before: char, fresh: bool) -> Option<usize> {
    let (open, close) = match rest.as_bytes() {
        [b'\\', b'(', ..] => ("\\(", "\\)"),
        [b'\\', b'[', ..] => ("\\[", "\\]"),
        [b'$', b'$', ..] => ("$$", "$$"),
        [b'$', ..] => ("$", "$"),
        _ => return None,
    };
    if before == '\\' {
        return None;
    }
    let whole = &rest[open.len()..];
    let mut longest = whole.len().min(LONGEST);
    while !whole.is_char_boundary(longest) {
        longest -= 1;
    }
    let inside = &whole[..longest];
    // A block: its lines may begin with a sign. Dollars open one only where they have the line to themselves.
    let block =
        (open == "\\[" || (open == "$$" && fresh)) && inside.trim_start_matches([' ', '\t', '\r']).starts_with('\n');
    let Some(length) = inside.find(close) else {
        // Only where the text ends inside of it. Marks that close others for the moment (`tolerate`) are none of its own.
        if longest < whole.len()
            || open == "$"
            || !is_one(inside, block)
            || inside.contains("](")
            || inside.contains("]:")
        {
            return None;
        }
        let begun = inside.trim_end().trim_end_matches(['*', '~']);
        return (block || has_sign(begun)).then_some(open.len() + begun.len());
    };
    let inner = &inside[..length];
    let is_formula = is_one(inner, block)
        && match open {
            "$" => in_dollars(inner, before, &whole[length + 1..]),
            _ if block => true,
            "$$" => has_sign(inner),
            // It begins with the last one that opens it; `\\[2pt]` is a line's end.
            _ => !opens_again(inner, open) && is_formula(inner),
        };
    is_formula.then_some(length + 2 * open.len())
}

// Whether it stays in one paragraph, without code in it.
fn is_one(inner: &str, block: bool) -> bool {
    !inner.contains('`') && !inner.match_indices('\n').any(|(at, _)| ends_formula(&inner[at + 1..], block))
}

fn opens_again(inner: &str, open: &str) -> bool {
    inner.match_indices(open).any(|(at, _)| !inner[..at].ends_with('\\'))
}

// A blank line ends it, and so does whatever begins another block; at the beginning of `rest`.
fn ends_formula(rest: &str, block: bool) -> bool {
    let line = rest.trim_start_matches([' ', '\t', '\r', '>']);
    let marker = line.trim_start_matches(|letter: char| letter.is_ascii_digit());
    let marker =
        marker.len() < line.len() && marker.starts_with(['.', ')']) || line.starts_with(['-', '+', '*', '#', '|']);
    line.starts_with('\n') || line.starts_with("~~~") || (!block && marker)
}

// `$x_1$`, but not `$5 and $10`, nor `US$`: no space inside the dollars, and neither letter nor digit outside.
fn in_dollars(inner: &str, before: char, behind: &str) -> bool {
    let loose = inner.is_empty()
        || inner.starts_with(char::is_whitespace)
        || inner.ends_with(|letter: char| letter.is_whitespace() || letter == '\\')
        || before.is_ascii_alphanumeric()
        || behind.starts_with(|letter: char| letter.is_ascii_alphanumeric());
    !loose && (has_sign(inner) || !inner.contains(' '))
}

// Whether it has what prose has not.
fn has_sign(inner: &str) -> bool {
    inner.contains(['\\', '^', '_', '=', '{', '+']) && !inner.contains("**")
}

// A formula has a sign of one, or nothing but letters that stand alone: `\(x\)`, but not `\[1\]` or `\[see here\]`.
fn is_formula(inner: &str) -> bool {
    let words = || {
        inner.split(|letter: char| letter.is_ascii() && !letter.is_ascii_alphabetic()).filter(|word| !word.is_empty())
    };
    let sign = inner.contains(['\\', '^', '_', '=', '+', '<', '>', '{', '|', '*', '/']);
    (sign && inner.contains(|letter: char| letter.is_ascii_alphanumeric() || !letter.is_ascii()))
        || (words().next().is_some() && words().all(|word| word.chars().count() == 1))
}
