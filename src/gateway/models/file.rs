//! A `.toml` file of models (docs/models.md). Knows nothing of what is asked of them.
//!
//! ```toml
//! [[model]]
//! name = "clever"                     # what a page asks for; `model` where left out
//! provider = "anthropic"              # known from the address of the usual ones
//! model = "claude-sonnet-5"
//! key_env = "ANTHROPIC_API_KEY"       # or key_file
//! price = { input = 3.0, output = 15.0, cached = 0.3 }
//! fallback = ["local"]
//! parameters = { max_tokens = 16000 }
//! without = ["stream_options"]         # fields of the body that are left out
//! ```

use std::path::Path;

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::gateway::models::config::{Prices, Secret, Upstream, target, vendor};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    model: Vec<Row>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    model: String,
    name: Option<String>,
    label: Option<String>,
    provider: Option<String>,
    url: Option<String>,
    key_env: Option<String>,
    key_file: Option<String>,
    price: Option<Price>,
    #[serde(default)]
    fallback: Vec<String>,
    #[serde(default)]
    parameters: Map<String, Value>,
    #[serde(default)]
    without: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Price {
    input: f64,
    output: f64,
    cached: Option<f64>,
}

/// The models of a file.
///
/// # Errors
/// What is wrong, and with which of them.
pub(in crate::gateway) fn read(
    path: &Path,
    variable: &impl Fn(&str) -> Option<String>,
) -> Result<Vec<Upstream>, String> {
    let text =
        std::fs::read_to_string(path).map_err(|why| format!("--models: {} can not be read: {why}", path.display()))?;
    let file: File = toml::from_str(&text).map_err(|why| format!("--models: {}: {why}", path.display()))?;
    if file.model.is_empty() {
        return Err(format!("--models: {} describes no [[model]]", path.display()));
    }
    let directory = path.parent().unwrap_or(Path::new("."));
    let upstream = |row: Row| {
        let name = row.name.clone().unwrap_or_else(|| row.model.clone());
        row.upstream(directory, variable).map_err(|why| format!("--models: the model \"{name}\": {why}"))
    };
    file.model.into_iter().map(upstream).collect()
}

impl Row {
    fn upstream(self, directory: &Path, variable: &impl Fn(&str) -> Option<String>) -> Result<Upstream, String> {
        if self.model.trim().is_empty() {
            return Err("model is empty".to_owned());
        }
        if self.name.as_deref().is_some_and(|name| name.trim().is_empty()) {
            return Err("name is empty".to_owned());
        }
        if self.without.iter().any(|path| path.split('.').any(str::is_empty)) {
            return Err("without: a name is empty".to_owned());
        }
        let key = self.key(directory, variable)?;
        let vendor = self.provider.as_deref().map(vendor).transpose().map_err(|why| format!("provider: {why}"))?;
        if self.url.is_none() && vendor.is_none_or(|vendor| vendor.url.is_none()) {
            return Err("url is missing, and provider names none with a usual address".to_owned());
        }
        let mut parameters = self.parameters;
        self.without.iter().for_each(|path| leave_out(&mut parameters, path));
        let target = target(vendor, self.url.as_deref(), &self.model, parameters, key.as_ref())
            .map_err(|why| format!("url {why}"))?;
        let prices = self.price.map(Price::read).transpose()?;
        let name = self.name.unwrap_or_else(|| self.model.clone());
        let label = self.label.unwrap_or_else(|| name.clone());
        Ok(Upstream { name, label, target, key, prices, fallback: self.fallback })
    }

    fn key(&self, directory: &Path, variable: &impl Fn(&str) -> Option<String>) -> Result<Option<Secret>, String> {
        match (&self.key_env, &self.key_file) {
            (Some(_), Some(_)) => Err("key_env and key_file exclude each other".to_owned()),
            (Some(name), None) => match variable(name) {
                Some(key) => Ok(Some(Secret::new(key))),
                None => Err(format!("key_env: {name} is not set")),
            },
            (None, Some(file)) => {
                let path = directory.join(file);
                let key = std::fs::read_to_string(&path);
                let key = key.map_err(|why| format!("key_file: {} can not be read: {why}", path.display()))?;
                Ok(Some(Secret::new(key.trim().to_owned())))
            }
            (None, None) => Ok(None),
        }
    }
}

// A field of the body, with dots into objects; TOML has no null, which takes one out.
fn leave_out(parameters: &mut Map<String, Value>, path: &str) {
    let (name, rest) = path.split_once('.').map_or((path, None), |(name, rest)| (name, Some(rest)));
    let field = parameters.entry(name).or_insert(Value::Null);
    let Some(rest) = rest else { return *field = Value::Null };
    if !field.is_object() {
        *field = Value::Object(Map::new());
    }
    if let Value::Object(inner) = field {
        leave_out(inner, rest);
    }
}

impl Price {
    fn read(self) -> Result<Prices, String> {
        let micros = |price: f64| {
            let fits = price.is_finite() && (0.0..=1_000_000.0).contains(&price);
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked just above")]
            let micros = (price * 1_000_000.0).round() as u64;
            if fits { Ok(micros) } else { Err(format!("price: {price} is no price of a million tokens")) }
        };
        let (input, output) = (micros(self.input)?, micros(self.output)?);
        Ok(Prices { input, output, cached: self.cached.map(micros).transpose()? })
    }
}
