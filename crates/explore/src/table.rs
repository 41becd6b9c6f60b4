//! Concurrent hash table from states to their numbers.
//!
//! Hand-written because no concurrent map (`dashmap`, `papaya`, `scc`) keeps an entry in one word and doubles in place.
//!
//! The upper half of a slot is the tag, which is the upper half of the hash; the lower half is the state's number plus
//! one. The first bits of the tag select the cache line where probing starts, so the table is sorted by hash. It is
//! doubled in place: the slots of a line move to one of two lines with higher numbers, so the upper half of the table
//! moves first, to lines that were unused, then the upper half of the rest, and so on. Addresses for the largest table
//! are reserved at the start; they cost no memory.

use crate::pages::{HUGE_PAGE_SIZE, ZeroedMapping};
use crate::prefetch;
use std::ops::Range;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed};

/// The part of a slot that is taken from the hash.
const TAG_MASK: u64 = !0 << 32;
/// The number of slots in a cache line.
const SLOTS_PER_LINE: usize = 8;
/// The size of the smallest table, in slots.
pub(crate) const MIN_SLOTS: usize = 1 << 12;
/// The size of the largest table, in slots: enough for all state numbers.
const MAX_SLOTS: usize = 1 << 33;
/// The minimum number of lines per thread for moving them in parallel.
const PARALLEL_THRESHOLD: usize = 1 << 13;
/// How many lines ahead a sequential pass prefetches.
const PREFETCH_DISTANCE: usize = 16;

/// The hash table.
pub(crate) struct Table {
    /// The slots, followed by reserved addresses for growth.
    words: ZeroedMapping<AtomicU64>,
    slots: usize,
    /// `hash >> shift` is the line where probing starts.
    shift: u32,
}

/// The result of looking up a state.
pub(crate) enum Slot {
    Occupied(u32),
    Free(usize),
}

/// The result of probing only the first line of a hash.
#[derive(Clone, Copy)]
pub(crate) enum FirstLookup {
    /// The state is probably the one with this number.
    Likely(u32),
    /// The state is new, if slot `.0` of the line is still free.
    New(u8),
    /// The state may be in another line.
    Unknown,
}

impl Table {
    /// An empty table of minimum size. Returns none if memory is exhausted.
    pub(crate) fn new() -> Option<Table> {
        let mut reserved = MAX_SLOTS;
        loop {
            if let Some(words) = ZeroedMapping::sparse(reserved) {
                return Some(Table {
                    words,
                    slots: MIN_SLOTS,
                    shift: 64 - (MIN_SLOTS / SLOTS_PER_LINE).ilog2(),
                });
            }
            reserved = (reserved > MIN_SLOTS).then_some(reserved / 2)?;
        }
    }

    pub(crate) fn slots(&self) -> usize {
        self.slots
    }

    /// All lines, including those reserved for growth.
    #[inline]
    fn lines(&self) -> &[[AtomicU64; SLOTS_PER_LINE]] {
        self.words.as_chunks::<SLOTS_PER_LINE>().0
    }

    /// The line that is probed after this one.
    #[inline]
    fn next_line(&self, line: usize) -> usize {
        (line + 1) & (self.slots / SLOTS_PER_LINE - 1)
    }

    #[inline]
    fn home_line(&self, hash: u64) -> usize {
        (hash >> self.shift) as usize
    }

    /// Prefetches the home line of a hash.
    #[inline]
    pub(crate) fn prefetch(&self, hash: u64) {
        prefetch::prefetch(&self.lines()[self.home_line(hash)]);
    }

    /// Probes only the home line of a hash.
    #[inline]
    pub(crate) fn first_lookup(&self, hash: u64) -> FirstLookup {
        let lines = self.lines();
        let home = self.home_line(hash);
        let line = &lines[home];
        // All slots are compared without branches, because the matching one is unpredictable. Each slot is read only
        // once: other threads fill slots concurrently, and a slot that was seen as free must not be taken as filled.
        let line: [u64; SLOTS_PER_LINE] = std::array::from_fn(|at| line[at].load(Acquire));
        let matching = slot_mask(&line, |slot| (slot ^ hash) & TAG_MASK == 0);
        if matching != 0 {
            let number = line[matching.trailing_zeros() as usize] as u32;
            // The tag of a free slot is zero, which is also a valid tag of a hash.
            return number.checked_sub(1).map_or(FirstLookup::Unknown, FirstLookup::Likely);
        }
        let free = slot_mask(&line, |slot| slot == 0);
        if free != 0 {
            return FirstLookup::New(free.trailing_zeros() as u8);
        }
        prefetch::prefetch(&lines[self.next_line(home)]);
        FirstLookup::Unknown
    }

