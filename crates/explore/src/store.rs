//! Exact storage of visited states.

use crate::arena::Arena;
use crate::hash::hash;
use crate::prefetch;
use crate::table::{FirstLookup, MIN_SLOTS, Slot, Table};

/// Number of states in a batch. Their table slots are prefetched before the first one is looked up.
const BATCH_SIZE: usize = 128;

/// A set of states of fixed width, numbered in the order of insertion.
///
/// Each state is stored once and completely, so lookups are exact. A state of `n` words takes `8 n` bytes, plus 11 to
/// 21 bytes in the hash table. At most 2³² - 2 states can be stored.
///
/// ```
/// use invigil_explore::Store;
///
/// let mut store = Store::new(2);
/// assert_eq!(store.insert(&[1, 2]), Ok((0, true)));
/// assert_eq!(store.insert(&[3, 4]), Ok((1, true)));
/// assert_eq!(store.insert(&[1, 2]), Ok((0, false)));
/// assert_eq!(store.get(1), &[3, 4]);
/// assert_eq!(store.find(&[5, 6]), None);
/// ```
pub struct Store {
    arena: Arena,
    table: Option<Table>,
    /// The number of states at which the table must grow.
    grow_at: usize,
    max_bytes: u64,
}

/// The store is full: it has 2³² - 2 states, or memory is exhausted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoreFull;

impl Store {
    /// A store for states of `width` words, at least one.
    pub fn new(width: usize) -> Store {
        Store { arena: Arena::new(width), table: None, grow_at: 0, max_bytes: u64::MAX }
    }

    /// Limits the memory to `max_bytes`.
    pub fn with_memory(mut self, max_bytes: u64) -> Store {
        self.max_bytes = max_bytes;
        self
    }

    /// The number of states.
    pub fn len(&self) -> usize {
        self.arena.len()
    }

    /// Whether no state is stored.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of words of a state.
    pub fn width(&self) -> usize {
        self.arena.width()
    }

    /// Bytes of the states and the table.
    pub fn memory(&self) -> u64 {
        self.arena.memory() + self.slots() as u64 * 8
    }

    /// The state with a number, which must exist.
    #[inline]
    pub fn get(&self, index: u32) -> &[u64] {
        self.arena.get(index as usize)
    }

    /// The number of a state, if it is stored.
    pub fn find(&self, state: &[u64]) -> Option<u32> {
        self.find_hashed(state, hash(state))
    }

    /// The number of a state whose hash is known.
    #[inline]
    pub(crate) fn find_hashed(&self, state: &[u64], hash: u64) -> Option<u32> {
        match self.find_slot(state, hash)? {
            Slot::Occupied(index) => Some(index),
            Slot::Free(_) => None,
        }
    }

    /// Prefetches the table slot for a hash.
    #[inline]
    pub(crate) fn prefetch_slot(&self, hash: u64) {
        if let Some(table) = &self.table {
            table.prefetch(hash);
        }
    }

    /// Inserts a state. Returns its number and whether it is new.
    pub fn insert(&mut self, state: &[u64]) -> Result<(u32, bool), StoreFull> {
        self.insert_hashed(state, hash(state))
    }

    /// Inserts a state whose [hash](crate::hash()) is known. Returns the same as [`insert`](Store::insert).
    #[inline]
    pub fn insert_hashed(&mut self, state: &[u64], hash: u64) -> Result<(u32, bool), StoreFull> {
        if self.len() >= self.grow_at {
            self.grow()?;
        }
        let slot = match self.find_slot(state, hash) {
            Some(Slot::Occupied(index)) => return Ok((index, false)),
            Some(Slot::Free(slot)) => slot,
            None => return Err(StoreFull),
        };
        let index = self.len() as u32;
        if !self.arena.push(state) {
            return Err(StoreFull);
        }
        if let Some(table) = &self.table {
            table.fill(slot, hash, index);
        }
        Ok((index, true))
    }

    /// Inserts several consecutive states. `inserted` receives the results of [`insert`](Store::insert) for each.
    /// Prefetching makes this much faster than single insertions.
    ///
    /// ```
    /// # use invigil_explore::Store;
    /// let (mut store, mut found) = (Store::new(1), Vec::new());
    /// store.insert_all(&[7, 8, 7], &mut found)?;
    /// assert_eq!(found, [(0, true), (1, true), (0, false)]);
    /// # Ok::<(), invigil_explore::StoreFull>(())
    /// ```
    pub fn insert_all(&mut self, states: &[u64], inserted: &mut Vec<(u32, bool)>) -> Result<(), StoreFull> {
        let width = self.width();
        let (mut hashes, mut lookups) = ([0; BATCH_SIZE], [FirstLookup::Unknown; BATCH_SIZE]);
        for batch in states.chunks(BATCH_SIZE * width) {
            for (state, into) in batch.chunks_exact(width).zip(&mut hashes) {
                *into = hash(state);
                self.prefetch_slot(*into);
            }
            let count = batch.len() / width;
            for (into, hash) in lookups.iter_mut().zip(&hashes[..count]) {
                *into = self.first_lookup(*hash);
            }
            for ((state, hash), lookup) in batch.chunks_exact(width).zip(&hashes).zip(&lookups) {
                inserted.push(match lookup {
                    FirstLookup::Likely(index) if is_same(self.get(*index), state) => (*index, false),
                    _ => self.insert_hashed(state, *hash)?,
                });
            }
        }
        Ok(())
    }

