//! What one page's run looks like in another: events over a `BroadcastChannel`. Knows nothing of who runs or follows.
//!
//! | message | from | says |
//! |---|---|---|
//! | `began` | an owner | the thread is mine now: ask me where I am |
//! | `hello` | a follower | tell me where you are |
//! | `now` | the owner | the journal's lines that count, and what happened since |
//! | `event` | the owner | the next event |
//! | `release` | a follower | give the thread up; the other followers stand back |
//! | `lines` | an owner | what it gives up and could not write down: the number of the first line, and the lines |
//! | `deleted` | anybody | there is no such thread any more |
//! | `stop` | a follower | the user wants it stopped |

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use serde_json::Value;
use wasm_bindgen::JsCast;
use wasm_bindgen::closure::Closure;
use web_sys::{BroadcastChannel, MessageEvent};

use crate::protocol::{Entry, Event, ThreadId, object};

/// A message of another page.
#[derive(Clone, Debug)]
pub enum PageWord {
    /// Somebody owns the thread from now on.
    Began,
    /// Somebody wants to follow.
    Hello,
    /// Where the owner is.
    Now {
        /// How many lines of the journal its events stand behind.
        lines: u32,
        /// Whether a run is at work.
        running: bool,
        /// What happened since.
        events: Vec<Event>,
    },
    /// What the owner's run told.
    Event(Event),
    /// Somebody wants the thread.
    Release,
    /// What an owner that gave it up could not write down.
    Lines {
        /// The number of the first.
        first: u32,
        /// The lines.
        entries: Vec<Entry>,
    },
    /// The thread was forgotten for good.
    Deleted,
    /// The user pressed stop elsewhere.
    Stop,
}

/// The pages that have a thread open.
pub struct Channel {
    channel: BroadcastChannel,
    _hear: Closure<dyn Fn(MessageEvent)>,
}

impl Channel {
    /// The channel of a thread; `None` where the browser has none.
    #[must_use]
    pub fn open(thread: &ThreadId, heard: impl Fn(PageWord) + 'static) -> Option<Self> {
        let channel = BroadcastChannel::new(&format!("pagehand:{thread}")).ok()?;
        let hear = Closure::<dyn Fn(MessageEvent)>::new(move |message: MessageEvent| {
            let told = message.data().as_string().and_then(|text| serde_json::from_str(&text).ok());
            if let Some(message) = told.as_ref().and_then(PageWord::from_json) {
                heard(message);
            }
        });
        channel.set_onmessage(Some(hear.as_ref().unchecked_ref()));
        Some(Self { channel, _hear: hear })
    }

    /// Tells the other pages.
    pub fn post(&self, message: &PageWord) {
        let _ = self.channel.post_message(&message.to_json().to_string().into());
    }
}

impl Drop for Channel {
    fn drop(&mut self) {
        self.channel.set_onmessage(None);
        self.channel.close();
    }
}

impl PageWord {
    /// As JSON, for another page.
    #[must_use]
    pub fn to_json(&self) -> Value {
        match self {
            Self::Began => object(vec![("began", true.into())]),
            Self::Hello => object(vec![("hello", true.into())]),
            Self::Now { lines, running, events } => object(vec![
                ("now", (*lines).into()),
                ("running", (*running).into()),
                ("events", events.iter().filter_map(Event::to_json).collect()),
            ]),
            Self::Event(event) => object(vec![("event", event.to_json().unwrap_or_default())]),
            Self::Lines { first, entries } => {
                object(vec![("lines", entries.iter().map(Entry::to_json).collect()), ("first", (*first).into())])
            }
            Self::Deleted => object(vec![("deleted", true.into())]),
            Self::Release => object(vec![("release", true.into())]),
            Self::Stop => object(vec![("stop", true.into())]),
        }
    }

