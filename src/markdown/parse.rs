//! `pulldown-cmark`'s events to the tree. Knows nothing of streams.

use std::borrow::Cow;

use pulldown_cmark::{Alignment, BrokenLink, CodeBlockKind, CowStr, Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use crate::markdown::address;
use crate::markdown::prepare::{is_break, piece, prepare, restore, to_original, without_marks};
use crate::markdown::tree::{Align, Block, Inline, Item};
use crate::protocol::Names;

/// Addresses that link references stand for, by label.
pub(super) type References = Names<String>;

// Deeper containers are taken apart: a thousand `>` in a row must not become a thousand elements, nor exhaust the stack.
const MAX_DEPTH: usize = 24;

/// Reads a whole text.
#[must_use]
pub fn parse(text: &str) -> Vec<Block> {
    blocks(text, &mut References::default()).into_iter().map(|(block, _)| block).collect()
}

/// Reads the blocks of a text, each with the offset where it begins. Reference definitions are added to `references`.
pub(super) fn blocks(text: &str, references: &mut References) -> Vec<(Block, usize)> {
    let (prepared, addresses) = prepare(text);
    let changed = matches!(prepared, Cow::Owned(_));
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let known = references.clone();
    let mut resolve = |link: BrokenLink<'_>| {
        let address = known.get(&label(&link.reference))?;
        Some((CowStr::from(address.clone()), CowStr::from("")))
    };
    let parser = Parser::new_with_broken_link_callback(&prepared, options, Some(&mut resolve));
    for (name, definition) in parser.reference_definitions().iter() {
        references.insert(label(name), restore(&definition.dest));
    }
    let mut builder = Builder { addresses, changed, ..Builder::default() };
    for (event, place) in parser.into_offset_iter() {
        builder.take(event, place.start);
    }
    let mut done = builder.done;
    if changed {
        to_original(&prepared, &mut done);
    }
    done
}

