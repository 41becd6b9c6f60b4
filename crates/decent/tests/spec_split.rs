//! Splitting one formula over many components.

mod spec_common;

use invigil_decent::algorithm::choreography;
use invigil_decent::spec::equivalent::Comparison;
use invigil_decent::spec::split::{Goal, Refusal, Split, split};
use invigil_decent::system::System;
use invigil_ltl::syntax::Tree;
use invigil_ltl::{Budget, Logic, TooLarge};
use spec_common::system;
use std::time::{Duration, Instant};

fn made(formula: &str, system: &System, goal: Goal) -> Split {
    let budget = Budget { nodes: 1 << 18, ..Budget::default() };
    split(&Tree::parse(formula).unwrap(), system, goal, budget)
        .unwrap_or_else(|refusal| panic!("{refusal}: {formula}"))
}

fn shown(split: &Split) -> Vec<String> {
    let specification = &split.specification;
    let monitor = |id| {
        let at = specification.monitor(id).at.unwrap();
        let invigil_decent::spec::Body::Formula(tree) = &specification.monitor(id).body else { panic!() };
        format!("{} @ {} = {tree}", specification.name(id), specification.system.component_name(at))
    };
    specification.monitors().map(monitor).collect()
}

/// Rooms with a switch and a light, each a component of its own, that all talk to a house.
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

/// The document's `sc_ok`: nobody made a monitor for three rooms within an hour.
#[test]
fn light_switches_of_many_rooms() {
    for goal in [Goal::Messages, Goal::Delay] {
        for count in [1, 2, 3, 8, 16] {
            let (system, formula) = rooms(count);
            let begin = Instant::now();
            let split = made(&formula, &system, goal);
            let time = begin.elapsed();
            println!("{count} rooms: {} monitors in {time:.1?}, {:?}", split.network.parts.len(), split.cost);
            let largest = split.network.parts.iter().map(|part| part.automaton.verdicts.len()).max();
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
fn what_is_local_stays_together_to_save_messages() {
    let system = system("a: p q, b: r s");
    let formula = "G((p & F<=1 q) -> (F<=3 r & F<=2 s))";
    let split = made(formula, &system, Goal::Messages);
    assert_eq!(split.cost.messages, 1, "{:#?}", shown(&split));
    assert!(split.cost.delay > 1);
    assert_eq!(shown(&split).len(), 2);
    // Without delay: what is observed is told at once.
    let split = made(formula, &system, Goal::Delay);
    assert_eq!((split.cost.messages, split.cost.delay), (2, 1), "{:#?}", shown(&split));
    assert_eq!(split.comparison, Some(Comparison::Same));
}

#[test]
fn what_may_take_for_ever_is_not_moved_below_temporal_operators() {
    let split = made("G(p -> (r U s))", &system("a: p, b: r s"), Goal::Messages);
    let shown = shown(&split);
    assert!(shown.iter().all(|monitor| !monitor.contains("r U s") || monitor.contains('p')), "{shown:#?}");
    assert_eq!(split.comparison, Some(Comparison::Same));
}

#[test]
fn links_decide_where_things_come_together() {
    let mut star = system("a: p, b: q, hub:");
    let [a, b, hub] = ["a", "b", "hub"].map(|name| star.find_component(name).unwrap());
    star.link(a, hub);
    star.link(b, hub);
    let split = made("G(p -> X q)", &star, Goal::Messages);
    let root = split.specification.root.unwrap();
    assert_eq!(split.network.part(root).at, hub);
    assert_eq!((split.cost.messages, split.cost.delay), (2, 1));
    // Over two links it takes two instants.
    star.link(hub, a);
    let split = made("G(p -> X q)", &star, Goal::Messages);
    assert_eq!((split.cost.messages, split.cost.delay), (1, 2));
    let split = made("G(p -> X q)", &star, Goal::Delay);
    assert_eq!((split.cost.messages, split.cost.delay), (2, 1));
}

#[test]
fn what_cannot_be_split_is_refused() {
    let refused = |formula: &str, system: &System| {
        let formula = Tree::parse(formula).unwrap();
        split(&formula, system, Goal::Messages, Budget::default()).unwrap_err()
    };
    let two = system("a: p, b: q");
    assert_eq!(refused("G(p -> x)", &two), Refusal::Unknown("x".to_owned()));
    assert_eq!(refused("G(p -> @m)", &two), Refusal::Unknown("@m".to_owned()));
    assert_eq!(refused("G F p", &two), Refusal::Blind);
    assert_eq!(refused("true", &System::default()), Refusal::NoComponents);
    let mut apart = system("a: p, b: q");
    let a = apart.find_component("a").unwrap();
    apart.link(a, a);
    assert_eq!(refused("F(p & q)", &apart), Refusal::NoWay);
}

/// What is too large is no bug: the words say so, and what to do.
#[test]
fn what_is_too_large_is_told_as_such() {
    let two = system("a: p q, b: r");
    let refused = |formula: &str, budget: Budget| {
        split(&Tree::parse(formula).unwrap(), &two, Goal::Messages, budget).unwrap_err()
    };
    // All of it is on one component, so there is nothing to split.
    let states = refused("F(p & X[8] q)", Budget { states: 100, ..Budget::default() });
    assert_eq!(states, Refusal::TooLarge(TooLarge { what: "states of a monitor", limit: 100 }));
    let words = states.to_string();
    assert!(
        words.starts_with("too large: more than 100 states of a monitor: write the formula as monitors"),
        "{words}"
    );
    let formulae = refused("F(p & X[80] r)", Budget { formulae: 50, ..Budget::default() });
    assert_eq!(formulae, Refusal::TooLarge(TooLarge { what: "subformulae", limit: 50 }));
}

#[test]
fn choreography_says_what_to_do_about_what_is_too_large() {
    let two = system("a: p q, b: r");
    let mut logic = Logic::new(Budget { states: 100, ..Budget::default() });
    let formula = logic.parse("F(p & X[8] q) & F r").unwrap();
    let refused = choreography::network(&mut logic, formula, &two).unwrap_err();
    let words = refused.to_string();
    assert!(
        words.starts_with(
            "too large: more than 100 states of a monitor: write the formula as a specification"
        ),
        "{words}"
    );
}
