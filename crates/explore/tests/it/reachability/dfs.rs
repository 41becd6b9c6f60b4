//! Depth-first search.

use crate::reachability::{ALL, chain, connected, graphs, small};
use invigil_explore::{Incomplete, Limits, SearchOptions, Totals, dfs};
use std::collections::HashSet;
use std::time::Duration;

#[test]
fn everything_is_seen_and_every_path_replays() {
    for (graph, _) in small(4) {
        let naive = graph.naive(None);
        let report = dfs(&graph, &ALL, &());
        let Totals { depth: deepest, memory, .. } = report.totals;
        assert_eq!(report.totals, Totals { depth: deepest, memory, ..naive.totals });
        assert!(deepest >= naive.totals.depth);
        assert_eq!(report.bad, naive.bad_steps);
        assert!(report.is_exhaustive());
        let last = |states: &[Box<[u64]>]| graph.node(states.last().unwrap());
        let found: HashSet<_> =
            report.findings.iter().map(|found| (found.kind, last(&found.path.states))).collect();
        assert_eq!(found.len(), report.findings.len());
        assert_eq!(found, naive.found.keys().copied().collect());
        report.findings.iter().for_each(|found| graph.replay(found));

        let first = dfs(&graph, &SearchOptions { max_findings: 1, exhaustive: false, ..ALL }, &());
        assert_eq!(first.findings, report.findings[..naive.found.len().min(1)]);
        assert_eq!(first.incomplete, (!naive.found.is_empty()).then_some(Incomplete::Found));
    }
}

/// Paths are long here, so only some findings are requested.
#[test]
fn dfs_counts_large_graphs() {
    for (graph, _) in graphs(4).skip(1500) {
        let naive = graph.naive(None);
        let report = dfs(&graph, &SearchOptions { max_findings: 5, ..ALL }, &());
        let Totals { depth, memory, .. } = report.totals;
        assert_eq!(report.totals, Totals { depth, memory, ..naive.totals });
        report.findings.iter().for_each(|found| graph.replay(found));
    }
}

#[test]
fn no_deeper_than_allowed() {
    for (graph, random) in small(5) {
        let most = random.below(8);
        let limits = Limits { depth: Some(most), ..Limits::default() };
        let report = dfs(&graph, &SearchOptions { limits, ..ALL }, &());
        let (within, all) = (graph.naive(Some(most)), graph.naive(None));
        assert!(report.totals.states <= within.totals.states && report.totals.depth <= most);
        // The result is exhaustive only if everything was visited.
        assert!(report.incomplete == Some(Incomplete::Depth) || report.totals.states == all.totals.states);
        for found in &report.findings {
            graph.replay(found);
            assert!(found.path.actions.len() as u64 <= most);
        }
    }
}

#[test]
fn dfs_of_300k_states_does_not_recurse() {
    let report = dfs(&chain(300_000), &SearchOptions::default(), &());
    assert_eq!((report.totals.depth, report.findings[0].path.states.len()), (299_999, 300_000));
}

#[test]
fn limits_end_the_search_with_what_was_seen() {
    let graph = connected(60_000);
    let ended = |limits| dfs(&graph, &SearchOptions { limits, ..ALL }, &());
    let states = ended(Limits { states: Some(1000), ..Limits::default() });
    assert_eq!(states.incomplete, Some(Incomplete::States));
    assert!((1000..1100).contains(&states.totals.states));
    let memory = ended(Limits { memory: Some(200_000), ..Limits::default() });
    assert_eq!(memory.incomplete, Some(Incomplete::Memory));
    assert!((50_000..210_000).contains(&memory.totals.memory), "{:?}", memory.totals);
    let time = ended(Limits { time: Some(Duration::ZERO), ..Limits::default() });
    assert_eq!(time.incomplete, Some(Incomplete::Time));
}
