//! Words a person reads, in the languages they were given in. Knows nothing of where they stand.

use serde_json::{Map, Value};

use crate::protocol::Names;

/// A text, or the same text in several languages (BCP 47 tags).
///
/// As JSON: a string, or an object `{ "en": …, "de": … }`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Words {
    by_language: Names<String>,
}

impl Words {
    /// The words in a language: its own, else its main language's (`de` for `de-AT`), else those of no language,
    /// else English, else the first there are.
    #[must_use]
    pub fn in_language(&self, language: &str) -> &str {
        let main = language.split('-').next().unwrap_or_default();
        let wanted = [language, main, "", "en"];
        let found =
            wanted.iter().find_map(|tag| self.by_language.get(tag)).or_else(|| self.by_language.values().next());
        found.map_or("", String::as_str)
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.by_language.values().all(|words| words.trim().is_empty())
    }

    /// As JSON.
    #[must_use]
    pub fn to_json(&self) -> Value {
        if self.by_language.len() <= 1
            && let Some(words) = self.by_language.get("")
        {
            return Value::from(words.as_str());
        }
        let mut object = Map::new();
        for (language, words) in self.by_language.iter() {
            object.insert(language.to_owned(), Value::from(words.as_str()));
        }
        if object.is_empty() { Value::from("") } else { Value::Object(object) }
    }

    /// From JSON; `None` where it is neither a string nor an object of strings.
    #[must_use]
    pub fn from_json(json: &Value) -> Option<Self> {
        let mut by_language = Names::default();
        match json {
            Value::Null => {}
            Value::String(words) if words.is_empty() => {}
            Value::String(words) => drop(by_language.insert(String::new(), words.clone())),
            Value::Object(languages) => {
                for (language, words) in languages {
                    by_language.insert(language.clone(), words.as_str()?.to_owned());
                }
            }
            Value::Bool(_) | Value::Number(_) | Value::Array(_) => return None,
        }
        Some(Self { by_language })
    }
}

impl From<&str> for Words {
    fn from(words: &str) -> Self {
        Self::from_json(&Value::from(words)).unwrap_or_default()
    }
}
