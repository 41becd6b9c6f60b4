//! The states that are known to all workers.
//!
//! Each worker writes down the states that it is the first to come to, and puts their numbers into one table. A number has
//! the worker in its lower bits and the row in its upper ones. The table is held by all workers for as long as they need
//! to look up a batch; who finds that it must grow waits until the others have let go of it.

use super::rows::Rows;
use crate::prefetch;
use crate::store::Full;
use crate::table::{Look, Place, Table};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU64, AtomicUsize};
use std::sync::{PoisonError, RwLock, RwLockReadGuard};

/// A state without a parent.
pub(super) const NONE: u32 = u32::MAX;

pub(super) struct Known {
    rows: Vec<Rows>,
    /// The bits of a number that say who wrote the state down.
    bits: u32,
    table: RwLock<Table>,
    /// The slots that are used or promised.
    used: AtomicUsize,
    /// How many of them may be.
    most: AtomicUsize,
    /// The bytes of the table.
    bytes: AtomicU64,
    most_bytes: u64,
}

/// The table, with room for some states.
pub(super) struct Held<'a> {
    known: &'a Known,
    table: RwLockReadGuard<'a, Table>,
    /// How many more states there is room for.
    promised: usize,
}

/// A state on its way into the table. Its words lie elsewhere.
#[derive(Clone, Copy)]
pub(super) struct Entry {
    pub(super) hash: u64,
    pub(super) link: Link,
}

/// Where a state comes from: of several, the least is remembered.
#[derive(Clone, Copy)]
pub(super) struct Link(u64);

impl Link {
    /// `hash` is that of the state it comes from: links must not depend on who finds what when, as numbers do.
    pub(super) fn new(hash: u64, parent: u32) -> Link {
        Link(hash << 32 | u64::from(parent))
    }
}

impl Known {
    /// None if there is no memory for the least of tables.
    pub(super) fn new(width: usize, workers: usize, most_bytes: u64) -> Option<Known> {
        let table = Table::new()?;
        let bits = workers.next_power_of_two().ilog2();
        let by_memory = usize::try_from(most_bytes / 8).unwrap_or(usize::MAX) / (width + 1);
        let most = (NONE as usize >> bits).min(by_memory).max(1);
        Some(Known {
            rows: (0..workers).map(|_| Rows::new(width, most)).collect::<Option<_>>()?,
            bits,
            used: AtomicUsize::new(0),
            most: AtomicUsize::new(table.slots() / 4 * 3),
            bytes: AtomicU64::new(table.slots() as u64 * 8),
            table: RwLock::new(table),
            most_bytes,
        })
    }

    /// The number of a state that `worker` wrote down.
    pub(super) fn number(&self, worker: usize, row: u32) -> u32 {
        row << self.bits | worker as u32
    }

    fn who(&self, number: u32) -> (usize, u32) {
        ((number & ((1 << self.bits) - 1)) as usize, number >> self.bits)
    }

    /// Bytes of `rows` rows.
    pub(super) fn row_bytes(&self, rows: usize) -> u64 {
        (rows * self.rows[0].bytes()) as u64
    }

    /// Bytes of the table.
    pub(super) fn table_bytes(&self) -> u64 {
        self.bytes.load(Relaxed)
    }

    /// Appends the words of a state.
    pub(super) fn copy(&self, worker: usize, row: u32, to: &mut Vec<u64>) {
        if let Some((_, state)) = self.rows[worker].get(row).split_last() {
            to.extend(state.iter().map(|word| word.load(Relaxed)));
        }
    }

    /// A state by its number, and the number of its parent.
    pub(super) fn state(&self, number: u32) -> (Box<[u64]>, u32) {
        let (worker, row) = self.who(number);
        let mut state = Vec::new();
        self.copy(worker, row, &mut state);
        let link = self.rows[worker].get(row).last().map_or(u64::MAX, |link| link.load(Relaxed));
        (state.into(), link as u32)
    }

