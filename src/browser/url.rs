//! What an address may do, judged after the browser has parsed it and never by how it begins.

use web_sys::Url;

/// An address, parsed against the page's own.
#[derive(Clone, Debug)]
pub struct Address {
    url: Url,
}

/// What kind of address it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// On the page's own origin.
    SameOrigin,
    /// On another one, by http or https.
    Web,
    /// `mailto:` or `tel:`.
    Contact,
    /// Anything else: `javascript:`, `data:`, `blob:`, `file:`, …
    Forbidden,
}

impl Address {
    /// Reads an address; `None` where the browser does not take it for one.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let base = web_sys::window()?.location().href().ok()?;
        Url::new_with_base(text, &base).ok().map(|url| Self { url })
    }

    /// What kind it is.
    #[must_use]
    pub fn kind(&self) -> Kind {
        match self.url.protocol().as_str() {
            "http:" | "https:" if self.is_same_origin() => Kind::SameOrigin,
            "http:" | "https:" => Kind::Web,
            "mailto:" | "tel:" => Kind::Contact,
            _ => Kind::Forbidden,
        }
    }

    /// The whole address, as the browser writes it.
    #[must_use]
    pub fn href(&self) -> String {
        self.url.href()
    }

    /// Path, query and fragment.
    #[must_use]
    pub fn path(&self) -> String {
        format!("{}{}{}", self.url.pathname(), self.url.search(), self.url.hash())
    }

    /// Whether it is a place on the page that is open: following it loads nothing.
    #[must_use]
    pub fn is_on_this_page(&self) -> bool {
        let here = web_sys::window().and_then(|window| window.location().href().ok()).unwrap_or_default();
        let href = self.href();
        match href.split_once('#') {
            Some((page, _)) => here.split('#').next() == Some(page),
            None => false,
        }
    }

    fn is_same_origin(&self) -> bool {
        let own = web_sys::window().and_then(|window| window.location().origin().ok());
        own.is_some_and(|own| own == self.url.origin() && self.url.username().is_empty())
    }
}
