#![no_main]

use pagehand::wire::sse::{SseDecoder, SseEvent};

fn decode(pieces: &[&[u8]]) -> Vec<SseEvent> {
    let mut decoder = SseDecoder::default();
    let mut events = Vec::new();
    for piece in pieces {
        if decoder.push(piece).is_err() {
            return events;
        }
        events.extend(std::iter::from_fn(|| decoder.next()));
    }
    decoder.finish();
    events.extend(std::iter::from_fn(|| decoder.next()));
    events
}

// The same events in whatever pieces the bytes come, and no more of them than there are bytes.
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let whole = decode(&[bytes]);
    let single: Vec<&[u8]> = bytes.chunks(1).collect();
    assert_eq!(decode(&single), whole, "byte by byte");
    let at = bytes.first().map_or(0, |first| usize::from(*first) * bytes.len() / 256);
    let (head, tail) = bytes.split_at(at);
    assert_eq!(decode(&[head, tail]), whole, "cut at {at}");
    let held: usize = whole.iter().map(|event| event.data.len() + event.kind.len() + 1).sum();
    assert!(held <= bytes.len() * 3 + 1, "{held} bytes of events out of {}", bytes.len());
});
