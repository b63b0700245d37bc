//! Everything that needs no browser.
#![cfg(not(target_arch = "wasm32"))]

#[cfg(feature = "gateway")]
mod demo_shop;
