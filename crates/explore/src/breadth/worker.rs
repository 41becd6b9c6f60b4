//! One thread of a search in breadth: it keeps the states whose hashes fall to it.

use super::best::Best;
use super::inbox::{Entry, Parcel, Post};
use crate::hash::hash;
use crate::limits::{Incomplete, Pulse};
use crate::prefetch;
use crate::report::What;
use crate::search::Wanted;
use crate::space::{BAD, FAULT, Space, Successors};
use crate::store::Store;
use crate::tally::{Counts, Tally};
use std::ops::Range;

/// A state without a parent.
pub(super) const NONE: u32 = u32::MAX;
/// How many successors are computed at once: enough to have all their memory on its way, few enough that it is still
/// in the cache when they are looked up.
const BATCH: usize = 256;
/// The most states that are expanded at once.
const STATES: usize = 128;
/// States in a parcel.
const PARCEL: usize = 1024;
/// How many parcels may wait for a worker before those who send more help themselves first.
const WAITING: usize = 64;

/// What all workers share at one level.
pub(super) struct Level<'a, S, P> {
    pub(super) space: &'a S,
    pub(super) wanted: Wanted,
    pub(super) tally: &'a Tally<'a, P>,
    pub(super) post: &'a Post,
    /// Steps from the start.
    pub(super) depth: u64,
    /// Whether what is new is kept. It is not at the last level that is allowed.
    pub(super) is_kept: bool,
    /// Whether the workers run at once.
    pub(super) is_shared: bool,
}

pub(super) struct Worker {
    number: usize,
    workers: usize,
    store: Store,
    /// For each state, where it comes from.
    parents: Vec<u32>,
    /// The states of this level that are not expanded yet.
    level: Range<u32>,
    /// For each state of the next level, the rank of where it comes from.
    ranks: Vec<u32>,
    /// The best of what this level shows.
    pub(super) best: Best,
    /// Whether there is something beyond the last level that is allowed.
    pub(super) is_more: bool,
    pub(super) counts: Counts,
    batch: usize,
    out: Successors,
    ends: Vec<u32>,
    mine: Vec<Entry>,
    /// For what is taken now, where it probably is.
    likely: Vec<Option<u32>>,
    outgoing: Vec<Parcel>,
    received: Vec<Parcel>,
    spare: Vec<Parcel>,
}

/// The worker that keeps the states of a hash. The bits are none of those that choose the place in a store.
pub(super) fn owner(hash: u64, workers: usize) -> usize {
    ((u64::from(hash as u32) * workers as u64) >> 32) as usize
}

/// Ends the search if a worker panics: others must not wait for it.
struct Alarm<'a, P: Pulse>(&'a Tally<'a, P>);

impl<P: Pulse> Drop for Alarm<'_, P> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.halt(Incomplete::Stopped);
        }
    }
}

impl Worker {
    pub(super) fn new(number: usize, workers: usize, store: Store, most: usize) -> Worker {
        Worker {
            number,
            workers,
            store,
            parents: Vec::new(),
            level: 0..0,
            ranks: Vec::new(),
            best: Best::new(most),
            is_more: false,
            counts: Counts::default(),
            batch: 1,
            out: Successors::default(),
            ends: Vec::new(),
            mine: Vec::new(),
            likely: Vec::new(),
            outgoing: (0..workers).map(|_| Parcel::default()).collect(),
            received: Vec::new(),
            spare: Vec::new(),
        }
    }

    /// What was added becomes the level to expand. Gives the number of its states.
    pub(super) fn next_level(&mut self) -> usize {
        self.level = self.level.end..self.store.len() as u32;
        self.ranks.clear();
        self.level.len()
    }

    /// A state by its number among all workers, and that of its parent.
    pub(super) fn state(&self, id: u32) -> (&[u64], u32) {
        let index = id / self.workers as u32;
        (self.store.get(index), self.parents[index as usize])
    }

