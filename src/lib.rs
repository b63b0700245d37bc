//! Pagehand: a working agent inside any web page.
pub mod protocol;
pub mod tools;
pub mod providers;
#[cfg(feature = "gateway")]
pub mod gateway;
