//! One thread of a search in breadth.

use super::best::Best;
use super::known::{Entry, Held, Known, Link, NONE};
use crate::hash::hash;
use crate::limits::{Incomplete, Pulse};
use crate::report::What;
use crate::search::Wanted;
use crate::space::{BAD, FAULT, Space, Successors};
use crate::table::Look;
use crate::tally::{Counts, Tally};
use std::ops::Range;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

/// How many successors are computed at once: enough to have all their memory on its way, few enough that it is still
/// in the cache when they are looked up.
const BATCH: usize = 256;
/// The most states that are expanded at once.
const STATES: usize = 128;

/// What all workers share at one level.
pub(super) struct Level<'a, S, P> {
    pub(super) space: &'a S,
    pub(super) wanted: Wanted,
    pub(super) tally: &'a Tally<'a, P>,
    pub(super) known: &'a Known,
    /// For each worker, the first of its rows that is not expanded yet.
    pub(super) next: Vec<AtomicU64>,
    /// For each worker, the end of the rows of this level.
    pub(super) ends: Vec<u32>,
    /// Steps from the start.
    pub(super) depth: u64,
    /// Whether what is new is kept. It is not at the last level that is allowed.
    pub(super) is_kept: bool,
}

impl<S, P> Level<'_, S, P> {
    /// Some states to expand, by who wrote them down and their rows: one's own first.
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
    /// The rows that it has written.
    pub(super) rows: u32,
    /// The best of what this level shows.
    pub(super) best: Best,
    /// Whether there is something beyond the last level that is allowed.
    pub(super) is_more: bool,
    pub(super) counts: Counts,
    /// How many states are expanded at once.
    batch: usize,
    states: Vec<u64>,
    out: Successors,
    ends: Vec<u32>,
    entries: Vec<Entry>,
    /// For each entry, what the table told at a first look.
    looks: Vec<Look>,
}

/// Ends the search if a worker panics.
struct Alarm<'a, P: Pulse>(&'a Tally<'a, P>);

impl<P: Pulse> Drop for Alarm<'_, P> {
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
            best: Best::new(most),
            is_more: false,
            counts: Counts::default(),
            batch: 1,
            states: Vec::new(),
            out: Successors::default(),
            ends: Vec::new(),
            entries: Vec::new(),
            looks: Vec::new(),
        }
    }

    /// Takes an initial state.
    pub(super) fn start<P: Pulse>(&mut self, state: &[u64], known: &Known, tally: &Tally<'_, P>) {
        let entry = Entry { hash: hash(state), link: Link::new(0, NONE) };
        let place = (self.number, self.rows);
        let inserted =
            known.hold(1).and_then(|mut held| held.insert(place, state, entry, Look::Unsure, &[u32::MAX]));
        match inserted {
            Ok(is_new) => {
                self.rows += u32::from(is_new);
                self.counts.states += u64::from(is_new);
            }
            Err(_) => tally.halt(Incomplete::Memory),
        }
    }

    /// Expands states of a level until there are no more.
    pub(super) fn run<S: Space, P: Pulse>(&mut self, level: &Level<'_, S, P>) {
        let _alarm = Alarm(level.tally);
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
            match level.known.hold(self.out.len()) {
                Ok(mut held) => {
                    self.sort_out(writer, rows.clone(), &held, level);
                    self.take(&mut held, level);
                }
                Err(_) => level.tally.halt(Incomplete::Memory),
            }
            self.batch = match self.out.len() {
                few if few < BATCH => (self.batch * 2).min(STATES),
                many if many > 2 * BATCH => (self.batch / 2).max(1),
                _ => self.batch,
            };
            self.counts.expanded += rows.len() as u64;
            self.tell(level.known, level.tally);
        }
    }

    /// Looks at what the states of a batch lead to: what is found is noted, and the places of states are asked for.
    fn sort_out<S: Space, P: Pulse>(
        &mut self,
        writer: usize,
        rows: Range<u32>,
        held: &Held<'_>,
        level: &Level<'_, S, P>,
    ) {
        let width = level.space.width();
        let mut from = 0;
        self.entries.clear();
        for ((row, source), end) in rows.zip(self.states.chunks_exact(width)).zip(&self.ends) {
            let parent = level.known.number(writer, row);
            let link = Link::new(hash(source), parent);
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
                held.prefetch(hash);
                // What is kept moves together, so that it lies in the order of the entries.
                let to = self.entries.len();
                if to < at {
                    self.out.words.copy_within(at * width..(at + 1) * width, to * width);
                }
                self.entries.push(Entry { hash, link });
            }
            from = upto;
        }
    }

    /// Takes the states whose places were asked for.
    fn take<S: Space, P: Pulse>(&mut self, held: &mut Held<'_>, level: &Level<'_, S, P>) {
        self.looks.clear();
        self.looks.extend(self.entries.iter().map(|entry| held.look(entry.hash)));
        let states = self.out.words.chunks_exact(level.space.width());
        let mut entries = states.zip(&self.entries);
        if !level.is_kept {
            self.is_more |= entries.any(|(state, entry)| !held.contains(state, entry.hash));
            return;
        }
        for ((state, entry), look) in entries.zip(&self.looks) {
            match held.insert((self.number, self.rows), state, *entry, *look, &level.ends) {
                Ok(is_new) => {
                    self.rows += u32::from(is_new);
                    self.counts.states += u64::from(is_new);
                }
                Err(_) => return level.tally.halt(Incomplete::Memory),
            }
        }
    }

    /// Tells what was seen.
    pub(super) fn tell<P: Pulse>(&mut self, known: &Known, tally: &Tally<'_, P>) {
        let table = if self.number == 0 { known.table_bytes() } else { 0 };
        self.counts.memory = known.row_bytes(self.rows as usize) + table;
        tally.tell(&mut self.counts);
    }
}