    /// Takes an initial state.
    pub(super) fn start<P: Pulse>(&mut self, state: &[u64], hash: u64, tally: &Tally<'_, P>) {
        let entry = Entry { hash, rank: 0, parent: NONE };
        self.likely = vec![None];
        self.keep(state, &[entry], tally);
    }

    /// Expands this worker's part of the level, and takes what others send.
    pub(super) fn run<S: Space, P: Pulse>(&mut self, level: &Level<'_, S, P>) {
        let _alarm = Alarm(level.tally);
        {
            let _sender = level.post.sender();
            self.expand(level);
        }
        let mut received = std::mem::take(&mut self.received);
        while level.post.wait(self.number, &mut received) {
            self.accept(&mut received, level);
        }
        self.received = received;
    }

    /// Expands this worker's part of the level and sends what belongs to others.
    pub(super) fn expand<S: Space, P: Pulse>(&mut self, level: &Level<'_, S, P>) {
        while !self.level.is_empty() && level.tally.halted().is_none() {
            let upto = self.level.end.min(self.level.start.saturating_add(self.batch as u32));
            let states = self.store.in_a_row(self.level.start..upto);
            let count = states.len() / self.store.width();
            self.out.clear();
            self.ends.clear();
            level.space.bulk(states, &mut self.out, &mut self.ends);
            if level.space.failure().is_some() {
                level.tally.halt(Incomplete::Failed);
                break;
            }
            self.sort_out(level);
            let (out, mine) = (std::mem::take(&mut self.out), std::mem::take(&mut self.mine));
            self.take(&out.words, &mine, level);
            (self.out, self.mine) = (out, mine);
            self.level.start += count as u32;
            self.batch = match self.out.len() {
                few if few < BATCH => (self.batch * 2).min(STATES),
                many if many > 2 * BATCH => (self.batch / 2).max(1),
                _ => self.batch,
            };
            if self.workers > 1 {
                self.deliver(PARCEL, level);
                self.receive(level);
            }
            self.counts.expanded += count as u64;
            self.tell(level.tally);
        }
        self.deliver(1, level);
    }

    /// Looks at what the states of a batch lead to: what is found is noted, and states go to those who keep them.
    fn sort_out<S: Space, P: Pulse>(&mut self, level: &Level<'_, S, P>) {
        let width = self.store.width();
        let mut from = 0;
        self.mine.clear();
        for (index, end) in (self.level.start..).zip(&self.ends) {
            let source = self.store.get(index);
            let parent = index * self.workers as u32 + self.number as u32;
            let rank = hash(source) as u32;
            let upto = *end as usize;
            if from == upto {
                self.counts.deadlocks += 1;
                if level.wanted.deadlocks {
                    self.best.add(level.depth, What::Deadlock, source, (source, 0, parent));
                }
            }
            self.counts.transitions += (upto - from) as u64;
            for at in from..upto {
                let state = self.out.state(at, width);
                let taken = self.out.taken[at];
                if taken.flags & (FAULT | BAD) != 0 {
                    if taken.flags & FAULT != 0 {
                        self.counts.transitions -= 1;
                        self.counts.faults += 1;
                        if level.wanted.faults {
                            self.best.add(level.depth, What::Fault, source, (source, taken.action, parent));
                        }
                        continue;
                    }
                    self.counts.bad += 1;
                    // A step too far; where it leads may be known.
                    self.is_more |= !level.is_kept;
                    if level.wanted.bad && level.is_kept {
                        self.best.add(level.depth + 1, What::Bad, state, (source, taken.action, parent));
                    }
                }
                let hash = hash(state);
                let owner = owner(hash, self.workers);
                let entry = Entry { hash, rank, parent };
                if owner == self.number {
                    self.store.prefetch_slot(hash);
                    // What is kept moves together, so that it lies in the order of the entries.
                    let to = self.mine.len();
                    if to < at {
                        self.out.words.copy_within(at * width..(at + 1) * width, to * width);
                    }
                    self.mine.push(entry);
                } else {
                    self.outgoing[owner].push(state, entry);
                }
            }
            from = upto;
        }
    }

