//! Searches of random graphs against a search that is obviously right.

mod graph;
mod in_breadth;
mod in_depth;
mod inexact;
mod walks;

use graph::{Graph, Random};
use invigil_explore::{Bitstate, FAULT, Found, Limits, Path, Search, Walks, Wanted, What};
use invigil_explore::{bitstate, breadth, depth, walk};

/// All there is.
const ALL: Search = Search {
    threads: 1,
    limits: Limits { states: None, memory: None, time: None, depth: None },
    wanted: Wanted { deadlocks: true, bad: true, faults: true },
    most: usize::MAX,
    whole: true,
};

/// Graphs of a few nodes.
fn small(seed: u64) -> impl Iterator<Item = (Graph, Random)> {
    (0..1500).map(move |case| {
        let mut random = Random(case ^ seed << 32);
        (Graph::random(1 + case as u32 % 60, &mut random), random)
    })
}

/// Graphs of a few nodes and of some thousands: the latter have levels that are shared among threads.
fn graphs(seed: u64) -> impl Iterator<Item = (Graph, Random)> {
    let large = (0..8).map(move |case| {
        let mut random = Random((5000 + case) ^ seed << 32);
        (Graph::random(30_000 + 1000 * case as u32, &mut random), random)
    });
    small(seed).chain(large)
}

/// A graph of which every node can be reached, and few in few steps.
fn connected(nodes: u32) -> Graph {
    let edges = |node| vec![((node + 1) % nodes, 0, 0), ((7 * node + 3) % nodes, 1, 0)];
    Graph { width: 2, initial: vec![(0, 0)], edges: (0..nodes).map(edges).collect() }
}

/// Each node leads to the next but the last.
fn chain(nodes: u32) -> Graph {
    let edges = |node| if node + 1 < nodes { vec![(node + 1, 0, 0)] } else { vec![] };
    Graph { width: 1, initial: vec![(0, 0)], edges: (0..nodes).map(edges).collect() }
}

/// Where the very beginning goes wrong there is nothing to show but that.
#[test]
fn an_initial_configuration_may_go_wrong() {
    let graph = Graph { width: 1, initial: vec![(0, 0), (1, FAULT)], edges: vec![vec![(0, 0, 0)]] };
    let path = Path { states: vec![], actions: vec![], back: None, fault: Some(0) };
    let found = [Found { what: What::Fault, path }];
    let walks = Walks { walks: 20, ..Walks::default() };
    for report in [
        breadth(&graph, &ALL, &()),
        breadth(&graph, &Search { threads: 2, ..ALL }, &()),
        depth(&graph, &ALL, &()),
        bitstate(&graph, &Bitstate { bytes: 4096, ..Bitstate::default() }, &ALL, &()),
        walk(&graph, &walks, &Search { most: 1, whole: false, ..ALL }, &()),
    ] {
        assert_eq!(report.found, found);
        assert_eq!(report.totals.faults, 1);
    }
}

/// Nothing to begin with is no deadlock.
#[test]
fn there_may_be_no_configuration() {
    let graph = Graph { width: 1, initial: vec![], edges: vec![] };
    for report in
        [breadth(&graph, &ALL, &()), depth(&graph, &ALL, &()), walk(&graph, &Walks::default(), &ALL, &())]
    {
        assert_eq!((report.totals.states, report.totals.deadlocks, report.found.len()), (0, 0, 0));
        assert_eq!(report.incomplete, None);
    }
}
