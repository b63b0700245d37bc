//! The world a session lives in. Knows nothing of what a session does in it.

use futures::future::LocalBoxFuture;
use futures::stream::LocalBoxStream;

use crate::agent::ToolRequest;
use crate::protocol::{Answer, ContextItem, Delta, Entry, Event, Millis, ModelEvent, ModelRequest, ToolCallId};
use crate::session::{Callbacks, Written};

/// What a world must be able to do. A browser is one, a test's fake another.
///
/// Futures and streams own what they need; dropping one lets go of what it holds open.
pub trait Host {
    /// The time.
    fn now(&self) -> Millis;

    /// Facts about the page as it is now, for the model.
    fn context(&self) -> Vec<ContextItem>;

    /// Asks a model. A stream that ends without `Finish` or `Error` was cut.
    fn call_model(&self, request: ModelRequest) -> LocalBoxStream<'static, ModelEvent>;

    /// Runs a tool in the page; where the request names a job, waits for its end instead.
    fn call_browser_tool(&self, request: ToolRequest) -> LocalBoxFuture<'static, Answer>;

    /// Runs a tool behind the gateway; where the request names a job, waits for its end instead, and where it is taken up
    /// again and would take effect, finds out what became of it.
    fn call_server_tool(&self, request: ToolRequest) -> LocalBoxFuture<'static, Answer>;

    /// Keeps what outlives the thread.
    fn keep_state(&self, changes: &Delta);

    /// Keeps a text under a name, for the thread.
    fn save_artifact(&self, name: &str, content: String) -> LocalBoxFuture<'_, ()>;

    /// Tells a running tool to stop. Its future may still answer; with the code `cancelled` where it obeyed.
    fn cancel_tool(&self, call: &ToolCallId);

    /// Writes a line of the journal, soon.
    fn save(&self, entry: &Entry);

    /// Resolves when every line given to `save` is written, or can not be for now: then the run goes on in memory, and the
    /// host says so to the user. What the session does next may not be undone, so it waits for this.
    fn saved(&self) -> LocalBoxFuture<'_, Written>;

    /// The journal's lines before the checkpoint that the thread was opened at.
    fn earlier(&self) -> LocalBoxFuture<'static, Vec<Entry>>;

    /// Resolves at this time, or at once where it is past.
    fn sleep_until(&self, at: Millis) -> LocalBoxFuture<'static, ()>;

    /// What the integrator wants to hear, and may answer.
    fn callbacks(&self) -> Callbacks {
        Callbacks::default()
    }

    /// Shows an event to those who watch.
    fn tell(&self, event: &Event);
}
