//! What the views show, as signals. Follows a run's events; decides nothing.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::agent::{Run, Transcript};
use crate::browser::{AgentInfo, ModelInfo};
use crate::markdown::MarkdownStream;
use crate::protocol::{
    AssistantMessage, Attachment, CallState, CallView, EndReason, Event, Message, MessageId, MessageStatus, Millis,
    Names, Part, ThreadId, ToolCallId, ToolResult, Usage, UserMessage, Wait,
};
use crate::tools::{Registry, humanise};
use crate::ui::frame;
use crate::ui::live::Live;

/// Everything the panel shows. Copies show, and change, the same.
#[derive(Clone, Debug)]
pub struct Store {
    /// The thread, in order.
    pub items: Live<Vec<Item>>,
    /// Where it can be cut: the first line of the journal behind each cut, and how many things stand before it, counted
    /// from the first that was ever shown.
    cuts: Arc<Mutex<Cuts>>,
    /// How jobs ended, by call: a part of the thread that is read later may only have begun them.
    ends: Arc<Mutex<Names<ToolResult>>>,
    /// Counts how often another thread, or the same one read anew, took the place of what was shown.
    pub loads: Arc<AtomicU32>,
    /// The thread on screen, and whether it takes the place of one that could not be opened: then what the user has
    /// written so far was meant for it.
    pub shown: Live<(ThreadId, bool)>,
    /// Whether a run is at work.
    pub running: Live<bool>,
    /// How the last run ended, where the user must know.
    pub ended: Live<Option<EndReason>>,
    /// Something the user should know that is not about a run.
    pub notice: Live<Option<String>>,
    /// Something the user should know of the tools.
    pub tools_notice: Live<Option<String>>,
    /// Why the thread is not being written down; `None` where it is.
    pub saving: Live<Option<String>>,
    /// Whether it is at work in another page, and only shown here.
    pub following: Live<bool>,
    /// Whether it is still being read.
    pub opening: Live<bool>,
    /// The first line of the journal that is shown, where there are earlier ones.
    pub earlier: Live<Option<u32>>,
    /// What a screen reader is to say and has not been given yet.
    pub announcement: Live<Vec<String>>,
    /// When the model is asked again, and why it is not at work now.
    pub wait: Live<Option<(Millis, Wait)>>,
    /// Tokens of the last run.
    pub usage: Live<Usage>,
    /// Who answers.
    pub agent: Live<AgentInfo>,
    /// The model that is asked, by its name; empty for the gateway's first.
    pub model: Live<String>,
    /// The model that is asked in the gateway's place, where there is one.
    pub direct: Live<Option<ModelInfo>>,
    /// Whose key is wanted of the user; `None` where none is.
    pub wants_key: Live<Option<String>>,
    /// The files that go with the next message.
    pub files: Live<Vec<Attachment>>,
    /// How many more are being read.
    pub reading: Live<usize>,
    /// Counts up where other threads are there for the user than before.
    pub shelf: Live<u32>,
    /// The tools, for their labels.
    pub registry: Live<Arc<Registry>>,
    /// Whether the model was asked and has said nothing yet.
    pub waiting: Live<bool>,
    /// The language of labels.
    pub language: Live<String>,
}

// A thread that is longer is cut when the user writes on, down to about so many.
const MOST: usize = 400;
const KEPT: usize = 150;

#[derive(Debug, Default)]
struct Cuts {
    places: Vec<(u32, isize)>,
    /// Where what is shown begins.
    base: isize,
}

/// One thing in the thread.
#[derive(Clone, Debug)]
pub enum Item {
    /// What the user wrote.
    User(UserMessage),
    /// Words of an answer.
    Text(TextItem),
    /// Words the model thought with.
    Reasoning(TextItem),
    /// A tool call.
    Call(CallItem),
}

