//! How a gateway is set up: arguments and environment. Knows nothing of what is done with it.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use crate::protocol::Usage;
use crate::tools::portability::Provider;

/// What `pagehand-gateway --help` prints.
pub const HELP: &str = "\
pagehand-gateway: the server side of Pagehand

  --port N          port to listen on (8765)
  --listen ADDRESS  address to listen on (127.0.0.1; anything else is reachable from other machines)
  --site DIR        serve the files of this directory, too
  --demo            serve the demo shop: its data and its tools
  --data FILE       keep the demo shop in this file (otherwise in memory)
  --tools PATH      serve the tools of this .toml file, or of the .toml files in this directory (docs/gateway.md)
  --artifacts FILE  keep the files that tools leave behind in this one (otherwise in memory)
  --calls FILE      keep the record of calls in this file, so that none runs twice (otherwise in memory)

environment:
  PAGEHAND_MODEL_URL   an OpenAI-compatible server, such as http://localhost:11434/v1 (without it: the demo model)
  PAGEHAND_MODEL       the model's name there
  PAGEHAND_MODEL_KEY   its key, where it wants one
  PAGEHAND_PROVIDER    whose it is (openai_chat, groq, mistral, deepseek, ollama, llama_cpp, …): tools that it would
                       refuse are refused at the start; known from the address of the usual ones
  PAGEHAND_PRICE_INPUT, PAGEHAND_PRICE_OUTPUT
                       what a million tokens read and written cost, in millionths of your currency (2.50 is 2500000);
                       then the panel shows what a run costs, and a page can limit it
  PAGEHAND_HOSTS       names this gateway is reached by, beside localhost, separated by commas
  PAGEHAND_ORIGINS     origins of other pages that may use it, such as https://app.example, separated by commas
  PAGEHAND_USER_HEADER    the header in which a proxy in front names the user; it must take it from nobody else
  PAGEHAND_CLAIMS_HEADER  the header in which it says more about them, as a JSON object
  RUST_LOG             what to log (info)
";

/// How a gateway is set up.
#[derive(Clone, Debug)]
pub struct Config {
    /// Where it listens.
    pub listen: SocketAddr,
    /// The directory of the page, if it serves one.
    pub site: Option<PathBuf>,
    /// Whether it serves the demo shop.
    pub demo: bool,
    /// Where the demo shop is kept; in memory where `None`.
    pub data: Option<PathBuf>,
    /// The file or the directory that describes tools.
    pub tools: Option<PathBuf>,
    /// Where the files that tools leave behind are kept; in memory where `None`.
    pub artifacts: Option<PathBuf>,
    /// Where the record of calls is kept; in memory where `None`, and then a restart forgets it.
    pub calls: Option<PathBuf>,
    /// The header in which a trusted proxy names the user; nobody is known where `None`.
    pub user_header: Option<String>,
    /// The header in which it says more about them, a JSON object.
    pub claims_header: Option<String>,
    /// The model's server; the demo model where `None`.
    pub upstream: Option<Upstream>,
    /// Host names it answers to, beside the loopback ones.
    pub hosts: Vec<String>,
    /// Origins of other pages that may use it.
    pub origins: Vec<String>,
    /// How fast the demo model writes; 1.0 is a human pace, 0.0 at once.
    pub pace: f32,
}

/// An OpenAI-compatible server.
#[derive(Clone, Debug)]
pub struct Upstream {
    /// The address of its chat completions.
    pub url: String,
    /// The model's name there.
    pub model: String,
    /// Its key.
    pub key: Option<Secret>,
    /// Whose it is, where that is known: what it refuses in a tool's definition.
    pub provider: Option<&'static Provider>,
    /// What it costs, where that is known.
    pub prices: Option<Prices>,
}

/// What tokens cost, in millionths of a currency unit per million of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prices {
    /// Of those read.
    pub input: u64,
    /// Of those written.
    pub output: u64,
}

impl Prices {
    /// What this much costs, in millionths of a currency unit, rounded up.
    #[must_use]
    pub fn of(&self, usage: Usage) -> u64 {
        let cost = |tokens: u64, price: u64| u128::from(tokens) * u128::from(price);
        let cost = cost(usage.input_tokens, self.input) + cost(usage.output_tokens, self.output);
        u64::try_from(cost.div_ceil(1_000_000)).unwrap_or(u64::MAX)
    }
}

/// A text that is never printed.
#[derive(Clone)]
pub struct Secret(String);

impl Secret {
    /// Keeps a text.
    #[must_use]
    pub fn new(text: String) -> Self {
        Self(text)
    }

    /// The text, for the one place that must send it.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// A text without the secret, should it be in there.
    #[must_use]
    pub fn redact(&self, text: &str) -> String {
        if self.0.is_empty() { text.to_owned() } else { text.replace(&self.0, "[key]") }
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[key]")
    }
}

