//! Requests to other servers, kept away from the inside of a network. Knows nothing of what is asked.
//!
//! The host of an address is fixed by the configuration. Unless the configuration allows it by name and port, every
//! address it resolves to must be public, and the connection goes to one of just those addresses: what was checked is
//! what is used. No redirect is followed and no proxy of the environment is taken.

mod address;
mod resolve;

use std::sync::Arc;
use std::time::Duration;

pub use address::is_public;
use reqwest::Url;
use reqwest::redirect::Policy;
pub use resolve::Lookup;

pub(super) use resolve::{System, leads_inside};

use crate::gateway::net::address::literal;
use crate::gateway::net::resolve::Resolver;

const CONNECT: Duration = Duration::from_secs(10);

/// Who sends requests: one client for public addresses alone, one for what the configuration allows.
#[derive(Clone, Debug)]
pub(super) struct Clients {
    public: reqwest::Client,
    allowed: reqwest::Client,
}

/// Which of the two a tool uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    /// Public addresses alone.
    Public,
    /// Wherever the host leads: the configuration names it.
    Allowed,
}

impl Clients {
    pub(super) fn new(lookup: &Arc<dyn Lookup>) -> Result<Self, String> {
        // Fails only where a provider is installed already, which does as well.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let build = |reach: Reach| {
            reqwest::Client::builder()
                .connect_timeout(CONNECT)
                .redirect(Policy::none())
                .no_proxy()
                .dns_resolver(Resolver::new(Arc::clone(lookup), reach))
                .user_agent(concat!("pagehand-gateway/", env!("CARGO_PKG_VERSION")))
                .build()
                .map_err(|why| format!("no HTTP client can be made: {why}"))
        };
        Ok(Self { public: build(Reach::Public)?, allowed: build(Reach::Allowed)? })
    }

    pub(super) fn client(&self, reach: Reach) -> &reqwest::Client {
        match reach {
            Reach::Public => &self.public,
            Reach::Allowed => &self.allowed,
        }
    }
}

/// How a tool may reach the host of this address; `Err`, in words for whoever configures it, where it may not at all.
/// A host given as a number is judged here: no name is resolved for it later.
pub(super) fn reach(url: &Url, allowed: &[String]) -> Result<Reach, String> {
    if !matches!(url.scheme(), "http" | "https") {
        return Err(format!("its address begins with {}:; only http and https are sent", url.scheme()));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("its address holds a user or a password; put them into a header, from the environment".to_owned());
    }
    let host = url.host_str().unwrap_or_default().trim_end_matches('.').to_ascii_lowercase();
    let port = url.port_or_known_default().unwrap_or_default();
    let named = format!("{host}:{port}");
    if host.is_empty() {
        return Err("its address has no host".to_owned());
    }
    if allowed.contains(&named) {
        return Ok(Reach::Allowed);
    }
    let inside = literal(url).is_some_and(|address| !is_public(address)) || is_inside_name(&host);
    if inside {
        return Err(format!(
            "its host {host} is inside of a network, where no tool may reach; if it is meant, add \
             allowHosts = [\"{named}\"]"
        ));
    }
    Ok(Reach::Public)
}

// Would be refused when it is resolved, too; said at the start it is of more use.
fn is_inside_name(host: &str) -> bool {
    host == "localhost" || [".localhost", ".local", ".internal"].iter().any(|end| host.ends_with(end))
}
