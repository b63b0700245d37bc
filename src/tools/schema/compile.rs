//! JSON to rules. Checks no value.

use serde_json::{Map, Number, Value};

use super::number::Unit;
use super::pattern::{Pattern, Refusal};
use super::reference::{self, Knot, Target, escape};
use super::rules::{Bounds, Fields, Id, Limit, Node, Rule, Rules, Type};
use super::{MAX_DEPTH, MAX_PATTERN, MAX_SUBSCHEMAS, ProblemKind, SchemaProblem, number, words};
use crate::protocol::Names;

// JSON within JSON: what `MAX_DEPTH` schemas can need, and their constants.
const MAX_JSON_DEPTH: usize = 4 * MAX_DEPTH;

const NOTES: &[&str] = &[
    "title",
    "description",
    "default",
    "examples",
    "format",
    "deprecated",
    "readOnly",
    "writeOnly",
    "contentEncoding",
    "contentMediaType",
    "contentSchema",
    "$comment",
];

// Of JSON Schema, and checked by a full engine.
const UNCHECKED: &[&str] = &[
    "$anchor",
    "$dynamicAnchor",
    "$dynamicRef",
    "$recursiveAnchor",
    "$recursiveRef",
    "$vocabulary",
    "unevaluatedItems",
    "unevaluatedProperties",
];

const LATER: &[&str] = &["prefixItems", "dependentRequired", "dependentSchemas", "minContains", "maxContains"];
const EARLIER: &[&str] = &["additionalItems", "dependencies"];

pub(super) fn compile(schema: &Value, problems: &mut Vec<SchemaProblem>) -> Rules {
    if number::is_deeper(schema, MAX_JSON_DEPTH) {
        problems.push(problem("", ProblemKind::Broken, format!("is nested deeper than {MAX_DEPTH}")));
        return Rules::default();
    }
    let mut compiler = Compiler::new(schema, problems);
    compiler.sub(schema, String::new(), 0);
    // The list grows while it is worked through: that bounds the stack whatever the schema.
    let mut at = 0;
    while at < compiler.pending.len() {
        compiler.node(at);
        at += 1;
    }
    compiler.resolve();
    compiler.rules
}

#[derive(Clone, Copy, PartialEq)]
enum Draft {
    Seven,
    Latest,
}

struct Compiler<'a> {
    draft: Draft,
    // What the schema calls itself.
    base: &'a str,
    // Whether a part of it calls itself something else.
    renamed: bool,
    rules: Rules,
    // Every schema found, by the number of its node.
    pending: Vec<Pending<'a>>,
    places: Names<Id>,
    references: Vec<Reference>,
    problems: &'a mut Vec<SchemaProblem>,
}

struct Pending<'a> {
    schema: &'a Value,
    place: String,
    depth: usize,
}

// A `$ref` whose rule is the last of its node until all places are known.
struct Reference {
    from: Id,
    at: usize,
    to: String,
    place: String,
}

// Where the compiler stands.
struct Here<'a> {
    id: Id,
    map: &'a Map<String, Value>,
    place: String,
    depth: usize,
}

impl Here<'_> {
    fn below(&self, keyword: &str) -> String {
        format!("{}/{keyword}", self.place)
    }
}

// What is wrong with one keyword.
type Fault = (ProblemKind, String);

impl<'a> Compiler<'a> {
    fn new(schema: &'a Value, problems: &'a mut Vec<SchemaProblem>) -> Self {
        let text = |name: &str| schema.get(name).and_then(Value::as_str).unwrap_or_default();
        let draft = draft(text("$schema")).unwrap_or(Draft::Latest);
        let (rules, pending, places) = (Rules::default(), Vec::new(), Names::default());
        Self { draft, base: text("$id"), renamed: false, rules, pending, places, references: Vec::new(), problems }
    }