    /// Holds the table, with room for that many more states.
    pub(super) fn hold(&self, states: usize) -> Result<Held<'_>, Full> {
        loop {
            let table = self.table.read().unwrap_or_else(PoisonError::into_inner);
            if self.used.fetch_add(states, Relaxed) + states <= self.most.load(Relaxed) {
                return Ok(Held { known: self, table, promised: states });
            }
            self.used.fetch_sub(states, Relaxed);
            drop(table);
            self.grow(states)?;
        }
    }

    /// Makes the table larger, unless somebody has done so.
    #[cold]
    fn grow(&self, states: usize) -> Result<(), Full> {
        let mut table = self.table.write().unwrap_or_else(PoisonError::into_inner);
        let used = self.used.load(Relaxed);
        while used + states > self.most.load(Relaxed) {
            let is_allowed = self.row_bytes(used + states) + table.slots() as u64 * 16 < self.most_bytes;
            // Where it could not grow, it is filled more than is good for it; beyond that there is no end of probing.
            let has_grown = is_allowed && table.grow(self.rows.len());
            let most = if has_grown { table.slots() / 4 * 3 } else { table.slots() / 16 * 15 };
            let bytes = table.slots() as u64 * 8;
            let room = self.most_bytes.saturating_sub(bytes) / self.row_bytes(1);
            let most = most.min(usize::try_from(room).unwrap_or(usize::MAX));
            self.bytes.store(bytes, Relaxed);
            if most <= self.most.swap(most, Relaxed) && used + states > most {
                return Err(Full);
            }
        }
        Ok(())
    }
}

impl Held<'_> {
    /// A state of this hash will be looked for soon: asks for its place.
    #[inline]
    pub(super) fn prefetch(&self, hash: u64) {
        self.table.prefetch(hash);
    }

    /// When the place had time to come: what a look at it tells. The state that it probably is is asked for.
    #[inline]
    pub(super) fn look(&self, hash: u64) -> Look {
        let look = self.table.look(hash);
        if let Look::Likely(number) = look {
            prefetch::all(self.row(number));
        }
        look
    }

    /// Whether a state is known.
    pub(super) fn contains(&self, state: &[u64], hash: u64) -> bool {
        matches!(self.table.place(hash, |number| self.is(number, state)), Place::Known(_))
    }

    #[inline]
    fn row(&self, number: u32) -> &[AtomicU64] {
        let (worker, row) = self.known.who(number);
        self.known.rows[worker].get(row)
    }

    #[inline]
    fn is(&self, number: u32, state: &[u64]) -> bool {
        // Compares in place: states are too short for a call.
        self.row(number).iter().zip(state).all(|(known, word)| known.load(Relaxed) == *word)
    }

    /// Writes a state down in the next row of `worker`, unless it is known; then it may come from elsewhere, if it is one of
    /// those behind the rows of `ends`. Says whether it is new.
    #[inline]
    pub(super) fn insert(
        &mut self,
        (worker, row): (usize, u32),
        state: &[u64],
        entry: Entry,
        look: Look,
        ends: &[u32],
    ) -> Result<bool, Full> {
        let mut place = match look {
            Look::Likely(number) if self.is(number, state) => Place::Known(number),
            Look::New(at) => match self.table.still_free(entry.hash, at) {
                Some(slot) => Place::Free(slot),
                None => self.place(state, entry.hash),
            },
            _ => self.place(state, entry.hash),
        };
        let mut is_written = false;
        loop {
            match place {
                Place::Known(number) => {
                    self.meet(number, entry.link, ends);
                    return Ok(false);
                }
                Place::Free(slot) => {
                    let has_room = row < NONE >> self.known.bits && self.promised > 0;
                    let rows = &self.known.rows[worker];
                    is_written = is_written || has_room && rows.write(row, state, entry.link.0);
                    if !is_written {
                        return Err(Full);
                    }
                    let number = self.known.number(worker, row);
                    if self.known.rows.len() == 1 {
                        self.table.put(slot, entry.hash, number);
                    } else if !self.table.claim(slot, entry.hash, number) {
                        // Somebody was faster, perhaps with the same state.
                        place = self.place(state, entry.hash);
                        continue;
                    }
                    self.promised -= 1;
                    return Ok(true);
                }
            }
        }
    }

    fn place(&self, state: &[u64], hash: u64) -> Place {
        self.table.place(hash, |number| self.is(number, state))
    }

    /// A state was come to once more.
    #[inline]
    fn meet(&self, number: u32, link: Link, ends: &[u32]) {
        let (worker, row) = self.known.who(number);
        if row >= ends[worker]
            && let Some(known) = self.known.rows[worker].get(row).last()
            && link.0 < known.load(Relaxed)
        {
            known.fetch_min(link.0, Relaxed);
        }
    }
}

impl Drop for Held<'_> {
    /// What was promised and not used is given back.
    fn drop(&mut self) {
        self.known.used.fetch_sub(self.promised, Relaxed);
    }
}
