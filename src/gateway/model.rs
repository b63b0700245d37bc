//! Who answers: the embedded demo model, or a server elsewhere. Knows nothing of HTTP towards the page.

use std::sync::Arc;
use std::time::Duration;

use futures::stream::{BoxStream, StreamExt, iter};

use crate::gateway::config::{Config, Upstream};
use crate::gateway::upstream::Client;
use crate::protocol::{ModelEvent, ModelRequest};
use crate::providers::demo;

/// Who answers.
#[derive(Clone, Debug)]
pub enum Model {
    /// The embedded planner, at this pace (1.0 human, 0.0 at once).
    Demo {
        /// Its pace.
        pace: f32,
    },
    /// A server elsewhere.
    Upstream(Arc<Client>),
}

impl Model {
    /// The model of this configuration.
    ///
    /// # Errors
    /// A client for the server can not be made.
    pub fn of(config: &Config) -> Result<Self, String> {
        match &config.upstream {
            None => Ok(Self::Demo { pace: config.pace }),
            Some(upstream) => Ok(Self::Upstream(Arc::new(Client::new(upstream.clone())?))),
        }
    }

    /// What the panel calls it.
    #[must_use]
    pub fn label(&self) -> String {
        match self {
            Self::Demo { .. } => "Demo: a small planner, not a language model".to_owned(),
            Self::Upstream(client) => {
                let Upstream { model, .. } = client.upstream();
                model.clone()
            }
        }
    }

    /// What a user may try with it.
    #[must_use]
    pub fn suggestions(&self) -> &'static [&'static str] {
        match self {
            Self::Demo { .. } => &[
                "Where is order A-1042? Open it and copy the tracking number",
                "Compare orders A-1042 and A-1043",
                "Show pending orders on screen",
                "What is our returns policy?",
                "Refund order A-1042 because it arrived damaged",
                "Export the late orders",
            ],
            Self::Upstream(_) => &[],
        }
    }

    /// One answer. A stream that ends without `Finish` or `Error` was cut; dropping it lets go of what is behind it.
    #[must_use]
    pub fn answer(&self, request: &ModelRequest) -> BoxStream<'static, ModelEvent> {
        match self {
            Self::Upstream(client) => client.answer(request),
            Self::Demo { pace } => {
                let pace = *pace;
                let events = demo::answer(request);
                iter(events)
                    .then(move |event| async move {
                        tokio::time::sleep(thinking_time(&event).mul_f32(pace)).await;
                        event
                    })
                    .boxed()
            }
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
