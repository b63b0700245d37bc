//! Floor 4, in the page: this world's [`Host`](crate::session::Host). Knows nothing of views.
//!
//! Needs no inline script, no `eval` and no HTML strings, so it works under a strict CSP and under Trusted Types.

mod abort;
mod again;
mod answer;
mod artifacts;
mod clock;
#[cfg(feature = "direct")]
mod direct;
mod fetch;
mod gateway;
mod host;
mod interface;
mod journal;
mod mirror;
mod ownership;
#[cfg(feature = "direct")]
mod prompt_api;
mod server_tool;
mod services;
pub mod shared_state;
mod tab;
mod tool_answer;
pub mod tools;
pub mod url;
pub(crate) mod value;
mod window;

pub use abort::Abort;
pub use artifacts::{Artifact, Artifacts};
pub use clock::{fresh_id, fresh_thread, now, random_seed, sleep};
#[cfg(feature = "direct")]
pub use direct::{Direct, DirectError};
pub use gateway::{AgentInfo, Gateway, ModelInfo, NO_GATEWAY, Refused, Served, ServedTool};
pub use host::{BrowserHost, Watcher};
pub use journal::{Database, ImportError, Journal, OpenError, Opened, Row, Shelf, ThreadInfo, VERSION};
pub use mirror::{Channel, Mirror, PageWord};
pub use ownership::{Claim, Lock};
#[cfg(feature = "direct")]
pub use prompt_api::on_device;
pub use server_tool::Heard;
pub use services::{Answers, Complete, Drifted, MemorySearch, Services, ThreadServices};
pub use tab::{
    chosen_model, current_thread, draft, had_thread, left_behind, set_chosen_model, set_current_thread, set_draft,
    set_had_thread, set_left_behind,
};
pub use window::{Life, Listener, is_online};
