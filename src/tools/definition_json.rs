//! A definition as JSON, and back. Knows nothing of the registry's rules: only of shapes.
//!
//! A field it does not know is a fault: a misspelt `aproval` must not pass for a tool that asks nobody.

use std::sync::Arc;

use serde_json::{Map, Value};

use crate::protocol::{Names, Replay, Risk, Scope, object};
use crate::tools::nearest::nearest;
use crate::tools::{Alias, Approval, Definition, Words};

const FIELDS: [&str; 17] = [
    "name",
    "version",
    "owner",
    "description",
    "parameters",
    "output",
    "examples",
    "scope",
    "risk",
    "replay",
    "approval",
    "profiles",
    "requires",
    "longRunning",
    "timeoutMs",
    "label",
    "progress",
];

impl Definition {
    /// The definition as JSON, as `GET /tools` and JavaScript have it.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let mut requires = Map::new();
        for (fact, values) in self.requires.iter() {
            requires.insert(fact.to_owned(), Value::from(values.clone()));
        }
        let alias =
            |alias: &Alias| object(vec![("name", alias.name.as_str().into()), ("offered", alias.offered.into())]);
        let aliases: Vec<Value> = self.aliases.iter().map(alias).collect();
        object(vec![
            ("name", self.name.as_str().into()),
            ("version", self.version.as_str().into()),
            ("owner", self.owner.as_str().into()),
            ("description", self.description.as_str().into()),
            ("parameters", Value::clone(&self.parameters)),
            ("output", self.output.as_deref().cloned().unwrap_or_default()),
            ("examples", self.examples.clone().into()),
            ("scope", self.scope.as_str().into()),
            ("risk", self.risk.as_str().into()),
            ("replay", self.replay.as_str().into()),
            ("approval", self.approval.as_str().into()),
            ("profiles", self.profiles.iter().map(String::as_str).collect()),
            ("requires", Value::Object(requires)),
            ("longRunning", self.long_running.into()),
            ("timeoutMs", self.timeout_ms.into()),
            ("label", self.label.to_json()),
            ("progress", self.progress.to_json()),
            ("aliases", Value::Array(aliases)),
        ])
    }

    /// A definition from its JSON, and what is wrong with the JSON's shape, in sentences. Where there is any, the
    /// definition holds what could be read, for the registry to find the other faults in.
    ///
    /// `beside` are fields that whoever asks reads by itself.
    #[must_use]
    pub fn from_json(json: &Value, beside: &[&str]) -> (Self, Vec<String>) {
        let mut faults = Vec::new();
        if !json.is_object() {
            faults.push("a definition must be an object".to_owned());
        }
        for field in json.as_object().into_iter().flat_map(Map::keys) {
            if !FIELDS.contains(&field.as_str()) && field != "aliases" && !beside.contains(&field.as_str()) {
                faults.push(unknown_field(field));
            }
        }
        let mut reader = Reader { json, faults };
        let scope = reader.word("scope", None, Scope::parse, "\"browser\" or \"server\"");
        let risk = reader.word("risk", None, Risk::parse, "\"read\", \"write\" or \"irreversible\"");
        // Whatever is not known is taken for the strictest.
        let risk = risk.unwrap_or(Risk::Irreversible);
        let usual = Self::usual_replay(risk);
        let replay = reader.word("replay", Some(usual), Replay::parse, "\"pure\", \"idempotent\" or \"effect\"");
        let approval =
            reader.word("approval", Some(Approval::Risk), Approval::parse, "\"risk\", \"always\" or \"tool\"");
        let definition = Self {
            name: reader.text("name", ""),
            version: reader.text("version", "1"),
            owner: reader.text("owner", ""),
            description: reader.text("description", ""),
            parameters: Arc::new(reader.given("parameters").cloned().unwrap_or_else(no_arguments)),
            output: reader.given("output").cloned().map(Arc::new),
            examples: reader.list("examples").to_vec(),
            scope: scope.unwrap_or(Scope::Browser),
            risk,
            replay: replay.unwrap_or(usual),
            approval: approval.unwrap_or_default(),
            profiles: reader.texts("profiles"),
            requires: reader.requires(),
            long_running: reader.flag("longRunning"),
            timeout_ms: reader.milliseconds("timeoutMs"),
            label: reader.words("label"),
            progress: reader.words("progress"),
            aliases: reader.aliases(),
        };
        (definition, reader.faults)
    }
}

