//! Where states are found again: a table of tags and numbers, which several threads may fill at once.
//!
//! A slot has the upper half of a hash, its tag, in its upper half, and the number of the state plus one in its lower.
//! The first bits of the tag say in which line of the cache the search for a state begins, so a table is in the order of
//! the hashes. It is doubled in its place: what is in a line goes to one of two lines that lie further on, so the upper half
//! moves to where nothing was yet, then the half of the rest to where that was, and so on. Addresses for the largest table
//! are reserved at first; they cost no memory.

use crate::pages::{HUGE, Pages};
use crate::prefetch;
use std::ops::Range;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed};

/// The part of a slot that is from the hash.
const TAG: u64 = !0 << 32;
/// The slots that lie in one line of the cache.
const LINE: usize = 8;
/// The slots of the smallest table.
pub(crate) const LEAST: usize = 1 << 12;
/// The slots of the largest: enough for as many states as have numbers.
const LARGEST: usize = 1 << 33;
/// The lines from which it is worth while to have threads for moving what is in them.
const WORTH: usize = 1 << 13;
/// How many lines ahead a table that is walked along is asked for.
const AHEAD: usize = 16;

pub(crate) struct Table {
    /// The slots, and behind them those that it can grow by.
    words: Pages<AtomicU64>,
    slots: usize,
    /// `hash >> shift` is the line where the search for a state begins.
    shift: u32,
}

/// Where a state is, or could be.
pub(crate) enum Place {
    Known(u32),
    Free(usize),
}

/// What one look at the first line of a hash tells.
#[derive(Clone, Copy)]
pub(crate) enum Look {
    /// It is probably this one.
    Likely(u32),
    /// It is new, if the slot of this number in the line stays free.
    New(u8),
    /// It may be in another line.
    Unsure,
}

impl Table {
    /// An empty table of the least size. None if there is no memory for it.
    pub(crate) fn new() -> Option<Table> {
        let mut most = LARGEST;
        loop {
            if let Some(words) = Pages::reserve(most) {
                return Some(Table { words, slots: LEAST, shift: 64 - (LEAST / LINE).ilog2() });
            }
            most = (most > LEAST).then_some(most / 2)?;
        }
    }

    pub(crate) fn slots(&self) -> usize {
        self.slots
    }

    /// All lines, also those that it can grow by.
    #[inline]
    fn lines(&self) -> &[[AtomicU64; LINE]] {
        self.words.as_chunks::<LINE>().0
    }

    /// The line after this one.
    #[inline]
    fn next(&self, line: usize) -> usize {
        (line + 1) & (self.slots / LINE - 1)
    }

    #[inline]
    fn line(&self, hash: u64) -> usize {
        (hash >> self.shift) as usize
    }

    /// A state of this hash will be looked for soon: asks for its place.
    #[inline]
    pub(crate) fn prefetch(&self, hash: u64) {
        prefetch::soon(&self.lines()[self.line(hash)]);
    }

    /// Looks at the first line of a hash only.
    #[inline]
    pub(crate) fn look(&self, hash: u64) -> Look {
        let lines = self.lines();
        let home = self.line(hash);
        let line = &lines[home];
        // All slots without a branch between: which of them it is cannot be foreseen. Each is read once: in the meantime others
        // fill slots, and one that was passed over as free must not be taken for filled.
        let line: [u64; LINE] = std::array::from_fn(|at| line[at].load(Acquire));
        let same = which(&line, |slot| (slot ^ hash) & TAG == 0);
        if same != 0 {
            let number = line[same.trailing_zeros() as usize] as u32;
            // The tag of a free slot is zero, which that of a hash may be, too.
            return number.checked_sub(1).map_or(Look::Unsure, Look::Likely);
        }
        let free = which(&line, |slot| slot == 0);
        if free != 0 {
            return Look::New(free.trailing_zeros() as u8);
        }
        prefetch::soon(&lines[self.next(home)]);
        Look::Unsure
    }

    /// The slot of this number in the first line of a hash, if it is free. Slots are filled in their order, so if the first
    /// free one is still free, nothing came into the line since.
    #[inline]
    pub(crate) fn still_free(&self, hash: u64, at: u8) -> Option<usize> {
        let slot = self.line(hash) * LINE + usize::from(at);
        (self.words[slot].load(Relaxed) == 0).then_some(slot)
    }

    /// Looks for a state. Some slots must be free.
    #[inline]
    pub(crate) fn place(&self, hash: u64, is_it: impl Fn(u32) -> bool) -> Place {
        let lines = self.lines();
        let mut line = self.line(hash);
        loop {
            for (at, slot) in lines[line].iter().enumerate() {
                let slot = slot.load(Acquire);
                if slot == 0 {
                    return Place::Free(line * LINE + at);
                }
                let number = (slot as u32).wrapping_sub(1);
                if (slot ^ hash) & TAG == 0 && is_it(number) {
                    return Place::Known(number);
                }
            }
            line = self.next(line);
        }
    }

    /// Fills a free slot, where nobody else does.
    #[inline]
    pub(crate) fn put(&self, slot: usize, hash: u64, number: u32) {
        self.words[slot].store(hash & TAG | (u64::from(number) + 1), Relaxed);
    }

