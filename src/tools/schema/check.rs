//! A value held against the rules. Knows nothing of how they were written down.

use std::cmp::Ordering;
use std::fmt;

use serde_json::{Map, Number, Value};

use super::number::{compare, same};
use super::place::{Place, Step};
use super::rules::{Bounds, Fields, Id, Limit, Node, Rule, Rules};
use super::{MAX_VIOLATIONS, Violation, words};

// Some tenths of a second in a page. Only schemas and values made for it need so many, or thousands of unique items.
const MAX_STEPS: u32 = 5_000_000;
// Schemas within schemas while checking: what a page's stack (1 MB) carries several times.
const MAX_NESTING: usize = 400;

pub(super) fn check(rules: &Rules, value: &Value) -> Vec<Violation> {
    let mut check = Check { rules, found: Vec::new(), quiet: false, steps: MAX_STEPS, nesting: 0, given_up: false };
    check.visit(0, value, &Place::ROOT);
    if check.given_up {
        let expected = "is too large to be checked against its schema".to_owned();
        return vec![Violation { path: String::new(), expected }];
    }
    check.found.into_iter().map(|found| found.violation).take(MAX_VIOLATIONS).collect()
}

/// A violation, and what it says of a form among others.
pub(super) struct Found {
    pub(super) violation: Violation,
    pub(super) depth: usize,
    pub(super) slip: Slip,
}

/// Whether a violation is a slip within a form, or shows that another form was meant.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Slip {
    Within,
    /// Another type or another of the allowed values.
    Other,
    /// Another constant, which also tells forms apart where it is one of their properties.
    Constant,
}

/// The violations of the one form that was meant, where that can be told.
pub(super) fn meant(forms: Vec<Vec<Found>>, depth: usize) -> Option<Vec<Found>> {
    let other = |found: &Found| match found.slip {
        Slip::Within => false,
        Slip::Other => found.depth == depth,
        Slip::Constant => found.depth <= depth + 1,
    };
    let mut plausible = forms.into_iter().filter(|form| !form.iter().any(other));
    let form = plausible.next()?;
    plausible.next().is_none().then_some(form)
}

struct Check<'r> {
    rules: &'r Rules,
    found: Vec<Found>,
    // Only whether it fits is asked: the first fault ends it and is not written down.
    quiet: bool,
    steps: u32,
    nesting: usize,
    given_up: bool,
}

impl<'r> Check<'r> {
    // Whether the value fits. Loud, it writes down what does not.
    fn visit(&mut self, id: Id, value: &Value, place: &Place<'_>) -> bool {
        let rules = self.rules;
        let Some(node) = rules.nodes.get(id) else { return true };
        self.steps = self.steps.saturating_sub(1);
        self.given_up |= self.steps == 0 || self.nesting > MAX_NESTING;
        if self.given_up {
            return false;
        }
        self.nesting += 1;
        let fits = self.visit_node(node, value, place);
        self.nesting -= 1;
        fits
    }

    fn visit_node(&mut self, node: &'r Node, value: &Value, place: &Place<'_>) -> bool {
        if node.never {
            return self.fail(place, Slip::Within, format_args!("is not allowed"));
        }
        if !node.types.is_empty() && !node.types.iter().any(|kind| kind.fits(value)) {
            let names = node.types.iter().map(|kind| kind.name()).collect::<Vec<_>>().join(" or ");
            return self.fail(place, Slip::Other, format_args!("must be {names}, is {}", words::name_of(value)));
        }
        let mut fits = true;
        for rule in &node.rules {
            fits &= self.visit_rule(rule, value, place);
            if self.quiet && !fits {
                return false;
            }
        }
        fits
    }