    /// Probes the prefetched slots of a hash, and prefetches the state that probably matches.
    #[inline]
    fn first_lookup(&self, hash: u64) -> FirstLookup {
        let lookup = self.table.as_ref().map_or(FirstLookup::Unknown, |table| table.first_lookup(hash));
        if let FirstLookup::Likely(index) = lookup {
            prefetch::prefetch_words(self.get(index));
        }
        lookup
    }

    fn slots(&self) -> usize {
        self.table.as_ref().map_or(0, Table::slots)
    }

    /// Returns none if there is no table yet.
    #[inline]
    fn find_slot(&self, state: &[u64], hash: u64) -> Option<Slot> {
        Some(self.table.as_ref()?.find_slot(hash, |index| is_same(self.get(index), state)))
    }

    /// Doubles the table. If there is not enough memory, allows a higher load factor instead.
    #[cold]
    fn grow(&mut self) -> Result<(), StoreFull> {
        let new_slots = self.slots().max(MIN_SLOTS);
        let is_allowed = self.memory() + new_slots as u64 * 8 < self.max_bytes;
        let has_grown = is_allowed
            && match &mut self.table {
                Some(table) => table.grow(1),
                none => {
                    *none = Table::new();
                    none.is_some()
                }
            };
        // If the table cannot grow, a load factor up to 15/16 is accepted; beyond that, probing is too slow.
        let max_len = if has_grown { self.slots() / 4 * 3 } else { self.slots() / 16 * 15 };
        let max_rows = self.max_bytes.saturating_sub(self.slots() as u64 * 8) / (self.width() as u64 * 8);
        self.grow_at =
            max_len.min(usize::try_from(max_rows).unwrap_or(usize::MAX)).min(u32::MAX as usize - 1);
        if self.len() < self.grow_at { Ok(()) } else { Err(StoreFull) }
    }
}

/// Inline comparison: states are too short for a call to `memcmp`.
#[inline]
fn is_same(left: &[u64], right: &[u64]) -> bool {
    left.iter().zip(right).all(|(left, right)| left == right)
}

#[cfg(test)]
mod tests {
    use super::*;
    use invigil_semantics::SplitMix64;
    use std::collections::HashMap;

    /// Compares with a `HashMap`, with few and with many duplicates, for single and batch insertion.
    #[test]
    fn store_agrees_with_hash_map() {
        for (width, most) in [(1, 50), (1, 100_000), (2, 300), (3, 40), (5, 2), (40, 2)] {
            let (mut random, mut known) = (SplitMix64::new(most), HashMap::new());
            let (mut one, mut many) = (Store::new(width), Store::new(width));
            let mut found = Vec::new();
            for _ in 0..300 {
                let states: Vec<u64> = (0..200 * width).map(|_| random.below(most as usize) as u64).collect();
                found.clear();
                many.insert_all(&states, &mut found).unwrap();
                for (state, found) in states.chunks(width).zip(&found) {
                    let next = known.len() as u32;
                    let index = *known.entry(state.to_vec()).or_insert(next);
                    assert_eq!(one.insert(state), Ok((index, index == next)));
                    assert_eq!(*found, (index, index == next));
                    assert_eq!((one.get(index), many.find(state)), (state, Some(index)));
                }
            }
            assert_eq!((one.len(), many.len()), (known.len(), known.len()));
            assert_eq!(many.find(&vec![u64::MAX; width]), None);
        }
    }

    #[test]
    fn state_of_three_words_takes_at_most_fifty_bytes() {
        let mut store = Store::new(3);
        for number in 0..1_000_000u64 {
            store.insert(&[number % 7, number, number / 3]).unwrap();
            let each = store.memory() / number.max(1);
            assert!(number < 10_000 || each < 50, "{each} bytes each with {number} states");
        }
    }

    #[test]
    fn store_respects_and_uses_memory_limit() {
        for most in [0, 1000, 40_000, 1_000_000, 3_000_000] {
            let mut store = Store::new(2).with_memory(most);
            let full = (0..1_000_000).find(|number| store.insert(&[*number, 1]).is_err());
            let number = full.expect("the store gets full");
            assert!(store.memory() <= most);
            assert!(most < 100_000 || store.memory() > most / 2, "{} of {most}", store.memory());
            // A full store stays full, and its states are still found.
            assert_eq!(store.insert(&[number, 1]), Err(StoreFull));
            assert!((0..number).all(|known| store.find(&[known, 1]) == Some(known as u32)));
        }
    }
}
