//! Tools that run behind the gateway: what one is, and the set that is served.
//!
//! Knows nothing of what any of them does, nor of HTTP.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures::future::BoxFuture;
use serde_json::Value;

use crate::protocol::{Outcome, Scope};
use crate::tools::{Definition, Executor, Problem, Registration, Registry};

/// A tool that runs behind the gateway.
#[derive(Clone)]
pub struct ServerTool {
    /// The tool as data; its scope is `Server`.
    pub definition: Definition,
    run: Run,
}

/// What a call brings beside its arguments.
#[derive(Clone, Debug)]
pub struct CallContext {
    /// The page's id for this call: the idempotency key.
    pub call_id: String,
}

/// Every server tool that is served, and the registry that says so.
#[derive(Clone, Default)]
pub struct ServerTools {
    registry: Arc<Registry>,
    runs: Arc<BTreeMap<String, Run>>,
}

type Run = Arc<dyn Fn(Value, CallContext) -> BoxFuture<'static, Outcome> + Send + Sync>;

impl ServerTool {
    /// A tool and what runs it. The arguments it is called with fit its schema.
    pub fn new<F>(definition: Definition, run: impl Fn(Value, CallContext) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Outcome> + Send + 'static,
    {
        Self { definition, run: Arc::new(move |arguments, context| Box::pin(run(arguments, context))) }
    }
}

impl ServerTools {
    /// The set of these tools.
    ///
    /// # Errors
    /// Every fault of every definition; a tool that is not of scope `Server` is one.
    pub fn new(tools: Vec<ServerTool>) -> Result<Self, Vec<Problem>> {
        let mut registry = Registry::default();
        let registration = |tool: &ServerTool| {
            let executor = Executor { name: tool.definition.name.clone(), scope: Scope::Server };
            Registration::new(tool.definition.clone(), Some(executor))
        };
        registry.register(tools.iter().map(registration).collect())?;
        let runs = tools.into_iter().map(|tool| (tool.definition.name, tool.run)).collect();
        Ok(Self { registry: Arc::new(registry), runs: Arc::new(runs) })
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