    /// The slot with this index in the home line, if it is still free. Slots are filled in order, so in this case
    /// nothing was added to the line in the meantime.
    #[inline]
    pub(crate) fn free_slot(&self, hash: u64, index: u8) -> Option<usize> {
        let slot = self.home_line(hash) * SLOTS_PER_LINE + usize::from(index);
        (self.words[slot].load(Relaxed) == 0).then_some(slot)
    }

    /// Looks up a state by probing. Requires some free slots.
    #[inline]
    pub(crate) fn find_slot(&self, hash: u64, matches: impl Fn(u32) -> bool) -> Slot {
        let lines = self.lines();
        let mut line = self.home_line(hash);
        loop {
            for (index, slot) in lines[line].iter().enumerate() {
                let slot = slot.load(Acquire);
                if slot == 0 {
                    return Slot::Free(line * SLOTS_PER_LINE + index);
                }
                let number = (slot as u32).wrapping_sub(1);
                if (slot ^ hash) & TAG_MASK == 0 && matches(number) {
                    return Slot::Occupied(number);
                }
            }
            line = self.next_line(line);
        }
    }

    /// Fills a free slot without synchronization, for a single thread.
    #[inline]
    pub(crate) fn fill(&self, slot: usize, hash: u64, number: u32) {
        self.words[slot].store(hash & TAG_MASK | (u64::from(number) + 1), Relaxed);
    }

    /// Fills a free slot unless another thread did. A thread that reads the number also sees all writes before this
    /// call.
    #[inline]
    pub(crate) fn claim(&self, slot: usize, hash: u64, number: u32) -> bool {
        let filled = hash & TAG_MASK | (u64::from(number) + 1);
        self.words[slot].compare_exchange(0, filled, AcqRel, Relaxed).is_ok()
    }

    /// Doubles the table with `threads` threads. Returns false if the largest size is reached.
    pub(crate) fn grow(&mut self, threads: usize) -> bool {
        if self.slots * 2 > self.words.len() {
            return false;
        }
        let mut end = self.slots / SLOTS_PER_LINE;
        self.slots *= 2;
        self.shift -= 1;
        let mut overflow = Vec::new();
        while end > 1 {
            overflow.extend(self.spread_parallel(threads, end / 2..end));
            end /= 2;
        }
        overflow.extend(drain_line(&self.lines()[0]));
        for slot in overflow {
            // The tag contains all bits of the hash that matter.
            if let Slot::Free(at) = self.find_slot(slot & TAG_MASK, |_| false) {
                self.words[at].store(slot, Relaxed);
            }
        }
        true
    }

