//! One worker thread of a breadth-first search.

use super::best_witnesses::BestWitnesses;
use super::shared_visited::{Candidate, NO_PARENT, ParentLink, SharedVisited, TableGuard};
use crate::hash::hash;
use crate::limits::{Incomplete, ProgressListener};
use crate::options::FindingKinds;
use crate::result::FindingKind;
use crate::search_counters::{SearchCounters, ThreadCounts};
use crate::state_space::{BAD, FAULT, StateSpace, Successors};
use crate::table::FirstLookup;
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
    /// The kinds of findings to report.
    pub(super) kinds: FindingKinds,
    pub(super) counters: &'a SearchCounters<'a, P>,
    pub(super) visited: &'a SharedVisited,
    /// For each worker, the first of its rows that is not expanded yet.
    pub(super) next: Vec<AtomicU64>,
    /// For each worker, the end of the rows of this level.
    pub(super) ends: Vec<u32>,
    /// Number of steps from the start.
    pub(super) depth: u64,
    /// Whether new states are stored. False at the last level within the depth limit.
    pub(super) stores_new_states: bool,
}

impl<S, P> Level<'_, S, P> {
    /// Claims up to `states` states to expand: the worker that stored them, and their rows. The worker's own rows come
    /// first.
    fn claim_rows(&self, worker: usize, states: usize) -> Option<(usize, Range<u32>)> {
        let count = self.next.len();
        (worker..worker + count).map(|worker| worker % count).find_map(|worker| {
            let end = u64::from(self.ends[worker]);
            let start = self.next[worker].fetch_add(states as u64, Relaxed);
            (start < end).then(|| (worker, start as u32..end.min(start + states as u64) as u32))
        })
    }
}

/// A worker with its buffers.
pub(super) struct Worker {
    number: usize,
    /// The number of rows that this worker has stored.
    pub(super) rows: u32,
    /// The smallest findings of this level.
    pub(super) best: BestWitnesses,
    /// Whether there are configurations beyond the depth limit.
    pub(super) depth_exceeded: bool,
    pub(super) counts: ThreadCounts,
    /// The number of states to expand in the next batch.
    batch_size: usize,
    /// The words of the states of the batch.
    states: Vec<u64>,
    /// Their successors.
    out: Successors,
    /// For each state of the batch, the end of its successors in `out`.
    ends: Vec<u32>,
    /// The successors to look up; their words come first in `out`.
    candidates: Vec<Candidate>,
    /// For each candidate, the result of its first lookup.
    lookups: Vec<FirstLookup>,
}

/// Ends the search if the worker panics.
struct PanicGuard<'a, P: ProgressListener>(&'a SearchCounters<'a, P>);

impl<P: ProgressListener> Drop for PanicGuard<'_, P> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.halt(Incomplete::Stopped);
        }
    }
}

impl Worker {
    pub(super) fn new(number: usize, max_findings: usize) -> Worker {
        Worker {
            number,
            rows: 0,
            best: BestWitnesses::new(max_findings),
            depth_exceeded: false,
            counts: ThreadCounts::default(),
            batch_size: 1,
            states: Vec::new(),
            out: Successors::default(),
            ends: Vec::new(),
            candidates: Vec::new(),
            lookups: Vec::new(),
        }
    }

    /// Inserts an initial state.
    pub(super) fn insert_initial<P: ProgressListener>(
        &mut self,
        state: &[u64],
        visited: &SharedVisited,
        counters: &SearchCounters<'_, P>,
    ) {
        let candidate = Candidate { hash: hash(state), link: ParentLink::new(0, NO_PARENT) };
        let row = (self.number, self.rows);
        let inserted = visited
            .acquire(1)
            .and_then(|mut table| table.insert(row, state, candidate, FirstLookup::Unknown, &[u32::MAX]));
        match inserted {
            Ok(is_new) => {
                self.rows += u32::from(is_new);
                self.counts.states += u64::from(is_new);
            }
            Err(_) => counters.halt(Incomplete::Memory),
        }
    }

