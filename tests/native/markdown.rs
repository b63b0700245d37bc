//! Markdown that grows: the same tree in whatever pieces the text comes, frozen blocks that stay, and no HTML ever.

use std::fs;
use std::time::{Duration, Instant};

use pagehand::markdown::{Block, Inline, Item, MarkdownStream, parse};

use crate::support::suite;

// Documents with what models write, made by us; those of the GFM specification are added where it is on the machine.
const OURS: &[&str] = &[
    "",
    "Hello.",
    "# Title\n\nFirst *paragraph* with `code` and a [link](https://example.org \"t\").\n\n- one\n- two\n  - three\n\n1. a\n2. b\n",
    "```rust\nfn main() {}\n\n\n// still code\n```\n\nAfter.",
    "| a | b |\n|---|:-:|\n| 1 | **2** |\n\nAfter the table.\n",
    "> quoted\n> more\n\nlazy\n---\n\n***\n",
    "See [docs] and [more][docs].\n\nText between.\n\n[docs]: https://example.org\n",
    "[docs]: https://example.org\n\nSee [docs].\n\nSee [docs] again.\n",
    "<div onclick=\"x()\">\n<b>bold</b>\n</div>\n\n<script>alert(1)</script>\n\nInline <i>html</i>.\n",
    "- [ ] open\n- [x] done\n\n  second paragraph\n\n- third\n",
    "Para\n\n    indented code\n\n    more\n\nPara\n",
    "Setext\n===\n\nAgain\n---\n",
    "a\r\nb\r\n\r\nc\r\n",
    "Ünïcödé — 𝄞\n\n* 👩‍💻 item\n",
];

// Every example of the specification, `→` being a tab in its notation.
fn documents() -> Vec<String> {
    let mut documents: Vec<String> = OURS.iter().map(|text| (*text).to_owned()).collect();
    if let Some(path) = suite("gfm/spec.txt") {
        let text = fs::read_to_string(path).unwrap();
        let mut found = 0;
        for example in text.split("\n```````````````````````````````` example").skip(1) {
            let body = example.split_once('\n').unwrap().1;
            let source = if body.starts_with(".\n") { "" } else { body.split("\n.\n").next().unwrap() };
            documents.push(format!("{source}\n").replace('→', "\t"));
            found += 1;
        }
        println!("{found} examples of the GFM specification");
        assert!(found > 600);
    }
    documents
}

/// The tree after these pieces. Frozen blocks may only grow in number, unless a reference comes behind them.
pub(crate) fn grow<'a>(pieces: impl Iterator<Item = &'a str>) -> Vec<Block> {
    let mut stream = MarkdownStream::default();
    let mut frozen: Vec<Block> = Vec::new();
    for piece in pieces {
        stream.push(piece);
        stream.refresh();
        assert!(stream.frozen().starts_with(&frozen), "a frozen block changed after {:?}", stream.source());
        frozen = stream.frozen().to_vec();
    }
    stream.finish();
    let changed = stream.was_reread();
    assert!(stream.open().is_empty());
    assert_eq!(changed, !stream.frozen().starts_with(&frozen));
    assert!(!changed || stream.source().contains("]:"), "a frozen block changed at the end: {:?}", stream.source());
    stream.frozen().to_vec()
}

pub(crate) fn letters(text: &str) -> impl Iterator<Item = &str> {
    text.char_indices().map(|(at, letter)| &text[at..at + letter.len_utf8()])
}

#[test]
fn the_tree_is_the_same_in_whatever_pieces_the_text_comes() {
    for text in documents() {
        let whole = parse(&text);
        assert_eq!(grow(std::iter::once(text.as_str())), whole, "whole: {text:?}");
        assert_eq!(grow(letters(&text)), whole, "letter by letter: {text:?}");
        assert_eq!(grow(text.split_inclusive('\n')), whole, "line by line: {text:?}");
        if text.len() < 60 {
            for (at, _) in text.char_indices() {
                assert_eq!(grow([&text[..at], &text[at..]].into_iter()), whole, "cut at {at}: {text:?}");
            }
        }
    }
}

#[test]
fn finished_blocks_are_frozen_while_the_text_grows() {
    let text = "One.\n\nTwo.\n\n```\ncode\n```\n\nThree";
    let mut stream = MarkdownStream::default();
    let mut counts = Vec::new();
    for piece in text.split_inclusive("\n\n") {
        stream.push(piece);
        stream.refresh();
        counts.push((stream.frozen().len(), stream.open().len()));
    }
    assert_eq!(counts, [(0, 1), (1, 1), (2, 1), (2, 2)]);
    stream.push(" and on.\n");
    stream.refresh();
    assert_eq!((stream.frozen().len(), stream.open().len()), (3, 1));
}

