//! Breadth-first search: explores all configurations level by level and finds shortest paths.
//!
//! Several workers expand the states of a level and look up the successors in one shared table. A level is finished
//! before the next one starts. The findings of a level are sorted, and of several parents of a state the least is kept,
//! so the result does not depend on the number of threads.

mod best_witnesses;
mod shared_visited;
mod worker;
mod worker_pool;
mod worker_states;

use crate::limits::{Incomplete, ProgressListener};
use crate::options::SearchOptions;
use crate::path::Path;
use crate::result::{Certainty, Finding, FindingKind, SearchResult};
use crate::state_space::{BAD, FAULT, StateSpace, Successors};
use crate::tally::Tally;
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
/// Findings have a shortest path. A level is always finished, so findings, their paths and the totals (except for the
/// memory) do not depend on the number of threads, unless a limit ends the search.
///
/// ```
/// use invigil_explore::{SearchOptions, StateSpace, Successors, TransitionInfo, FindingKind, bfs};
///
/// /// Takes one or two matches until none is left.
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
/// let report = bfs(&Matches, &SearchOptions { exhaustive: true, ..SearchOptions::default() }, &());
/// assert_eq!((report.totals.states, report.totals.transitions, report.totals.depth), (8, 13, 4));
/// assert_eq!(report.findings[0].kind, FindingKind::Deadlock);
/// assert_eq!(report.findings[0].path.actions.len(), 4);
/// ```
pub fn bfs<S: StateSpace, P: ProgressListener>(
    space: &S,
    search: &SearchOptions,
    listener: &P,
) -> SearchResult {
    let tally = Tally::new(&search.limits, listener);
    let most_bytes = search.limits.memory.unwrap_or(u64::MAX);
    let Some(known) = SharedVisited::new(space.width(), search.threads.max(1), most_bytes) else {
        return SearchResult {
            totals: tally.totals(),
            bad: 0,
            incomplete: Some(Incomplete::Memory),
            findings: Vec::new(),
            certainty: Certainty::Exact,
        };
    };
    let threads = search.threads.max(1);
    let workers: Vec<_> =
        (0..threads).map(|number| Mutex::new(Worker::new(number, search.max_findings))).collect();
    let level = RwLock::new(Level {
        space,
        wanted: search.kinds,
        tally: &tally,
        known: &known,
        next: Vec::new(),
        ends: Vec::new(),
        depth: 0,
        keeps_new: true,
    });
    let run = |worker: &Mutex<Worker>| unlock(worker.lock()).run(&*unlock(level.read()));
    let pool = WorkerPool::default();
    let (ended, findings) = thread::scope(|scope| {
        let _shutdown = PoolShutdown(&pool);
        let mut search_state = LevelSearch::new(space, search, &known, &workers);
        search_state.start(&tally);
        let (mut depth, mut has_threads) = (0, false);
        let ended = loop {
            let states = search_state.next_level();
            if space.failure().is_some() {
                break Some(Incomplete::Failed);
            }
            if let Some(reason) = tally.halted() {
                break Some(reason);
            }
            if search_state.has_enough_findings() {
                break Some(Incomplete::Found);
            }
            if states == 0 {
                break None;
            }
            tally.reached_depth(depth);
            search_state.prepare_level(&mut *unlock(level.write()), depth);
            if states < PARALLEL_THRESHOLD * threads {
                run(&workers[0]);
            } else {
                if !std::mem::replace(&mut has_threads, true) {
                    pool.start(scope, &workers[1..], |worker| run(worker));
                }
                pool.run_round(threads - 1, || run(&workers[0]));
            }
            search_state.collect_findings();
            if search.limits.depth.is_some_and(|most| depth >= most) {
                let depth_exceeded = workers.iter().any(|worker| unlock(worker.lock()).depth_exceeded);
                break tally.halted().or(depth_exceeded.then_some(Incomplete::Depth));
            }
            depth += 1;
        };
        (ended, search_state.findings)
    });
    let certainty = Certainty::Exact;
    SearchResult { totals: tally.totals(), bad: tally.bad(), incomplete: ended, findings, certainty }
}

/// The guarded value, even if a worker panicked; the search ends in this case.
fn unlock<T>(locked: LockResult<T>) -> T {
    locked.unwrap_or_else(PoisonError::into_inner)
}

