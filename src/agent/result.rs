//! What becomes of a tool's result before a model reads it: checked, and kept aside where it is too long.
//!
//! Knows nothing of the call's life.

use serde_json::{Value, json};

use crate::protocol::{ToolCallId, ToolResult};

/// The state key that says a thread has artifacts, so that `artifact_read` is offered.
pub const ARTIFACTS: &str = "pagehand:artifacts";

// How much of a long result a model reads at once.
const PREVIEW_CHARACTERS: usize = 2000;

/// A result as the model reads it, and what is kept aside.
pub(super) struct Read {
    pub(super) result: ToolResult,
    /// The artifact's name and text, where the result was too long.
    pub(super) aside: Option<(String, String)>,
}

/// A result of at most so many characters; a longer one is kept aside, and the model reads how it begins.
pub(super) fn read(call: &ToolCallId, result: &Value, max_characters: usize) -> Read {
    let whole = ToolResult::ok(call.clone(), result);
    let length = whole.content.chars().count();
    if length <= max_characters {
        return Read { result: whole, aside: None };
    }
    let name = format!("result_{call}");
    // A text is kept as itself, so that it is read on without its JSON escapes.
    let text = result.as_str().map_or(whole.content, str::to_owned);
    let length = text.chars().count();
    let preview: String = text.chars().take(PREVIEW_CHARACTERS.min(max_characters)).collect();
    let next = preview.chars().count();
    let note = format!(
        "The result has {length} characters and is kept as the artifact \"{name}\"; this is how it begins. Read on with \
         artifact_read, from offset {next}, if you need more."
    );
    let told = json!({ "status": "stored", "artifact": name, "characters": length, "preview": preview, "note": note });
    Read { result: ToolResult::ok(call.clone(), &told), aside: Some((name, text)) }
}
