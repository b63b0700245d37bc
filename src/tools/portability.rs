//! What each provider refuses in a tool's definition, as data. Knows nothing of how a request is made.
//!
//! Refused means: the whole request fails (a 400), with every other tool in it. It is meant for the form that goes over
//! the wire: a real JSON Schema (for Gemini `parametersJsonSchema`, not `parameters`, which knows far fewer keywords),
//! without the strict mode that some offer; strict has a row of its own. What a provider drops in silence is told by
//! [`Provider::ignores`]: it costs tokens and binds nobody, so the check behind the call has to do it alone.
//!
//! Sources: vendors' references, and their own words of refusal in public issues, named beside each row.

use serde_json::{Map, Value};

// Deeper schemas are refused before anybody asks a provider.
const MAX_DEPTH: usize = 64;

/// What one provider's API takes.
#[derive(Debug)]
pub struct Provider {
    /// As in the gateway's configuration: `gemini`, `openai_chat`, …
    pub name: &'static str,
    /// Tools in one request, where there is a limit.
    pub max_tools: Option<usize>,
    tool_name: NameRule,
    // Of the names of the arguments themselves; those further in are not looked at.
    argument_name: Option<NameRule>,
    max_description: Option<usize>,
    // Whether the schema's root must be an object.
    object_root: bool,
    refused: &'static [Refused],
    ignored: Ignored,
    // Whether all properties must be required, and no others allowed.
    closed: bool,
    max_depth: Option<usize>,
    max_properties: Option<usize>,
    // Characters of JSON that make ten tokens.
    characters_in_ten_tokens: usize,
}

#[derive(Debug)]
struct NameRule {
    // Besides letters, digits and `_`.
    letters: &'static str,
    digit_first: bool,
    most: usize,
    words: &'static str,
}

#[derive(Debug)]
struct Refused {
    keyword: &'static str,
    place: Place,
    when: fn(&Value) -> bool,
    fix: &'static str,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Place {
    Root,
    Anywhere,
}

#[derive(Debug)]
enum Ignored {
    These(&'static [&'static str]),
    AllBut(&'static [&'static str]),
}

const ANY_NAME: NameRule = NameRule { letters: "", digit_first: true, most: usize::MAX, words: "" };
const PLAIN_NAME: NameRule =
    NameRule { letters: "-", digit_first: true, most: 64, words: "letters, digits, _ and -, at most 64" };

const ALWAYS: fn(&Value) -> bool = |_| true;
const fn root(keyword: &'static str) -> Refused {
    let fix = "wrap it into a property, or say it in the description";
    Refused { keyword, place: Place::Root, when: ALWAYS, fix }
}
const fn anywhere(keyword: &'static str, when: fn(&Value) -> bool, fix: &'static str) -> Refused {
    Refused { keyword, place: Place::Anywhere, when, fix }
}

const ROOT_FORMS: &[Refused] = &[root("anyOf"), root("oneOf"), root("allOf")];
const OPENAI_ROOT: &[Refused] = &[root("anyOf"), root("oneOf"), root("allOf"), root("enum"), root("not")];
const IN_WORDS: &str = "say it in the description";
const OPENAI_STRICT: &[Refused] = &[
    root("anyOf"),
    root("enum"),
    anywhere("oneOf", ALWAYS, "write anyOf"),
    anywhere("allOf", ALWAYS, "merge the schemas into one"),
    anywhere("not", ALWAYS, IN_WORDS),
    anywhere("if", ALWAYS, "write anyOf"),
    anywhere("dependentRequired", ALWAYS, IN_WORDS),
    anywhere("dependentSchemas", ALWAYS, IN_WORDS),
    anywhere("patternProperties", ALWAYS, "write a list of objects with a name and a value"),
];
const LLAMA_CPP: &[Refused] = &[
    anywhere("pattern", |value| !is_anchored(value), "begin it with ^ and end it with $"),
    anywhere("pattern", has_class, "write [0-9], [A-Za-z0-9_] or [ \\t\\n] for \\d, \\w or \\s"),
];

const NOTHING: Ignored = Ignored::These(&[]);

// What most rows share: the dialect of OpenAI, without its limits.
const COMPATIBLE: Provider = Provider {
    name: "",
    max_tools: None,
    tool_name: PLAIN_NAME,
    argument_name: None,
    max_description: None,
    object_root: true,
    refused: &[],
    ignored: NOTHING,
    closed: false,
    max_depth: None,
    max_properties: None,
    characters_in_ten_tokens: 33,
};

