//! What an integrator hears before and after each model call and tool call, and may answer in its place.
//!
//! | when | hears | its answer |
//! |---|---|---|
//! | `BeforeModel` | the request | a text: the model is not asked |
//! | `AfterModel` | the whole answer | a text: stands in its place, and its calls are let go |
//! | `BeforeTool` | the call | an outcome: the tool does not run |
//! | `OnError` | a failed tool call, or a model call that is not made again | an outcome, or a text, in its place |
//! | `AfterTool` | the call and its answer, an `OnError`'s too | an outcome in its place |
//!
//! Those of one moment are asked in the order they were added; the first that answers is the last that is asked.
//! What a callback answered is recorded under its name. Knows nothing of a model or of how a tool is run.

use std::cell::RefCell;
use std::rc::Rc;

use futures::future::LocalBoxFuture;

use crate::agent::ToolRequest;
use crate::protocol::{Answer, AssistantMessage, ModelError, ModelRequest, Outcome};

/// When a callback is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// Before a model is asked.
    BeforeModel,
    /// When its answer is whole.
    AfterModel,
    /// Before a tool runs, once it may.
    BeforeTool,
    /// When it has answered.
    AfterTool,
    /// When a tool or a model has failed.
    OnError,
}

/// What a callback hears.
#[derive(Clone, Debug)]
pub enum Moment {
    /// The request as it will be sent.
    BeforeModel(Box<ModelRequest>),
    /// The whole answer.
    AfterModel(AssistantMessage),
    /// The call that is about to run.
    BeforeTool(ToolRequest),
    /// The call and its answer.
    AfterTool(ToolRequest, Answer),
    /// The call that failed, and how.
    ToolError(ToolRequest, Answer),
    /// The model call that failed.
    ModelError(ModelError),
}

/// What a callback answers.
#[derive(Clone, Debug, PartialEq)]
pub enum Reply {
    /// In a model's place.
    Text(String),
    /// In a tool's place.
    Outcome(Outcome),
}

/// A callback. `None`: it has nothing to say.
pub type Callback = Rc<dyn Fn(Rc<Moment>) -> LocalBoxFuture<'static, Option<Reply>>>;

/// The callbacks of a session, in the order they were added. Copies hold the same.
#[derive(Clone, Default)]
pub struct Callbacks {
    list: Rc<RefCell<Vec<Added>>>,
}

#[derive(Clone)]
struct Added {
    when: When,
    name: String,
    call: Callback,
}

impl When {
    const ALL: [(Self, &'static str); 5] = [
        (Self::BeforeModel, "before-model"),
        (Self::AfterModel, "after-model"),
        (Self::BeforeTool, "before-tool"),
        (Self::AfterTool, "after-tool"),
        (Self::OnError, "error"),
    ];

    /// The moment of a word.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|(_, name)| *name == word).map(|(when, _)| when)
    }
}

impl Moment {
    fn when(&self) -> When {
        match self {
            Self::BeforeModel(_) => When::BeforeModel,
            Self::AfterModel(_) => When::AfterModel,
            Self::BeforeTool(_) => When::BeforeTool,
            Self::AfterTool(..) => When::AfterTool,
            Self::ToolError(..) | Self::ModelError(_) => When::OnError,
        }
    }
}

impl Callbacks {
    /// Adds one behind the others; its name stands in the record of what it answered.
    pub fn add(&self, when: When, name: &str, call: Callback) {
        self.list.borrow_mut().push(Added { when, name: name.to_owned(), call });
    }

    /// Takes out those of a name.
    pub fn remove(&self, name: &str) {
        self.list.borrow_mut().retain(|added| added.name != name);
    }

    /// Whether anybody wants to hear of this moment.
    #[must_use]
    pub fn wants(&self, when: When) -> bool {
        self.list.borrow().iter().any(|added| added.when == when)
    }

    /// Asks those of a moment; the first answer, with the name of who gave it.
    pub async fn ask(&self, moment: Moment) -> Option<(String, Reply)> {
        let when = moment.when();
        let asked: Vec<Added> = self.list.borrow().iter().filter(|added| added.when == when).cloned().collect();
        let moment = Rc::new(moment);
        for Added { name, call, .. } in asked {
            if let Some(reply) = call(Rc::clone(&moment)).await {
                return Some((name, reply));
            }
        }
        None
    }

    /// The same where the answer stands in a tool's place.
    pub(super) async fn answer(&self, moment: Moment) -> Option<Answer> {
        match self.ask(moment).await {
            Some((name, Reply::Outcome(outcome))) => Some(Answer { by: Some(name), ..Answer::from(outcome) }),
            Some((_, Reply::Text(_))) | None => None,
        }
    }

    /// The same where the answer stands in a model's place.
    pub(super) async fn text(&self, moment: Moment) -> Option<String> {
        match self.ask(moment).await {
            Some((_, Reply::Text(text))) => Some(text),
            Some((_, Reply::Outcome(_))) | None => None,
        }
    }
}
