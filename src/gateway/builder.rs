//! A gateway, put together by whoever embeds it. Knows nothing of requests.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use axum::Router;
use axum::http::HeaderMap;
use tokio::sync::Notify;

use crate::gateway::calls::{AtWork, Calls, Clock};
use crate::gateway::catalog::{Catalog, Source, Surroundings, Variables, look, watch};
use crate::gateway::config::Config;
use crate::gateway::context::identity::{Identify, from_headers};
use crate::gateway::context::shelves::Shelves;
use crate::gateway::context::{Artifacts, Identity, Memory, NoMemory};
use crate::gateway::models::Models;
use crate::gateway::net::{Clients, Lookup, System};
use crate::gateway::state::{Gateway, Parts};
use crate::gateway::tools::ServerTool;
use crate::gateway::{check, demo, router};
use crate::tools::{Definition, Refusals};

const POLL: Duration = Duration::from_secs(2);

impl Gateway {
    /// Begins a gateway of this configuration.
    ///
    /// ```no_run
    /// use pagehand::gateway::{Config, Gateway, Identity, tools::ServerTool};
    /// use pagehand::protocol::{Risk, Scope};
    /// use pagehand::tools::Definition;
    /// use serde_json::{Value, json};
    ///
    /// # fn user_of(_: &str) -> Option<Identity> { None }
    /// # async fn embed(config: Config) -> Result<(), String> {
    /// let words = "Says who is signed in. Use it when the user asks who they are. Returns the user's id.";
    /// let mut definition = Definition::new("who_am_i", words, Scope::Server, Risk::Read);
    /// definition.owner = "accounts".to_owned();
    /// let who_am_i = ServerTool::new(definition, |_, context| async move {
    ///     let user = context.require_user()?;
    ///     Ok(json!({ "id": user.id }))
    /// });
    ///
    /// let app = Gateway::builder(config)
    ///     .tool(who_am_i)
    ///     .identity(|headers| async move {
    ///         let session = headers.get("cookie").and_then(|cookie| cookie.to_str().ok());
    ///         Ok(session.and_then(user_of))
    ///     })
    ///     .build()?;
    /// # let listener = tokio::net::TcpListener::bind("127.0.0.1:8765").await.map_err(|why| why.to_string())?;
    /// axum::serve(listener, app).await.map_err(|why| why.to_string())
    /// # }
    /// ```
    pub fn builder(config: Config) -> Builder {
        Builder {
            identify: from_headers(config.user_header.clone(), config.claims_header.clone()),
            config,
            tools: Vec::new(),
            memory: Arc::new(NoMemory),
            artifacts: None,
            refusals: None,
            lookup: Arc::new(System),
            variable: Arc::new(|name| std::env::var(name).ok()),
            poll: POLL,
            reload: Arc::default(),
            clock: Arc::new(SystemTime::now),
            at_work: AtWork::default(),
        }
    }
}

/// A gateway that is being put together.
#[must_use]
pub struct Builder {
    config: Config,
    tools: Vec<ServerTool>,
    identify: Identify,
    memory: Arc<dyn Memory>,
    artifacts: Option<Arc<dyn Artifacts>>,
    refusals: Option<Refusals>,
    lookup: Arc<dyn Lookup>,
    variable: Variables,
    poll: Duration,
    reload: Arc<Notify>,
    clock: Clock,
    at_work: AtWork,
}

impl Builder {
    /// Serves a tool, too.
    pub fn tool(mut self, tool: ServerTool) -> Self {
        self.tools.push(tool);
        self
    }

    /// Serves these tools, too.
    pub fn tools(mut self, tools: impl IntoIterator<Item = ServerTool>) -> Self {
        self.tools.extend(tools);
        self
    }

