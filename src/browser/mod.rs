//! Floor 4, in the page: this world's [`Host`](crate::session::Host). Knows nothing of views.
//!
//! Needs no inline script, no `eval` and no HTML strings, so it works under a strict CSP and under Trusted Types.

mod abort;
mod again;
mod artifacts;
mod clock;
mod fetch;
mod gateway;
mod host;
mod page_life;
mod server_tool;
mod services;
pub mod shared_state;
mod storage;
mod tool_answer;
pub mod tools;
pub mod url;

pub use abort::Abort;
pub use artifacts::Artifacts;
pub use clock::{now, random_seed, sleep};
pub use gateway::{AgentInfo, Gateway, Refused, Served, ServedTool};
pub use host::{BrowserHost, Watcher};
pub use page_life::Returns;
pub use server_tool::Heard;
pub use services::{Complete, Drifted, MemorySearch, Services, ThreadServices};
pub use storage::Journal;
