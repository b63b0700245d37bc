//! A markdown tree to DOM nodes, and one tree's nodes to the next's by the smallest change.
//!
//! Nodes are made one by one from a fixed set of elements and attributes: no HTML strings, no `id`, no `style`.
//! Knows nothing of streams or of Leptos.

use wasm_bindgen::JsCast;
use web_sys::{Document, Element, Node, Text};

use crate::browser::url::{Address, Kind};
use crate::markdown::{Align, Block, Inline, Item, MarkdownStream};

/// Shows a growing markdown text in an element.
pub(super) struct MarkdownView {
    document: Document,
    container: Element,
    frozen: usize,
    open: Vec<(Block, Element)>,
    reread: bool,
}

impl MarkdownView {
    /// A view in this element, which it fills alone.
    pub(super) fn new(container: Element) -> Option<Self> {
        let document = container.owner_document()?;
        Some(Self { document, container, frozen: 0, open: Vec::new(), reread: false })
    }

    /// Shows the text as it is now. Frozen blocks are not touched again.
    pub(super) fn update(&mut self, text: &MarkdownStream) {
        // The text was read anew at its end, and a definition behind a link changed a block that was frozen.
        if text.was_reread() && !std::mem::replace(&mut self.reread, true) {
            self.container.set_text_content(None);
            self.frozen = 0;
            self.open.clear();
        }
        let new_frozen = text.frozen().len().saturating_sub(self.frozen);
        let wanted = text.frozen().iter().skip(self.frozen).chain(text.open());
        let mut shown = std::mem::take(&mut self.open).into_iter();
        for block in wanted {
            let element = match shown.next() {
                Some((old, element)) => patch_block(&self.document, &old, block, element),
                None => {
                    let element = make_block(&self.document, block);
                    append(&self.container, &element);
                    element
                }
            };
            self.open.push((block.clone(), element));
        }
        shown.for_each(|(_, element)| element.remove());
        self.open.drain(..new_frozen.min(self.open.len()));
        self.frozen = text.frozen().len();
    }
}

fn append(parent: &Node, child: &Node) {
    let _ = parent.append_child(child);
}

fn make(document: &Document, tag: &str) -> Element {
    // The tags are ours and valid, so this can not fail.
    document.create_element(tag).expect("a known tag")
}

fn with_class(document: &Document, tag: &str, class: &str) -> Element {
    let element = make(document, tag);
    let _ = element.set_attribute("class", class);
    element
}

fn make_block(document: &Document, block: &Block) -> Element {
    match block {
        Block::Paragraph(content) => with_inlines(document, make(document, "p"), content),
        Block::Plain(content) => with_inlines(document, with_class(document, "div", "plain"), content),
        // An answer is a part of the page, not its outline: its first heading stands below the panel's own.
        Block::Heading(level, content) => with_inlines(document, make(document, &heading_tag(*level)), content),
        Block::Code { language, text } => make_code(document, language, text),
        Block::List { start, items } => {
            let list = make(document, if start.is_some() { "ol" } else { "ul" });
            if let Some(start) = start.filter(|start| *start != 1) {
                let _ = list.set_attribute("start", &start.to_string());
            }
            items.iter().for_each(|item| append(&list, &make_item(document, item)));
            list
        }
        Block::Quote(blocks) => {
            let quote = make(document, "blockquote");
            blocks.iter().for_each(|block| append(&quote, &make_block(document, block)));
            quote
        }
        Block::Table { columns, head, rows } => make_table(document, columns, head, rows),
        Block::Rule => make(document, "hr"),
        Block::Html(html) => {
            let element = with_class(document, "pre", "raw");
            element.set_text_content(Some(html));
            element
        }
    }
}

fn heading_tag(level: u8) -> String {
    format!("h{}", (level + 2).min(6))
}

fn make_code(document: &Document, language: &str, text: &str) -> Element {
    let frame = with_class(document, "div", "code");
    let head = with_class(document, "div", "code-head");
    let name = make(document, "span");
    name.set_text_content(Some(if language.is_empty() { "code" } else { language }));
    let copy = with_class(document, "button", "copy");
    let _ = copy.set_attribute("type", "button");
    copy.set_text_content(Some("Copy"));
    append(&head, &name);
    append(&head, &copy);
    let pre = make(document, "pre");
    // A keyboard can scroll what it can focus.
    let _ = pre.set_attribute("tabindex", "0");
    let code = make(document, "code");
    append(&code, &document.create_text_node(text));
    append(&pre, &code);
    append(&frame, &head);
    append(&frame, &pre);
    frame
}