    fn visit_rule(&mut self, rule: &'r Rule, value: &Value, place: &Place<'_>) -> bool {
        match (rule, value) {
            (Rule::Enum(allowed), _) => {
                let known = allowed.iter().any(|one| self.same(one, value));
                known || self.fail(place, Slip::Other, format_args!("must be one of {}", words::allowed(allowed)))
            }
            (Rule::Const(wanted), _) => {
                self.same(wanted, value) || self.fail(place, Slip::Constant, format_args!("must be {wanted}"))
            }
            (Rule::Refer(id), _) => self.visit(*id, value, place),
            (Rule::All(ids), _) => self.all(ids, value, place),
            (Rule::Any(ids, words), _) => self.any(ids, words, value, place),
            (Rule::One(ids, words), _) => self.one(ids, words, value, place),
            (Rule::Not(id, words), _) => {
                !self.fits(*id, value, place) || self.fail(place, Slip::Within, format_args!("{words}"))
            }
            (Rule::When { test, then, otherwise }, _) => {
                let branch = if self.fits(*test, value, place) { then } else { otherwise };
                branch.is_none_or(|branch| self.visit(branch, value, place))
            }
            (Rule::Number(limit, bound), Value::Number(number)) => self.limit(*limit, bound, number, place),
            (Rule::MultipleOf(unit), Value::Number(number)) => {
                let words = format_args!("must be a multiple of {}", unit.written);
                unit.divides(number) || self.fail(place, Slip::Within, words)
            }
            (Rule::Length(bounds), Value::String(text)) => {
                self.bounds(*bounds, text.chars().count(), "characters", place)
            }
            (Rule::Pattern(pattern), Value::String(text)) => {
                self.matches(pattern, text)
                    || self.fail(place, Slip::Within, format_args!("must match the pattern {}", pattern.text()))
            }
            (_, Value::Array(list)) => self.visit_array(rule, list, place),
            (_, Value::Object(map)) => self.visit_object(rule, value, map, place),
            _ => true,
        }
    }

    fn visit_array(&mut self, rule: &'r Rule, list: &[Value], place: &Place<'_>) -> bool {
        match rule {
            Rule::ItemCount(bounds) => self.bounds(*bounds, list.len(), "items", place),
            Rule::Unique => {
                let twice = (1..list.len()).any(|at| list[..at].iter().any(|other| self.same(other, &list[at])));
                !twice || self.fail(place, Slip::Within, format_args!("must not hold the same item twice"))
            }
            Rule::Items { first, rest } => self.items(first, *rest, list, place),
            Rule::Contains { item, count, words } => {
                let found = list.iter().filter(|one| self.fits(*item, one, place)).count() as u64;
                let fits = found >= count.least.unwrap_or(1) && count.most.is_none_or(|most| found <= most);
                fits || self.fail(place, Slip::Within, format_args!("{words}"))
            }
            _ => true,
        }
    }

    fn items(&mut self, first: &[Id], rest: Option<Id>, list: &[Value], place: &Place<'_>) -> bool {
        let most = first.len();
        if list.len() > most && rest.is_some_and(|rest| self.rules.is_never(rest)) {
            let words = format_args!("must have at most {most} items, has {}", list.len());
            return self.fail(place, Slip::Within, words);
        }
        let mut fits = true;
        for (at, item) in list.iter().enumerate() {
            let Some(id) = first.get(at).copied().or(rest) else { break };
            fits &= self.visit(id, item, &place.below(Step::At(at)));
            if self.enough(fits) {
                break;
            }
        }
        fits
    }

    fn visit_object(&mut self, rule: &'r Rule, value: &Value, map: &Map<String, Value>, place: &Place<'_>) -> bool {
        match rule {
            Rule::Fields(fields) => self.fields(fields, map, place),
            Rule::FieldCount(bounds) => self.bounds(*bounds, map.len(), "properties", place),
            Rule::FieldNames(id) => self.names(*id, map, place),
            Rule::Required(names) => self.required(names, map, place),
            Rule::Needs(first, names) => !map.contains_key(first) || self.required(names, map, place),
            Rule::Implies(name, id) => !map.contains_key(name) || self.visit(*id, value, place),
            _ => true,
        }
    }

    fn required(&mut self, names: &[String], map: &Map<String, Value>, place: &Place<'_>) -> bool {
        let mut fits = true;
        for name in names {
            if !map.contains_key(name) {
                fits = self.fail(&place.below(Step::Name(name)), Slip::Within, format_args!("is missing"));
            }
        }
        fits
    }

    fn fields(&mut self, fields: &'r Fields, map: &Map<String, Value>, place: &Place<'_>) -> bool {
        let mut fits = true;
        for (name, value) in map {
            let place = place.below(Step::Name(name));
            let named = fields.named.get(name).copied();
            let mut known = named.is_some();
            if let Some(id) = named {
                fits &= self.visit(id, value, &place);
            }
            for (pattern, id) in &fields.patterned {
                if self.matches(pattern, name) {
                    known = true;
                    fits &= self.visit(*id, value, &place);
                }
            }
            if let Some(rest) = fields.rest.filter(|_| !known) {
                fits &= if self.rules.is_never(rest) {
                    let words = if self.quiet { String::new() } else { words::no_property(fields.named.keys()) };
                    self.fail(&place, Slip::Within, format_args!("{words}"))
                } else {
                    self.visit(rest, value, &place)
                };
            }
            if self.enough(fits) {
                break;
            }
        }
        fits
    }

