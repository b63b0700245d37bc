//! The thread's messages, and how they are folded from a journal. Knows nothing of a run in progress.

use std::sync::Arc;

use serde_json::Value;

use crate::protocol::{
    AssistantMessage, Attachment, Checkpoint, Delta, EndReason, Entry, Lifetime, Message, MessageId, MessageStatus,
    Names, OpenJob, OutputFormat, Part, RunId, Source, State, ToolCall, ToolCallId, ToolMessage, ToolResult, Usage,
    UserMessage,
};
use crate::tools::error;

// Characters of base64 in one request; a gateway takes a body of 32 MiB.
const MAX_FILES: usize = 24 * 1024 * 1024;

/// A thread. Always valid to send: every call of every answer has exactly one result, right behind the answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Transcript {
    messages: Vec<Message>,
    // Arguments that the user changed before their call ran. A model's own words in the thread stay as they were.
    changed: Names<String>,
    // Where the last run begins, and those before it that it tries again; `None` where that is before what is here.
    run_from: Option<usize>,
    // What a provider refused to answer, by message: shown, and not sent again.
    refused: Names,
    // The jobs that were started, by call: those at work, and how the others ended.
    jobs: Names<Option<ToolResult>>,
}

/// What a fold found beside the messages.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Unfinished {
    /// The run that never ended.
    pub(super) run: Option<RunId>,
    /// Its last step.
    pub(super) step: u32,
    /// What it had used up before that.
    pub(super) used: Usage,
    /// The answer of that step, and how far its calls have come; `None` where there is no answer, or all of it is done.
    pub(super) open: Option<OpenStep>,
    /// Results that were made up for calls which had none.
    pub(super) settled: Vec<ToolMessage>,
    /// How the last run ended.
    pub(super) last_end: Option<EndReason>,
    /// Jobs that are at work.
    pub(super) jobs: Vec<OpenJob>,
    /// Ends of jobs that no model has been told of.
    pub(super) untold: Vec<Message>,
    /// What tools remember of the thread.
    pub(super) state: State,
}

/// A step that was cut off between its model's answer and its last result.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct OpenStep {
    /// The answer.
    pub(super) answer: Option<AssistantMessage>,
    /// The results that are there.
    pub(super) results: Names<Settled>,
    /// The calls that were started.
    pub(super) started: Names,
    /// What the user decided: a yes, with what they said to the tool, or a no.
    pub(super) decided: Names<Option<Value>>,
}

/// A result as the journal has it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Settled {
    pub(super) message: ToolMessage,
    pub(super) changes: Delta,
    pub(super) job: Option<String>,
}

impl Transcript {
    /// Every message, in order, as those who watch see them.
    #[must_use]
    pub fn messages(&self) -> &[Message] {
        &self.messages
    }

    /// The messages as a model is sent them: without answers that were asked for again, and without what it refused, for
    /// where that is sent again it refuses whatever comes behind it, too.
    #[must_use]
    pub fn for_model(&self) -> Vec<Message> {
        let sent = |message: &&Message| match message {
            // Words alone that were only thought are nothing to send back.
            Message::Assistant(answer) => {
                let says =
                    answer.parts.iter().any(|part| !matches!(part, Part::Reasoning { encrypted_value: None, .. }));
                answer.status != MessageStatus::Superseded && says
            }
            Message::User(_) | Message::Tool(_) | Message::Job { .. } | Message::Notice { .. } => true,
        };
        let is_refused = |message: &&Message| self.refused.contains(message.id().as_str());
        let mut messages: Vec<Message> =
            self.messages.iter().filter(|message| sent(message) && !is_refused(message)).cloned().collect();
        leave_out_files(&mut messages);
        messages
    }

    /// The arguments a call ran with: the model's, or what the user made of them.
    #[must_use]
    pub fn arguments_of<'a>(&'a self, call: &'a ToolCall) -> &'a str {
        self.changed.get(call.id.as_str()).unwrap_or(&call.arguments)
    }

    pub(super) fn change_arguments(&mut self, call: &ToolCallId, arguments: String) {
        self.changed.insert(call.0.clone(), arguments);
    }

    /// The result of a call, where it has one.
    #[must_use]
    pub fn result_of(&self, call: &ToolCallId) -> Option<&ToolResult> {
        self.messages.iter().find_map(|message| match message {
            Message::Tool(tool) if tool.result.call == *call => Some(&tool.result),
            Message::Tool(_)
            | Message::User(_)
            | Message::Assistant(_)
            | Message::Job { .. }
            | Message::Notice { .. } => None,
        })
    }

