//! Thoughts that a model's server lets through among the words of its answer, told apart from them.
//!
//! Source: what servers of open models (llama.cpp, vLLM, LM Studio, Ollama) send where their own parser of thoughts is off,
//! or has no template for the model; for gpt-oss OpenAI's "harmony" format.
//!
//! | the answer begins with | who | here |
//! |---|---|---|
//! | `<think>…</think>`, `<thinking>…</thinking>` | DeepSeek, Qwen, GLM, MiniMax and many others | thoughts, then the answer |
//! | `[THINK]…[/THINK]` | Magistral | the same |
//! | `<\|channel>thought…<channel\|>` | Gemma 4 | the same |
//! | `<\|channel\|>analysis<\|message\|>…<\|end\|><\|start\|>assistant<\|channel\|>final<\|message\|>…` | gpt-oss | the channel `analysis` is thoughts, and so is what is addressed to a tool; the rest is the answer |
//! | `…</think>` | templates that open the thoughts in the prompt | told as text at first, and then that it was thoughts ([`ModelEvent::TextWasReasoning`](crate::protocol::ModelEvent)) |
//!
//! Only what the answer begins with counts: a tag that comes later is a word of the answer, and in a block of code a closing
//! tag is one everywhere. A closing tag that nothing opened also has to stand where a template puts it, not where a
//! sentence speaks of it: see [`TagPlace::is_end`]. A tag may be cut anywhere, so what may become one is held back.

use crate::providers::answer::Answer;

