//! Elements, built with one type for all of them. Knows nothing of what is built.
//!
//! Leptos gives every element its own type, made of its attributes and children, and compiles each. A panel has some
//! sixty; here they are one, which makes its code a good deal smaller and changes nothing else.

use leptos::ev;
use leptos::html::custom;
use leptos::prelude::*;
use leptos::tachys::html::attribute::any_attribute::{AnyAttribute, AnyAttributeState, IntoAnyAttribute};
use leptos::tachys::html::attribute::custom::custom_attribute;
use leptos::tachys::html::attribute::{Attribute, NextAttribute};
use leptos::tachys::html::element::Custom;
use leptos::tachys::html::event::on;
use leptos::tachys::html::node_ref::node_ref;
use web_sys::{Element, FocusOptions, HtmlElement};

/// A reference to an element once it is on the page.
pub(super) type Place = NodeRef<Custom<&'static str>>;

/// An element to be.
pub(super) struct Node {
    tag: &'static str,
    attributes: Attributes,
    children: Vec<AnyView>,
}

/// An element's attributes and listeners. Leptos has the same for a `Vec` of them, but its code can set `innerHTML`, and
/// then the page's glue imports that setter, which a strict reader of a page's code refuses.
#[derive(Clone, Default)]
struct Attributes {
    // Those that are taken off the element when it is made to look like another one.
    names: Vec<&'static str>,
    values: Vec<AnyAttribute>,
}

/// Something that can stand in an element.
pub(super) trait Child {
    /// As Leptos has it.
    fn view(self) -> AnyView;
}

/// An element with this tag.
pub(super) fn node(tag: &'static str) -> Node {
    Node { tag, attributes: Attributes::default(), children: Vec::new() }
}

/// A part of a view that is made anew whenever what it follows changes.
pub(super) fn live(make: impl Fn() -> AnyView + Send + 'static) -> AnyView {
    let make: Box<dyn Fn() -> AnyView + Send> = Box::new(make);
    make.into_any()
}

/// A text that follows.
pub(super) fn live_text(make: impl Fn() -> String + Send + 'static) -> AnyView {
    live(move || make().into_any())
}

/// Nothing.
pub(super) fn nothing() -> AnyView {
    ().into_any()
}

impl Node {
    pub(super) fn attr(self, name: &'static str, value: impl Into<String>) -> Self {
        self.named(name, custom_attribute(name, value.into()).into_any_attr())
    }

    fn named(mut self, name: &'static str, value: AnyAttribute) -> Self {
        self.attributes.names.push(name);
        self.attributes.values.push(value);
        self
    }

    pub(super) fn class(self, names: impl Into<String>) -> Self {
        self.attr("class", names)
    }

    /// An attribute that follows; absent while `None`.
    pub(super) fn live_attr(self, name: &'static str, value: impl Fn() -> Option<String> + Send + 'static) -> Self {
        let value: Box<dyn Fn() -> Option<String> + Send> = Box::new(value);
        self.named(name, custom_attribute(name, value).into_any_attr())
    }

    pub(super) fn on(mut self, event: &'static str, act: impl FnMut(web_sys::Event) + 'static) -> Self {
        let act: Box<dyn FnMut(web_sys::Event)> = Box::new(act);
        self.attributes.values.push(on(ev::Custom::<web_sys::Event>::new(event), act).into_any_attr());
        self
    }

    pub(super) fn place(mut self, place: Place) -> Self {
        self.attributes.values.push(node_ref(place).into_any_attr());
        self
    }

    pub(super) fn child(mut self, child: impl Child) -> Self {
        self.children.push(child.view());
        self
    }
}

impl Attribute for Attributes {
    const MIN_LENGTH: usize = 0;

    type State = (Element, Vec<&'static str>, Vec<AnyAttributeState>);
    type AsyncOutput = Self;
    type Cloneable = Self;
    type CloneableOwned = Self;

    // A panel is never made on a server: there is no HTML to write, and none to begin with.
    fn html_len(&self) -> usize {
        0
    }

    fn to_html(self, _: &mut String, _: &mut String, _: &mut String, _: &mut String) {}

    fn hydrate<const FROM_SERVER: bool>(self, element: &Element) -> Self::State {
        self.build(element)
    }

    fn build(self, element: &Element) -> Self::State {
        let values = self.values.into_iter().map(|value| value.build(element)).collect();
        (element.clone(), self.names, values)
    }

    fn rebuild(self, state: &mut Self::State) {
        let (element, names, values) = state;
        values.clear();
        for name in names.drain(..) {
            let _ = element.remove_attribute(name);
        }
        *state = self.build(&element.clone());
    }

    fn into_cloneable(self) -> Self {
        self
    }

    fn into_cloneable_owned(self) -> Self {
        self
    }

    fn dry_resolve(&mut self) {}

    async fn resolve(self) -> Self {
        self
    }
}

impl NextAttribute for Attributes {
    type Output<New: Attribute> = Self;

    fn add_any_attr<New: Attribute>(mut self, new: New) -> Self {
        self.values.push(new.into_any_attr());
        self
    }
}

/// Puts the focus on an element, and leaves the page where the user has scrolled it to.
pub(super) fn focus(element: &HtmlElement) {
    let options = FocusOptions::new();
    options.set_prevent_scroll(true);
    let _ = element.focus_with_options(&options);
}

/// The same for an element of a view, where it is on the page.
pub(super) fn focus_on(place: Place) {
    if let Some(element) = place.try_get_untracked().flatten() {
        focus(&element);
    }
}

impl Child for Node {
    fn view(self) -> AnyView {
        custom(self.tag).add_any_attr(self.attributes).child(self.children).into_any()
    }
}

impl Child for AnyView {
    fn view(self) -> AnyView {
        self
    }
}

impl Child for &str {
    fn view(self) -> AnyView {
        self.to_owned().into_any()
    }
}

impl Child for String {
    fn view(self) -> AnyView {
        self.into_any()
    }
}

impl<C: Child> Child for Option<C> {
    fn view(self) -> AnyView {
        self.map_or_else(nothing, C::view)
    }
}

impl<C: Child> Child for Vec<C> {
    fn view(self) -> AnyView {
        self.into_iter().map(C::view).collect::<Vec<AnyView>>().into_any()
    }
}
