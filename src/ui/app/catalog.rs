//! The tools of a page: its own and the gateway's, and whether both sides agree on the latter. Knows nothing of a thread.

use std::pin::pin;
use std::rc::Rc;

use futures::FutureExt;
use futures::future::{Either, abortable, select};
use serde_json::Value;

use crate::browser::tools::BrowserTool;
use crate::browser::{Refused, Served, ServedTool, sleep};
use crate::protocol::{Names, Scope, object};
use crate::tools::{
    Definition, Edit, Editor, Executor, Expected, Policy, Problem, Registration, Registry, Rules, Toolset, cross_check,
    diff,
};
use crate::ui::app::{App, RegisterError};

// A message waits no longer than this for a gateway to list its tools.
const LIST_MS: u64 = 8000;
// Tools are registered one after another; they are asked about once.
const CHECK_MS: u64 = 50;

/// A tool that runs in the page.
pub struct PageTool {
    /// The tool as data.
    pub definition: Definition,
    /// What runs it.
    pub run: BrowserTool,
    /// What it does to outgoing requests, where it does that, too.
    pub editor: Option<Edit>,
}

pub(super) struct Catalog {
    pub(super) registry: Registry,
    /// The rules of the gateway's configuration.
    pub(super) policy: Policy,
    /// What the page was built against; `None` where it takes what it is given.
    expected: Option<Vec<Expected>>,
    /// What the gateway serves, with its hashes: in the registry or not.
    served: Vec<ServedTool>,
    /// What is wrong with tools of the gateway that can not be used: found here, and said by the gateway.
    refused: Vec<String>,
    faults: Vec<String>,
    /// What the model's provider, or a profile's budget, refuses of the page's tools.
    checked: Vec<String>,
    /// Whether the gateway knows what is refused.
    is_answered: bool,
    /// Counts the questions about them: only the latest answer counts.
    asked: u32,
    /// What frees a toolset's resources.
    closers: Names<Rc<dyn Fn()>>,
}

impl Catalog {
    pub(super) fn new() -> Self {
        Self {
            registry: Registry::new(Rules { gateway_checks: true, ..Rules::default() }),
            policy: Policy::default(),
            expected: None,
            served: Vec::new(),
            refused: Vec::new(),
            faults: Vec::new(),
            checked: Vec::new(),
            is_answered: false,
            asked: 0,
            closers: Names::default(),
        }
    }

    // Everything that can not be used, and why.
    fn all_refused(&self, profile: &str) -> Vec<String> {
        let problem = self.registry.check_profile(profile).map(|problem| problem.to_string());
        self.refused.iter().chain(&self.faults).chain(&self.checked).cloned().chain(problem).collect()
    }

    fn own(&self) -> Vec<Definition> {
        let own = self.registry.definitions().filter(|tool| tool.scope == Scope::Browser && tool.owner != "pagehand");
        own.map(|tool| Definition::clone(tool)).collect()
    }

    /// Frees what the toolsets hold; a question that is on its way about the tools is not asked any more.
    pub(super) fn close_all(&mut self) {
        self.asked += 1;
        for (_, close) in std::mem::take(&mut self.closers) {
            close();
        }
    }

    /// Takes the gateway's tools over, in place of those it had; what changed comes back, a line a tool.
    fn take_served(&mut self, served: Vec<ServedTool>) -> Vec<String> {
        let before: Vec<_> = self.registry.definitions().filter(|tool| tool.scope == Scope::Server).cloned().collect();
        for tool in &before {
            self.registry.unregister(&tool.name);
        }
        self.served = served;
        let mut problems = self.disagreements();
        for ServedTool { definition, .. } in &self.served {
            if !problems.iter().any(|problem| problem.name == definition.name) {
                problems.extend(self.registry.register_each(vec![behind_gateway(definition.clone())]));
            }
        }
        self.refused = problems.iter().map(ToString::to_string).collect();
        let changed = before.iter().filter_map(|before| {
            let Some(now) = self.registry.get(&before.name) else { return Some(format!("{} is gone", before.name)) };
            let changes = diff(before, now);
            (!changes.is_empty()).then(|| format!("{} ({})", before.name, changes.join(", ")))
        });
        changed.collect()
    }

    // A tool on which page and gateway do not agree is not used; the others are.
    fn disagreements(&self) -> Vec<Problem> {
        let served: Vec<(&Definition, &str)> =
            self.served.iter().map(|tool| (&tool.definition, tool.hash.as_str())).collect();
        let mut problems = self.expected.as_ref().map(|expected| cross_check(expected, &served)).unwrap_or_default();
        for (definition, hash) in served {
            let ours = definition.hash();
            if ours != hash {
                let message = format!(
                    "the gateway's definition reads differently here (hash {}…) than there (hash {}…); page and gateway \
                     are of different versions: deploy both anew",
                    &ours[..8],
                    hash.chars().take(8).collect::<String>()
                );
                problems.push(Problem::of_tool(definition, message));
            }
        }
        problems
    }
}

