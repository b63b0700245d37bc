//! Pagehand: a working agent inside any web page.
pub mod ag_ui;
pub mod agent;
#[cfg(feature = "gateway")]
pub mod gateway;
pub mod markdown;
pub mod protocol;
pub mod providers;
pub mod session;
pub mod tools;
pub mod wire;
