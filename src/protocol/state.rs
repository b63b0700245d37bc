//! What tools remember: values by key, and changes to them. Knows nothing of who keeps them.
//!
//! The key says how long a value lives (the prefixes are the field's own, as in ADK):
//!
//! | key | lives |
//! |---|---|
//! | `app:…` | for every user of this page |
//! | `user:…` | for this user, in all their threads |
//! | `temp:…` | until the run ends; never written down |
//! | any other | with the thread |

use serde_json::{Map, Value};

use crate::protocol::Names;

/// Values by key.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State {
    values: Names<Value>,
}

/// Changes of a state, by key; null takes a value out.
pub type Delta = Names<Value>;

/// How long a value lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lifetime {
    /// For every user of this page.
    App,
    /// For one user, in all their threads.
    User,
    /// Until the run ends.
    Temp,
    /// With the thread.
    Thread,
}

impl Lifetime {
    /// The lifetime a key's prefix asks for.
    #[must_use]
    pub fn of(key: &str) -> Self {
        match key.split_once(':') {
            Some(("app", _)) => Self::App,
            Some(("user", _)) => Self::User,
            Some(("temp", _)) => Self::Temp,
            _ => Self::Thread,
        }
    }
}

impl State {
    /// A value.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.values.get(key)
    }

    /// Sets a value.
    pub fn set(&mut self, key: &str, value: Value) {
        self.values.insert(key.to_owned(), value);
    }

    /// Takes changes over, those of these lifetimes.
    pub fn apply(&mut self, delta: &Delta, takes: impl Fn(Lifetime) -> bool) {
        for (key, value) in delta.iter().filter(|(key, _)| takes(Lifetime::of(key))) {
            match value {
                Value::Null => drop(self.values.remove(key)),
                value => drop(self.values.insert(key.to_owned(), value.clone())),
            }
        }
    }

    /// Lets go of values of these lifetimes.
    pub fn drop_lifetimes(&mut self, drops: impl Fn(Lifetime) -> bool) {
        self.values.retain(|key| !drops(Lifetime::of(key)));
    }

    /// Every value by its key.
    #[must_use]
    pub fn values(&self) -> &Names<Value> {
        &self.values
    }

    /// The values as a JSON object, those of these lifetimes.
    #[must_use]
    pub fn to_json(&self, takes: impl Fn(Lifetime) -> bool) -> Value {
        let mut object = Map::new();
        for (key, value) in self.values.iter().filter(|(key, _)| takes(Lifetime::of(key))) {
            object.insert(key.to_owned(), value.clone());
        }
        Value::Object(object)
    }

    /// A state from a JSON object; of anything else an empty one.
    #[must_use]
    pub fn from_json(json: &Value) -> Self {
        Self { values: delta_from_json(json) }
    }
}

/// Changes as a JSON object.
#[must_use]
pub fn delta_to_json(delta: &Delta) -> Value {
    let mut object = Map::new();
    for (key, value) in delta.iter() {
        object.insert(key.to_owned(), value.clone());
    }
    Value::Object(object)
}

/// Changes from a JSON object; of anything else none.
#[must_use]
pub fn delta_from_json(json: &Value) -> Delta {
    let mut delta = Delta::default();
    for (key, value) in json.as_object().into_iter().flatten() {
        delta.insert(key.clone(), value.clone());
    }
    delta
}
