//! Breadth-first search: explores all configurations level by level and finds shortest paths.
//!
//! Several workers expand the states of a level and look up the successors in one shared table. A level is finished
//! before the next one starts. The findings of a level are sorted, and if a state has several parents, the smallest is
//! kept, so the result does not depend on the number of threads.

mod best_witnesses;
mod shared_visited;
mod worker;
mod worker_pool;
mod worker_states;

use crate::limits::{Incomplete, ProgressListener};
use crate::options::SearchOptions;
use crate::path::Path;
use crate::result::{Certainty, Finding, FindingKind, SearchResult};
use crate::search_counters::SearchCounters;
use crate::state_space::{BAD, FAULT, StateSpace, Successors};
use best_witnesses::{BestWitnesses, Predecessor, WitnessKey};
use shared_visited::{NO_PARENT, SharedVisited};
use std::collections::HashSet;
use std::sync::atomic::AtomicU64;
use std::sync::{LockResult, Mutex, PoisonError, RwLock};
use std::thread;
use worker::{Level, Worker};
use worker_pool::{PoolShutdown, WorkerPool};

/// The minimum number of states per worker for expanding a level in parallel.
const PARALLEL_THRESHOLD: usize = 256;

/// Explores every configuration of `space` breadth-first, also known as reachability analysis.
///
/// The path of a finding is a shortest one. Levels are always completed, so findings, their paths and the totals
/// (except for the memory) do not depend on the number of threads, unless a limit stops the search early.
///
/// ```
/// use invigil_explore::{SearchOptions, StateSpace, Successors, TransitionInfo, FindingKind, bfs};
///
/// /// Takes one or two matches until none remain.
/// struct Matches;
/// impl StateSpace for Matches {
///     fn width(&self) -> usize {
///         1
///     }
///     fn initial(&self, out: &mut Successors) {
///         out.push(&[7], TransitionInfo::default());
///     }
///     fn successors(&self, state: &[u64], out: &mut Successors) {
///         for action in 1..=state[0].min(2) {
///             out.push(&[state[0] - action], TransitionInfo { action: action as u32, flags: 0 });
///         }
///     }
/// }
/// let result = bfs(&Matches, &SearchOptions { exhaustive: true, ..SearchOptions::default() }, &());
/// assert_eq!((result.totals.states, result.totals.transitions, result.totals.depth), (8, 13, 4));
/// assert_eq!(result.findings[0].kind, FindingKind::Deadlock);
/// assert_eq!(result.findings[0].path.actions.len(), 4);
/// ```
pub fn bfs<S: StateSpace, P: ProgressListener>(
    space: &S,
    options: &SearchOptions,
    listener: &P,
) -> SearchResult {
    let counters = SearchCounters::new(&options.limits, listener);
    let max_bytes = options.limits.memory.unwrap_or(u64::MAX);
    let Some(visited) = SharedVisited::new(space.width(), options.threads.max(1), max_bytes) else {
        return SearchResult {
            totals: counters.totals(),
            bad: 0,
            incomplete: Some(Incomplete::Memory),
            findings: Vec::new(),
            certainty: Certainty::Exact,
        };
    };
    let threads = options.threads.max(1);
    let workers: Vec<_> =
        (0..threads).map(|number| Mutex::new(Worker::new(number, options.max_findings))).collect();
    let level = RwLock::new(Level {
        space,
        kinds: options.kinds,
        counters: &counters,
        visited: &visited,
        next: Vec::new(),
        ends: Vec::new(),
        depth: 0,
        stores_new_states: true,
    });
    let run = |worker: &Mutex<Worker>| ignore_poison(worker.lock()).run(&*ignore_poison(level.read()));
    let pool = WorkerPool::default();
    let (incomplete, findings) = thread::scope(|scope| {
        let _shutdown = PoolShutdown(&pool);
        let mut level_search = LevelSearch::new(space, options, &visited, &workers);
        level_search.add_initial(&counters);
        let (mut depth, mut is_pool_started) = (0, false);
        let incomplete = loop {
            let states = level_search.next_level();
            if space.failure().is_some() {
                break Some(Incomplete::Failed);
            }
            if let Some(reason) = counters.halt_reason() {
                break Some(reason);
            }
            if level_search.has_enough_findings() {
                break Some(Incomplete::Found);
            }
            if states == 0 {
                break None;
            }
            counters.reached_depth(depth);
            level_search.prepare_level(&mut *ignore_poison(level.write()), depth);
            if states < PARALLEL_THRESHOLD * threads {
                run(&workers[0]);
            } else {
                if !std::mem::replace(&mut is_pool_started, true) {
                    pool.start(scope, &workers[1..], |worker| run(worker));
                }
                pool.run_round(threads - 1, || run(&workers[0]));
            }
            level_search.collect_findings();
            if options.limits.depth.is_some_and(|max_depth| depth >= max_depth) {
                let depth_exceeded = workers.iter().any(|worker| ignore_poison(worker.lock()).depth_exceeded);
                break counters.halt_reason().or(depth_exceeded.then_some(Incomplete::Depth));
            }
            depth += 1;
        };
        (incomplete, level_search.findings)
    });
    let certainty = Certainty::Exact;
    SearchResult { totals: counters.totals(), bad: counters.bad(), incomplete, findings, certainty }
}

/// The guarded value, even if a worker panicked. The search ends in this case.
fn ignore_poison<T>(locked: LockResult<T>) -> T {
    locked.unwrap_or_else(PoisonError::into_inner)
}

