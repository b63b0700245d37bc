//! How a gateway is set up: arguments and environment. Knows nothing of what is done with it.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use crate::gateway::models::{Upstream, from_variables, read_file};

/// What `pagehand-gateway --help` prints.
pub const HELP: &str = "\
pagehand-gateway: the server side of Pagehand

  --port N          port to listen on (8765)
  --listen ADDRESS  address to listen on (127.0.0.1; anything else is reachable from other machines)
  --site DIR        serve the files of this directory, too
  --demo            serve the demo shop: its data and its tools
  --data FILE       keep the demo shop in this file (otherwise in memory)
  --tools PATH      serve the tools of this .toml file, or of the .toml files in this directory (docs/gateway.md)
  --models FILE     the models of this .toml file, beside the one that the environment names (docs/models.md)
  --artifacts FILE  keep the files that tools leave behind in this one (otherwise in memory)
  --calls FILE      keep the record of calls in this file, so that none runs twice (otherwise in memory)

environment:
  PAGEHAND_MODEL       a model's name at its provider (without it and --models: the demo model)
  PAGEHAND_PROVIDER    whose it is: openai_chat, openai_responses, anthropic, gemini, gemini_interactions, ollama, groq,
                       mistral, deepseek, openrouter, llama_cpp, … (docs/models.md); known from the usual addresses
  PAGEHAND_MODEL_URL   its server, such as http://localhost:11434; the provider's usual one where left out
  PAGEHAND_MODEL_KEY   its key, where it wants one
  PAGEHAND_PRICE_INPUT, PAGEHAND_PRICE_OUTPUT, PAGEHAND_PRICE_CACHED
                       what a million tokens read, written and read from a cache cost, in millionths of your currency
                       (2.50 is 2500000); then the panel shows what a run costs, and a page can limit it
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
    /// The models a page may ask for, the first where it names none; the demo model where there are none.
    pub models: Vec<Upstream>,
    /// Host names it answers to, beside the loopback ones.
    pub hosts: Vec<String>,
    /// Origins of other pages that may use it.
    pub origins: Vec<String>,
    /// How fast the demo model writes; 1.0 is a human pace, 0.0 at once.
    pub pace: f32,
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
            models: from_variables(&variable)?.into_iter().collect(),
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
                "--models" => {
                    let path = PathBuf::from(value("a .toml file")?);
                    config.models.extend(read_file(&path, &variable)?);
                }
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
