//! Search in breadth: every configuration, level by level, and shortest ways to what is found.
//!
//! Several workers take states of a level, expand them, and look the successors up in one table of all that is known. All
//! finish a level before the next begins. What is found at a level is sorted, and of several ways to a state the same is
//! remembered whoever comes first, so the report does not depend on the number of threads.

mod best;
mod crew;
mod known;
mod rows;
mod worker;

use crate::limits::{Incomplete, Pulse};
use crate::path::Path;
use crate::report::{Certainty, Found, Report, What};
use crate::search::Search;
use crate::space::{BAD, FAULT, Space, Successors};
use crate::tally::Tally;
use best::{Best, Key, Way};
use crew::{Crew, Ending};
use known::{Known, NONE};
use std::collections::HashSet;
use std::sync::atomic::AtomicU64;
use std::sync::{LockResult, Mutex, PoisonError, RwLock};
use std::thread;
use worker::{Level, Worker};

/// The states, for each worker, from which it is worth while to have threads for a level.
const WORTH: usize = 256;

/// Looks at every configuration of `space`, those with the fewest steps from the start first.
///
/// What is found comes with a shortest path. A level is always finished, so that what is found, and its path, does not
/// depend on the number of threads, nor do the totals (but for the memory), unless a limit ends the search.
///
/// ```
/// use invigil_explore::{Search, Space, Successors, Taken, What, breadth};
///
/// /// Takes one or two matches until none is left.
/// struct Matches;
/// impl Space for Matches {
///     fn width(&self) -> usize {
///         1
///     }
///     fn initial(&self, out: &mut Successors) {
///         out.push(&[7], Taken::default());
///     }
///     fn successors(&self, state: &[u64], out: &mut Successors) {
///         for action in 1..=state[0].min(2) {
///             out.push(&[state[0] - action], Taken { action: action as u32, flags: 0 });
///         }
///     }
/// }
/// let report = breadth(&Matches, &Search { whole: true, ..Search::default() }, &());
/// assert_eq!((report.totals.states, report.totals.transitions, report.totals.depth), (8, 13, 4));
/// assert_eq!(report.found[0].what, What::Deadlock);
/// assert_eq!(report.found[0].path.actions.len(), 4);
/// ```
pub fn breadth<S: Space, P: Pulse>(space: &S, search: &Search, pulse: &P) -> Report {
    let tally = Tally::new(&search.limits, pulse);
    let most_bytes = search.limits.memory.unwrap_or(u64::MAX);
    let Some(known) = Known::new(space.width(), search.threads.max(1), most_bytes) else {
        return Report {
            totals: tally.totals(),
            bad: 0,
            incomplete: Some(Incomplete::Memory),
            found: Vec::new(),
            certainty: Certainty::Exact,
        };
    };
    let threads = search.threads.max(1);
    let workers: Vec<_> = (0..threads).map(|number| Mutex::new(Worker::new(number, search.most))).collect();
    let level = RwLock::new(Level {
        space,
        wanted: search.wanted,
        tally: &tally,
        known: &known,
        next: Vec::new(),
        ends: Vec::new(),
        depth: 0,
        is_kept: true,
    });
    let run = |worker: &Mutex<Worker>| unlock(worker.lock()).run(&*unlock(level.read()));
    let crew = Crew::default();
    let (ended, found) = thread::scope(|scope| {
        let _ending = Ending(&crew);
        let mut breadth = Breadth::new(space, search, &known, &workers);
        breadth.start(&tally);
        let (mut depth, mut has_crew) = (0, false);
        let ended = loop {
            let states = breadth.next_level();
            if space.failure().is_some() {
                break Some(Incomplete::Failed);
            }
            if let Some(reason) = tally.halted() {
                break Some(reason);
            }
            if breadth.is_enough() {
                break Some(Incomplete::Found);
            }
            if states == 0 {
                break None;
            }
            tally.reach(depth);
            breadth.begin_level(&mut *unlock(level.write()), depth);
            if states < WORTH * threads {
                run(&workers[0]);
            } else {
                if !std::mem::replace(&mut has_crew, true) {
                    crew.start(scope, &workers[1..], |worker| run(worker));
                }
                crew.round(threads - 1, || run(&workers[0]));
            }
            breadth.end_level();
            if search.limits.depth.is_some_and(|most| depth >= most) {
                let is_more = workers.iter().any(|worker| unlock(worker.lock()).is_more);
                break tally.halted().or(is_more.then_some(Incomplete::Depth));
            }
            depth += 1;
        };
        (ended, breadth.found)
    });
    let certainty = Certainty::Exact;
    Report { totals: tally.totals(), bad: tally.bad(), incomplete: ended, found, certainty }
}

/// What a lock guards, also if a worker panicked: then the search ends.
fn unlock<T>(locked: LockResult<T>) -> T {
    locked.unwrap_or_else(PoisonError::into_inner)
}

