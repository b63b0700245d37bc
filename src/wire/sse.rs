//! The event-stream grammar over bytes (WHATWG HTML §9.2.6). Knows nothing of what an event's data means.
//!
//! Works on bytes because a chunk may end anywhere: inside a character, between CR and LF, inside the byte order mark.

use std::fmt;

use memchr::{memchr, memchr2};

/// The longest unfinished event that is kept, in bytes.
pub const MAX_EVENT_BYTES: usize = 10 * 1024 * 1024;

/// One dispatched event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SseEvent {
    /// The `event` field; empty where there was none.
    pub kind: String,
    /// The `data` lines, joined by line feeds. Bytes that are not UTF-8 become U+FFFD.
    pub data: String,
}

/// An event grew past [`MAX_EVENT_BYTES`]. The decoder takes nothing more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLong;

/// Splits a stream of bytes into events.
///
/// *Push a chunk, then take `next` until `None`; at the end of the stream call `finish`, then take `next` again.*
#[derive(Debug, Default)]
pub struct SseDecoder {
    line: Vec<u8>,
    data: Vec<u8>,
    kind: Vec<u8>,
    has_data: bool,
    skip_lf: bool,
    started: bool,
    ready: std::collections::VecDeque<SseEvent>,
    failed: bool,
}

impl SseDecoder {
    /// Takes the next bytes of the stream.
    ///
    /// # Errors
    /// [`TooLong`] once an event passes the limit, and ever after.
    pub fn push(&mut self, mut chunk: &[u8]) -> Result<(), TooLong> {
        if self.failed {
            return Err(TooLong);
        }
        if self.skip_lf && !chunk.is_empty() {
            self.skip_lf = false;
            chunk = chunk.strip_prefix(b"\n").unwrap_or(chunk);
        }
        while let Some(at) = memchr2(b'\n', b'\r', chunk) {
            let rest = &chunk[at + 1..];
            self.end_line(&chunk[..at])?;
            chunk = match (chunk[at], rest.first()) {
                (b'\r', Some(b'\n')) => &rest[1..],
                (b'\r', None) => {
                    self.skip_lf = true;
                    rest
                }
                _ => rest,
            };
        }
        self.measure(chunk)?;
        self.line.extend_from_slice(chunk);
        Ok(())
    }

    // Counted at every piece of a line, so that the same bytes fail in whatever pieces they come.
    fn measure(&mut self, piece: &[u8]) -> Result<(), TooLong> {
        self.failed = self.line.len() + piece.len() + self.data.len() > MAX_EVENT_BYTES;
        if self.failed { Err(TooLong) } else { Ok(()) }
    }

    /// Tells the decoder that the stream has ended. An event without its closing blank line is dispatched:
    /// many servers forget it, and whoever reads the data sees whether it is whole.
    pub fn finish(&mut self) {
        if self.failed {
            return;
        }
        if !self.line.is_empty() {
            // Nothing is added, so that it can not be too long.
            let _ = self.end_line(&[]);
        }
        self.dispatch();
    }

    // A method of this name is what a decoder has in this house; it is no iterator, since `None` means «not yet».
    /// The next whole event, or `None` until more is pushed.
    #[expect(clippy::should_implement_trait, reason = "`None` means not yet, which an iterator may not say")]
    pub fn next(&mut self) -> Option<SseEvent> {
        self.ready.pop_front()
    }

    // Most lines stand whole in one chunk, and are read where they stand.
    fn end_line(&mut self, end: &[u8]) -> Result<(), TooLong> {
        self.measure(end)?;
        if self.line.is_empty() {
            self.whole_line(end);
            return Ok(());
        }
        let mut line = std::mem::take(&mut self.line);
        line.extend_from_slice(end);
        self.whole_line(&line);
        line.clear();
        self.line = line;
        Ok(())
    }

    fn whole_line(&mut self, mut line: &[u8]) {
        if !std::mem::replace(&mut self.started, true) {
            line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        }
        if line.is_empty() { self.dispatch() } else { self.field(line) }
    }

    fn field(&mut self, line: &[u8]) {
        let (name, value) = match memchr(b':', line) {
            Some(at) => (&line[..at], line[at + 1..].strip_prefix(b" ").unwrap_or(&line[at + 1..])),
            None => (line, &[][..]),
        };
        match name {
            b"data" => {
                if self.has_data {
                    self.data.push(b'\n');
                }
                self.has_data = true;
                self.data.extend_from_slice(value);
            }
            b"event" => self.kind = value.to_vec(),
            // A comment (empty name), `id`, `retry` and fields nobody knows change nothing here.
            _ => {}
        }
    }

    fn dispatch(&mut self) {
        let kind = std::mem::take(&mut self.kind);
        if std::mem::take(&mut self.has_data) {
            self.ready.push_back(SseEvent { kind: text(kind), data: text(std::mem::take(&mut self.data)) });
        }
        self.data.clear();
    }
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|why| String::from_utf8_lossy(why.as_bytes()).into_owned())
}

impl fmt::Display for TooLong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an event of the stream is longer than {} MiB", MAX_EVENT_BYTES / (1024 * 1024))
    }
}
