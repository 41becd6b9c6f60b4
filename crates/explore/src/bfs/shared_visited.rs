//! The visited states of all workers.
//!
//! Each worker stores the states that it reaches first, and inserts their numbers into one shared table. The lower bits
//! of a number are the worker, the upper ones the row. Workers hold a read lock on the table while they look up a
//! batch; a worker that needs more space waits for the write lock and grows the table.

use super::worker_states::WorkerStates;
use crate::prefetch;
use crate::store::StoreFull;
use crate::table::{FirstLookup, Slot, Table};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU64, AtomicUsize};
use std::sync::{PoisonError, RwLock, RwLockReadGuard};

/// Parent number of an initial state.
pub(super) const NO_PARENT: u32 = u32::MAX;

/// The visited states of a search, shared by its workers.
pub(super) struct SharedVisited {
    rows: Vec<WorkerStates>,
    /// Number of bits of a state number that contain the worker.
    worker_bits: u32,
    table: RwLock<Table>,
    /// The number of used and reserved slots.
    used: AtomicUsize,
    /// Maximum of `used` before the table must grow.
    max_used: AtomicUsize,
    /// The size of the table in bytes.
    bytes: AtomicU64,
    /// Maximum number of bytes for states and table.
    max_bytes: u64,
}

/// Read lock on the table with reserved slots.
pub(super) struct TableGuard<'a> {
    visited: &'a SharedVisited,
    table: RwLockReadGuard<'a, Table>,
    /// The number of reserved slots that are still unused.
    reserved: usize,
}

/// A state that is looked up; its words are stored elsewhere.
#[derive(Clone, Copy)]
pub(super) struct Candidate {
    pub(super) hash: u64,
    pub(super) link: ParentLink,
}

/// The parent of a state, with its hash. If a state has several parents, the smallest link is kept.
#[derive(Clone, Copy)]
pub(super) struct ParentLink(u64);

impl ParentLink {
    /// `hash` is the hash of the parent. Links compare by hash first, because numbers depend on the order in which
    /// threads run.
    pub(super) fn new(hash: u64, parent: u32) -> ParentLink {
        ParentLink(hash << 32 | u64::from(parent))
    }
}

impl SharedVisited {
    /// Returns none if there is no memory for the smallest table.
    pub(super) fn new(width: usize, workers: usize, max_bytes: u64) -> Option<SharedVisited> {
        let table = Table::new()?;
        let worker_bits = workers.next_power_of_two().ilog2();
        let max_rows = usize::try_from(max_bytes / 8).unwrap_or(usize::MAX) / (width + 1);
        let max_states = (NO_PARENT as usize >> worker_bits).min(max_rows).max(1);
        Some(SharedVisited {
            rows: (0..workers).map(|_| WorkerStates::new(width, max_states)).collect::<Option<_>>()?,
            worker_bits,
            used: AtomicUsize::new(0),
            max_used: AtomicUsize::new(table.slots() / 4 * 3),
            bytes: AtomicU64::new(table.slots() as u64 * 8),
            table: RwLock::new(table),
            max_bytes,
        })
    }

    /// The number of a state that `worker` stored.
    pub(super) fn number(&self, worker: usize, row: u32) -> u32 {
        row << self.worker_bits | worker as u32
    }

    /// The worker and the row of a state number.
    fn locate(&self, number: u32) -> (usize, u32) {
        ((number & ((1 << self.worker_bits) - 1)) as usize, number >> self.worker_bits)
    }

    /// The size of `rows` rows in bytes.
    pub(super) fn row_bytes(&self, rows: usize) -> u64 {
        (rows * self.rows[0].bytes()) as u64
    }

    /// The size of the table in bytes.
    pub(super) fn table_bytes(&self) -> u64 {
        self.bytes.load(Relaxed)
    }

    /// Appends the words of a state.
    pub(super) fn copy(&self, worker: usize, row: u32, to: &mut Vec<u64>) {
        if let Some((_, state)) = self.rows[worker].get(row).split_last() {
            to.extend(state.iter().map(|word| word.load(Relaxed)));
        }
    }

    /// The words of a state and the number of its parent.
    pub(super) fn state(&self, number: u32) -> (Box<[u64]>, u32) {
        let (worker, row) = self.locate(number);
        let mut state = Vec::new();
        self.copy(worker, row, &mut state);
        let link = self.rows[worker].get(row).last().map_or(u64::MAX, |link| link.load(Relaxed));
        (state.into(), link as u32)
    }

