//! Published results about the algorithms [EH18 §8]: the running example, message sizes, complexity, placement.

use crate::common::{formula, logic, system, written};
use invigil_decent::algorithm::choreography::{network, split};
use invigil_decent::algorithm::{Algorithm, Monitor, MonitorSet, Outbox, hierarchy};
use invigil_decent::automaton::{Automaton, Edge};
use invigil_decent::encoding::{Encoding, Expressions, States};
use invigil_decent::memory::Atom;
use invigil_decent::metrics::{Metrics, MetricsCollector};
use invigil_decent::network::{Network, PlacedAutomaton};
use invigil_decent::simulate::{Conditions, Hooks, SimulationResult, Simulator, Trace};
use invigil_decent::system::{ComponentId, MonitorId, PropositionId, System};
use invigil_ltl::formula::{Node, Proposition};
use invigil_ltl::moore::Truth;
use invigil_test_support::{Rng, cases};

fn run<E: Encoding>(
    choice: Algorithm,
    system: &System,
    text: &str,
    trace: &Trace,
) -> (SimulationResult, Metrics) {
    let (mut logic, formula, _) = written(system, text);
    let prepared = MonitorSet::<E>::new(choice, &mut logic, formula, system).unwrap();
    let mut found = None;
    let conditions = Conditions::default();
    prepared.run(system, conditions, [trace], |outcome, figures| found = Some((outcome, figures))).unwrap();
    found.unwrap()
}

/// The light switch: `s` and `l` on different components; pressed, pressed with the light on, pressed without.
fn light() -> (System, Trace) {
    let mut system = System::default();
    let (switch, bulb) = (system.component("lswitch").unwrap(), system.component("bulb").unwrap());
    let s = system.proposition(switch, "s").unwrap();
    let l = system.proposition(bulb, "l").unwrap();
    let mut trace = Trace::new(&system);
    trace.push([&[(s, true)][..], &[(l, true)]]);
    trace.push([&[(s, true)][..], &[(l, false)]]);
    (system, trace)
}

#[test]
fn light_switch_violation_is_found_by_all_algorithms() {
    let (system, trace) = light();
    for choice in Algorithm::ALL {
        let both = [
            run::<States>(choice, &system, "G (s -> X (l U !s))", &trace).0,
            run::<Expressions>(choice, &system, "G (s -> X (l U !s))", &trace).0,
        ];
        for outcome in both {
            assert_eq!(outcome.verdict, Truth::False, "{choice}");
            assert!(outcome.rounds <= 5, "{choice}: {}", outcome.rounds);
        }
    }
}

/// Decentralized light switch: the monitor of the switch refers to the monitor of the bulb.
#[test]
fn light_switch_violation_is_found_by_a_network() {
    let (system, trace) = light();
    let edge =
        |to, cubes: &[&[(Atom, bool)]]| Edge { to, cubes: cubes.iter().map(|cube| cube.to_vec()).collect() };
    let (s, l) = (Atom::Observed(PropositionId(0)), Atom::Observed(PropositionId(1)));
    let m1 = Atom::Verdict(MonitorId(1));
    let switch = Automaton {
        initial: 0,
        verdicts: vec![Truth::Unknown, Truth::Unknown, Truth::False],
        edges: vec![
            vec![edge(0, &[&[(s, false)]]), edge(1, &[&[(s, true)]])],
            vec![
                edge(0, &[&[(s, false)]]),
                edge(1, &[&[(s, true), (m1, true)]]),
                edge(2, &[&[(s, true), (m1, false)]]),
            ],
            vec![edge(2, &[&[]])],
        ],
    };
    let bulb = Automaton {
        initial: 0,
        verdicts: vec![Truth::Unknown, Truth::True, Truth::False],
        edges: vec![
            vec![edge(1, &[&[(l, true)]]), edge(2, &[&[(l, false)]])],
            vec![edge(1, &[&[]])],
            vec![edge(2, &[&[]])],
        ],
    };
    let part = |name: &str, component: &str, automaton| PlacedAutomaton {
        name: name.into(),
        at: system.find_component(component).unwrap(),
        automaton,
    };
    let network = Network {
        monitors: vec![part("m0", "lswitch", switch), part("m1", "bulb", bulb)],
        root: MonitorId(0),
    };
    let placed = hierarchy::setup::<States>(&network).unwrap();
    let mut measures = MetricsCollector::new(&system);
    let mut simulator = Simulator::new(&system, &placed, Conditions::default());
    let outcome = simulator.run(&mut trace.replay(), &mut measures).unwrap();
    assert_eq!((outcome.verdict, outcome.verdict_origin), (Truth::False, Some((2, MonitorId(0)))));
    assert_eq!(outcome.rounds, 3);
    // Two verdicts of nine bytes each, and one `NotNeeded`.
    assert_eq!((measures.metrics().messages, measures.metrics().data), (3.0, 22.0));
}

