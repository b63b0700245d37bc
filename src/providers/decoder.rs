//! A body's bytes to model events, whoever's they are. Knows nothing of HTTP.

use serde_json::Deserializer;

use crate::protocol::ModelEvent;
use crate::providers::answer::Answer;
use crate::providers::json::Json;
use crate::wire::frames::{Frame, Frames};
use crate::wire::halves::Halves;

/// Decodes one answer.
///
/// *Push bytes, take `next` until `None`; at the end of the body call `finish`, or `lost` where it broke off, and take
/// `next` again.* A stream that ends without a `Finish` or an `Error` was cut.
pub struct Decoder {
    frames: Frames,
    answer: Answer,
    reader: Box<dyn Reader>,
    halves: Halves,
    bytes: usize,
    cut: bool,
}

// What is put together on the way (arguments, parts nobody knows) is no longer than the body. Longer ones are no answers.
const MAX_BYTES: usize = 128 * 1024 * 1024;

const DONE: &str = "[DONE]";

/// How one vendor's frames are read.
pub(super) trait Reader: Send {
    /// One JSON value of the stream.
    fn read(&mut self, json: &Json<'_>, answer: &mut Answer);

    /// The mark `[DONE]`.
    fn done(&mut self, _answer: &mut Answer) {}

    /// The end of the body, where nothing has ended the answer yet; `cut` where it came inside a frame, or with the
    /// connection.
    fn end(&mut self, _cut: bool, _answer: &mut Answer) {}
}

impl Decoder {
    pub(super) fn new(frames: Frames, answer: Answer, reader: Box<dyn Reader>) -> Self {
        Self { frames, answer, reader, halves: Halves::default(), bytes: 0, cut: false }
    }

    /// Takes the next bytes of the body.
    pub fn push(&mut self, bytes: &[u8]) {
        if self.answer.is_over() {
            return;
        }
        self.bytes = self.bytes.saturating_add(bytes.len());
        if self.bytes > MAX_BYTES {
            return self.answer.broken(format!("the model's answer is longer than {} MiB", MAX_BYTES / (1024 * 1024)));
        }
        if let Err(too_long) = self.frames.push(bytes) {
            return self.answer.broken(too_long.to_string());
        }
        self.drain();
    }

    /// Tells the decoder that the body has ended.
    pub fn finish(&mut self) {
        if self.answer.is_over() {
            return;
        }
        self.frames.finish();
        self.drain();
        if !self.answer.is_over() {
            self.reader.end(self.cut, &mut self.answer);
        }
    }

    /// Tells the decoder that the connection was lost, or let go of: what comes last may not be the end.
    pub fn lost(&mut self) {
        self.cut = true;
        self.finish();
    }

    /// The next model event, or `None` until more is pushed.
    #[expect(clippy::should_implement_trait, reason = "`None` means not yet, which an iterator may not say")]
    pub fn next(&mut self) -> Option<ModelEvent> {
        self.answer.next()
    }

    fn drain(&mut self) {
        while let Some(frame) = self.frames.next() {
            if self.answer.is_over() {
                return;
            }
            self.frame(&frame);
        }
    }

    // The mark may stand behind the last value, where a server forgets the blank line.
    fn frame(&mut self, Frame { text, last }: &Frame) {
        let text = text.trim();
        let Some(values) = text.strip_suffix(DONE) else {
            // A body that is cut inside the mark has all that stands before it.
            if !(*last && DONE.starts_with(text)) {
                self.values(text, *last);
            }
            return;
        };
        self.answer.start();
        // Words may read like the mark, and be cut right behind it.
        self.values(values, *last);
        if !self.answer.is_over() && !self.cut {
            self.reader.done(&mut self.answer);
        }
    }

    fn values(&mut self, text: &str, last: bool) {
        let mended = self.halves.mend(text);
        for value in Deserializer::from_str(mended.as_deref().unwrap_or(text)).into_iter::<Json<'_>>() {
            match value {
                Ok(value) => self.value(&value),
                // A frame cut by the end of the body is a cut stream; one in the middle is a broken server.
                Err(why) if last && why.is_eof() => {
                    self.cut = true;
                    return self.answer.note(format!("a frame ends too early: {why}"));
                }
                Err(why) => {
                    return self.answer.broken(format!("the model's server sent a frame that can not be read: {why}"));
                }
            }
            if self.answer.is_over() {
                return;
            }
        }
    }

    // A list stands for its members: a whole stream in one body, or an error that is wrapped.
    fn value(&mut self, value: &Json<'_>) {
        self.answer.start();
        match value.as_array() {
            Some(members) => {
                for member in members {
                    if !self.answer.is_over() {
                        self.reader.read(member, &mut self.answer);
                    }
                }
            }
            None => self.reader.read(value, &mut self.answer),
        }
    }
}

impl std::fmt::Debug for Decoder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Decoder").field("answer", &self.answer).finish_non_exhaustive()
    }
}
