//! Laws of every debugger.

use crate::debugger::graph::{Ask, Graph, any_graph};
use invigil_explore::breakpoint_search::Breakpoint;
use invigil_explore::debugger::{
    DebugAction, DebugConfig, Debugger, History, Multiverse, NoHistory, Omniscient,
};
use invigil_semantics::Semantics;
use proptest::prelude::*;
use std::collections::BTreeSet;

fn reachable(graph: &Graph) -> Vec<u8> {
    let mut seen: Vec<u8> = graph.initial.clone();
    let mut at = 0;
    while at < seen.len() {
        let config = seen[at];
        for (_, target) in graph.steps(&config) {
            if !seen.contains(&target) {
                seen.push(target);
            }
        }
        at += 1;
    }
    seen
}

fn debugger<'a, H: History<u8, char>>(graph: &'a Graph, at: u8) -> Debugger<'a, Graph, H> {
    let mut debugger = Debugger::new(graph);
    debugger.breakpoints.push(Breakpoint::condition(Ask::At(at)));
    debugger
}

/// Takes the actions selected by the numbers, checks the invariants of every configuration, and returns the
/// configurations.
fn walk<H: History<u8, char>>(
    graph: &Graph,
    stop: u8,
    choices: &[u8],
    jumps: bool,
) -> Result<Vec<DebugConfig<u8, char, H>>, TestCaseError> {
    let debugger = debugger::<H>(graph, stop);
    let reachable = reachable(graph);
    let mut seen = vec![debugger.initial_config()];
    for choice in choices {
        let at = seen.last().unwrap().clone();
        let acts: Vec<_> = debugger.actions(&at).into_iter().collect();
        let acts: Vec<_> =
            acts.into_iter().filter(|act| jumps || !matches!(act, DebugAction::Jump(_))).collect();
        let act = &acts[usize::from(*choice) % acts.len()];
        let next: Vec<_> = debugger.execute(&at, act).into_iter().collect();
        prop_assert!(next.len() <= 1, "a debugger is deterministic");
        let Some(next) = next.into_iter().next() else { continue };
        prop_assert!(next.current.is_some() == next.options.is_empty(), "one of both is there");
        prop_assert!(next.current.iter().chain(&next.options).all(|config| reachable.contains(config)));
        prop_assert!(next.history.entries().all(|at| reachable.contains(next.history.config(at).unwrap())));
        seen.push(next);
    }
    Ok(seen)
}

/// The specification of the debugger: its history is a set.
#[derive(Clone)]
struct Specified {
    current: Option<u8>,
    history: BTreeSet<u8>,
    options: Vec<u8>,
}

impl Specified {
    fn execute(
        &self,
        graph: &Graph,
        act: &DebugAction<u8, char>,
        place: Option<u8>,
        witness: &[u8],
    ) -> Option<Specified> {
        let standing = |current: u8, seen: &[u8]| Specified {
            current: Some(current),
            history: self.history.iter().chain(seen).copied().collect(),
            options: Vec::new(),
        };
        match act {
            DebugAction::Step(action) => {
                let options: Vec<u8> = graph.execute(&self.current?, action).into_iter().collect();
                let history = self.history.clone();
                (!options.is_empty()).then_some(Specified { current: None, history, options })
            }
            DebugAction::Select(config) => {
                self.options.contains(config).then(|| standing(*config, &[*config]))
            }
            DebugAction::Jump(_) => {
                place.filter(|config| self.history.contains(config)).map(|at| standing(at, &[at]))
            }
            DebugAction::Run => witness.last().map(|last| standing(*last, witness)),
        }
    }
}

