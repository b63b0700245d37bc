//! Characters that were cut in two: JavaScript counts UTF-16 units, and what streams by them may end one JSON text with the
//! first half of a character (`\ud83d`) and begin the next with the second (`\udc4d`). Neither is JSON by itself to most
//! readers (RFC 8259 §8.2). Knows nothing of what the texts are.

use std::fmt::Write;

/// Puts halves together, over texts that come one after the other.
#[derive(Clone, Debug, Default)]
pub struct Halves {
    first: Option<u16>,
}

impl Halves {
    /// A text whose halves are whole again, or replaced; `None` where it has none, so that nothing about it is mended by
    /// this. A first half is kept for the next text that has a second one without a first; one that nothing follows is left
    /// out, as one that nothing precedes is replaced.
    pub fn mend(&mut self, text: &str) -> Option<String> {
        if !["\\ud", "\\uD"].iter().any(|half| text.contains(half)) {
            return None;
        }
        let mut mended = String::new();
        let mut rest = text;
        let mut found = false;
        while let Some(at) = rest.find('\\') {
            let (before, escape) = rest.split_at(at);
            mended.push_str(before);
            let Some(unit) = unit(escape) else {
                // Another escape, of two characters; a backslash at the very end is for the reader to refuse.
                let length = escape.char_indices().nth(2).map_or(escape.len(), |(end, _)| end);
                mended.push_str(&escape[..length]);
                rest = &escape[length..];
                continue;
            };
            rest = &escape[6..];
            match (unit, self::unit(rest)) {
                (0xd800..=0xdbff, Some(second @ 0xdc00..=0xdfff)) => {
                    push(&mut mended, unit);
                    push(&mut mended, second);
                    rest = &rest[6..];
                }
                (0xd800..=0xdbff, _) => {
                    found = true;
                    self.first = Some(unit);
                }
                (0xdc00..=0xdfff, _) => {
                    found = true;
                    match self.first.take() {
                        Some(first) => {
                            push(&mut mended, first);
                            push(&mut mended, unit);
                        }
                        None => push(&mut mended, 0xfffd),
                    }
                }
                _ => push(&mut mended, unit),
            }
        }
        mended.push_str(rest);
        found.then_some(mended)
    }
}

// The unit of an escape of the form `\uXXXX` at the beginning of a text.
fn unit(text: &str) -> Option<u16> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    // A sign is none.
    let are_digits = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    u16::from_str_radix(digits, 16).ok().filter(|_| are_digits)
}

fn push(text: &mut String, unit: u16) {
    // Writing to a text does not fail.
    let _ = write!(text, "\\u{unit:04x}");
}