    /// Finds out who sent a request, by its headers: a session's cookie, a checked token. `Ok(None)` for nobody, `Err`
    /// where the headers can not be believed; its words go to the log alone. In place of the configured header.
    pub fn identity<F>(mut self, identify: impl Fn(HeaderMap) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Result<Option<Identity>, String>> + Send + 'static,
    {
        self.identify = Arc::new(move |headers| Box::pin(identify(headers)));
        self
    }

    /// What tools can recall. Without one they recall nothing.
    pub fn memory(mut self, memory: impl Memory + 'static) -> Self {
        self.memory = Arc::new(memory);
        self
    }

    /// Where files are kept, in place of the configured file or memory.
    pub fn artifacts(mut self, artifacts: impl Artifacts + 'static) -> Self {
        self.artifacts = Some(Arc::new(artifacts));
        self
    }

    /// What is refused in a definition beside what every registry refuses, in sentences.
    pub fn refusals(mut self, refusals: impl Fn(&Definition) -> Vec<String> + Send + Sync + 'static) -> Self {
        self.refusals = Some(Arc::new(refusals));
        self
    }

    /// How names are resolved for HTTP tools; the rules for addresses hold all the same.
    pub fn lookup(mut self, lookup: impl Lookup + 'static) -> Self {
        self.lookup = Arc::new(lookup);
        self
    }

    /// Where `{env.NAME}` comes from, in place of the environment.
    pub fn variables(mut self, variable: impl Fn(&str) -> Option<String> + Send + Sync + 'static) -> Self {
        self.variable = Arc::new(variable);
        self
    }

    /// How often the files of `--tools` are looked at; every 2 s if not said.
    pub fn poll(mut self, every: Duration) -> Self {
        self.poll = every;
        self
    }

    /// Loads the files of `--tools` again whenever this is notified.
    pub fn reload(mut self, asked: Arc<Notify>) -> Self {
        self.reload = asked;
        self
    }

    /// What time it is for the record of calls, in place of the system's clock.
    pub fn clock(mut self, now: impl Fn() -> SystemTime + Send + Sync + 'static) -> Self {
        self.clock = Arc::new(now);
        self
    }

    /// Counts the calls at work in here: whoever stops the gateway gives them a moment to be recorded.
    pub fn at_work(mut self, at_work: AtWork) -> Self {
        self.at_work = at_work;
        self
    }

    /// The gateway's routes. Inside of a Tokio runtime the files of `--tools` are watched from now on.
    ///
    /// # Errors
    /// Everything that is wrong with its tools, its data or its model, a line each.
    pub fn build(self) -> Result<Router, String> {
        let config = &self.config;
        let mut tools = self.tools;
        let mut routes = Router::new();
        if config.demo {
            let store =
                demo::Store::open(config.data.as_deref()).map_err(|why| format!("the demo shop: {}", why.message))?;
            let store = Arc::new(store);
            tools.extend(demo::tools(Arc::clone(&store)));
            routes = routes.merge(demo::router(store));
        }
        let models = Models::new(&config.models, config.pace)?;
        let source = match &config.tools {
            Some(path) if !path.exists() => return Err(format!("--tools: there is nothing at {}", path.display())),
            Some(path) => {
                let surroundings = Surroundings { variable: self.variable, clients: Clients::new(&self.lookup)? };
                Some(Source { path: path.clone(), surroundings })
            }
            None => None,
        };
        let mut rules = check::rules_of(&models);
        rules.refusals = self.refusals.or(rules.refusals);
        // Before they are read, so that a change in between is seen.
        let seen = config.tools.as_deref().map(look).unwrap_or_default();
        let catalog = Arc::new(Catalog::new(tools, source, rules)?);
        if let (Some(path), Ok(runtime)) = (&config.tools, tokio::runtime::Handle::try_current()) {
            runtime.spawn(watch(Arc::downgrade(&catalog), path.clone(), seen, self.poll, self.reload));
        }
        let artifacts = match self.artifacts {
            Some(artifacts) => artifacts,
            None => Arc::new(Shelves::open(config.artifacts.as_deref())?),
        };
        let calls = Calls::open(config.calls.as_deref(), self.clock, self.at_work)?;
        let parts = Parts { models, catalog, identify: self.identify, memory: self.memory, artifacts, calls };
        Ok(router::wire(config, Gateway::new(parts), routes))
    }
}

impl std::fmt::Debug for Builder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Builder").field("config", &self.config).finish_non_exhaustive()
    }
}
