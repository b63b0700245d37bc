//! Marks that are still open at the end of a growing text, closed for the moment. Knows nothing of blocks.

/// The text with its last paragraph's open marks closed or, of a half-written link, left out;
/// `None` where there is nothing to mend. Never makes a link. Not for a text that ends in a block of code.
pub(super) fn tolerate(text: &str) -> Option<String> {
    let start = text.rfind("\n\n").map_or(0, |at| at + 2);
    let last = &text[start..];
    if let Some(kept) = before_open_code(last) {
        // An open code span: whatever is in it is no mark.
        let inside = &last[kept..];
        return (!inside.trim_matches('`').is_empty()).then(|| format!("{text}`"));
    }
    let (last, cut) = without_half_link(last);
    let close = open_marks(&last);
    if !cut && close.is_empty() {
        return None;
    }
    // A mark with nothing behind it yet is left out rather than closed: `****` would be a rule or nothing.
    let mended = match last.strip_suffix(close.as_str()) {
        Some(bare) if !close.is_empty() => format!("{}{bare}", &text[..start]),
        _ => format!("{}{}{close}", &text[..start], last.trim_end()),
    };
    Some(mended)
}

// Where a single-backtick code span opens that never closes.
fn before_open_code(text: &str) -> Option<usize> {
    let mut open = None;
    for (at, _) in text.match_indices('`') {
        open = if open.is_some() { None } else { Some(at) };
    }
    open.filter(|at| !text[*at..].starts_with("``"))
}

// `… [label](https://exam` → `… label`, as long as the address is not whole.
fn without_half_link(text: &str) -> (String, bool) {
    let whole = || (text.to_owned(), false);
    let Some(open) = text.rfind("](") else { return whole() };
    if text[open..].contains([')', '\n']) {
        return whole();
    }
    let Some(bracket) = text[..open].rfind('[') else { return whole() };
    let before = text[..bracket].strip_suffix('!').unwrap_or(&text[..bracket]);
    (format!("{before}{}", &text[bracket + 1..open]), true)
}

fn open_marks(text: &str) -> String {
    let odd = |mark: &str| text.matches(mark).count() % 2 == 1;
    let mut close = String::new();
    if odd("**") {
        close.push_str("**");
    }
    if odd("~~") {
        close.push_str("~~");
    }
    close
}
