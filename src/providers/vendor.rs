//! Whose API is spoken, and how each differs from the others of its kind: a row each. Knows nothing of how a request is made.
//!
//! | column | is |
//! |---|---|
//! | `api` | the codec |
//! | `url` | the usual address |
//! | `provider` | the row of `tools::portability`: what it refuses in a tool's definition |
//! | `call_ids` | what it takes as the id of a call that is sent back |
//! | `thoughts` | in which field thoughts must come back (Chat Completions alone) |
//! | `first_call` | what the first call of an answer must have where its own was lost, or was never there |
//! | `parallel` | whether it is told that several calls are welcome |
//! | `usage` | whether it is asked to count tokens |
//! | `bridge` | whether the model must have a word between results and the user's next |
//! | `output` | how it is asked for an answer of a given form |
//! | `media` | the files it takes |

use crate::providers::media::Media;
use crate::providers::names::CallIds;
use crate::tools::portability::Provider;

/// Which codec.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Api {
    /// OpenAI Chat Completions.
    ChatCompletions,
    /// OpenAI Responses.
    Responses,
    /// Anthropic Messages.
    Messages,
    /// Gemini `generateContent`.
    GenerateContent,
    /// Gemini Interactions.
    Interactions,
    /// Ollama's own `/api/chat`.
    OllamaChat,
}

/// How a vendor is asked for an answer of a given form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    /// It takes a schema.
    Schema,
    /// It takes a schema whose objects are all closed; others it is told in words.
    ClosedSchema,
    /// It takes a schema, but not together with tools: then it is told in words.
    SchemaWithoutTools,
    /// It takes that the answer is JSON, and the schema in words.
    Object,
    /// In words alone.
    Words,
}

/// One vendor.
#[derive(Debug)]
pub struct Vendor {
    /// As in the gateway's configuration.
    pub name: &'static str,
    /// What people call it.
    pub label: &'static str,
    /// The codec.
    pub api: Api,
    /// The usual address; `None` for servers that have none.
    pub url: Option<&'static str>,
    /// What it refuses in a definition, where that is known.
    pub(super) provider: Option<&'static str>,
    /// What it takes as a call's id.
    pub(super) call_ids: CallIds,
    /// The field in which it wants thoughts back, and what stands there where there are none.
    pub(super) thoughts: Option<(&'static str, &'static str)>,
    /// What the first call of an answer must have, as JSON.
    pub(super) first_call: Option<&'static str>,
    /// Whether it is told that several calls are welcome.
    pub(super) parallel: bool,
    /// Whether it is asked to count tokens.
    pub(super) usage: bool,
    /// Whether the model must have a word between results and the user's next.
    pub(super) bridge: bool,
    /// How it is asked for a form.
    pub(super) output: Output,
    /// The files it takes.
    pub media: Media,
}

const MIB: usize = 1024 * 1024;
// What the servers' own documents name; a picture of another kind (HEIC, SVG, TIFF) is an error there.
const PICTURES: &[&str] = &["image/png", "image/jpeg", "image/webp", "image/gif"];
const IMAGES: Media = Media { types: PICTURES, urls: &["image/*"], max_bytes: 20 * MIB };
const IMAGES_AND_PDF: Media = Media {
    types: &["image/png", "image/jpeg", "image/webp", "image/gif", "application/pdf"],
    urls: &["*"],
    max_bytes: 20 * MIB,
};
const OPENAI_MEDIA: Media = Media {
    types: &[
        "image/png",
        "image/jpeg",
        "image/webp",
        "image/gif",
        "application/pdf",
        "audio/wav",
        "audio/mpeg",
        "audio/mp3",
    ],
    urls: &["image/*"],
    max_bytes: 20 * MIB,
};
const LOCAL_IMAGES: Media = Media { types: PICTURES, urls: &[], max_bytes: 20 * MIB };
const GEMINI_MEDIA: Media = Media {
    types: &[
        "image/png",
        "image/jpeg",
        "image/webp",
        "image/heic",
        "image/heif",
        "audio/*",
        "video/*",
        "application/pdf",
    ],
    urls: &["*"],
    max_bytes: 20 * MIB,
};

