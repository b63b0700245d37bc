//! A text that grows. Knows nothing of who shows it.
//!
//! Blocks that can not change any more are frozen and never read again, so the cost of an update is the open block's,
//! whatever the length of the text. A block is frozen once another one begins behind it on a line that is whole: until
//! its line feed has come, `#` may still turn out to be `#hashtag` and belong to the paragraph before.

use crate::markdown::parse::{References, blocks};
use crate::markdown::tolerate::tolerate;
use crate::markdown::tree::Block;

/// A growing text and its tree so far.
#[derive(Debug, Default)]
pub struct MarkdownStream {
    source: String,
    // Where the first block that may still change begins.
    open_at: usize,
    frozen: Vec<Block>,
    open: Vec<Block>,
    references: References,
    reread: bool,
}

impl MarkdownStream {
    /// Adds text; the tree follows with the next [`refresh`](Self::refresh).
    pub fn push(&mut self, text: &str) {
        self.source.push_str(text);
    }

    /// The text so far.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The blocks that will not change any more (but see [`finish`](Self::finish)).
    #[must_use]
    pub fn frozen(&self) -> &[Block] {
        &self.frozen
    }

    /// The blocks that still may, as they stand now.
    #[must_use]
    pub fn open(&self) -> &[Block] {
        &self.open
    }

    /// Brings the tree up to the text.
    pub fn refresh(&mut self) {
        let tail = &self.source[self.open_at..];
        let whole_until = tail.rfind('\n').unwrap_or(0);
        let mut found = blocks(tail, &mut self.references);
        let last_begun = found.iter().rposition(|(_, start)| *start < whole_until).unwrap_or(0);
        if last_begun > 0 {
            // From the start of its line: an indentation is part of what a block is.
            let start = found[last_begun].1;
            let cut = tail[..start].rfind('\n').map_or(0, |at| at + 1);
            self.frozen.extend(found.drain(..last_begun).map(|(block, _)| block));
            self.open_at += cut;
        }
        let tail = &self.source[self.open_at..];
        let mended = if ends_in_code(found.last().map(|(block, _)| block)) { None } else { tolerate(tail) };
        self.open = match mended {
            Some(mended) => blocks(&mended, &mut self.references.clone()).into_iter().map(|(block, _)| block).collect(),
            None => found.into_iter().map(|(block, _)| block).collect(),
        };
    }

    /// Says that the text is complete: every block is frozen.
    pub fn finish(&mut self) {
        let whole: Vec<Block> =
            blocks(&self.source, &mut References::default()).into_iter().map(|(block, _)| block).collect();
        self.reread = !whole.starts_with(&self.frozen);
        self.frozen = whole;
        self.open.clear();
        self.open_at = self.source.len();
    }

    /// Whether `finish` changed a block that was frozen, because a link in it refers to a definition behind it, or
    /// what opened a formula was never closed.
    #[must_use]
    pub fn was_reread(&self) -> bool {
        self.reread
    }
}

// Whether a text that reads like this ends inside of code or HTML, where marks are only letters.
fn ends_in_code(last: Option<&Block>) -> bool {
    match last {
        Some(Block::Code { .. } | Block::Html(_)) => true,
        Some(Block::Quote(inner)) => ends_in_code(inner.last()),
        Some(Block::List { items, .. }) => items.last().is_some_and(|item| ends_in_code(item.blocks.last())),
        _ => false,
    }
}
