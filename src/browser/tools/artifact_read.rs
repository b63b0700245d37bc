//! `artifact_read`: reads on in a text that was kept aside because it was too long. Offered only where there is one.

use serde_json::{Value, json};

use crate::agent::ARTIFACTS;
use crate::browser::tools::{ToolContext, definition as shared, text};
use crate::protocol::{Outcome, ToolError};
use crate::tools::{Approval, Definition};

const MAX_CHARACTERS: usize = 16_000;

pub(super) fn definition() -> Definition {
    let description = "Reads a part of a text that was kept aside as an artifact of this conversation because it was too \
         long. Use the name and the offset you were given. Returns the part, and where the next one begins.";
    let mut definition = shared(
        "artifact_read",
        "Read on",
        Approval::Tool,
        description,
        json!({
            "name": { "type": "string", "minLength": 1, "maxLength": 200, "description": "The artifact's name." },
            "offset": { "type": "integer", "minimum": 0, "description": "The first character; 0 if absent." },
            "length": { "type": "integer", "minimum": 1, "maximum": MAX_CHARACTERS,
                "description": "How many characters; 8000 if absent." },
            "version": { "type": "integer", "minimum": 1, "description": "The latest if absent." },
        }),
        &["name"],
    );
    definition.requires.insert(ARTIFACTS.to_owned(), vec![Value::Bool(true)]);
    definition
}

pub(super) async fn call(arguments: &Value, context: &ToolContext) -> Outcome {
    let number = |name: &str| arguments.get(name).and_then(Value::as_f64).map(|number| number as usize);
    let name = text(arguments, "name");
    let version = number("version").map(|version| version as u32);
    let Some((version, whole)) = context.services.artifacts.load(name, version).await else {
        let list = context.services.artifacts.list();
        let names = list.as_object().into_iter().flat_map(|list| list.keys().cloned()).collect::<Vec<_>>().join(", ");
        let words = format!("There is no such artifact \"{name}\". There are: {names}.");
        return Outcome::Error(ToolError::new("not_found", words));
    };
    let (offset, length) = (number("offset").unwrap_or(0), number("length").unwrap_or(8000).min(MAX_CHARACTERS));
    let part: String = whole.chars().skip(offset).take(length).collect();
    let (characters, end) = (whole.chars().count(), offset.saturating_add(part.chars().count()));
    Outcome::Result(json!({
        "name": name, "version": version, "offset": offset, "text": part, "characters": characters,
        "next_offset": (end < characters).then_some(end),
    }))
}
