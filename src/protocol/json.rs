//! JSON read from a text, with a fault that says what is wrong. Knows nothing of what it is for.

use std::fmt;

use serde_json::Value;

/// How deep JSON may be nested: the reader's own bound, which keeps a hostile text from using up the stack.
pub const MAX_DEPTH: usize = 127;

/// Why a text can not be read; its words are the rest of a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JsonFault {
    /// It is nested deeper than [`MAX_DEPTH`] levels.
    TooDeep,
    /// It is no JSON, and why.
    Invalid(String),
}

impl fmt::Display for JsonFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooDeep => write!(f, "nested deeper than {MAX_DEPTH} levels"),
            Self::Invalid(why) => f.write_str(why),
        }
    }
}

/// Reads a text.
///
/// # Errors
/// What is wrong with it.
pub fn parse_json(text: &str) -> Result<Value, JsonFault> {
    serde_json::from_str(text).map_err(|why| {
        let too_deep = depth(text.as_bytes()) > MAX_DEPTH;
        if too_deep { JsonFault::TooDeep } else { JsonFault::Invalid(why.to_string()) }
    })
}

// How deep brackets are nested, outside of strings.
fn depth(text: &[u8]) -> usize {
    let (mut now, mut deepest, mut quoted, mut escaped) = (0_usize, 0, false, false);
    for byte in text {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            b'[' | b'{' if !quoted => {
                now += 1;
                deepest = deepest.max(now);
            }
            b']' | b'}' if !quoted => now = now.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}
