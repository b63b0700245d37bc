//! Pagehand: a working agent inside any web page.
pub mod ag_ui;
pub mod agent;
#[cfg(target_arch = "wasm32")]
pub mod browser;
#[cfg(feature = "gateway")]
pub mod gateway;
#[cfg(target_arch = "wasm32")]
pub mod js;
pub mod markdown;
pub mod protocol;
pub mod providers;
pub mod session;
pub mod tools;
#[cfg(target_arch = "wasm32")]
pub mod ui;
pub mod wire;
