//! A sentence as clauses, and what can be found in one: words, order ids, quoted text. Knows nothing of tools.

/// A part of a sentence that wants one thing.
pub(super) struct Clause<'a> {
    /// As it was written, without courtesies.
    pub(super) verbatim: &'a str,
    /// The same without the punctuation at its end.
    pub(super) text: &'a str,
    /// The same in lower case; ASCII only, so that places in both are the same.
    pub(super) low: String,
}

// Words that begin a new wish after "and", "then" or a comma; others go on with the same one, so that
// "A-1042 and A-1043" and "it broke and leaks" stay whole.
const COMMANDS: &[&str] = &[
    "open",
    "copy",
    "show",
    "find",
    "search",
    "list",
    "refund",
    "add",
    "compare",
    "highlight",
    "scroll",
    "paste",
    "read",
    "filter",
    "tell",
    "go",
    "navigate",
    "take",
    "summarise",
    "summarize",
    "where",
    "what",
    "how",
    "help",
    "use",
    "track",
    "export",
];

const COURTESIES: &[&str] = &[
    "please ",
    "and ",
    "then ",
    "also ",
    "now ",
    "just ",
    "so ",
    "ok ",
    "okay ",
    "hey ",
    "hi ",
    "hello ",
    "can you ",
    "could you ",
    "would you ",
    "will you ",
    "i want you to ",
    "i want to ",
    "i would like to ",
    "i'd like to ",
    "i need to ",
    "let's ",
    "let us ",
    "next ",
    "finally ",
];

impl<'a> Clause<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        let verbatim = without_courtesies(text);
        let text = verbatim.trim_end_matches([',', '.', '?', '!', ';', ' ']);
        Self { verbatim, text, low: text.to_ascii_lowercase() }
    }

    /// The words, without punctuation.
    pub(super) fn words(&self) -> impl Iterator<Item = &str> {
        words(&self.low)
    }

    /// Whether one of these words stands in it.
    pub(super) fn has(&self, any: &[&str]) -> bool {
        self.words().any(|word| any.contains(&word))
    }

    /// Whether its first word is one of these.
    pub(super) fn begins(&self, any: &[&str]) -> bool {
        self.words().next().is_some_and(|word| any.contains(&word))
    }

    /// Whether one of these phrases stands in it.
    pub(super) fn says(&self, any: &[&str]) -> bool {
        any.iter().any(|phrase| self.low.contains(phrase))
    }

    /// What follows the first of these phrases that it holds, as it was written.
    pub(super) fn after(&self, any: &[&str]) -> Option<&'a str> {
        let end = any.iter().find_map(|phrase| self.low.find(phrase).map(|at| at + phrase.len()))?;
        Some(self.text[end..].trim()).filter(|rest| !rest.is_empty())
    }

    /// The text between quotation marks.
    pub(super) fn quoted(&self) -> Option<&'a str> {
        let (open, close) =
            [('"', '"'), ('“', '”'), ('`', '`')].into_iter().find(|(open, _)| self.text.contains(*open))?;
        let (_, rest) = self.text.split_once(open)?;
        rest.split_once(close).map(|(inside, _)| inside).filter(|inside| !inside.is_empty())
    }
}

/// Splits a sentence where a new wish begins. What follows the colon of a note is never split.
pub(super) fn clauses(sentence: &str) -> Vec<&str> {
    let low = sentence.to_ascii_lowercase();
    let (mut parts, mut start, mut quoted) = (Vec::new(), 0, false);
    for (at, letter) in low.char_indices() {
        if matches!(letter, '"' | '“' | '”' | '`') {
            quoted = !quoted;
        }
        if quoted || at < start {
            continue;
        }
        if letter == ':' && words(&low[start..at]).any(|word| word == "note") {
            break;
        }
        if let Some(length) = boundary(&low[at..]) {
            parts.push(sentence[start..at].trim());
            start = at + length;
        }
    }
    parts.push(sentence[start..].trim());
    parts.retain(|part| !part.is_empty());
    parts
}

