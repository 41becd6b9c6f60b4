//! Compares searches of random graphs with a naive search.

mod bfs;
mod dfs;
mod graph;
mod lossy;
mod random_walk;

use graph::Graph;
use invigil_explore::{
    Bitstate, FAULT, Finding, FindingKind, FindingKinds, Limits, Path, SearchOptions, WalkOptions,
};
use invigil_explore::{bfs, bitstate, dfs, random_walk};
use invigil_test_support::Rng;

/// An exhaustive search for all kinds of findings.
const ALL: SearchOptions = SearchOptions {
    threads: 1,
    limits: Limits { states: None, memory: None, time: None, depth: None },
    kinds: FindingKinds { deadlocks: true, bad: true, faults: true },
    max_findings: usize::MAX,
    exhaustive: true,
};

/// Graphs of a few nodes.
fn small(seed: u64) -> impl Iterator<Item = (Graph, Rng)> {
    (0..1500).map(move |case| {
        let random = Rng::new(case ^ seed << 32);
        (Graph::random(1 + case as u32 % 60, &random), random)
    })
}

/// Small graphs, and graphs of some thousand nodes with levels that are shared among threads.
fn graphs(seed: u64) -> impl Iterator<Item = (Graph, Rng)> {
    let large = (0..8).map(move |case| {
        let random = Rng::new((5000 + case) ^ seed << 32);
        (Graph::random(30_000 + 1000 * case as u32, &random), random)
    });
    small(seed).chain(large)
}

/// A graph in which every node is reachable, few of them in few steps.
fn connected(nodes: u32) -> Graph {
    let edges = |node| vec![((node + 1) % nodes, 0, 0), ((7 * node + 3) % nodes, 1, 0)];
    Graph { width: 2, initial: vec![(0, 0)], edges: (0..nodes).map(edges).collect() }
}

/// A chain of nodes.
fn chain(nodes: u32) -> Graph {
    let edges = |node| if node + 1 < nodes { vec![(node + 1, 0, 0)] } else { vec![] };
    Graph { width: 1, initial: vec![(0, 0)], edges: (0..nodes).map(edges).collect() }
}

/// A fault of the initialization has no path.
#[test]
fn faulty_initial_configuration_is_reported() {
    let graph = Graph { width: 1, initial: vec![(0, 0), (1, FAULT)], edges: vec![vec![(0, 0, 0)]] };
    let path = Path { states: vec![], actions: vec![], loop_back: None, fault: Some(0) };
    let found = [Finding { kind: FindingKind::Fault, path }];
    let walks = WalkOptions { walks: 20, ..WalkOptions::default() };
    for report in [
        bfs(&graph, &ALL, &()),
        bfs(&graph, &SearchOptions { threads: 2, ..ALL }, &()),
        dfs(&graph, &ALL, &()),
        bitstate(&graph, &Bitstate { bytes: 4096, ..Bitstate::default() }, &ALL, &()),
        random_walk(&graph, &walks, &SearchOptions { max_findings: 1, exhaustive: false, ..ALL }, &()),
    ] {
        assert_eq!(report.findings, found);
        assert_eq!(report.totals.faults, 1);
    }
}

/// A space without initial configurations has no deadlock.
#[test]
fn empty_state_space_has_no_deadlock() {
    let graph = Graph { width: 1, initial: vec![], edges: vec![] };
    for report in [
        bfs(&graph, &ALL, &()),
        dfs(&graph, &ALL, &()),
        random_walk(&graph, &WalkOptions::default(), &ALL, &()),
    ] {
        assert_eq!((report.totals.states, report.totals.deadlocks, report.findings.len()), (0, 0, 0));
        assert_eq!(report.incomplete, None);
    }
}