/// The schema of a tool without arguments.
pub(crate) fn no_arguments() -> Value {
    object(vec![("type", "object".into()), ("properties", object(Vec::new())), ("additionalProperties", false.into())])
}

fn unknown_field(field: &str) -> String {
    match nearest(field, FIELDS.into_iter()).first() {
        Some(meant) => format!("\"{field}\" is no field of a definition; did you mean \"{meant}\"?"),
        None => format!("\"{field}\" is no field of a definition"),
    }
}

struct Reader<'a> {
    json: &'a Value,
    faults: Vec<String>,
}

impl<'a> Reader<'a> {
    fn given(&self, name: &str) -> Option<&'a Value> {
        self.json.get(name).filter(|value| !value.is_null())
    }

    fn fault(&mut self, name: &str, expected: &str) {
        self.faults.push(format!("its {name} must be {expected}"));
    }

    fn text(&mut self, name: &str, absent: &str) -> String {
        match self.given(name) {
            Some(Value::String(text)) => text.clone(),
            None => absent.to_owned(),
            Some(_) => {
                self.fault(name, "a string");
                String::new()
            }
        }
    }

    fn word<T>(
        &mut self,
        name: &str,
        absent: Option<T>,
        parse: impl Fn(&str) -> Option<T>,
        expected: &str,
    ) -> Option<T> {
        let found = match self.given(name) {
            None => absent,
            Some(value) => value.as_str().and_then(parse),
        };
        if found.is_none() {
            self.fault(name, expected);
        }
        found
    }

    fn flag(&mut self, name: &str) -> bool {
        match self.given(name) {
            None => false,
            Some(Value::Bool(flag)) => *flag,
            Some(_) => {
                self.fault(name, "true or false");
                false
            }
        }
    }

    fn milliseconds(&mut self, name: &str) -> Option<u64> {
        let given = self.given(name)?;
        let ms = given.as_u64();
        if ms.is_none() {
            self.fault(name, "a whole number of milliseconds");
        }
        ms
    }

    fn list(&mut self, name: &str) -> &'a [Value] {
        match self.given(name) {
            None => &[],
            Some(Value::Array(list)) => list,
            Some(_) => {
                self.fault(name, "an array");
                &[]
            }
        }
    }

    fn texts(&mut self, name: &str) -> Vec<String> {
        let list = self.list(name);
        let texts: Vec<String> = list.iter().filter_map(Value::as_str).map(str::to_owned).collect();
        if texts.len() < list.len() {
            self.fault(name, "an array of strings");
        }
        texts
    }

    fn words(&mut self, name: &str) -> Words {
        let words = Words::from_json(self.given(name).unwrap_or(&Value::Null));
        if words.is_none() {
            self.fault(name, "a string, or an object of strings by language");
        }
        words.unwrap_or_default()
    }

    fn requires(&mut self) -> Names<Vec<Value>> {
        let mut requires = Names::default();
        match self.given("requires") {
            None => {}
            Some(Value::Object(facts)) => {
                for (fact, values) in facts {
                    let values = values.as_array().cloned().unwrap_or_else(|| vec![values.clone()]);
                    requires.insert(fact.clone(), values);
                }
            }
            Some(_) => self.fault("requires", "an object: fact → the values that will do"),
        }
        requires
    }

    fn aliases(&mut self) -> Vec<Alias> {
        let mut aliases = Vec::new();
        for alias in self.list("aliases") {
            let name = alias.as_str().or_else(|| alias.get("name").and_then(Value::as_str));
            match name {
                Some(name) => {
                    let offered = alias.get("offered").and_then(Value::as_bool).unwrap_or(false);
                    aliases.push(Alias { name: name.to_owned(), offered });
                }
                None => self.fault("aliases", "an array of names, or of { name, offered }"),
            }
        }
        aliases
    }
}
