//! The world a session lives in. Knows nothing of what a session does in it.

use futures::future::LocalBoxFuture;
use futures::stream::LocalBoxStream;

use crate::agent::ToolRequest;
use crate::protocol::{ContextItem, Entry, Event, Millis, ModelEvent, ModelRequest, Outcome, ToolCallId};

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

    /// Runs a tool in the page.
    fn call_browser_tool(&self, request: ToolRequest) -> LocalBoxFuture<'static, Outcome>;

    /// Runs a tool behind the gateway.
    fn call_server_tool(&self, request: ToolRequest) -> LocalBoxFuture<'static, Outcome>;

    /// Tells a running tool to stop. Its future may still answer; with the code `cancelled` where it obeyed.
    fn cancel_tool(&self, call: &ToolCallId);

    /// Writes a line of the journal. What the session does next may not be undone, so it waits for this.
    /// Where it can not be written the host says so to the user; the run goes on in memory.
    fn save(&self, entry: &Entry) -> LocalBoxFuture<'_, ()>;

    /// Resolves at this time, or at once where it is past.
    fn sleep_until(&self, at: Millis) -> LocalBoxFuture<'static, ()>;

    /// Shows an event to those who watch.
    fn tell(&self, event: &Event);
}
