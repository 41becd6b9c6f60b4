//! The states that were seen, exactly, each once.

use crate::arena::Arena;
use crate::hash::hash;
use crate::pages::Pages;
use crate::prefetch;
use std::ops::Range;

/// A slot has the lower half of a hash in its upper half, and the number of the state plus one in its lower.
const TAG: u64 = !0 << 32;
/// The slots that lie in one line of the cache.
const LINE: usize = 8;
/// The lines of a store without states: a power of two.
const LINES: usize = 1 << 9;
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
    table: Option<Pages>,
    /// `hash >> shift` is the line where the search for a state begins.
    shift: u32,
    /// The number of states at which the table must grow.
    grow_at: usize,
    most_bytes: u64,
}

/// There is no room for another state: 2³² - 2 are stored, or there is no memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Full;

/// Where a state is, or could be.
enum Place {
    Known(u32),
    Free(usize),
}

impl Store {
    /// A store for states of `width` words, at least one.
    pub fn new(width: usize) -> Store {
        Store { arena: Arena::new(width), table: None, shift: 64, grow_at: 0, most_bytes: u64::MAX }
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

    /// The words of the states at the beginning of `range`, as many of them as lie one after the other in memory: at
    /// least one if `range` is not empty.
    pub fn in_a_row(&self, range: Range<u32>) -> &[u64] {
        self.arena.in_a_row(range.start as usize..range.end as usize)
    }

    /// The number of a state, if it is stored.
    pub fn find(&self, state: &[u64]) -> Option<u32> {
        self.find_hashed(state, hash(state))
    }

    /// The number of a state whose hash is known.
    #[inline]
    pub fn find_hashed(&self, state: &[u64], hash: u64) -> Option<u32> {
        match self.place(state, hash)? {
            Place::Known(index) => Some(index),
            Place::Free(_) => None,
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
        if let Some(table) = &mut self.table {
            table[slot] = hash << 32 | u64::from(index + 1);
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
        let (mut hashes, mut likely) = ([0; BATCH], [None; BATCH]);
        for batch in states.chunks(BATCH * width) {
            for (state, into) in batch.chunks_exact(width).zip(&mut hashes) {
                *into = hash(state);
                self.prefetch_slot(*into);
            }
            let count = batch.len() / width;
            for (into, hash) in likely.iter_mut().zip(&hashes[..count]) {
                *into = self.likely(*hash);
            }
            for ((state, hash), likely) in batch.chunks_exact(width).zip(&hashes).zip(&likely) {
                found.push(self.insert_likely(state, *hash, *likely)?);
            }
        }
        Ok(())
    }

    /// A state of this hash will be looked for soon: asks for its place in the table.
    #[inline]
    pub fn prefetch_slot(&self, hash: u64) {
        if let Some(table) = &self.table {
            prefetch::soon(&table[self.line(hash) * LINE]);
        }
    }

    /// The second step after [`prefetch_slot`](Store::prefetch_slot), when that had time to come: the number of the
    /// state that is probably the one of this hash, which is asked for. If there is none, the state is probably new.
    #[inline]
    pub fn likely(&self, hash: u64) -> Option<u32> {
        let (lines, _) = self.table.as_ref()?.as_chunks::<LINE>();
        // All slots without a branch between: which of them it is cannot be foreseen.
        let line = &lines[self.line(hash)];
        let matches =
            (0..LINE).fold(0, |set, at| set | u32::from((line[at] >> 32) as u32 == hash as u32) << at);
        if matches == 0 {
            // A full line goes on in the next.
            if line[LINE - 1] != 0 {
                prefetch::soon(&lines[(self.line(hash) + 1) & (lines.len() - 1)]);
            }
            return None;
        }
        let index = (line[matches.trailing_zeros() as usize] as u32).checked_sub(1)?;
        let state = self.get(index);
        // It may lie across two lines of the cache.
        prefetch::soon(&state[0]);
        prefetch::soon(&state[state.len() - 1]);
        Some(index)
    }

    /// As [`insert_hashed`](Store::insert_hashed), with what [`likely`](Store::likely) has said.
    #[inline]
    pub fn insert_likely(
        &mut self,
        state: &[u64],
        hash: u64,
        likely: Option<u32>,
    ) -> Result<(u32, bool), Full> {
        match likely {
            Some(index) if is_same(self.get(index), state) => Ok((index, false)),
            _ => self.insert_hashed(state, hash),
        }
    }

    fn slots(&self) -> usize {
        self.table.as_ref().map_or(0, |table| table.len())
    }

    #[inline]
    fn line(&self, hash: u64) -> usize {
        (hash >> self.shift) as usize
    }

    /// None if there is no table yet.
    #[inline]
    fn place(&self, state: &[u64], hash: u64) -> Option<Place> {
        let (lines, _) = self.table.as_ref()?.as_chunks::<LINE>();
        let tag = hash << 32;
        let mut line = self.line(hash);
        // Some slots are always free, so this ends.
        loop {
            for (at, slot) in lines[line].iter().enumerate() {
                if *slot == 0 {
                    return Some(Place::Free(line * LINE + at));
                }
                let index = (*slot as u32).wrapping_sub(1);
                if *slot & TAG == tag && is_same(self.get(index), state) {
                    return Some(Place::Known(index));
                }
            }
            line = (line + 1) & (lines.len() - 1);
        }
    }

    /// Doubles the table, or fills it more than is good for it where there is no memory to double it.
    #[cold]
    fn grow(&mut self) -> Result<(), Full> {
        let doubled = (self.slots() * 2).max(LINES * LINE);
        // The old table is given back before the new one is written, so it does not count.
        let is_allowed = self.arena.memory() + doubled as u64 * 8 < self.most_bytes;
        let pages = if self.table.is_some() { Pages::huge } else { Pages::new };
        let most = match is_allowed.then(|| pages(doubled)).flatten() {
            Some(table) => {
                self.fill(table);
                doubled / 4 * 3
            }
            // Beyond that there is no end of probing.
            None => self.slots() / 16 * 15,
        };
        let room = self.most_bytes.saturating_sub(self.slots() as u64 * 8) / (self.width() as u64 * 8);
        self.grow_at = most.min(usize::try_from(room).unwrap_or(usize::MAX)).min(u32::MAX as usize - 1);
        if self.len() < self.grow_at { Ok(()) } else { Err(Full) }
    }

    /// Puts all states into a new table.
    fn fill(&mut self, mut table: Pages) {
        self.table = None;
        self.shift = 64 - (table.len() / LINE).ilog2();
        let (lines, _) = table.as_chunks_mut::<LINE>();
        let mut hashes = [0; BATCH];
        let mut done = 0;
        while done < self.len() {
            let rows = self.arena.in_a_row(done..(done + BATCH).min(self.len())).chunks_exact(self.width());
            let count = rows.len();
            for (state, into) in rows.zip(&mut hashes) {
                *into = hash(state);
                prefetch::soon(&lines[self.line(*into)][0]);
            }
            for (index, hash) in (done + 1..).zip(&hashes[..count]) {
                let mut line = self.line(*hash);
                let free = loop {
                    if let Some(free) = lines[line].iter_mut().find(|slot| **slot == 0) {
                        break free;
                    }
                    line = (line + 1) & (lines.len() - 1);
                };
                *free = hash << 32 | index as u64;
            }
            done += count;
        }
        self.table = Some(table);
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
            let row = many.in_a_row(1..many.len() as u32);
            assert_eq!(&row[..width], many.get(1));
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
