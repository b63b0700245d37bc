//! Floor 2: the loop, as a machine without I/O.
//!
//! Two functions: [`Run::handle`] takes one [`Input`], [`Run::poll`] hands out what is to be done about it.
//!
//! > Handle one input, drain `poll` to `None`, then the next input.
//!
//! Time, identifiers' seed and registry come in as arguments, so the same inputs give the same outputs.
//!
//! ```text
//!            UserMessage                    Finish, with open calls                 all settled
//!   Idle ───────────────► Streaming ─────────────────────────────────► Settling ───────────────► Streaming
//!    ▲                        │ Finish, no open calls · Stop · error · limit │ Stop · limit
//!    └────────────────────────┴──────────────────────────────────────────────┘
//! ```
//!
//! Between two tries of one model call, and without a network, a run is `Waiting` and goes back to `Streaming`.
//!
//! Knows no model, no network, no browser and no clock.

mod calls;
mod draft;
mod input;
mod limits;
mod provenance;
mod result;
mod run;
mod stream;
mod transcript;

pub use input::{Decision, Input, Output, Standing, ToolRequest};
pub use limits::Limits;
pub use result::ARTIFACTS;
pub use run::{CHECKPOINT_LINES, Config, Run};
pub use transcript::Transcript;
