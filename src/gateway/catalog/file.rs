//! One configuration file → a sheet: its entries, rules and profiles, and what is wrong with each of them.
//!
//! Knows nothing of what is served, nor of what was good before.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::gateway::catalog::Refused;
use crate::gateway::http::{self, Setting};
use crate::gateway::net::Clients;
use crate::gateway::openapi;
use crate::gateway::tools::ServerTool;
use crate::tools::{Definition, Policy, Problem, Profile};

/// The environment: a name → its value.
pub(in crate::gateway) type Variables = Arc<dyn Fn(&str) -> Option<String> + Send + Sync>;

/// What entries are read with.
#[derive(Clone)]
pub(in crate::gateway) struct Surroundings {
    /// The environment.
    pub(in crate::gateway) variable: Variables,
    /// Who sends what the tools ask for.
    pub(in crate::gateway) clients: Clients,
}

/// What a file says.
#[derive(Default)]
pub(super) struct Sheet {
    /// The file's name.
    pub(super) file: String,
    pub(super) entries: Vec<Entry>,
    /// As JSON; `None` where any of them is wrong: half a policy is none.
    pub(super) rules: Option<Vec<Value>>,
    pub(super) profiles: Vec<Profile>,
    /// What is wrong beside the entries.
    pub(super) faults: Vec<Problem>,
    /// Nothing in it can be read.
    pub(super) unreadable: bool,
}

/// A tool that a file describes.
pub(in crate::gateway) struct Entry {
    pub(in crate::gateway) name: String,
    pub(in crate::gateway) owner: String,
    pub(in crate::gateway) tool: Result<ServerTool, Vec<String>>,
}

const TABLES: [&str; 5] = ["tool", "openapi", "policy", "profile", "allowHosts"];
const MAX_BYTES: u64 = 16 * 1024 * 1024;

/// The sheets of a file, or of every `.toml` file in a directory, by name.
pub(super) fn read(path: &Path, surroundings: &Surroundings) -> Result<Vec<Sheet>, String> {
    if !path.is_dir() {
        return Ok(vec![sheet(path, surroundings)]);
    }
    let files = listed(path).map_err(|why| format!("--tools: {} can not be read: {why}", path.display()))?;
    Ok(files.iter().filter(|file| ends_in(file, &["toml"])).map(|file| sheet(file, surroundings)).collect())
}

/// The files that change what `read` says: the `.toml` files, and the documents beside them.
pub(super) fn watched(path: &Path) -> Vec<PathBuf> {
    let directory = if path.is_dir() { path } else { path.parent().unwrap_or(path) };
    let mut files = listed(directory).unwrap_or_default();
    files.retain(|file| if path.is_dir() { ends_in(file, &["toml"]) } else { file == path } || ends_in(file, &["json", "yaml", "yml"]));
    files
}

