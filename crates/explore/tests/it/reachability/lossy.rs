//! Searches with lossy storage.

use crate::reachability::graph::Graph;
use crate::reachability::{ALL, connected, graphs, small};
use invigil_explore::{
    Bitstate, Certainty, Fingerprint, Incomplete, Limits, SearchOptions, SearchResult, Swarm, bfs, bitstate,
    hash_compaction, swarm,
};
use invigil_test_support::Rng;
use std::time::{Duration, Instant};

/// Invariants of every lossy search: it visits no more than there is, is never exact, and has only real findings.
fn is_honest(graph: &Graph, report: &SearchResult) {
    let naive = graph.naive(None);
    assert!(report.totals.states <= naive.totals.states);
    assert!(report.totals.transitions <= naive.totals.transitions);
    assert!(report.totals.deadlocks <= naive.totals.deadlocks);
    assert!(!report.is_exhaustive());
    report.findings.iter().for_each(|found| graph.replay(found));
}

fn estimate(report: &SearchResult) -> (f64, f64) {
    match report.certainty {
        Certainty::Estimated { missed, coverage } => (missed, coverage),
        other => panic!("{other:?} is no estimate"),
    }
}

#[test]
fn hash_compaction_visits_all_and_estimates_misses() {
    for (graph, _) in graphs(7).step_by(4) {
        for kind in [Fingerprint::Bits32, Fingerprint::Bits40, Fingerprint::Bits64] {
            let report =
                hash_compaction(&graph, kind, 1 << 20, &SearchOptions { max_findings: 5, ..ALL }, &());
            is_honest(&graph, &report);
            let (missed, coverage) = estimate(&report);
            // A miss is so unlikely here that it would indicate a bug.
            assert_eq!(report.totals.states, graph.naive(None).totals.states);
            assert!(missed < 1e-3 && coverage > 0.999);
        }
    }
}

#[test]
fn full_fingerprint_table_ends_search() {
    let graph = connected(60_000);
    for (kind, each) in [(Fingerprint::Bits32, 4), (Fingerprint::Bits40, 5), (Fingerprint::Bits64, 8)] {
        let report = hash_compaction(&graph, kind, 64 << 10, &ALL, &());
        assert_eq!(report.incomplete, Some(Incomplete::Memory));
        let states = report.totals.states as usize;
        assert!((40 << 10) / each < states && states <= (64 << 10) / each, "{states} with {each} bytes each");
    }
}

/// In graphs with many paths to each node, the estimate is close to the actual number of misses.
#[test]
fn bitstate_estimates_missed_configurations() {
    let nodes = 20_000u64;
    for (bytes, hashes) in [(5_000, 1), (10_000, 2), (10_000, 3), (20_000, 3), (200_000, 3)] {
        let (mut missing, mut estimated) = (0.0, 0.0);
        for seed in 0..4 {
            let random = Rng::new(seed);
            let edges = |_| (0..8).map(|action| (random.below(nodes) as u32, action, 0)).collect();
            let graph = Graph { width: 2, initial: vec![(0, 0)], edges: (0..nodes).map(edges).collect() };
            let all = bfs(&graph, &ALL, &()).totals.states;
            let report = bitstate(&graph, &Bitstate { bytes, hashes, seed }, &ALL, &());
            is_honest(&graph, &report);
            let (missed, coverage) = estimate(&report);
            missing += (all - report.totals.states) as f64;
            estimated += missed;
            assert!((coverage - report.totals.states as f64 / all as f64).abs() < 0.1, "{coverage} of {all}");
        }
        assert!(missing < 1.3 * estimated + 12.0, "{missing} missing, {estimated} estimated");
        assert!(estimated < 1.3 * missing + 12.0, "{missing} missing, {estimated} estimated");
    }
}

#[test]
fn lossy_searches_are_sound_on_random_graphs() {
    for (graph, random) in small(8).step_by(3) {
        let bits = Bitstate {
            bytes: 8 + random.below(3000),
            hashes: 1 + random.below(4) as u32,
            seed: random.below(99),
        };
        is_honest(&graph, &bitstate(&graph, &bits, &ALL, &()));
        let many = Swarm { runs: 4, bytes: bits.bytes, hashes: bits.hashes, seed: bits.seed };
        let report = swarm(&graph, &many, &SearchOptions { threads: 2, ..ALL }, &());
        is_honest(&graph, &report);
        assert!(matches!(report.certainty, Certainty::United { runs: 4, .. }));
    }
}

#[test]
fn swarm_visits_more_than_each_search() {
    let graph = connected(60_000);
    // Far too few bits for all configurations.
    let many = Swarm { runs: 24, bytes: 6000, hashes: 2, seed: 5 };
    let report = swarm(&graph, &many, &SearchOptions { threads: 2, ..ALL }, &());
    let Certainty::United { runs, states, new_share } = report.certainty else {
        panic!("{:?}", report.certainty)
    };
    assert_eq!((runs, report.incomplete), (24, None));
    assert!(states > 1.5 * report.totals.states as f64, "{states}, one of them {}", report.totals.states);
    assert!(states < 63_000.0 && (0.0..0.5).contains(&new_share));
}

#[test]
fn swarm_stops_at_finding_or_time_limit() {
    let mut graph = connected(60_000);
    graph.edges[45_678].clear();
    let many = Swarm { runs: u64::MAX, bytes: 60_000, hashes: 3, seed: 1 };
    let limits = Limits { time: Some(Duration::from_secs(60)), ..Limits::default() };
    let report = swarm(
        &graph,
        &many,
        &SearchOptions { threads: 2, limits, max_findings: 1, exhaustive: false, ..ALL },
        &(),
    );
    assert_eq!((report.incomplete, report.findings.len()), (Some(Incomplete::Found), 1));
    graph.replay(&report.findings[0]);

    let limits = Limits { time: Some(Duration::from_millis(100)), ..Limits::default() };
    let since = Instant::now();
    let report = swarm(&connected(60_000), &many, &SearchOptions { threads: 2, limits, ..ALL }, &());
    assert_eq!(report.incomplete, Some(Incomplete::Time));
    assert!(since.elapsed() < Duration::from_secs(5));
}
