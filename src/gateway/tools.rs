//! Tools that run behind the gateway: what one is, and the set that is served.
//!
//! Knows nothing of what any of them does, nor of HTTP.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures::future::BoxFuture;
use serde_json::Value;

use crate::protocol::{Outcome, Scope, ToolError};
use crate::tools::{Definition, Executor, Problem, Registration, Registry, Rules};

pub use crate::gateway::context::CallContext;

/// A tool that runs behind the gateway.
#[derive(Clone)]
pub struct ServerTool {
    /// The tool as data; its scope is `Server`.
    pub definition: Definition,
    run: Run,
}

/// Every server tool that is served, and the registry that says so.
#[derive(Clone, Default)]
pub struct ServerTools {
    registry: Arc<Registry>,
    runs: Arc<BTreeMap<String, Run>>,
}

type Run = Arc<dyn Fn(Value, CallContext) -> BoxFuture<'static, Outcome> + Send + Sync>;

impl ServerTool {
    /// A tool and what runs it: it ends with an [`Outcome`], or with a result where `?` is handy. The arguments it is
    /// called with fit its schema.
    pub fn new<F>(definition: Definition, run: impl Fn(Value, CallContext) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output: Into<Outcome>> + Send + 'static,
    {
        let run = move |arguments, context| -> BoxFuture<'static, Outcome> {
            let running = run(arguments, context);
            Box::pin(async move { running.await.into() })
        };
        Self { definition, run: Arc::new(run) }
    }

    /// The tool as a registry takes it: its scope is `Server`, whatever its definition says.
    pub(crate) fn registration(&self) -> Registration {
        let executor = Executor { name: self.definition.name.clone(), scope: Scope::Server };
        Registration::new(self.definition.clone(), Some(executor))
    }
}

impl From<Result<Value, ToolError>> for Outcome {
    fn from(result: Result<Value, ToolError>) -> Self {
        result.map_or_else(Self::Error, Self::Result)
    }
}

impl std::fmt::Debug for ServerTool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "server tool {}", self.definition.name)
    }
}

impl ServerTools {
    /// The set of these tools.
    ///
    /// # Errors
    /// Every fault of every definition; a tool that is not of scope `Server` is one.
    pub fn new(tools: Vec<ServerTool>) -> Result<Self, Vec<Problem>> {
        Self::within(Rules::default(), tools)
    }

    /// The set of these tools, held to these rules, too.
    pub(crate) fn within(rules: Rules, tools: Vec<ServerTool>) -> Result<Self, Vec<Problem>> {
        let mut registry = Registry::new(rules);
        registry.register(tools.iter().map(ServerTool::registration).collect())?;
        let runs = tools.into_iter().map(|tool| (tool.definition.name, tool.run)).collect();
        Ok(Self { registry: Arc::new(registry), runs: Arc::new(runs) })
    }

    /// Adds a tool.
    pub(crate) fn add(&mut self, tool: ServerTool) -> Result<(), Vec<Problem>> {
        Arc::make_mut(&mut self.registry).register(vec![tool.registration()])?;
        Arc::make_mut(&mut self.runs).insert(tool.definition.name, tool.run);
        Ok(())
    }

    /// The definitions and compiled schemas.
    #[must_use]
    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    /// Runs a tool; `None` where nobody serves the name.
    #[must_use]
    pub fn call(&self, name: &str, arguments: Value, context: CallContext) -> Option<BoxFuture<'static, Outcome>> {
        self.runs.get(name).map(|run| run(arguments, context))
    }
}
