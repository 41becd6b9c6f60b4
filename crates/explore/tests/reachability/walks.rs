//! Walks by chance.

use crate::graph::Graph;
use crate::{ALL, graphs};
use invigil_explore::{Incomplete, Limits, Search, Walks, walk};
use std::collections::HashSet;
use std::time::Duration;

#[test]
fn walks_replay_and_do_not_depend_on_threads() {
    let mut hits = 0;
    for (graph, mut random) in graphs(6) {
        let walks = Walks { seed: random.below(1000), walks: 20, steps: random.below(40) };
        let most = 1 + random.below(4) as usize;
        let search = Search { most, whole: random.below(2) == 0, ..ALL };
        let report = walk(&graph, &walks, &search, &());
        let naive = graph.naive(None);
        for found in &report.found {
            graph.replay(found);
            let last = graph.node(found.path.states.last().unwrap());
            assert!(naive.found[&(found.what, last)] <= found.path.actions.len() as u64);
            assert!(found.path.actions.len() as u64 <= walks.steps);
        }
        hits += report.found.len();
        assert!(report.found.len() <= most && !report.is_whole());
        assert!(report.totals.depth <= walks.steps);
        let other = walk(&graph, &walks, &Search { threads: 3, ..search }, &());
        assert_eq!(report.found, other.found);
    }
    assert!(hits > 500, "only {hits}");
}

#[test]
fn every_walk_is_another() {
    // A tree of which the leaf shows the whole way.
    let edges =
        |node: u32| if node < 1 << 15 { vec![(2 * node, 0, 0), (2 * node + 1, 1, 0)] } else { vec![] };
    let graph = Graph { width: 1, initial: vec![(1, 0)], edges: (0..1 << 16).map(edges).collect() };
    let leaves = |seed| -> Vec<u32> {
        let report = walk(&graph, &Walks { seed, walks: 40, steps: 100 }, &ALL, &());
        assert_eq!((report.totals.states, report.totals.transitions, report.totals.depth), (640, 600, 15));
        report.found.iter().map(|found| graph.node(&found.path.states[15])).collect()
    };
    let (one, other) = (leaves(1), leaves(2));
    assert_eq!(one, leaves(1));
    let all: HashSet<u32> = one.into_iter().chain(other).collect();
    assert!(all.len() > 70, "{} different ones of 80", all.len());
}

#[test]
fn time_ends_walks() {
    let limits = Limits { time: Some(Duration::from_millis(30)), ..Limits::default() };
    let walks = Walks { seed: 0, walks: u64::MAX, steps: u64::MAX };
    let report = walk(&crate::connected(1000), &walks, &Search { limits, ..ALL }, &());
    assert_eq!(report.incomplete, Some(Incomplete::Time));
}
