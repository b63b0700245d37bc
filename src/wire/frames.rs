//! A streamed body to the JSON texts in it: an event stream, JSON lines, or a plain body where a stream was asked for.
//! Knows nothing of what is in them.

use std::collections::VecDeque;

use crate::wire::sse::{MAX_EVENT_BYTES, SseDecoder, TooLong};

/// Splits a body.
///
/// *Push bytes, take `next` until `None`; at the end of the body call `finish`, take `next` again.*
#[derive(Debug)]
pub struct Frames {
    kind: Kind,
    // What may still turn out to be a plain body; a stream's only until its first frame.
    body: Vec<u8>,
    heard: bool,
    ended: bool,
}

/// One frame of a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// One JSON text, as a rule; some servers glue two together, or forget the blank line between two.
    pub text: String,
    /// Whether the body ended with it, so that it may be cut.
    pub last: bool,
}

#[derive(Debug)]
enum Kind {
    Events(SseDecoder),
    Lines { line: Vec<u8>, ready: VecDeque<String>, spread: bool },
}

// An answer that is no stream is kept up to this size.
const MAX_PLAIN_BYTES: usize = 4 * 1024 * 1024;

impl Frames {
    /// Those of an event stream (WHATWG HTML §9.2.6).
    #[must_use]
    pub fn events() -> Self {
        Self::new(Kind::Events(SseDecoder::default()))
    }

    /// Those of JSON lines (`application/x-ndjson`).
    #[must_use]
    pub fn lines() -> Self {
        Self::new(Kind::Lines { line: Vec::new(), ready: VecDeque::new(), spread: false })
    }

    fn new(kind: Kind) -> Self {
        Self { kind, body: Vec::new(), heard: false, ended: false }
    }

    /// Takes the next bytes.
    ///
    /// # Errors
    /// One frame has grown past [`MAX_EVENT_BYTES`].
    pub fn push(&mut self, bytes: &[u8]) -> Result<(), TooLong> {
        match &mut self.kind {
            Kind::Events(events) => {
                if !self.heard && self.body.len() < MAX_PLAIN_BYTES {
                    self.body.extend_from_slice(bytes);
                }
                events.push(bytes)
            }
            Kind::Lines { line, ready, spread } => {
                for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
                    if line.len() + piece.len() > MAX_EVENT_BYTES {
                        return Err(TooLong);
                    }
                    line.extend_from_slice(piece);
                    // A value over several lines is no stream: the body is one value.
                    *spread |= matches!(line.trim_ascii(), b"{" | b"[") && piece.ends_with(b"\n");
                    if piece.ends_with(b"\n") && !*spread {
                        ready.extend(text(line));
                        line.clear();
                    }
                }
                Ok(())
            }
        }
    }

    /// Tells that the body has ended.
    pub fn finish(&mut self) {
        self.ended = true;
        match &mut self.kind {
            Kind::Events(events) => events.finish(),
            Kind::Lines { line, ready, .. } => ready.extend(text(&std::mem::take(line))),
        }
    }

    /// The next frame, or `None` until more is pushed.
    #[expect(clippy::should_implement_trait, reason = "`None` means not yet, which an iterator may not say")]
    pub fn next(&mut self) -> Option<Frame> {
        let next = match &mut self.kind {
            Kind::Events(events) => events.next().map(|event| event.data),
            Kind::Lines { ready, .. } => ready.pop_front(),
        };
        if let Some(text) = next {
            if !std::mem::replace(&mut self.heard, true) {
                self.body = Vec::new();
            }
            return Some(Frame { text, last: self.ended });
        }
        if !self.ended || self.heard {
            return None;
        }
        self.heard = true;
        let body = text(&std::mem::take(&mut self.body))?;
        body.starts_with(['{', '[']).then_some(Frame { text: body, last: true })
    }
}

fn text(bytes: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(bytes);
    let text = text.trim_start_matches('\u{feff}').trim();
    (!text.is_empty()).then(|| text.to_owned())
}
