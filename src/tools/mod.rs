//! Floor 1: what can be called, where it runs, and what its arguments must look like.
//!
//! | name | is |
//! |---|---|
//! | [`Definition`] | a tool as data |
//! | [`Registration`] | a definition and what its executor says of itself |
//! | [`Registry`] | every tool known now; built only from registrations without a fault |
//! | [`Schema`] | a definition's JSON Schema, compiled once |
//! | [`portability::Provider`] | what a model's API refuses in a definition |
//! | [`Policy`] | whether a call may run or the user is asked |
//!
//! Knows nothing of how a tool is run.

mod definition;
pub mod error;
mod nearest;
mod policy;
pub mod portability;
mod registry;
pub mod schema;
#[cfg(feature = "typed")]
pub mod typed;

pub use definition::{Approval, Definition, humanise};
pub use policy::{Policy, Verdict};
pub use registry::{Executor, Problem, Registration, Registry};
pub use schema::{ProblemKind, Schema, SchemaProblem, Violation};
