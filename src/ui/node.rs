//! Elements, built with one type for all of them. Knows nothing of what is built.
//!
//! Leptos gives every element its own type, made of its attributes and children, and compiles each. A panel has some
//! sixty; here they are one, which makes its code a good deal smaller and changes nothing else.

use leptos::ev;
use leptos::html::custom;
use leptos::prelude::*;
use leptos::tachys::html::attribute::any_attribute::{AnyAttribute, IntoAnyAttribute};
use leptos::tachys::html::attribute::custom::custom_attribute;
use leptos::tachys::html::element::Custom;
use leptos::tachys::html::event::on;
use leptos::tachys::html::node_ref::node_ref;

/// A reference to an element once it is on the page.
pub(super) type Place = NodeRef<Custom<&'static str>>;

/// An element to be.
pub(super) struct Node {
    tag: &'static str,
    attributes: Vec<AnyAttribute>,
    children: Vec<AnyView>,
}

/// Something that can stand in an element.
pub(super) trait Child {
    /// As Leptos has it.
    fn view(self) -> AnyView;
}

/// An element with this tag.
pub(super) fn node(tag: &'static str) -> Node {
    Node { tag, attributes: Vec::new(), children: Vec::new() }
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
    pub(super) fn attr(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.attributes.push(custom_attribute(name, value.into()).into_any_attr());
        self
    }

    pub(super) fn class(self, names: impl Into<String>) -> Self {
        self.attr("class", names)
    }

    /// An attribute that follows; absent while `None`.
    pub(super) fn live_attr(mut self, name: &'static str, value: impl Fn() -> Option<String> + Send + 'static) -> Self {
        let value: Box<dyn Fn() -> Option<String> + Send> = Box::new(value);
        self.attributes.push(custom_attribute(name, value).into_any_attr());
        self
    }

    pub(super) fn on(mut self, event: &'static str, act: impl FnMut(web_sys::Event) + 'static) -> Self {
        let act: Box<dyn FnMut(web_sys::Event)> = Box::new(act);
        self.attributes.push(on(ev::Custom::<web_sys::Event>::new(event), act).into_any_attr());
        self
    }

    pub(super) fn place(mut self, place: Place) -> Self {
        self.attributes.push(node_ref(place).into_any_attr());
        self
    }

    pub(super) fn child(mut self, child: impl Child) -> Self {
        self.children.push(child.view());
        self
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
