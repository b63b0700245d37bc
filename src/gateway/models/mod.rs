//! Who answers: the embedded demo model, or models of servers elsewhere. Knows nothing of HTTP towards the page.

mod client;
mod config;
mod file;

pub(super) use client::TOLD;
pub(super) use config::from_variables;
pub use config::{Prices, Secret, Upstream};
pub(super) use file::read as read_file;

use std::time::Duration;

use futures::stream::{BoxStream, StreamExt, iter, once};
use serde_json::{Value, json};

use crate::gateway::models::client::{Client, Head, http_client};
use crate::protocol::{ModelError, ModelErrorKind, ModelEvent, ModelRequest, TEXTS};
use crate::providers::{Vendor, demo};

/// The models a page may ask for, the first where it names none.
#[derive(Debug)]
pub struct Models {
    list: Vec<Model>,
}

#[derive(Debug)]
enum Model {
    /// The embedded planner, at this pace (1.0 human, 0.0 at once).
    Demo { pace: f32 },
    /// One of a server elsewhere.
    Upstream(Client),
}

/// An answer at work.
pub(super) struct Answering {
    /// What the model's server says in the head of its answer, once it has.
    pub(super) head: Head,
    /// A stream that ends without `Finish` or `Error` was cut; dropping it lets go of what is behind it.
    pub(super) events: BoxStream<'static, ModelEvent>,
}

impl Models {
    /// The models of these servers; the demo model where there are none.
    ///
    /// # Errors
    /// No client can be made, or a name stands twice or nowhere.
    pub fn new(upstreams: &[Upstream], pace: f32) -> Result<Self, String> {
        if upstreams.is_empty() {
            return Ok(Self { list: vec![Model::Demo { pace }] });
        }
        for (at, upstream) in upstreams.iter().enumerate() {
            if upstreams[..at].iter().any(|other| other.name == upstream.name) {
                return Err(format!("there are two models named \"{}\"; give one another name", upstream.name));
            }
            if upstream.fallback.contains(&upstream.name) {
                return Err(format!("the model \"{}\" falls back on itself", upstream.name));
            }
            let missing = |name: &&String| !upstreams.iter().any(|other| other.name == **name);
            if let Some(name) = upstream.fallback.iter().find(missing) {
                return Err(format!("the model \"{}\" falls back on \"{name}\", which is not there", upstream.name));
            }
        }
        let http = http_client()?;
        let client = |upstream: &Upstream| Model::Upstream(Client::new(http.clone(), upstream.clone()));
        Ok(Self { list: upstreams.iter().map(client).collect() })
    }

    /// What the panel calls the first.
    #[must_use]
    pub fn label(&self) -> &str {
        self.list.first().map_or("", Model::label)
    }

    /// What a user may try.
    #[must_use]
    pub fn suggestions(&self) -> &'static [&'static str] {
        match self.list.first() {
            Some(Model::Demo { .. }) => &[
                "Where is order A-1042? Open it and copy the tracking number",
                "Compare orders A-1042 and A-1043",
                "Show pending orders on screen",
                "What is our returns policy?",
                "Refund order A-1042 because it arrived damaged",
                "Export the late orders",
            ],
            Some(Model::Upstream(_)) | None => &[],
        }
    }

    /// The models as a page is told of them. Holds no address and no key.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let model = |model: &Model| match model {
            Model::Demo { .. } => json!({ "name": DEMO, "label": model.label(), "provider": DEMO, "files": [] }),
            Model::Upstream(client) => {
                let vendor = client.upstream().target.vendor();
                let files: Vec<&str> = vendor.media.types.iter().chain(&TEXTS).copied().collect();
                json!({
                    "name": client.upstream().name, "label": model.label(), "provider": vendor.name,
                    "files": files, "maxFileBytes": vendor.media.max_bytes,
                })
            }
        };
        self.list.iter().map(model).collect()
    }

    /// Whose they are, each once.
    pub(super) fn vendors(&self) -> Vec<&'static Vendor> {
        let mut vendors: Vec<&'static Vendor> = Vec::new();
        for model in &self.list {
            if let Model::Upstream(client) = model
                && !vendors.iter().any(|vendor| vendor.name == client.upstream().target.vendor().name)
            {
                vendors.push(client.upstream().target.vendor());
            }
        }
        vendors
    }

    /// One answer of the model a request names.
    pub(super) fn answer(&self, request: &ModelRequest) -> Answering {
        match self.find(&request.model) {
            Some(Model::Demo { pace }) => {
                let pace = *pace;
                let events = iter(demo::answer(request)).then(move |event| async move {
                    tokio::time::sleep(thinking_time(&event).mul_f32(pace)).await;
                    event
                });
                Answering { head: Head::default(), events: events.boxed() }
            }
            Some(Model::Upstream(client)) => {
                let mut clients = vec![client];
                for name in &client.upstream().fallback {
                    if let Some(Model::Upstream(other)) = self.find(name) {
                        clients.push(other);
                    }
                }
                client::answer(&clients, request)
            }
            None => {
                let names: Vec<&str> = self.list.iter().map(Model::name).collect();
                let words = format!("There is no model named \"{}\"; there are: {}.", request.model, names.join(", "));
                let error = ModelEvent::Error(ModelError::new(ModelErrorKind::BadRequest, words));
                Answering { head: Head::default(), events: once(async { error }).boxed() }
            }
        }
    }

    fn find(&self, name: &str) -> Option<&Model> {
        if name.is_empty() { self.list.first() } else { self.list.iter().find(|model| model.name() == name) }
    }
}

const DEMO: &str = "demo";

impl Model {
    fn name(&self) -> &str {
        match self {
            Self::Demo { .. } => DEMO,
            Self::Upstream(client) => &client.upstream().name,
        }
    }

    fn label(&self) -> &str {
        match self {
            Self::Demo { .. } => "Demo: a small planner, not a language model",
            Self::Upstream(client) => &client.upstream().label,
        }
    }
}

// About as fast as people see real models write.
fn thinking_time(event: &ModelEvent) -> Duration {
    Duration::from_millis(match event {
        ModelEvent::Start => 350,
        ModelEvent::CallStart { .. } => 120,
        ModelEvent::CallDelta { .. } => 40,
        ModelEvent::TextDelta(_) | ModelEvent::ReasoningDelta(_) => 45,
        _ => 0,
    })
}