/// State of the search between levels.
struct LevelSearch<'a, S> {
    space: &'a S,
    options: &'a SearchOptions,
    visited: &'a SharedVisited,
    /// Locked by their threads during a level, and by this struct between levels.
    workers: &'a [Mutex<Worker>],
    /// For each worker, the end of its rows in the current level.
    ends: Vec<u32>,
    /// For each worker, its first row in the current level.
    starts: Vec<u32>,
    findings: Vec<Finding>,
    /// The bad configurations among the findings.
    known_bad: HashSet<Box<[u64]>>,
}

impl<'a, S: StateSpace> LevelSearch<'a, S> {
    fn new(
        space: &'a S,
        options: &'a SearchOptions,
        visited: &'a SharedVisited,
        workers: &'a [Mutex<Worker>],
    ) -> LevelSearch<'a, S> {
        let zeros = vec![0; workers.len()];
        LevelSearch {
            space,
            options,
            visited,
            workers,
            ends: zeros.clone(),
            starts: zeros,
            findings: Vec::new(),
            known_bad: HashSet::new(),
        }
    }

    /// Makes the new states the level to expand. Returns their number.
    fn next_level(&mut self) -> usize {
        let rows = self.workers.iter().map(|worker| ignore_poison(worker.lock()).rows).collect();
        self.starts = std::mem::replace(&mut self.ends, rows);
        self.ends.iter().zip(&self.starts).map(|(end, start)| (end - start) as usize).sum()
    }

    /// Whether the requested number of findings is reached.
    fn has_enough_findings(&self) -> bool {
        !self.options.exhaustive && self.findings.len() >= self.options.max_findings
    }

    /// Adds the initial configurations.
    fn add_initial<P: ProgressListener>(&mut self, counters: &SearchCounters<'_, P>) {
        let mut out = Successors::default();
        self.space.initial(&mut out);
        if self.space.failure().is_some() {
            counters.halt(Incomplete::Failed);
            return;
        }
        let mut best = BestWitnesses::new(self.options.max_findings);
        let mut worker = ignore_poison(self.workers[0].lock());
        for (state, transition) in out.words.chunks_exact(self.space.width()).zip(&out.transitions) {
            let predecessor = (&[][..], transition.action, NO_PARENT);
            if transition.flags & FAULT != 0 {
                worker.counts.faults += 1;
                if self.options.kinds.faults {
                    best.add(0, FindingKind::Fault, &[], predecessor);
                }
                continue;
            }
            if transition.flags & BAD != 0 {
                worker.counts.bad += 1;
                if self.options.kinds.bad {
                    best.add(0, FindingKind::Bad, state, predecessor);
                }
            }
            worker.insert_initial(state, self.visited, counters);
        }
        worker.flush_counts(self.visited, counters);
        drop(worker);
        self.add_findings(best);
    }

    /// Sets up the level to expand.
    fn prepare_level<P>(&self, level: &mut Level<'_, S, P>, depth: u64) {
        level.next = self.starts.iter().map(|start| AtomicU64::new(u64::from(*start))).collect();
        level.ends.clone_from(&self.ends);
        level.depth = depth;
        level.stores_new_states = self.options.limits.depth.is_none_or(|max_depth| depth < max_depth);
    }

    /// Collects the workers' findings of a level.
    fn collect_findings(&mut self) {
        let mut best = BestWitnesses::new(self.options.max_findings);
        for worker in self.workers {
            best.merge(&mut ignore_poison(worker.lock()).best);
        }
        self.add_findings(best);
    }

    /// Adds a level's new findings.
    fn add_findings(&mut self, best: BestWitnesses) {
        for (key, predecessor) in best.into_sorted() {
            if self.findings.len() >= self.options.max_findings {
                return;
            }
            // A bad configuration is found again by every step that leads to it; other kinds are found once, on
            // expansion.
            if key.kind != FindingKind::Bad || self.known_bad.insert(key.state.clone()) {
                let path = self.path(&key, &predecessor);
                // Rebuilding the actions of a path queries the subject again, which may fail.
                if self.space.failure().is_some() {
                    return;
                }
                self.findings.push(Finding { kind: key.kind, path });
            }
        }
    }

    /// The path to a finding.
    fn path(&self, key: &WitnessKey, predecessor: &Predecessor) -> Path {
        let mut path = Path { states: Vec::new(), actions: Vec::new(), loop_back: None, fault: None };
        let mut number = predecessor.number;
        while number != NO_PARENT {
            let (state, parent) = self.visited.state(number);
            path.states.push(state);
            number = parent;
        }
        path.states.reverse();
        let mut out = Successors::default();
        for pair in path.states.windows(2) {
            path.actions.push(self.action(&pair[0], &pair[1], &mut out));
        }
        match key.kind {
            FindingKind::Deadlock => {}
            FindingKind::Fault => path.fault = Some(predecessor.action),
            FindingKind::Bad => {
                if !path.states.is_empty() {
                    path.actions.push(predecessor.action);
                }
                path.states.push(key.state.clone());
            }
        }
        path
    }

    /// The smallest action that leads from one state to another. At least one exists.
    fn action(&self, source: &[u64], target: &[u64], out: &mut Successors) -> u32 {
        out.clear();
        self.space.successors(source, out);
        let targets = out.words.chunks_exact(self.space.width());
        let matching = targets
            .zip(&out.transitions)
            .filter(|(state, transition)| *state == target && transition.flags & FAULT == 0);
        matching.map(|(_, transition)| transition.action).min().unwrap_or_default()
    }
}
