//! Compares accepting cycles in random graphs with a naive search over all sets of repeatable steps.

use invigil_explore::cycles::find_accepting_cycle;
use invigil_explore::{
    FAULT, Incomplete, Limits, Path, ProgressListener, StateSpace, Successors, Totals, TransitionInfo,
};
use invigil_test_support::{Rng, at_least, cases};
use std::sync::atomic::{AtomicU64, Ordering};

#[derive(Clone, Copy, Debug)]
struct Edge {
    source: u64,
    target: u64,
    marks: u64,
    fails: bool,
}

/// The action of a step is its index.
#[derive(Debug)]
struct Graph {
    initial: Vec<u64>,
    edges: Vec<Edge>,
    sets: u32,
    pairs: u32,
}

impl StateSpace for Graph {
    fn width(&self) -> usize {
        1
    }

    fn initial(&self, out: &mut Successors) {
        self.initial.iter().for_each(|state| out.push(&[*state], TransitionInfo::default()));
    }

    fn successors(&self, state: &[u64], out: &mut Successors) {
        for (action, edge) in (0..).zip(&self.edges) {
            if edge.source == state[0] {
                out.push(
                    &[edge.target],
                    TransitionInfo { action, flags: if edge.fails { FAULT } else { 0 } },
                );
                out.marks.push(edge.marks);
            }
        }
    }

    fn acceptance_set_count(&self) -> u32 {
        self.sets
    }

    fn fairness_pair_count(&self) -> u32 {
        self.pairs
    }
}

impl Graph {
    fn random(random: &Rng, edges: u64) -> Graph {
        let states = 1 + random.below(5);
        let (sets, pairs) = (random.below(3) as u32, random.below(3) as u32);
        let thin = |bits: u32| (0..bits).fold(0, |all, bit| all | u64::from(random.below(3) == 0) << bit);
        let edge = |_| Edge {
            source: random.below(states),
            target: random.below(states),
            marks: thin(sets + 2 * pairs),
            fails: random.below(12) == 0,
        };
        let initial = if states > 1 && random.below(4) == 0 { vec![0, 1] } else { vec![0] };
        Graph { initial, edges: (0..random.below(edges + 1)).map(edge).collect(), sets, pairs }
    }

    fn accepts(&self, marks: u64) -> bool {
        let has = |at: u32| marks >> at & 1 == 1;
        (0..self.sets).all(has)
            && (0..self.pairs).map(|pair| self.sets + 2 * pair).all(|at| !has(at) || has(at + 1))
    }

    /// The configurations reachable from `from` by steps that satisfy `is_open`.
    fn reached(&self, from: &[u64], is_open: impl Fn(usize) -> bool) -> Vec<u64> {
        let mut reached = from.to_vec();
        let mut at = 0;
        while at < reached.len() {
            for (number, edge) in self.edges.iter().enumerate() {
                if edge.source == reached[at] && is_open(number) && !reached.contains(&edge.target) {
                    reached.push(edge.target);
                }
            }
            at += 1;
        }
        reached
    }

    /// Whether some set of steps can be repeated forever and is accepted.
    fn has_cycle(&self) -> bool {
        let works = |number: usize| !self.edges[number].fails;
        let reached = self.reached(&self.initial, works);
        (1u32..1 << self.edges.len()).any(|set| {
            let chosen = |number: usize| set >> number & 1 == 1;
            let numbers = (0..self.edges.len()).filter(|number| chosen(*number));
            let edges: Vec<Edge> = numbers.clone().map(|number| self.edges[number]).collect();
            numbers.clone().all(works)
                && edges.iter().all(|edge| reached.contains(&edge.source))
                && self.accepts(edges.iter().fold(0, |all, edge| all | edge.marks))
                && edges.iter().all(|edge| {
                    let round = self.reached(&[edge.target], chosen);
                    edges.iter().all(|other| round.contains(&other.source))
                })
        })
    }

    /// Whether the path belongs to this graph and is accepted.
    fn replays(&self, path: &Path) -> bool {
        let step = |source: &[u64], action: u32, target: &[u64]| {
            let edge = self.edges[action as usize];
            assert!(!edge.fails && [edge.source] == *source && [edge.target] == *target);
            edge.marks
        };
        assert!(self.initial.contains(&path.states[0][0]));
        assert_eq!(path.actions.len() + 1, path.states.len());
        let (to, by) = path.loop_back.unwrap();
        let mut marks = step(path.states.last().unwrap(), by.unwrap(), &path.states[to]);
        for (at, action) in path.actions.iter().enumerate() {
            let transition = step(&path.states[at], *action, &path.states[at + 1]);
            if at >= to {
                marks |= transition;
            }
        }
        self.accepts(marks)
    }
}

