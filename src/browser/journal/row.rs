//! What is known of a thread without reading its journal. Knows nothing of where it is kept.

use serde_json::Value;

use crate::browser::Artifact;
use crate::protocol::{Entry, Millis, Names, UserMessage, object};

/// The version of what is written. A page that finds a later one leaves it alone.
pub(super) const FORMAT: u64 = 2;

// Characters of a thread's title.
const TITLE: usize = 80;

/// What is known of a thread.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row {
    /// The user's first words.
    pub title: String,
    /// When something was last said.
    pub at: Millis,
    /// Whose it is: the id of who was signed in; empty for nobody.
    pub user: String,
    /// The numbers of the lines that are checkpoints.
    pub checkpoints: Vec<u32>,
    /// Its artifacts, by name.
    pub artifacts: Names<Artifact>,
}

impl Row {
    /// Takes over what a line says; `true` where the row is to be kept anew. Taking a line twice changes nothing.
    pub(super) fn follow(&mut self, number: u32, entry: &Entry) -> bool {
        match entry {
            Entry::RunStart { at, message, .. } => {
                self.at = *at;
                if let Some(UserMessage { content, attachments, .. }) =
                    message.as_ref().filter(|_| self.title.is_empty())
                {
                    let file = attachments.first().map(|file| file.name.as_str()).filter(|_| content.is_empty());
                    self.title = file.unwrap_or(content).chars().take(TITLE).collect();
                }
            }
            Entry::Checkpoint(_) if !self.checkpoints.contains(&number) => self.checkpoints.push(number),
            Entry::Checkpoint(_) => {}
            _ => return false,
        }
        true
    }

    /// The row as JSON.
    #[must_use]
    pub fn to_json(&self) -> Value {
        object(vec![
            ("format", FORMAT.into()),
            ("title", self.title.as_str().into()),
            ("at", self.at.into()),
            ("user", self.user.as_str().into()),
            ("checkpoints", self.checkpoints.iter().copied().map(Value::from).collect()),
            ("artifacts", artifacts_to_json(&self.artifacts)),
        ])
    }

    /// A row from its JSON; what is missing is empty.
    #[must_use]
    pub fn from_json(row: &Value) -> Self {
        let text = |name: &str| row.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        let checkpoints = row.get("checkpoints").and_then(Value::as_array).into_iter().flatten();
        Self {
            title: text("title"),
            at: row.get("at").and_then(Value::as_u64).unwrap_or_default(),
            user: text("user"),
            checkpoints: checkpoints.filter_map(|number| number.as_u64()?.try_into().ok()).collect(),
            artifacts: artifacts_from_json(row.get("artifacts").unwrap_or(&Value::Null)),
        }
    }
}

/// Artifacts as JSON: name → `{mediaType, versions, characters}`.
pub(crate) fn artifacts_to_json(artifacts: &Names<Artifact>) -> Value {
    let one = |artifact: &Artifact| {
        object(vec![
            ("mediaType", artifact.media_type.as_str().into()),
            ("versions", artifact.versions.into()),
            ("characters", artifact.characters.into()),
        ])
    };
    object(artifacts.iter().map(|(name, artifact)| (name, one(artifact))).collect())
}

fn artifacts_from_json(json: &Value) -> Names<Artifact> {
    let mut artifacts = Names::default();
    for (name, one) in json.as_object().into_iter().flatten() {
        let number = |field: &str| one.get(field).and_then(Value::as_u64).unwrap_or_default();
        let artifact = Artifact {
            media_type: one.get("mediaType").and_then(Value::as_str).unwrap_or("text/plain").to_owned(),
            versions: number("versions") as u32,
            characters: number("characters") as usize,
        };
        artifacts.insert(name.clone(), artifact);
    }
    artifacts
}