/// Words that grow.
#[derive(Clone, Debug)]
pub struct TextItem {
    /// Its key.
    pub id: String,
    /// The answer it is part of.
    pub message: MessageId,
    /// Counts up with each change, at most once a frame.
    pub version: Live<u32>,
    /// How its answer ended; `None` while it is being written.
    pub status: Live<Option<MessageStatus>>,
    /// Whether the answer is wanted in a form, so that it may be JSON.
    formed: bool,
    text: Arc<Mutex<MarkdownStream>>,
    scheduled: Arc<AtomicBool>,
}

/// A tool call that lives.
#[derive(Clone, Debug)]
pub struct CallItem {
    /// Our id.
    pub id: ToolCallId,
    /// The call as it is now.
    pub view: Live<CallView>,
    /// When it began to run.
    pub started: Live<Option<Millis>>,
    /// Why the last decision could not be taken.
    pub refused: Live<Option<String>>,
    /// How far it is: a fraction where it knows, and what it is doing.
    pub progress: Live<Option<(Option<f64>, String)>>,
}

impl Store {
    /// An empty one, followed as long as the reactive owner it is made in lives.
    #[must_use]
    pub fn new() -> Self {
        Self {
            items: Live::new(Vec::new()),
            cuts: Arc::default(),
            ends: Arc::default(),
            loads: Arc::default(),
            shown: Live::new((ThreadId(String::new()), false)),
            running: Live::new(false),
            ended: Live::new(None),
            notice: Live::new(None),
            tools_notice: Live::new(None),
            saving: Live::new(None),
            following: Live::new(false),
            opening: Live::new(true),
            earlier: Live::new(None),
            announcement: Live::new(Vec::new()),
            wait: Live::new(None),
            usage: Live::new(Usage::default()),
            agent: Live::new(AgentInfo::default()),
            model: Live::new(String::new()),
            direct: Live::new(None),
            wants_key: Live::new(None),
            files: Live::new(Vec::new()),
            reading: Live::new(0),
            shelf: Live::new(0),
            registry: Live::new(Arc::default()),
            waiting: Live::new(false),
            language: Live::new(String::new()),
        }
    }

    /// Shows a thread from its journal, in place of what is shown; `ended`: how its last run ended, where the user may
    /// want to try again.
    pub fn load(&self, transcript: &Transcript, ended: Option<&EndReason>) {
        self.opening.set(false);
        self.earlier.set(None);
        self.loads.fetch_add(1, Ordering::Relaxed);
        *self.cuts() = Cuts::default();
        self.ends().clear();
        self.learn(transcript);
        self.items.set(items_of(transcript));
        self.usage.set(Usage::default());
        self.ended.set(ended.cloned());
        self.running.set(false);
        self.heard();
    }

    /// Shows what was there before, in front of what is shown: the lines of the journal from one number up to another.
    pub fn prepend(&self, mut transcript: Transcript, from: u32, behind: u32) {
        transcript.learn_ends(&self.ends());
        self.learn(&transcript);
        let earlier = items_of(&transcript);
        let mut cuts = self.cuts();
        // It may be cut again where it was read on from.
        let base = cuts.base;
        cuts.places.insert(0, (behind, base));
        cuts.base -= earlier.len() as isize;
        drop(cuts);
        self.items.update(|items| drop(items.splice(..0, earlier)));
        self.earlier.set((from > 0).then_some(from));
    }

    fn learn(&self, transcript: &Transcript) {
        for (call, end) in transcript.job_ends() {
            self.ends().insert(call.to_owned(), end.clone());
        }
    }

    fn ends(&self) -> MutexGuard<'_, Names<ToolResult>> {
        self.ends.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The thread can be read from this line of its journal on, and nothing of it has been said yet.
    pub fn mark(&self, line: u32) {
        let mut cuts = self.cuts();
        let place = cuts.base + self.items.peek(Vec::len) as isize;
        cuts.places.push((line, place));
    }