    /// How the job that a call started ended; `None` where it has started none, `Some(None)` while it is at work.
    #[must_use]
    pub fn job_of(&self, call: &ToolCallId) -> Option<Option<&ToolResult>> {
        self.jobs.get(call.as_str()).map(Option::as_ref)
    }

    /// Whether an answer of this thread made the call.
    #[must_use]
    pub fn has_call(&self, call: &ToolCallId) -> bool {
        self.messages.iter().any(|message| match message {
            Message::Assistant(answer) => answer.calls().any(|made| made.id == *call),
            _ => false,
        })
    }

    /// How the jobs of this thread ended, by the calls that started them.
    pub fn job_ends(&self) -> impl Iterator<Item = (&str, &ToolResult)> {
        self.jobs.iter().filter_map(|(call, end)| end.as_ref().map(|end| (call, end)))
    }

    /// Takes over how jobs ended that a part of a journal only began.
    pub fn learn_ends(&mut self, ends: &Names<ToolResult>) {
        for (call, end) in ends.iter() {
            if let Some(open @ None) = self.jobs.get_mut(call) {
                *open = Some(end.clone());
            }
        }
    }

    pub(super) fn start_job(&mut self, call: &ToolCallId) {
        self.jobs.insert(call.0.clone(), None);
    }

    pub(super) fn end_job(&mut self, result: &ToolResult) {
        self.jobs.insert(result.call.0.clone(), Some(result.clone()));
    }

    /// The thread as it was before its last answer.
    pub(super) fn without_last_answer(&self) -> Self {
        let last = self.messages.iter().rposition(|message| matches!(message, Message::Assistant(_)));
        let messages = self.messages[..last.unwrap_or(self.messages.len())].to_vec();
        Self { messages, ..self.clone() }
    }

    pub(super) fn push(&mut self, message: Message) {
        self.messages.push(message);
    }

    /// A run begins. What the user says, or a job that has ended, starts one of its own. Anything else tries the last one
    /// again: an answer that broke off stays visible and is not sent, and what was refused is sent.
    pub(super) fn begin(&mut self, said: Option<UserMessage>) {
        let is_own = said.is_some() || matches!(self.messages.last(), Some(Message::Job { .. }));
        if is_own {
            self.run_from = Some(self.messages.len());
            return self.messages.extend(said.map(Message::User));
        }
        let ids: Vec<String> = self.of_run().iter().map(|message| message.id().0.clone()).collect();
        for id in &ids {
            self.refused.remove(id);
        }
        for message in self.messages.iter_mut().rev() {
            match message {
                Message::Assistant(answer) if answer.calls().next().is_none() => {
                    answer.status = MessageStatus::Superseded;
                }
                Message::Assistant(_)
                | Message::User(_)
                | Message::Tool(_)
                | Message::Job { .. }
                | Message::Notice { .. } => break,
            }
        }
    }

    /// The model refused to go on. What tools have done in the run stays, or they would be asked to do it again.
    pub(super) fn refuse_run(&mut self) {
        let done = self.of_run().iter().rposition(|message| matches!(message, Message::Tool(_)));
        let refused = &self.of_run()[done.map_or(0, |at| at + 1)..];
        let is_news = |message: &&Message| matches!(message, Message::Job { .. });
        let ids: Vec<String> =
            refused.iter().filter(|message| !is_news(message)).map(|message| message.id().0.clone()).collect();
        for id in ids {
            self.refused.add(id);
        }
    }

    // The messages of the last run, and of those before it that it tries again, as far as they are here.
    fn of_run(&self) -> &[Message] {
        self.messages.get(self.run_from.unwrap_or_default()..).unwrap_or_default()
    }

    /// Whether a model has something to answer: the thread does not end with a whole answer.
    pub(super) fn wants_answer(&self) -> bool {
        match self.messages.last() {
            None => false,
            Some(Message::Assistant(answer)) => answer.status != MessageStatus::Complete,
            Some(Message::User(_) | Message::Tool(_) | Message::Job { .. } | Message::Notice { .. }) => true,
        }
    }

    /// The form that the final answer to the user's last message must have, and whether the model has been told already
    /// that one has not.
    pub(super) fn wanted_output(&self) -> Option<(&Arc<OutputFormat>, bool)> {
        let mut told = false;
        for message in self.messages.iter().rev() {
            match message {
                Message::User(said) => return said.output.as_ref().map(|output| (output, told)),
                Message::Notice { .. } => told = true,
                Message::Assistant(_) | Message::Tool(_) | Message::Job { .. } => {}
            }
        }
        None
    }