impl App {
    /// Adds a tool that runs in the page.
    ///
    /// # Errors
    /// Everything that is wrong with its definition.
    pub fn register(&self, definition: Definition, run: BrowserTool) -> Result<(), RegisterError> {
        self.register_tool(PageTool { definition, run, editor: None })
    }

    /// The same, of a tool that may edit requests, too.
    ///
    /// # Errors
    /// Everything that is wrong with its definition.
    pub fn register_tool(&self, tool: PageTool) -> Result<(), RegisterError> {
        let PageTool { definition, run, editor } = tool;
        let name = definition.name.clone();
        self.inner.catalog.borrow_mut().registry.register(vec![in_page(definition, editor)])?;
        self.inner.page.tools.insert(&name, run);
        self.publish();
        self.ask_about_own();
        Ok(())
    }

    /// Adds a group of tools that is resolved for each request; `close` frees what they hold.
    ///
    /// # Errors
    /// Everything that is wrong with any of them.
    pub fn register_toolset(
        &self,
        toolset: Toolset,
        tools: Vec<PageTool>,
        close: Option<Rc<dyn Fn()>>,
    ) -> Result<(), RegisterError> {
        let name = toolset.name.clone();
        let mut runs = Vec::new();
        let mut registrations = Vec::new();
        for PageTool { definition, run, editor } in tools {
            runs.push((definition.name.clone(), run));
            registrations.push(in_page(definition, editor));
        }
        let mut catalog = self.inner.catalog.borrow_mut();
        catalog.registry.register_toolset(toolset, registrations)?;
        if let Some(close) = close {
            catalog.closers.insert(name, close);
        }
        drop(catalog);
        for (name, run) in runs {
            self.inner.page.tools.insert(&name, run);
        }
        self.publish();
        self.ask_about_own();
        Ok(())
    }

    /// Takes a toolset out with all its tools, and frees what it holds; `false` where there was none.
    pub fn close_toolset(&self, name: &str) -> bool {
        let (names, close) = {
            let mut catalog = self.inner.catalog.borrow_mut();
            (catalog.registry.close_toolset(name), catalog.closers.remove(name))
        };
        for name in &names {
            self.inner.page.tools.remove(name);
        }
        if let Some(close) = &close {
            close();
        }
        self.publish();
        !names.is_empty() || close.is_some()
    }