fn label(text: &str) -> String {
    restore(text).split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

#[derive(Default)]
struct Builder {
    frames: Vec<Frame>,
    // Containers past the depth limit that are open and leave no trace.
    skipped: usize,
    done: Vec<(Block, usize)>,
    // Whether there may be bare addresses.
    addresses: bool,
    // Whether the parser was given a text that has to be put back.
    changed: bool,
    start: usize,
}

enum Frame {
    Inlines(Kind, Vec<Inline>),
    Blocks(Vec<Block>),
    List(Option<u64>, Vec<Item>),
    Item(Option<bool>, Vec<Block>),
    Code(String, String),
    Html(String),
    Table { columns: Vec<Align>, head: Vec<Vec<Inline>>, rows: Vec<Vec<Vec<Inline>>> },
    Row(Vec<Vec<Inline>>),
}

#[derive(Clone, Debug, PartialEq)]
enum Kind {
    Paragraph,
    Plain,
    Heading(u8),
    Cell,
    Emphasis,
    Strong,
    Strike,
    Link(String),
    Image(String),
}

impl Builder {
    fn take(&mut self, event: Event<'_>, start: usize) {
        if self.frames.is_empty() && self.skipped == 0 {
            self.start = start;
        }
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) => self.text(&text),
            Event::Code(text) => self.inline(Inline::Code(restore(&text))),
            Event::Html(text) => match self.frames.last_mut() {
                Some(Frame::Html(html)) => html.push_str(&restore(&text)),
                _ => self.block(Block::Html(restore(&text))),
            },
            Event::InlineHtml(text) if is_break(text.as_bytes(), 0) => self.line_break(),
            Event::InlineHtml(text) => self.text(&text),
            Event::SoftBreak => self.soft_break(),
            Event::HardBreak => self.line_break(),
            Event::Rule => self.block(Block::Rule),
            Event::TaskListMarker(ticked) => {
                if let Some(Frame::Item(task, _)) =
                    self.frames.iter_mut().rev().find(|frame| matches!(frame, Frame::Item(..)))
                {
                    *task = Some(ticked);
                }
            }
            // Not switched on.
            Event::InlineMath(text) | Event::DisplayMath(text) | Event::FootnoteReference(text) => self.text(&text),
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        let container = matches!(
            tag,
            Tag::BlockQuote(_) | Tag::List(_) | Tag::Item | Tag::Emphasis | Tag::Strong | Tag::Strikethrough
        );
        if container && (self.skipped > 0 || self.frames.len() >= MAX_DEPTH) {
            self.skipped += 1;
            return;
        }
        let inlines = |kind| Frame::Inlines(kind, Vec::new());
        let frame = match tag {
            Tag::Paragraph => inlines(Kind::Paragraph),
            Tag::Heading { level, .. } => inlines(Kind::Heading(level_of(level))),
            Tag::BlockQuote(_) => Frame::Blocks(Vec::new()),
            Tag::CodeBlock(CodeBlockKind::Fenced(info)) => {
                let language = info.split([' ', ',', '{']).next().unwrap_or_default();
                Frame::Code(restore(language), String::new())
            }
            Tag::CodeBlock(CodeBlockKind::Indented) => Frame::Code(String::new(), String::new()),
            Tag::HtmlBlock => Frame::Html(String::new()),
            Tag::List(start) => Frame::List(start, Vec::new()),
            Tag::Item => Frame::Item(None, Vec::new()),
            Tag::Table(columns) => Frame::Table {
                columns: columns.into_iter().map(align_of).collect(),
                head: Vec::new(),
                rows: Vec::new(),
            },
            Tag::TableHead | Tag::TableRow => Frame::Row(Vec::new()),
            Tag::TableCell => inlines(Kind::Cell),
            Tag::Emphasis => inlines(Kind::Emphasis),
            Tag::Strong => inlines(Kind::Strong),
            Tag::Strikethrough => inlines(Kind::Strike),
            Tag::Link { dest_url, .. } => inlines(Kind::Link(restore(&dest_url))),
            Tag::Image { dest_url, .. } => inlines(Kind::Image(restore(&dest_url))),
            // Not switched on; their content is kept as a paragraph.
            Tag::FootnoteDefinition(_)
            | Tag::DefinitionList
            | Tag::DefinitionListTitle
            | Tag::DefinitionListDefinition
            | Tag::Superscript
            | Tag::Subscript
            | Tag::MetadataBlock(_) => inlines(Kind::Paragraph),
        };
        if !matches!(&frame, Frame::Inlines(kind, _) if kind.is_inline()) {
            self.close_plain();
        }
        self.frames.push(frame);
    }

    fn end(&mut self, tag: TagEnd) {
        let container = matches!(
            tag,
            TagEnd::BlockQuote(_)
                | TagEnd::List(_)
                | TagEnd::Item
                | TagEnd::Emphasis
                | TagEnd::Strong
                | TagEnd::Strikethrough
        );
        if container && self.skipped > 0 {
            self.skipped -= 1;
            return;
        }
        if matches!(tag, TagEnd::Item | TagEnd::BlockQuote(_)) {
            self.close_plain();
        }
        match self.frames.pop() {
            Some(Frame::Inlines(kind, content)) => self.close_inlines(kind, content),
            Some(Frame::Blocks(blocks)) => self.block(Block::Quote(blocks)),
            Some(Frame::List(start, items)) => self.block(Block::List { start, items }),
            Some(Frame::Item(task, blocks)) => match self.frames.last_mut() {
                Some(Frame::List(_, items)) => items.push(Item { task, blocks }),
                _ => blocks.into_iter().for_each(|block| self.block(block)),
            },
            Some(Frame::Code(language, text)) => self.block(Block::Code { language, text }),
            Some(Frame::Html(html)) => self.block(Block::Html(html)),
            Some(Frame::Table { columns, head, rows }) => self.block(Block::Table { columns, head, rows }),
            Some(Frame::Row(cells)) => {
                if let Some(Frame::Table { head, rows, .. }) = self.frames.last_mut() {
                    if tag == TagEnd::TableHead { *head = cells } else { rows.push(cells) }
                }
            }
            None => {}
        }
    }

    fn close_inlines(&mut self, kind: Kind, content: Vec<Inline>) {
        let is_link = |kind: &Kind| matches!(kind, Kind::Link(_) | Kind::Image(_));
        let in_link =
            is_link(&kind) || self.frames.iter().any(|frame| matches!(frame, Frame::Inlines(kind, _) if is_link(kind)));
        let links = self.addresses && !in_link;
        let content = if links || self.changed { written(content, links) } else { content };
        match kind {
            Kind::Paragraph => self.block(Block::Paragraph(content)),
            Kind::Plain => self.block(Block::Plain(content)),
            Kind::Heading(level) => self.block(Block::Heading(level, content)),
            Kind::Cell => {
                if let Some(Frame::Row(cells)) = self.frames.last_mut() {
                    cells.push(content);
                }
            }
            Kind::Emphasis => self.inline(Inline::Emphasis(content)),
            Kind::Strong => self.inline(Inline::Strong(content)),
            Kind::Strike => self.inline(Inline::Strike(content)),
            Kind::Link(address) => self.inline(Inline::Link { address, content }),
            Kind::Image(address) => self.inline(Inline::Image { address, description: Inline::words(&content) }),
        }
    }

    // Loose text of an item or quotation ends where a block begins or its container ends.
    fn close_plain(&mut self) {
        if let Some(Frame::Inlines(Kind::Plain, _)) = self.frames.last()
            && let Some(Frame::Inlines(kind, content)) = self.frames.pop()
        {
            self.close_inlines(kind, content);
        }
    }

    fn text(&mut self, text: &str) {
        let text = &*without_marks(text);
        match self.frames.last_mut() {
            Some(Frame::Code(_, code)) => code.push_str(&restore(text)),
            Some(Frame::Html(html)) => html.push_str(&restore(text)),
            _ if text.is_empty() => {}
            Some(Frame::Inlines(_, content)) => match content.last_mut() {
                Some(Inline::Text(last)) => last.push_str(text),
                _ => content.push(Inline::Text(text.to_owned())),
            },
            _ => self.inline(Inline::Text(text.to_owned())),
        }
    }

    // A line feed beside a break is no second one.
    fn soft_break(&mut self) {
        let broken = matches!(self.frames.last(), Some(Frame::Inlines(_, content)) if matches!(content.last(), Some(Inline::Break)));
        if !broken {
            self.text("\n");
        }
    }

    fn line_break(&mut self) {
        if let Some(Frame::Inlines(_, content)) = self.frames.last_mut()
            && let Some(Inline::Text(text)) = content.last_mut()
            && text.ends_with('\n')
        {
            text.truncate(text.len() - 1);
        }
        self.inline(Inline::Break);
    }

    fn inline(&mut self, inline: Inline) {
        match self.frames.last_mut() {
            Some(Frame::Inlines(_, content)) => content.push(inline),
            _ => self.frames.push(Frame::Inlines(Kind::Plain, vec![inline])),
        }
    }

    fn block(&mut self, block: Block) {
        match self.frames.last_mut() {
            Some(Frame::Blocks(blocks) | Frame::Item(_, blocks)) => blocks.push(block),
            Some(_) => {
                // A block where only inlines may stand: its words are kept.
                if let Block::Paragraph(content) | Block::Plain(content) = block {
                    content.into_iter().for_each(|inline| self.inline(inline));
                }
            }
            None => self.done.push((block, self.start)),
        }
    }
}