struct LevelSearch<'a, S> {
    space: &'a S,
    search: &'a SearchOptions,
    known: &'a SharedVisited,
    /// Locked by their threads during a level, and by this struct between levels.
    workers: &'a [Mutex<Worker>],
    /// For each worker, the number of its rows at the start of the current level and of the previous one.
    ends: Vec<u32>,
    starts: Vec<u32>,
    findings: Vec<Finding>,
    /// The bad configurations among the findings.
    known_bad: HashSet<Box<[u64]>>,
}

impl<'a, S: StateSpace> LevelSearch<'a, S> {
    fn new(
        space: &'a S,
        search: &'a SearchOptions,
        known: &'a SharedVisited,
        workers: &'a [Mutex<Worker>],
    ) -> LevelSearch<'a, S> {
        let none = vec![0; workers.len()];
        LevelSearch {
            space,
            search,
            known,
            workers,
            ends: none.clone(),
            starts: none,
            findings: Vec::new(),
            known_bad: HashSet::new(),
        }
    }

    /// Makes the new states the level to expand. Returns their number.
    fn next_level(&mut self) -> usize {
        let rows = self.workers.iter().map(|worker| unlock(worker.lock()).rows).collect();
        self.starts = std::mem::replace(&mut self.ends, rows);
        self.ends.iter().zip(&self.starts).map(|(end, start)| (end - start) as usize).sum()
    }

    /// Whether the requested number of findings is reached.
    fn has_enough_findings(&self) -> bool {
        !self.search.exhaustive && self.findings.len() >= self.search.max_findings
    }

    /// Adds the initial configurations.
    fn start<P: ProgressListener>(&mut self, tally: &Tally<'_, P>) {
        let mut out = Successors::default();
        self.space.initial(&mut out);
        if self.space.failure().is_some() {
            tally.halt(Incomplete::Failed);
            return;
        }
        let mut best = BestWitnesses::new(self.search.max_findings);
        let mut worker = unlock(self.workers[0].lock());
        for (state, taken) in out.words.chunks_exact(self.space.width()).zip(&out.transitions) {
            let predecessor = (&[][..], taken.action, NO_PARENT);
            if taken.flags & FAULT != 0 {
                worker.counts.faults += 1;
                if self.search.kinds.faults {
                    best.add(0, FindingKind::Fault, &[], predecessor);
                }
                continue;
            }
            if taken.flags & BAD != 0 {
                worker.counts.bad += 1;
                if self.search.kinds.bad {
                    best.add(0, FindingKind::Bad, state, predecessor);
                }
            }
            worker.start(state, self.known, tally);
        }
        worker.report(self.known, tally);
        drop(worker);
        self.add_findings(best);
    }

    /// Sets up the level to expand.
    fn prepare_level<P>(&self, level: &mut Level<'_, S, P>, depth: u64) {
        level.next = self.starts.iter().map(|start| AtomicU64::new(u64::from(*start))).collect();
        level.ends.clone_from(&self.ends);
        level.depth = depth;
        level.keeps_new = self.search.limits.depth.is_none_or(|most| depth < most);
    }

    /// Collects the workers' findings of a level.
    fn collect_findings(&mut self) {
        let mut best = BestWitnesses::new(self.search.max_findings);
        for worker in self.workers {
            best.merge(&mut unlock(worker.lock()).best);
        }
        self.add_findings(best);
    }

    /// Adds the findings of a level that are new.
    fn add_findings(&mut self, best: BestWitnesses) {
        for (key, predecessor) in best.into_sorted() {
            if self.findings.len() >= self.search.max_findings {
                return;
            }
            // Every further step to a bad configuration reports it again; other kinds are reported once, when expanded.
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
        let mut path = Path { states: Vec::new(), actions: Vec::new(), back: None, fault: None };
        let mut at = predecessor.from;
        while at != NO_PARENT {
            let (state, parent) = self.known.state(at);
            path.states.push(state);
            at = parent;
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

    /// The least action that leads from one state to another. At least one exists.
    fn action(&self, source: &[u64], target: &[u64], out: &mut Successors) -> u32 {
        out.clear();
        self.space.successors(source, out);
        let targets = out.words.chunks_exact(self.space.width());
        let leading = targets
            .zip(&out.transitions)
            .filter(|(state, taken)| *state == target && taken.flags & FAULT == 0);
        leading.map(|(_, taken)| taken.action).min().unwrap_or_default()
    }
}
