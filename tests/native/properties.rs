//! Whatever is registered and whatever a model makes of it: each call has one result, a tool runs where its definition
//! says and nowhere else, and none runs that was not offered.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use pagehand::agent::{Decision, Input};
use pagehand::protocol::{Entry, FinishReason, Job, ModelEvent, Outcome, Risk, Scope, ToolError};
use pagehand::tools::{Alias, Approval, Definition, Facts, Members, Registry, Toolset};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::support::loop_driver::{Loop, OSLO};
use crate::support::tools::{executed, tool};

const NAMES: [&str; 8] =
    ["alpha_tool", "beta_tool", "gamma_tool", "delta_tool", "old_alpha", "old_beta", "constructor", "made_up"];

#[derive(Clone, Debug)]
struct Made {
    scope: bool,
    risk: u8,
    approval: u8,
    hidden: u8,
    alias: u8,
    long_running: bool,
}

#[derive(Clone, Debug)]
enum Act {
    /// The model calls these, by their place in `NAMES`, with good arguments or bad.
    Step(Vec<(usize, u8)>),
    /// The n-th call that runs comes to this.
    Outcome(usize, u8),
    Approve(bool),
    Facts(bool),
    Stop,
    User,
    Reload,
}

fn made() -> impl Strategy<Value = Made> {
    (any::<bool>(), 0u8..3, 0u8..3, 0u8..4, 0u8..3, any::<bool>()).prop_map(
        |(scope, risk, approval, hidden, alias, long_running)| Made {
            scope,
            risk,
            approval,
            hidden,
            alias,
            long_running,
        },
    )
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        4 => prop::collection::vec((0..NAMES.len(), 0u8..6), 0..5).prop_map(Act::Step),
        5 => (0usize..6, 0u8..6).prop_map(|(at, what)| Act::Outcome(at, what)),
        2 => any::<bool>().prop_map(Act::Approve),
        1 => any::<bool>().prop_map(Act::Facts),
        1 => Just(Act::Stop),
        2 => Just(Act::User),
        1 => Just(Act::Reload),
    ]
}

fn definition(at: usize, made: &Made) -> Definition {
    let scope = if made.scope { Scope::Browser } else { Scope::Server };
    let risk = [Risk::Read, Risk::Write, Risk::Irreversible][usize::from(made.risk)];
    let name = if at == 4 { "constructor" } else { NAMES[at] };
    let mut definition = tool(name, scope, risk);
    definition.approval = match made.approval {
        1 => Approval::Always,
        2 if risk != Risk::Irreversible => Approval::Tool,
        _ => Approval::Risk,
    };
    match made.hidden {
        1 => definition.profiles = vec!["others".to_owned()],
        2 => drop(definition.requires.insert("role".to_owned(), vec![json!("admin")])),
        _ => {}
    }
    if at < 2 && made.alias > 0 {
        definition.aliases = vec![Alias { name: NAMES[at + 4].to_owned(), offered: made.alias == 2 }];
    }
    definition.long_running = made.long_running;
    definition
}

fn register(made: &[Made]) -> Arc<Registry> {
    let mut registry = Registry::default();
    let mut grouped = Vec::new();
    for (at, made) in made.iter().enumerate() {
        let registration = executed(definition(at, made));
        if made.hidden == 3 { grouped.push(registration) } else { registry.register(vec![registration]).unwrap() }
    }
    let resolve = |facts: &Facts| if facts.contains("role") { Members::All } else { Members::Only(Vec::new()) };
    let toolset = Toolset { name: "group".to_owned(), owner: "tests".to_owned(), resolve: Box::new(resolve) };
    registry.register_toolset(toolset, grouped).unwrap();
    Arc::new(registry)
}

fn outcome(what: u8) -> Outcome {
    match what {
        0 => Outcome::Error(ToolError::new("tool_error", "It broke.")),
        1 => Outcome::NeedsApproval { reason: "Really?".to_owned(), payload: Value::Null },
        2 => Outcome::Interim(Job { id: "j".to_owned(), state: Value::Null }),
        3 => Outcome::Result(json!("x".repeat(60_000))),
        _ => Outcome::Result(json!({ "fine": true })),
    }
}

fn perform(world: &mut Loop, registry: &Arc<Registry>, act: Act) {
    match act {
        Act::User => world.user("Hello."),
        Act::Stop => world.stop(),
        Act::Reload => {
            world.reload();
            world.tools(Arc::clone(registry));
        }
        Act::Facts(admin) => {
            let facts = if admin { json!({ "role": "admin" }) } else { json!({}) };
            world.give(Input::Facts(pagehand::protocol::delta_from_json(&facts)));
        }
        Act::Approve(yes) => {
            for call in calls_of(world) {
                let decision = if yes {
                    Decision::Approve { arguments: None, payload: Value::Null }
                } else {
                    Decision::Deny { reason: None }
                };
                world.give(Input::Decision { call, decision });
            }
        }
        Act::Outcome(at, what) => {
            let calls = calls_of(world);
            if let Some(call) = calls.get(calls.len().wrapping_sub(at + 1)).cloned() {
                world.outcome(&call, outcome(what));
            }
        }
        Act::Step(calls) => {
            for (slot, (name, kind)) in calls.into_iter().enumerate() {
                let id = (kind % 3 > 0).then(|| format!("{name}{kind}"));
                world.model(ModelEvent::CallStart { slot, id, name: NAMES[name].to_owned() });
                let arguments = match kind {
                    0 => "{",
                    1 => "[]",
                    _ => OSLO,
                };
                world.model(ModelEvent::CallDelta { slot, text: arguments.to_owned() });
            }
            world.model(ModelEvent::Finish(FinishReason::Calls));
        }
    }
}

fn calls_of(world: &Loop) -> Vec<pagehand::protocol::ToolCallId> {
    let found = world.journal.iter().filter_map(|entry| match entry {
        Entry::Message(answer) => Some(answer.calls().map(|call| call.id.clone()).collect::<Vec<_>>()),
        _ => None,
    });
    found.flatten().collect()
}

/// Read back from the record and from what was asked to run.
fn check(world: &Loop, registry: &Registry) {
    let mut names = BTreeMap::new();
    let mut offered: BTreeSet<String> = BTreeSet::new();
    for entry in &world.journal {
        match entry {
            Entry::StepStart { tools, .. } => {
                offered = tools.iter().map(|tag| tag.split('@').next().unwrap().to_owned()).collect();
            }
            Entry::Message(answer) => names.extend(answer.calls().map(|call| (call.id.clone(), call.name.clone()))),
            Entry::CallStart { call, scope, .. } => {
                let tool = registry.find(&names[call]).expect("only what is registered runs");
                assert_eq!(tool.scope, *scope, "{} ran elsewhere than it says", tool.name);
                assert!(offered.contains(&tool.name), "{} ran and was not offered", tool.name);
            }
            _ => {}
        }
    }
    for request in &world.started {
        let declared = registry.get(&request.name).expect("only what is registered runs").scope;
        assert_eq!(request.scope, declared, "{}", request.name);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..Default::default() })]

    #[test]
    fn a_tool_runs_where_it_says_and_only_where_it_was_offered(
        made in prop::collection::vec(made(), 5),
        acts in prop::collection::vec(act(), 1..24),
    ) {
        let registry = register(&made);
        let mut world = Loop::new();
        world.tools(Arc::clone(&registry));
        world.user("Hello.");
        for act in acts {
            perform(&mut world, &registry, act);
        }
        check(&world, &registry);
    }
}