static PROVIDERS: &[Provider] = &[
    // google/genai SDK 3.3 (names); google-gemini/gemini-cli#19083 (512 declarations).
    Provider {
        name: "gemini",
        max_tools: Some(512),
        tool_name: GEMINI_NAME,
        object_root: false,
        characters_in_ten_tokens: 36,
        ..COMPATIBLE
    },
    // The Interactions reference names what it ignores; its limits are taken to be those of `gemini`.
    Provider {
        name: "gemini_interactions",
        max_tools: Some(512),
        tool_name: GEMINI_NAME,
        object_root: false,
        ignored: Ignored::These(&[
            "minLength",
            "maxLength",
            "minProperties",
            "maxProperties",
            "uniqueItems",
            "contains",
            "minContains",
            "maxContains",
        ]),
        characters_in_ten_tokens: 36,
        ..COMPATIBLE
    },
    // anomalyco/opencode#4909 (128 tools); getsentry/sentry-mcp#106 (1024 characters).
    Provider {
        name: "openai_chat",
        max_tools: Some(128),
        max_description: Some(1024),
        refused: OPENAI_ROOT,
        ..COMPATIBLE
    },
    Provider { name: "openai_responses", max_tools: Some(128), refused: OPENAI_ROOT, ..COMPATIBLE },
    // OpenAI's guide to structured outputs, for whoever sends `strict: true`.
    Provider {
        name: "openai_strict",
        max_tools: Some(128),
        max_description: Some(1024),
        refused: OPENAI_STRICT,
        closed: true,
        max_depth: Some(10),
        max_properties: Some(5_000),
        ..COMPATIBLE
    },
    // anthropics/claude-code#96152 (names); decocms/studio#6874 (arguments' names, of the first level only).
    Provider {
        name: "anthropic",
        tool_name: NameRule { most: 128, words: "letters, digits, _ and -, at most 128", ..PLAIN_NAME },
        argument_name: Some(NameRule { letters: "-.", words: "letters, digits, _, . and -, at most 64", ..PLAIN_NAME }),
        refused: ROOT_FORMS,
        characters_in_ten_tokens: 30,
        ..COMPATIBLE
    },
    // ollama/ollama, api/types.go: what its type of a property has fields for.
    Provider {
        name: "ollama",
        tool_name: ANY_NAME,
        object_root: false,
        ignored: Ignored::AllBut(&[
            "type",
            "description",
            "enum",
            "items",
            "properties",
            "required",
            "anyOf",
            "$defs",
            "$ref",
        ]),
        ..COMPATIBLE
    },
    // ggml-org/llama.cpp#26930 (anchors), #27580 (classes): a schema becomes a grammar.
    Provider { name: "llama_cpp", tool_name: ANY_NAME, object_root: false, refused: LLAMA_CPP, ..COMPATIBLE },
    // gsd-build/gsd-2#4376 (128 tools); langgenius/dify#22867 (names).
    Provider { name: "groq", max_tools: Some(128), ..COMPATIBLE },
    Provider { name: "mistral", ..COMPATIBLE },
    // DeepSeek's reference: 128 functions, names as OpenAI's.
    Provider { name: "deepseek", max_tools: Some(128), ..COMPATIBLE },
    // The explainer knows no rule for names and no limit but the window.
    Provider { name: "prompt_api", tool_name: ANY_NAME, object_root: false, ..COMPATIBLE },
];

const GEMINI_NAME: NameRule = NameRule {
    letters: "-.:",
    digit_first: false,
    most: 128,
    words: "letters, digits, _, ., : and -, a letter or _ first, at most 128",
};

