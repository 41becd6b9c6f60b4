//! One worker thread of a breadth-first search.

use super::best_witnesses::BestWitnesses;
use super::shared_visited::{Candidate, NO_PARENT, ParentLink, SharedVisited, TableGuard};
use crate::hash::hash;
use crate::limits::{Incomplete, ProgressListener};
use crate::options::FindingKinds;
use crate::result::FindingKind;
use crate::state_space::{BAD, FAULT, StateSpace, Successors};
use crate::table::FirstLookup;
use crate::tally::{Counts, Tally};
use std::ops::Range;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

/// Target number of successors of a batch: enough to overlap their cache misses, few enough to stay in the cache until
/// they are looked up.
const TARGET_SUCCESSORS: usize = 256;
/// Maximum number of states expanded in one batch.
const MAX_STATES: usize = 128;

/// Data shared by all workers during one level.
pub(super) struct Level<'a, S, P> {
    pub(super) space: &'a S,
    pub(super) wanted: FindingKinds,
    pub(super) tally: &'a Tally<'a, P>,
    pub(super) known: &'a SharedVisited,
    /// For each worker, the first of its rows that is not expanded yet.
    pub(super) next: Vec<AtomicU64>,
    /// For each worker, the end of the rows of this level.
    pub(super) ends: Vec<u32>,
    /// Number of steps from the start.
    pub(super) depth: u64,
    /// Whether new states are stored. False at the last level within the depth limit.
    pub(super) keeps_new: bool,
}

impl<S, P> Level<'_, S, P> {
    /// Takes up to `states` states to expand: the worker that stored them, and their rows. Own rows are taken first.
    fn take(&self, worker: usize, states: usize) -> Option<(usize, Range<u32>)> {
        let count = self.next.len();
        (worker..worker + count).map(|worker| worker % count).find_map(|worker| {
            let end = u64::from(self.ends[worker]);
            let start = self.next[worker].fetch_add(states as u64, Relaxed);
            (start < end).then(|| (worker, start as u32..end.min(start + states as u64) as u32))
        })
    }
}

pub(super) struct Worker {
    number: usize,
    /// The number of rows that this worker has stored.
    pub(super) rows: u32,
    /// The least findings of this level.
    pub(super) best: BestWitnesses,
    /// Whether there are configurations beyond the depth limit.
    pub(super) depth_exceeded: bool,
    pub(super) counts: Counts,
    /// The number of states to expand in the next batch.
    batch: usize,
    states: Vec<u64>,
    out: Successors,
    ends: Vec<u32>,
    entries: Vec<Candidate>,
    /// For each candidate, the result of its first lookup.
    lookups: Vec<FirstLookup>,
}

/// Ends the search if the worker panics.
struct PanicGuard<'a, P: ProgressListener>(&'a Tally<'a, P>);

impl<P: ProgressListener> Drop for PanicGuard<'_, P> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.halt(Incomplete::Stopped);
        }
    }
}

impl Worker {
    pub(super) fn new(number: usize, most: usize) -> Worker {
        Worker {
            number,
            rows: 0,
            best: BestWitnesses::new(most),
            depth_exceeded: false,
            counts: Counts::default(),
            batch: 1,
            states: Vec::new(),
            out: Successors::default(),
            ends: Vec::new(),
            entries: Vec::new(),
            lookups: Vec::new(),
        }
    }

    /// Inserts an initial state.
    pub(super) fn start<P: ProgressListener>(
        &mut self,
        state: &[u64],
        known: &SharedVisited,
        tally: &Tally<'_, P>,
    ) {
        let entry = Candidate { hash: hash(state), link: ParentLink::new(0, NO_PARENT) };
        let place = (self.number, self.rows);
        let inserted = known
            .acquire(1)
            .and_then(|mut held| held.insert(place, state, entry, FirstLookup::Unknown, &[u32::MAX]));
        match inserted {
            Ok(is_new) => {
                self.rows += u32::from(is_new);
                self.counts.states += u64::from(is_new);
            }
            Err(_) => tally.halt(Incomplete::Memory),
        }
    }