    // What is far from the end of a long thread is let go of; it is in the journal. The user has just written, so they are
    // not looking at it.
    fn cut(&self) {
        let count = self.items.peek(Vec::len);
        if count <= MOST {
            return;
        }
        let mut cuts = self.cuts();
        let last = cuts.base + (count - KEPT) as isize;
        let Some((line, place)) = cuts.places.iter().rev().copied().find(|(_, place)| *place <= last) else { return };
        let gone = place - cuts.base;
        if gone <= 0 {
            return;
        }
        cuts.base = place;
        cuts.places.retain(|(_, other)| *other > place);
        drop(cuts);
        self.items.update_silently(|items| drop(items.drain(..gone as usize)));
        self.earlier.set(Some(line));
    }

    fn cuts(&self) -> MutexGuard<'_, Cuts> {
        self.cuts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Follows an event.
    pub fn apply(&self, event: &Event) {
        match event {
            Event::RunStart { message, .. } => {
                self.running.set(true);
                self.ended.set(None);
                if let Some(said) = message {
                    self.cut();
                    self.items.update(|items| items.push(Item::User(said.clone())));
                }
            }
            Event::StepStart { .. } => {
                self.waiting.set(true);
                // A look for the network is no news until something is heard.
                if self.wait.peek(|wait| matches!(wait, Some((_, Wait::Retry { .. })))) {
                    self.wait.set(None);
                }
            }
            Event::Waiting { until, why } => {
                self.waiting.set(false);
                let offline = |wait: &Option<(Millis, Wait)>| matches!(wait, Some((_, Wait::Offline)));
                if *why != Wait::Offline || !self.wait.peek(offline) {
                    self.wait.set(Some((*until, why.clone())));
                }
            }
            Event::TextDelta { message, text } => self.grow(message, text, false),
            Event::ReasoningDelta { message, text } => self.grow(message, text, true),
            Event::TextWasReasoning { message } => self.rethink(message),
            Event::ArgumentsDelta { call, text } => {
                if let Some(item) = self.call(call) {
                    item.view.update(|view| view.arguments.push_str(text));
                }
            }
            Event::Replaced { message, text } => self.replace_words(message, text),
            Event::Progress { call, fraction, text } => {
                if let Some(item) = self.call(call) {
                    item.progress.set(Some((*fraction, text.clone())));
                }
            }
            Event::MessageEnd { message, status } => self.end_message(message, *status),
            Event::Call(view) => self.show_call(view),
            Event::DecisionRefused { call, reason } => {
                if let Some(item) = self.call(call) {
                    item.refused.set(Some(reason.clone()));
                }
            }
            Event::Usage { run, .. } => self.usage.set(*run),
            Event::Note(_) | Event::Settled(_) | Event::Output { .. } => {}
            Event::Saving(why) => self.saving.set(why.clone()),
            Event::RunEnd { reason, .. } => {
                self.running.set(false);
                self.heard();
                self.ended.set(
                    Some(reason.clone())
                        .filter(|reason| !matches!(reason, EndReason::Completed | EndReason::Superseded)),
                );
            }
        }
    }

    /// What is known of the model that is asked, followed.
    #[must_use]
    pub fn model_info(&self) -> ModelInfo {
        self.direct.follow();
        self.model.follow();
        self.agent.follow();
        self.model_now()
    }

    /// The same without following it.
    #[must_use]
    pub fn model_now(&self) -> ModelInfo {
        if let Some(direct) = self.direct.now() {
            return direct;
        }
        let name = self.model.now();
        self.agent.peek(|agent| {
            let named = agent.models.iter().find(|model| model.name == name);
            named.or(agent.models.first()).cloned().unwrap_or_default()
        })
    }

    /// What a tool is called: its label, or its name in words.
    #[must_use]
    pub fn title_of(&self, name: &str) -> String {
        let label = self.registry.with(|registry| registry.find(name).map(|tool| tool.title(&self.language.now())));
        label.unwrap_or_else(|| humanise(name))
    }

    /// Has a screen reader say something.
    pub fn announce(&self, words: String) {
        if !words.is_empty() {
            self.announcement.update(|waiting| waiting.push(words));
        }
    }

    // Something has come of asking the model.
    fn heard(&self) {
        self.waiting.set(false);
        if self.wait.peek(Option::is_some) {
            self.wait.set(None);
        }
    }