    /// Spreads lines, each thread a part of them. Returns slots for which there was no space in the lines of the part.
    fn spread_parallel(&self, threads: usize, lines: Range<usize>) -> Vec<u64> {
        let mut parts = split_range(&lines, threads.min(lines.len() / PARALLEL_THRESHOLD).max(1)).into_iter();
        let first = parts.next().unwrap_or_default();
        std::thread::scope(|scope| {
            let others: Vec<_> = parts.map(|part| scope.spawn(|| self.spread(part))).collect();
            let mut overflow = self.spread(first);
            for other in others {
                match other.join() {
                    Ok(more) => overflow.extend(more),
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
            overflow
        })
    }

    /// Moves the slots of the lines `part` to the lines that replace these, which are free. Returns slots without space
    /// there.
    fn spread(&self, part: Range<usize>) -> Vec<u64> {
        let lines = self.lines();
        let targets = part.start * 2..part.end * 2;
        // Writing a page first zeroes it once; reading it first would map the zero page as well.
        for line in targets.clone().step_by(HUGE_PAGE_SIZE / 8 / SLOTS_PER_LINE) {
            lines[line][0].store(0, Relaxed);
        }
        let mut overflow = Vec::new();
        for line in part {
            if let Some(ahead) = lines.get(line * 2 + PREFETCH_DISTANCE) {
                prefetch::prefetch(ahead);
            }
            for slot in drain_line(&lines[line]) {
                let mut home = self.home_line(slot);
                let free = loop {
                    if !targets.contains(&home) {
                        break None;
                    }
                    match lines[home].iter().find(|slot| slot.load(Relaxed) == 0) {
                        Some(free) => break Some(free),
                        None => home += 1,
                    }
                };
                match free {
                    Some(free) => free.store(slot, Relaxed),
                    None => overflow.push(slot),
                }
            }
        }
        overflow
    }
}

/// Bit mask of the slots of a line that satisfy a predicate.
#[inline(always)]
fn slot_mask(line: &[u64; SLOTS_PER_LINE], is: impl Fn(u64) -> bool) -> u32 {
    (0..SLOTS_PER_LINE).fold(0, |set, at| set | u32::from(is(line[at])) << at)
}

/// Removes and returns the slots of a line, which no other thread may use.
fn drain_line(line: &[AtomicU64; SLOTS_PER_LINE]) -> impl Iterator<Item = u64> {
    let slots: [u64; SLOTS_PER_LINE] = std::array::from_fn(|at| line[at].load(Relaxed));
    line.iter().for_each(|slot| slot.store(0, Relaxed));
    slots.into_iter().filter(|slot| *slot != 0)
}

/// Splits a range into consecutive parts.
fn split_range(range: &Range<usize>, parts: usize) -> Vec<Range<usize>> {
    let boundary = |part| range.start + range.len() * part / parts;
    (0..parts).map(|part| boundary(part)..boundary(part + 1)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::hash;

    /// States are found by their hashes, also after several threads have doubled the table.
    #[test]
    fn table_finds_states_after_parallel_growth() {
        for threads in [1, 2, 5] {
            let mut table = Table::new().unwrap();
            let mut known = 0;
            while table.slots() < 1 << 20 {
                while (known as usize) < table.slots() / 4 * 3 {
                    let hash = hash(&[u64::from(known)]);
                    let Slot::Free(slot) = table.find_slot(hash, |number| number == known) else {
                        panic!("{known} is new");
                    };
                    if known % 2 == 0 {
                        table.fill(slot, hash, known);
                    } else {
                        assert!(table.claim(slot, hash, known));
                        assert!(!table.claim(slot, hash, known));
                    }
                    known += 1;
                }
                assert!(table.grow(threads));
                for number in 0..known {
                    let place = table.find_slot(hash(&[u64::from(number)]), |other| other == number);
                    assert!(matches!(place, Slot::Occupied(found) if found == number), "{number} of {known}");
                }
                let filled = table.words[..table.slots].iter().filter(|slot| slot.load(Relaxed) != 0).count();
                assert_eq!(filled, known as usize);
            }
        }
    }

    /// Several threads insert the same states concurrently; each state is stored once.
    #[test]
    fn concurrent_insertions_store_each_state_once() {
        const STATES: u32 = 20_000;
        const THREADS: u32 = 4;
        let mut table = Table::new().unwrap();
        while table.slots() < 1 << 15 {
            assert!(table.grow(1));
        }
        let table = table;
        std::thread::scope(|scope| {
            for thread in 0..THREADS {
                let table = &table;
                scope.spawn(move || {
                    for state in 0..STATES {
                        let hash = hash(&[u64::from(state)]);
                        let number = state * THREADS + thread;
                        let matches = |known: u32| known / THREADS == state;
                        let mut place = match table.first_lookup(hash) {
                            FirstLookup::Likely(known) if matches(known) => Slot::Occupied(known),
                            FirstLookup::New(at) => match table.free_slot(hash, at) {
                                Some(slot) => Slot::Free(slot),
                                None => table.find_slot(hash, matches),
                            },
                            _ => table.find_slot(hash, matches),
                        };
                        while let Slot::Free(slot) = place
                            && !table.claim(slot, hash, number)
                        {
                            place = table.find_slot(hash, matches);
                        }
                    }
                });
            }
        });
        let mut known: Vec<u32> =
            table.words[..table.slots].iter().map(|slot| slot.load(Relaxed) as u32).collect();
        known.retain(|number| *number != 0);
        known.iter_mut().for_each(|number| *number = (*number - 1) / THREADS);
        known.sort_unstable();
        assert!(known.iter().copied().eq(0..STATES), "{} of {STATES}", known.len());
    }
}