    fn root(&self) -> &'a Value {
        self.pending.first().map_or(&Value::Null, |pending| pending.schema)
    }

    // A node for a schema, to be filled later.
    fn sub(&mut self, schema: &'a Value, place: String, depth: usize) -> Id {
        let id = self.pending.len();
        if id == MAX_SUBSCHEMAS {
            if self.rules.nodes.len() == id {
                let message = format!("holds more than {MAX_SUBSCHEMAS} schemas");
                self.problems.push(problem("", ProblemKind::Broken, message));
                // So that it is said once; nobody names the node.
                self.rules.nodes.push(Node::default());
            }
            return 0;
        }
        if depth > MAX_DEPTH {
            self.problems.push(problem(&place, ProblemKind::Broken, format!("is nested deeper than {MAX_DEPTH}")));
            return 0;
        }
        self.rules.nodes.push(Node::default());
        self.places.insert(place.clone(), id);
        self.pending.push(Pending { schema, place, depth });
        id
    }

    fn node(&mut self, id: Id) {
        let Pending { schema, ref place, depth } = self.pending[id];
        let place = place.clone();
        match schema {
            Value::Bool(fits) => self.rules.nodes[id].never = !fits,
            Value::Object(map) => self.map(&Here { id, map, place, depth }),
            Value::Null | Value::Number(_) | Value::String(_) | Value::Array(_) => {
                let message = "must be an object, true or false".to_owned();
                self.problems.push(problem(&place, ProblemKind::Broken, message));
            }
        }
    }

    fn map(&mut self, here: &Here<'a>) {
        // Draft 7, Core §8.3: beside a `$ref` nothing else counts; but other references may point in there.
        let alone = self.draft == Draft::Seven && here.map.contains_key("$ref");
        // What is missing is told first.
        let first = here.map.get_key_value("required").into_iter();
        for (keyword, value) in first.chain(here.map.iter().filter(|(keyword, _)| *keyword != "required")) {
            if alone && !matches!(keyword.as_str(), "$ref" | "definitions" | "$defs") {
                continue;
            }
            match self.keyword(keyword, value, here) {
                Ok(Some(rule)) => self.rules.nodes[here.id].rules.push(rule),
                Ok(None) => {}
                Err((kind, message)) => self.problems.push(problem(&here.below(keyword), kind, message)),
            }
        }
    }

    // Of several keywords that make one rule, the first that is there makes it.
    fn keyword(&mut self, keyword: &str, value: &'a Value, here: &Here<'a>) -> Result<Option<Rule>, Fault> {
        self.allowed_here(keyword, value, here)?;
        let rule = match keyword {
            "type" => {
                self.rules.nodes[here.id].types = types(value)?;
                return Ok(None);
            }
            "enum" => Rule::Enum(list(value)?.clone()),
            "const" => Rule::Const(value.clone()),
            "$ref" => return self.refer(value, here),
            "$defs" | "definitions" => {
                self.named(value, keyword, here)?;
                return Ok(None);
            }
            "anyOf" => Rule::Any(self.list(value, keyword, here)?, words::forms(list(value)?)),
            "oneOf" => Rule::One(self.list(value, keyword, here)?, words::forms(list(value)?)),
            "allOf" => Rule::All(self.list(value, keyword, here)?),
            "not" => Rule::Not(self.one(value, keyword, here), words::ruled_out(value)),
            "if" | "then" | "else" => return Ok(self.condition(keyword, here)),
            "minimum" => Rule::Number(Limit::Minimum, limit(value)?),
            "maximum" => Rule::Number(Limit::Maximum, limit(value)?),
            "exclusiveMinimum" => Rule::Number(Limit::Above, limit(value)?),
            "exclusiveMaximum" => Rule::Number(Limit::Below, limit(value)?),
            "multipleOf" => Rule::MultipleOf(unit(value)?),
            "minLength" | "maxLength" => Rule::Length(bounds(keyword, value)?),
            "pattern" => Rule::Pattern(pattern(text(value)?)?),
            "minItems" | "maxItems" => Rule::ItemCount(bounds(keyword, value)?),
            "uniqueItems" => {
                return Ok(value.as_bool().ok_or_else(|| broken("must be true or false"))?.then_some(Rule::Unique));
            }
            "items" | "prefixItems" | "additionalItems" => return self.items(keyword, value, here),
            "contains" => return self.contains(value, here).map(Some),
            "minContains" | "maxContains" => return size(value).map(|_| None),
            "properties" | "patternProperties" | "additionalProperties" => return self.fields(keyword, value, here),
            "propertyNames" => Rule::FieldNames(self.one(value, keyword, here)),
            "minProperties" | "maxProperties" => Rule::FieldCount(bounds(keyword, value)?),
            "required" => Rule::Required(required(value)?),
            "dependentRequired" | "dependentSchemas" | "dependencies" => {
                self.dependent(value, keyword, here)?;
                return Ok(None);
            }
            "$schema" | "$id" => return Ok(None),
            _ if NOTES.contains(&keyword) || keyword.starts_with("x-") => return Ok(None),
            _ => return Err(self.strange(keyword)),
        };
        Ok(Some(rule))
    }

    // Whether this draft has the keyword at this place.
    fn allowed_here(&mut self, keyword: &str, value: &Value, here: &Here<'_>) -> Result<(), Fault> {
        let message = match keyword {
            "$schema" => match draft(text(value)?) {
                Some(found) if found == self.draft => return Ok(()),
                _ => "names a draft this client does not check; it knows 2020-12 and 7".to_owned(),
            },
            "$id" if here.place.is_empty() => return text(value).map(|_| ()),
            "$id" => {
                self.renamed = true;
                "gives a part of the schema a name of its own, which is not checked here".to_owned()
            }
            _ if LATER.contains(&keyword) && self.draft == Draft::Seven => {
                "is of draft 2020-12, and the schema says it is of draft 7".to_owned()
            }
            _ if EARLIER.contains(&keyword) && self.draft == Draft::Latest => {
                "is of draft 7; write \"items\" after \"prefixItems\", \"dependentRequired\" or \"dependentSchemas\""
                    .to_owned()
            }
            _ => return Ok(()),
        };
        Err((ProblemKind::Unchecked, message))
    }

    fn strange(&mut self, keyword: &str) -> Fault {
        if keyword == "nullable" {
            return broken("is OpenAPI's; write \"type\": [\"string\", \"null\"], with the type it has");
        }
        self.rules.strange_words |= !UNCHECKED.contains(&keyword);
        (ProblemKind::Unchecked, "is a keyword this client does not check, so it can not promise it".to_owned())
    }

    fn one(&mut self, schema: &'a Value, keyword: &str, here: &Here<'a>) -> Id {
        self.sub(schema, here.below(keyword), here.depth + 1)
    }

    fn list(&mut self, value: &'a Value, keyword: &str, here: &Here<'a>) -> Result<Vec<Id>, Fault> {
        let schemas =
            value.as_array().filter(|list| !list.is_empty()).ok_or_else(|| broken("must be a non-empty array"))?;
        let place = |at: usize| format!("{}/{at}", here.below(keyword));
        Ok(schemas.iter().enumerate().map(|(at, one)| self.sub(one, place(at), here.depth + 1)).collect())
    }

    fn named(&mut self, value: &'a Value, keyword: &str, here: &Here<'a>) -> Result<Vec<(&'a str, Id)>, Fault> {
        let place = |name: &str| format!("{}/{}", here.below(keyword), escape(name));
        let schemas = object(value)?.iter();
        Ok(schemas.map(|(name, one)| (name.as_str(), self.sub(one, place(name), here.depth + 1))).collect())
    }

    fn refer(&mut self, value: &Value, here: &Here<'a>) -> Result<Option<Rule>, Fault> {
        let unchecked = |words: &str| Err((ProblemKind::Unchecked, words.to_owned()));
        match reference::target(text(value)?, self.base) {
            Target::Anchor => {
                unchecked("names an anchor, which is not checked here; write a place, such as #/$defs/name")
            }
            Target::Elsewhere => {
                unchecked("names another document, and nothing is fetched; put what it names into \"$defs\"")
            }
            Target::Place(to) => {
                let at = self.rules.nodes[here.id].rules.len();
                self.references.push(Reference { from: here.id, at, to, place: here.below("$ref") });
                Ok(Some(Rule::Refer(0)))
            }
        }
    }

    fn condition(&mut self, keyword: &str, here: &Here<'a>) -> Option<Rule> {
        let first = ["else", "if", "then"].into_iter().find(|one| here.map.contains_key(*one));
        if first != Some(keyword) {
            return None;
        }
        let [test, then, otherwise] =
            ["if", "then", "else"].map(|one| here.map.get(one).map(|schema| self.one(schema, one, here)));
        Some(Rule::When { test: test?, then, otherwise })
    }

    fn contains(&mut self, value: &'a Value, here: &Here<'a>) -> Result<Rule, Fault> {
        let bound = |name: &str| here.map.get(name).filter(|_| self.draft == Draft::Latest);
        let size_of = |name: &str| {
            bound(name)
                .map(|value| size(value).map_err(|(kind, why)| (kind, format!("has a {name} that {why}"))))
                .transpose()
        };
        let count = Bounds { least: size_of("minContains")?, most: size_of("maxContains")? };
        let words = words::contains(here.map);
        Ok(Rule::Contains { item: self.one(value, "contains", here), count, words })
    }

    fn items(&mut self, keyword: &str, value: &'a Value, here: &Here<'a>) -> Result<Option<Rule>, Fault> {
        let get = |name: &str| here.map.get(name);
        let listed = get("items").is_some_and(Value::is_array);
        if keyword == "prefixItems" {
            list(value)?;
        }
        if self.draft == Draft::Latest {
            if keyword == "items" && listed {
                return Err(broken("must be a schema; for a list of schemas write \"prefixItems\""));
            }
            if keyword == "prefixItems" && get("items").is_some() {
                // `items`, which comes first, takes it along; its own shape is a fault of its own.
                return Ok(None);
            }
            let first = get("prefixItems")
                .filter(|list| list.is_array())
                .map_or(Ok(Vec::new()), |list| self.list(list, "prefixItems", here))?;
            let rest = get("items").map(|schema| self.one(schema, "items", here));
            return Ok(Some(Rule::Items { first, rest }));
        }
        match (keyword, listed) {
            ("items", true) => {
                let first = if list(value)?.is_empty() { Vec::new() } else { self.list(value, "items", here)? };
                let rest = get("additionalItems").map(|schema| self.one(schema, "additionalItems", here));
                Ok(Some(Rule::Items { first, rest }))
            }
            ("items", false) => Ok(Some(Rule::Items { first: Vec::new(), rest: Some(self.one(value, "items", here)) })),
            // Without a list of items it says nothing (draft 7, Validation §6.4.2), but it must be a schema.
            _ if !listed => {
                self.one(value, keyword, here);
                Ok(None)
            }
            _ => Ok(None),
        }
    }

    fn fields(&mut self, keyword: &str, value: &'a Value, here: &Here<'a>) -> Result<Option<Rule>, Fault> {
        if keyword != "additionalProperties" {
            object(value)?;
        }
        let group = ["additionalProperties", "patternProperties", "properties"];
        if group.into_iter().find(|one| here.map.contains_key(*one)) != Some(keyword) {
            return Ok(None);
        }
        let get = |name: &str| here.map.get(name).filter(|value| name == "additionalProperties" || value.is_object());
        let mut fields = Fields::default();
        if let Some(value) = get("properties") {
            for (name, id) in self.named(value, "properties", here)? {
                fields.named.insert(name.to_owned(), id);
            }
        }
        if let Some(value) = get("patternProperties") {
            for (name, id) in self.named(value, "patternProperties", here)? {
                match pattern(name) {
                    Ok(pattern) => fields.patterned.push((pattern, id)),
                    Err((kind, message)) => {
                        let place = format!("{}/{}", here.below("patternProperties"), escape(name));
                        self.problems.push(problem(&place, kind, message));
                    }
                }
            }
        }
        fields.rest = get("additionalProperties").map(|schema| self.one(schema, "additionalProperties", here));
        Ok(Some(Rule::Fields(fields)))
    }

    fn dependent(&mut self, value: &'a Value, keyword: &str, here: &Here<'a>) -> Result<(), Fault> {
        for (name, one) in object(value)? {
            let names = keyword == "dependentRequired" || (keyword == "dependencies" && one.is_array());
            let rule = if names {
                Rule::Needs(name.clone(), strings(one)?)
            } else {
                let place = format!("{}/{}", here.below(keyword), escape(name));
                Rule::Implies(name.clone(), self.sub(one, place, here.depth + 1))
            };
            self.rules.nodes[here.id].rules.push(rule);
        }
        Ok(())
    }

    // All places are known: the references find theirs, and none may lead back to itself.
    fn resolve(&mut self) {
        for Reference { from, at, to, place } in std::mem::take(&mut self.references) {
            match (self.places.get(&to), self.rules.nodes[from].rules.get_mut(at)) {
                (Some(found), Some(rule)) => *rule = Rule::Refer(*found),
                _ => {
                    // Below another `$id` the place counts from there, and what is a schema in an unknown keyword?
                    let perhaps = self.renamed || self.root().pointer(&to).is_some();
                    let kind = if perhaps { ProblemKind::Unchecked } else { ProblemKind::Broken };
                    let message = format!("names #{to}, and no schema is known at that place");
                    self.problems.push(problem(&place, kind, message));
                }
            }
        }
        // A reference without its place, or a schema cut off, would look like a way back to the root.
        if self.problems.iter().any(|problem| problem.kind == ProblemKind::Broken) {
            return;
        }
        for (id, knot) in reference::knots(&self.rules.nodes) {
            let message = match knot {
                Knot::Loop => "refers back to itself without going into the value, so no check would ever end",
                Knot::Long => "passes through too many references and forms for one value",
            };
            let place = self.pending.get(id).map_or("", |pending| &pending.place);
            self.problems.push(problem(place, ProblemKind::Broken, message.to_owned()));
        }
    }
}