    fn call(&self, id: &ToolCallId) -> Option<CallItem> {
        self.items.peek(|items| {
            items.iter().rev().find_map(|item| match item {
                Item::Call(call) if call.id == *id => Some(call.clone()),
                Item::Call(_) | Item::User(..) | Item::Text(_) | Item::Reasoning(_) => None,
            })
        })
    }

    fn grow(&self, message: &MessageId, text: &str, reasoning: bool) {
        self.heard();
        let last = self.items.peek(|items| match items.last() {
            Some(Item::Text(last)) if !reasoning && last.message == *message => Some(last.clone()),
            Some(Item::Reasoning(last)) if reasoning && last.message == *message => Some(last.clone()),
            _ => None,
        });
        let item = last.unwrap_or_else(|| {
            self.end_thoughts();
            let item =
                self.items.peek(|items| TextItem::new(message, items.len(), if reasoning { &[] } else { items }));
            let shown = item.clone();
            self.items.update(|items| items.push(if reasoning { Item::Reasoning(shown) } else { Item::Text(shown) }));
            item
        });
        item.push(text);
    }

    // The text that came last turns out to be thoughts. They have a key of their own, for a row of their own.
    fn rethink(&self, message: &MessageId) {
        let Some((text, mut item)) = self.items.peek(|items| match items.last() {
            Some(Item::Text(last)) if last.message == *message => {
                Some((last.text().source().to_owned(), TextItem::new(message, items.len() - 1, &[])))
            }
            _ => None,
        }) else {
            return;
        };
        item.id.push('t');
        let shown = item.clone();
        self.items.update(|items| {
            items.pop();
            items.push(Item::Reasoning(shown));
        });
        item.push(&text);
    }

    // What is said or done next, is said or done with them.
    fn end_thoughts(&self) {
        let thoughts = self.items.peek(|items| match items.last() {
            Some(Item::Reasoning(thoughts)) if thoughts.status.peek(Option::is_none) => Some(thoughts.clone()),
            _ => None,
        });
        if let Some(thoughts) = thoughts {
            thoughts.end(MessageStatus::Complete);
        }
    }

    // A callback put other words in the place of an answer's. They have a key of their own, for a row of their own.
    fn replace_words(&self, message: &MessageId, text: &str) {
        self.heard();
        let mut item = self.items.peek(|items| TextItem::new(message, 0, items));
        item.id.push('r');
        let shown = item.clone();
        self.items.update(|items| {
            items.retain(|item| match item {
                Item::Text(text) | Item::Reasoning(text) => text.message != *message,
                Item::User(..) | Item::Call(_) => true,
            });
            items.push(Item::Text(shown));
        });
        item.push(text);
    }

    fn end_message(&self, message: &MessageId, status: MessageStatus) {
        self.waiting.set(false);
        let texts: Vec<TextItem> = self.items.peek(|items| {
            let of_message = |item: &Item| match item {
                Item::Text(text) | Item::Reasoning(text) if text.message == *message => Some(text.clone()),
                _ => None,
            };
            items.iter().rev().take(64).filter_map(of_message).collect()
        });
        texts.iter().for_each(|text| text.end(status));
    }

    fn show_call(&self, view: &CallView) {
        self.heard();
        let Some(item) = self.call(&view.id) else {
            let item = CallItem::new(view.clone());
            self.end_thoughts();
            return self.items.update(|items| items.push(Item::Call(item)));
        };
        match view.state {
            CallState::Running => {
                item.started.set(Some(view.at));
                let words = self.registry.peek(|registry| {
                    let tool = registry.find(&view.name)?;
                    Some(tool.progress.in_language(&self.language.now()).to_owned())
                });
                item.progress.set(words.filter(|words| !words.is_empty()).map(|words| (None, words)));
            }
            CallState::ApprovalRequested { .. } => item.refused.set(None),
            _ => {}
        }
        item.view.set(view.clone());
    }
}

impl Default for Store {
    fn default() -> Self {
        Self::new()
    }
}

