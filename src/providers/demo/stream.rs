//! A step as model events, in pieces small enough to be paced. Knows nothing of what they mean.

use crate::protocol::{FinishReason, ModelEvent, ModelRequest};
use crate::providers::demo::plan::{Call, Step};
use crate::providers::demo::read::Facts;

const WORDS_A_PIECE: usize = 3;
const LETTERS_A_PIECE: usize = 12;

pub(super) fn events(request: &ModelRequest, facts: &Facts, step: &Step) -> Vec<ModelEvent> {
    let (text, calls) = match step {
        Step::Answer(text) => (text.as_str(), &[][..]),
        Step::Calls { text, calls } => (text.as_str(), calls.as_slice()),
    };
    let mut events = vec![ModelEvent::Start];
    if !text.is_empty() {
        events.push(ModelEvent::TextStart);
        events.extend(pieces_of_text(text).into_iter().map(ModelEvent::TextDelta));
        events.push(ModelEvent::TextEnd);
    }
    for (slot, call) in calls.iter().enumerate() {
        push_call(&mut events, slot, call_id(request, facts.done.len() + slot), call);
    }
    events.push(ModelEvent::Finish(if calls.is_empty() { FinishReason::Done } else { FinishReason::Calls }));
    events
}

fn push_call(events: &mut Vec<ModelEvent>, slot: usize, id: String, call: &Call) {
    events.push(ModelEvent::CallStart { slot, id: Some(id), name: call.name.to_owned() });
    let letters: Vec<char> = call.arguments.to_string().chars().collect();
    for piece in letters.chunks(LETTERS_A_PIECE) {
        events.push(ModelEvent::CallDelta { slot, text: piece.iter().collect() });
    }
    events.push(ModelEvent::CallEnd { slot });
}

// By the run and the calls in it: a thread that was shortened at its beginning repeats no id.
fn call_id(request: &ModelRequest, number: usize) -> String {
    let run: String = request.run.as_str().chars().filter(char::is_ascii_alphanumeric).collect();
    format!("demo_{run}_{number}")
}

// A few words with the space around them; joined, they are the text again.
fn pieces_of_text(text: &str) -> Vec<String> {
    let words: Vec<&str> = text.split_inclusive([' ', '\n']).collect();
    words.chunks(WORDS_A_PIECE).map(<[&str]>::concat).collect()
}
