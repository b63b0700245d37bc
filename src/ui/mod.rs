//! Floor 5, in the page: Leptos views over one store.
//!
//! | file | is |
//! |---|---|
//! | [`App`] | a thread at work: store, session, tools, gateway |
//! | [`Store`] | what the views show, as signals; follows a run's events |
//! | `panel` | the one component that holds the others |
//! | `transcript`, `call_card`, `approval`, `composer`, `banner` | its parts |
//! | `markdown_dom` | a markdown tree to DOM nodes, patched in place |
//! | [`Live`], `node` | a value that views follow, and elements: one type each, for a small payload |
//! | `words` | every sentence a user reads, as plain functions |
//!
//! Views are built with Leptos's element functions, not with `view!`: its static fragments would be set through
//! `innerHTML`, which Trusted Types forbid. Knows nothing of `JsValue`.

mod announce;
mod app;
mod approval;
mod banner;
mod call_card;
mod composer;
mod files;
mod follow;
mod frame;
#[cfg(feature = "direct")]
mod key_form;
mod live;
mod markdown_dom;
mod node;
mod panel;
mod store;
mod transcript;
mod words;

pub use app::{App, Options, PageTool, RegisterError};
pub use live::Live;
pub use panel::{Panel, STYLE};
pub use store::{CallItem, Item, Store, TextItem};
