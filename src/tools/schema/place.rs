//! Where in a value a check stands: written out only where something is wrong. Knows nothing of schemas.

/// A step into a value, and the steps before it.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    pub(super) up: Option<&'a Place<'a>>,
    pub(super) step: Step<'a>,
    /// Steps from the root.
    pub(super) depth: usize,
}

#[derive(Clone, Copy)]
pub(super) enum Step<'a> {
    Root,
    Name(&'a str),
    At(usize),
}

impl<'a> Place<'a> {
    pub(super) const ROOT: Self = Self { up: None, step: Step::Root, depth: 0 };

    pub(super) fn below(&'a self, step: Step<'a>) -> Self {
        Self { up: Some(self), step, depth: self.depth + 1 }
    }

    /// `customers[2].city`.
    pub(super) fn text(&self) -> String {
        let mut text = self.up.map(Self::text).unwrap_or_default();
        push(&mut text, self.step);
        text
    }
}

pub(super) fn push(text: &mut String, step: Step<'_>) {
    match step {
        Step::Root => {}
        Step::Name(name) => {
            if !text.is_empty() {
                text.push('.');
            }
            text.push_str(name);
        }
        Step::At(at) => {
            text.push('[');
            text.push_str(&at.to_string());
            text.push(']');
        }
    }
}
