//! The demo's shop. Knows nothing of the gateway that serves it.