impl Config {
    /// Reads arguments (without the program's name) and environment. `Ok(None)` where help was asked for.
    ///
    /// # Errors
    /// What is wrong, and with which argument or variable.
    pub fn read(
        arguments: impl IntoIterator<Item = String>,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Option<Self>, String> {
        let variable =
            |name: &str| variable(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty());
        let list = |name: &str| -> Vec<String> {
            let listed = variable(name).unwrap_or_default();
            listed
                .split(',')
                .map(|one| one.trim().trim_end_matches('/').to_owned())
                .filter(|one| !one.is_empty())
                .collect()
        };
        let mut config = Self {
            listen: SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 8765),
            site: None,
            demo: false,
            data: None,
            tools: None,
            artifacts: None,
            calls: None,
            user_header: header(&variable, "PAGEHAND_USER_HEADER")?,
            claims_header: header(&variable, "PAGEHAND_CLAIMS_HEADER")?,
            upstream: upstream(&variable)?,
            hosts: list("PAGEHAND_HOSTS"),
            origins: list("PAGEHAND_ORIGINS"),
            pace: match variable("PAGEHAND_DEMO_PACE") {
                Some(text) => text.parse().map_err(|_| format!("PAGEHAND_DEMO_PACE: \"{text}\" is not a number"))?,
                None => 1.0,
            },
        };
        let mut arguments = arguments.into_iter();
        while let Some(argument) = arguments.next() {
            let mut value = |what: &str| arguments.next().ok_or_else(|| format!("{argument} wants {what}"));
            match argument.as_str() {
                "--help" | "-h" => return Ok(None),
                "--demo" => config.demo = true,
                "--port" => {
                    let text = value("a port number")?;
                    let port = text.parse().map_err(|_| format!("--port: \"{text}\" is not a port number"))?;
                    config.listen.set_port(port);
                }
                "--listen" => {
                    let text = value("an IP address")?;
                    let ip = text.parse().map_err(|_| format!("--listen: \"{text}\" is not an IP address"))?;
                    config.listen.set_ip(ip);
                }
                "--site" => config.site = Some(PathBuf::from(value("a directory")?)),
                "--data" => config.data = Some(PathBuf::from(value("a file")?)),
                "--tools" => config.tools = Some(PathBuf::from(value("a .toml file or a directory of them")?)),
                "--artifacts" => config.artifacts = Some(PathBuf::from(value("a file")?)),
                "--calls" => config.calls = Some(PathBuf::from(value("a file")?)),
                other => return Err(format!("{other} is no argument of pagehand-gateway; see --help")),
            }
        }
        if let Some(site) = config.site.as_ref().filter(|site| !site.is_dir()) {
            return Err(format!("--site: {} is not a directory", site.display()));
        }
        if config.claims_header.is_some() && config.user_header.is_none() {
            return Err(
                "PAGEHAND_CLAIMS_HEADER is set, but PAGEHAND_USER_HEADER (whose claims they are) is not".to_owned()
            );
        }
        Ok(Some(config))
    }
}

fn header(variable: &impl Fn(&str) -> Option<String>, name: &str) -> Result<Option<String>, String> {
    let Some(text) = variable(name) else { return Ok(None) };
    let is_name = text.parse::<axum::http::HeaderName>().is_ok();
    if is_name { Ok(Some(text)) } else { Err(format!("{name}: \"{text}\" is no name of a header")) }
}

fn upstream(variable: &impl Fn(&str) -> Option<String>) -> Result<Option<Upstream>, String> {
    let key = variable("PAGEHAND_MODEL_KEY").map(Secret::new);
    let (url, model) = match (variable("PAGEHAND_MODEL_URL"), variable("PAGEHAND_MODEL")) {
        (Some(url), Some(model)) => (url, model),
        (None, None) => return Ok(None),
        (Some(_), None) => {
            return Err("PAGEHAND_MODEL_URL is set, but PAGEHAND_MODEL (the model's name there) is not".to_owned());
        }
        (None, Some(_)) => return Err("PAGEHAND_MODEL is set, but PAGEHAND_MODEL_URL (its server) is not".to_owned()),
    };
    if !url.starts_with("http://") && !url.starts_with("https://") {
        return Err("PAGEHAND_MODEL_URL must begin with http:// or https://".to_owned());
    }
    let base = url.trim_end_matches('/');
    let url = if base.ends_with("/chat/completions") { base.to_owned() } else { format!("{base}/chat/completions") };
    let provider = match variable("PAGEHAND_PROVIDER") {
        None => provider_at(&url),
        Some(name) => Some(Provider::find(&name).ok_or_else(|| {
            let known = Provider::all().iter().map(|provider| provider.name).collect::<Vec<_>>().join(", ");
            format!("PAGEHAND_PROVIDER: \"{name}\" is not known; there are: {known}")
        })?),
    };
    let prices = prices(variable)?;
    Ok(Some(Upstream { url, model, key, provider, prices }))
}

fn prices(variable: &impl Fn(&str) -> Option<String>) -> Result<Option<Prices>, String> {
    let price = |name: &str| match variable(name) {
        None => Ok(None),
        Some(text) => text.parse::<u64>().map(Some).map_err(|_| {
            format!("{name}: \"{text}\" is not a whole number of millionths per million tokens (2.50 is 2500000)")
        }),
    };
    match (price("PAGEHAND_PRICE_INPUT")?, price("PAGEHAND_PRICE_OUTPUT")?) {
        (Some(input), Some(output)) => Ok(Some(Prices { input, output })),
        (None, None) => Ok(None),
        (Some(_), None) => Err("PAGEHAND_PRICE_INPUT is set, but PAGEHAND_PRICE_OUTPUT is not".to_owned()),
        (None, Some(_)) => Err("PAGEHAND_PRICE_OUTPUT is set, but PAGEHAND_PRICE_INPUT is not".to_owned()),
    }
}

// The addresses that say whose they are.
fn provider_at(url: &str) -> Option<&'static Provider> {
    let known = [
        ("://api.openai.com/", "openai_chat"),
        ("://api.groq.com/", "groq"),
        ("://api.mistral.ai/", "mistral"),
        ("://api.deepseek.com/", "deepseek"),
        (":11434/", "ollama"),
    ];
    let (_, name) = known.into_iter().find(|(place, _)| url.contains(place))?;
    Provider::find(name)
}
