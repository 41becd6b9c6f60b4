//! Splitting one formula over many components.

use crate::specification_common::system;
use invigil_decent::algorithm::choreography;
use invigil_decent::spec::equivalence::Comparison;
use invigil_decent::spec::split::{Goal, Split, SplitError, split};
use invigil_decent::system::System;
use invigil_ltl::syntax::SyntaxTree;
use invigil_ltl::{Budget, Logic, TooLarge};
use std::time::{Duration, Instant};

fn made(formula: &str, system: &System, goal: Goal) -> Split {
    let budget = Budget { nodes: 1 << 18, ..Budget::default() };
    split(&SyntaxTree::parse(formula).unwrap(), system, goal, budget)
        .unwrap_or_else(|refusal| panic!("{refusal}: {formula}"))
}

fn shown(split: &Split) -> Vec<String> {
    let specification = &split.specification;
    let monitor = |id| {
        let at = specification.monitor(id).at.unwrap();
        let invigil_decent::spec::MonitorBody::Formula(tree) = &specification.monitor(id).body else {
            panic!()
        };
        format!("{} @ {} = {tree}", specification.name(id), specification.system.component_name(at))
    };
    specification.monitors().map(monitor).collect()
}

/// Rooms with a switch and a light, each a component of its own, all linked to a house.
fn rooms(count: usize) -> (System, String) {
    let mut system = System::default();
    let mut formula = Vec::new();
    for room in 0..count {
        let switch = system.component(&format!("switch{room}")).unwrap();
        let bulb = system.component(&format!("bulb{room}")).unwrap();
        system.proposition(switch, &format!("s{room}")).unwrap();
        system.proposition(bulb, &format!("l{room}")).unwrap();
        formula.push(format!("G(s{room} -> X(l{room} U !s{room}))"));
    }
    (system, formula.join(" & "))
}

/// `sc_ok` of [EH18 §9], for which no monitor was synthesized for three rooms within an hour.
#[test]
fn light_switches_of_many_rooms_split_within_budget() {
    for goal in [Goal::Messages, Goal::Delay] {
        for count in [1, 2, 3, 8, 16] {
            let (system, formula) = rooms(count);
            let begin = Instant::now();
            let split = made(&formula, &system, goal);
            let time = begin.elapsed();
            println!(
                "{count} rooms: {} monitors in {time:.1?}, {:?}",
                split.network.monitors.len(),
                split.cost
            );
            let largest = split.network.monitors.iter().map(|part| part.automaton.verdicts.len()).max();
            if goal == Goal::Messages {
                assert_eq!(split.cost.messages as usize, 2 * count - 1);
                assert!(largest <= Some(4), "{:#?}", shown(&split));
            }
            assert!(largest <= Some(1 << 10), "{:#?}", shown(&split));
            assert!(time < Duration::from_secs(5));
        }
    }
}

#[test]
fn local_operands_stay_together() {
    let system = system("a: p q, b: r s");
    let formula = "G((p & F<=1 q) -> (F<=3 r & F<=2 s))";
    let split = made(formula, &system, Goal::Messages);
    assert_eq!(split.cost.messages, 1, "{:#?}", shown(&split));
    assert!(split.cost.delay > 1);
    assert_eq!(shown(&split).len(), 2);
    // No delay: observations are sent immediately.
    let split = made(formula, &system, Goal::Delay);
    assert_eq!((split.cost.messages, split.cost.delay), (2, 1), "{:#?}", shown(&split));
    assert_eq!(split.comparison, Some(Comparison::Same));
}

#[test]
fn unbounded_subformulae_stay_below_temporal_operators() {
    let split = made("G(p -> (r U s))", &system("a: p, b: r s"), Goal::Messages);
    let shown = shown(&split);
    assert!(shown.iter().all(|monitor| !monitor.contains("r U s") || monitor.contains('p')), "{shown:#?}");
    assert_eq!(split.comparison, Some(Comparison::Same));
}

#[test]
fn links_determine_the_host_of_a_split() {
    let mut star = system("a: p, b: q, hub:");
    let [a, b, hub] = ["a", "b", "hub"].map(|name| star.find_component(name).unwrap());
    star.link(a, hub);
    star.link(b, hub);
    let split = made("G(p -> X q)", &star, Goal::Messages);
    let root = split.specification.root.unwrap();
    assert_eq!(split.network.monitor(root).at, hub);
    assert_eq!((split.cost.messages, split.cost.delay), (2, 1));
    // Two links take two instants.
    star.link(hub, a);
    let split = made("G(p -> X q)", &star, Goal::Messages);
    assert_eq!((split.cost.messages, split.cost.delay), (1, 2));
    let split = made("G(p -> X q)", &star, Goal::Delay);
    assert_eq!((split.cost.messages, split.cost.delay), (2, 1));
}

#[test]
fn unsplittable_formulae_are_rejected() {
    let refused = |formula: &str, system: &System| {
        let formula = SyntaxTree::parse(formula).unwrap();
        split(&formula, system, Goal::Messages, Budget::default()).unwrap_err()
    };
    let two = system("a: p, b: q");
    assert_eq!(refused("G(p -> x)", &two), SplitError::Unknown("x".to_owned()));
    assert_eq!(refused("G(p -> @m)", &two), SplitError::Unknown("@m".to_owned()));
    assert_eq!(refused("G F p", &two), SplitError::NotMonitorable);
    assert_eq!(refused("true", &System::default()), SplitError::NoComponents);
    let mut apart = system("a: p, b: q");
    let a = apart.find_component("a").unwrap();
    apart.link(a, a);
    assert_eq!(refused("F(p & q)", &apart), SplitError::NoPlacement);
}

/// An exceeded limit is not an internal error; the message contains the remedy.
#[test]
fn exceeded_limit_is_reported_as_such() {
    let two = system("a: p q, b: r");
    let refused = |formula: &str, budget: Budget| {
        split(&SyntaxTree::parse(formula).unwrap(), &two, Goal::Messages, budget).unwrap_err()
    };
    // All propositions are on one component, so nothing can be split.
    let states = refused("F(p & X[8] q)", Budget { states: 100, ..Budget::default() });
    assert_eq!(states, SplitError::TooLarge(TooLarge { resource: "states of a monitor", limit: 100 }));
    let words = states.to_string();
    assert!(
        words.starts_with(
            "too large: more than 100 states of a monitor: write the formula as several monitors"
        ),
        "{words}"
    );
    let formulae = refused("F(p & X[80] r)", Budget { formulae: 50, ..Budget::default() });
    assert_eq!(formulae, SplitError::TooLarge(TooLarge { resource: "subformulae", limit: 50 }));
}

#[test]
fn too_large_choreography_is_rejected_with_remedy() {
    let two = system("a: p q, b: r");
    let mut logic = Logic::new(Budget { states: 100, ..Budget::default() });
    let formula = logic.parse("F(p & X[8] q) & F r").unwrap();
    let refused = choreography::network(&mut logic, formula, &two).unwrap_err();
    let words = refused.to_string();
    assert!(
        words.starts_with("too large: more than 100 states of a monitor: split it into a specification"),
        "{words}"
    );
}
