//! Random walks.

use crate::reachability::graph::Graph;
use crate::reachability::{ALL, graphs};
use invigil_explore::{
    Incomplete, Limits, ProgressListener, SearchOptions, Totals, WalkOptions, random_walk,
};
use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

#[test]
fn random_walks_replay_and_are_independent_of_threads() {
    let mut hits = 0;
    for (graph, random) in graphs(6) {
        let walks = WalkOptions { seed: random.below(1000), walks: 20, steps: random.below(40) };
        let most = 1 + random.below(4) as usize;
        let search = SearchOptions { max_findings: most, exhaustive: random.below(2) == 0, ..ALL };
        let report = random_walk(&graph, &walks, &search, &());
        let naive = graph.naive(None);
        for found in &report.findings {
            graph.replay(found);
            let last = graph.node(found.path.states.last().unwrap());
            assert!(naive.found[&(found.kind, last)] <= found.path.actions.len() as u64);
            assert!(found.path.actions.len() as u64 <= walks.steps);
        }
        hits += report.findings.len();
        assert!(report.findings.len() <= most && !report.is_exhaustive());
        assert!(report.totals.depth <= walks.steps);
        let other = random_walk(&graph, &walks, &SearchOptions { threads: 3, ..search }, &());
        assert_eq!(report.findings, other.findings);
    }
    assert!(hits > 500, "only {hits}");
}

#[test]
fn random_walks_differ_from_each_other() {
    // A tree in which the leaf determines the path.
    let edges =
        |node: u32| if node < 1 << 15 { vec![(2 * node, 0, 0), (2 * node + 1, 1, 0)] } else { vec![] };
    let graph = Graph { width: 1, initial: vec![(1, 0)], edges: (0..1 << 16).map(edges).collect() };
    let leaves = |seed| -> Vec<u32> {
        let report = random_walk(&graph, &WalkOptions { seed, walks: 40, steps: 100 }, &ALL, &());
        assert_eq!((report.totals.states, report.totals.transitions, report.totals.depth), (640, 600, 15));
        report.findings.iter().map(|found| graph.node(&found.path.states[15])).collect()
    };
    let (one, other) = (leaves(1), leaves(2));
    assert_eq!(one, leaves(1));
    let all: HashSet<u32> = one.into_iter().chain(other).collect();
    assert!(all.len() > 70, "{} different ones of 80", all.len());
}

#[test]
fn time_limit_ends_random_walks() {
    let limits = Limits { time: Some(Duration::from_millis(30)), ..Limits::default() };
    let walks = WalkOptions { seed: 0, walks: u64::MAX, steps: u64::MAX };
    let report =
        random_walk(&crate::reachability::connected(1000), &walks, &SearchOptions { limits, ..ALL }, &());
    assert_eq!(report.incomplete, Some(Incomplete::Time));
}

/// Counts the reports of progress.
struct Reports(AtomicU64);

impl ProgressListener for Reports {
    fn progress(&self, _: &Totals) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    fn is_stopped(&self) -> bool {
        false
    }
}

#[test]
fn progress_of_many_short_walks_is_reported() {
    let edges = |node: u32| vec![((node + 1) % 8, 0, 0)];
    let graph = Graph { width: 1, initial: vec![(0, 0)], edges: (0..8).map(edges).collect() };
    let reports = Reports(AtomicU64::new(0));
    random_walk(&graph, &WalkOptions { seed: 1, walks: 2000, steps: 20 }, &ALL, &reports);
    assert!(reports.0.into_inner() > 5);
}