fn make_item(document: &Document, item: &Item) -> Element {
    let element = make(document, "li");
    if let Some(ticked) = item.task {
        let _ = element.set_attribute("class", "task");
        let mark = with_class(document, "span", "tick");
        let _ = mark.set_attribute("role", "img");
        let _ = mark.set_attribute("aria-label", if ticked { "done" } else { "to do" });
        mark.set_text_content(Some(if ticked { "\u{2611} " } else { "\u{2610} " }));
        append(&element, &mark);
    }
    item.blocks.iter().for_each(|block| append(&element, &make_block(document, block)));
    element
}

fn make_table(document: &Document, columns: &[Align], head: &[Vec<Inline>], rows: &[Vec<Vec<Inline>>]) -> Element {
    let frame = with_class(document, "div", "table");
    for (name, value) in [("tabindex", "0"), ("role", "group"), ("aria-label", "Table")] {
        let _ = frame.set_attribute(name, value);
    }
    let table = make(document, "table");
    let top = make(document, "thead");
    append(&top, &make_row(document, "th", columns, head));
    let body = make(document, "tbody");
    rows.iter().for_each(|row| append(&body, &make_row(document, "td", columns, row)));
    append(&table, &top);
    append(&table, &body);
    append(&frame, &table);
    frame
}

fn make_row(document: &Document, tag: &str, columns: &[Align], cells: &[Vec<Inline>]) -> Element {
    let row = make(document, "tr");
    for (at, content) in cells.iter().enumerate() {
        let cell = make(document, tag);
        let class = match columns.get(at) {
            Some(Align::Right) => "right",
            Some(Align::Center) => "center",
            Some(Align::Left | Align::None) | None => "",
        };
        if !class.is_empty() {
            let _ = cell.set_attribute("class", class);
        }
        if tag == "th" {
            let _ = cell.set_attribute("scope", "col");
        }
        append(&row, &with_inlines(document, cell, content));
    }
    row
}

fn with_inlines(document: &Document, element: Element, content: &[Inline]) -> Element {
    content.iter().for_each(|inline| append(&element, &make_inline(document, inline)));
    element
}

// One node for each inline, which is what lets `patch_inlines` find its way.
fn make_inline(document: &Document, inline: &Inline) -> Node {
    match inline {
        Inline::Text(text) => document.create_text_node(text).into(),
        Inline::Code(text) => {
            let code = make(document, "code");
            code.set_text_content(Some(text));
            code.into()
        }
        Inline::Emphasis(content) => with_inlines(document, make(document, "em"), content).into(),
        Inline::Strong(content) => with_inlines(document, make(document, "strong"), content).into(),
        Inline::Strike(content) => with_inlines(document, make(document, "del"), content).into(),
        Inline::Link { address, content } => with_inlines(document, make_link(document, address), content).into(),
        Inline::Image { address, description } => {
            // Loading it would tell its server that it was read, and whatever its address says.
            let link = make_link(document, address);
            let words = if description.is_empty() { "image" } else { description };
            link.set_text_content(Some(&format!("[image: {words}]")));
            link.into()
        }
        Inline::Break => make(document, "br").into(),
    }
}

// A link loads nothing until it is clicked. An address that could run something is no link at all.
fn make_link(document: &Document, address: &str) -> Element {
    let judged = Address::parse(address);
    let kind = judged.as_ref().map_or(Kind::Forbidden, Address::kind);
    let (Some(judged), false) = (judged, kind == Kind::Forbidden) else {
        return with_class(document, "span", "no-link");
    };
    let link = make(document, "a");
    let _ = link.set_attribute("href", &judged.href());
    if kind == Kind::Web {
        let _ = link.set_attribute("target", "_blank");
        let _ = link.set_attribute("rel", "noopener noreferrer nofollow");
        let _ = link.set_attribute("title", &judged.href());
    }
    link
}

// Gives a link another address in place: one that grows at the end of a text is not made anew with every letter, so the
// pointer and the focus stay on it. `false` where one of the two addresses is none that may be followed.
fn patch_link(link: &Element, address: &str) -> bool {
    let Some(judged) = Address::parse(address).filter(|judged| judged.kind() == Kind::Web) else { return false };
    let patched = link.has_attribute("title");
    if patched {
        let _ = link.set_attribute("href", &judged.href());
        let _ = link.set_attribute("title", &judged.href());
    }
    patched
}

// ---- changes ----

fn patch_block(document: &Document, old: &Block, new: &Block, element: Element) -> Element {
    if old == new {
        return element;
    }
    let patched = match (old, new) {
        (Block::Paragraph(old), Block::Paragraph(new)) | (Block::Plain(old), Block::Plain(new)) => {
            patch_inlines(document, &element, old, new);
            true
        }
        (Block::Heading(a, old), Block::Heading(b, new)) if a == b => {
            patch_inlines(document, &element, old, new);
            true
        }
        (Block::Code { language: a, text: old }, Block::Code { language: b, text: new }) if a == b => {
            patch_code(&element, old, new)
        }
        (Block::List { start: a, items: old }, Block::List { start: b, items: new }) if a == b => {
            patch_items(document, &element, old, new)
        }
        (Block::Quote(old), Block::Quote(new)) => {
            patch_blocks(document, &element, 0, old, new);
            true
        }
        (Block::Table { columns: a, head: h, rows: old }, Block::Table { columns, head, rows: new })
            if a == columns && h == head =>
        {
            patch_rows(document, &element, columns, old, new)
        }
        _ => false,
    };
    if patched {
        return element;
    }
    let made = make_block(document, new);
    let _ = element.replace_with_with_node_1(&made);
    made
}