    /// The calls of the last run, and of those before it that it tries again.
    pub(super) fn calls_of_run(&self) -> impl Iterator<Item = &ToolCall> {
        self.of_run().iter().flat_map(|message| match message {
            Message::Assistant(answer) => answer.calls().collect::<Vec<_>>(),
            Message::User(_) | Message::Tool(_) | Message::Job { .. } | Message::Notice { .. } => Vec::new(),
        })
    }

    /// The thread of a part of a journal that begins at its start or at a checkpoint, to be shown. Calls whose results
    /// stand elsewhere look unfinished.
    #[must_use]
    pub fn of(entries: &[Entry]) -> Self {
        Self::fold(entries).0
    }

    /// Puts what was there before in front.
    pub(super) fn prepend(&mut self, mut earlier: Self) {
        self.run_from = self.run_from.map(|from| from + earlier.messages.len()).or(earlier.run_from);
        earlier.messages.append(&mut self.messages);
        self.messages = earlier.messages;
        for (message, ()) in earlier.refused {
            self.refused.add(message);
        }
        for (call, arguments) in earlier.changed {
            self.changed.insert(call, arguments);
        }
        for (call, end) in earlier.jobs {
            // What is known of it now is what counts.
            if !self.jobs.contains(&call) {
                self.jobs.insert(call, end);
            }
        }
    }

    /// Folds a journal. What a reload cut off is settled: a call without a result gets one that says so.
    pub(super) fn fold(entries: &[Entry]) -> (Self, Unfinished) {
        let mut fold = Fold::default();
        for entry in entries {
            fold.take(entry);
        }
        fold.end_draft();
        // A step that a reload cut off is taken up where it was; in a thread without an open run there is none.
        if fold.unfinished.run.is_none() {
            fold.close();
        }
        // What a job came to since the last step is told to the next.
        let Fold { transcript, mut unfinished, step, .. } = fold;
        unfinished.open = step.answer.is_some().then_some(step);
        (transcript, unfinished)
    }
}

// Every request carries the thread's files again; those that do not fit any more are named instead, the oldest first.
fn leave_out_files(messages: &mut [Message]) {
    let mut room = MAX_FILES;
    for message in messages.iter_mut().rev() {
        let Message::User(said) = message else { continue };
        let over = |file: &Attachment| match &file.source {
            Source::Data(data) if data.len() > room => true,
            Source::Data(data) => {
                room -= data.len();
                false
            }
            Source::Url(_) => false,
        };
        let (gone, kept): (Vec<_>, Vec<_>) = std::mem::take(&mut said.attachments).into_iter().partition(over);
        said.attachments = kept;
        for file in gone {
            let place = if said.content.is_empty() { "" } else { "\n\n" };
            said.content
                .push_str(&format!("{place}[{}, {}: left out, there are too many files]", file.name, file.media_type));
        }
    }
}

/// A result's message id follows from its call's, so that a journal and the thread in memory agree without bookkeeping.
pub(super) fn result_message_id(call: &ToolCallId) -> MessageId {
    MessageId(format!("{call}r"))
}

#[derive(Default)]
struct Fold {
    transcript: Transcript,
    unfinished: Unfinished,
    step: OpenStep,
    /// The closed parts of an answer whose end has not been read.
    draft: Option<AssistantMessage>,
}

/// Whether a value of this lifetime is read from a thread's journal: what outlives the thread is kept elsewhere.
pub(super) fn is_of_thread(lifetime: Lifetime) -> bool {
    lifetime == Lifetime::Thread
}

