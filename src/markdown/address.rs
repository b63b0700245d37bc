//! Bare web addresses in a text: `https://…`, `http://…` and `www.…`.
//!
//! Source: the extended autolinks of GitHub Flavored Markdown 0.29 (section 6.9), without its e-mail addresses. Three things
//! differ. An address ends before the punctuation of Chinese, Japanese and Korean, and so it does where such a letter follows
//! the host's name at once (`https://e.org查看`; in a path it may belong to it). It ends before any closing bracket without
//! a partner, not only a round one. And it needs no space before it.

use crate::markdown::prepare::{FIRST, byte_at, is_cjk, piece, skip};

/// Whether what tells an address stands here.
#[inline(never)]
pub(super) fn begins(bytes: &[u8], at: usize) -> bool {
    bytes.get(at..).is_some_and(|rest| rest.starts_with(b"://") || rest.starts_with(b"www."))
}

/// The first bare address in a text from a place on: where it begins and where it ends.
pub(super) fn find(text: &str, from: usize) -> Option<(usize, usize)> {
    let bytes = text.as_bytes();
    for at in from..bytes.len() {
        if !begins(bytes, at) {
            continue;
        }
        let www = byte_at(bytes, at) == b'w';
        let (start, host) = if www { (at, at) } else { (at - scheme_before(text, at), at + 3) };
        let before = if start > from { byte_at(bytes, start - 1) } else { b' ' };
        let glued = before.is_ascii_alphanumeric() || (www && b".-_/@:".contains(&before));
        if glued || (start == at && !www) {
            continue;
        }
        let length = length_of(piece(text, host, bytes.len()), www);
        if length > 0 {
            return Some((start, host + length));
        }
    }
    None
}

// The length of the scheme in front of a place; 0 where there is none.
fn scheme_before(text: &str, at: usize) -> usize {
    let secure = usize::from(at > 0 && byte_at(text.as_bytes(), at - 1) | 32 == b's');
    let scheme = piece(text, at.wrapping_sub(4 + secure), at - secure);
    if scheme.eq_ignore_ascii_case("http") { 4 + secure } else { 0 }
}

// Bytes before a mark that may belong to the same address.
const LOOKED_BACK: usize = 500;

/// Whether a bare address goes on up to here. Behind a closing bracket, or letters that are not ASCII, it is taken to be over.
pub(super) fn covers(bytes: &[u8], at: usize) -> bool {
    let mut from = at;
    while from > 0 && at - from < LOOKED_BACK {
        from -= 1;
        let byte = byte_at(bytes, from);
        if !byte.is_ascii_graphic() || b"<>\"`|)]".contains(&byte) {
            return false;
        }
        if begins(bytes, from) {
            return true;
        }
    }
    false
}

/// Whether a mark in front of this may belong to an address: more of one follows.
pub(super) fn goes_on(bytes: &[u8], at: usize) -> bool {
    byte_at(bytes, skip(bytes, at, b"!#$%&'*+,-./:;=?@\\^_{}~")).is_ascii_alphanumeric()
}

// From its host's name on; 0 where there is none.
fn length_of(rest: &str, www: bool) -> usize {
    let (mut length, mut in_host, mut before) = (0, true, ' ');
    for (at, letter) in rest.char_indices() {
        in_host &= !matches!(letter, '/' | '?' | '#');
        let other_script = in_host && is_cjk(letter) && before.is_ascii_alphanumeric();
        if letter == '<' || letter.is_whitespace() || other_script || is_wide_punctuation(letter) {
            break;
        }
        before = letter;
        length = at + letter.len_utf8();
    }
    let bytes = rest.as_bytes();
    let length = without_tail(bytes, length);
    // The last two names of a host are not empty and have no `_`, not even a hidden one. One is enough where a scheme says
    // what it is.
    let (mut last, mut other) = (false, !www);
    let mut fresh = true;
    for at in 0..length {
        let byte = byte_at(bytes, at);
        match byte {
            b'.' => (other, last, fresh) = (last, false, true),
            b'_' | FIRST => (last, fresh) = (false, false),
            _ if byte.is_ascii_alphanumeric() || byte == b'-' || byte >= 0x80 => (last, fresh) = (last || fresh, false),
            _ => break,
        }
    }
    if last && other { length } else { 0 }
}

// What stands at the end of an address belongs to the sentence that it stands in.
fn without_tail(bytes: &[u8], mut length: usize) -> usize {
    while length > 0 {
        let last = byte_at(bytes, length - 1);
        let open = match last {
            b'?' | b'!' | b'.' | b',' | b':' | b'*' | b'_' | b'~' | b'\'' | b'"' => 0,
            b')' => b'(',
            b']' => b'[',
            b'}' => b'{',
            b';' => {
                // `&hl;` looks like a character reference.
                let mut name = length - 1;
                while name > 0 && byte_at(bytes, name - 1).is_ascii_alphanumeric() {
                    name -= 1;
                }
                length = if name > 0 && name < length - 1 && byte_at(bytes, name - 1) == b'&' { name } else { length };
                length -= 1;
                continue;
            }
            _ => break,
        };
        // As many closing brackets as nothing opens.
        let mut surplus = if open == 0 { 1 } else { 0_isize };
        for at in 0..if open == 0 { 0 } else { length } {
            let byte = byte_at(bytes, at);
            surplus += isize::from(byte == last) - isize::from(byte == open);
        }
        if surplus <= 0 {
            break;
        }
        while surplus > 0 && length > 0 && byte_at(bytes, length - 1) == last {
            (surplus, length) = (surplus - 1, length - 1);
        }
    }
    length
}

fn is_wide_punctuation(letter: char) -> bool {
    matches!(u32::from(letter),
        0x2000..=0x206F | 0x3001..=0x3003 | 0x3008..=0x3020 | 0x3030 | 0x303D | 0xFE10..=0xFE1F | 0xFE30..=0xFE6F
        | 0xFF01..=0xFF0F | 0xFF1A..=0xFF20 | 0xFF3B..=0xFF40 | 0xFF5B..=0xFF65)
}
