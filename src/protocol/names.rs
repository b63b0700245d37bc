//! A map from texts, kept sorted. Knows nothing of what it maps to.
//!
//! For the few hundred entries that are usual here it is as fast as a tree, and a tenth of a tree's code: Rust compiles
//! a map anew for each type it holds, and a page loads all of them.

/// A map from texts, sorted by them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Names<V = ()> {
    entries: Vec<(String, V)>,
}

impl<V> Names<V> {
    /// What a text maps to.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&V> {
        self.find(name).ok().map(|at| &self.entries[at].1)
    }

    /// The same, to change it.
    pub fn get_mut(&mut self, name: &str) -> Option<&mut V> {
        self.find(name).ok().map(|at| &mut self.entries[at].1)
    }

    /// Whether a text is in it.
    #[must_use]
    pub fn contains(&self, name: &str) -> bool {
        self.find(name).is_ok()
    }

    /// Maps a text to something; what it mapped to before comes back.
    pub fn insert(&mut self, name: String, value: V) -> Option<V> {
        match self.find(&name) {
            Ok(at) => Some(std::mem::replace(&mut self.entries[at].1, value)),
            Err(at) => {
                self.entries.insert(at, (name, value));
                None
            }
        }
    }

    /// Takes a text out, with what it mapped to.
    pub fn remove(&mut self, name: &str) -> Option<V> {
        self.find(name).ok().map(|at| self.entries.remove(at).1)
    }

    /// The texts, sorted.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|(name, _)| name.as_str())
    }

    /// What they map to, in the texts' order.
    pub fn values(&self) -> impl Iterator<Item = &V> {
        self.entries.iter().map(|(_, value)| value)
    }

    /// The texts with what they map to, sorted.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &V)> {
        self.entries.iter().map(|(name, value)| (name.as_str(), value))
    }

    /// Takes out what does not pass.
    pub fn retain(&mut self, keep: impl Fn(&str) -> bool) {
        self.entries.retain(|(name, _)| keep(name));
    }

    /// Whether it holds nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Takes everything out.
    pub fn clear(&mut self) {
        self.entries.clear();
    }

    fn find(&self, name: &str) -> Result<usize, usize> {
        self.entries.binary_search_by(|(entry, _)| entry.as_str().cmp(name))
    }
}

impl Names {
    /// Adds a text; `false` where it was in already.
    pub fn add(&mut self, name: impl Into<String>) -> bool {
        self.insert(name.into(), ()).is_none()
    }
}

impl<V> Default for Names<V> {
    fn default() -> Self {
        Self { entries: Vec::new() }
    }
}

impl<V> IntoIterator for Names<V> {
    type Item = (String, V);
    type IntoIter = std::vec::IntoIter<(String, V)>;

    fn into_iter(self) -> Self::IntoIter {
        self.entries.into_iter()
    }
}
