//! Compares the finder with the composition of operators that defines it.

use crate::debugger::graph::{Ask, Graph, any_graph, replays};
use invigil_explore::breakpoint_search::{Breakpoint, BreakpointFinder};
use invigil_explore::{Incomplete, Limits};
use invigil_semantics::{Accepting, Breakpoint as StepBreakpoint, Compose, Semantics};
use proptest::prelude::*;
use std::collections::{BTreeMap, HashSet};

/// The configurations in which the product of graph and breakpoint accepts, with their least number of steps.
fn by_operators(graph: &Graph, starts: &[u8], ask: &Ask) -> BTreeMap<u8, usize> {
    let product = graph.starting_in(starts.to_vec()).product(StepBreakpoint { condition: ask.clone() });
    let mut level: Vec<_> = product.initial().into_iter().collect();
    let mut seen: HashSet<_> = level.iter().copied().collect();
    let (mut hits, mut depth) = (BTreeMap::new(), 0);
    while !level.is_empty() {
        for at in level.iter().filter(|at| product.is_accepting(at)) {
            hits.entry(at.0).or_insert(depth);
        }
        let next: Vec<_> = level.iter().flat_map(|at| product.steps(at)).map(|(_, target)| target).collect();
        level = next.into_iter().filter(|target| seen.insert(*target)).collect();
        depth += 1;
    }
    hits
}

fn any_ask() -> impl Strategy<Value = Ask> {
    prop_oneof![
        (0..8_u8).prop_map(Ask::At),
        (0..3_u8).prop_map(|action| Ask::By(char::from(b'a' + action))),
        (0..8_u8, 0..8_u8).prop_map(|(source, target)| Ask::From(source, target)),
        Just(Ask::Odd),
        (0..8_u8).prop_map(Ask::Unknown),
    ]
}

proptest! {
    #[test]
    fn finder_agrees_with_operator_composition(graph in any_graph(8), ask in any_ask()) {
        let expected = by_operators(&graph, &graph.initial, &ask);
        let finder = BreakpointFinder { max_witnesses: usize::MAX, ..BreakpointFinder::new(&graph) };
        for found in [
            finder.run(&graph.initial, &[Breakpoint::condition(ask.clone())]),
            finder.find(&graph.initial, &StepBreakpoint { condition: ask.clone() }),
            finder.run(&graph.initial, &[Breakpoint::property(StepBreakpoint { condition: ask.clone() })]),
        ] {
            prop_assert!(found.is_exhaustive());
            prop_assert!(found.witnesses.iter().all(|witness| replays(&graph, &witness.execution)));
            let ends = found.witnesses.iter().map(|w| (*w.execution.last(), w.execution.len()));
            prop_assert_eq!(ends.collect::<BTreeMap<_, _>>(), expected.clone());
            prop_assert!(found.witnesses.is_sorted_by_key(|witness| witness.execution.len()));
        }
        let first = BreakpointFinder::new(&graph).run(&graph.initial, &[Breakpoint::condition(ask)]);
        let shortest = first.witnesses.first().map(|witness| witness.execution.len());
        prop_assert_eq!(shortest, expected.values().min().copied());
        prop_assert_eq!(first.incomplete.is_some(), shortest.is_some());
    }

    /// A search for several breakpoints equals separate searches until the first hit.
    #[test]
    fn finder_hits_nearest_of_several_breakpoints(graph in any_graph(8), asks in proptest::collection::vec(any_ask(), 1..4)) {
        let breakpoints: Vec<_> = asks.iter().cloned().map(Breakpoint::condition).collect();
        let found = BreakpointFinder::new(&graph).run(&graph.initial, &breakpoints);
        let nearest = |ask: &Ask| by_operators(&graph, &graph.initial, ask).into_values().min();
        let length = found.witnesses.first().map(|witness| witness.execution.len());
        prop_assert_eq!(length, asks.iter().filter_map(nearest).min());
        for hit in found.witnesses.first().map_or(&[][..], |witness| &witness.hits) {
            prop_assert_eq!(nearest(&asks[*hit]), length);
        }
    }

    /// A reduction adds no false hits, and reports that hits may be missing.
    #[test]
    fn reduction_reports_skipped_configurations(graph in any_graph(8), ask in any_ask(), modulus in 1..9_u8) {
        let key = |config: &u8| Some((config % modulus).to_string());
        let exact = BreakpointFinder { max_witnesses: usize::MAX, ..BreakpointFinder::new(&graph) };
        let reduced = BreakpointFinder { reduction: Some(&key), ..exact };
        let exact = BreakpointFinder { max_witnesses: usize::MAX, ..BreakpointFinder::new(&graph) }.run(&graph.initial, &[Breakpoint::condition(ask.clone())]);
        let reduced = reduced.run(&graph.initial, &[Breakpoint::condition(ask)]);
        prop_assert!(reduced.witnesses.iter().all(|witness| replays(&graph, &witness.execution)));
        if reduced.skipped == 0 {
            prop_assert_eq!(&reduced, &exact);
        }
        prop_assert!(reduced.totals.states <= exact.totals.states);
        prop_assert!(modulus < 8 || reduced.skipped == 0);
    }
}

/// A chain of configurations from 0 to 200.
fn line() -> Graph {
    Graph { initial: vec![0], edges: (0..200).map(|at| (at, 'a', vec![at + 1])).collect() }
}

#[test]
fn initial_hit_counts_unless_skipped() {
    let round = Graph { initial: vec![0], edges: vec![(0, 'a', vec![1]), (1, 'a', vec![0])] };
    let length = |skips_initial_hits| {
        let finder = BreakpointFinder { skips_initial_hits, ..BreakpointFinder::new(&round) };
        finder.run(&[0], &[Breakpoint::condition(Ask::At(0))]).witnesses[0].execution.len()
    };
    assert_eq!((length(false), length(true)), (0, 2));
}

#[test]
fn finder_respects_and_reports_limits() {
    let with = |limits| {
        BreakpointFinder { limits, ..BreakpointFinder::new(&line()) }
            .run(&[0], &[Breakpoint::condition(Ask::At(150))])
    };
    let found = with(Limits { states: Some(100), ..Limits::default() });
    assert_eq!((found.witnesses.len(), found.incomplete), (0, Some(Incomplete::States)));
    let found = with(Limits { depth: Some(20), ..Limits::default() });
    assert_eq!((found.totals.depth, found.incomplete), (20, Some(Incomplete::Depth)));
    assert_eq!(with(Limits { depth: Some(150), ..Limits::default() }).witnesses.len(), 1);
}

#[test]
fn unevaluable_condition_is_a_hit() {
    let line = line();
    let breakpoints = [Breakpoint::condition(Ask::Unknown(7))];
    let found = BreakpointFinder::new(&line).run(&[0], &breakpoints);
    let execution = &found.witnesses[0].execution;
    assert_eq!(execution.len(), 7);
    let step = invigil_semantics::Step::by_action(&6, &'a', &7);
    assert_eq!(breakpoints[0].fault(&line, step).as_deref(), Some("nobody knows"));
}

#[test]
fn deadlock_breakpoint_is_hit() {
    let found = BreakpointFinder::new(&line()).run(&[0], &[Breakpoint::deadlock()]);
    assert_eq!(*found.witnesses[0].execution.last(), 200);
}