impl Provider {
    /// The provider of a name.
    #[must_use]
    pub fn find(name: &str) -> Option<&'static Self> {
        Self::all().iter().find(|provider| provider.name == name)
    }

    /// Every provider known.
    #[must_use]
    pub fn all() -> &'static [Self] {
        PROVIDERS
    }

    /// Whether it takes a tool of this name.
    #[must_use]
    pub fn takes_name(&self, name: &str) -> bool {
        self.tool_name.takes(name)
    }

    /// Why this provider would refuse a request with such a tool: sentences with the place and the fix; empty where it
    /// would not.
    #[must_use]
    pub fn refuses(&self, name: &str, description: &str, parameters: &Value) -> Vec<String> {
        let mut out = Vec::new();
        if !self.tool_name.takes(name) {
            out.push(format!("{} takes no tool named \"{name}\"; use {}", self.name, self.tool_name.words));
        }
        let length = description.chars().count();
        if let Some(most) = self.max_description.filter(|most| length > *most) {
            out.push(format!("{} takes descriptions of at most {most} characters; this has {length}", self.name));
        }
        if self.object_root && parameters.get("type") != Some(&Value::from("object")) {
            out.push(format!("{} wants \"type\": \"object\" at the schema's root", self.name));
        }
        if let Some(rule) = &self.argument_name {
            let arguments = parameters.get("properties").and_then(Value::as_object);
            for argument in arguments.into_iter().flat_map(Map::keys).filter(|argument| !rule.takes(argument)) {
                out.push(format!("{} takes no argument named \"{argument}\"; use {}", self.name, rule.words));
            }
        }
        let mut size = Size::default();
        walk(parameters, "", 0, &mut |schema, place, depth| {
            self.refuses_schema(schema, place, &mut out);
            size.depth = size.depth.max(depth);
            size.properties += schema.get("properties").and_then(Value::as_object).map_or(0, Map::len);
        });
        if let Some(most) = self.max_depth.filter(|most| size.depth > *most) {
            out.push(format!("{} takes at most {most} schemas within each other; this has {}", self.name, size.depth));
        }
        if let Some(most) = self.max_properties.filter(|most| size.properties > *most) {
            out.push(format!("{} takes at most {most} properties; this has {}", self.name, size.properties));
        }
        out
    }

    fn refuses_schema(&self, schema: &Map<String, Value>, place: &str, out: &mut Vec<String>) {
        for refused in self.refused.iter().filter(|refused| refused.place == Place::Anywhere || place.is_empty()) {
            if schema.get(refused.keyword).is_some_and(refused.when) {
                let (keyword, fix) = (refused.keyword, refused.fix);
                out.push(format!("{} does not take \"{keyword}\" at {}; {fix}", self.name, shown(place)));
            }
        }
        let Some(properties) = schema.get("properties").and_then(Value::as_object).filter(|_| self.closed) else {
            return;
        };
        if schema.get("additionalProperties") != Some(&Value::Bool(false)) {
            out.push(format!("{} wants \"additionalProperties\": false at {}", self.name, shown(place)));
        }
        let required: Vec<&Value> = schema.get("required").and_then(Value::as_array).into_iter().flatten().collect();
        for name in properties.keys().filter(|name| !required.iter().any(|one| *one == *name)) {
            let fix = "require it and let it be null";
            out.push(format!("{} has no optional properties, as \"{name}\" at {}; {fix}", self.name, shown(place)));
        }
    }

    /// The keywords of a schema that this provider drops in silence, each once.
    #[must_use]
    pub fn ignores(&self, parameters: &Value) -> Vec<String> {
        let mut out: Vec<String> = Vec::new();
        walk(parameters, "", 0, &mut |schema, _, _| {
            for keyword in schema.keys().filter(|keyword| self.ignored.has(keyword)) {
                if !out.contains(keyword) {
                    out.push(keyword.clone());
                }
            }
        });
        out
    }

    /// About how many tokens so many characters of a declaration's JSON are.
    #[must_use]
    pub fn tokens(&self, characters: usize) -> usize {
        (characters * 10).div_ceil(self.characters_in_ten_tokens)
    }
}

impl NameRule {
    fn takes(&self, name: &str) -> bool {
        if self.words.is_empty() {
            return !name.is_empty();
        }
        let fits = |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || self.letters.contains(letter);
        let first = name.chars().next();
        let first = first.is_some_and(|first| self.digit_first || first.is_ascii_alphabetic() || first == '_');
        first && name.chars().all(fits) && name.len() <= self.most
    }
}

impl Ignored {
    fn has(&self, keyword: &str) -> bool {
        match self {
            Self::These(list) => list.contains(&keyword),
            Self::AllBut(list) => !list.contains(&keyword),
        }
    }
}

#[derive(Default)]
struct Size {
    depth: usize,
    properties: usize,
}

fn shown(place: &str) -> &str {
    if place.is_empty() { "the root" } else { place }
}

fn is_anchored(pattern: &Value) -> bool {
    pattern.as_str().is_some_and(|pattern| pattern.starts_with('^') && pattern.ends_with('$'))
}

fn has_class(pattern: &Value) -> bool {
    let text = pattern.as_str().unwrap_or_default().replace("\\\\", "");
    ["\\d", "\\w", "\\s", "\\D", "\\W", "\\S"].iter().any(|class| text.contains(class))
}

// Called with a schema, its place, and how many schemas it stands in.
type Visit<'a> = dyn FnMut(&Map<String, Value>, &str, usize) + 'a;

// Every schema within a schema, with its place as a JSON Pointer and how many schemas it stands in.
fn walk(schema: &Value, place: &str, depth: usize, visit: &mut Visit<'_>) {
    let Some(map) = schema.as_object().filter(|_| depth < MAX_DEPTH) else { return };
    visit(map, place, depth);
    for (keyword, value) in map {
        let place = format!("{place}/{keyword}");
        match (keyword.as_str(), value) {
            (
                "properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas",
                Value::Object(schemas),
            ) => {
                for (name, schema) in schemas {
                    walk(schema, &format!("{place}/{}", escape(name)), depth + 1, visit);
                }
            }
            ("anyOf" | "oneOf" | "allOf" | "prefixItems" | "items", Value::Array(schemas)) => {
                for (at, schema) in schemas.iter().enumerate() {
                    walk(schema, &format!("{place}/{at}"), depth + 1, visit);
                }
            }
            (
                "items"
                | "additionalItems"
                | "additionalProperties"
                | "propertyNames"
                | "contains"
                | "not"
                | "if"
                | "then"
                | "else"
                | "unevaluatedProperties"
                | "unevaluatedItems",
                _,
            ) => walk(value, &place, depth + 1, visit),
            _ => {}
        }
    }
}

fn escape(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}
