//! Floor 4, natively: the other world. Holds the model's key, asks models, runs server tools, serves the demo.
//!
//! | route | does |
//! |---|---|
//! | `GET /models` | the models a page may ask for |
//! | `POST /agent` | one model step, as an AG-UI run; every tool the client listed is pending at its end |
//! | `GET /tools` | who answers, the definitions of the tools it serves with their hashes, policy, profiles, what was refused |
//! | `POST /tools/{name}` | runs one of them; the call's id comes as `Idempotency-Key` |
//! | `DELETE /tools/{name}` | asks the call of that key to stop |
//! | `GET /calls/{key}` | what became of a call |
//! | `GET /jobs/{id}`, `DELETE /jobs/{id}` | how far long-running work is; asks it to stop |
//! | `POST /check` | what is wrong with a page's definitions, as this gateway sees it |
//! | `GET /metrics` | counts, for Prometheus |
//! | `GET /healthz` | `ok` |
//!
//! | module | is |
//! |---|---|
//! | [`Gateway`], [`Builder`] | a gateway of your own tools, users, memory |
//! | [`tools`], [`context`] | a server tool, and what a call brings it |
//! | `call`, `calls`, `jobs` | a call, the record of all, what goes on behind one |
//! | `catalog`, `http`, `openapi`, [`net`] | tools by configuration, and where their requests may go |
//!
//! Holds no session: whatever it must know comes with the request. Kept are calls by their key, so that none runs
//! twice, and jobs, in memory. Knows nothing of a browser or a view.

mod agent;
mod builder;
mod call;
mod calls;
mod catalog;
mod check;
pub mod config;
pub mod context;
pub mod demo;
mod error;
mod guard;
mod http;
mod job_routes;
mod jobs;
mod metrics_route;
mod models;
pub mod net;
mod openapi;
mod router;
mod served;
mod site;
mod sqlite;
mod sse;
mod state;
pub mod tools;

pub use builder::Builder;
pub use calls::AtWork;
pub use config::Config;
pub use context::Identity;
pub use models::{Models, Prices, Secret, Upstream};
pub use router::router;
pub use state::Gateway;