impl Fold {
    fn take(&mut self, entry: &Entry) {
        match entry {
            Entry::RunStart { run, message, .. } => {
                self.end_step();
                self.unfinished.run = Some(run.clone());
                (self.unfinished.step, self.unfinished.used) = (0, Usage::default());
                self.transcript.begin(message.clone());
            }
            Entry::Part { message, part } => {
                if self.draft.as_ref().is_none_or(|draft| draft.id != *message) {
                    self.end_draft();
                    self.close();
                }
                let begun =
                    || AssistantMessage { id: message.clone(), parts: Vec::new(), status: MessageStatus::Superseded };
                self.draft.get_or_insert_with(begun).parts.push(part.clone());
            }
            Entry::Message(answer) => {
                // The whole of it is here.
                self.draft.take_if(|draft| draft.id == answer.id);
                self.end_draft();
                self.close();
                self.transcript.push(Message::Assistant(answer.clone()));
                self.step.answer = Some(answer.clone());
            }
            Entry::CallStart { call, .. } => {
                self.step.started.add(call.as_str());
            }
            Entry::Result { result, message, changes, job, .. } => {
                let message = ToolMessage { id: message.clone(), result: result.clone() };
                if !self.step.results.contains(result.call.as_str()) {
                    let settled = Settled { message, changes: changes.clone(), job: job.clone() };
                    self.step.results.insert(result.call.0.clone(), settled);
                }
            }
            Entry::JobEnd { result, name, message, changes } => {
                self.unfinished.jobs.retain(|job| job.call.id != result.call);
                self.unfinished.state.apply(changes, is_of_thread);
                self.transcript.end_job(result);
                let message = ToolMessage { id: message.clone(), result: result.clone() };
                self.unfinished.untold.push(Message::Job { name: name.clone(), message });
            }
            Entry::RunEnd { reason, .. } => {
                self.end_step();
                if matches!(reason, EndReason::Refused { .. }) {
                    self.transcript.refuse_run();
                }
                self.unfinished.run = None;
                self.unfinished.last_end = Some(reason.clone());
            }
            Entry::StepStart { step, used, .. } => {
                self.end_step();
                self.unfinished.step = *step;
                self.unfinished.used = *used;
            }
            Entry::Decision { call, approved, arguments, payload } => {
                self.step.decided.insert(call.0.clone(), approved.then(|| payload.clone()));
                if let Some(arguments) = arguments {
                    self.transcript.change_arguments(call, arguments.clone());
                }
            }
            Entry::Checkpoint(Checkpoint { state, jobs }) if self.is_fresh() => {
                self.unfinished.state.apply(state, is_of_thread);
                for job in jobs {
                    self.transcript.start_job(&job.call.id);
                }
                self.unfinished.jobs.clone_from(jobs);
                self.unfinished.last_end = Some(EndReason::Completed);
            }
            // What jobs came to is told behind it, with the step that it begins.
            Entry::Notice { message, content } => {
                self.end_draft();
                self.close();
                self.transcript.push(Message::Notice { id: message.clone(), content: content.clone() });
            }
            Entry::Checkpoint(_) | Entry::LateResult(_) | Entry::Owner { .. } => {}
        }
    }

    // A checkpoint says something new only where nothing was read before it.
    fn is_fresh(&self) -> bool {
        self.transcript.messages.is_empty() && self.unfinished.run.is_none()
    }

    // An answer that was cut off by the page's going away: its words stay, and are asked for again. Where the agent behind
    // the wire has run something for it, it is not.
    fn end_draft(&mut self) {
        let Some(mut draft) = self.draft.take() else { return };
        let ran = draft.calls().next().is_some();
        if ran {
            draft.status = MessageStatus::Truncated;
            self.step.answer = Some(draft.clone());
        }
        self.transcript.push(Message::Assistant(draft));
    }

    // Puts the results behind their answer, in call order, and makes up those that are missing.
    fn close(&mut self) {
        let mut step = std::mem::take(&mut self.step);
        let Some(answer) = step.answer.take() else { return };
        for call in answer.calls() {
            let message = match step.results.remove(call.id.as_str()) {
                Some(settled) => self.take_settled(call, &answer.id, settled),
                None => self.make_up(call, &step.started),
            };
            self.transcript.push(Message::Tool(message));
        }
    }

    fn take_settled(&mut self, call: &ToolCall, answer: &MessageId, settled: Settled) -> ToolMessage {
        self.unfinished.state.apply(&settled.changes, is_of_thread);
        // A job may have come to its end before its step did.
        if let Some(job) = settled.job
            && self.transcript.job_of(&call.id).is_none()
        {
            self.transcript.start_job(&call.id);
            self.unfinished.jobs.push(OpenJob { call: call.clone(), message: answer.clone(), job });
        }
        settled.message
    }

    fn make_up(&mut self, call: &ToolCall, started: &Names) -> ToolMessage {
        let error = error::interrupted(&call.name, started.contains(call.id.as_str()));
        let result = ToolResult::failed(call.id.clone(), &error);
        let made_up = ToolMessage { id: result_message_id(&call.id), result };
        self.unfinished.settled.push(made_up.clone());
        made_up
    }

    fn end_step(&mut self) {
        self.end_draft();
        self.close();
        for message in std::mem::take(&mut self.unfinished.untold) {
            self.transcript.push(message);
        }
    }
}
