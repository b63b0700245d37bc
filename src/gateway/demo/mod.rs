//! The demo's shop, "Northwind Outfitters": its data, what its page reads, and the tools of its back office.
//!
//! | file | is |
//! |---|---|
//! | `store` | the database: opened, created, filled once |
//! | `seed`, `words`, `help` | what it is filled with; the same every time |
//! | `orders`, `people`, `library` | reading |
//! | `desk` | the two writes, each one transaction |
//! | `exports` | lists of orders as CSV files |
//! | `api` | `GET /api/…`, for the page |
//! | `tools` | the server tools, for the agent |
//!
//! Knows nothing of the gateway that serves it, nor of a model.

mod api;
mod desk;
mod exports;
mod help;
mod library;
mod orders;
mod people;
mod seed;
mod store;
mod tools;
mod words;

pub use api::router;
pub use store::{ErrorKind, ShopError, Store};
pub use tools::tools;
