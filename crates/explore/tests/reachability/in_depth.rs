//! Search in depth.

use crate::{ALL, chain, connected, graphs, small};
use invigil_explore::{Incomplete, Limits, Search, Totals, depth};
use std::collections::HashSet;
use std::time::Duration;

#[test]
fn everything_is_seen_and_every_path_replays() {
    for (graph, _) in small(4) {
        let naive = graph.naive(None);
        let report = depth(&graph, &ALL, &());
        let Totals { depth: deepest, memory, .. } = report.totals;
        assert_eq!(report.totals, Totals { depth: deepest, memory, ..naive.totals });
        assert!(deepest >= naive.totals.depth);
        assert_eq!(report.bad, naive.bad_steps);
        assert!(report.is_whole());
        let last = |states: &[Box<[u64]>]| graph.node(states.last().unwrap());
        let found: HashSet<_> =
            report.found.iter().map(|found| (found.what, last(&found.path.states))).collect();
        assert_eq!(found.len(), report.found.len());
        assert_eq!(found, naive.found.keys().copied().collect());
        report.found.iter().for_each(|found| graph.replay(found));

        let first = depth(&graph, &Search { most: 1, whole: false, ..ALL }, &());
        assert_eq!(first.found, report.found[..naive.found.len().min(1)]);
        assert_eq!(first.incomplete, (!naive.found.is_empty()).then_some(Incomplete::Found));
    }
}

/// Paths are long here, so only some are told.
#[test]
fn large_graphs_are_counted() {
    for (graph, _) in graphs(4).skip(1500) {
        let naive = graph.naive(None);
        let report = depth(&graph, &Search { most: 5, ..ALL }, &());
        let Totals { depth, memory, .. } = report.totals;
        assert_eq!(report.totals, Totals { depth, memory, ..naive.totals });
        report.found.iter().for_each(|found| graph.replay(found));
    }
}

#[test]
fn no_deeper_than_allowed() {
    for (graph, mut random) in small(5) {
        let most = random.below(8);
        let limits = Limits { depth: Some(most), ..Limits::default() };
        let report = depth(&graph, &Search { limits, ..ALL }, &());
        let (within, all) = (graph.naive(Some(most)), graph.naive(None));
        assert!(report.totals.states <= within.totals.states && report.totals.depth <= most);
        // It says that it has seen everything only if it has.
        assert!(report.incomplete == Some(Incomplete::Depth) || report.totals.states == all.totals.states);
        for found in &report.found {
            graph.replay(found);
            assert!(found.path.actions.len() as u64 <= most);
        }
    }
}

#[test]
fn a_long_way_needs_no_stack() {
    let report = depth(&chain(300_000), &Search::default(), &());
    assert_eq!((report.totals.depth, report.found[0].path.states.len()), (299_999, 300_000));
}

#[test]
fn limits_end_the_search_with_what_was_seen() {
    let graph = connected(60_000);
    let ended = |limits| depth(&graph, &Search { limits, ..ALL }, &());
    let states = ended(Limits { states: Some(1000), ..Limits::default() });
    assert_eq!(states.incomplete, Some(Incomplete::States));
    assert!((1000..1100).contains(&states.totals.states));
    let memory = ended(Limits { memory: Some(200_000), ..Limits::default() });
    assert_eq!(memory.incomplete, Some(Incomplete::Memory));
    assert!((50_000..210_000).contains(&memory.totals.memory), "{:?}", memory.totals);
    let time = ended(Limits { time: Some(Duration::ZERO), ..Limits::default() });
    assert_eq!(time.incomplete, Some(Incomplete::Time));
}
