//! Breadth-first search.

use crate::reachability::graph::Graph;
use crate::reachability::{ALL, chain, connected, graphs};
use invigil_explore::{
    FindingKind, FindingKinds, Incomplete, Limits, ProgressListener, SearchOptions, SearchResult, Totals, bfs,
};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Only the memory may depend on the number of threads.
fn without_memory(mut report: SearchResult) -> SearchResult {
    report.totals.memory = 0;
    report
}

#[test]
fn everything_is_seen_and_every_path_is_shortest() {
    for (graph, _) in graphs(1) {
        let naive = graph.naive(None);
        let report = bfs(&graph, &ALL, &());
        let expected = Totals { memory: report.totals.memory, ..naive.totals };
        assert_eq!((report.totals, report.bad), (expected, naive.bad_steps));
        assert!(report.is_exhaustive());
        assert_eq!(report.findings.len(), naive.found.len());
        for found in &report.findings {
            graph.replay(found);
            let last = graph.node(found.path.states.last().unwrap());
            assert_eq!(Some(&(found.path.actions.len() as u64)), naive.found.get(&(found.kind, last)));
        }
        assert!(report.findings.is_sorted_by_key(|found| found.path.actions.len()));
        let report = without_memory(report);
        for threads in [2, 3] {
            let other = bfs(&graph, &SearchOptions { threads, ..ALL }, &());
            assert_eq!(without_memory(other), report, "with {threads} threads");
        }
    }
}

#[test]
fn first_finding_ends_bfs() {
    for (graph, random) in graphs(2) {
        let naive = graph.naive(None);
        let flip = || random.below(2) == 0;
        let wanted = FindingKinds { deadlocks: flip(), bad: flip(), faults: flip() };
        let is_wanted = |what| match what {
            FindingKind::Deadlock => wanted.deadlocks,
            FindingKind::Bad => wanted.bad,
            FindingKind::Fault => wanted.faults,
        };
        let most = 1 + random.below(3) as usize;
        let search = SearchOptions { kinds: wanted, max_findings: most, exhaustive: false, ..ALL };
        let report = without_memory(bfs(&graph, &search, &()));
        let mut lengths: Vec<u64> =
            naive.found.iter().filter(|((what, _), _)| is_wanted(*what)).map(|(_, length)| *length).collect();
        lengths.sort_unstable();
        lengths.truncate(most);
        let found: Vec<u64> = report.findings.iter().map(|found| found.path.actions.len() as u64).collect();
        assert_eq!(found, lengths);
        assert_eq!(report.incomplete, (found.len() == most).then_some(Incomplete::Found));
        report.findings.iter().for_each(|found| graph.replay(found));
        for threads in [2, 3] {
            assert_eq!(without_memory(bfs(&graph, &SearchOptions { threads, ..search }, &())), report);
        }
        // An exhaustive search has the same findings, and counts everything.
        let whole = bfs(&graph, &SearchOptions { exhaustive: true, ..search }, &());
        assert_eq!(whole.findings, report.findings);
        assert_eq!((whole.totals.states, whole.incomplete), (naive.totals.states, None));
    }
}

#[test]
fn no_deeper_than_allowed() {
    for (graph, random) in graphs(3) {
        let depth = random.below(6);
        let naive = graph.naive(Some(depth));
        for threads in [1, 2, 3] {
            let limits = Limits { depth: Some(depth), ..Limits::default() };
            let report = bfs(&graph, &SearchOptions { threads, limits, ..ALL }, &());
            let expected = Totals { memory: report.totals.memory, ..naive.totals };
            assert_eq!(report.totals, expected);
            assert_eq!(report.incomplete, naive.is_cut.then_some(Incomplete::Depth));
            assert_eq!(report.findings.len(), naive.found.len());
            assert!(report.findings.iter().all(|found| found.path.actions.len() as u64 <= depth));
        }
    }
}

/// ThreadCounts progress reports, and stops after some configurations.
struct Stop(AtomicU64, u64);

impl ProgressListener for Stop {
    fn progress(&self, totals: &Totals) {
        self.0.fetch_max(totals.states, Ordering::Relaxed);
    }

    fn is_stopped(&self) -> bool {
        self.0.load(Ordering::Relaxed) >= self.1
    }
}

#[test]
fn limits_end_the_search_with_what_was_seen() {
    let graph = connected(60_000);
    for threads in [1, 2, 3] {
        let search = |limits| SearchOptions { threads, limits, ..ALL };
        let none = Limits::default();
        let states = bfs(&graph, &search(Limits { states: Some(20_000), ..none }), &());
        assert_eq!(states.incomplete, Some(Incomplete::States));
        assert!((20_000..25_000).contains(&states.totals.states), "{:?}", states.totals);
        assert!(states.totals.waiting > 0 && !states.is_exhaustive());

        let memory = bfs(&graph, &search(Limits { memory: Some(800_000), ..none }), &());
        assert_eq!(memory.incomplete, Some(Incomplete::Memory));
        assert!((400_000..900_000).contains(&memory.totals.memory), "{:?}", memory.totals);

        let time = bfs(&graph, &search(Limits { time: Some(Duration::ZERO), ..none }), &());
        assert_eq!(time.incomplete, Some(Incomplete::Time));

        let stop = Stop(AtomicU64::new(0), 10_000);
        let stopped = bfs(&graph, &search(none), &stop);
        assert_eq!(stopped.incomplete, Some(Incomplete::Stopped));
        assert!((10_000..50_000).contains(&stopped.totals.states), "{:?}", stopped.totals);
    }
}

/// Levels of one state are not distributed to threads.
#[test]
fn bfs_of_long_chain_is_fast() {
    let graph = chain(200_000);
    let report = bfs(&graph, &SearchOptions { threads: 2, ..ALL }, &());
    assert_eq!((report.totals.depth, report.totals.deadlocks), (199_999, 1));
    assert_eq!(report.findings[0].path.states.len(), 200_000);
}

/// A panic in the state space ends the search with any number of threads.
#[test]
fn panic_in_state_space_propagates() {
    struct Broken(Graph);
    impl invigil_explore::StateSpace for Broken {
        fn width(&self) -> usize {
            self.0.width
        }
        fn initial(&self, out: &mut invigil_explore::Successors) {
            self.0.initial(out);
        }
        fn successors(&self, state: &[u64], out: &mut invigil_explore::Successors) {
            assert!(self.0.node(state) != 50_000, "broken");
            self.0.successors(state, out);
        }
    }
    let broken = Broken(connected(60_000));
    for threads in [1, 2] {
        let run = || bfs(&broken, &SearchOptions { threads, ..ALL }, &());
        assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).is_err());
    }
}