// The texts among these inlines as they were written; with the bare addresses in them as links, unless they stand in one.
fn written(content: Vec<Inline>, links: bool) -> Vec<Inline> {
    let mut out = Vec::with_capacity(content.len());
    for inline in content {
        let Inline::Text(text) = inline else {
            out.push(inline);
            continue;
        };
        let mut from = 0;
        while links && let Some((start, end)) = address::find(&text, from) {
            push_text(piece(&text, from, start), &mut out);
            let reads = restore(piece(&text, start, end));
            let mut address = String::new();
            if reads.starts_with('w') {
                address.push_str("http://");
            }
            address.push_str(&reads);
            out.push(Inline::Link { address, content: vec![Inline::Text(reads)] });
            from = end;
        }
        push_text(piece(&text, from, text.len()), &mut out);
    }
    out
}

fn push_text(text: &str, out: &mut Vec<Inline>) {
    if !text.is_empty() {
        out.push(Inline::Text(restore(text)));
    }
}

impl Kind {
    fn is_inline(&self) -> bool {
        matches!(self, Self::Emphasis | Self::Strong | Self::Strike | Self::Link(_) | Self::Image(_))
    }
}

fn level_of(level: HeadingLevel) -> u8 {
    match level {
        HeadingLevel::H1 => 1,
        HeadingLevel::H2 => 2,
        HeadingLevel::H3 => 3,
        HeadingLevel::H4 => 4,
        HeadingLevel::H5 => 5,
        HeadingLevel::H6 => 6,
    }
}

fn align_of(alignment: Alignment) -> Align {
    match alignment {
        Alignment::None => Align::None,
        Alignment::Left => Align::Left,
        Alignment::Center => Align::Center,
        Alignment::Right => Align::Right,
    }
}