/// Children of `parent` from the `skip`-th on are the blocks of `old`, one each.
fn patch_blocks(document: &Document, parent: &Element, skip: u32, old: &[Block], new: &[Block]) {
    for (at, block) in new.iter().enumerate() {
        match (old.get(at), child_element(parent, skip + at as u32)) {
            (Some(old), Some(element)) => drop(patch_block(document, old, block, element)),
            _ => append(parent, &make_block(document, block)),
        }
    }
    remove_from(parent, skip + new.len() as u32);
}

fn patch_items(document: &Document, list: &Element, old: &[Item], new: &[Item]) -> bool {
    for (at, item) in new.iter().enumerate() {
        match (old.get(at), child_element(list, at as u32)) {
            (Some(old), Some(element)) if old.task == item.task => {
                if old != item {
                    patch_blocks(document, &element, u32::from(item.task.is_some()), &old.blocks, &item.blocks);
                }
            }
            (Some(_), Some(element)) => drop(element.replace_with_with_node_1(&make_item(document, item))),
            _ => append(list, &make_item(document, item)),
        }
    }
    remove_from(list, new.len() as u32);
    true
}

fn patch_rows(
    document: &Document,
    frame: &Element,
    columns: &[Align],
    old: &[Vec<Vec<Inline>>],
    new: &[Vec<Vec<Inline>>],
) -> bool {
    let Some(body) = frame.query_selector("tbody").ok().flatten() else { return false };
    for (at, row) in new.iter().enumerate() {
        if old.get(at) == Some(row) {
            continue;
        }
        let made = make_row(document, "td", columns, row);
        match child_element(&body, at as u32) {
            Some(shown) => drop(shown.replace_with_with_node_1(&made)),
            None => append(&body, &made),
        }
    }
    remove_from(&body, new.len() as u32);
    true
}

fn patch_code(frame: &Element, old: &str, new: &str) -> bool {
    let code = frame.query_selector("code").ok().flatten().and_then(|code| code.first_child());
    let Some(text) = code.and_then(|node| node.dyn_into::<Text>().ok()) else { return false };
    patch_text(&text, old, new);
    true
}

fn patch_text(text: &Text, old: &str, new: &str) {
    match new.strip_prefix(old) {
        // Appending keeps what the user has selected, and costs what is new.
        Some(more) => drop(text.append_data(more)),
        None => text.set_data(new),
    }
}

fn patch_inlines(document: &Document, element: &Element, old: &[Inline], new: &[Inline]) {
    let same = old.iter().zip(new).take_while(|(old, new)| old == new).count();
    let mut from = same;
    if let (Some(old), Some(new), Some(node)) = (old.get(same), new.get(same), element.child_nodes().item(same as u32))
        && patch_inline(document, &node, old, new)
    {
        from += 1;
    }
    while let Some(node) = element.child_nodes().item(from as u32) {
        let _ = element.remove_child(&node);
    }
    new[from..].iter().for_each(|inline| append(element, &make_inline(document, inline)));
}

fn patch_inline(document: &Document, node: &Node, old: &Inline, new: &Inline) -> bool {
    match (old, new) {
        (Inline::Text(old), Inline::Text(new)) => {
            if let Some(text) = node.dyn_ref::<Text>() {
                patch_text(text, old, new);
                return true;
            }
            false
        }
        (Inline::Code(_), Inline::Code(new)) => {
            node.set_text_content(Some(new));
            true
        }
        (Inline::Emphasis(old), Inline::Emphasis(new))
        | (Inline::Strong(old), Inline::Strong(new))
        | (Inline::Strike(old), Inline::Strike(new)) => {
            if let Some(element) = node.dyn_ref::<Element>() {
                patch_inlines(document, element, old, new);
                return true;
            }
            false
        }
        (Inline::Link { content: old, .. }, Inline::Link { address, content }) => match node.dyn_ref::<Element>() {
            Some(link) if patch_link(link, address) => {
                patch_inlines(document, link, old, content);
                true
            }
            _ => false,
        },
        _ => false,
    }
}

fn child_element(parent: &Element, at: u32) -> Option<Element> {
    parent.children().item(at)
}

fn remove_from(parent: &Element, at: u32) {
    while let Some(extra) = child_element(parent, at) {
        extra.remove();
    }
}