    fn names(&mut self, id: Id, map: &Map<String, Value>, place: &Place<'_>) -> bool {
        let mut fits = true;
        for name in map.keys() {
            let before = self.found.len();
            let place = place.below(Step::Name(name));
            fits &= self.visit(id, &Value::from(name.as_str()), &place);
            for found in self.found.iter_mut().skip(before) {
                found.violation.expected.insert_str(0, "is a name that ");
                found.slip = Slip::Within;
            }
        }
        fits
    }

    fn all(&mut self, ids: &[Id], value: &Value, place: &Place<'_>) -> bool {
        let mut fits = true;
        for id in ids {
            fits &= self.visit(*id, value, place);
            if self.enough(fits) {
                break;
            }
        }
        fits
    }

    fn any(&mut self, ids: &[Id], words: &str, value: &Value, place: &Place<'_>) -> bool {
        ids.iter().any(|id| self.fits(*id, value, place)) || self.none_fits(ids, words, value, place)
    }

    fn one(&mut self, ids: &[Id], words: &str, value: &Value, place: &Place<'_>) -> bool {
        match ids.iter().filter(|id| self.fits(**id, value, place)).count() {
            0 => self.none_fits(ids, words, value, place),
            1 => true,
            count => {
                let words = format_args!("must fit exactly one of the allowed forms, fits {count}");
                self.fail(place, Slip::Within, words)
            }
        }
    }

    fn none_fits(&mut self, ids: &[Id], words: &str, value: &Value, place: &Place<'_>) -> bool {
        if self.quiet || self.given_up {
            return false;
        }
        let mut forms = Vec::new();
        for id in ids {
            let outer = std::mem::take(&mut self.found);
            self.visit(*id, value, place);
            forms.push(std::mem::replace(&mut self.found, outer));
        }
        match meant(forms, place.depth) {
            Some(form) => self.found.extend(form),
            None => {
                self.fail(place, Slip::Other, format_args!("fits none of the allowed forms{words}"));
            }
        }
        false
    }

    fn fits(&mut self, id: Id, value: &Value, place: &Place<'_>) -> bool {
        let loud = std::mem::replace(&mut self.quiet, true);
        let fits = self.visit(id, value, place);
        self.quiet = loud;
        fits
    }

    fn limit(&mut self, limit: Limit, bound: &Number, number: &Number, place: &Place<'_>) -> bool {
        let order = compare(number, bound);
        let (fits, words) = match limit {
            Limit::Minimum => (matches!(order, Some(Ordering::Greater | Ordering::Equal)), "at least"),
            Limit::Maximum => (matches!(order, Some(Ordering::Less | Ordering::Equal)), "at most"),
            Limit::Above => (order == Some(Ordering::Greater), "more than"),
            Limit::Below => (order == Some(Ordering::Less), "less than"),
        };
        fits || self.fail(place, Slip::Within, format_args!("must be {words} {bound}"))
    }

    fn bounds(&mut self, bounds: Bounds, size: usize, unit: &str, place: &Place<'_>) -> bool {
        let size = size as u64;
        if let Some(least) = bounds.least.filter(|least| size < *least) {
            return self.fail(place, Slip::Within, format_args!("must have at least {least} {unit}, has {size}"));
        }
        if let Some(most) = bounds.most.filter(|most| size > *most) {
            return self.fail(place, Slip::Within, format_args!("must have at most {most} {unit}, has {size}"));
        }
        true
    }

    fn matches(&mut self, pattern: &super::pattern::Pattern, text: &str) -> bool {
        let found = pattern.is_in(text, &mut self.steps);
        self.given_up |= found.is_none();
        found.unwrap_or(false)
    }

    fn same(&mut self, a: &Value, b: &Value) -> bool {
        let same = same(a, b, &mut self.steps);
        self.given_up |= self.steps == 0;
        same
    }

    // Nobody asks for more.
    fn enough(&self, fits: bool) -> bool {
        self.given_up || (!fits && (self.quiet || self.found.len() >= MAX_VIOLATIONS))
    }

    fn fail(&mut self, place: &Place<'_>, slip: Slip, words: fmt::Arguments<'_>) -> bool {
        if !self.quiet && self.found.len() < MAX_VIOLATIONS {
            let violation = Violation { path: place.text(), expected: words.to_string() };
            self.found.push(Found { violation, depth: place.depth, slip });
        }
        false
    }
}
