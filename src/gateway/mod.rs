//! Floor 4, natively: the other world. Holds the model's key, asks models, runs server tools, serves the demo.
//!
//! | route | does |
//! |---|---|
//! | `POST /agent` | one model step, as an AG-UI run; every tool the client listed is pending at its end |
//! | `GET /tools` | who answers, and the definitions of the tools it serves, with their hashes |
//! | `POST /tools/{name}` | runs one of them; the call's id comes as `Idempotency-Key` |
//! | `GET /healthz` | `ok` |
//!
//! Holds no session: whatever it must know comes with the request. Knows nothing of a browser or a view.

mod agent;
pub mod config;
pub mod demo;
mod error;
mod guard;
mod model;
mod router;
mod served;
mod site;
mod state;
pub mod tools;
mod upstream;

pub use config::{Config, Secret};
pub use model::Model;
pub use router::router;
