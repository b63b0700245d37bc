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

use crate::markdown::address;

/// Stands beside a mark of emphasis and is nothing itself.
const MARK: char = '\u{FDD0}';
// The characters that can be hidden; the first one's stand-in is U+FDD1, and so on.
const HIDDEN: &[u8] = b"\\*_~[<&:-+=#";
// From here on they have a meaning at the beginning of a line alone.
const LINE_MARKS: usize = 8;
/// The first byte of all of them in UTF-8. The second is 0xB7, and the third 0x90 for [`MARK`] and more for the others.
pub(super) const FIRST: u8 = 0xEF;

/// The text for the parser: the same one, where there is nothing to do; and whether it may have a bare address in it.
pub(super) fn prepare(text: &str) -> (Cow<'_, str>, bool) {
    let bytes = text.as_bytes();
    let (mut needed, mut marks, mut wide, mut addresses) = (false, false, false, false);
    for (at, byte) in bytes.iter().enumerate() {
        match *byte {
            b'\\' | b'$' | b'<' | FIRST => needed = true,
            b'*' | b'_' | b'~' => marks = true,
            b':' | b'w' => addresses |= address::begins(bytes, at),
            // Letters of two bytes are none that change anything.
            0xE1.. => wide = true,
            _ => {}
        }
    }
    needed |= marks && (addresses || wide);
    (if needed { Cow::Owned(copy(text)) } else { Cow::Borrowed(text) }, addresses)
}

/// Puts offsets in a text of [`prepare`]'s back to where they are in the original. They have to be in order.
pub(super) fn to_original<T>(prepared: &str, places: &mut [(T, usize)]) {
    let bytes = prepared.as_bytes();
    let (mut at, mut added) = (0, 0);
    for (_, place) in places {
        while at < *place {
            if bytes.get(at) == Some(&FIRST) && byte_at(bytes, at + 1) == 0xB7 {
                added += if byte_at(bytes, at + 2) == 0x90 { 3 } else { 2 };
            }
            at += 1;
        }
        *place -= added;
    }
}

/// A text that came from the parser without the marks; what is hidden stays so.
pub(super) fn without_marks(text: &str) -> Cow<'_, str> {
    if text.as_bytes().contains(&FIRST) { Cow::Owned(put_back(text, false)) } else { Cow::Borrowed(text) }
}

/// A text that came from the parser, as it was written.
pub(super) fn restore(text: &str) -> String {
    // The usual case, and fast: a long block of code is read with every update.
    if text.as_bytes().contains(&FIRST) { put_back(text, true) } else { text.to_owned() }
}

fn put_back(text: &str, hidden: bool) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match HIDDEN.get(u32::from(letter).wrapping_sub(0xFDD1) as usize) {
            Some(byte) if hidden => out.push(char::from(*byte)),
            None if letter == MARK => {}
            _ => out.push(letter),
        }
    }
    out
}

fn copy(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = String::with_capacity(text.len() + 32);
    // Up to where it is copied, and where it is looked at.
    let (mut done, mut at) = (0, 0);
    while let Some(byte) = bytes.get(at).copied() {
        let start = at;
        at += 1;
        // Whether the piece up to `at` is hidden, and whether a mark belongs before it and behind it.
        let (mut hidden, mut before, mut behind) = (false, false, false);
        match byte {
            b'\\' | b'$' => {
                let length = formula_at(bytes, start);
                hidden = length > 0 && !address::covers(bytes, start);
                if hidden {
                    at = start + length;
                } else if byte == b'\\' && byte_at(bytes, at).is_ascii_punctuation() {
                    // What is escaped opens nothing.
                    at += 1;
                }
            }
            b'*' | b'_' | b'~' => {
                while byte_at(bytes, at) == byte {
                    at += 1;
                }
                hidden = address::goes_on(bytes, at) && address::covers(bytes, start);
                if !hidden && (byte == b'*' || (byte == b'~' && at > start + 1)) {
                    let one = piece(text, 0, start).chars().next_back().unwrap_or(' ');
                    let other = piece(text, at, bytes.len()).chars().next().unwrap_or(' ');
                    let wide = is_cjk(one) || is_cjk(other);
                    // What stands beside `|` in a table is judged by its cell.
                    before = wide && one != '|' && !one.is_whitespace();
                    behind = wide && other != '|' && !other.is_whitespace();
                }
            }
            b'<' => before = is_break(bytes, start),
            // Noncharacters of the text's own.
            FIRST if byte_at(bytes, at) == 0xB7 => {
                at += 2;
                hidden = true;
            }
            _ => {}
        }
        if hidden || before || behind {
            out.push_str(piece(text, done, start));
            if before {
                out.push(MARK);
            }
            if hidden {
                hide(piece(text, start, at), &mut out);
            } else {
                out.push_str(piece(text, start, at));
            }
            if behind {
                out.push(MARK);
            }
            done = at;
        }
    }
    out.push_str(piece(text, done, bytes.len()));
    out
}