    /// Expands states of a level until none are left.
    pub(super) fn run<S: StateSpace, P: ProgressListener>(&mut self, level: &Level<'_, S, P>) {
        let _guard = PanicGuard(level.tally);
        while level.tally.halted().is_none()
            && let Some((writer, rows)) = level.take(self.number, self.batch)
        {
            self.states.clear();
            rows.clone().for_each(|row| level.known.copy(writer, row, &mut self.states));
            self.out.clear();
            self.ends.clear();
            level.space.bulk(&self.states, &mut self.out, &mut self.ends);
            if level.space.failure().is_some() {
                level.tally.halt(Incomplete::Failed);
                break;
            }
            match level.known.acquire(self.out.len()) {
                Ok(mut held) => {
                    self.collect_candidates(writer, rows.clone(), &held, level);
                    self.take(&mut held, level);
                }
                Err(_) => level.tally.halt(Incomplete::Memory),
            }
            self.batch = match self.out.len() {
                few if few < TARGET_SUCCESSORS => (self.batch * 2).min(MAX_STATES),
                many if many > 2 * TARGET_SUCCESSORS => (self.batch / 2).max(1),
                _ => self.batch,
            };
            self.counts.expanded += rows.len() as u64;
            self.report(level.known, level.tally);
        }
    }

    /// Records the findings among the successors of a batch, and prefetches the table lines of the others.
    fn collect_candidates<S: StateSpace, P: ProgressListener>(
        &mut self,
        writer: usize,
        rows: Range<u32>,
        held: &TableGuard<'_>,
        level: &Level<'_, S, P>,
    ) {
        let width = level.space.width();
        let mut from = 0;
        self.entries.clear();
        for ((row, source), end) in rows.zip(self.states.chunks_exact(width)).zip(&self.ends) {
            let parent = level.known.number(writer, row);
            let link = ParentLink::new(hash(source), parent);
            let upto = *end as usize;
            if from == upto {
                self.counts.deadlocks += 1;
                if level.wanted.deadlocks {
                    self.best.add(level.depth, FindingKind::Deadlock, source, (source, 0, parent));
                }
            }
            self.counts.transitions += (upto - from) as u64;
            for at in from..upto {
                let state = self.out.state(at, width);
                let taken = self.out.transitions[at];
                if taken.flags & (FAULT | BAD) != 0 {
                    if taken.flags & FAULT != 0 {
                        self.counts.transitions -= 1;
                        self.counts.faults += 1;
                        if level.wanted.faults {
                            self.best.add(
                                level.depth,
                                FindingKind::Fault,
                                source,
                                (source, taken.action, parent),
                            );
                        }
                        continue;
                    }
                    self.counts.bad += 1;
                    // The step exceeds the limit; its target may still be a known configuration.
                    self.depth_exceeded |= !level.keeps_new;
                    if level.wanted.bad && level.keeps_new {
                        self.best.add(
                            level.depth + 1,
                            FindingKind::Bad,
                            state,
                            (source, taken.action, parent),
                        );
                    }
                }
                let hash = hash(state);
                held.prefetch(hash);
                // Candidates are moved together, so that their words are in the same order as `entries`.
                let to = self.entries.len();
                if to < at {
                    self.out.words.copy_within(at * width..(at + 1) * width, to * width);
                }
                self.entries.push(Candidate { hash, link });
            }
            from = upto;
        }
    }

    /// Inserts the candidates whose table lines were prefetched.
    fn take<S: StateSpace, P: ProgressListener>(
        &mut self,
        held: &mut TableGuard<'_>,
        level: &Level<'_, S, P>,
    ) {
        self.lookups.clear();
        self.lookups.extend(self.entries.iter().map(|entry| held.first_lookup(entry.hash)));
        let states = self.out.words.chunks_exact(level.space.width());
        let mut entries = states.zip(&self.entries);
        if !level.keeps_new {
            self.depth_exceeded |= entries.any(|(state, entry)| !held.contains(state, entry.hash));
            return;
        }
        for ((state, entry), look) in entries.zip(&self.lookups) {
            match held.insert((self.number, self.rows), state, *entry, *look, &level.ends) {
                Ok(is_new) => {
                    self.rows += u32::from(is_new);
                    self.counts.states += u64::from(is_new);
                }
                Err(_) => return level.tally.halt(Incomplete::Memory),
            }
        }
    }

    /// Reports the counts to the tally.
    pub(super) fn report<P: ProgressListener>(&mut self, known: &SharedVisited, tally: &Tally<'_, P>) {
        let table = if self.number == 0 { known.table_bytes() } else { 0 };
        self.counts.memory = known.row_bytes(self.rows as usize) + table;
        tally.add(&mut self.counts);
    }
}
