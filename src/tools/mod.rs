//! Floor 1: what can be called, where it runs, and what its arguments must look like.
//!
//! | name | is |
//! |---|---|
//! | [`Definition`] | a tool as data |
//! | [`Registration`] | a definition and what its executor says of itself |
//! | [`Registry`] | every tool known now; built only from registrations without a fault |
//! | [`Problem`] | a fault of a registration, with whose it is and how to put it right |
//! | [`Resolved`] | the tools one request offers |
//! | [`Toolset`], [`Editor`] | a group resolved for each request; what edits requests without being a function |
//! | [`Schema`] | a definition's JSON Schema, compiled once |
//! | [`portability::Provider`] | what a model's API refuses in a definition |
//! | [`Policy`] | whether a call may run, the user is asked, or it is refused |
//! | [`ToolState`] | what a call remembers and changes |
//! | [`cross_check`], [`diff`] | whether page and gateway agree; what changed in a definition |
//! | [`external`] | tools that somebody else defines |
//! | [`Metrics`] | how often each tool was called, and what came of it |
//!
//! Knows nothing of how a tool is run.

mod definition;
mod definition_json;
mod diff;
pub mod error;
pub mod external;
mod metrics;
mod nearest;
mod policy;
mod policy_json;
pub mod portability;
mod registry;
mod resolve;
pub mod schema;
mod state;
#[cfg(feature = "typed")]
pub mod typed;
mod validate;
mod words;

pub use definition::{Alias, Approval, Definition, humanise};
pub use diff::{Expected, cross_check, diff};
pub use metrics::{Count, Metrics};
pub use policy::{Case, Policy, Provenance, Rule, Verdict};
pub use registry::{Executor, Profile, Refusals, Registration, Registry, Rules};
pub use resolve::{Additions, Edit, Editor, Facts, Found, Members, Resolved, Toolset};
pub use schema::{ProblemKind, Schema, SchemaProblem, Violation};
pub use state::ToolState;
pub use validate::Problem;
pub use words::Words;