proptest! {
    /// The tree of universes refines the set of the specification: same offers, same effects.
    #[test]
    fn multiverse_debugger_matches_specification(graph in any_graph(7), stop in 0..7_u8, choices in proptest::collection::vec(0..255_u8, 0..30)) {
        let debugger = debugger::<Multiverse<u8, char>>(&graph, stop);
        let mut at = debugger.initial_config();
        let mut specified = Specified { current: None, history: BTreeSet::new(), options: graph.initial.clone() };
        for choice in choices {
            let acts: Vec<_> = debugger.actions(&at).into_iter().collect();
            let act = &acts[usize::from(choice) % acts.len()];
            let place = if let DebugAction::Jump(place) = act { at.history.config(*place).copied() } else { None };
            let found = debugger.find(&at, &debugger.finder());
            let witness = found.witnesses.first().map_or(Vec::new(), |witness| {
                let execution = &witness.execution;
                (0..=execution.len()).filter_map(|after| execution.config(after).copied()).collect()
            });
            let next = debugger.act(&at, act);
            let expected = specified.execute(&graph, act, place, &witness);
            prop_assert_eq!(next.is_some(), expected.is_some());
            let (Some(next), Some(expected)) = (next, expected) else { continue };
            (at, specified) = (next, expected);
            prop_assert_eq!((at.current, &at.options), (specified.current, &specified.options));
            let seen = at.history.entries().filter_map(|place| at.history.config(place).copied());
            prop_assert_eq!(seen.collect::<BTreeSet<u8>>(), specified.history.clone());
        }
    }

    #[test]
    fn debugger_reaches_only_configurations_of_subject(graph in any_graph(7), stop in 0..7_u8, choices in proptest::collection::vec(0..255_u8, 0..30)) {
        walk::<NoHistory>(&graph, stop, &choices, true)?;
        walk::<Omniscient<u8, char>>(&graph, stop, &choices, true)?;
        walk::<Multiverse<u8, char>>(&graph, stop, &choices, true)?;
    }

    #[test]
    fn histories_agree_without_jumps(graph in any_graph(7), stop in 0..7_u8, choices in proptest::collection::vec(0..255_u8, 0..30)) {
        let traceless = walk::<NoHistory>(&graph, stop, &choices, false)?;
        let omniscient = walk::<Omniscient<u8, char>>(&graph, stop, &choices, false)?;
        let multiverse = walk::<Multiverse<u8, char>>(&graph, stop, &choices, false)?;
        prop_assert_eq!(traceless.len(), omniscient.len());
        prop_assert_eq!(traceless.len(), multiverse.len());
        for ((t, o), m) in traceless.iter().zip(&omniscient).zip(&multiverse) {
            prop_assert_eq!((&t.current, &t.options), (&o.current, &o.options));
            prop_assert_eq!((&t.current, &t.options), (&m.current, &m.options));
            // Without jumps, the tree has one universe, the path.
            let path: Vec<_> = m.history.entries().map(|place| m.history.config(place)).collect();
            let line: Vec<_> = o.history.entries().map(|place| o.history.config(place)).collect();
            prop_assert_eq!(path, line);
        }
    }

    /// Every recorded step is a step of the subject.
    #[test]
    fn every_universe_is_an_execution_of_the_subject(graph in any_graph(7), stop in 0..7_u8, choices in proptest::collection::vec(0..255_u8, 0..30)) {
        for at in walk::<Multiverse<u8, char>>(&graph, stop, &choices, true)? {
            for place in at.history.entries() {
                let visit = at.history.visit(place).unwrap();
                match (at.history.parent(place), visit.by) {
                    (None, None) => prop_assert!(graph.initial.contains(&visit.config)),
                    (Some(parent), Some(by)) => {
                        let before = at.history.config(parent).unwrap();
                        prop_assert!(graph.execute(before, &by).into_iter().any(|c| c == visit.config));
                    }
                    other => prop_assert!(false, "{:?}", other),
                }
            }
            // The current configuration is that of the current history entry.
            if let Some(current) = at.current {
                prop_assert_eq!(at.history.at().and_then(|place| at.history.config(place)), Some(&current));
            }
        }
    }
}
