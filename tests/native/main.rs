//! Everything that needs no browser.
#![cfg(not(target_arch = "wasm32"))]

mod demo_model;
#[cfg(feature = "gateway")]
mod demo_shop;