    /// Adds an editor of outgoing requests that is no function tool.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn register_editor(&self, editor: Editor) -> Result<(), RegisterError> {
        self.inner.catalog.borrow_mut().registry.register_editor(editor)?;
        self.publish();
        Ok(())
    }

    /// What is wrong with a tool that would be added, without adding it.
    #[must_use]
    pub fn check(&self, definition: Definition) -> Vec<Problem> {
        self.registry().register(vec![in_page(definition, None)]).err().unwrap_or_default()
    }

    /// Takes a page's tool, or an editor, out; `false` where there is none of that name, or it is not the page's.
    pub fn unregister(&self, name: &str) -> bool {
        let theirs = self.registry().get(name).is_some_and(|tool| tool.scope == Scope::Server);
        if theirs || !self.inner.catalog.borrow_mut().registry.unregister(name) {
            return false;
        }
        self.inner.page.tools.remove(name);
        self.publish();
        true
    }

    /// Says what the page was built against. Tools on which the gateway does not agree are not used.
    pub fn expect(&self, expected: Vec<Expected>) {
        let mut catalog = self.inner.catalog.borrow_mut();
        catalog.expected = Some(expected);
        if self.inner.served.get() {
            let served = std::mem::take(&mut catalog.served);
            catalog.take_served(served);
            drop(catalog);
            self.tell_of_refused();
            self.publish();
        }
    }

    /// The tools, how much each profile's declarations take, what was refused and why, and the counts.
    #[must_use]
    pub fn report(&self) -> Value {
        let catalog = self.inner.catalog.borrow();
        let mut report = catalog.registry.report();
        let mut counts = self.inner.metrics.borrow().to_json();
        // An alias that nobody has used since the page was opened may have no thread left that needs it.
        let aliases =
            catalog.registry.definitions().flat_map(|tool| tool.aliases.iter().map(move |alias| (tool, alias)));
        report["aliases"] = aliases
            .map(|(tool, alias)| {
                let uses = counts["aliases"][&alias.name].as_u64().unwrap_or_default();
                object(vec![
                    ("name", alias.name.as_str().into()),
                    ("tool", tool.name.as_str().into()),
                    ("uses", uses.into()),
                    ("removable", (uses == 0).into()),
                ])
            })
            .collect();
        report["calls"] = counts["calls"].take();
        report["unknown"] = counts["unknown"].take();
        let refused = catalog.all_refused(&self.inner.page.options.profile);
        report["refused"] = refused.into_iter().map(Value::from).collect();
        report
    }

    /// Takes up what changes behind the gateway, as soon as a call finds that it has.
    pub(super) fn hear_of_changes(&self) {
        let app = self.clone();
        *self.inner.page.services.drifted.borrow_mut() = Some(Rc::new(move || {
            let app = app.clone();
            leptos::task::spawn_local(async move { app.take_up_changes().await });
        }));
    }

    /// Has the gateway list its tools, where it has not; a step waits for them.
    pub(super) fn ensure_listed(&self) {
        if self.inner.served.get() || self.inner.listing.borrow().is_some() {
            return;
        }
        self.handle().listing(true);
        let app = self.clone();
        let (listing, stop) = abortable(async move { app.fetch_served().await });
        self.inner.listing.replace(Some(stop));
        leptos::task::spawn_local(listing.map(drop));
    }

    async fn fetch_served(&self) {
        if let Some(served) = self.list().await
            && !self.inner.served.get()
        {
            self.take(served);
        }
        self.inner.listing.take();
        self.handle().listing(false);
    }

    // A deploy behind an open page: the page takes the new tools up and says so.
    async fn take_up_changes(&self) {
        if let Some(served) = self.list().await {
            let changed = self.take(served);
            if !changed.is_empty() {
                let words =
                    format!("The server's tools have changed, and are used as they are now: {}.", changed.join("; "));
                self.store.tools_notice.set(Some(words));
            }
        }
    }

    async fn list(&self) -> Option<Served> {
        let listing = pin!(self.inner.page.gateway.served());
        let words = match select(listing, sleep(LIST_MS)).await {
            Either::Left((Ok(served), _)) => return Some(served),
            Either::Left((Err(words), _)) => words,
            Either::Right(_) => "The gateway did not list its tools in time; they can not be used for now.".to_owned(),
        };
        self.store.tools_notice.set(Some(words));
        None
    }

    fn take(&self, served: Served) -> Vec<String> {
        let mut catalog = self.inner.catalog.borrow_mut();
        let changed = catalog.take_served(served.tools);
        catalog.policy = served.policy.unwrap_or_default();
        catalog.faults = served.faults;
        catalog.is_answered = served.is_gateway;
        drop(catalog);
        self.inner.served.set(true);
        let is_there = |name: &str| served.agent.models.iter().any(|model| model.name == name);
        // One that was chosen before a deploy, and is there no more.
        if self.store.direct.peek(Option::is_none)
            && !is_there(&self.store.model.now())
            && !served.agent.models.is_empty()
        {
            self.use_model("");
        }
        self.store.agent.set(served.agent);
        self.tell_of_refused();
        self.publish();
        // A run that a reload cut off was waiting for the tools.
        self.handle().resume();
        self.ask_about_own();
        changed
    }

    fn tell_of_refused(&self) {
        let refused = self.inner.catalog.borrow().all_refused(&self.inner.page.options.profile).join("; ");
        self.store.tools_notice.set((!refused.is_empty()).then(|| format!("Some tools can not be used: {refused}")));
    }

    // Which provider answers is the gateway's to know, and so is what it refuses in a definition. The page's tools are
    // asked about together: a profile's budget is for all of them.
    fn ask_about_own(&self) {
        let asked = {
            let mut catalog = self.inner.catalog.borrow_mut();
            catalog.asked += 1;
            catalog.asked
        };
        let app = self.clone();
        leptos::task::spawn_local(async move {
            sleep(CHECK_MS).await;
            let current = || app.inner.catalog.borrow().asked == asked;
            let own = app.inner.catalog.borrow().own();
            let is_answered = app.inner.catalog.borrow().is_answered;
            if !is_answered || own.is_empty() || !current() {
                return;
            }
            let refused = app.inner.page.gateway.refusals(&own).await;
            if current() {
                app.take_refusals(&refused);
            }
        });
    }

    fn take_refusals(&self, refused: &[Refused]) {
        let told = !refused.is_empty() || !self.inner.catalog.borrow().checked.is_empty();
        self.inner.catalog.borrow_mut().checked = refused.iter().map(|one| one.words.clone()).collect();
        for tool in refused.iter().filter_map(|one| one.tool.as_deref()) {
            self.unregister(tool);
        }
        if told {
            self.tell_of_refused();
        }
    }
}

// A tool that the page registers runs in the page, whatever its definition was made to say.
pub(super) fn in_page(mut definition: Definition, editor: Option<Edit>) -> Registration {
    definition.scope = Scope::Browser;
    let executor = Executor { name: definition.name.clone(), scope: Scope::Browser };
    Registration { editor, ..Registration::new(definition, Some(executor)) }
}

// And one that the gateway lists runs behind the gateway.
fn behind_gateway(definition: Definition) -> Registration {
    let executor = Executor { name: definition.name.clone(), scope: Scope::Server };
    Registration::new(definition, Some(executor))
}