    /// What another page wrote; `None` where it is none of ours.
    #[must_use]
    pub fn from_json(message: &Value) -> Option<Self> {
        let says = |name: &str| message.get(name).is_some();
        if let Some(lines) = message.get("now") {
            let events = message.get("events").and_then(Value::as_array).into_iter().flatten();
            return Some(Self::Now {
                lines: lines.as_u64()?.try_into().ok()?,
                running: message.get("running").and_then(Value::as_bool).unwrap_or_default(),
                events: events.filter_map(Event::from_json).collect(),
            });
        }
        if let Some(lines) = message.get("lines") {
            return Some(Self::Lines {
                first: message.get("first")?.as_u64()?.try_into().ok()?,
                entries: lines.as_array()?.iter().map(Entry::from_json).collect::<Option<_>>()?,
            });
        }
        match message.get("event") {
            Some(event) => Event::from_json(event).map(Self::Event),
            None if says("began") => Some(Self::Began),
            None if says("deleted") => Some(Self::Deleted),
            None if says("hello") => Some(Self::Hello),
            None if says("release") => Some(Self::Release),
            None if says("stop") => Some(Self::Stop),
            None => None,
        }
    }
}

/// What an owner's followers have to know: kept since the last step began, told on as it comes.
#[derive(Clone, Default)]
pub struct Mirror {
    inner: Rc<Inner>,
}

#[derive(Default)]
struct Inner {
    channel: RefCell<Option<Channel>>,
    lines: Cell<u32>,
    running: Cell<bool>,
    recent: RefCell<Vec<Event>>,
    // Nobody is told before somebody has asked.
    followed: Cell<bool>,
}

impl Mirror {
    /// Tells followers through this channel, from a journal of so many lines on.
    pub fn begin(&self, channel: Option<Channel>, lines: u32) {
        self.inner.channel.replace(channel);
        self.mark(lines);
    }

    /// Says that the thread has an owner from now on.
    pub fn announce(&self) {
        self.post(&PageWord::Began);
    }

    /// Gives a follower what could not be written down.
    pub fn hand_over(&self, first: u32, entries: Vec<Entry>) {
        self.post(&PageWord::Lines { first, entries });
    }

    /// Tells nobody any more.
    pub fn end(&self) {
        self.inner.channel.take();
        self.inner.followed.set(false);
        self.inner.running.set(false);
        self.inner.recent.borrow_mut().clear();
    }

    /// Says where the owner is, to a follower who asked.
    pub fn tell_now(&self) {
        self.inner.followed.set(true);
        let events = self.inner.recent.borrow().clone();
        self.post(&PageWord::Now { lines: self.inner.lines.get(), running: self.inner.running.get(), events });
    }

    /// Follows an event; `lines` is how many lines the journal has by now.
    pub fn tell(&self, event: &Event, lines: u32) {
        match event {
            Event::RunStart { .. } => self.inner.running.set(true),
            Event::StepStart { .. } => self.mark(lines),
            Event::RunEnd { .. } => {
                self.inner.running.set(false);
                self.mark(lines);
            }
            _ => {}
        }
        self.remember(event);
        if self.inner.followed.get() {
            self.post(&PageWord::Event(event.clone()));
        }
    }

    fn mark(&self, lines: u32) {
        self.inner.lines.set(lines);
        self.inner.recent.borrow_mut().clear();
    }

    // Text that grows is kept as one event, so that a long answer is not kept piece by piece.
    fn remember(&self, event: &Event) {
        let mut recent = self.inner.recent.borrow_mut();
        if let Event::Progress { call, .. } = event {
            // Only the latest of each counts.
            recent.retain(|other| !matches!(other, Event::Progress { call: same, .. } if same == call));
        }
        match (recent.last_mut(), event) {
            (Some(Event::TextDelta { message, text }), Event::TextDelta { message: same, text: more })
            | (Some(Event::ReasoningDelta { message, text }), Event::ReasoningDelta { message: same, text: more })
                if message == same =>
            {
                text.push_str(more);
            }
            (Some(Event::ArgumentsDelta { call, text }), Event::ArgumentsDelta { call: same, text: more })
                if call == same =>
            {
                text.push_str(more);
            }
            (_, Event::RunEnd { .. }) => {}
            _ => recent.push(event.clone()),
        }
    }

    fn post(&self, message: &PageWord) {
        if let Some(channel) = &*self.inner.channel.borrow() {
            channel.post(message);
        }
    }
}