// What most servers that imitate OpenAI share.
const COMPATIBLE: Vendor = Vendor {
    name: "openai_compatible",
    label: "this server",
    api: Api::ChatCompletions,
    url: None,
    provider: None,
    call_ids: CallIds::Any(40),
    thoughts: None,
    first_call: None,
    parallel: true,
    usage: true,
    bridge: false,
    output: Output::Words,
    media: LOCAL_IMAGES,
};

static VENDORS: &[Vendor] = &[
    Vendor {
        name: "openai_chat",
        label: "OpenAI",
        url: Some("https://api.openai.com/v1"),
        provider: Some("openai_chat"),
        output: Output::Schema,
        media: OPENAI_MEDIA,
        ..COMPATIBLE
    },
    Vendor {
        name: "openai_responses",
        label: "OpenAI",
        api: Api::Responses,
        url: Some("https://api.openai.com/v1"),
        provider: Some("openai_responses"),
        call_ids: CallIds::Any(64),
        output: Output::Schema,
        media: IMAGES_AND_PDF,
        ..COMPATIBLE
    },
    Vendor {
        name: "anthropic",
        label: "Anthropic",
        api: Api::Messages,
        url: Some("https://api.anthropic.com"),
        provider: Some("anthropic"),
        call_ids: CallIds::Plain(64),
        output: Output::ClosedSchema,
        media: Media {
            types: &["image/jpeg", "image/png", "image/gif", "image/webp", "application/pdf"],
            urls: &["*"],
            max_bytes: 5 * MIB,
        },
        ..COMPATIBLE
    },
    Vendor {
        name: "gemini",
        label: "Gemini",
        api: Api::GenerateContent,
        url: Some("https://generativelanguage.googleapis.com/v1beta"),
        provider: Some("gemini"),
        call_ids: CallIds::Any(64),
        // ai.google.dev/gemini-api/docs/thought-signatures: for a history from elsewhere.
        first_call: Some(r#"{"thoughtSignature":"skip_thought_signature_validator"}"#),
        output: Output::SchemaWithoutTools,
        media: GEMINI_MEDIA,
        ..COMPATIBLE
    },
    Vendor {
        name: "gemini_interactions",
        label: "Gemini",
        api: Api::Interactions,
        url: Some("https://generativelanguage.googleapis.com/v1beta"),
        provider: Some("gemini_interactions"),
        call_ids: CallIds::Any(64),
        output: Output::SchemaWithoutTools,
        media: GEMINI_MEDIA,
        ..COMPATIBLE
    },
    Vendor {
        name: "gemini_openai",
        label: "Gemini",
        url: Some("https://generativelanguage.googleapis.com/v1beta/openai"),
        provider: Some("gemini"),
        first_call: Some(r#"{"extra_content":{"google":{"thought_signature":"skip_thought_signature_validator"}}}"#),
        parallel: false,
        output: Output::SchemaWithoutTools,
        ..COMPATIBLE
    },
    Vendor {
        name: "ollama",
        label: "Ollama",
        api: Api::OllamaChat,
        url: Some("http://localhost:11434"),
        provider: Some("ollama"),
        call_ids: CallIds::Any(64),
        output: Output::SchemaWithoutTools,
        ..COMPATIBLE
    },
    Vendor {
        name: "ollama_openai",
        label: "Ollama",
        url: Some("http://localhost:11434/v1"),
        provider: Some("ollama"),
        output: Output::SchemaWithoutTools,
        ..COMPATIBLE
    },
    // Grammars of tools and of a form exclude each other.
    Vendor {
        name: "llama_cpp",
        label: "llama.cpp",
        url: Some("http://127.0.0.1:8080/v1"),
        provider: Some("llama_cpp"),
        output: Output::SchemaWithoutTools,
        ..COMPATIBLE
    },
    Vendor {
        name: "lm_studio",
        label: "LM Studio",
        url: Some("http://localhost:1234/v1"),
        output: Output::SchemaWithoutTools,
        ..COMPATIBLE
    },
    Vendor {
        name: "vllm",
        label: "vLLM",
        url: Some("http://localhost:8000/v1"),
        output: Output::SchemaWithoutTools,
        media: IMAGES,
        ..COMPATIBLE
    },
    Vendor {
        name: "openrouter",
        label: "OpenRouter",
        url: Some("https://openrouter.ai/api/v1"),
        output: Output::SchemaWithoutTools,
        media: IMAGES_AND_PDF,
        ..COMPATIBLE
    },
    Vendor {
        name: "groq",
        label: "Groq",
        url: Some("https://api.groq.com/openai/v1"),
        provider: Some("groq"),
        output: Output::SchemaWithoutTools,
        media: IMAGES,
        ..COMPATIBLE
    },
    // A call's id is nine letters and digits: mistralai's error 3280. Tokens are counted unasked, and asking is refused:
    // avante-corp/avante.nvim#2347. Nor may the user speak right behind results: zed-industries/zed#31736.
    Vendor {
        name: "mistral",
        label: "Mistral",
        url: Some("https://api.mistral.ai/v1"),
        provider: Some("mistral"),
        call_ids: CallIds::Nine,
        usage: false,
        bridge: true,
        output: Output::Schema,
        media: IMAGES,
        ..COMPATIBLE
    },
    // An empty thought may count as none: HKUDS/nanobot#946.
    Vendor {
        name: "deepseek",
        label: "DeepSeek",
        url: Some("https://api.deepseek.com"),
        provider: Some("deepseek"),
        thoughts: Some(("reasoning_content", " ")),
        parallel: false,
        output: Output::Object,
        media: Media::NONE,
        ..COMPATIBLE
    },
    // Its model stops calling when its own form of ids is rewritten. An empty thought counts as none:
    // earendil-works/pi#4178.
    Vendor {
        name: "kimi",
        label: "Kimi",
        url: Some("https://api.moonshot.ai/v1"),
        call_ids: CallIds::Numbered,
        thoughts: Some(("reasoning_content", " ")),
        parallel: false,
        output: Output::Object,
        media: LOCAL_IMAGES,
        ..COMPATIBLE
    },
    Vendor {
        name: "dashscope",
        label: "DashScope",
        url: Some("https://dashscope-intl.aliyuncs.com/compatible-mode/v1"),
        output: Output::Object,
        media: IMAGES,
        ..COMPATIBLE
    },
    COMPATIBLE,
];

// What in an address says whose it is, the more special first.
const PLACES: &[(&str, &str)] = &[
    ("://api.openai.com/", "openai_chat"),
    ("://api.anthropic.com", "anthropic"),
    ("generativelanguage.googleapis.com/v1beta/openai", "gemini_openai"),
    ("generativelanguage.googleapis.com", "gemini"),
    ("://openrouter.ai/", "openrouter"),
    ("://api.groq.com/", "groq"),
    ("://api.mistral.ai/", "mistral"),
    ("://api.deepseek.com", "deepseek"),
    ("://api.moonshot.", "kimi"),
    ("dashscope", "dashscope"),
    (":11434/v1/", "ollama_openai"),
    (":11434/", "ollama"),
    (":1234/", "lm_studio"),
];

impl Vendor {
    /// The vendor of a name.
    #[must_use]
    pub fn find(name: &str) -> Option<&'static Self> {
        VENDORS.iter().find(|vendor| vendor.name == name)
    }

    /// Whose server stands at an address; one that is like OpenAI's where nothing says so.
    #[must_use]
    pub fn at(url: &str) -> &'static Self {
        // The end of an address ends a port, too.
        let url = format!("{}/", url.trim_end_matches('/'));
        let known = PLACES.iter().find(|(place, _)| url.contains(place)).and_then(|(_, name)| Self::find(name));
        known.unwrap_or(&COMPATIBLE)
    }

    /// Which of one server's interfaces an address means: Ollama has OpenAI's under `/v1`.
    #[must_use]
    pub fn of_address(&'static self, url: &str) -> &'static Self {
        let is_openai = self.name == "ollama" && url.trim_end_matches('/').ends_with("/v1");
        if is_openai { Self::find("ollama_openai").unwrap_or(self) } else { self }
    }

    /// Every vendor known.
    #[must_use]
    pub fn all() -> &'static [Self] {
        VENDORS
    }

    /// What it refuses in a tool's definition, where that is known.
    #[must_use]
    pub fn provider(&self) -> Option<&'static Provider> {
        Provider::find(self.provider?)
    }
}