    /// Expands states of a level until none remain.
    pub(super) fn run<S: StateSpace, P: ProgressListener>(&mut self, level: &Level<'_, S, P>) {
        let _guard = PanicGuard(level.counters);
        while level.counters.halt_reason().is_none()
            && let Some((writer, rows)) = level.claim_rows(self.number, self.batch_size)
        {
            self.states.clear();
            rows.clone().for_each(|row| level.visited.copy(writer, row, &mut self.states));
            self.out.clear();
            self.ends.clear();
            level.space.bulk_successors(&self.states, &mut self.out, &mut self.ends);
            if level.space.failure().is_some() {
                level.counters.halt(Incomplete::Failed);
                break;
            }
            match level.visited.acquire(self.out.len()) {
                Ok(mut table) => {
                    self.collect_candidates(writer, rows.clone(), &table, level);
                    self.insert_candidates(&mut table, level);
                }
                Err(_) => level.counters.halt(Incomplete::Memory),
            }
            self.batch_size = match self.out.len() {
                few if few < TARGET_SUCCESSORS => (self.batch_size * 2).min(MAX_STATES),
                many if many > 2 * TARGET_SUCCESSORS => (self.batch_size / 2).max(1),
                _ => self.batch_size,
            };
            self.counts.expanded += rows.len() as u64;
            self.flush_counts(level.visited, level.counters);
        }
    }

    /// Records the findings among the successors of a batch, and prefetches the table lines of the others.
    fn collect_candidates<S: StateSpace, P: ProgressListener>(
        &mut self,
        writer: usize,
        rows: Range<u32>,
        table: &TableGuard<'_>,
        level: &Level<'_, S, P>,
    ) {
        let width = level.space.width();
        let mut start = 0;
        self.candidates.clear();
        for ((row, source), end) in rows.zip(self.states.chunks_exact(width)).zip(&self.ends) {
            let parent = level.visited.number(writer, row);
            let link = ParentLink::new(hash(source), parent);
            let end = *end as usize;
            if start == end {
                self.counts.deadlocks += 1;
                if level.kinds.deadlocks {
                    self.best.add(level.depth, FindingKind::Deadlock, source, (source, 0, parent));
                }
            }
            self.counts.transitions += (end - start) as u64;
            for index in start..end {
                let state = self.out.state(index, width);
                let transition = self.out.transitions[index];
                if transition.flags & (FAULT | BAD) != 0 {
                    if transition.flags & FAULT != 0 {
                        self.counts.transitions -= 1;
                        self.counts.faults += 1;
                        if level.kinds.faults {
                            self.best.add(
                                level.depth,
                                FindingKind::Fault,
                                source,
                                (source, transition.action, parent),
                            );
                        }
                        continue;
                    }
                    self.counts.bad += 1;
                    // The step exceeds the limit; its target may still be a visited configuration.
                    self.depth_exceeded |= !level.stores_new_states;
                    if level.kinds.bad && level.stores_new_states {
                        self.best.add(
                            level.depth + 1,
                            FindingKind::Bad,
                            state,
                            (source, transition.action, parent),
                        );
                    }
                }
                let hash = hash(state);
                table.prefetch(hash);
                // Candidates are moved together, so that their words are in the same order as `candidates`.
                let position = self.candidates.len();
                if position < index {
                    self.out.words.copy_within(index * width..(index + 1) * width, position * width);
                }
                self.candidates.push(Candidate { hash, link });
            }
            start = end;
        }
    }

    /// Inserts the candidates whose table lines were prefetched.
    fn insert_candidates<S: StateSpace, P: ProgressListener>(
        &mut self,
        table: &mut TableGuard<'_>,
        level: &Level<'_, S, P>,
    ) {
        self.lookups.clear();
        self.lookups.extend(self.candidates.iter().map(|candidate| table.first_lookup(candidate.hash)));
        let states = self.out.words.chunks_exact(level.space.width());
        let mut candidates = states.zip(&self.candidates);
        if !level.stores_new_states {
            self.depth_exceeded |=
                candidates.any(|(state, candidate)| !table.contains(state, candidate.hash));
            return;
        }
        for ((state, candidate), lookup) in candidates.zip(&self.lookups) {
            match table.insert((self.number, self.rows), state, *candidate, *lookup, &level.ends) {
                Ok(is_new) => {
                    self.rows += u32::from(is_new);
                    self.counts.states += u64::from(is_new);
                }
                Err(_) => return level.counters.halt(Incomplete::Memory),
            }
        }
    }

    /// Adds the counts to those of the search.
    pub(super) fn flush_counts<P: ProgressListener>(
        &mut self,
        visited: &SharedVisited,
        counters: &SearchCounters<'_, P>,
    ) {
        let table_bytes = if self.number == 0 { visited.table_bytes() } else { 0 };
        self.counts.memory = visited.row_bytes(self.rows as usize) + table_bytes;
        counters.add(&mut self.counts);
    }
}
