//! Every tool known now. Knows nothing of how one is run; only that somebody can.
//!
//! A [`Registry`] is built from registrations without a fault or not at all, so whoever holds one
//! holds tools that exist, run where they say, and check their arguments.

use std::sync::Arc;

use crate::protocol::{Names, Scope, ToolOffer};
use crate::tools::nearest::nearest;
use crate::tools::resolve::{Edit, Editor, Toolset};
use crate::tools::validate::{self, Problem};
use crate::tools::{Definition, ProblemKind, Schema, SchemaProblem};

/// A definition and the executor that stands behind it.
#[derive(Clone)]
pub struct Registration {
    /// The tool as data.
    pub definition: Definition,
    /// Who runs it; `None` is a fault.
    pub executor: Option<Executor>,
    /// What it does to the outgoing request, where it does that, too.
    pub editor: Option<Edit>,
}

/// What an executor says of itself, to be held against the definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Executor {
    /// The name it answers to.
    pub name: String,
    /// The world it runs in.
    pub scope: Scope,
}

/// What a registry is held to, beside the rules every one is.
#[derive(Clone, Default)]
pub struct Rules {
    /// The profiles there are; a definition may name no other. Empty where nobody declared any.
    pub profiles: Vec<Profile>,
    /// How many characters a token has, as the provider that is asked counts; 4 where nobody says.
    pub characters_per_token: Option<f64>,
    /// Whether tools of the scope `Server` are checked by the gateway, too, as in a page: what this engine can not check
    /// of their schemas is left to it, and the report says so.
    pub gateway_checks: bool,
    /// What the providers that may be asked refuse in a definition, in sentences.
    pub refusals: Option<Refusals>,
}

/// What some provider refuses in a definition, in sentences.
pub type Refusals = Arc<dyn Fn(&Definition) -> Vec<String> + Send + Sync>;

/// A named set of tools an agent may see, and how much their declarations may take.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Profile {
    /// Its name.
    pub name: String,
    /// The characters its declarations may have together.
    pub max_characters: Option<usize>,
    /// The tokens they may have, by the estimate of the provider that is asked.
    pub max_tokens: Option<usize>,
}

/// Every tool known now, by name.
#[derive(Clone, Default)]
pub struct Registry {
    pub(super) rules: Rules,
    pub(super) tools: Names<Arc<Tool>>,
    /// Alias → the tool's name.
    pub(super) aliases: Names<String>,
    pub(super) toolsets: Names<Arc<Toolset>>,
    pub(super) editors: Vec<Editor>,
}

pub(super) struct Tool {
    pub(super) definition: Arc<Definition>,
    pub(super) schema: Schema,
    pub(super) output: Option<Schema>,
    pub(super) offers: Vec<Arc<ToolOffer>>,
    pub(super) toolset: Option<String>,
    /// Characters of what a model is told of it.
    pub(super) size: usize,
    /// What of its schemas is left to the gateway.
    pub(super) left: Vec<String>,
}

struct Compiled {
    schema: Schema,
    output: Option<Schema>,
    left: Vec<String>,
}

impl Registry {
    /// An empty registry that will be held to these rules, too.
    #[must_use]
    pub fn new(rules: Rules) -> Self {
        Self { rules, ..Self::default() }
    }

    /// Adds tools: all of them, or none and every fault of all of them.
    ///
    /// # Errors
    /// One [`Problem`] a fault: name, description, owner, version, schema, examples, executor, duplicate, profile,
    /// budget, whatever a provider refuses.
    pub fn register(&mut self, registrations: Vec<Registration>) -> Result<(), Vec<Problem>> {
        let mut next = self.clone();
        let problems: Vec<Problem> =
            registrations.into_iter().flat_map(|registration| next.add(registration, None)).collect();
        self.take(next, problems)
    }

    /// Adds those of these tools that have no fault; the faults of the others come back. For definitions that others
    /// wrote: one bad entry takes nothing down.
    pub fn register_each(&mut self, registrations: Vec<Registration>) -> Vec<Problem> {
        let mut problems = Vec::new();
        for registration in registrations {
            problems.extend(self.register(vec![registration]).err().into_iter().flatten());
        }
        problems
    }

    /// Adds a named group of tools: all of them, or none and every fault.
    ///
    /// # Errors
    /// As [`register`](Self::register), and a toolset without owner or of a name that is taken.
    pub fn register_toolset(&mut self, toolset: Toolset, tools: Vec<Registration>) -> Result<(), Vec<Problem>> {
        let mut next = self.clone();
        let mut problems = validate::toolset(&toolset, next.toolsets.get(&toolset.name).map(AsRef::as_ref));
        let name = toolset.name.clone();
        next.toolsets.insert(name.clone(), Arc::new(toolset));
        for registration in tools {
            problems.extend(next.add(registration, Some(&name)));
        }
        self.take(next, problems)
    }

    /// Adds an editor of outgoing requests that is no function tool.
    ///
    /// # Errors
    /// An editor without a name or an owner, or of a name that is taken.
    pub fn register_editor(&mut self, editor: Editor) -> Result<(), Vec<Problem>> {
        let problems = validate::editor(&editor, &self.editors);
        if problems.is_empty() {
            self.insert_editor(editor);
            Ok(())
        } else {
            Err(problems)
        }
    }