impl Item {
    /// Its key in the list.
    #[must_use]
    pub fn key(&self) -> String {
        match self {
            Self::User(said) => said.id.0.clone(),
            Self::Text(text) | Self::Reasoning(text) => text.id.clone(),
            Self::Call(call) => call.id.0.clone(),
        }
    }
}

impl TextItem {
    // Behind these items; thoughts are behind none.
    fn new(message: &MessageId, at: usize, items: &[Item]) -> Self {
        let asked = items.iter().rev().find_map(|item| match item {
            Item::User(said) => Some(said.output.is_some()),
            Item::Text(_) | Item::Reasoning(_) | Item::Call(_) => None,
        });
        Self {
            id: format!("{message}.{at}"),
            message: message.clone(),
            version: Live::new(0),
            status: Live::new(None),
            formed: asked == Some(true),
            text: Arc::default(),
            scheduled: Arc::default(),
        }
    }

    /// The text and its tree.
    pub fn text(&self) -> MutexGuard<'_, MarkdownStream> {
        self.text.lock().unwrap_or_else(PoisonError::into_inner)
    }

    // JSON is shown as what it is: its stars and underscores are no Markdown.
    fn write(&self, more: &str) {
        let mut text = self.text();
        if self.formed && text.source().trim().is_empty() && more.trim_start().starts_with(['{', '[']) {
            text.push("```json\n");
        }
        text.push(more);
    }

    fn end(&self, status: MessageStatus) {
        self.text().finish();
        self.status.set(Some(status));
        self.version.update(|version| *version += 1);
    }

    // However many pieces come before the next frame, they are read and shown once.
    fn push(&self, more: &str) {
        self.write(more);
        if self.scheduled.swap(true, Ordering::Relaxed) {
            return;
        }
        let item = self.clone();
        frame::next(move || {
            item.scheduled.store(false, Ordering::Relaxed);
            if item.status.now().is_none() {
                item.text().refresh();
                item.version.update(|version| *version += 1);
            }
        });
    }
}

impl CallItem {
    fn new(view: CallView) -> Self {
        let started = matches!(view.state, CallState::Running).then_some(view.at);
        Self {
            id: view.id.clone(),
            view: Live::new(view),
            started: Live::new(started),
            refused: Live::new(None),
            progress: Live::new(None),
        }
    }
}

fn items_of(transcript: &Transcript) -> Vec<Item> {
    let mut items = Vec::new();
    for message in transcript.messages() {
        match message {
            Message::User(said) => items.push(Item::User(said.clone())),
            Message::Assistant(answer) => items_of_answer(answer, transcript, &mut items),
            Message::Tool(_) | Message::Job { .. } | Message::Notice { .. } => {}
        }
    }
    items
}

// Where a provider cuts a text into parts is its own affair: parts that follow each other are one text, as they were while
// they came. Those without words are nothing to see.
fn items_of_answer(answer: &AssistantMessage, transcript: &Transcript, items: &mut Vec<Item>) {
    let first = items.len();
    for (at, part) in answer.parts.iter().enumerate() {
        let (text, reasoning) = match part {
            Part::Call(call) => {
                items.push(Item::Call(CallItem::new(Run::view_of(transcript, call, &answer.id))));
                continue;
            }
            Part::Text { text, .. } => (text, false),
            Part::Reasoning { text, .. } => (text, true),
        };
        if text.is_empty() {
            continue;
        }
        match items[first..].last() {
            Some(Item::Text(last)) if !reasoning => last.write(text),
            Some(Item::Reasoning(last)) if reasoning => last.write(text),
            _ => {
                let item = TextItem::new(&answer.id, at, if reasoning { &[] } else { items });
                item.write(text);
                items.push(if reasoning { Item::Reasoning(item) } else { Item::Text(item) });
            }
        }
    }
    for item in &items[first..] {
        if let Item::Text(item) | Item::Reasoning(item) = item {
            item.text().finish();
            item.status.set(Some(answer.status));
            item.version.set(1);
        }
    }
}
