//! Search in breadth.

use crate::graph::Graph;
use crate::{ALL, chain, connected, graphs};
use invigil_explore::{Incomplete, Limits, Pulse, Report, Search, Totals, Wanted, What, breadth};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The memory depends on the number of threads; nothing else may.
fn without_memory(mut report: Report) -> Report {
    report.totals.memory = 0;
    report
}

#[test]
fn everything_is_seen_and_every_path_is_shortest() {
    for (graph, _) in graphs(1) {
        let naive = graph.naive(None);
        let report = breadth(&graph, &ALL, &());
        let expected = Totals { memory: report.totals.memory, ..naive.totals };
        assert_eq!((report.totals, report.bad), (expected, naive.bad_steps));
        assert!(report.is_whole());
        assert_eq!(report.found.len(), naive.found.len());
        for found in &report.found {
            graph.replay(found);
            let last = graph.node(found.path.states.last().unwrap());
            assert_eq!(Some(&(found.path.actions.len() as u64)), naive.found.get(&(found.what, last)));
        }
        assert!(report.found.is_sorted_by_key(|found| found.path.actions.len()));
        let report = without_memory(report);
        for threads in [2, 3] {
            let other = breadth(&graph, &Search { threads, ..ALL }, &());
            assert_eq!(without_memory(other), report, "with {threads} threads");
        }
    }
}

#[test]
fn the_first_of_what_is_wanted_ends_the_search() {
    for (graph, mut random) in graphs(2) {
        let naive = graph.naive(None);
        let mut flip = || random.below(2) == 0;
        let wanted = Wanted { deadlocks: flip(), bad: flip(), faults: flip() };
        let is_wanted = |what| match what {
            What::Deadlock => wanted.deadlocks,
            What::Bad => wanted.bad,
            What::Fault => wanted.faults,
        };
        let most = 1 + random.below(3) as usize;
        let search = Search { wanted, most, whole: false, ..ALL };
        let report = without_memory(breadth(&graph, &search, &()));
        let mut lengths: Vec<u64> =
            naive.found.iter().filter(|((what, _), _)| is_wanted(*what)).map(|(_, length)| *length).collect();
        lengths.sort_unstable();
        lengths.truncate(most);
        let found: Vec<u64> = report.found.iter().map(|found| found.path.actions.len() as u64).collect();
        assert_eq!(found, lengths);
        assert_eq!(report.incomplete, (found.len() == most).then_some(Incomplete::Found));
        report.found.iter().for_each(|found| graph.replay(found));
        for threads in [2, 3] {
            assert_eq!(without_memory(breadth(&graph, &Search { threads, ..search }, &())), report);
        }
        // The search that goes on tells the same, and counts all.
        let whole = breadth(&graph, &Search { whole: true, ..search }, &());
        assert_eq!(whole.found, report.found);
        assert_eq!((whole.totals.states, whole.incomplete), (naive.totals.states, None));
    }
}

#[test]
fn no_deeper_than_allowed() {
    for (graph, mut random) in graphs(3) {
        let depth = random.below(6);
        let naive = graph.naive(Some(depth));
        for threads in [1, 2, 3] {
            let limits = Limits { depth: Some(depth), ..Limits::default() };
            let report = breadth(&graph, &Search { threads, limits, ..ALL }, &());
            let expected = Totals { memory: report.totals.memory, ..naive.totals };
            assert_eq!(report.totals, expected);
            assert_eq!(report.incomplete, naive.is_cut.then_some(Incomplete::Depth));
            assert_eq!(report.found.len(), naive.found.len());
            assert!(report.found.iter().all(|found| found.path.actions.len() as u64 <= depth));
        }
    }
}

/// Counts beats, and stops after some configurations.
struct Stop(AtomicU64, u64);

impl Pulse for Stop {
    fn beat(&self, totals: &Totals) {
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
        let search = |limits| Search { threads, limits, ..ALL };
        let none = Limits::default();
        let states = breadth(&graph, &search(Limits { states: Some(20_000), ..none }), &());
        assert_eq!(states.incomplete, Some(Incomplete::States));
        assert!((20_000..25_000).contains(&states.totals.states), "{:?}", states.totals);
        assert!(states.totals.waiting > 0 && !states.is_whole());

        let memory = breadth(&graph, &search(Limits { memory: Some(800_000), ..none }), &());
        assert_eq!(memory.incomplete, Some(Incomplete::Memory));
        assert!((400_000..900_000).contains(&memory.totals.memory), "{:?}", memory.totals);

        let time = breadth(&graph, &search(Limits { time: Some(Duration::ZERO), ..none }), &());
        assert_eq!(time.incomplete, Some(Incomplete::Time));

        let stop = Stop(AtomicU64::new(0), 10_000);
        let stopped = breadth(&graph, &search(none), &stop);
        assert_eq!(stopped.incomplete, Some(Incomplete::Stopped));
        assert!((10_000..50_000).contains(&stopped.totals.states), "{:?}", stopped.totals);
    }
}

/// Levels of one state each cost no threads.
#[test]
fn a_long_chain_is_quick() {
    let graph = chain(200_000);
    let report = breadth(&graph, &Search { threads: 2, ..ALL }, &());
    assert_eq!((report.totals.depth, report.totals.deadlocks), (199_999, 1));
    assert_eq!(report.found[0].path.states.len(), 200_000);
}

/// A space that panics ends the search, on however many threads.
#[test]
fn a_panic_is_passed_on() {
    struct Broken(Graph);
    impl invigil_explore::Space for Broken {
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
        let run = || breadth(&broken, &Search { threads, ..ALL }, &());
        assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).is_err());
    }
}
