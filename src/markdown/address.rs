//! Bare web addresses in a text: `https://…`, `http://…` and `www.…`.
//!
//! Source: the extended autolinks of GitHub Flavored Markdown 0.29 (section 6.9), without its e-mail addresses. Three things
//! differ. An address ends before the punctuation of Chinese, Japanese and Korean, and so it does where such a letter follows
//! the host's name at once (`https://e.org查看`; in a path it may belong to it). It ends before any closing bracket without
//! a partner, not only a round one. And it needs no space before it.

use crate::markdown::prepare::{HIDDEN_UNDERSCORE, is_cjk};

/// The first bare address in a text: where it begins and where it ends.
pub(super) fn find(text: &str) -> Option<(usize, usize)> {
    let bytes = text.as_bytes();
    for at in 0..bytes.len() {
        let (start, host) = match bytes[at] {
            b'w' if bytes[at..].starts_with(b"www.") => (at, at),
            b':' if bytes[at..].starts_with(b"://") => match scheme_before(text, at) {
                Some(start) => (start, at + 3),
                None => continue,
            },
            _ => continue,
        };
        let glued = |letter: char| {
            letter.is_ascii_alphanumeric() || (start == host && matches!(letter, '.' | '-' | '_' | '/' | '@' | ':'))
        };
        if text[..start].ends_with(glued) {
            continue;
        }
        if let Some(length) = length_of(&text[host..], start == host) {
            return Some((start, host + length));
        }
    }
    None
}

fn scheme_before(text: &str, at: usize) -> Option<usize> {
    let starts = |length: usize, scheme: &str| {
        let start = at.checked_sub(length)?;
        text.get(start..at)?.eq_ignore_ascii_case(scheme).then_some(start)
    };
    starts(5, "https").or_else(|| starts(4, "http"))
}

// From its host's name on; `None` where there is none.
fn length_of(rest: &str, www: bool) -> Option<usize> {
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
    let address = without_tail(&rest[..length]);
    let is_part =
        |letter: char| letter.is_ascii_alphanumeric() || letter > '\u{7f}' || matches!(letter, '-' | '_' | '.');
    let host = &address[..address.find(|letter| !is_part(letter)).unwrap_or(address.len())];
    let mut names = host.rsplit('.');
    let is_name = |name: &str| !name.is_empty() && !name.contains(['_', HIDDEN_UNDERSCORE]);
    let last = names.next().is_some_and(is_name);
    let others = match names.next() {
        Some(name) => is_name(name),
        None => !www,
    };
    (last && others && !host.starts_with('.')).then_some(address.len())
}

// What stands at the end of an address belongs to the sentence that it stands in.
fn without_tail(mut address: &str) -> &str {
    while let Some(last) = address.chars().next_back() {
        let open = match last {
            '?' | '!' | '.' | ',' | ':' | '*' | '_' | '~' | '\'' | '"' => last,
            ')' => '(',
            ']' => '[',
            '}' => '{',
            ';' => {
                // `&hl;` looks like a character reference.
                let name = address[..address.len() - 1].trim_end_matches(|letter: char| letter.is_ascii_alphanumeric());
                address = name
                    .strip_suffix('&')
                    .filter(|rest| rest.len() + 2 < address.len())
                    .unwrap_or(&address[..address.len() - 1]);
                continue;
            }
            _ => break,
        };
        let mut tail = address.len() - address.trim_end_matches(last).len();
        if open != last {
            tail = tail.min(address.matches(last).count().saturating_sub(address.matches(open).count()));
        }
        if tail == 0 {
            break;
        }
        address = &address[..address.len() - tail];
    }
    address
}

fn is_wide_punctuation(letter: char) -> bool {
    matches!(u32::from(letter),
        0x2000..=0x206F | 0x3001..=0x3003 | 0x3008..=0x3020 | 0x3030 | 0x303D | 0xFE10..=0xFE1F | 0xFE30..=0xFE6F
        | 0xFF01..=0xFF0F | 0xFF1A..=0xFF20 | 0xFF3B..=0xFF40 | 0xFF5B..=0xFF65)
}
