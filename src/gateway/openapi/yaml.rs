//! YAML 1.2 → JSON, as its core schema says. Knows nothing of what is written in it.
//!
//! What JSON has no word for is refused: keys that are no texts, tags of others, documents after the first. An alias
//! is a copy; so that a few lines can not become gigabytes, the whole has a largest size.

use std::collections::BTreeMap;

use saphyr_parser::{Event, Parser, ScalarStyle};
use serde_json::{Map, Value};

const MAX_NODES: usize = 1_000_000;
const MAX_DEPTH: usize = 128;

/// The one document of a text.
pub(super) fn parse(text: &str) -> Result<Value, String> {
    let mut builder = Builder { open: Vec::new(), anchors: BTreeMap::new(), root: None, nodes: 0 };
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|why| format!("it is no YAML: {why}"))?;
        builder.take(event).map_err(|why| format!("it can not be read, line {}: {why}", span.start.line()))?;
    }
    builder.root.ok_or_else(|| "it is empty".to_owned())
}

struct Builder {
    open: Vec<Open>,
    anchors: BTreeMap<usize, (Value, usize)>,
    root: Option<Value>,
    nodes: usize,
}

struct Open {
    anchor: usize,
    nodes_before: usize,
    what: Container,
}

enum Container {
    List(Vec<Value>),
    // The key that waits for its value.
    Map(Map<String, Value>, Option<String>),
}

impl Builder {
    fn take(&mut self, event: Event<'_>) -> Result<(), String> {
        match event {
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => Ok(()),
            Event::DocumentStart(_) => match self.root {
                Some(_) => Err("there is a second document".to_owned()),
                None => Ok(()),
            },
            Event::Scalar(text, style, anchor, tag) => {
                let tag = tag.map(|tag| format!("{}{}", tag.handle, tag.suffix));
                let value = scalar(&text, style, tag.as_deref())?;
                self.close(value, anchor, self.nodes)
            }
            Event::Alias(anchor) => {
                let (value, size) = self.anchors.get(&anchor).cloned().ok_or("an alias of nothing")?;
                self.grow(size)?;
                self.put(value)
            }
            Event::SequenceStart(anchor, _) => self.begin(anchor, Container::List(Vec::new())),
            Event::MappingStart(anchor, _) => self.begin(anchor, Container::Map(Map::new(), None)),
            Event::SequenceEnd | Event::MappingEnd => match self.open.pop() {
                Some(Open { anchor, nodes_before, what: Container::List(list) }) => {
                    self.close(Value::Array(list), anchor, nodes_before)
                }
                Some(Open { anchor, nodes_before, what: Container::Map(map, None) }) => {
                    self.close(Value::Object(map), anchor, nodes_before)
                }
                _ => Err("a key without a value".to_owned()),
            },
        }
    }

    fn begin(&mut self, anchor: usize, what: Container) -> Result<(), String> {
        if self.open.len() >= MAX_DEPTH {
            return Err(format!("it is nested deeper than {MAX_DEPTH}"));
        }
        self.open.push(Open { anchor, nodes_before: self.nodes, what });
        Ok(())
    }

    fn close(&mut self, value: Value, anchor: usize, nodes_before: usize) -> Result<(), String> {
        self.grow(1)?;
        if anchor != 0 {
            self.anchors.insert(anchor, (value.clone(), self.nodes - nodes_before));
        }
        self.put(value)
    }

    fn grow(&mut self, by: usize) -> Result<(), String> {
        self.nodes += by;
        if self.nodes > MAX_NODES { Err(format!("it has more than {MAX_NODES} values")) } else { Ok(()) }
    }

    fn put(&mut self, value: Value) -> Result<(), String> {
        match self.open.last_mut().map(|open| &mut open.what) {
            None => self.root = Some(value),
            Some(Container::List(list)) => list.push(value),
            Some(Container::Map(map, key)) => match key.take() {
                None => *key = Some(key_of(value)?),
                Some(key) => {
                    if map.contains_key(&key) {
                        return Err(format!("the key \"{key}\" stands twice"));
                    }
                    map.insert(key, value);
                }
            },
        }
        Ok(())
    }
}

// `200:` of a list of answers is a text to OpenAPI.
fn key_of(value: Value) -> Result<String, String> {
    match value {
        Value::String(text) => Ok(text),
        Value::Number(number) => Ok(number.to_string()),
        Value::Bool(flag) => Ok(flag.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => Err("a key is no text".to_owned()),
    }
}

// YAML 1.2.2 §10.3.2.
fn scalar(text: &str, style: ScalarStyle, tag: Option<&str>) -> Result<Value, String> {
    match tag {
        Some("tag:yaml.org,2002:str" | "!") => return Ok(Value::from(text)),
        Some(
            "tag:yaml.org,2002:int" | "tag:yaml.org,2002:float" | "tag:yaml.org,2002:bool" | "tag:yaml.org,2002:null",
        )
        | None => {}
        Some(other) => return Err(format!("the tag {other} says nothing to JSON")),
    }
    if style != ScalarStyle::Plain {
        return Ok(Value::from(text));
    }
    Ok(match text {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" => Value::Bool(true),
        "false" | "False" | "FALSE" => Value::Bool(false),
        _ => number(text).unwrap_or_else(|| Value::from(text)),
    })
}

fn number(text: &str) -> Option<Value> {
    if let Some(hex) = text.strip_prefix("0x") {
        return i64::from_str_radix(hex, 16).ok().map(Value::from);
    }
    if let Some(octal) = text.strip_prefix("0o") {
        return i64::from_str_radix(octal, 8).ok().map(Value::from);
    }
    let digits = text.trim_start_matches(['-', '+']);
    let looks = digits.starts_with(|first: char| first.is_ascii_digit())
        || digits.strip_prefix('.').is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_digit()));
    if !looks {
        return None;
    }
    let text = text.trim_start_matches('+');
    text.parse::<i64>().map(Value::from).ok().or_else(|| {
        let number = text.parse::<f64>().ok().filter(|number| number.is_finite())?;
        Some(Value::from(number))
    })
}
