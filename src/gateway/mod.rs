//! Floor 4, natively: the other world. Knows nothing of a browser or a view.

pub mod demo;
pub mod tools;