/// The words of one answer, on their way.
#[derive(Debug, Default)]
pub(super) struct Thoughts {
    state: ThoughtState,
    /// What has come and is not told yet.
    held: String,
    /// Where the held words begin.
    place: TagPlace,
    /// Whether anything but white space was told.
    told: bool,
    /// Whether some of it was the answer.
    answered: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum ThoughtState {
    /// Nothing has come but white space.
    #[default]
    Start,
    /// Words that nothing has opened: the answer, unless a closing tag says that they were thoughts.
    Unopened,
    /// Thoughts, up to this tag.
    Inside(&'static str),
    /// Behind a closing tag; nothing has come but white space.
    Behind,
    /// Harmony: what says whose words come next.
    Header,
    /// Harmony: words of a channel; whether they are thoughts.
    Channel(bool),
    /// The answer.
    Plain,
}

const TAGS: &[(&str, &str)] = &[
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("[THINK]", "[/THINK]"),
    ("<|channel>thought", "<channel|>"),
];
// The ends of thoughts that a prompt may have opened.
const UNOPENED: &[&str] = &["</think>", "</thinking>"];

const HEADERS: &[&str] = &["<|start|>", "<|channel|>"];
const MESSAGE: &str = "<|message|>";
const CHANNEL: &str = "<|channel|>";
const ENDS: &[&str] = &["<|end|>", "<|return|>", "<|call|>"];
// Bytes; a longer one is none.
const LONGEST_HEADER: usize = 200;

impl Thoughts {
    /// Takes more words, and tells what they are.
    pub(super) fn push(&mut self, words: &str, answer: &mut Answer) {
        self.held.push_str(words);
        while self.step(answer) {}
    }

    /// Something else than words comes next, or nothing: what is held is told.
    pub(super) fn flush(&mut self, answer: &mut Answer) {
        let held = std::mem::take(&mut self.held);
        match self.state {
            ThoughtState::Unopened if UNOPENED.contains(&held.trim_start()) && self.place.is_end(None, self.told) => {
                answer.text_was_reasoning();
                self.state = ThoughtState::Plain;
            }
            ThoughtState::Inside(_) => self.think(held.trim_end(), answer),
            ThoughtState::Channel(thoughts) => {
                let mark = ENDS.iter().find(|mark| held.starts_with(**mark));
                self.tell(if mark.is_some() { "" } else { &held }, thoughts, answer);
            }
            // A header that is cut belongs to nothing.
            ThoughtState::Header if self.told => {}
            ThoughtState::Behind => {}
            ThoughtState::Start | ThoughtState::Unopened | ThoughtState::Header | ThoughtState::Plain => {
                self.tell(&held, false, answer);
            }
        }
        if matches!(self.state, ThoughtState::Start | ThoughtState::Unopened) {
            self.state = ThoughtState::Plain;
        }
    }

    // Whether there may be more to do.
    fn step(&mut self, answer: &mut Answer) -> bool {
        match self.state {
            ThoughtState::Start | ThoughtState::Behind => self.begin(),
            ThoughtState::Unopened => self.unopened(answer),
            ThoughtState::Inside(close) => self.inside(close, answer),
            ThoughtState::Header => self.header(answer),
            ThoughtState::Channel(thoughts) => self.channel(thoughts, answer),
            ThoughtState::Plain => {
                let held = std::mem::take(&mut self.held);
                self.tell(&held, false, answer);
                false
            }
        }
    }

    fn begin(&mut self) -> bool {
        let begun = self.held.trim_start();
        let tag = TAGS.iter().find(|(open, _)| begun.starts_with(open));
        let marks = || TAGS.iter().map(|(open, _)| open).chain(HEADERS);
        if let Some((open, close)) = tag {
            self.held = begun[open.len()..].to_owned();
            (self.state, self.place) = (ThoughtState::Inside(close), TagPlace::default());
        } else if HEADERS.iter().any(|mark| begun.starts_with(mark)) {
            self.held = begun.to_owned();
            self.state = ThoughtState::Header;
        } else if marks().any(|mark| mark.starts_with(begun)) {
            return false;
        } else if self.state == ThoughtState::Behind {
            self.held = begun.to_owned();
            self.state = ThoughtState::Plain;
        } else if begun.starts_with(['{', '[']) {
            // JSON, whose texts may hold any tag.
            self.state = ThoughtState::Plain;
        } else {
            self.state = ThoughtState::Unopened;
        }
        true
    }

    fn unopened(&mut self, answer: &mut Answer) -> bool {
        let mut place = self.place.clone();
        for (at, letter) in self.held.char_indices() {
            let rest = &self.held[at..];
            if letter == '<' {
                let close = UNOPENED.iter().find(|close| rest.starts_with(**close));
                let next = close.map(|close| rest[close.len()..].chars().next());
                let told = self.told || !self.held[..at].trim().is_empty();
                match (close, next) {
                    (Some(close), Some(Some(next))) if place.is_end(Some(next), told) => {
                        let behind = rest[close.len()..].to_owned();
                        if told {
                            let before = self.held[..at].to_owned();
                            self.tell(&before, false, answer);
                            answer.text_was_reasoning();
                        }
                        (self.held, self.state) = (behind, ThoughtState::Behind);
                        return true;
                    }
                    // What follows says whether it is one.
                    (Some(_), Some(None)) => return self.told_up_to(at, answer),
                    _ => {}
                }
                let marks = || UNOPENED.iter().chain(TAGS.iter().map(|(open, _)| open));
                if marks().any(|mark| mark.len() > rest.len() && mark.starts_with(rest)) {
                    return self.told_up_to(at, answer);
                }
                self.place.spoken_of |= TAGS.iter().any(|(open, _)| rest.starts_with(open));
                place.spoken_of = self.place.spoken_of;
            }
            place.take(letter);
        }
        self.told_up_to(self.held.len(), answer)
    }

    // Tells the answer's words up to here, and waits for more.
    fn told_up_to(&mut self, at: usize, answer: &mut Answer) -> bool {
        if !self.told && self.held[..at].trim().is_empty() {
            return false;
        }
        let held = self.held.split_off(at);
        let words = std::mem::replace(&mut self.held, held);
        words.chars().for_each(|letter| self.place.take(letter));
        self.tell(&words, false, answer);
        false
    }

    fn inside(&mut self, close: &'static str, answer: &mut Answer) -> bool {
        let mut place = self.place.clone();
        let mut end = self.held.len();
        for (at, letter) in self.held.char_indices() {
            let rest = &self.held[at..];
            if rest.starts_with(close) && !place.fenced {
                let (thoughts, behind) = (self.held[..at].trim_end().to_owned(), rest[close.len()..].to_owned());
                self.think(&thoughts, answer);
                (self.held, self.state) = (behind, ThoughtState::Behind);
                return true;
            }
            if close.starts_with(rest) {
                end = at;
                break;
            }
            place.take(letter);
        }
        // White space in front of the closing tag is no thought.
        let end = self.held[..end].trim_end().len();
        let held = self.held.split_off(end);
        let thoughts = std::mem::replace(&mut self.held, held);
        thoughts.chars().for_each(|letter| self.place.take(letter));
        self.think(&thoughts, answer);
        false
    }

    fn header(&mut self, answer: &mut Answer) -> bool {
        let Some(at) = self.held.find(MESSAGE) else {
            if self.held.len() > LONGEST_HEADER {
                self.state = ThoughtState::Plain;
                return true;
            }
            return false;
        };
        let header = &self.held[..at];
        let channel = header.rsplit_once(CHANNEL).map_or("", |(_, channel)| channel);
        let thoughts = channel.trim_start().starts_with("analysis") || header.contains(" to=");
        self.held = self.held[at + MESSAGE.len()..].to_owned();
        (self.state, self.place) = (ThoughtState::Channel(thoughts), TagPlace::default());
        answer.close_part();
        if !thoughts && self.answered {
            answer.text("\n\n");
        }
        true
    }

    fn channel(&mut self, thoughts: bool, answer: &mut Answer) -> bool {
        let mut place = self.place.clone();
        let mut end = self.held.len();
        for (at, letter) in self.held.char_indices() {
            let rest = &self.held[at..];
            if letter == '<' && !place.is_code() {
                let mark = ENDS.iter().find(|mark| rest.starts_with(**mark));
                let behind = rest[mark.map_or(0, |mark| mark.len())..].trim_start();
                if HEADERS.iter().any(|mark| behind.starts_with(mark)) {
                    let (words, behind) = (self.held[..at].to_owned(), behind.to_owned());
                    self.tell(&words, thoughts, answer);
                    (self.held, self.state) = (behind, ThoughtState::Header);
                    return true;
                }
                let cut = |marks: &[&str], rest: &str| marks.iter().any(|mark| mark.starts_with(rest));
                if cut(HEADERS, behind) || (mark.is_none() && cut(ENDS, rest)) {
                    end = at;
                    break;
                }
            }
            place.take(letter);
        }
        let held = self.held.split_off(end);
        let words = std::mem::replace(&mut self.held, held);
        words.chars().for_each(|letter| self.place.take(letter));
        self.tell(&words, thoughts, answer);
        false
    }

    fn think(&mut self, words: &str, answer: &mut Answer) {
        let words = if self.place.told { words } else { words.trim_start() };
        if !words.is_empty() {
            self.place.told = true;
            self.told = true;
            answer.reasoning(words);
        }
    }

    fn tell(&mut self, words: &str, thoughts: bool, answer: &mut Answer) {
        if thoughts {
            return self.think(words, answer);
        }
        if !words.is_empty() {
            self.told |= !words.trim().is_empty();
            self.answered |= !words.trim().is_empty();
            answer.text(words);
        }
    }
}

/// Where in a text a place is, as far as it matters for a tag there.
#[derive(Clone, Debug)]
struct TagPlace {
    /// In a block of code between fences.
    fenced: bool,
    /// Letters of a fence that its line began with.
    fence: u8,
    /// Whether the line has nothing but white space so far.
    blank: bool,
    /// Whether an odd number of backticks stands before it in its line.
    ticked: bool,
    before: char,
    /// Whether an opening tag was written as a word of the text.
    spoken_of: bool,
    /// Whether thoughts of this part have been told.
    told: bool,
}

impl Default for TagPlace {
    fn default() -> Self {
        Self { fenced: false, fence: 0, blank: true, ticked: false, before: '\n', spoken_of: false, told: false }
    }
}

impl TagPlace {
    fn take(&mut self, letter: char) {
        if letter == '\n' {
            (self.fence, self.blank, self.ticked) = (0, true, false);
        } else {
            let fence = matches!(letter, '`' | '~') && (self.blank || (self.fence > 0 && letter == self.before));
            self.fence = if fence { self.fence.saturating_add(1) } else { 0 };
            if self.fence == 3 {
                (self.fenced, self.ticked) = (!self.fenced, false);
            } else {
                self.ticked ^= letter == '`' && self.fence < 3;
            }
            self.blank &= letter.is_whitespace();
        }
        self.before = letter;
    }

    fn is_code(&self) -> bool {
        self.fenced || self.ticked
    }

    /// Whether a closing tag here ends thoughts that nothing opened: it stands on a line of its own, or right behind the
    /// last word of the thoughts and right before the first of the answer. Where a sentence speaks of the tag there are
    /// spaces, quotes or a full stop beside it, or it has spoken of the opening one before.
    fn is_end(&self, next: Option<char>, told: bool) -> bool {
        if self.is_code() || self.spoken_of || next.is_some_and(|next| ".,;:!?)]}'\"”’`".contains(next)) {
            return false;
        }
        if self.blank {
            return told || next != Some(' ');
        }
        !self.before.is_whitespace() && !"\"'“‘「『(（[`".contains(self.before) && next != Some(' ')
    }
}