// Hides every character with a meaning.
fn hide(text: &str, out: &mut String) {
    let mut fresh = false;
    for letter in text.chars() {
        out.push(match HIDDEN.iter().position(|hidden| char::from(*hidden) == letter) {
            Some(at) if fresh || at < LINE_MARKS => char::from_u32(0xFDD1 + at as u32).unwrap_or(letter),
            _ if matches!(letter, MARK..='\u{FDEF}') => '\u{FFFD}',
            _ => letter,
        });
        fresh = letter == '\n' || (fresh && matches!(letter, ' ' | '\t' | '>'));
    }
}

/// Whether `<br>` begins here, in any of its spellings.
pub(super) fn is_break(bytes: &[u8], at: usize) -> bool {
    let is_br = byte_at(bytes, at + 1) | 32 == b'b' && byte_at(bytes, at + 2) | 32 == b'r';
    let end = skip(bytes, at + 3, b" \t\r\n");
    is_br && (byte_at(bytes, end) == b'>' || (byte_at(bytes, end) == b'/' && byte_at(bytes, end + 1) == b'>'))
}

/// Whether it belongs to writing without spaces between words: ideographs, kana, hangul, and their punctuation.
pub(super) fn is_cjk(letter: char) -> bool {
    matches!(u32::from(letter),
        0x1100..=0x11FF | 0x2E80..=0xA4CF | 0xA960..=0xA97F | 0xAC00..=0xD7FF | 0xF900..=0xFAFF | 0xFE10..=0xFE1F
        | 0xFE30..=0xFE6F | 0xFF00..=0xFFEF | 0x1F200..=0x1F2FF | 0x20000..=0x3FFFF)
}

// The next three are called from many places. Written out in each they would bring a check, and a way to panic, every time.

/// The byte here; a line feed behind the end.
#[inline(never)]
pub(super) fn byte_at(bytes: &[u8], at: usize) -> u8 {
    bytes.get(at).copied().unwrap_or(b'\n')
}

/// Where something else than these bytes comes.
#[inline(never)]
pub(super) fn skip(bytes: &[u8], mut at: usize, set: &[u8]) -> usize {
    while at < bytes.len() && set.contains(&byte_at(bytes, at)) {
        at += 1;
    }
    at
}

/// The text between two offsets.
#[inline(never)]
pub(super) fn piece(text: &str, from: usize, to: usize) -> &str {
    text.get(from..to).unwrap_or_default()
}

// ---- formulas ----

// Bytes; what is longer is none.
const LONGEST: usize = 2000;