// The length of a boundary that stands at the beginning of `rest`.
fn boundary(rest: &str) -> Option<usize> {
    let mut letters = rest.chars();
    let first = letters.next()?;
    let ends = letters.next().is_none_or(char::is_whitespace);
    if matches!(first, '?' | '!' | '.' | ';' | '\n') && (ends || first == '\n') {
        return Some(1);
    }
    let joint = [" and ", " then ", ", ", ",\n"].into_iter().find(|joint| rest.starts_with(joint))?;
    let next = words(without_courtesies(&rest[joint.len()..])).next()?;
    COMMANDS.contains(&next).then_some(joint.len())
}

fn without_courtesies(text: &str) -> &str {
    let mut text = text.trim();
    while let Some(courtesy) = COURTESIES.iter().find(|courtesy| begins_with(text, courtesy)) {
        text = text[courtesy.len()..].trim_start();
    }
    text
}

fn begins_with(text: &str, prefix: &str) -> bool {
    text.get(..prefix.len()).is_some_and(|head| head.eq_ignore_ascii_case(prefix))
}

fn words(low: &str) -> impl Iterator<Item = &str> {
    low.split(|letter: char| !(letter.is_alphanumeric() || matches!(letter, '-' | '\'')))
        .map(|word| word.trim_matches(['-', '\'']))
        .filter(|word| !word.is_empty())
}

/// Whether a text begins like a new wish, not like an answer to a question.
pub(super) fn is_command(text: &str) -> bool {
    let low = text.to_ascii_lowercase();
    words(without_courtesies(&low)).next().is_some_and(|word| COMMANDS.contains(&word))
}

/// Whether a text takes the wish back.
pub(super) fn is_refusal(text: &str) -> bool {
    let low = text.trim().trim_end_matches(['.', '!']).to_ascii_lowercase();
    ["no", "none", "nothing", "cancel", "stop", "forget it", "never mind", "nevermind", "no thanks", "no, thanks"]
        .contains(&low.as_str())
}

/// The order ids in a text, in order and once each: `A-1042`, `a1042`, `order 1042`, `#1042`.
pub(super) fn order_ids(text: &str) -> Vec<String> {
    let low = text.to_ascii_lowercase();
    let (mut ids, mut previous) = (Vec::new(), "");
    for word in words(&low) {
        let bare = matches!(previous, "order" | "orders" | "number") || low.contains(&format!("#{word}"));
        let number =
            word.strip_prefix("a-").or_else(|| word.strip_prefix('a')).or((bare && word.len() == 4).then_some(word));
        // A possessive is part of the word: "A-1042's".
        let number = number.map(|number| number.trim_end_matches("'s"));
        let number =
            number.filter(|number| (1..=8).contains(&number.len()) && number.bytes().all(|b| b.is_ascii_digit()));
        if let Some(id) = number.map(|number| format!("A-{number}")).filter(|id| !ids.contains(id)) {
            ids.push(id);
        }
        previous = word;
    }
    ids
}

/// A customer's id in a text: `C-001`.
pub(super) fn customer_id(clause: &Clause<'_>) -> Option<String> {
    let digits = clause.words().find_map(|word| word.strip_prefix("c-"))?;
    digits.bytes().all(|digit| digit.is_ascii_digit()).then(|| format!("C-{digits}"))
}

/// An amount of money in cents: `€20`, `20 euros`, `12.50 eur`.
pub(super) fn cents(low: &str) -> Option<i64> {
    let amount = if let Some((_, rest)) = low.split_once('€') {
        rest.trim_start().split(|letter: char| !(letter.is_ascii_digit() || letter == '.')).next()?
    } else {
        let tokens: Vec<&str> = low.split_whitespace().collect();
        tokens.windows(2).find(|pair| matches!(pair[1], "euro" | "euros" | "eur")).map(|pair| pair[0])?
    };
    let (whole, part) = amount.trim_end_matches('.').split_once('.').unwrap_or((amount.trim_end_matches('.'), "0"));
    let whole: i64 = whole.parse().ok().filter(|whole| (0..1_000_000).contains(whole))?;
    let part: i64 = format!("{part:0<2}").get(..2)?.parse().ok()?;
    Some(whole * 100 + part)
}
