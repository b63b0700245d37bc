//! Streams that no server sends: every fixture cut, flipped, doubled and spliced. No decoder panics, none says anything
//! behind an end, and what is opened is closed.

use std::collections::BTreeMap;
use std::fs;

use pagehand::protocol::ModelEvent;
use pagehand::providers::Vendor;
use proptest::prelude::*;

use super::{asked, events, target};
use crate::support::{fixture, root};

/// One change of a stream; places are shares of its length.
#[derive(Clone, Debug)]
enum Change {
    Cut(f64),
    Flip(f64, u8),
    Drop(f64, f64),
    Double(f64, f64),
    /// Lines change places.
    Swap(usize, usize),
    DoubleLine(usize),
    DropLine(usize),
    /// Goes on with another fixture from there.
    Splice(f64, usize),
}

fn change() -> impl Strategy<Value = Change> {
    let place = || 0.0..1.0f64;
    prop_oneof![
        place().prop_map(Change::Cut),
        (place(), 1u8..).prop_map(|(at, bits)| Change::Flip(at, bits)),
        (place(), place()).prop_map(|(from, to)| Change::Drop(from, to)),
        (place(), place()).prop_map(|(from, to)| Change::Double(from, to)),
        (0usize..64, 0usize..64).prop_map(|(one, other)| Change::Swap(one, other)),
        (0usize..64).prop_map(Change::DoubleLine),
        (0usize..64).prop_map(Change::DropLine),
        (place(), 0usize..1024).prop_map(|(at, other)| Change::Splice(at, other)),
    ]
}

#[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a place")]
fn place(bytes: &[u8], share: f64) -> usize {
    ((bytes.len() as f64 * share) as usize).min(bytes.len().saturating_sub(1))
}

fn apply(mut bytes: Vec<u8>, change: &Change, all: &[Vec<u8>]) -> Vec<u8> {
    let between = |bytes: &[u8], one: f64, other: f64| {
        let (one, other) = (place(bytes, one), place(bytes, other));
        one.min(other)..one.max(other)
    };
    let lines = |bytes: &[u8]| bytes.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect::<Vec<_>>();
    if bytes.is_empty() {
        return bytes;
    }
    match *change {
        Change::Cut(at) => bytes.truncate(place(&bytes, at)),
        Change::Flip(at, bits) => {
            let at = place(&bytes, at);
            bytes[at] ^= bits;
        }
        Change::Drop(from, to) => drop(bytes.drain(between(&bytes.clone(), from, to))),
        Change::Double(from, to) => {
            let range = between(&bytes, from, to);
            let piece = bytes[range.clone()].to_vec();
            bytes.splice(range.end..range.end, piece);
        }
        Change::Swap(one, other) => {
            let mut lines = lines(&bytes);
            let count = lines.len();
            lines.swap(one % count, other % count);
            bytes = lines.concat();
        }
        Change::DoubleLine(at) => {
            let mut lines = lines(&bytes);
            let at = at % lines.len();
            lines.insert(at, lines[at].clone());
            bytes = lines.concat();
        }
        Change::DropLine(at) => {
            let mut lines = lines(&bytes);
            lines.remove(at % lines.len());
            bytes = lines.concat();
        }
        Change::Splice(at, other) => {
            bytes.truncate(place(&bytes, at));
            let other = &all[other % all.len()];
            bytes.extend_from_slice(&other[place(other, at)..]);
        }
    }
    bytes
}

/// Every fixture.
fn all() -> Vec<Vec<u8>> {
    let folder = root().join("tests/fixtures/providers");
    let mut names: Vec<String> = fs::read_dir(&folder)
        .unwrap()
        .flat_map(|vendor| fs::read_dir(vendor.unwrap().path()).unwrap())
        .map(|file| file.unwrap().path().strip_prefix(&folder).unwrap().to_str().unwrap().to_owned())
        .collect();
    names.sort();
    names.iter().map(|name| fixture(&format!("providers/{name}"))).collect()
}

