//! The embedded demo model: a small deterministic planner that answers like a model does, one step at a time.
//!
//! | file | does |
//! |---|---|
//! | `read` | the request → facts: the sentence, what was done, what "it" is |
//! | `clause` | a sentence → clauses, and words found in them |
//! | `lexicon` | the words that are known |
//! | `reader` | clauses → intents |
//! | `intent` | what can be wanted |
//! | `plan` | what is wanted + what was done → the next calls, or words |
//! | `say` | wording |
//! | `form` | words → an answer of the form that was asked for |
//! | `stream` | calls or words → model events |
//!
//! It calls what is offered and nothing else, with one exception that is asked for by name: the tool `teleport`,
//! to show how the loop meets an unknown tool. Knows nothing of a language, a clock or a network.

mod clause;
mod form;
mod intent;
mod lexicon;
mod plan;
mod read;
mod reader;
mod say;
mod stream;

use crate::protocol::{Message, ModelEvent, ModelRequest, UserMessage};

/// One whole step of the demo model: the next calls, or the answer. The same request gives the same events.
#[must_use]
pub fn answer(request: &ModelRequest) -> Vec<ModelEvent> {
    let facts = read::Facts::of(request);
    if let Some(words) = told_of_job(request) {
        return stream::events(request, &facts, &plan::Step::Answer(words));
    }
    let intents = intent::intents(&facts);
    let step = match (plan::next_step(&facts, &intents), &request.output) {
        (plan::Step::Answer(words), Some(output)) => {
            plan::Step::Answer(form::in_form(&output.schema, &words).to_string())
        }
        (step, _) => step,
    };
    stream::events(request, &facts, &step)
}

// The last message tells of a job: its end is passed on.
fn told_of_job(request: &ModelRequest) -> Option<String> {
    let Some(Message::User(UserMessage { content, .. })) = request.messages.last() else { return None };
    let (name, result) = read::told_of_job(content)?;
    Some(say::job_done(name, &result))
}
