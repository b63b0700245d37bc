//! Floor 1: bytes to frames and back. Pure; knows nothing of what a frame means.

pub mod backoff;
pub mod frames;
pub mod halves;
pub mod retry;
pub mod sse;
