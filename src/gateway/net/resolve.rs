//! Names → addresses that were checked. Knows nothing of what is sent there.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use futures::future::BoxFuture;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use crate::gateway::net::{Reach, is_public};

/// Finds the addresses of a name. The default asks the system.
pub trait Lookup: Send + Sync {
    /// The addresses of a host.
    ///
    /// # Errors
    /// The name can not be resolved.
    fn lookup(&self, host: String) -> BoxFuture<'static, io::Result<Vec<IpAddr>>>;
}

/// Asks the system.
#[derive(Clone, Copy, Debug)]
pub(in crate::gateway) struct System;

impl Lookup for System {
    fn lookup(&self, host: String) -> BoxFuture<'static, io::Result<Vec<IpAddr>>> {
        Box::pin(async move {
            let found = tokio::net::lookup_host((host, 0)).await?;
            Ok(found.map(|address| address.ip()).collect())
        })
    }
}

/// Lets a connection see only what was checked.
pub(super) struct Resolver {
    lookup: Arc<dyn Lookup>,
    reach: Reach,
}

impl Resolver {
    pub(super) fn new(lookup: Arc<dyn Lookup>, reach: Reach) -> Self {
        Self { lookup, reach }
    }
}

impl Resolve for Resolver {
    fn resolve(&self, name: Name) -> Resolving {
        let host = name.as_str().trim_end_matches('.').to_ascii_lowercase();
        let (looking, reach) = (self.lookup.lookup(host), self.reach);
        Box::pin(async move {
            let addresses = looking.await?;
            // One that is not public among public ones is no accident: the name is not reached at all.
            if reach == Reach::Public && !addresses.iter().all(|address| is_public(*address)) {
                return Err(INSIDE.into());
            }
            let found: Vec<SocketAddr> = addresses.into_iter().map(|address| SocketAddr::new(address, 0)).collect();
            Ok(Box::new(found.into_iter()) as Addrs)
        })
    }
}

/// What a refused name's error says; looked for where errors are put into words.
pub(super) const INSIDE: &str = "the name leads to an address inside of a network";

/// Whether a request failed because its host's name leads to the inside of a network.
pub(in crate::gateway) fn leads_inside(error: &reqwest::Error) -> bool {
    let mut source = std::error::Error::source(error);
    while let Some(error) = source {
        if error.to_string() == INSIDE {
            return true;
        }
        source = error.source();
    }
    false
}
