//! Floor 2: one folder a vendor. Pure: no transport, no clock, no loop.

pub mod demo;
