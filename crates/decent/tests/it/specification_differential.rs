//! Random specifications: reference semantics, flattened automaton and formulae agree.

use crate::specification_common::{network, random_formula, random_trace, system};
use invigil_decent::spec::equivalence::Comparison;
use invigil_decent::spec::flatten::flatten;
use invigil_decent::spec::monitorability::Monitorability;
use invigil_decent::spec::reference::verdict;
use invigil_decent::spec::split::{Goal, Split, SplitError, split};
use invigil_decent::spec::{MonitorBody, Specification};
use invigil_decent::system::{PropositionId, System};
use invigil_ltl::formula::Proposition;
use invigil_ltl::moore::{Moore, Truth};
use invigil_ltl::syntax::SyntaxTree;
use invigil_ltl::{Budget, Logic};
use invigil_test_support::{Rng, at_least, cases};

const SYSTEM: &str = "a: p q, b: r, c: s t";

fn names(system: &System, component: usize) -> Vec<String> {
    let of = |at: &PropositionId| system.owner(*at).index() == component;
    system.propositions().filter(of).map(|at| system.proposition_name(at).to_owned()).collect()
}

/// Monitors on random components that refer to earlier ones, or with cycles to any.
fn random(random: &Rng, bounded: bool, circles: bool) -> Specification {
    let mut specification = Specification::new(system(SYSTEM));
    let count = 2 + random.below(3);
    for at in 0..count {
        let component = random.below(3);
        let mut names = names(&specification.system, component);
        let others = (0..if circles { count } else { at }).filter(|other| *other != at);
        names.extend(others.map(|other| format!("@m{other}")));
        let formula = SyntaxTree::parse(&random_formula(random, &names, 3, bounded)).unwrap();
        specification.root = specification.add(&format!("m{at}"), MonitorBody::Formula(formula), None).ok();
    }
    specification
}

/// Verdicts of an automaton after each prefix of a trace.
fn said(
    logic: &Logic,
    system: &System,
    machine: &Moore<Truth>,
    trace: &[Vec<(PropositionId, bool)>],
) -> Vec<Truth> {
    let mut state = machine.initial;
    let step = |seen: &Vec<(PropositionId, bool)>| {
        let holds = |name: &Proposition| matches!(name, Proposition::Name(name) if seen.iter().any(|(at, value)| *value && system.proposition_name(*at) == name));
        let letter = logic.formulae.atoms().filter(|(_, name)| holds(name)).map(|(atom, _)| atom).collect();
        state = machine.next(&logic.labels, state, &letter);
        *machine.output(state)
    };
    trace.iter().map(step).collect()
}

#[test]
fn flattened_automaton_agrees_with_reference_semantics() {
    let chance = Rng::new(0x5eed_0001);
    let (mut decided, mut earlier) = (0, 0);
    for round in 0..cases(400) {
        let (bounded, circles) = (round % 2 == 0, round % 4 >= 2);
        let specification = random(&chance, bounded, circles);
        let network = network(&specification);
        let mut logic = Logic::new(Budget { nodes: 1 << 16, ..Budget::default() });
        let Ok(machine) = flatten(&mut logic, &specification.system, &network, network.root) else {
            continue;
        };
        for _ in 0..4 {
            let trace = random_trace(&chance, &specification.system, 9);
            for (at, flat) in said(&logic, &specification.system, &machine, &trace).into_iter().enumerate() {
                let plain = verdict(&network, &trace[..=at]);
                if plain == flat {
                    decided += usize::from(flat != Truth::Unknown);
                    continue;
                }
                // The flattened automaton may know more, since it sees that two undecided runs have the same future.
                assert_eq!(plain, Truth::Unknown, "{specification:?} {trace:?}");
                earlier += 1;
            }
        }
    }
    assert!(decided > at_least(4000) && earlier < decided / 10, "{decided} {earlier}");
}

/// Every proposition of a random formula belongs to a system whose links may or may not allow a split.
fn random_system(random: &Rng) -> System {
    let mut system = system(SYSTEM);
    if random.below(2) == 0 {
        let components: Vec<_> = system.components().collect();
        for at in 0..components.len() {
            let next = components[(at + 1) % components.len()];
            system.link(components[at], next);
            if random.below(2) == 0 {
                system.link(next, components[at]);
            }
        }
    }
    system
}

fn check_split(formula: &SyntaxTree, system: &System, made: &Split, random: &Rng) {
    let shown = || format!("{formula}: {:?} {:?}", made.specification, made.comparison);
    assert!(!matches!(made.comparison, Some(Comparison::Different(_)) | None), "{}", shown());
    assert!(!matches!(made.monitorability, Monitorability::NotMonitorable { .. }), "{}", shown());
    assert!(!made.network.is_cyclic());
    let mut logic = Logic::new(Budget { nodes: 1 << 16, ..Budget::default() });
    let whole = logic.formulae.lower(formula).unwrap();
    let machine = logic.monitor(whole).unwrap();
    let trace = random_trace(random, system, 12);
    for (at, exact) in said(&logic, system, &machine, &trace).into_iter().enumerate() {
        let plain = verdict(&made.network, &trace[..=at]);
        assert!(plain == exact || plain == Truth::Unknown, "{} {trace:?}", shown());
    }
}

#[test]
fn splits_of_random_formulae_are_equivalent() {
    let chance = Rng::new(0x5eed_0002);
    let (mut made, mut blind, mut slower) = (0, 0, 0);
    for round in 0..cases(300) {
        let system = random_system(&chance);
        let names: Vec<String> =
            system.propositions().map(|at| system.proposition_name(at).to_owned()).collect();
        let text = random_formula(&chance, &names, 4, round % 3 == 0);
        let formula = SyntaxTree::parse(&text).unwrap();
        let goal = if round % 2 == 0 { Goal::Messages } else { Goal::Delay };
        match split(&formula, &system, goal, Budget { nodes: 1 << 16, ..Budget::default() }) {
            Ok(split) => {
                made += 1;
                slower += usize::from(matches!(split.comparison, Some(Comparison::OneIsSlower(_))));
                check_split(&formula, &system, &split, &chance);
            }
            Err(SplitError::NotMonitorable) => blind += 1,
            Err(refusal) => panic!("{refusal}: {text}"),
        }
    }
    println!("{made} made, {slower} of them slower than the exact monitor, {blind} not monitorable");
    assert!(made > at_least(200) && slower < made / 3);
}
