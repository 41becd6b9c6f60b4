//! The finder against the composition of operators that defines it.

use crate::graph::{Ask, Graph, any_graph, replays};
use invigil_explore::finder::{Finder, Stop};
use invigil_explore::{Incomplete, Limits};
use invigil_semantics::{Accepting, Breakpoint, Compose, Semantics};
use proptest::prelude::*;
use std::collections::{BTreeMap, HashSet};

/// The configurations in which the product of the graph with a breakpoint accepts, with the steps it takes at least.
fn by_operators(graph: &Graph, starts: &[u8], ask: &Ask) -> BTreeMap<u8, usize> {
    let product = graph.starting_in(starts.to_vec()).product(Breakpoint { condition: ask.clone() });
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
    fn it_finds_what_the_composition_of_operators_accepts(graph in any_graph(8), ask in any_ask()) {
        let expected = by_operators(&graph, &graph.initial, &ask);
        let finder = Finder { most: usize::MAX, ..Finder::new(&graph) };
        for found in [
            finder.run(&graph.initial, &[Stop::when(ask.clone())]),
            finder.find(&graph.initial, &Breakpoint { condition: ask.clone() }),
            finder.run(&graph.initial, &[Stop::property(Breakpoint { condition: ask.clone() })]),
        ] {
            prop_assert!(found.is_all());
            prop_assert!(found.witnesses.iter().all(|witness| replays(&graph, &witness.execution)));
            let ends = found.witnesses.iter().map(|w| (*w.execution.last(), w.execution.len()));
            prop_assert_eq!(ends.collect::<BTreeMap<_, _>>(), expected.clone());
            prop_assert!(found.witnesses.is_sorted_by_key(|witness| witness.execution.len()));
        }
        let first = Finder::new(&graph).run(&graph.initial, &[Stop::when(ask)]);
        let shortest = first.witnesses.first().map(|witness| witness.execution.len());
        prop_assert_eq!(shortest, expected.values().min().copied());
        prop_assert_eq!(first.incomplete.is_some(), shortest.is_some());
    }

    /// Looking for several breakpoints is looking for each until one is hit.
    #[test]
    fn of_several_breakpoints_the_nearest_is_hit(graph in any_graph(8), asks in proptest::collection::vec(any_ask(), 1..4)) {
        let stops: Vec<_> = asks.iter().cloned().map(Stop::when).collect();
        let found = Finder::new(&graph).run(&graph.initial, &stops);
        let nearest = |ask: &Ask| by_operators(&graph, &graph.initial, ask).into_values().min();
        let length = found.witnesses.first().map(|witness| witness.execution.len());
        prop_assert_eq!(length, asks.iter().filter_map(nearest).min());
        for hit in found.witnesses.first().map_or(&[][..], |witness| &witness.hits) {
            prop_assert_eq!(nearest(&asks[*hit]), length);
        }
    }

    /// A reduction finds nothing that is not there, and says when something may be missing.
    #[test]
    fn a_reduction_misses_something_only_where_it_skipped(graph in any_graph(8), ask in any_ask(), modulus in 1..9_u8) {
        let key = |config: &u8| Some((config % modulus).to_string());
        let exact = Finder { most: usize::MAX, ..Finder::new(&graph) };
        let reduced = Finder { reduction: Some(&key), ..exact };
        let exact = Finder { most: usize::MAX, ..Finder::new(&graph) }.run(&graph.initial, &[Stop::when(ask.clone())]);
        let reduced = reduced.run(&graph.initial, &[Stop::when(ask)]);
        prop_assert!(reduced.witnesses.iter().all(|witness| replays(&graph, &witness.execution)));
        if reduced.skipped == 0 {
            prop_assert_eq!(&reduced, &exact);
        }
        prop_assert!(reduced.totals.states <= exact.totals.states);
        prop_assert!(modulus < 8 || reduced.skipped == 0);
    }
}

/// A line of configurations from 0 to 200.
fn line() -> Graph {
    Graph { initial: vec![0], edges: (0..200).map(|at| (at, 'a', vec![at + 1])).collect() }
}

#[test]
fn a_start_on_a_breakpoint_is_a_hit_or_is_passed() {
    let round = Graph { initial: vec![0], edges: vec![(0, 'a', vec![1]), (1, 'a', vec![0])] };
    let length = |passes_starts| {
        let finder = Finder { passes_starts, ..Finder::new(&round) };
        finder.run(&[0], &[Stop::when(Ask::At(0))]).witnesses[0].execution.len()
    };
    assert_eq!((length(false), length(true)), (0, 2));
}

#[test]
fn limits_are_kept_and_told() {
    let with = |limits| Finder { limits, ..Finder::new(&line()) }.run(&[0], &[Stop::when(Ask::At(150))]);
    let found = with(Limits { states: Some(100), ..Limits::default() });
    assert_eq!((found.witnesses.len(), found.incomplete), (0, Some(Incomplete::States)));
    let found = with(Limits { depth: Some(20), ..Limits::default() });
    assert_eq!((found.totals.depth, found.incomplete), (20, Some(Incomplete::Depth)));
    assert_eq!(with(Limits { depth: Some(150), ..Limits::default() }).witnesses.len(), 1);
}

#[test]
fn a_condition_that_fails_is_a_reason_to_stop() {
    let line = line();
    let stops = [Stop::when(Ask::Unknown(7))];
    let found = Finder::new(&line).run(&[0], &stops);
    let execution = &found.witnesses[0].execution;
    assert_eq!(execution.len(), 7);
    let step = invigil_semantics::Step::taken(&6, &'a', &7);
    assert_eq!(stops[0].fault(&line, step).as_deref(), Some("nobody knows"));
}

#[test]
fn where_nothing_can_happen_is_found() {
    let found = Finder::new(&line()).run(&[0], &[Stop::stuck()]);
    assert_eq!(*found.witnesses[0].execution.last(), 200);
}