    /// Locks the table and reserves slots for `states` states.
    pub(super) fn acquire(&self, states: usize) -> Result<TableGuard<'_>, StoreFull> {
        loop {
            let table = self.table.read().unwrap_or_else(PoisonError::into_inner);
            if self.used.fetch_add(states, Relaxed) + states <= self.max_used.load(Relaxed) {
                return Ok(TableGuard { visited: self, table, reserved: states });
            }
            self.used.fetch_sub(states, Relaxed);
            drop(table);
            self.grow(states)?;
        }
    }

    /// Grows the table unless another worker already did.
    #[cold]
    fn grow(&self, states: usize) -> Result<(), StoreFull> {
        let mut table = self.table.write().unwrap_or_else(PoisonError::into_inner);
        let used = self.used.load(Relaxed);
        while used + states > self.max_used.load(Relaxed) {
            let is_allowed = self.row_bytes(used + states) + table.slots() as u64 * 16 < self.max_bytes;
            // If the table cannot grow, a load factor up to 15/16 is accepted; beyond that, probing is too slow.
            let has_grown = is_allowed && table.grow(self.rows.len());
            let max_used = if has_grown { table.slots() / 4 * 3 } else { table.slots() / 16 * 15 };
            let bytes = table.slots() as u64 * 8;
            let max_rows = self.max_bytes.saturating_sub(bytes) / self.row_bytes(1);
            let max_used = max_used.min(usize::try_from(max_rows).unwrap_or(usize::MAX));
            self.bytes.store(bytes, Relaxed);
            if max_used <= self.max_used.swap(max_used, Relaxed) && used + states > max_used {
                return Err(StoreFull);
            }
        }
        Ok(())
    }
}

impl TableGuard<'_> {
    /// Prefetches the home line of a hash.
    #[inline]
    pub(super) fn prefetch(&self, hash: u64) {
        self.table.prefetch(hash);
    }

    /// Probes the prefetched home line of a hash, and prefetches the state that probably matches.
    #[inline]
    pub(super) fn first_lookup(&self, hash: u64) -> FirstLookup {
        let lookup = self.table.first_lookup(hash);
        if let FirstLookup::Likely(number) = lookup {
            prefetch::prefetch_words(self.row(number));
        }
        lookup
    }

    /// Whether a state is in the table.
    pub(super) fn contains(&self, state: &[u64], hash: u64) -> bool {
        matches!(self.table.find_slot(hash, |number| self.is_state(number, state)), Slot::Occupied(_))
    }

    #[inline]
    fn row(&self, number: u32) -> &[AtomicU64] {
        let (worker, row) = self.visited.locate(number);
        self.visited.rows[worker].get(row)
    }

    #[inline]
    fn is_state(&self, number: u32, state: &[u64]) -> bool {
        // Inline comparison: states are too short for a call to `memcmp`.
        self.row(number).iter().zip(state).all(|(stored, word)| stored.load(Relaxed) == *word)
    }

    /// Stores a state in the next row of `worker` unless it is stored already. Returns whether it is new.
    ///
    /// A stored state of the next level, whose row is at or after that in `ends`, may get a smaller parent link.
    #[inline]
    pub(super) fn insert(
        &mut self,
        (worker, row): (usize, u32),
        state: &[u64],
        candidate: Candidate,
        first_lookup: FirstLookup,
        ends: &[u32],
    ) -> Result<bool, StoreFull> {
        let mut slot = match first_lookup {
            FirstLookup::Likely(number) if self.is_state(number, state) => Slot::Occupied(number),
            FirstLookup::New(at) => match self.table.free_slot(candidate.hash, at) {
                Some(slot) => Slot::Free(slot),
                None => self.find_slot(state, candidate.hash),
            },
            _ => self.find_slot(state, candidate.hash),
        };
        let mut is_written = false;
        loop {
            match slot {
                Slot::Occupied(number) => {
                    self.lower_parent_link(number, candidate.link, ends);
                    return Ok(false);
                }
                Slot::Free(free) => {
                    let has_space = row < NO_PARENT >> self.visited.worker_bits && self.reserved > 0;
                    let rows = &self.visited.rows[worker];
                    is_written = is_written || has_space && rows.write(row, state, candidate.link.0);
                    if !is_written {
                        return Err(StoreFull);
                    }
                    let number = self.visited.number(worker, row);
                    if self.visited.rows.len() == 1 {
                        self.table.fill(free, candidate.hash, number);
                    } else if !self.table.claim(free, candidate.hash, number) {
                        // Another thread filled the slot first, perhaps with the same state.
                        slot = self.find_slot(state, candidate.hash);
                        continue;
                    }
                    self.reserved -= 1;
                    return Ok(true);
                }
            }
        }
    }

    fn find_slot(&self, state: &[u64], hash: u64) -> Slot {
        self.table.find_slot(hash, |number| self.is_state(number, state))
    }

    /// Lowers the parent link of a state of the next level.
    #[inline]
    fn lower_parent_link(&self, number: u32, link: ParentLink, ends: &[u32]) {
        let (worker, row) = self.visited.locate(number);
        if row >= ends[worker]
            && let Some(stored) = self.visited.rows[worker].get(row).last()
            && link.0 < stored.load(Relaxed)
        {
            stored.fetch_min(link.0, Relaxed);
        }
    }
}

impl Drop for TableGuard<'_> {
    /// Returns the unused reservation.
    fn drop(&mut self) {
        self.visited.used.fetch_sub(self.reserved, Relaxed);
    }
}