#[test]
fn cycle_search_agrees_with_naive_search_on_random_graphs() {
    let random = Rng::new(0x5eed_1234_8765_4321);
    let mut found = 0;
    for _ in 0..cases(6000) {
        let graph = Graph::random(&random, 9);
        let result = find_accepting_cycle(&graph, &Limits::default(), &());
        match &result.path {
            Some(path) => {
                found += 1;
                assert_eq!(result.incomplete, Some(Incomplete::Found));
                assert!(graph.replays(path), "{graph:?}\n{path:?}");
            }
            None => {
                assert_eq!(result.incomplete, None);
                assert!(!graph.has_cycle(), "{graph:?}");
                let reached = graph.reached(&graph.initial, |number| !graph.edges[number].fails);
                let left = graph.edges.iter().filter(|edge| reached.contains(&edge.source));
                let (bad, good): (Vec<&Edge>, Vec<&Edge>) = left.partition(|edge| edge.fails);
                let totals = (result.totals.states, result.totals.transitions, result.totals.faults);
                assert_eq!(totals, (reached.len() as u64, good.len() as u64, bad.len() as u64));
                assert_eq!(result.totals.waiting, 0);
            }
        }
    }
    assert!(found > at_least(1500) && found < cases(4500), "{found} of them have an accepting cycle");
}

/// A long path to a long cycle with one marked step.
struct Long {
    before: u64,
    round: u64,
}

impl StateSpace for Long {
    fn width(&self) -> usize {
        2
    }

    fn initial(&self, out: &mut Successors) {
        out.push(&[0, 7], TransitionInfo::default());
    }

    fn successors(&self, state: &[u64], out: &mut Successors) {
        let last = self.before + self.round - 1;
        let next = if state[0] == last { self.before } else { state[0] + 1 };
        out.push(&[next, 7], TransitionInfo { action: 3, flags: 0 });
        out.marks.push(u64::from(state[0] == last));
    }

    fn acceptance_set_count(&self) -> u32 {
        1
    }
}

#[test]
fn deep_cycle_search_does_not_recurse() {
    let space = Long { before: 200_000, round: 100_000 };
    let result = find_accepting_cycle(&space, &Limits::default(), &());
    let path = result.path.unwrap();
    assert_eq!((path.states.len(), path.loop_back), (300_000, Some((200_000, Some(3)))));
    assert_eq!((result.totals.states, result.totals.depth), (300_000, 299_999));
    assert!(result.totals.memory > 300_000 * 20);
}

#[test]
fn limits_make_cycle_search_incomplete() {
    let space = Long { before: 50_000, round: 10 };
    let states = Limits { states: Some(1000), ..Limits::default() };
    let result = find_accepting_cycle(&space, &states, &());
    assert_eq!((result.path, result.incomplete), (None, Some(Incomplete::States)));
    assert!(result.totals.states <= 1001);
    let depth = Limits { depth: Some(100), ..Limits::default() };
    let result = find_accepting_cycle(&space, &depth, &());
    assert_eq!((result.path, result.incomplete), (None, Some(Incomplete::Depth)));
    let memory = Limits { memory: Some(100_000), ..Limits::default() };
    assert_eq!(find_accepting_cycle(&space, &memory, &()).incomplete, Some(Incomplete::Memory));
    let time = Limits { time: Some(std::time::Duration::ZERO), ..Limits::default() };
    assert_eq!(find_accepting_cycle(&space, &time, &()).incomplete, Some(Incomplete::Time));
}

#[test]
fn listener_stops_cycle_search() {
    struct After(AtomicU64);
    impl ProgressListener for After {
        fn progress(&self, totals: &Totals) {
            self.0.fetch_max(totals.states, Ordering::Relaxed);
        }
        fn is_stopped(&self) -> bool {
            self.0.load(Ordering::Relaxed) > 5_000
        }
    }
    let after = After(AtomicU64::new(0));
    let result = find_accepting_cycle(&Long { before: 50_000, round: 10 }, &Limits::default(), &after);
    assert_eq!(result.incomplete, Some(Incomplete::Stopped));
    assert!(result.totals.states < 10_000);
}
