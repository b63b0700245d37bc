//! A model of a server: what is sent to it, and how its answer is read. Knows nothing of how anything is sent.

use serde_json::{Map, Value};

use crate::protocol::{ModelError, ModelErrorKind, ModelRequest, OutputFormat};
use crate::providers::answer::Answer;
use crate::providers::decoder::{Decoder, Reader};
use crate::providers::names::{ToolNames, short_id};
use crate::providers::vendor::{Api, Output, Vendor};
use crate::providers::{anthropic, error, gemini, gemini_interactions, ollama, openai_chat, openai_responses};
use crate::tools::portability::Provider;
use crate::wire::frames::Frames;

/// A model of a server.
#[derive(Clone, Debug)]
pub struct Target {
    vendor: &'static Vendor,
    base: String,
    model: String,
    parameters: Map<String, Value>,
    route: String,
}

/// What is to be sent with `POST`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Post {
    /// The address.
    pub url: String,
    /// The head, without the key.
    pub headers: Vec<(&'static str, &'static str)>,
    /// The name of the header that carries the key, and what stands before it there.
    pub key: (&'static str, &'static str),
    /// The body, JSON.
    pub body: String,
}

/// What a codec knows while it writes a request.
pub(super) struct Writing<'a> {
    /// Whose.
    pub(super) vendor: &'static Vendor,
    /// The model's name.
    pub(super) model: &'a str,
    /// What sealed fields must be of.
    pub(super) route: &'a str,
    /// The names of the tools.
    pub(super) names: &'a ToolNames,
}

impl Writing<'_> {
    /// The form that is asked for with a schema; `None` where there is none, or where it is told in words.
    pub(super) fn form<'a>(&self, request: &'a ModelRequest) -> Option<&'a OutputFormat> {
        let takes = match self.vendor.output {
            // OpenAI takes no other root than an object.
            Output::Schema => {
                !self.vendor.name.starts_with("openai_") || self.vendor.url.is_none() || has_object_root(request)
            }
            Output::ClosedSchema => request.output.as_deref().is_some_and(is_closed),
            Output::SchemaWithoutTools => request.tools.is_empty(),
            Output::Object | Output::Words => false,
        };
        request.output.as_deref().filter(|_| takes)
    }

    /// What the first call of an answer must have where its own was lost, or was never there.
    pub(super) fn first_call(&self) -> Option<Map<String, Value>> {
        serde_json::from_str(self.vendor.first_call?).ok()
    }
}

fn has_object_root(request: &ModelRequest) -> bool {
    request.output.as_deref().is_some_and(|output| output.schema["type"] == "object")
}

/// Whether every object of a schema names all it may have, and wants all of it: what strict modes ask for.
pub(super) fn is_closed(output: &OutputFormat) -> bool {
    let strict = Provider::find("openai_strict");
    !has_open_object(&output.schema)
        && strict.is_some_and(|strict| strict.refuses(&output.name, "", &output.schema).is_empty())
}

// An object without properties is closed as well only where it says so.
fn has_open_object(schema: &Value) -> bool {
    match schema {
        Value::Object(fields) => {
            let is_open = schema["type"] == "object" && schema["additionalProperties"] != false;
            is_open || fields.values().any(has_open_object)
        }
        Value::Array(schemas) => schemas.iter().any(has_open_object),
        _ => false,
    }
}

impl Target {
    /// A model of a server at `url`; the vendor's usual address where that is empty. `parameters` are put into the body
    /// of every request. The key is not kept: it only tells whose the answers are.
    #[must_use]
    pub fn new(
        vendor: &'static Vendor,
        url: &str,
        model: &str,
        parameters: Map<String, Value>,
        key: Option<&str>,
    ) -> Self {
        let base = if url.is_empty() { vendor.url.unwrap_or_default() } else { url };
        let base = base.trim_end_matches('/').to_owned();
        let route = short_id(&[vendor.name, &base, model, key.unwrap_or_default()].join("\n"));
        Self { vendor, base, model: model.to_owned(), parameters, route }
    }

