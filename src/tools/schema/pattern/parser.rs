//! A pattern's text to a program. Matches nothing.

use super::{DIGIT, LAST, LINE_END, Program, Range, Refusal, SPACE, Set, Step, WORD};

// Groups within groups, and steps all told: `(a{1000}){1000}` would be a million.
const MAX_NESTING: usize = 40;
const MAX_STEPS: usize = 5_000;

const BOUNDED: &str = "which can not be checked in bounded time";

pub(super) fn parse(text: &str) -> Result<Program, Refusal> {
    let mut parser = Parser { rest: text, nesting: 0, sets: Vec::new() };
    let steps = parser.alternatives()?;
    if parser.rest.starts_with(')') {
        return broken("has a \")\" without its \"(\"");
    }
    Ok(Program { steps, sets: parser.sets })
}

struct Parser<'a> {
    rest: &'a str,
    nesting: usize,
    sets: Vec<Set>,
}

type Steps = Result<Vec<Step>, Refusal>;

impl Parser<'_> {
    fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let mut letters = self.rest.chars();
        let letter = letters.next();
        self.rest = letters.as_str();
        letter
    }

    fn eat(&mut self, prefix: &str) -> bool {
        let tail = self.rest.strip_prefix(prefix);
        self.rest = tail.unwrap_or(self.rest);
        tail.is_some()
    }

    fn alternatives(&mut self) -> Steps {
        let mut all = self.sequence()?;
        while self.eat("|") {
            let other = self.sequence()?;
            all = either(&all, &other);
            sized(&all)?;
        }
        Ok(all)
    }

    fn sequence(&mut self) -> Steps {
        let mut all = Vec::new();
        while self.peek().is_some_and(|letter| letter != '|' && letter != ')') {
            let piece = self.piece()?;
            all.extend(piece);
            sized(&all)?;
        }
        Ok(all)
    }

    fn piece(&mut self) -> Steps {
        let piece = self.atom()?;
        let Some((least, most)) = self.quantifier()? else { return Ok(piece) };
        if matches!(piece[..], [Step::Start | Step::End | Step::Edge(_)]) {
            return broken("repeats something that is not a character");
        }
        // Lazy or not makes no difference to whether a text fits.
        self.eat("?");
        if self.quantifier()?.is_some() {
            return broken("repeats a repetition");
        }
        repeat(&piece, least, most)
    }

    fn quantifier(&mut self) -> Result<Option<(usize, Option<usize>)>, Refusal> {
        let found = match self.peek() {
            Some('*') => (0, None),
            Some('+') => (1, None),
            Some('?') => (0, Some(1)),
            Some('{') => return self.counted().map(Some),
            _ => return Ok(None),
        };
        self.next();
        Ok(Some(found))
    }

    // `{2}`, `{2,}`, `{2,3}`.
    fn counted(&mut self) -> Result<(usize, Option<usize>), Refusal> {
        let bad = || Refusal::Broken("has a \"{\" that counts nothing; write \\{ for the character itself".to_owned());
        let (inside, tail) = self.rest[1..].split_once('}').ok_or_else(bad)?;
        let count = |text: &str| {
            let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
            digits.then(|| text.parse().unwrap_or(usize::MAX)).ok_or_else(bad)
        };
        let (least, most) = match inside.split_once(',') {
            None => (count(inside)?, Some(count(inside)?)),
            Some((least, "")) => (count(least)?, None),
            Some((least, most)) => (count(least)?, Some(count(most)?)),
        };
        if most.is_some_and(|most| most < least) {
            return broken("has a repetition with its bounds the wrong way round");
        }
        self.rest = tail;
        Ok((least, most))
    }

    fn atom(&mut self) -> Steps {
        match self.next() {
            Some('^') => Ok(vec![Step::Start]),
            Some('$') => Ok(vec![Step::End]),
            Some('.') => Ok(self.set(true, LINE_END.to_vec())),
            Some('(') => self.group(),
            Some('[') => self.class(),
            Some('\\') => self.escape(),
            Some(letter @ ('*' | '+' | '?' | '{')) => broken(&format!("has a \"{letter}\" with nothing to repeat")),
            Some(letter) => Ok(self.letter(letter)),
            None => Ok(Vec::new()),
        }
    }

    fn set(&mut self, negated: bool, ranges: Vec<Range>) -> Vec<Step> {
        let set = Set { negated, ranges };
        let known = self.sets.iter().position(|known| *known == set);
        let number = known.unwrap_or(self.sets.len());
        if known.is_none() {
            self.sets.push(set);
        }
        vec![Step::One(number)]
    }

    fn letter(&mut self, letter: char) -> Vec<Step> {
        let number = u32::from(letter);
        self.set(false, vec![(number, number)])
    }

    fn group(&mut self) -> Steps {
        if self.eat("?") && !self.eat(":") {
            match self.rest.as_bytes() {
                [b'=' | b'!', ..] | [b'<', b'=' | b'!', ..] => {
                    return unchecked(&format!("looks ahead or back, {BOUNDED}"));
                }
                [b'<', ..] => {
                    let (_, tail) = self.rest.split_once('>').ok_or_else(|| no_end("("))?;
                    self.rest = tail;
                }
                [b'P', ..] => return broken("has Python's (?P<…>); write (?<…>) or (…)"),
                _ => return unchecked("sets flags, which is not checked here"),
            }
        }
        self.nesting += 1;
        if self.nesting > MAX_NESTING {
            return unchecked(&format!("has groups nested deeper than {MAX_NESTING}"));
        }
        let inside = self.alternatives()?;
        self.nesting -= 1;
        if self.eat(")") { Ok(inside) } else { Err(no_end("(")) }
    }

    fn class(&mut self) -> Steps {
        let negated = self.eat("^");
        let mut ranges = Vec::new();
        loop {
            if self.eat("]") {
                return Ok(self.set(negated, ranges));
            }
            let Some(first) = self.member(&mut ranges)? else { continue };
            // A hyphen before the end is itself.
            let dashed = self.rest.starts_with('-') && !self.rest.starts_with("-]");
            if !dashed {
                ranges.push((first, first));
                continue;
            }
            self.next();
            match self.member(&mut ranges)? {
                Some(last) if first <= last => ranges.push((first, last)),
                Some(_) => return broken("has a range with its ends the wrong way round"),
                None => return broken("has a range that ends in a class"),
            }
        }
    }

    // One character of a class, or `None` where it was a class itself, whose ranges were added.
    fn member(&mut self, ranges: &mut Vec<Range>) -> Result<Option<u32>, Refusal> {
        match self.next() {
            None => Err(no_end("[")),
            Some('\\') if self.eat("b") => Ok(Some(8)),
            Some('\\') if self.eat("-") => Ok(Some(u32::from('-'))),
            Some('\\') => match self.known_class() {
                Some((negated, class)) => {
                    if negated {
                        ranges.extend(complement(class));
                    } else {
                        ranges.extend(class);
                    }
                    Ok(None)
                }
                None => self.character().map(Some),
            },
            Some(letter) => Ok(Some(u32::from(letter))),
        }
    }

    fn escape(&mut self) -> Steps {
        if let Some((negated, class)) = self.known_class() {
            return Ok(self.set(negated, class.to_vec()));
        }
        match self.peek() {
            Some(letter @ ('b' | 'B')) => {
                self.next();
                Ok(vec![Step::Edge(letter == 'b')])
            }
            Some('1'..='9' | 'k') => unchecked(&format!("refers back to what it found before, {BOUNDED}")),
            _ => {
                let number = self.character()?;
                Ok(self.set(false, vec![(number, number)]))
            }
        }
    }

    fn known_class(&mut self) -> Option<(bool, &'static [Range])> {
        let letter = self.peek()?;
        let class = match letter.to_ascii_lowercase() {
            'd' => DIGIT,
            'w' => WORD,
            's' => SPACE,
            _ => return None,
        };
        self.next();
        Some((letter.is_ascii_uppercase(), class))
    }

    // After a backslash: one character's number.
    fn character(&mut self) -> Result<u32, Refusal> {
        let Some(letter) = self.next() else { return broken("ends in a backslash") };
        Ok(match letter {
            't' => 9,
            'n' => 10,
            'v' => 11,
            'f' => 12,
            'r' => 13,
            '0' if !self.peek().is_some_and(|next| next.is_ascii_digit()) => 0,
            'c' => match self.next() {
                Some(control) if control.is_ascii_alphabetic() => u32::from(control) % 32,
                _ => return broken("has a \\c without its letter"),
            },
            'x' => self.hex(2)?,
            'u' => self.unicode()?,
            'p' | 'P' => {
                return unchecked("asks for a class of Unicode's letters, which is not checked here; name the ranges");
            }
            'A' => return broken("has \\A, which JSON Schema writes ^"),
            'z' | 'Z' => return broken("has \\Z, which JSON Schema writes $"),
            other if other.is_ascii_alphanumeric() => {
                return broken(&format!("has \\{other}, which is no escape of ECMA 262"));
            }
            other => u32::from(other),
        })
    }

    // `\u{1F600}`, `\u00e9`, or two halves of a pair.
    fn unicode(&mut self) -> Result<u32, Refusal> {
        if self.eat("{") {
            let (digits, tail) = self.rest.split_once('}').ok_or_else(|| no_end("\\u{"))?;
            let number = u32::from_str_radix(digits, 16).ok().filter(|number| *number <= LAST);
            self.rest = tail;
            return number.map_or_else(|| broken("has a \\u{…} that is no character"), Ok);
        }
        let high = self.hex(4)?;
        if (0xD800..0xDC00).contains(&high) && self.eat("\\u") {
            let low = self.hex(4)?;
            return Ok(0x10000 + ((high & 0x3FF) << 10) + (low & 0x3FF));
        }
        Ok(high)
    }

    fn hex(&mut self, digits: usize) -> Result<u32, Refusal> {
        let mut number = 0;
        for _ in 0..digits {
            match self.next().and_then(|letter| letter.to_digit(16)) {
                Some(digit) => number = number * 16 + digit,
                None => return broken("has a character's number that is too short"),
            }
        }
        Ok(number)
    }
}