#[test]
fn message_sizes_match_the_thesis() {
    let system = system(3, 2);
    for (value, each) in [(true, 6.0), (false, 7.0)] {
        let trace = Trace::from_fn(&system, 60, |_, _| value);
        let (_, figures) = run::<States>(Algorithm::Orchestration, &system, "G F (a0 & b0 & c0)", &trace);
        // Two components, two observations each.
        assert_eq!((figures.messages, figures.data / (2.0 * figures.messages)), (120.0, each));
    }
    let trace = Trace::from_fn(&system, 60, |_, _| true);
    let (_, figures) = run::<States>(Algorithm::Choreography, &system, "G (a0 | b0 | c0)", &trace);
    assert_eq!((figures.messages, figures.data), (120.0, 9.0 * 120.0));
    // `NotNeeded` messages of four bytes are sent only at the end.
    let trace = Trace::from_fn(&system, 60, |_, at| at < 10);
    let (outcome, figures) = run::<States>(Algorithm::Choreography, &system, "G (a0 | b0 | c0)", &trace);
    assert_eq!((outcome.verdict, outcome.rounds), (Truth::False, 11));
    assert_eq!((figures.messages, figures.data), (24.0, 9.0 * 22.0 + 4.0 * 2.0));
}

#[test]
fn split_parts_are_on_components_of_their_propositions() {
    let random = Rng::new(11);
    for case in 0..cases(2000) {
        let system = system(2 + case % 5, 2);
        let mut logic = logic();
        let size = 2 + random.below(14);
        let formula = formula(&mut logic, &system, &random, size).unwrap();
        let shares = split(&mut logic, formula, &system).unwrap();
        for share in &shares.parts {
            let mut own = 0;
            for part in logic.formulae.subformulae(share.formula) {
                let Node::Atom(atom) = logic.formulae.node(part) else { continue };
                let name = logic.formulae.proposition(*atom);
                if let Proposition::Name(name) = name {
                    own += 1;
                    assert_eq!(system.owner(system.find_proposition(name).unwrap()), share.at);
                } else {
                    assert!(shares.references.contains_key(name));
                }
            }
            assert!(own > 0 || shares.parts.len() == 1);
        }
        // Every part except the root is referred to, by parts with smaller indices first.
        let mut formulae: Vec<_> = shares.parts.iter().map(|share| share.formula).collect();
        formulae.sort_unstable();
        formulae.dedup();
        assert_eq!(formulae.len(), shares.parts.len(), "parts that are the same are one");
    }
}

#[test]
fn metrics_grow_as_in_the_thesis() {
    let all = |system: &System, text: &str| {
        let random = Rng::new(3);
        let trace = Trace::from_fn(system, 60, |_, _| random.percent(50));
        Algorithm::ALL.map(|choice| run::<States>(choice, system, text, &trace).1)
    };
    for components in 3..=6 {
        let system = system(components, 2);
        let names: Vec<String> = ('a'..='z').take(components).map(|letter| format!("{letter}0")).collect();
        let text = format!("G (({}) -> X X (a1 | !b1 | F c1))", names.join(" <-> "));
        let [orchestration, migration, robin, choreography, broadcast, abridged] = all(&system, &text);
        let others = (components - 1) as f64;
        assert!(orchestration.maximal_delay <= 1.0 && abridged.maximal_delay <= 1.0);
        assert_eq!(orchestration.messages, 60.0 * others);
        assert!(abridged.messages <= 60.0 * others && abridged.data < orchestration.data);
        for migration in [migration, robin] {
            assert!(migration.messages <= migration.rounds);
            assert!(migration.maximal_delay <= components as f64, "{components}: {migration:?}");
        }
        assert!(broadcast.maximal_delay <= 1.0);
        assert!(broadcast.messages <= broadcast.rounds * others * components as f64);
        assert!(choreography.data <= 9.0 * choreography.messages);
    }
}

