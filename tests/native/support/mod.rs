//! What several files of tests need: ways to feed a decoder, tools to register, model events in short words.

pub(crate) mod loop_driver;
pub(crate) mod tools;
pub(crate) mod words;

use std::fmt::Debug;
use std::fs;
use std::path::{Path, PathBuf};

/// The package's folder.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// A stream. Its first line says where its bytes come from: a comment of the event-stream grammar, which stays; JSON lines
/// have no comments, so there it is taken off.
pub(crate) fn fixture(path: &str) -> Vec<u8> {
    let place = root().join("tests/fixtures").join(path);
    let bytes = fs::read(&place).unwrap_or_else(|why| panic!("{}: {why}", place.display()));
    assert!(bytes.starts_with(b": source: "), "{path} does not say where its bytes come from");
    if !path.ends_with(".ndjson") {
        return bytes;
    }
    bytes.splitn(2, |byte| *byte == b'\n').nth(1).unwrap_or_default().to_vec()
}

/// A public test suite, from the folder in `PAGEHAND_SUITES` or beside this repository; or `None`, said aloud.
pub(crate) fn suite(path: &str) -> Option<PathBuf> {
    let folder = std::env::var_os("PAGEHAND_SUITES").map_or_else(|| root().join("../shared/suites"), PathBuf::from);
    let place = folder.join(path);
    if place.exists() {
        return Some(place);
    }
    println!("skipped: the suite {path} is not on this machine");
    None
}

/// What a decoder makes of bytes, which must be the same whole, byte by byte, and cut anywhere into two.
pub(crate) fn whole_and_in_pieces<T: Debug + PartialEq>(bytes: &[u8], decode: impl Fn(&[&[u8]]) -> T) -> T {
    let whole = decode(&[bytes]);
    let single: Vec<&[u8]> = bytes.chunks(1).collect();
    assert_eq!(decode(&single), whole, "byte by byte");
    for at in 0..=bytes.len() {
        let (head, tail) = bytes.split_at(at);
        assert_eq!(decode(&[head, tail]), whole, "cut at {at}, after {:?}", String::from_utf8_lossy(last(head)));
    }
    whole
}

fn last(bytes: &[u8]) -> &[u8] {
    &bytes[bytes.len().saturating_sub(40)..]
}