    /// Takes states whose places were asked for.
    fn take<S, P: Pulse>(&mut self, words: &[u64], entries: &[Entry], level: &Level<'_, S, P>) {
        self.likely.clear();
        for entry in entries {
            let likely = self.store.likely(entry.hash);
            let next = likely.and_then(|index| index.checked_sub(self.level.end));
            if let Some(rank) = next.and_then(|index| self.ranks.get(index as usize)) {
                prefetch::soon(rank);
            }
            self.likely.push(likely);
        }
        if level.is_kept {
            self.keep(words, entries, level.tally);
        } else {
            let width = self.store.width();
            let mut states = words.chunks_exact(width).zip(entries);
            self.is_more |= states.any(|(state, entry)| self.store.find_hashed(state, entry.hash).is_none());
        }
    }

    fn keep<P: Pulse>(&mut self, words: &[u64], entries: &[Entry], tally: &Tally<'_, P>) {
        let width = self.store.width();
        for ((state, entry), likely) in words.chunks_exact(width).zip(entries).zip(&self.likely) {
            match self.store.insert_likely(state, entry.hash, *likely) {
                Ok((index, true)) if index < NONE / self.workers as u32 => {
                    self.parents.push(entry.parent);
                    self.ranks.push(entry.rank);
                    self.counts.states += 1;
                }
                Ok((index, false)) => {
                    // It is of the next level, too, and may come from either.
                    if index >= self.level.end
                        && let Some(rank) = self.ranks.get_mut((index - self.level.end) as usize)
                        && entry.rank < *rank
                    {
                        *rank = entry.rank;
                        self.parents[index as usize] = entry.parent;
                    }
                }
                _ => tally.halt(Incomplete::Memory),
            }
        }
    }

    /// Sends the parcels with at least so many states.
    fn deliver<S: Space, P: Pulse>(&mut self, least: usize, level: &Level<'_, S, P>) {
        for to in 0..self.workers {
            if self.outgoing[to].entries.len() < least {
                continue;
            }
            // Who waits goes on receiving, so two cannot wait for each other.
            while level.is_shared && level.post.waiting(to) >= WAITING && level.tally.halted().is_none() {
                self.receive(level);
                std::thread::yield_now();
            }
            let next = self.spare.pop().unwrap_or_default();
            level.post.send(to, std::mem::replace(&mut self.outgoing[to], next));
        }
    }

    /// Takes what has arrived.
    pub(super) fn receive<S: Space, P: Pulse>(&mut self, level: &Level<'_, S, P>) {
        let mut received = std::mem::take(&mut self.received);
        level.post.receive(self.number, &mut received);
        self.accept(&mut received, level);
        self.received = received;
    }

    fn accept<S: Space, P: Pulse>(&mut self, received: &mut Vec<Parcel>, level: &Level<'_, S, P>) {
        for mut parcel in received.drain(..) {
            let words = parcel.words.chunks(BATCH * self.store.width());
            for (words, entries) in words.zip(parcel.entries.chunks(BATCH)) {
                if level.tally.halted().is_some() {
                    break;
                }
                for entry in entries {
                    self.store.prefetch_slot(entry.hash);
                }
                self.take(words, entries, level);
            }
            parcel.clear();
            if self.spare.len() < WAITING {
                self.spare.push(parcel);
            }
        }
    }

    /// Tells what was seen.
    pub(super) fn tell<P: Pulse>(&mut self, tally: &Tally<'_, P>) {
        let lists = self.parents.len() * 4 + self.ranks.len() * 4;
        self.counts.memory = self.store.memory() + lists as u64;
        tally.tell(&mut self.counts);
    }
}
