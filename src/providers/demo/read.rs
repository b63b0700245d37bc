//! The request as facts: what was asked, what was done, what "it" is. Knows nothing of what follows from them.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use crate::protocol::{AssistantMessage, Message, ModelRequest, ToolCallId, ToolOffer, ToolResult, UserMessage};
use crate::providers::demo::clause::{is_command, is_refusal, order_ids};
use crate::providers::demo::say;

/// All the planner knows.
pub(super) struct Facts {
    /// What the user wants, with the answers to our questions.
    pub(super) wish: Wish,
    /// What was spoken of before this message.
    pub(super) topic: Option<Topic>,
    /// The order on the screen.
    pub(super) on_screen: Option<String>,
    /// The calls since the user's message.
    pub(super) done: Vec<Done>,
    /// The calls before it.
    pub(super) earlier: Vec<Done>,
    offers: Vec<Arc<ToolOffer>>,
}

/// A user's sentence and what they answered when something was missing.
#[derive(Clone, Debug, Default)]
pub(super) struct Wish {
    pub(super) sentence: String,
    pub(super) order: Option<String>,
    pub(super) reason: Option<String>,
    pub(super) note: Option<String>,
    /// The answer to a question was no.
    pub(super) dropped: bool,
}

/// What "it" is.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Topic {
    /// An order, by id.
    Order(String),
    /// A screen that is known by its address.
    Screen(String),
    /// The article that a search of this run will find.
    Searched(String),
}

/// A call and what came of it.
#[derive(Clone, Debug)]
pub(super) struct Done {
    pub(super) name: String,
    pub(super) arguments: Value,
    pub(super) result: Result<Value, Failure>,
}

/// A call that failed.
#[derive(Clone, Debug)]
pub(super) struct Failure {
    pub(super) code: String,
    pub(super) message: String,
}

impl Facts {
    pub(super) fn of(request: &ModelRequest) -> Self {
        let messages = &request.messages;
        let is_user = |message: &Message| matches!(message, Message::User(UserMessage { content, .. }) if told_of_job(content).is_none());
        let start = messages.iter().rposition(is_user).unwrap_or(messages.len());
        let (before, run) = messages.split_at(start);
        Self {
            wish: wish(messages),
            topic: topic(before),
            on_screen: request.context.iter().rev().find_map(|item| order_of_address(&item.value)),
            done: done(run),
            earlier: done(before),
            offers: request.tools.clone(),
        }
    }

    /// Whether a tool may be called.
    pub(super) fn offers(&self, name: &str) -> bool {
        self.offers.iter().any(|offer| offer.name == name)
    }

    /// Whether a tool takes `value` for `property`: yes, unless its schema lists others.
    pub(super) fn takes(&self, name: &str, property: &str, value: &str) -> bool {
        let offer = self.offers.iter().find(|offer| offer.name == name);
        offer.is_some_and(|offer| {
            let listed = offer.parameters["properties"][property]["enum"].as_array();
            listed.is_none_or(|listed| listed.iter().any(|one| one == value))
        })
    }

    /// Calls of this run and before, the latest first.
    pub(super) fn latest(&self) -> impl Iterator<Item = &Done> {
        self.done.iter().rev().chain(self.earlier.iter().rev())
    }
}

// Each message is a new wish, or answers the question we asked about the one before.
fn wish(messages: &[Message]) -> Wish {
    let mut wish = Wish::default();
    let mut asked = String::new();
    for message in messages {
        match message {
            Message::User(UserMessage { content, .. }) if told_of_job(content).is_some() => {}
            Message::User(UserMessage { content, .. }) => wish = answered(wish, &asked, content.trim()),
            Message::Assistant(answer) => asked = answer.text(),
            Message::Tool(_) | Message::Job { .. } | Message::Notice { .. } => {}
        }
    }
    wish
}

