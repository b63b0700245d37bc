#![no_main]

mod common;

use pagehand::ag_ui::AgUiDecoder;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let _ = common::vendor;
    let decode = |pieces: &[&[u8]]| {
        let mut decoder = AgUiDecoder::new(&common::request());
        let mut events = Vec::new();
        for piece in pieces {
            decoder.push(piece);
            events.extend(std::iter::from_fn(|| decoder.next()));
        }
        decoder.finish();
        events.extend(std::iter::from_fn(|| decoder.next()));
        events
    };
    common::check(bytes, decode);
});
