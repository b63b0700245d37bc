//! Work that goes on after its call was answered: kept here until it is asked for. Knows nothing of HTTP.
//!
//! In memory: a restart forgets them, and every replica has its own. Finished jobs are kept for 24 hours, as long as
//! there is room; a job that runs is never forgotten.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::time::{Instant, timeout};

use crate::gateway::context::report::{Progress, Reporter};
use crate::gateway::context::{CallContext, Cancel};
use crate::protocol::{Delta, Job, Outcome, ToolError};
use crate::tools::error;

const MAX_RUNNING: usize = 128;
const MAX_JOBS: usize = 1024;
const KEPT: Duration = Duration::from_secs(24 * 60 * 60);
const MAX_TIME: Duration = Duration::from_secs(24 * 60 * 60);
// A page takes no longer one, and all that are kept have room together.
const MAX_RESULT: usize = 2 * 1024 * 1024;
// For work that was cancelled to come to its own end.
const GRACE: Duration = Duration::from_secs(2);

/// The jobs of a gateway.
#[derive(Clone, Default)]
pub(crate) struct Jobs {
    table: Arc<Mutex<BTreeMap<String, Arc<JobEntry>>>>,
}

/// The call that started a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct JobKey {
    /// The user's id, where the host names one.
    pub(crate) user: Option<String>,
    pub(crate) call: String,
    pub(crate) tool: String,
}

/// A job.
pub(crate) struct JobEntry {
    pub(crate) id: String,
    key: JobKey,
    state: Value,
    cancel: Cancel,
    view: watch::Sender<View>,
}

/// How a job stands.
#[derive(Clone, Debug, Default)]
pub(crate) struct View {
    pub(crate) progress: Option<Progress>,
    pub(crate) end: Option<(Instant, Value)>,
}

/// What work came to and changed → its answer.
pub(crate) type Finish = Arc<dyn Fn(Outcome, &Delta) -> Value + Send + Sync>;

/// What a call needs to go on in the background.
#[derive(Clone)]
pub(crate) struct Background {
    pub(crate) jobs: Jobs,
    pub(crate) key: JobKey,
    /// Makes the answer of what the work came to, and counts it.
    pub(crate) finish: Finish,
}

impl Jobs {
    /// A job, for whoever knows the call that started it.
    pub(crate) fn get(&self, id: &str, user: Option<&str>, call: &str) -> Option<Arc<JobEntry>> {
        let table = self.table();
        let job = table.get(id).filter(|job| job.key.user.as_deref() == user && job.key.call == call);
        job.filter(|job| !job.is_stale()).cloned()
    }

    /// Whether there is a job of this id.
    pub(crate) fn knows(&self, id: &str) -> bool {
        self.table().contains_key(id)
    }

    /// How many are at work.
    pub(crate) fn running(&self) -> usize {
        self.table().values().filter(|job| job.is_running()).count()
    }

    // The job of a call; `true` where it is new. `None` where too many are at work.
    fn open(&self, key: &JobKey, state: &Value) -> Option<(Arc<JobEntry>, bool)> {
        let mut table = self.table();
        table.retain(|_, job| !job.is_stale());
        if let Some(job) = table.values().find(|job| job.key == *key) {
            return Some((Arc::clone(job), false));
        }
        if table.values().filter(|job| job.is_running()).count() >= MAX_RUNNING {
            return None;
        }
        while table.len() >= MAX_JOBS {
            let ended = |job: &JobEntry| job.view.borrow().end.as_ref().map(|(at, _)| *at);
            let oldest = table.values().filter_map(|job| Some((ended(job)?, job.id.clone()))).min()?;
            table.remove(&oldest.1);
        }
        let job = Arc::new(JobEntry {
            id: new_id()?,
            key: key.clone(),
            state: state.clone(),
            cancel: Cancel::new(),
            view: watch::Sender::default(),
        });
        table.insert(job.id.clone(), Arc::clone(&job));
        Some((job, true))
    }

