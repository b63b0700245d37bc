//! Which tools one request offers: of the agent's profile, as the host's facts and the toolsets narrow it.
//!
//! Hiding is not authorisation: a tool behind the gateway checks by itself who calls it. Knows nothing of models.

use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use crate::protocol::{ContextItem, ModelRequest, Names, Scope, ToolOffer, object};
use crate::tools::registry::{Registry, Tool};
use crate::tools::validate::Problem;
use crate::tools::{Definition, Schema};

/// What the host says of the session: who is signed in, what they may, where they are. No tool can write it.
pub type Facts = Names<Value>;

/// A named group of tools whose members are resolved anew for each request.
pub struct Toolset {
    /// Its name.
    pub name: String,
    /// Who answers for it.
    pub owner: String,
    /// Which of its tools the request offers.
    pub resolve: Box<dyn Fn(&Facts) -> Members + Send + Sync>,
}

/// Which tools of a toolset a request offers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Members {
    /// All of them.
    All,
    /// Those of these names.
    Only(Vec<String>),
}

/// What edits an outgoing request. Cheap, and without effects: it runs before every model call.
pub type Edit = Arc<dyn Fn(&ModelRequest) -> Additions + Send + Sync>;

/// Something that contributes to requests without being a function: instructions, facts, options.
#[derive(Clone)]
pub struct Editor {
    /// Its name.
    pub name: String,
    /// Who answers for it.
    pub owner: String,
    /// Lower is earlier; of one order, as registered. Those of function tools have 0.
    pub order: i32,
    /// What it does.
    pub edit: Edit,
    /// Whether it is a function tool's, and goes with it.
    pub(super) of_tool: bool,
}

impl Editor {
    /// An editor that is no function tool.
    #[must_use]
    pub fn new(name: &str, owner: &str, order: i32, edit: Edit) -> Self {
        Self { name: name.to_owned(), owner: owner.to_owned(), order, edit, of_tool: false }
    }
}

/// What an editor adds to a request.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Additions {
    /// Set behind the instructions, a paragraph of its own. Empty for none.
    pub instructions: String,
    /// Facts for the model.
    pub context: Vec<ContextItem>,
    /// Options for whoever reads the request; the last word on a name counts.
    pub options: Names<Value>,
}

/// The tools one request offers, and no others.
#[derive(Clone, Debug, Default)]
pub struct Resolved {
    registry: Arc<Registry>,
    offers: Vec<Arc<ToolOffer>>,
    tags: Vec<String>,
}

/// What stands behind a name a model called.
#[derive(Clone, Debug)]
pub enum Found {
    /// A tool of this request; `alias`: the older name it was called by.
    Tool {
        /// The tool.
        definition: Arc<Definition>,
        /// The older name.
        alias: Option<String>,
    },
    /// A tool that this request did not offer.
    NotOffered,
    /// Nothing.
    Unknown,
}

impl Registry {
    /// The tools of a profile, as these facts leave them. An empty profile has the tools that name none.
    #[must_use]
    pub fn resolve(self: &Arc<Self>, profile: &str, facts: &Facts) -> Resolved {
        let members = self.members(facts);
        let mut offers = Vec::new();
        let mut tags = Vec::new();
        for tool in self.tools.values().filter(|tool| offered(tool, profile, facts, &members)) {
            for offer in &tool.offers {
                // Only an alias is out of order, and those are few.
                let at = offers.len()
                    - offers.iter().rev().take_while(|other: &&Arc<ToolOffer>| other.name > offer.name).count();
                offers.insert(at, Arc::clone(offer));
            }
            tags.push(tool.definition.tag());
        }
        Resolved { registry: Arc::clone(self), offers, tags }
    }

    /// Characters of what a model is told of a profile's tools, where no fact hides any.
    #[must_use]
    pub fn declared_size(&self, profile: &str) -> usize {
        self.tools.values().filter(|tool| is_of(tool, profile)).map(|tool| tool.size * tool.offers.len()).sum()
    }

    /// Tokens that so many characters have, by the estimate of the provider that is asked.
    #[must_use]
    pub fn tokens(&self, characters: usize) -> usize {
        (characters as f64 / self.rules.characters_per_token.unwrap_or(4.0)).ceil() as usize
    }

    /// What is wrong with an agent's profile: that no tool names it.
    #[must_use]
    pub fn check_profile(&self, profile: &str) -> Option<Problem> {
        let named = |tool: &Arc<Definition>| tool.profiles.iter().any(|name| name == profile);
        if profile.is_empty() || self.definitions().any(named) {
            return None;
        }
        let names = self.profiles();
        let names = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
        let message = format!("no tool names it, so it stands for nothing; tools name: {names}");
        Some(Problem::of_profile(profile, message))
    }