#[test]
fn a_reference_that_comes_late_is_said_to_change_what_was_frozen() {
    let mut stream = MarkdownStream::default();
    for piece in ["See [docs].\n\n", "Between.\n\n", "[docs]: https://example.org\n"] {
        stream.push(piece);
        stream.refresh();
    }
    assert_eq!(stream.frozen()[0], Block::Paragraph(vec![text("See [docs].")]));
    stream.finish();
    assert!(stream.was_reread());
    assert!(matches!(&stream.frozen()[0], Block::Paragraph(content) if matches!(content[1], Inline::Link { .. })));
    let mut stream = MarkdownStream::default();
    stream.push("[docs]: https://example.org\n\nBetween.\n\nSee [docs].\n\nEnd.\n");
    stream.refresh();
    stream.finish();
    assert!(!stream.was_reread(), "one that comes first changes nothing later");
}

// ---- open marks ----

fn text(words: &str) -> Inline {
    Inline::Text(words.to_owned())
}

fn strong(words: &str) -> Inline {
    Inline::Strong(vec![text(words)])
}

fn open(source: &str) -> Vec<Block> {
    let mut stream = MarkdownStream::default();
    stream.push(source);
    stream.refresh();
    stream.open().to_vec()
}

#[test]
fn marks_that_are_still_open_are_closed_for_the_moment() {
    let code = |words: &str| Inline::Code(words.to_owned());
    let link = || Inline::Link { address: "https://e.org".to_owned(), content: vec![text("docs")] };
    let cases: Vec<(&str, Vec<Inline>)> = vec![
        ("a **bo", vec![text("a "), strong("bo")]),
        ("a **bold** b", vec![text("a "), strong("bold"), text(" b")]),
        ("a **", vec![text("a")]),
        ("a **bo ", vec![text("a "), strong("bo")]),
        ("a ~~go", vec![text("a "), Inline::Strike(vec![text("go")])]),
        ("a `co", vec![text("a "), code("co")]),
        ("a `", vec![text("a `")]),
        ("a `**", vec![text("a "), code("**")]),
        ("a `co` **bo", vec![text("a "), code("co"), text(" "), strong("bo")]),
        ("see [docs](https://e.o", vec![text("see docs")]),
        ("see ![docs](https://e.o", vec![text("see docs")]),
        ("see [docs](", vec![text("see docs")]),
        ("see [docs](https://e.org)", vec![text("see "), link()]),
        ("see [docs", vec![text("see [docs")]),
        ("first\nthen **bo", vec![text("first\nthen "), strong("bo")]),
    ];
    for (source, expected) in cases {
        assert_eq!(open(source), [Block::Paragraph(expected)], "{source:?}");
    }
}

#[test]
fn what_stands_in_open_code_is_no_mark() {
    for fence in ["```", "~~~"] {
        let found = open(&format!("{fence}rust\nlet a = **b;\n[x](y"));
        assert_eq!(found, [Block::Code { language: "rust".to_owned(), text: "let a = **b;\n[x](y".to_owned() }]);
    }
    assert_eq!(open("    let a = **b;"), [Block::Code { language: String::new(), text: "let a = **b;".to_owned() }]);
    let longer = open("````\n```\n**a\n`b");
    assert_eq!(longer, [Block::Code { language: String::new(), text: "```\n**a\n`b".to_owned() }]);
    let inner = |text: &str| Block::Code { language: String::new(), text: text.to_owned() };
    assert_eq!(open("> ```\n> **a"), [Block::Quote(vec![inner("**a")])]);
    assert_eq!(
        open("- one\n\n  ```\n  **a"),
        [Block::List { start: None, items: vec![Item { task: None, blocks: vec![paragraph("one"), inner("**a")] }] }]
    );
}

fn paragraph(words: &str) -> Block {
    Block::Paragraph(vec![text(words)])
}

#[test]
fn an_open_mark_in_an_indented_paragraph_of_a_list_is_closed() {
    let second = Block::Paragraph(vec![strong("bo")]);
    assert_eq!(
        open("1.  one\n\n    **bo"),
        [Block::List { start: Some(1), items: vec![Item { task: None, blocks: vec![paragraph("one"), second] }] }]
    );
}

#[test]
fn a_half_link_never_becomes_a_link() {
    for source in ["[docs](javascript:al", "[a [b](x", "![a](http://e", "[docs](<https://e.org", "**[docs](https://e"] {
        assert!(addresses(&open(source)).is_empty(), "{source:?} gives {:?}", open(source));
    }
}

// ---- safety ----

