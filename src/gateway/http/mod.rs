//! Tools that are requests to an HTTP server, by configuration. Knows nothing of files or of who asks.
//!
//! | file | does |
//! |---|---|
//! | `spec` | `[tool.http]` → what is sent, and every fault of it |
//! | `template`, `url`, `body` | texts, addresses and bodies with places that a call fills in |
//! | `send` | one call → one request |
//! | `answer` | the server's answer → the tool's |

mod answer;
mod body;
mod send;
mod spec;
mod template;
mod url;

use std::sync::Arc;

pub(super) use crate::gateway::http::body::Body;
pub(super) use crate::gateway::http::spec::{JSON, Leftovers, Spec, headers, is_ours_alone, read};
pub(super) use crate::gateway::http::template::Template;
pub(super) use crate::gateway::http::url::Address;

use crate::gateway::catalog::Surroundings;
use crate::gateway::net::Clients;
use crate::gateway::tools::ServerTool;
use crate::tools::{Approval, Definition};

/// What entries of one file are read with.
pub(super) struct Setting<'a> {
    pub(super) surroundings: &'a Surroundings,
    /// The hosts with ports that the file allows, though they are not public.
    pub(super) allowed: &'a [String],
}

/// What a definition promises that a request can not keep.
pub(super) fn broken_promises(definition: &Definition) -> Vec<String> {
    let mut faults = Vec::new();
    if definition.approval == Approval::Tool {
        let words =
            "its approval is \"tool\", but a request can not ask the user, so nobody would; say \"risk\" or \"always\"";
        faults.push(words.to_owned());
    }
    if definition.long_running {
        faults.push("it says longRunning, but a request does not go on after its answer; leave it out".to_owned());
    }
    faults
}

/// A tool that sends what the spec says.
pub(super) fn tool(definition: Definition, spec: Spec, clients: &Clients) -> ServerTool {
    let client = clients.client(spec.reach).clone();
    let (spec, replay) = (Arc::new(spec), definition.replay);
    ServerTool::new(definition, move |arguments, context| {
        let (spec, client) = (Arc::clone(&spec), client.clone());
        async move { send::send(&client, &spec, replay, &arguments, &context).await }
    })
}