fn problem(place: &str, kind: ProblemKind, message: String) -> SchemaProblem {
    SchemaProblem { path: place.to_owned(), message, kind }
}

fn broken(words: &str) -> Fault {
    (ProblemKind::Broken, words.to_owned())
}

fn draft(name: &str) -> Option<Draft> {
    let name = name.trim_end_matches('#');
    let name = name.strip_prefix("https://").or_else(|| name.strip_prefix("http://"))?;
    match name {
        "json-schema.org/draft/2020-12/schema" => Some(Draft::Latest),
        "json-schema.org/draft-07/schema" => Some(Draft::Seven),
        _ => None,
    }
}

fn types(value: &Value) -> Result<Vec<Type>, Fault> {
    let one = |word: &str| {
        Type::parse(word).ok_or_else(|| broken(&format!("\"{word}\" is no JSON Schema type{}", hint(word))))
    };
    match value {
        Value::String(word) => Ok(vec![one(word)?]),
        Value::Array(list) if !list.is_empty() => strings(value)?.iter().map(|word| one(word)).collect(),
        _ => Err(broken("must be a string or an array of strings")),
    }
}

// What a word of another language means here.
fn hint(word: &str) -> &'static str {
    match word.to_ascii_lowercase().as_str() {
        "dict" | "map" | "hashmap" | "hashtable" | "object" => "; write \"object\"",
        "tuple" | "list" | "arraylist" | "set" | "array" => "; write \"array\"",
        "float" | "double" | "decimal" | "number" => "; write \"number\"",
        "int" | "long" | "short" | "byte" | "bigint" | "integer" => "; write \"integer\"",
        "str" | "char" | "text" | "string" => "; write \"string\"",
        "bool" | "boolean" => "; write \"boolean\"",
        "none" | "nil" | "undefined" | "null" => "; write \"null\"",
        "any" | "mixed" | "unknown" => "; leave \"type\" out",
        _ => "",
    }
}

