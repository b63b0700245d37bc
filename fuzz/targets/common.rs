//! What every decoder must hold to, whatever the bytes: no panic, the same in whatever pieces they come, nothing behind a
//! terminal event, calls opened before they are written to, and no more held than what came in.

use pagehand::protocol::{ModelEvent, ModelRequest, RunId, ThreadId};
use pagehand::providers::{Target, Vendor};

/// A request that says nothing.
pub fn request() -> ModelRequest {
    ModelRequest::new(ThreadId::from("t"), RunId::from("r"))
}

/// What a vendor's decoder makes of bytes.
#[allow(dead_code, reason = "each target takes its part of this")]
pub fn vendor(name: &str, bytes: &[u8]) {
    let vendor = Vendor::find(name).expect("a vendor");
    let target = Target::new(vendor, "", "m", serde_json::Map::new(), None);
    let decode = |pieces: &[&[u8]]| {
        let mut decoder = target.decoder(&request());
        let mut events = Vec::new();
        for piece in pieces {
            decoder.push(piece);
            events.extend(std::iter::from_fn(|| decoder.next()));
        }
        decoder.finish();
        events.extend(std::iter::from_fn(|| decoder.next()));
        events
    };
    check(bytes, decode);
}

/// Holds a decoder to it.
pub fn check(bytes: &[u8], decode: impl Fn(&[&[u8]]) -> Vec<ModelEvent>) {
    let events = decode(&[bytes]);
    // The first byte says where the rest is cut.
    let at = bytes.first().map_or(0, |first| usize::from(*first) * bytes.len() / 256);
    let (head, tail) = bytes.split_at(at);
    assert_eq!(decode(&[head, tail]), events, "cut at {at}");
    if bytes.len() <= 512 {
        let single: Vec<&[u8]> = bytes.chunks(1).collect();
        assert_eq!(decode(&single), events, "byte by byte");
    }
    let ends = |event: &ModelEvent| matches!(event, ModelEvent::Finish(_) | ModelEvent::Error(_));
    let end = events.iter().position(ends);
    assert!(end.is_none_or(|end| end + 1 == events.len()), "something comes behind the end");
    let mut open = Vec::new();
    let mut held = 0;
    for event in &events {
        match event {
            ModelEvent::CallStart { slot, .. } => {
                assert_eq!(*slot, open.len(), "slots are numbered in their order");
                open.push(true);
            }
            ModelEvent::CallDelta { slot, text } => {
                assert!(open[*slot], "a call that is closed goes on");
                held += text.len();
            }
            ModelEvent::CallEnd { slot } => assert!(std::mem::replace(&mut open[*slot], false), "closed twice"),
            ModelEvent::TextDelta(text) | ModelEvent::ReasoningDelta(text) => held += text.len(),
            _ => {}
        }
    }
    // Bytes that are no UTF-8 become three each; what escapes say is shorter than they are.
    assert!(held <= bytes.len() * 4 + 256, "{held} bytes of words out of {}", bytes.len());
}
