//! Floor 2: one folder a vendor. Pure: no transport, no clock, no loop.
//!
//! Each folder has the same files: `mod` (the quirks, in words), `encode` (a request to the vendor's JSON) and `decode`
//! (the vendor's stream to our model events). The next vendor is copied by shape.

pub mod demo;
pub mod openai_chat;
