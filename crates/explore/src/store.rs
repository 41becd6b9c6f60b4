//! The states that were seen, exactly, each once.

use crate::arena::Arena;
use crate::hash::hash;
use crate::prefetch;
use crate::table::{LEAST, Look, Place, Table};

/// States that are dealt with at once: their places are asked for before the first is looked at.
const BATCH: usize = 128;

/// States of a fixed number of words, numbered in the order in which they come.
///
/// Each is stored once, whole, so what the store says is exact. A state of `n` words takes `8 n` bytes and 11 to 21
/// bytes in the table that finds it. At most 2³² - 2 states are stored.
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
    most_bytes: u64,
}

/// There is no room for another state: 2³² - 2 are stored, or there is no memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Full;

impl Store {
    /// A store for states of `width` words, at least one.
    pub fn new(width: usize) -> Store {
        Store { arena: Arena::new(width), table: None, grow_at: 0, most_bytes: u64::MAX }
    }

    /// The same with at most so many bytes of memory.
    pub fn with_memory(mut self, most_bytes: u64) -> Store {
        self.most_bytes = most_bytes;
        self
    }

    /// The number of states.
    pub fn len(&self) -> usize {
        self.arena.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The words of a state.
    pub fn width(&self) -> usize {
        self.arena.width()
    }

    /// Bytes for the states and the table.
    pub fn memory(&self) -> u64 {
        self.arena.memory() + self.slots() as u64 * 8
    }

    /// The state of a number. There must be one.
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
        match self.place(state, hash)? {
            Place::Known(index) => Some(index),
            Place::Free(_) => None,
        }
    }

    /// A state of this hash will be looked for soon: asks for its place in the table.
    #[inline]
    pub(crate) fn prefetch_slot(&self, hash: u64) {
        if let Some(table) = &self.table {
            table.prefetch(hash);
        }
    }

    /// The number of a state, and whether it is new.
    pub fn insert(&mut self, state: &[u64]) -> Result<(u32, bool), Full> {
        self.insert_hashed(state, hash(state))
    }

    /// The number of a state whose [hash](crate::hash()) is known, and whether it is new.
    #[inline]
    pub fn insert_hashed(&mut self, state: &[u64], hash: u64) -> Result<(u32, bool), Full> {
        if self.len() >= self.grow_at {
            self.grow()?;
        }
        let slot = match self.place(state, hash) {
            Some(Place::Known(index)) => return Ok((index, false)),
            Some(Place::Free(slot)) => slot,
            None => return Err(Full),
        };
        let index = self.len() as u32;
        if !self.arena.push(state) {
            return Err(Full);
        }
        if let Some(table) = &self.table {
            table.put(slot, hash, index);
        }
        Ok((index, true))
    }

    /// Inserts several states that lie one after the other; `found` gets for each what [`insert`](Store::insert)
    /// would have given. Much faster than one by one, because the memory is asked for beforehand.
    ///
    /// ```
    /// # use invigil_explore::Store;
    /// let (mut store, mut found) = (Store::new(1), Vec::new());
    /// store.insert_all(&[7, 8, 7], &mut found)?;
    /// assert_eq!(found, [(0, true), (1, true), (0, false)]);
    /// # Ok::<(), invigil_explore::Full>(())
    /// ```
    pub fn insert_all(&mut self, states: &[u64], found: &mut Vec<(u32, bool)>) -> Result<(), Full> {
        let width = self.width();
        let (mut hashes, mut looks) = ([0; BATCH], [Look::Unsure; BATCH]);
        for batch in states.chunks(BATCH * width) {
            for (state, into) in batch.chunks_exact(width).zip(&mut hashes) {
                *into = hash(state);
                self.prefetch_slot(*into);
            }
            let count = batch.len() / width;
            for (into, hash) in looks.iter_mut().zip(&hashes[..count]) {
                *into = self.look(*hash);
            }
            for ((state, hash), look) in batch.chunks_exact(width).zip(&hashes).zip(&looks) {
                found.push(match look {
                    Look::Likely(index) if is_same(self.get(*index), state) => (*index, false),
                    _ => self.insert_hashed(state, *hash)?,
                });
            }
        }
        Ok(())
    }

    /// When the place of the hash had time to come: what a look at it tells. The state that it probably is is asked for.
    #[inline]
    fn look(&self, hash: u64) -> Look {
        let look = self.table.as_ref().map_or(Look::Unsure, |table| table.look(hash));
        if let Look::Likely(index) = look {
            prefetch::all(self.get(index));
        }
        look
    }

    fn slots(&self) -> usize {
        self.table.as_ref().map_or(0, Table::slots)
    }

    /// None if there is no table yet.
    #[inline]
    fn place(&self, state: &[u64], hash: u64) -> Option<Place> {
        Some(self.table.as_ref()?.place(hash, |index| is_same(self.get(index), state)))
    }

    /// Doubles the table, or fills it more than is good for it where there is no memory to double it.
    #[cold]
    fn grow(&mut self) -> Result<(), Full> {
        let more = self.slots().max(LEAST);
        let is_allowed = self.memory() + more as u64 * 8 < self.most_bytes;
        let has_grown = is_allowed
            && match &mut self.table {
                Some(table) => table.grow(1),
                none => {
                    *none = Table::new();
                    none.is_some()
                }
            };
        // Where it could not grow, it is filled more than is good for it; beyond that there is no end of probing.
        let most = if has_grown { self.slots() / 4 * 3 } else { self.slots() / 16 * 15 };
        let room = self.most_bytes.saturating_sub(self.slots() as u64 * 8) / (self.width() as u64 * 8);
        self.grow_at = most.min(usize::try_from(room).unwrap_or(usize::MAX)).min(u32::MAX as usize - 1);
        if self.len() < self.grow_at { Ok(()) } else { Err(Full) }
    }
}

/// Compares in place: states are too short for a call.
#[inline]
fn is_same(left: &[u64], right: &[u64]) -> bool {
    left.iter().zip(right).all(|(left, right)| left == right)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;
    use std::collections::HashMap;

    /// Against a map, with few and many equal states, one by one and in batches.
    #[test]
    fn states_are_numbered_as_by_a_map() {
        for (width, most) in [(1, 50), (1, 100_000), (2, 300), (3, 40), (5, 2), (40, 2)] {
            let (mut random, mut known) = (Random::new(most), HashMap::new());
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
    fn three_words_take_at_most_fifty_bytes() {
        let mut store = Store::new(3);
        for number in 0..1_000_000u64 {
            store.insert(&[number % 7, number, number / 3]).unwrap();
            let each = store.memory() / number.max(1);
            assert!(number < 10_000 || each < 50, "{each} bytes each with {number} states");
        }
    }

    #[test]
    fn a_store_keeps_to_its_memory_and_uses_it() {
        for most in [0, 1000, 40_000, 1_000_000, 3_000_000] {
            let mut store = Store::new(2).with_memory(most);
            let full = (0..1_000_000).find(|number| store.insert(&[*number, 1]).is_err());
            let number = full.expect("there is an end");
            assert!(store.memory() <= most);
            assert!(most < 100_000 || store.memory() > most / 2, "{} of {most}", store.memory());
            // It stays full, and what is in it is still found.
            assert_eq!(store.insert(&[number, 1]), Err(Full));
            assert!((0..number).all(|known| store.find(&[known, 1]) == Some(known as u32)));
        }
    }
}