fn required(value: &Value) -> Result<Vec<String>, Fault> {
    if value.is_boolean() {
        return Err(broken("must be an array of strings, and stand in the object that has the property"));
    }
    strings(value)
}

fn strings(value: &Value) -> Result<Vec<String>, Fault> {
    let strings = value.as_array().map(|list| list.iter().map(|one| one.as_str().map(str::to_owned)).collect());
    strings.flatten().ok_or_else(|| broken("must be an array of strings"))
}

fn text(value: &Value) -> Result<&str, Fault> {
    value.as_str().ok_or_else(|| broken("must be a string"))
}

fn list(value: &Value) -> Result<&Vec<Value>, Fault> {
    value.as_array().ok_or_else(|| broken("must be an array"))
}

fn object(value: &Value) -> Result<&Map<String, Value>, Fault> {
    value.as_object().ok_or_else(|| broken("must be an object"))
}

// Either end: `minItems` and its like.
fn bounds(keyword: &str, value: &Value) -> Result<Bounds, Fault> {
    let size = Some(size(value)?);
    Ok(if keyword.starts_with("min") { Bounds { least: size, most: None } } else { Bounds { least: None, most: size } })
}

// 2.0 is a whole number (Core §4.2.3).
fn size(value: &Value) -> Result<u64, Fault> {
    let whole = value.as_number().and_then(number::whole);
    whole.and_then(|whole| u64::try_from(whole).ok()).ok_or_else(|| broken("must be a whole number, 0 or more"))
}

// Kept as it was written, and so read back to whoever broke it.
fn limit(value: &Value) -> Result<Number, Fault> {
    value.as_number().cloned().ok_or_else(|| broken("must be a number"))
}

fn unit(value: &Value) -> Result<Unit, Fault> {
    value.as_number().and_then(Unit::new).ok_or_else(|| broken("must be a number greater than 0"))
}

fn pattern(text: &str) -> Result<Pattern, Fault> {
    if text.chars().count() > MAX_PATTERN {
        return Err((ProblemKind::Unchecked, format!("is longer than {MAX_PATTERN} characters")));
    }
    Pattern::new(text).map_err(|refusal| match refusal {
        Refusal::Broken(words) => (ProblemKind::Broken, words),
        Refusal::Unchecked(words) => (ProblemKind::Unchecked, words),
    })
}