fn answered(mut wish: Wish, asked: &str, reply: &str) -> Wish {
    let order = order_ids(reply).into_iter().next();
    let questions = [say::ASK_ORDER, say::ASK_REASON, say::ASK_NOTE];
    let question = questions.into_iter().find(|question| asked.contains(question));
    match question {
        Some(_) if is_refusal(reply) => Wish { dropped: true, ..Wish::default() },
        Some(say::ASK_ORDER) if order.is_some() && !is_command(reply) => Wish { order, ..wish },
        Some(say::ASK_REASON) if !is_command(reply) => {
            wish.reason = Some(reply.strip_prefix("because ").unwrap_or(reply).to_owned());
            wish
        }
        Some(say::ASK_NOTE) if !is_command(reply) => Wish { note: Some(reply.to_owned()), ..wish },
        _ => Wish { sentence: reply.to_owned(), ..Wish::default() },
    }
}

fn topic(messages: &[Message]) -> Option<Topic> {
    let results = results(messages);
    messages.iter().rev().find_map(|message| match message {
        Message::User(UserMessage { content, .. }) => order_ids(content).pop().map(Topic::Order),
        Message::Assistant(answer) => answer.calls().collect::<Vec<_>>().into_iter().rev().find_map(|call| {
            let result = results.get(&call.id).and_then(|result| outcome(result).ok())?;
            topic_of_call(&call.name, &arguments(&call.arguments), &result)
        }),
        Message::Tool(_) | Message::Job { .. } | Message::Notice { .. } => None,
    })
}

fn topic_of_call(name: &str, arguments: &Value, result: &Value) -> Option<Topic> {
    match name {
        "kb_search" => Some(Topic::Screen(result["articles"][0]["screen"].as_str()?.to_owned())),
        // One that was found is "it"; of several, none is.
        "order_search" if result["orders"].as_array()?.len() == 1 => {
            Some(Topic::Order(result["orders"][0]["id"].as_str()?.to_owned()))
        }
        _ => Some(Topic::Order(arguments["order_id"].as_str()?.to_owned())),
    }
}

fn done(messages: &[Message]) -> Vec<Done> {
    let results = results(messages);
    let answers = messages.iter().filter_map(|message| match message {
        Message::Assistant(answer) => Some(answer),
        Message::User(_) | Message::Tool(_) | Message::Job { .. } | Message::Notice { .. } => None,
    });
    let calls = answers.flat_map(AssistantMessage::calls);
    calls
        .filter_map(|call| {
            let result = outcome(results.get(&call.id)?);
            Some(Done { name: call.name.clone(), arguments: arguments(&call.arguments), result })
        })
        .collect()
}

fn results(messages: &[Message]) -> BTreeMap<&ToolCallId, &ToolResult> {
    let tools = messages.iter().filter_map(|message| match message {
        Message::Tool(tool) => Some((&tool.result.call, &tool.result)),
        Message::User(_) | Message::Assistant(_) | Message::Job { .. } | Message::Notice { .. } => None,
    });
    tools.collect()
}

// Over some wires the error's code is known only from the content.
fn outcome(result: &ToolResult) -> Result<Value, Failure> {
    let value: Value = serde_json::from_str(&result.content).unwrap_or_else(|_| Value::from(result.content.as_str()));
    let code = result.error.clone().or_else(|| {
        let is_error = value["status"] == "error";
        value["code"].as_str().filter(|_| is_error).map(str::to_owned)
    });
    match code {
        None => Ok(as_it_ran(value)),
        Some(code) => {
            let message = value["message"].as_str().unwrap_or(&result.content).to_owned();
            Err(Failure { code, message })
        }
    }
}

// Where the user changed the arguments, the result stands behind a note that says so.
fn as_it_ran(mut value: Value) -> Value {
    let is_changed = value["note"].is_string() && value["arguments"].is_object() && value.get("result").is_some();
    if is_changed { value["result"].take() } else { value }
}

fn arguments(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or(Value::Null)
}

// `…/orders/A-1042`, with or without what follows it.
fn order_of_address(value: &str) -> Option<String> {
    let (_, tail) = value.rsplit_once("/orders/")?;
    order_ids(tail.split(['?', '#', '/', '"']).next()?).pop()
}

/// The tool and the result of a job that a message tells of; `None` where it is the user's own.
pub(super) fn told_of_job(content: &str) -> Option<(&str, Value)> {
    let rest = content.strip_prefix("[The long-running call ")?;
    let (_, rest) = rest.split_once(" of \"")?;
    let (name, rest) = rest.split_once("\" has come to its end: ")?;
    Some((name, serde_json::from_str(rest.strip_suffix(']')?).unwrap_or_default()))
}