    /// Fills a slot that was free, unless somebody else did. Who finds the number there sees all that was written before.
    #[inline]
    pub(crate) fn claim(&self, slot: usize, hash: u64, number: u32) -> bool {
        let filled = hash & TAG | (u64::from(number) + 1);
        self.words[slot].compare_exchange(0, filled, AcqRel, Relaxed).is_ok()
    }

    /// Doubles the table with so many threads. False if there is no room.
    pub(crate) fn grow(&mut self, threads: usize) -> bool {
        if self.slots * 2 > self.words.len() {
            return false;
        }
        let mut end = self.slots / LINE;
        self.slots *= 2;
        self.shift -= 1;
        let mut late = Vec::new();
        while end > 1 {
            late.extend(self.spread_with(threads, end / 2..end));
            end /= 2;
        }
        late.extend(take(&self.lines()[0]));
        for slot in late {
            // The tag is all of the hash that matters.
            if let Place::Free(at) = self.place(slot & TAG, |_| false) {
                self.words[at].store(slot, Relaxed);
            }
        }
        true
    }

    /// Spreads some lines, each thread a part of them. Gives what has no room where it belongs.
    fn spread_with(&self, threads: usize, lines: Range<usize>) -> Vec<u64> {
        let mut parts = split(&lines, threads.min(lines.len() / WORTH).max(1)).into_iter();
        let first = parts.next().unwrap_or_default();
        std::thread::scope(|scope| {
            let others: Vec<_> = parts.map(|part| scope.spawn(|| self.spread(part))).collect();
            let mut late = self.spread(first);
            for other in others {
                match other.join() {
                    Ok(more) => late.extend(more),
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
            late
        })
    }

    /// Moves what is in some lines to the lines that these become, which are free. Gives what has no room there.
    fn spread(&self, part: Range<usize>) -> Vec<u64> {
        let lines = self.lines();
        let mine = part.start * 2..part.end * 2;
        // A page that is written first is cleared once; one that is read first is mapped, too.
        for line in mine.clone().step_by(HUGE / 8 / LINE) {
            lines[line][0].store(0, Relaxed);
        }
        let mut late = Vec::new();
        for line in part {
            if let Some(ahead) = lines.get(line * 2 + AHEAD) {
                prefetch::soon(ahead);
            }
            for slot in take(&lines[line]) {
                let mut home = self.line(slot);
                let free = loop {
                    if !mine.contains(&home) {
                        break None;
                    }
                    match lines[home].iter().find(|slot| slot.load(Relaxed) == 0) {
                        Some(free) => break Some(free),
                        None => home += 1,
                    }
                };
                match free {
                    Some(free) => free.store(slot, Relaxed),
                    None => late.push(slot),
                }
            }
        }
        late
    }
}

/// The slots of a line of which something is true, one bit for each.
#[inline(always)]
fn which(line: &[u64; LINE], is: impl Fn(u64) -> bool) -> u32 {
    (0..LINE).fold(0, |set, at| set | u32::from(is(line[at])) << at)
}

/// Takes out what is in a line. Nobody else may use it.
fn take(line: &[AtomicU64; LINE]) -> impl Iterator<Item = u64> {
    let slots: [u64; LINE] = std::array::from_fn(|at| line[at].load(Relaxed));
    line.iter().for_each(|slot| slot.store(0, Relaxed));
    slots.into_iter().filter(|slot| *slot != 0)
}

/// A range in so many parts, one after the other.
fn split(range: &Range<usize>, parts: usize) -> Vec<Range<usize>> {
    let at = |part| range.start + range.len() * part / parts;
    (0..parts).map(|part| at(part)..at(part + 1)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::hash;

    /// Numbers are found again by their hashes, also after the table was doubled by several threads.
    #[test]
    fn what_was_put_is_found_in_tables_of_every_size() {
        for threads in [1, 2, 5] {
            let mut table = Table::new().unwrap();
            let mut known = 0;
            while table.slots() < 1 << 20 {
                while (known as usize) < table.slots() / 4 * 3 {
                    let hash = hash(&[u64::from(known)]);
                    let Place::Free(slot) = table.place(hash, |number| number == known) else {
                        panic!("{known} is new");
                    };
                    if known % 2 == 0 {
                        table.put(slot, hash, known);
                    } else {
                        assert!(table.claim(slot, hash, known));
                        assert!(!table.claim(slot, hash, known));
                    }
                    known += 1;
                }
                assert!(table.grow(threads));
                for number in 0..known {
                    let place = table.place(hash(&[u64::from(number)]), |other| other == number);
                    assert!(matches!(place, Place::Known(found) if found == number), "{number} of {known}");
                }
                let filled = table.words[..table.slots].iter().filter(|slot| slot.load(Relaxed) != 0).count();
                assert_eq!(filled, known as usize);
            }
        }
    }

    /// Several threads come to the same states at once; each state is put once.
    #[test]
    fn what_many_put_at_once_is_there_once() {
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
                        let is_it = |known: u32| known / THREADS == state;
                        let mut place = match table.look(hash) {
                            Look::Likely(known) if is_it(known) => Place::Known(known),
                            Look::New(at) => match table.still_free(hash, at) {
                                Some(slot) => Place::Free(slot),
                                None => table.place(hash, is_it),
                            },
                            _ => table.place(hash, is_it),
                        };
                        while let Place::Free(slot) = place
                            && !table.claim(slot, hash, number)
                        {
                            place = table.place(hash, is_it);
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
