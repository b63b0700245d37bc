//! Values that are only another way to write what a schema asks for: a null for a property left out, 3.0 for 3.
//! Checks nothing.

#[cfg(feature = "typed")]
use serde_json::Number;
use serde_json::{Map, Value};

use super::number::same;
#[cfg(feature = "typed")]
use super::number::whole;
#[cfg(feature = "typed")]
use super::rules::Type;
use super::rules::{Id, Rule, Rules};

// Used up only by schemas and values made for it; then nothing more is taken out.
const MAX_STEPS: u32 = 1_000_000;

pub(super) fn drop_absent(rules: &Rules, value: &mut Value) {
    Walk { rules, steps: MAX_STEPS, task: Task::DropAbsent }.visit(&[0], value);
}

#[cfg(feature = "typed")]
pub(super) fn make_whole(rules: &Rules, value: &mut Value) {
    Walk { rules, steps: MAX_STEPS, task: Task::MakeWhole }.visit(&[0], value);
}

#[derive(Clone, Copy, PartialEq)]
enum Task {
    DropAbsent,
    #[cfg(feature = "typed")]
    MakeWhole,
}

struct Walk<'r> {
    rules: &'r Rules,
    steps: u32,
    task: Task,
}

impl<'r> Walk<'r> {
    // `ids`: the schemas that are known to judge the value.
    fn visit(&mut self, ids: &[Id], value: &mut Value) {
        let mut all = Vec::new();
        for id in ids {
            self.spread(*id, value, &mut all);
        }
        let rules = self.rules;
        #[cfg(feature = "typed")]
        if self.task == Task::MakeWhole
            && let Value::Number(number) = value
            && all.iter().any(|id| rules.nodes[*id].types.contains(&Type::Integer))
            && let Some(whole) = whole(number).and_then(Number::from_i128)
        {
            *number = whole;
        }
        let all: Vec<&Rule> = all.into_iter().flat_map(|id| &rules.nodes[id].rules).collect();
        match value {
            Value::Object(map) => self.visit_object(&all, map),
            Value::Array(list) if !all.is_empty() => {
                for (at, item) in list.iter_mut().enumerate() {
                    let ids: Vec<Id> = all.iter().filter_map(|rule| item_of(rule, at)).collect();
                    self.visit(&ids, item);
                }
            }
            _ => {}
        }
    }

    fn visit_object(&mut self, all: &[&Rule], map: &mut Map<String, Value>) {
        let of = |name: &str| -> Vec<Id> { all.iter().filter_map(|rule| field_of(rule, name)).collect() };
        map.retain(|name, value| {
            if self.task != Task::DropAbsent {
                return true;
            }
            let required = || all.iter().any(|rule| matches!(rule, Rule::Required(names) if names.contains(name)));
            !value.is_null() || required() || of(name).iter().all(|id| self.takes(*id, value))
        });
        for (name, value) in map {
            self.visit(&of(name), value);
        }
    }

    // A schema, and those it stands for.
    fn spread(&mut self, id: Id, value: &Value, all: &mut Vec<Id>) {
        let Some(node) = self.rules.nodes.get(id) else { return };
        if all.contains(&id) || !self.step() {
            return;
        }
        all.push(id);
        for rule in &node.rules {
            match rule {
                Rule::Refer(id) => self.spread(*id, value, all),
                Rule::All(ids) => ids.iter().for_each(|id| self.spread(*id, value, all)),
                Rule::Any(ids, _) | Rule::One(ids, _) => {
                    let fitting: Vec<Id> = ids.iter().copied().filter(|id| self.takes(*id, value)).collect();
                    if let [only] = fitting[..] {
                        self.spread(only, value, all);
                    }
                }
                _ => {}
            }
        }
    }

    // Whether a schema takes a value by its types and constants alone.
    fn takes(&mut self, id: Id, value: &Value) -> bool {
        let Some(node) = self.rules.nodes.get(id) else { return true };
        if !self.step() {
            return true;
        }
        let typed = !node.never && (node.types.is_empty() || node.types.iter().any(|kind| kind.fits(value)));
        typed && node.rules.iter().all(|rule| self.takes_by(rule, value))
    }

    fn takes_by(&mut self, rule: &Rule, value: &Value) -> bool {
        match rule {
            Rule::Enum(allowed) => allowed.iter().any(|one| same(one, value, &mut self.steps)),
            Rule::Const(wanted) => same(wanted, value, &mut self.steps),
            Rule::Refer(id) => self.takes(*id, value),
            Rule::All(ids) => ids.iter().all(|id| self.takes(*id, value)),
            Rule::Any(ids, _) | Rule::One(ids, _) => ids.iter().any(|id| self.takes(*id, value)),
            // A property with one allowed value tells forms apart.
            Rule::Fields(fields) => value.as_object().into_iter().flatten().all(|(name, value)| {
                let node = fields.named.get(name).and_then(|id| self.rules.nodes.get(*id));
                node.into_iter().flat_map(|node| &node.rules).all(|rule| match rule {
                    Rule::Const(wanted) => same(wanted, value, &mut self.steps),
                    _ => true,
                })
            }),
            _ => true,
        }
    }

    fn step(&mut self) -> bool {
        self.steps = self.steps.saturating_sub(1);
        self.steps > 0
    }
}

fn item_of(rule: &Rule, at: usize) -> Option<Id> {
    match rule {
        Rule::Items { first, rest } => first.get(at).copied().or(*rest),
        _ => None,
    }
}

fn field_of(rule: &Rule, name: &str) -> Option<Id> {
    match rule {
        Rule::Fields(fields) => fields.named.get(name).copied(),
        _ => None,
    }
}