    /// Whose it is.
    #[must_use]
    pub fn vendor(&self) -> &'static Vendor {
        self.vendor
    }

    /// The model's name there.
    #[must_use]
    pub fn model(&self) -> &str {
        &self.model
    }

    /// What is sent for a request.
    ///
    /// # Errors
    /// What this vendor does not take, such as a file of some type or so many tools.
    pub fn write(&self, request: &ModelRequest) -> Result<Post, ModelError> {
        let tools = request.tools.len();
        if let Some(most) = self.vendor.provider().and_then(|provider| provider.max_tools).filter(|most| tools > *most)
        {
            let words = format!("{} takes at most {most} tools; this request has {tools}.", self.vendor.label);
            return Err(ModelError::new(ModelErrorKind::BadRequest, words));
        }
        let names = self.names(request);
        let writing = Writing { vendor: self.vendor, model: &self.model, route: &self.route, names: &names };
        let mut body = match self.vendor.api {
            Api::ChatCompletions => openai_chat::encode(request, &writing),
            Api::Responses => openai_responses::encode(request, &writing),
            Api::Messages => anthropic::encode(request, &writing),
            Api::GenerateContent => gemini::encode(request, &writing),
            Api::Interactions => gemini_interactions::encode(request, &writing),
            Api::OllamaChat => ollama::encode(request, &writing),
        }?;
        merge(&mut body, &Value::Object(self.parameters.clone()));
        if self.vendor.api == Api::Messages {
            anthropic::settle_thinking(&mut body);
        }
        Ok(Post { url: self.address(), headers: self.headers(), key: self.key(), body: body.to_string() })
    }

    /// What writes a request anew that its server refused because it can not read what it sealed itself: another account
    /// stands behind its address, or another model behind its name. `None` where something else was refused, or nothing
    /// sealed was sent.
    #[must_use]
    pub fn unsealed(&self, request: &ModelRequest, refusal: &ModelError) -> Option<Self> {
        if !error::is_of_sealed(refusal) {
            return None;
        }
        // Nothing is sealed for a route without a name.
        let unsealed = Self { route: String::new(), ..self.clone() };
        (self.write(request).ok()? != unsealed.write(request).ok()?).then_some(unsealed)
    }

    /// What reads the answer to a request.
    #[must_use]
    pub fn decoder(&self, request: &ModelRequest) -> Decoder {
        let frames = if self.vendor.api == Api::OllamaChat { Frames::lines() } else { Frames::events() };
        let reader: Box<dyn Reader> = match self.vendor.api {
            Api::ChatCompletions => Box::new(openai_chat::Chat::new(self.vendor)),
            Api::Responses => Box::<openai_responses::Responses>::default(),
            Api::Messages => Box::<anthropic::Messages>::default(),
            Api::GenerateContent => Box::<gemini::Gemini>::default(),
            Api::Interactions => Box::<gemini_interactions::Interactions>::default(),
            Api::OllamaChat => Box::<ollama::Ollama>::default(),
        };
        Decoder::new(frames, Answer::new(&self.route, self.names(request)), reader)
    }

    fn names(&self, request: &ModelRequest) -> ToolNames {
        ToolNames::of(request, self.vendor.provider())
    }

    // A base that names the endpoint already is left as it is.
    fn address(&self) -> String {
        let base = &self.base;
        let end = match self.vendor.api {
            Api::ChatCompletions => "/chat/completions",
            Api::Responses => "/responses",
            Api::Messages if base.ends_with("/v1") => "/messages",
            Api::Messages => "/v1/messages",
            Api::Interactions => "/interactions",
            Api::OllamaChat => "/api/chat",
            Api::GenerateContent => {
                // Google lists its models with this word before them.
                let model = self.model.trim_start_matches("models/");
                return format!("{base}/models/{model}:streamGenerateContent?alt=sse");
            }
        };
        if base.ends_with(end) { base.clone() } else { format!("{base}{end}") }
    }

    fn headers(&self) -> Vec<(&'static str, &'static str)> {
        match self.vendor.api {
            Api::Messages => vec![("anthropic-version", "2023-06-01")],
            Api::Interactions => vec![("api-revision", "2026-05-20")],
            Api::ChatCompletions | Api::Responses | Api::GenerateContent | Api::OllamaChat => Vec::new(),
        }
    }

    fn key(&self) -> (&'static str, &'static str) {
        match self.vendor.api {
            Api::Messages => ("x-api-key", ""),
            Api::GenerateContent | Api::Interactions => ("x-goog-api-key", ""),
            Api::ChatCompletions | Api::Responses | Api::OllamaChat => ("authorization", "Bearer "),
        }
    }
}

// What is configured wins, down into objects; a null takes a field out.
fn merge(body: &mut Value, more: &Value) {
    let Value::Object(more) = more else { return more.clone_into(body) };
    if !body.is_object() {
        *body = Value::Object(Map::new());
    }
    let Value::Object(body) = body else { return };
    for (name, value) in more {
        if value.is_null() {
            body.remove(name);
        } else {
            merge(body.entry(name.clone()).or_insert(Value::Null), value);
        }
    }
}
