//! Everything that needs a browser: the page's connections, its tools, its journal and its panel.
#![cfg(target_arch = "wasm32")]
#![allow(clippy::unwrap_used, reason = "a test that can not go on should stop where it stands")]

#[cfg(feature = "direct")]
mod codecs;
mod dispatch;
mod drafts;
mod element;
mod fetch;
mod journal;
mod js;
mod long;
#[cfg(feature = "direct")]
mod models;
mod panel;
mod refusing;
mod registry;
mod schema;
mod speed;
mod support;
mod tabs;
mod tools;

wasm_bindgen_test::wasm_bindgen_test_configure!(run_in_browser);
