//! Pagehand: a working agent inside any web page.
//!
//! The function-calling loop runs in the browser: it sends the thread to a model, collects every tool call of a step,
//! runs each where its definition says (in the page, or behind the gateway), returns all results at once, and goes on
//! until the answer is final.
//!
//! One word of the user goes up the floors once and comes down once. A floor knows only those below it:
//!
//! | floor | module | is |
//! |---|---|---|
//! | 0 | [`protocol`] | the nouns: message, tool call, model event, journal entry |
//! | 1 | [`wire`] | bytes to frames |
//! | 1 | [`tools`] | what can be called and where: definition, registry, schema, policy |
//! | 1 | [`markdown`] | text to a safe tree, as it grows |
//! | 2 | [`agent`] | the loop, as a machine without I/O |
//! | 2 | [`ag_ui`] | the one wire a page speaks |
//! | 2 | [`providers`] | models' dialects |
//! | 3 | [`session`] | the driver: does what the machine asks, in a world |
//! | 4 | `browser` (in a page) | that world: fetch, storage, clock, the page's own tools |
//! | 4 | `gateway` (feature `gateway`) | the other world: holds the model's key, runs server tools |
//! | 5 | `ui` (in a page) | Leptos views over one store |
//! | 6 | `js` (in a page) | what JavaScript can call |
//!
//! `tests/native/architecture.rs` holds this table and fails where the code leaves it.

// FLOOR 0
pub mod protocol;
// FLOOR 1
pub mod markdown;
pub mod tools;
pub mod wire;
// FLOOR 2
pub mod ag_ui;
pub mod agent;
pub mod providers;
// FLOOR 3
pub mod session;
// FLOOR 4
#[cfg(target_arch = "wasm32")]
pub mod browser;
#[cfg(feature = "gateway")]
pub mod gateway;
// FLOOR 5
#[cfg(target_arch = "wasm32")]
pub mod ui;
// FLOOR 6
#[cfg(target_arch = "wasm32")]
pub mod js;
