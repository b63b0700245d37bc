//! References within a schema: a `$ref`'s text to a place, and loops that eat no value. Fetches nothing.

use super::rules::{Id, Node, Rule};

// A value that passes through more schemas than this before a part of it is looked at is somebody's trick.
const MAX_CHAIN: usize = 64;

/// What a `$ref` names.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// A place in this schema, as a JSON Pointer.
    Place(String),
    /// An anchor in this schema.
    Anchor,
    /// Another document.
    Elsewhere,
}

/// What is wrong with the way through a schema's references.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Knot {
    /// It comes back to itself without going into the value.
    Loop,
    /// It is too long.
    Long,
}

/// Reads a `$ref` in a document that calls itself `base`.
pub(super) fn target(reference: &str, base: &str) -> Target {
    let base = base.trim_end_matches('#');
    let local = if base.is_empty() { reference } else { reference.strip_prefix(base).unwrap_or(reference) };
    match local.strip_prefix('#') {
        None if local.is_empty() => Target::Place(String::new()),
        None => Target::Elsewhere,
        Some("") => Target::Place(String::new()),
        Some(fragment) if fragment.starts_with('/') => Target::Place(canonical(fragment)),
        Some(_) => Target::Anchor,
    }
}

/// One name as a step of a JSON Pointer (RFC 6901 §3).
pub(super) fn escape(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

// Percent-escapes out (RFC 3986 §2.1): our own places are written without.
fn canonical(pointer: &str) -> String {
    let mut bytes = Vec::with_capacity(pointer.len());
    let mut rest = pointer.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        let digit = |at: usize| tail.get(at).and_then(|byte| char::from(*byte).to_digit(16));
        rest = match (first, digit(0), digit(1)) {
            (b'%', Some(high), Some(low)) => {
                bytes.push((high * 16 + low) as u8);
                &tail[2..]
            }
            _ => {
                bytes.push(first);
                tail
            }
        };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The nodes from which the way through references never ends, or only after too long.
pub(super) fn knots(nodes: &[Node]) -> Vec<(Id, Knot)> {
    let mut walk = Walk { nodes, heights: vec![Height::Unknown; nodes.len()], knots: Vec::new() };
    for id in 0..nodes.len() {
        walk.height(id, 0);
    }
    walk.knots
}

#[derive(Clone, Copy, PartialEq)]
enum Height {
    Unknown,
    // On the way to it: whoever meets it again has found a loop.
    Open,
    Known(usize),
}

struct Walk<'a> {
    nodes: &'a [Node],
    heights: Vec<Height>,
    knots: Vec<(Id, Knot)>,
}

impl Walk<'_> {
    fn height(&mut self, id: Id, depth: usize) -> usize {
        match self.heights[id] {
            Height::Known(height) => return height,
            Height::Open => {
                self.knots.push((id, Knot::Loop));
                return 0;
            }
            Height::Unknown => {}
        }
        if depth > MAX_CHAIN {
            self.knots.push((id, Knot::Long));
            return 0;
        }
        self.heights[id] = Height::Open;
        let nodes = self.nodes;
        let below = nodes[id].rules.iter().flat_map(Rule::same_value);
        let height = below.map(|next| 1 + self.height(next, depth + 1)).max().unwrap_or(0);
        self.heights[id] = Height::Known(height);
        if height > MAX_CHAIN && self.knots.is_empty() {
            self.knots.push((id, Knot::Long));
        }
        height
    }
}
