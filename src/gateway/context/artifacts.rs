//! Files that calls leave behind, in versions. Knows nothing of where they are kept.

use std::sync::Arc;

use futures::future::BoxFuture;
use serde_json::json;

use crate::gateway::context::identity::Identity;
use crate::protocol::ToolError;
use crate::tools::error;

/// A kept file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Artifact {
    /// Its name.
    pub name: String,
    /// Counted from 1.
    pub version: u32,
    /// Its media type.
    pub kind: String,
    /// Its content.
    pub bytes: Vec<u8>,
}

/// A kept file without its content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// Its name.
    pub name: String,
    /// The newest version.
    pub version: u32,
    /// Its media type.
    pub kind: String,
    /// How many bytes it has.
    pub size: u64,
}

/// Where artifacts are kept. A shelf is a text that names a thread or a user; shelves never see each other.
pub trait Artifacts: Send + Sync {
    /// Keeps a new version and says which.
    ///
    /// # Errors
    /// Words for the model, and for the operator.
    fn save<'a>(
        &'a self,
        shelf: &'a str,
        name: &'a str,
        kind: &'a str,
        bytes: Vec<u8>,
    ) -> BoxFuture<'a, Result<u32, ToolError>>;

    /// A version, the newest where `None`.
    ///
    /// # Errors
    /// As [`save`](Self::save).
    fn load<'a>(
        &'a self,
        shelf: &'a str,
        name: &'a str,
        version: Option<u32>,
    ) -> BoxFuture<'a, Result<Option<Artifact>, ToolError>>;

    /// Everything on a shelf, by name.
    ///
    /// # Errors
    /// As [`save`](Self::save).
    fn list<'a>(&'a self, shelf: &'a str) -> BoxFuture<'a, Result<Vec<Listed>, ToolError>>;

    /// The versions of a name, oldest first.
    ///
    /// # Errors
    /// As [`save`](Self::save).
    fn versions<'a>(&'a self, shelf: &'a str, name: &'a str) -> BoxFuture<'a, Result<Vec<u32>, ToolError>>;
}

const MAX_NAME: usize = 200;

/// The artifacts as one call sees them: those of its thread, and under names that begin with `user:` those of its user
/// in all their threads.
#[derive(Clone)]
pub struct CallArtifacts {
    artifacts: Arc<dyn Artifacts>,
    tool: String,
    user: Option<String>,
    thread: String,
}

impl CallArtifacts {
    pub(crate) fn new(artifacts: Arc<dyn Artifacts>, tool: String, user: Option<&Identity>, thread: String) -> Self {
        Self { artifacts, tool, user: user.map(|user| user.id.clone()), thread }
    }

    /// Keeps a new version and says which.
    ///
    /// # Errors
    /// A name that is empty or longer than 200 characters, `user:` where nobody is signed in, a file that is too large.
    pub async fn save(&self, name: &str, kind: &str, bytes: Vec<u8>) -> Result<u32, ToolError> {
        self.artifacts.save(&self.shelf(name)?, name, kind, bytes).await
    }

    /// A version, the newest where `None`.
    ///
    /// # Errors
    /// As [`save`](Self::save).
    pub async fn load(&self, name: &str, version: Option<u32>) -> Result<Option<Artifact>, ToolError> {
        self.artifacts.load(&self.shelf(name)?, name, version).await
    }

    /// Everything of this thread, then everything of this user.
    ///
    /// # Errors
    /// As the store says.
    pub async fn list(&self) -> Result<Vec<Listed>, ToolError> {
        let mut found = self.artifacts.list(&self.of_thread()).await?;
        if let Some(user) = &self.user {
            found.extend(self.artifacts.list(&of_user(user)).await?);
        }
        Ok(found)
    }

    /// The versions of a name, oldest first.
    ///
    /// # Errors
    /// As [`save`](Self::save).
    pub async fn versions(&self, name: &str) -> Result<Vec<u32>, ToolError> {
        self.artifacts.versions(&self.shelf(name)?, name).await
    }

    fn shelf(&self, name: &str) -> Result<String, ToolError> {
        let length = name.chars().count();
        if length == 0 || length > MAX_NAME || name.chars().any(char::is_control) {
            let words = format!("an artifact's name has 1 to {MAX_NAME} characters and no control characters");
            return Err(error::tool_error(&self.tool, &words));
        }
        if !name.starts_with("user:") {
            return Ok(self.of_thread());
        }
        let user = self.user.as_ref();
        let user =
            user.ok_or_else(|| error::refused(&self.tool, "nobody is signed in, so there is no user to keep it for."))?;
        Ok(of_user(user))
    }

    // Of this user's thread: that a page names a thread does not make it theirs.
    fn of_thread(&self) -> String {
        json!(["thread", self.user, self.thread]).to_string()
    }
}

fn of_user(user: &str) -> String {
    json!(["user", user]).to_string()
}