fn listed(directory: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(directory)? {
        let path = entry?.path();
        if path.is_file() {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

fn ends_in(file: &Path, kinds: &[&str]) -> bool {
    file.extension().and_then(|kind| kind.to_str()).is_some_and(|kind| kinds.contains(&kind))
}

fn sheet(path: &Path, surroundings: &Surroundings) -> Sheet {
    let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let mut sheet = Sheet { file, ..Sheet::default() };
    let text = text(path);
    // However it is written: a file that can not be parsed is not asked twice.
    let holds_rules = text.as_ref().is_ok_and(|text| text.contains("policy"));
    match text.and_then(|text| parse(&text)) {
        Ok(tables) => sheet.fill(&tables, path.parent().unwrap_or(Path::new(".")), surroundings),
        Err(why) => {
            sheet.unreadable = true;
            // A gateway that starts without them would allow what they forbid.
            sheet.fault(if holds_rules { "policy" } else { "file" }, why);
        }
    }
    sheet
}

/// A file's text, if it is not too large.
pub(in crate::gateway) fn text(path: &Path) -> Result<String, String> {
    let size = std::fs::metadata(path).map_err(|why| format!("it can not be read: {why}"))?.len();
    if size > MAX_BYTES {
        return Err(format!("it has {size} bytes; {MAX_BYTES} are the most"));
    }
    std::fs::read_to_string(path).map_err(|why| format!("it can not be read: {why}"))
}

fn parse(text: &str) -> Result<Map<String, Value>, String> {
    let table: toml::Table = text.parse().map_err(|why: toml::de::Error| {
        let line = why.span().map(|span| text[..span.start.min(text.len())].matches('\n').count() + 1);
        let place = line.map(|line| format!(" in line {line}")).unwrap_or_default();
        format!("it is no TOML{place}: {}", why.message())
    })?;
    Ok(table.into_iter().map(|(key, value)| (key, json_of(value))).collect())
}

fn json_of(value: toml::Value) -> Value {
    match value {
        toml::Value::String(text) => Value::String(text),
        toml::Value::Integer(number) => Value::from(number),
        toml::Value::Float(number) => Value::from(number),
        toml::Value::Boolean(flag) => Value::Bool(flag),
        toml::Value::Datetime(at) => Value::String(at.to_string()),
        toml::Value::Array(list) => list.into_iter().map(json_of).collect(),
        toml::Value::Table(table) => {
            Value::Object(table.into_iter().map(|(key, value)| (key, json_of(value))).collect())
        }
    }
}

impl Entry {
    pub(super) fn problem(&self, message: String) -> Problem {
        Problem { kind: "tool", name: self.name.clone(), owner: self.owner.clone(), message }
    }
}

impl Sheet {
    pub(super) fn refused(&self, problem: Problem) -> Refused {
        Refused { file: self.file.clone(), problem }
    }

    fn fault(&mut self, kind: &'static str, message: String) {
        let name = self.file.clone();
        self.faults.push(Problem { kind, name, owner: String::new(), message });
    }

    fn fill(&mut self, tables: &Map<String, Value>, directory: &Path, surroundings: &Surroundings) {
        for key in tables.keys().filter(|key| !TABLES.contains(&key.as_str())) {
            self.fault("file", format!("\"{key}\" is nothing this file may have; there are: {}", TABLES.join(", ")));
        }
        let allowed = self.hosts(tables.get("allowHosts"));
        let setting = Setting { surroundings, allowed: &allowed };
        for tool in self.list(tables, "tool") {
            self.entries.push(entry(tool, &setting));
        }
        for block in self.list(tables, "openapi") {
            self.entries.extend(openapi::entries(block, directory, &setting));
        }
        for profile in self.list(tables, "profile") {
            self.profile(profile);
        }
        self.policy(tables.get("policy"));
    }

    fn list<'a>(&mut self, tables: &'a Map<String, Value>, key: &str) -> &'a [Value] {
        match tables.get(key) {
            None => &[],
            Some(Value::Array(list)) => list,
            Some(_) => {
                self.fault("file", format!("{key} must be written as [[{key}]], once for each"));
                &[]
            }
        }
    }

    fn hosts(&mut self, json: Option<&Value>) -> Vec<String> {
        let list = json.map(|json| json.as_array().cloned().unwrap_or_else(|| vec![Value::Null])).unwrap_or_default();
        let hosts: Vec<String> = list.iter().filter_map(Value::as_str).map(str::to_ascii_lowercase).collect();
        let has_port = |host: &String| host.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
        if hosts.len() < list.len() || !hosts.iter().all(has_port) {
            self.fault(
                "file",
                "allowHosts must be an array of texts with a port each, such as \"localhost:9000\"".to_owned(),
            );
        }
        hosts
    }

    fn profile(&mut self, json: &Value) {
        let name = json.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
        let most = |field: &str| match json.get(field) {
            None => Ok(None),
            Some(most) => most.as_u64().and_then(|most| usize::try_from(most).ok()).map(Some).ok_or(()),
        };
        let known = ["name", "maxCharacters", "maxTokens"];
        let unknown = json.as_object().into_iter().flat_map(Map::keys).any(|key| !known.contains(&key.as_str()));
        let (Ok(max_characters), Ok(max_tokens), false, false) =
            (most("maxCharacters"), most("maxTokens"), unknown, name.is_empty())
        else {
            let words = "a [[profile]] has a name and, if its size is bounded, maxCharacters or maxTokens: whole \
                         numbers; nothing else";
            self.faults.push(Problem::of_profile(&name, words.to_owned()));
            return;
        };
        self.profiles.push(Profile { name, max_characters, max_tokens });
    }

    fn policy(&mut self, json: Option<&Value>) {
        let Some(json) = json else {
            self.rules = Some(Vec::new());
            return;
        };
        match Policy::from_json(json) {
            Ok(_) => self.rules = json.as_array().cloned(),
            Err(faults) => faults.into_iter().for_each(|fault| self.fault("policy", fault)),
        }
    }
}

fn entry(json: &Value, setting: &Setting<'_>) -> Entry {
    let text = |name: &str| json.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let (name, owner) = (text("name"), text("owner"));
    let mut json = json.clone();
    let mut faults = Vec::new();
    if let Some(map) = json.as_object_mut() {
        match map.insert("scope".to_owned(), Value::from("server")) {
            None => {}
            Some(scope) if scope == "server" => {}
            Some(_) => {
                faults.push("its scope is \"server\": what a gateway's configuration describes runs there".to_owned());
            }
        }
    }
    let (definition, shape) = Definition::from_json(&json, &["http"]);
    faults.extend(shape);
    faults.extend(http::broken_promises(&definition));
    let spec = match json.get("http") {
        Some(http) => http::read(http, &definition, setting),
        None => Err(vec!["it has no [tool.http], so nothing can run it".to_owned()]),
    };
    let tool = match spec {
        Ok(spec) if faults.is_empty() => Ok(http::tool(definition, spec, &setting.surroundings.clients)),
        Ok(_) => Err(faults),
        Err(more) => {
            faults.extend(more);
            Err(faults)
        }
    };
    Entry { name, owner, tool }
}