    /// The tools, and how much the declarations of each profile take: characters, and tokens by estimate.
    #[must_use]
    pub fn report(&self) -> Value {
        let tools: Vec<Value> = self
            .tools
            .values()
            .map(|tool| {
                let definition = &tool.definition;
                object(vec![
                    ("name", definition.name.as_str().into()),
                    ("version", definition.version.as_str().into()),
                    ("owner", definition.owner.as_str().into()),
                    ("scope", definition.scope.as_str().into()),
                    ("risk", definition.risk.as_str().into()),
                    ("hash", definition.hash().into()),
                    ("toolset", tool.toolset.as_deref().into()),
                    ("profiles", definition.profiles.iter().map(String::as_str).collect()),
                    ("characters", tool.size.into()),
                    ("leftToGateway", tool.left.iter().map(String::as_str).collect()),
                ])
            })
            .collect();
        let mut names = self.profiles();
        names.insert(0, "");
        let profiles: Vec<Value> = names
            .into_iter()
            .map(|name| {
                let count = self.tools.values().filter(|tool| is_of(tool, name)).count();
                let size = self.declared_size(name);
                object(vec![
                    ("name", name.into()),
                    ("tools", count.into()),
                    ("characters", size.into()),
                    ("tokens", self.tokens(size).into()),
                ])
            })
            .collect();
        object(vec![("tools", tools.into()), ("profiles", profiles.into())])
    }

    fn profiles(&self) -> Vec<&str> {
        let declared = self.rules.profiles.iter().map(|profile| &profile.name);
        let used = self.definitions().flat_map(|definition| &definition.profiles);
        let mut found: Vec<&str> = Vec::new();
        for name in declared.chain(used) {
            if !found.contains(&name.as_str()) {
                found.push(name);
            }
        }
        found
    }

    fn members(&self, facts: &Facts) -> Names<Members> {
        let mut members = Names::default();
        for (name, toolset) in self.toolsets.iter() {
            members.insert(name.to_owned(), (toolset.resolve)(facts));
        }
        members
    }
}

fn is_of(tool: &Tool, profile: &str) -> bool {
    let profiles = &tool.definition.profiles;
    profiles.is_empty() || profiles.iter().any(|name| name == profile)
}

fn offered(tool: &Tool, profile: &str, facts: &Facts, members: &Names<Members>) -> bool {
    let definition = &tool.definition;
    let met = |fact: &str, values: &[Value]| facts.get(fact).is_some_and(|value| values.contains(value));
    let member = match tool.toolset.as_deref().and_then(|toolset| members.get(toolset)) {
        Some(Members::Only(names)) => names.contains(&definition.name),
        Some(Members::All) | None => true,
    };
    is_of(tool, profile) && member && definition.requires.iter().all(|(fact, values)| met(fact, values))
}

impl Resolved {
    /// The tools as a model sees them, by name, so that the same set always reads the same.
    #[must_use]
    pub fn offers(&self) -> &[Arc<ToolOffer>] {
        &self.offers
    }

    /// The tools as `name@version`.
    #[must_use]
    pub fn tags(&self) -> &[String] {
        &self.tags
    }

    /// Every tool there was when this was resolved, offered or not.
    #[must_use]
    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    /// What stands behind a name a model called.
    #[must_use]
    pub fn find(&self, name: &str) -> Found {
        let Some(definition) = self.registry.find(name) else { return Found::Unknown };
        let is_offered = self.offers.binary_search_by(|offer| offer.name.as_str().cmp(&definition.name)).is_ok();
        if !is_offered {
            return Found::NotOffered;
        }
        let alias = (definition.name != name).then(|| name.to_owned());
        Found::Tool { definition: Arc::clone(definition), alias }
    }

    /// Where a name the model called would run.
    #[must_use]
    pub fn scope_of(&self, name: &str) -> Option<Scope> {
        match self.find(name) {
            Found::Tool { definition, .. } => Some(definition.scope),
            Found::NotOffered | Found::Unknown => None,
        }
    }

    /// The compiled schema of a tool's arguments.
    #[must_use]
    pub fn schema(&self, name: &str) -> Option<&Schema> {
        self.registry.schema(name)
    }

    /// Names offered here that look like `name`, nearest first.
    #[must_use]
    pub fn nearest(&self, name: &str) -> Vec<&str> {
        crate::tools::nearest::nearest(name, self.offers.iter().map(|offer| offer.name.as_str()))
    }

    /// Adds what the editors have to say to a request.
    pub fn edit(&self, request: &mut ModelRequest) {
        for editor in &self.registry.editors {
            let added = (editor.edit)(request);
            if !added.instructions.is_empty() {
                if !request.instructions.is_empty() {
                    request.instructions.push_str("\n\n");
                }
                request.instructions.push_str(&added.instructions);
            }
            request.context.extend(added.context);
            for (name, value) in added.options {
                request.options.insert(name, value);
            }
        }
    }
}

impl fmt::Debug for Toolset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "toolset {}", self.name)
    }
}
