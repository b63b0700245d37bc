//! What is served now: the tools of code and those of the configuration, and how the one set becomes the next.
//!
//! Knows nothing of HTTP. A call keeps the set it began with; a set is exchanged as a whole.
//!
//! | file | does |
//! |---|---|
//! | `file` | one configuration file → a sheet: entries, rules, profiles, and what is wrong with each |
//! | `assemble` | sheets → what is served; a bad entry leaves the others alone |
//! | `reload` | sees that files changed |

mod assemble;
mod file;
mod reload;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use serde_json::{Value, json};
use tracing::{info, warn};

pub(super) use crate::gateway::catalog::file::{Entry, Surroundings, Variables, text};
pub(super) use crate::gateway::catalog::reload::{look, watch};

use crate::gateway::tools::{ServerTool, ServerTools};
use crate::tools::{Policy, Problem, Profile, Rules};

/// What is served.
#[derive(Clone, Default)]
pub(super) struct Served {
    pub(super) tools: ServerTools,
    /// As JSON, as a page reads them.
    pub(super) rules: Vec<Value>,
    pub(super) policy: Policy,
    pub(super) profiles: Vec<Profile>,
    pub(super) refused: Vec<Refused>,
}

/// An entry that is not served as it is written, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Refused {
    /// The file, as it is named in the directory.
    pub(super) file: String,
    pub(super) problem: Problem,
}

/// The one place that knows what is served.
pub(super) struct Catalog {
    code: Vec<ServerTool>,
    source: Option<Source>,
    rules: Rules,
    now: RwLock<Arc<Served>>,
    // One reload at a time.
    good: Mutex<Good>,
    versions: Mutex<BTreeMap<String, String>>,
}

/// Where the configuration is, and what its entries are read with.
pub(super) struct Source {
    pub(super) path: PathBuf,
    pub(super) surroundings: Surroundings,
}

/// The last good version of everything.
#[derive(Clone, Default)]
struct Good {
    /// File, then the tool's name → the tool.
    tools: BTreeMap<(String, String), ServerTool>,
    /// File → its rules.
    rules: BTreeMap<String, Vec<Value>>,
    /// File → its profiles.
    profiles: BTreeMap<String, Vec<Profile>>,
}

// The hashes of definitions that were served, for a page that still has one.
const MAX_VERSIONS: usize = 4096;

impl Catalog {
    /// The catalog at the start.
    ///
    /// # Errors
    /// Every fault of the tools of code; of a single file every fault, too; of a directory those of its policy, because
    /// a rule that nobody reads would allow what it forbids.
    pub(super) fn new(code: Vec<ServerTool>, source: Option<Source>, rules: Rules) -> Result<Self, String> {
        let catalog =
            Self { code, source, rules, now: RwLock::default(), good: Mutex::default(), versions: Mutex::default() };
        let sheets = catalog.read()?;
        let mut good = Good::default();
        let served = catalog.assemble(&sheets, &mut good).map_err(|problems| lines(&problems))?;
        let single = catalog.source.as_ref().is_some_and(|source| source.path.is_file());
        let fatal = |refused: &&Refused| single || refused.problem.kind == "policy";
        let faults: Vec<Problem> = served.refused.iter().filter(fatal).map(Refused::named).collect();
        if !faults.is_empty() {
            return Err(lines(&faults));
        }
        *lock(&catalog.good) = good;
        catalog.serve(served);
        Ok(catalog)
    }

    pub(super) fn served(&self) -> Arc<Served> {
        Arc::clone(&self.now.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// The version of a definition that is, or was, served.
    pub(super) fn version_of(&self, hash: &str) -> Option<String> {
        lock(&self.versions).get(hash).cloned()
    }

    /// Reads the configuration again. Whatever is wrong with it, what was good stays.
    pub(super) fn reload(&self) {
        let mut good = lock(&self.good);
        let mut next = good.clone();
        let sheets = match self.read() {
            Ok(sheets) => sheets,
            Err(why) => return warn!("the tools were not loaded again, those there were stay: {why}"),
        };
        match self.assemble(&sheets, &mut next) {
            Ok(served) => {
                *good = next;
                self.serve(served);
            }
            // A profile that is new leaves the tools of code no place: all stays as it was, and says why.
            Err(problems) => {
                let mut served = Served::clone(&self.served());
                let file = self.source.as_ref().map(|source| source.path.display().to_string()).unwrap_or_default();
                served.refused = problems.into_iter().map(|problem| Refused { file: file.clone(), problem }).collect();
                self.serve(served);
            }
        }
    }

    fn serve(&self, served: Served) {
        for Refused { file, problem } in &served.refused {
            warn!(file, owner = problem.owner, tool = problem.name, "refused: {}", problem.message);
        }
        let mut versions = lock(&self.versions);
        if versions.len() > MAX_VERSIONS {
            versions.clear();
        }
        for definition in served.tools.registry().definitions() {
            versions.insert(definition.hash(), definition.version.clone());
        }
        let count = served.tools.registry().definitions().count();
        info!(tools = count, refused = served.refused.len(), "serving");
        *self.now.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(served);
    }

    fn read(&self) -> Result<Vec<file::Sheet>, String> {
        self.source.as_ref().map_or_else(|| Ok(Vec::new()), |source| file::read(&source.path, &source.surroundings))
    }
}

impl Refused {
    pub(super) fn to_json(&self) -> Value {
        let Problem { kind, name, owner, message } = &self.problem;
        json!({ "file": self.file, "kind": kind, "name": name, "owner": owner, "message": message })
    }

    // The same with the file in its words, for those who read a line.
    fn named(&self) -> Problem {
        let mut problem = self.problem.clone();
        problem.message = format!("{} ({})", problem.message, self.file);
        problem
    }
}

fn lines(problems: &[Problem]) -> String {
    problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}