// The length of the formula that begins here; 0 where none does.
fn formula_at(bytes: &[u8], start: usize) -> usize {
    let (first, second) = (byte_at(bytes, start), byte_at(bytes, start + 1));
    let (size, close) = match (first, second) {
        (b'\\', b'(') => (2, b')'),
        (b'\\', b'[') => (2, b']'),
        (b'$', b'$') => (2, b'$'),
        (b'$', _) => (1, b'$'),
        _ => return 0,
    };
    let inner = start + size;
    // A block: its lines may begin with a sign. Dollars open one only where they have the line to themselves.
    let block = size == 2
        && byte_at(bytes, skip(bytes, inner, b" \t\r")) == b'\n'
        && (close == b']' || (close == b'$' && is_fresh(bytes, start)));
    // A sign that only formulas have, and one that addresses have too.
    let (mut sign, mut weak) = (false, false);
    let (mut letters, mut lettered, mut words, mut digits) = (0, false, false, false);
    let (mut spaces, mut link) = (false, false);
    // Where `**` stands first.
    let mut stars = usize::MAX;
    let mut at = inner;
    while at < bytes.len() {
        let (byte, next) = (byte_at(bytes, at), byte_at(bytes, at + 1));
        if at - start > LONGEST || byte == b'`' {
            return 0;
        }
        if byte == first && (size == 1 || next == close) {
            let is_formula = if block {
                true
            } else if size == 1 {
                // `$x_1$`, but not `$5 and $10`, nor `US$`: no space inside the dollars, neither letter nor digit outside.
                let inside = |at: usize| !byte_at(bytes, at).is_ascii_whitespace();
                let tight = at > inner && inside(inner) && inside(at - 1);
                let joined = start > 0 && byte_at(bytes, start - 1).is_ascii_alphanumeric();
                tight && !joined && !next.is_ascii_alphanumeric() && (!spaces || (sign && stars > at))
            } else if close == b'$' {
                sign && stars > at
            } else if sign || weak {
                lettered || digits
            } else {
                // Nothing but letters that stand alone: `\(x\)`, but not `\[1\]` or `\[see here\]`.
                lettered && !words
            };
            return if is_formula { at + size - start } else { 0 };
        }
        // The bytes behind a letter's first one are none of their own.
        if !(0x80..0xC0).contains(&byte) {
            letters = if byte.is_ascii_alphabetic() || byte >= 0xC0 { letters + 1 } else { 0 };
        }
        lettered |= letters > 0;
        words |= letters > 1;
        digits |= byte.is_ascii_digit();
        match byte {
            b'\\' => {
                sign = true;
                // It begins with the last one that opens it. (`\\[2pt]` is a line's end.)
                if first == b'\\' && next == second {
                    return 0;
                }
                at += usize::from(next.is_ascii_punctuation());
            }
            b'^' | b'_' | b'=' | b'{' | b'+' => sign = true,
            b'<' | b'>' | b'|' | b'/' => weak = true,
            b'*' => {
                weak = true;
                if next == b'*' {
                    stars = stars.min(at);
                }
            }
            b']' => link |= next == b'(' || next == b':',
            b' ' => spaces = true,
            b'\n' if ends_formula(bytes, at + 1, block) => return 0,
            _ => {}
        }
        at += 1;
    }
    // The text ends inside of it. Marks that close others for the moment (`tolerate`) are none of its own.
    let mut end = bytes.len();
    while end > inner && b" \t\r\n*~".contains(&byte_at(bytes, end - 1)) {
        end -= 1;
    }
    if size == 2 && !link && (block || (sign && stars >= end)) { end - start } else { 0 }
}

// Whether its line has only white space, and marks of quotations, up to here.
fn is_fresh(bytes: &[u8], mut at: usize) -> bool {
    while at > 0 && b" \t>".contains(&byte_at(bytes, at - 1)) {
        at -= 1;
    }
    at == 0 || byte_at(bytes, at - 1) == b'\n'
}

// A blank line ends it, and so does whatever begins another block; at the beginning of a line.
fn ends_formula(bytes: &[u8], at: usize, block: bool) -> bool {
    let line = skip(bytes, at, b" \t\r>");
    let behind = skip(bytes, line, b"0123456789");
    let markers: &[u8] = if behind > line { b".)" } else { b"-+*#|" };
    let blank = line < bytes.len() && byte_at(bytes, line) == b'\n';
    blank || skip(bytes, line, b"~") > line + 2 || (!block && markers.contains(&byte_at(bytes, behind)))
}