struct Breadth<'a, S> {
    space: &'a S,
    search: &'a Search,
    known: &'a Known,
    /// Between levels nobody else uses them.
    workers: &'a [Mutex<Worker>],
    /// For each worker, the rows that it had written when the level began, and when that before it did.
    ends: Vec<u32>,
    starts: Vec<u32>,
    found: Vec<Found>,
    /// The bad ones among them.
    bad: HashSet<Box<[u64]>>,
}

impl<'a, S: Space> Breadth<'a, S> {
    fn new(
        space: &'a S,
        search: &'a Search,
        known: &'a Known,
        workers: &'a [Mutex<Worker>],
    ) -> Breadth<'a, S> {
        let none = vec![0; workers.len()];
        Breadth {
            space,
            search,
            known,
            workers,
            ends: none.clone(),
            starts: none,
            found: Vec::new(),
            bad: HashSet::new(),
        }
    }

    /// What was added becomes the level to expand. Gives the number of its states.
    fn next_level(&mut self) -> usize {
        let rows = self.workers.iter().map(|worker| unlock(worker.lock()).rows).collect();
        self.starts = std::mem::replace(&mut self.ends, rows);
        self.ends.iter().zip(&self.starts).map(|(end, start)| (end - start) as usize).sum()
    }

    /// Whether all that was to be found is found.
    fn is_enough(&self) -> bool {
        !self.search.whole && self.found.len() >= self.search.most
    }

    /// The initial configurations.
    fn start<P: Pulse>(&mut self, tally: &Tally<'_, P>) {
        let mut out = Successors::default();
        self.space.initial(&mut out);
        if self.space.failure().is_some() {
            tally.halt(Incomplete::Failed);
            return;
        }
        let mut best = Best::new(self.search.most);
        let mut worker = unlock(self.workers[0].lock());
        for (state, taken) in out.words.chunks_exact(self.space.width()).zip(&out.taken) {
            let way = (&[][..], taken.action, NONE);
            if taken.flags & FAULT != 0 {
                worker.counts.faults += 1;
                if self.search.wanted.faults {
                    best.add(0, What::Fault, &[], way);
                }
                continue;
            }
            if taken.flags & BAD != 0 {
                worker.counts.bad += 1;
                if self.search.wanted.bad {
                    best.add(0, What::Bad, state, way);
                }
            }
            worker.start(state, self.known, tally);
        }
        worker.tell(self.known, tally);
        drop(worker);
        self.note(best);
    }

    /// Lays out the level to expand.
    fn begin_level<P>(&self, level: &mut Level<'_, S, P>, depth: u64) {
        level.next = self.starts.iter().map(|start| AtomicU64::new(u64::from(*start))).collect();
        level.ends.clone_from(&self.ends);
        level.depth = depth;
        level.is_kept = self.search.limits.depth.is_none_or(|most| depth < most);
    }

    /// Gathers what the workers found at a level.
    fn end_level(&mut self) {
        let mut best = Best::new(self.search.most);
        for worker in self.workers {
            best.merge(&mut unlock(worker.lock()).best);
        }
        self.note(best);
    }

    /// Adds what was found at a level, unless it was already known.
    fn note(&mut self, best: Best) {
        for (key, way) in best.into_sorted() {
            if self.found.len() >= self.search.most {
                return;
            }
            // A bad configuration is found again with every further step to it; the others are expanded once.
            if key.what != What::Bad || self.bad.insert(key.state.clone()) {
                let path = self.path(&key, &way);
                // The actions of a path are asked for again.
                if self.space.failure().is_some() {
                    return;
                }
                self.found.push(Found { what: key.what, path });
            }
        }
    }

    /// The way to what was found.
    fn path(&self, key: &Key, way: &Way) -> Path {
        let mut path = Path { states: Vec::new(), actions: Vec::new(), back: None, fault: None };
        let mut at = way.from;
        while at != NONE {
            let (state, parent) = self.known.state(at);
            path.states.push(state);
            at = parent;
        }
        path.states.reverse();
        let mut out = Successors::default();
        for pair in path.states.windows(2) {
            path.actions.push(self.action(&pair[0], &pair[1], &mut out));
        }
        match key.what {
            What::Deadlock => {}
            What::Fault => path.fault = Some(way.action),
            What::Bad => {
                if !path.states.is_empty() {
                    path.actions.push(way.action);
                }
                path.states.push(key.state.clone());
            }
        }
        path
    }

    /// The least action that leads from one state to another. There is one.
    fn action(&self, source: &[u64], target: &[u64], out: &mut Successors) -> u32 {
        out.clear();
        self.space.successors(source, out);
        let targets = out.words.chunks_exact(self.space.width());
        let leading =
            targets.zip(&out.taken).filter(|(state, taken)| *state == target && taken.flags & FAULT == 0);
        leading.map(|(_, taken)| taken.action).min().unwrap_or_default()
    }
}
