//! Floor 1: text to a safe tree, block by block. Knows nothing of a page.
//!
//! The tree holds no HTML: raw HTML becomes text, an image becomes its description and address, and what an address
//! may do is decided by whoever shows it. Source: CommonMark 0.31 with GFM tables, strikethrough, task lists and bare
//! addresses, as `pulldown-cmark` reads them; where people mean something else than the specification says, `prepare`
//! lists it.

mod address;
mod parse;
mod prepare;
mod stream;
mod tolerate;
mod tree;

pub use parse::parse;
pub use stream::MarkdownStream;
pub use tree::{Align, Block, Inline, Item};