fn addresses(blocks: &[Block]) -> Vec<String> {
    fn inlines(content: &[Inline], found: &mut Vec<String>) {
        for inline in content {
            match inline {
                Inline::Emphasis(content) | Inline::Strong(content) | Inline::Strike(content) => {
                    inlines(content, found);
                }
                Inline::Link { address, content } => {
                    found.push(address.clone());
                    inlines(content, found);
                }
                Inline::Image { address, .. } => found.push(address.clone()),
                Inline::Text(_) | Inline::Code(_) | Inline::Break => {}
            }
        }
    }
    fn walk(blocks: &[Block], found: &mut Vec<String>) {
        for block in blocks {
            match block {
                Block::Paragraph(content) | Block::Plain(content) | Block::Heading(_, content) => {
                    inlines(content, found);
                }
                Block::List { items, .. } => items.iter().for_each(|Item { blocks, .. }| walk(blocks, found)),
                Block::Quote(blocks) => walk(blocks, found),
                Block::Table { head, rows, .. } => {
                    head.iter().chain(rows.iter().flatten()).for_each(|cell| inlines(cell, found));
                }
                Block::Code { .. } | Block::Rule | Block::Html(_) => {}
            }
        }
    }
    let mut found = Vec::new();
    walk(blocks, &mut found);
    found
}

#[test]
fn raw_html_stays_the_text_it_is() {
    let block = "<img src=x onerror=alert(1)>\n";
    assert_eq!(parse(block), [Block::Html(block.to_owned())]);
    assert_eq!(
        parse("a <img src=x onerror=alert(1)> b"),
        [Block::Paragraph(vec![text("a <img src=x onerror=alert(1)> b")])]
    );
    assert_eq!(parse("&lt;b&gt;"), [Block::Paragraph(vec![text("<b>")])]);
    assert_eq!(
        parse("![a *b* <i>c</i>](https://e.org/x.png)"),
        [Block::Paragraph(vec![Inline::Image {
            address: "https://e.org/x.png".to_owned(),
            description: "a b <i>c</i>".to_owned(),
        }])]
    );
}

#[test]
fn hostile_payloads_are_only_text() {
    let Some(path) = suite("dompurify/payloads.json") else { return };
    let payloads: serde_json::Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
    let mut count = 0;
    for payload in payloads.as_array().unwrap() {
        if let Some(source) = payload["payload"].as_str() {
            count += 1;
            // A tree has no place for markup; what is left to check is that nothing panics and pieces agree.
            assert_eq!(grow(letters(source)), parse(source), "{source:?}");
        }
    }
    println!("{count} payloads");
    assert!(count > 100);
}

fn depth(blocks: &[Block]) -> usize {
    let inner = blocks.iter().map(|block| match block {
        Block::Quote(blocks) => depth(blocks),
        Block::List { items, .. } => 1 + items.iter().map(|item| depth(&item.blocks)).max().unwrap_or(0),
        _ => 0,
    });
    1 + inner.max().unwrap_or(0)
}

#[test]
fn a_text_made_to_hurt_neither_panics_nor_takes_long() {
    let many = |piece: &str| piece.repeat(10_000);
    let nested: String = (0..200).map(|at| format!("{}- a\n", "  ".repeat(at))).collect();
    let cases = [
        many(">"),
        many("> "),
        many("- "),
        many("1. "),
        many("["),
        many("]("),
        many("[a]("),
        many("![a]("),
        many("**a "),
        many("*a_ "),
        many("~~"),
        many("`"),
        many("``` "),
        many("<"),
        many("<a "),
        many("&"),
        many("|"),
        many("|a"),
        format!("{}\n{}\n", many("|a"), many("|-")),
        many("\\"),
        many("a\n"),
        many("# a\n"),
        many("- a\n"),
        many("[a]: b\n"),
        many("$a"),
        many("$$"),
        many("\\["),
        many("\\(a^"),
        many("\\[\na\n"),
        many("https://"),
        many("https://e.org)"),
        many("www.a."),
        many("https://e.org/**a"),
        many("<br>"),
        many("<br"),
        many("**："),
        many("&a;"),
        format!("https://e.org/{}", many(")")),
        format!("https://e.org/{}", many("&a;")),
        nested,
    ];
    for text in cases {
        let begun = Instant::now();
        let whole = parse(&text);
        assert!(depth(&whole) <= 30, "{} deep: {:?}", depth(&whole), &text.get(..20));
        let size = text.len().div_ceil(8);
        let pieces = text.as_bytes().chunks(size).map(|piece| std::str::from_utf8(piece).unwrap());
        assert_eq!(grow(pieces), whole, "{:?}", text.get(..20));
        println!("{:?} {:?}", text.chars().take(12).collect::<String>(), begun.elapsed());
        assert!(begun.elapsed() < Duration::from_secs(20), "{:?} took {:?}", text.get(..20), begun.elapsed());
    }
}

#[test]
fn a_long_answer_costs_the_open_block_only() {
    let paragraph = "Some words of an answer that is not short, with `code` and **marks** in it.\n\n";
    let mut stream = MarkdownStream::default();
    let begun = Instant::now();
    for _ in 0..2_000 {
        stream.push(paragraph);
        stream.refresh();
    }
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
    assert_eq!(stream.frozen().len(), 1_999);
}