    fn table(&self) -> MutexGuard<'_, BTreeMap<String, Arc<JobEntry>>> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

// Not to be guessed; without a random source there is no job.
fn new_id() -> Option<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).ok()?;
    Some(format!("job-{:032x}", u128::from_le_bytes(bytes)))
}

impl JobEntry {
    /// `{"status":"pending",…}` or `{"status":"done","answer":{…}}`.
    pub(crate) fn to_json(&self) -> Value {
        let view = self.view.borrow();
        match &view.end {
            Some((_, answer)) => json!({ "status": "done", "answer": answer }),
            None => {
                let progress = view.progress.as_ref().map(Progress::to_json);
                json!({ "status": "pending", "state": self.state, "progress": progress })
            }
        }
    }

    pub(crate) fn set_progress(&self, progress: Progress) {
        self.view.send_modify(|view| view.progress = Some(progress));
    }

    /// Follows it.
    pub(crate) fn watch(&self) -> watch::Receiver<View> {
        self.view.subscribe()
    }

    /// Asks it to stop, and waits a little for its end.
    pub(crate) async fn cancel(&self) {
        self.cancel.cancel();
        let mut view = self.watch();
        let _ = timeout(GRACE * 2, view.wait_for(|view| view.end.is_some())).await;
    }

    fn end(&self, answer: Value) {
        self.view.send_modify(|view| view.end = Some((Instant::now(), answer)));
    }

    fn is_running(&self) -> bool {
        self.view.borrow().end.is_none()
    }

    fn is_stale(&self) -> bool {
        self.view.borrow().end.as_ref().is_some_and(|(at, _)| at.elapsed() > KEPT)
    }
}

impl Background {
    pub(crate) fn start<F>(&self, call: &CallContext, state: &Value, work: impl FnOnce(CallContext) -> F) -> Outcome
    where
        F: Future<Output = Outcome> + Send + 'static,
    {
        let Some((job, is_new)) = self.jobs.open(&self.key, state) else {
            let words = "The gateway is busy with other long-running work. Nothing was started.";
            return Outcome::Error(ToolError::new("busy", words).retryable());
        };
        let interim = Outcome::Interim(Job { id: job.id.clone(), state: job.state.clone() });
        if is_new {
            let mut context = call.clone();
            context.cancel = job.cancel.clone();
            context.reporter = Reporter::Job(Arc::clone(&job));
            context.background = None;
            let state = context.state.clone();
            let running = tokio::spawn(work(context));
            let (finish, tool) = (Arc::clone(&self.finish), self.key.tool.clone());
            tokio::spawn(async move {
                let outcome = to_its_end(running, &job.cancel, &tool).await;
                job.end(finish(outcome, &state.take_changes()));
            });
        }
        interim
    }
}

// Work that does not look at the sign is not cut off; nobody waits for it any more.
async fn to_its_end(mut running: tokio::task::JoinHandle<Outcome>, cancel: &Cancel, tool: &str) -> Outcome {
    let ended = tokio::select! {
        ended = &mut running => ended,
        () = cancel.cancelled() => match timeout(GRACE, &mut running).await {
            Ok(ended) => ended,
            Err(_) => return Outcome::Error(error::cancelled(tool, true)),
        },
        () = tokio::time::sleep(MAX_TIME) => {
            cancel.cancel();
            return Outcome::Error(error::timeout(tool, MAX_TIME.as_secs() * 1000));
        }
    };
    match ended {
        Ok(Outcome::Interim(_) | Outcome::NeedsApproval { .. }) => {
            let words = "its work in the background did not come to an end, but to another question or job";
            Outcome::Error(error::tool_error(tool, words))
        }
        Ok(Outcome::Result(result)) if result.to_string().len() > MAX_RESULT => {
            let words = format!("it is done, but its result is longer than {} MiB. Tell the user", MAX_RESULT >> 20);
            Outcome::Error(error::tool_error(tool, &words))
        }
        Ok(outcome) => outcome,
        Err(why) => {
            tracing::error!(tool, "a job ended unexpectedly: {why}");
            Outcome::Error(error::tool_error(tool, "it ended unexpectedly; whether it took effect is unknown"))
        }
    }
}