    /// Takes a tool or an editor out; `false` where there was none.
    pub fn unregister(&mut self, name: &str) -> bool {
        let editors = self.editors.len();
        let tool = self.tools.remove(name);
        let is_tool = tool.is_some();
        self.editors.retain(|editor| editor.name != name || editor.of_tool != is_tool);
        let Some(tool) = tool else { return self.editors.len() < editors };
        for alias in &tool.definition.aliases {
            self.aliases.remove(&alias.name);
        }
        true
    }

    /// Takes a toolset out, with all its tools; their names come back.
    pub fn close_toolset(&mut self, name: &str) -> Vec<String> {
        self.toolsets.remove(name);
        let within = |tool: &&Arc<Tool>| tool.toolset.as_deref() == Some(name);
        let names: Vec<String> = self.tools.values().filter(within).map(|tool| tool.definition.name.clone()).collect();
        for name in &names {
            self.unregister(name);
        }
        names
    }

    /// A tool's definition.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Arc<Definition>> {
        self.tools.get(name).map(|tool| &tool.definition)
    }

    /// A tool's definition by its name or one it had before.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<&Arc<Definition>> {
        self.get(name).or_else(|| self.aliases.get(name).and_then(|target| self.get(target)))
    }

    /// The compiled schema of a tool's arguments.
    #[must_use]
    pub fn schema(&self, name: &str) -> Option<&Schema> {
        self.tools.get(name).map(|tool| &tool.schema)
    }

    /// The compiled schema of a tool's result, where it promises one.
    #[must_use]
    pub fn output(&self, name: &str) -> Option<&Schema> {
        self.tools.get(name).and_then(|tool| tool.output.as_ref())
    }

    /// Every definition, by name.
    pub fn definitions(&self) -> impl Iterator<Item = &Arc<Definition>> {
        self.tools.values().map(|tool| &tool.definition)
    }

    /// Up to three names that look like `name`, nearest first.
    #[must_use]
    pub fn nearest(&self, name: &str) -> Vec<&str> {
        nearest(name, self.tools.keys())
    }

    fn take(&mut self, next: Self, problems: Vec<Problem>) -> Result<(), Vec<Problem>> {
        let mut problems = problems;
        problems.extend(validate::budgets(&next));
        if problems.is_empty() {
            *self = next;
            Ok(())
        } else {
            Err(problems)
        }
    }

    // The tool is added whatever is wrong with it, so that what follows is held against it; `take` decides.
    fn add(&mut self, registration: Registration, toolset: Option<&str>) -> Vec<Problem> {
        let Registration { definition, executor, editor } = registration;
        let mut faults = validate::definition(&definition, executor.as_ref());
        faults.extend(validate::names(&definition, self));
        faults.extend(validate::profiles(&definition, &self.rules.profiles));
        let mut left = Vec::new();
        let elsewhere = self.rules.gateway_checks && definition.scope == Scope::Server;
        let mut compiled = |schema: Result<Schema, Vec<SchemaProblem>>, what: &str| {
            schema.unwrap_or_else(|bad| {
                let whole = bad.iter().all(|problem| problem.kind == ProblemKind::Unchecked);
                let told = if elsewhere && whole { &mut left } else { &mut faults };
                told.extend(bad.iter().map(|problem| format!("{what}{problem}")));
                Schema::default()
            })
        };
        let schema = compiled(Schema::compile_arguments(&definition.parameters), "");
        let output = definition.output.as_ref().map(|output| compiled(Schema::compile(output), "output "));
        if faults.is_empty() {
            faults.extend(validate::examples(&definition, &schema));
            faults.extend(self.rules.refusals.iter().flat_map(|refusals| refusals(&definition)));
        }
        let problems = faults.into_iter().map(|message| Problem::of_tool(&definition, message)).collect();
        if !self.tools.contains(&definition.name) {
            self.insert(definition, Compiled { schema, output, left }, toolset, editor);
        }
        problems
    }

    fn insert(&mut self, definition: Definition, compiled: Compiled, toolset: Option<&str>, editor: Option<Edit>) {
        let offer = definition.offer();
        let size = offer.size();
        let mut offers = Vec::new();
        for alias in &definition.aliases {
            self.aliases.insert(alias.name.clone(), definition.name.clone());
            if alias.offered {
                offers.push(Arc::new(ToolOffer { name: alias.name.clone(), ..offer.clone() }));
            }
        }
        offers.push(Arc::new(offer));
        if let Some(edit) = editor {
            let (name, owner) = (definition.name.clone(), definition.owner.clone());
            self.insert_editor(Editor { name, owner, order: 0, edit, of_tool: true });
        }
        let name = definition.name.clone();
        let toolset = toolset.map(str::to_owned);
        let Compiled { schema, output, left } = compiled;
        let tool = Tool { definition: Arc::new(definition), schema, output, offers, toolset, size, left };
        self.tools.insert(name, Arc::new(tool));
    }

    // In their order; those of one order as they were registered.
    fn insert_editor(&mut self, editor: Editor) {
        let at = self.editors.iter().take_while(|other| other.order <= editor.order).count();
        self.editors.insert(at, editor);
    }
}

impl Registration {
    /// A tool that this executor runs, and that leaves requests alone.
    #[must_use]
    pub fn new(definition: Definition, executor: Option<Executor>) -> Self {
        Self { definition, executor, editor: None }
    }

    /// A tool that runs in the world its definition names, under its own name.
    #[must_use]
    pub fn executed(definition: Definition) -> Self {
        let executor = Executor { name: definition.name.clone(), scope: definition.scope };
        Self::new(definition, Some(executor))
    }
}

impl std::fmt::Debug for Registry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.tools.keys()).finish()
    }
}
