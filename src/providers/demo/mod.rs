//! The embedded demo model: a small deterministic planner. Knows nothing of a language.
