//! Characters cut in two, put together again.

use pagehand::wire::halves::Halves;
use proptest::prelude::*;

fn mended(texts: &[&str]) -> Vec<Option<String>> {
    let mut halves = Halves::default();
    texts.iter().map(|text| halves.mend(text)).collect()
}

fn some(texts: &[&str]) -> Vec<Option<String>> {
    texts.iter().map(|text| Some((*text).to_owned())).collect()
}

#[test]
fn a_character_that_two_texts_share_is_one_again() {
    assert_eq!(mended(&[r#""b\ud83d""#, r#""\udc4d c""#]), some(&[r#""b""#, r#""\ud83d\udc4d c""#]));
    // With a text between that has no halves.
    assert_eq!(
        mended(&[r#""\ud83d""#, "{}", r#""\uDC4D""#]),
        [some(&[r#""""#]), vec![None], some(&[r#""\ud83d\udc4d""#])].concat()
    );
}

#[test]
fn a_second_half_without_a_first_is_replaced() {
    assert_eq!(mended(&[r#""\udc4d""#]), some(&[r#""\ufffd""#]));
    assert_eq!(mended(&[r#""\ud83d\ud83d""#, r#""\udc4d\udc4d""#]), some(&[r#""""#, r#""\ud83d\udc4d\ufffd""#]));
}

#[test]
fn what_has_no_halves_is_left_alone() {
    for text in [
        r#""\ud83d\udc4d""#,
        r#""\\ud83d""#,
        r#""\\\\ud83d""#,
        r#""\u00e6\n\"""#,
        "\"\\",
        "\"\\u12",
        "\"\\uzzzz\"",
        "æ\\ø",
    ] {
        assert_eq!(mended(&[text]), [None], "{text}");
    }
}

proptest! {
    /// Any text, as JavaScript writes it and cut between any two units: the words are the same.
    #[test]
    fn any_cut_between_units_is_mended(words in ".{0,12}", at in 0..24usize) {
        let units: Vec<u16> = words.encode_utf16().collect();
        let at = at.min(units.len());
        let written = |units: &[u16]| format!("\"{}\"", units.iter().map(|unit| format!("\\u{unit:04x}")).collect::<String>());
        let mut halves = Halves::default();
        let read = |text: String, halves: &mut Halves| -> String {
            let text = halves.mend(&text).unwrap_or(text);
            serde_json::from_str(&text).unwrap()
        };
        let first = read(written(&units[..at]), &mut halves);
        prop_assert_eq!(first + &read(written(&units[at..]), &mut halves), words);
    }
}
