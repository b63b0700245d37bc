//! Everything that needs no browser.
#![cfg(not(target_arch = "wasm32"))]