#[test]
fn choreography_sends_one_message_per_reference() {
    let system = system(4, 2);
    let (mut logic, formula, _) = written(&system, "G ((a0 & a1) | (b0 & b1) | (c0 & c1) | d0)");
    let network = network(&mut logic, formula, &system).unwrap();
    let ids = (0..network.monitors.len() as u32).map(MonitorId);
    let edges: usize = ids.map(|id| network.references(id).len()).sum();
    let prepared = MonitorSet::<States>::network(&network).unwrap();
    let trace = Trace::from_fn(&system, 60, |_, _| true);
    prepared
        .run(&system, Conditions::default(), [&trace], |outcome, figures| {
            assert_eq!(outcome.rounds, 65);
            assert_eq!(figures.messages, (60 * edges) as f64);
        })
        .unwrap();
}

/// Returns the verdicts of reporting monitors for every instant.
#[derive(Default)]
struct Said(Vec<(MonitorId, u32, bool)>);

impl<M: Monitor> Hooks<M> for Said {
    fn after_monitor_step(&mut self, id: MonitorId, _: ComponentId, _: &M, out: &Outbox<M::Message>) {
        self.0.extend(out.instant_verdicts.iter().map(|(at, holds)| (id, *at, *holds)));
    }
}

#[test]
fn reporting_monitors_decide_every_instant() {
    let system = system(2, 2);
    let (mut logic, formula, _) = written(&system, "a0 & X b0");
    let mut network = network(&mut logic, formula, &system).unwrap();
    let trace = Trace::from_fn(&system, 40, |known, at| (at + known.0) % 3 == 0);
    // A further monitor that is neither needed nor reporting.
    network.monitors.push(network.monitors[1].clone());
    let placed = hierarchy::setup_reporting::<States>(&network, &[MonitorId(0)]).unwrap();
    let mut said = Said::default();
    let mut simulator = Simulator::new(&system, &placed, Conditions::default());
    let outcome = simulator.run(&mut trace.replay(), &mut said).unwrap();
    assert_eq!((outcome.verdict, outcome.rounds), (Truth::Unknown, 45));
    let [a0, b0] = ["a0", "b0"].map(|name| system.find_proposition(name).unwrap());
    let expected = (1..=40).filter_map(|at| match trace.value(a0, at)? {
        false => Some((MonitorId(0), at, false)),
        true => Some((MonitorId(0), at, trace.value(b0, at + 1)?)),
    });
    assert_eq!(said.0, expected.collect::<Vec<_>>());
}

/// Property 15b of Chiron [EH18 §8.2.4]: an artist always unregisters before the program terminates.
#[test]
fn abridged_is_not_delayed_where_choreography_is() {
    let mut system = System::default();
    for (letter, count) in [('A', 12), ('B', 6), ('C', 6), ('D', 1)] {
        let component = system.component(&letter.to_string()).unwrap();
        for number in 0..count {
            system.proposition(component, &format!("{}{number}", letter.to_ascii_lowercase())).unwrap();
        }
    }
    let text = "(b2 -> (!d0 U b4)) U (d0 | G !d0)";
    let [b2, b4, d0] = ["b2", "b4", "d0"].map(|name| system.find_proposition(name).unwrap());
    let trace = Trace::from_fn(&system, 279, |known, at| match known {
        _ if known == b2 => at % 50 == 10,
        _ if known == b4 => at == 270,
        _ if known == d0 => at == 279,
        other => (at + other.0) % 7 == 0,
    });
    let (_, choreography) = run::<States>(Algorithm::Choreography, &system, text, &trace);
    let (outcome, abridged) = run::<States>(Algorithm::Abridged, &system, text, &trace);
    assert_eq!(outcome.verdict, Truth::True);
    assert!(choreography.maximal_delay > 100.0, "{choreography:?}");
    assert_eq!(abridged.maximal_delay, 1.0);
    assert!(abridged.messages <= choreography.messages && abridged.data < choreography.data / 1.5);
}
