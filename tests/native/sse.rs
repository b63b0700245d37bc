//! The event-stream grammar, over bytes that arrive in any pieces.

use pagehand::wire::sse::{MAX_EVENT_BYTES, SseDecoder};

use crate::support::whole_and_in_pieces;

// Events as (event, data).
type Events = Vec<(String, String)>;

fn decode(pieces: &[&[u8]]) -> Events {
    let mut decoder = SseDecoder::default();
    let mut events = Vec::new();
    let mut take = |decoder: &mut SseDecoder| {
        events.extend(std::iter::from_fn(|| decoder.next()).map(|event| (event.kind, event.data)));
    };
    for piece in pieces {
        decoder.push(piece).unwrap();
        take(&mut decoder);
    }
    decoder.finish();
    take(&mut decoder);
    events
}

fn check(bytes: &[u8], expected: &[(&str, &str)]) {
    let found = whole_and_in_pieces(bytes, decode);
    let found: Vec<(&str, &str)> = found.iter().map(|(kind, data)| (kind.as_str(), data.as_str())).collect();
    assert_eq!(found, expected, "{:?}", String::from_utf8_lossy(bytes));
}

// Bytes, and the events in them.
type Case<'a> = (&'a [u8], &'a [(&'a str, &'a str)]);

// Made by us from the grammar, WHATWG HTML §9.2.6; the lines marked «spec» are its own examples.
#[test]
fn every_form_of_the_grammar_gives_its_events() {
    let cases: &[Case<'_>] = &[
        (b"", &[]),
        (b"data: a\n\n", &[("", "a")]),
        // Line ends.
        (b"data: a\r\rdata: b\r\r", &[("", "a"), ("", "b")]),
        (b"data: a\r\n\r\ndata: b\r\n\r\n", &[("", "a"), ("", "b")]),
        (b"event: x\r\ndata: a\r\ndata: b\r\n\r\n", &[("x", "a\nb")]),
        (b"data: a\n\r\ndata: b\r\n\n", &[("", "a"), ("", "b")]),
        (b"data: a\r\n\rdata: b\n\r", &[("", "a"), ("", "b")]),
        (b"\n\n\r\n\rdata: a\n\n\n\n", &[("", "a")]),
        // The byte order mark: dropped at the very start, a character anywhere else.
        (b"\xef\xbb\xbfdata: a\n\n", &[("", "a")]),
        (b"\xef\xbb\xbf\xef\xbb\xbfdata: a\n\n", &[]),
        (b"data: a\n\n\xef\xbb\xbfdata: b\n\n", &[("", "a")]),
        (b"data: \xef\xbb\xbfa\n\n", &[("", "\u{feff}a")]),
        (b"\xef\xbb\xbf", &[]),
        // Comments and fields nobody knows.
        (b": keep-alive\n\n:\n\ndata: a\n: OPENROUTER PROCESSING\n\n", &[("", "a")]),
        (b"id: 7\nretry: 10\nflavour: sweet\ndata: a\n\n", &[("", "a")]),
        (b"Data: a\n data: b\n\n", &[]),
        // Spaces: at most one is taken away.
        (b"data:a\n\n", &[("", "a")]),
        (b"data:  a \n\n", &[("", " a ")]),
        (b"data:\ta\n\n", &[("", "\ta")]),
        // Colons.
        (b"data:{\"a\":1}\n\n", &[("", "{\"a\":1}")]),
        (b"data: a: b\n\n", &[("", "a: b")]),
        // Several lines of data, and lines without a value (spec).
        (b"data: a\ndata: b\n\n", &[("", "a\nb")]),
        (b"data: YHOO\ndata: +2\ndata: 10\n\n", &[("", "YHOO\n+2\n10")]),
        (b"data\n\ndata\ndata\n\n", &[("", ""), ("", "\n")]),
        (b"data:test\n\ndata: test\n\n", &[("", "test"), ("", "test")]),
        (b"data:\ndata: a\ndata:\n\n", &[("", "\na\n")]),
        // The event's name: the last one counts, for one event only, and makes none without data.
        (b"event: add\ndata: 1\n\ndata: 2\n\n", &[("add", "1"), ("", "2")]),
        (b"event: add\nevent: remove\ndata: 1\n\n", &[("remove", "1")]),
        (b"event: add\n\ndata: 1\n\n", &[("", "1")]),
        // The end without a blank line, without a line end, in the middle of a field's name.
        (b"data: a\n\ndata: b\n", &[("", "a"), ("", "b")]),
        (b"data: a\n\ndata: b", &[("", "a"), ("", "b")]),
        (b"data: a\r", &[("", "a")]),
        (b"data: a\n\nda", &[("", "a")]),
        // NUL is a character like another; bytes that are not UTF-8 are replaced; characters may be cut.
        (b"data: a\0b\n\n", &[("", "a\0b")]),
        (b"data: \xff\xfe\n\n", &[("", "\u{fffd}\u{fffd}")]),
        ("data: Ærø — 𝄞 👩‍💻\n\n".as_bytes(), &[("", "Ærø — 𝄞 👩‍💻")]),
    ];
    for (bytes, expected) in cases {
        check(bytes, expected);
    }
}

// An event of `size` bytes of data, in pieces of `step`.
fn push_long(size: usize, step: usize) -> Result<usize, String> {
    let bytes = [b"data: small\n\ndata:".as_slice(), &vec![b'x'; size], b"\n\n"].concat();
    let mut decoder = SseDecoder::default();
    for piece in bytes.chunks(step) {
        decoder.push(piece).map_err(|why| why.to_string())?;
    }
    Ok(std::iter::from_fn(|| decoder.next()).map(|event| event.data.len()).sum())
}

#[test]
fn an_event_past_the_limit_fails_however_it_arrives() {
    let longest = MAX_EVENT_BYTES - "data:".len();
    for step in [usize::MAX, 65_536, 4_093] {
        assert_eq!(push_long(longest, step), Ok("small".len() + longest), "in pieces of {step}");
        let error = push_long(longest + 1, step);
        assert_eq!(error, Err("an event of the stream is longer than 10 MiB".to_owned()), "in pieces of {step}");
    }
}

#[test]
fn many_lines_of_data_count_as_one_event() {
    let line = [b"data:".as_slice(), &vec![b'x'; 1024 * 1024], b"\n"].concat();
    for step in [usize::MAX, 65_536] {
        let mut decoder = SseDecoder::default();
        let whole = line.repeat(11);
        assert!(whole.chunks(step).any(|piece| decoder.push(piece).is_err()), "in pieces of {step}");
    }
}

#[test]
fn what_came_before_the_limit_is_kept_and_nothing_after_it_is_taken() {
    let mut decoder = SseDecoder::default();
    let long = [b"data: first\n\ndata:".as_slice(), &vec![b'x'; MAX_EVENT_BYTES], b"\n\ndata: last\n\n"].concat();
    decoder.push(&long).unwrap_err();
    decoder.push(b"\n\ndata: more\n\n").unwrap_err();
    decoder.finish();
    assert_eq!(decoder.next().unwrap().data, "first");
    assert_eq!(decoder.next(), None);
}