fn either(one: &[Step], other: &[Step]) -> Vec<Step> {
    let mut all = vec![Step::Fork(1, signed(one.len()) + 2)];
    all.extend(one);
    all.push(Step::Jump(signed(other.len()) + 1));
    all.extend(other);
    all
}

fn repeat(piece: &[Step], least: usize, most: Option<usize>) -> Steps {
    let copies = most.unwrap_or(least).max(1);
    if (piece.len() + 1).saturating_mul(copies) > MAX_STEPS {
        return too_long();
    }
    let length = signed(piece.len());
    let mut all = Vec::new();
    for _ in 0..least {
        all.extend(piece);
    }
    match most {
        // Each further copy may be left out, and with it all after it: out at the end of this one is enough.
        Some(most) => {
            for _ in least..most {
                all.push(Step::Fork(1, length + 1));
                all.extend(piece);
            }
        }
        None => {
            all.push(Step::Fork(1, length + 2));
            all.extend(piece);
            all.push(Step::Jump(-length - 1));
        }
    }
    Ok(all)
}

fn complement(class: &[Range]) -> Vec<Range> {
    let mut from = 0;
    let mut ranges = Vec::new();
    for (first, last) in class {
        ranges.push((from, first - 1));
        from = last + 1;
    }
    ranges.push((from, LAST));
    ranges
}

// No program is longer than `MAX_STEPS`.
fn signed(length: usize) -> isize {
    length as isize
}

fn sized(steps: &[Step]) -> Result<(), Refusal> {
    if steps.len() > MAX_STEPS { too_long().map(|_: Vec<Step>| ()) } else { Ok(()) }
}

fn too_long() -> Steps {
    unchecked("repeats too much to be checked here; say it with minLength and maxLength")
}

fn no_end(of: &str) -> Refusal {
    Refusal::Broken(format!("has a \"{of}\" without its end"))
}

fn broken<T>(words: &str) -> Result<T, Refusal> {
    Err(Refusal::Broken(words.to_owned()))
}

fn unchecked<T>(words: &str) -> Result<T, Refusal> {
    Err(Refusal::Unchecked(words.to_owned()))
}