/// What holds of the events of any stream, however broken.
fn check(events: &[ModelEvent]) -> Result<(), TestCaseError> {
    let mut part = None;
    let mut calls: BTreeMap<usize, bool> = BTreeMap::new();
    for (at, event) in events.iter().enumerate() {
        match event {
            ModelEvent::Finish(_) | ModelEvent::Error(_) => {
                prop_assert_eq!(at + 1, events.len(), "something behind the end: {:?}", events);
                if matches!(event, ModelEvent::Finish(_)) {
                    prop_assert!(part.is_none(), "a part is open at the end: {:?}", events);
                    prop_assert!(calls.values().all(|open| !open), "a call is open at the end: {:?}", events);
                }
            }
            ModelEvent::Start => prop_assert_eq!(at, 0, "two starts: {:?}", events),
            ModelEvent::TextStart => prop_assert_eq!(part.replace("text"), None, "{:?}", events),
            ModelEvent::ReasoningStart => prop_assert_eq!(part.replace("reasoning"), None, "{:?}", events),
            ModelEvent::TextDelta(_) | ModelEvent::TextEncrypted(_) => {
                prop_assert_eq!(part, Some("text"), "{:?}", events);
            }
            ModelEvent::ReasoningDelta(_) | ModelEvent::ReasoningEncrypted(_) => {
                prop_assert_eq!(part, Some("reasoning"), "{:?}", events);
            }
            ModelEvent::TextEnd => prop_assert_eq!(part.take(), Some("text"), "{:?}", events),
            ModelEvent::ReasoningEnd => prop_assert_eq!(part.take(), Some("reasoning"), "{:?}", events),
            ModelEvent::CallStart { slot, .. } => {
                prop_assert_eq!(part, None, "a call inside a part: {:?}", events);
                prop_assert_eq!(calls.insert(*slot, true), None, "a slot twice: {:?}", events);
            }
            ModelEvent::CallDelta { slot, .. } => prop_assert_eq!(calls.get(slot), Some(&true), "{:?}", events),
            ModelEvent::CallEnd { slot } => prop_assert_eq!(calls.insert(*slot, false), Some(true), "{:?}", events),
            ModelEvent::CallEncrypted { slot, .. } => prop_assert!(calls.contains_key(slot), "{:?}", events),
            ModelEvent::CallArguments { .. }
            | ModelEvent::CallResult { .. }
            | ModelEvent::Replace(_)
            | ModelEvent::TextWasReasoning
            | ModelEvent::Usage(_)
            | ModelEvent::Alive
            | ModelEvent::Note(_) => {}
        }
    }
    Ok(())
}

// A vendor for each codec, and those whose codec goes its own way.
const VENDORS: &[&str] =
    &["anthropic", "gemini", "gemini_interactions", "openai_responses", "ollama", "openai_compatible", "deepseek"];

#[test]
fn every_fixture_as_it_is_keeps_the_order_of_events_with_every_codec() {
    for bytes in all() {
        for vendor in Vendor::all() {
            check(&events(&target(vendor.name), &asked(), &[&bytes])).unwrap();
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1500) })]

    #[test]
    fn a_broken_stream_never_breaks_a_decoder(
        start in 0usize..1024,
        changes in prop::collection::vec(change(), 1..5),
        pieces in prop::collection::vec(1usize..200, 1..6),
    ) {
        let all = all();
        let bytes = changes.iter().fold(all[start % all.len()].clone(), |bytes, change| apply(bytes, change, &all));
        for vendor in VENDORS {
            let target = target(vendor);
            let whole = events(&target, &asked(), &[&bytes]);
            check(&whole)?;
            let mut rest = bytes.as_slice();
            let mut cut = Vec::new();
            for size in pieces.iter().cycle() {
                let (piece, more) = rest.split_at((*size).min(rest.len()));
                cut.push(piece);
                rest = more;
                if rest.is_empty() {
                    break;
                }
            }
            prop_assert_eq!(events(&target, &asked(), &cut), whole, "{}", vendor);
        }
    }
}
