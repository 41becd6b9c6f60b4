//! The last events, in as few words as possible.

use crate::event::{Batch, Event, Stamp, SymbolId};
use crate::few;
use crate::swift::Stepped;
use alloc::vec::Vec;
use invigil_expr::value::Value;

/// The event is the next of the batch.
const IN_BATCH: u64 = 1 << 63;
/// No event: those that follow happened in another thread, whose number is the lower half.
const THREAD: u64 = 1 << 62;
/// The number of parameters, which follow, lies above the symbol.
const PARAMS: u32 = 32;

/// Events in their order; those with integers only take a word and one for each of those.
#[derive(Clone, Debug, Default)]
pub(super) struct Tape {
    /// Room for words; the first `used` of them are written.
    words: Vec<u64>,
    used: usize,
    batch: Batch,
    thread: Option<u32>,
    /// How many events there are, without the quick ones.
    events: usize,
    quick: usize,
}

/// Events that are yet to be added.
pub(super) struct Draft<'a> {
    tape: &'a mut Tape,
    used: usize,
    thread: Option<u32>,
    events: usize,
    quick: usize,
}

impl Draft<'_> {
    /// Writes an event whose [first word](head) was made elsewhere; a [quick](Tape::take_quick) one if a transition was taken.
    pub(super) fn put(&mut self, thread: u32, first: u64, integers: &[u64], taken: bool) {
        let end = self.used + 2 + integers.len();
        if end > self.tape.words.len() {
            self.tape.grow(end);
        }
        if self.thread != Some(thread) {
            self.thread = Some(thread);
            self.write(&[THREAD | u64::from(thread)]);
        }
        self.write(&[first]);
        self.write(integers);
        self.quick += usize::from(taken);
        self.events += usize::from(!taken);
    }

    fn write(&mut self, words: &[u64]) {
        let end = self.used + words.len();
        if let Some(to) = self.tape.words.get_mut(self.used..end) {
            to.copy_from_slice(words);
            self.used = end;
        }
    }

    /// Adds them.
    pub(super) fn commit(self) {
        let Draft { tape, used, thread, events, quick } = self;
        (tape.used, tape.thread, tape.events, tape.quick) = (used, thread, events, quick);
    }
}

/// The first word of an event with integers.
#[inline(always)]
pub(super) fn head(symbol: SymbolId, params: &[i64]) -> u64 {
    u64::from(symbol.0) | (params.len() as u64) << PARAMS
}

/// How many words follow the first word of an event with integers.
pub(super) fn integers(first: u64) -> usize {
    (first >> PARAMS) as usize
}

impl Tape {
    /// How many events there are.
    #[inline(always)]
    pub(super) fn len(&self) -> usize {
        self.events + self.quick
    }

    /// How many quick ones there were since they were last asked for.
    pub(super) fn take_quick(&mut self) -> usize {
        self.events += self.quick;
        core::mem::take(&mut self.quick)
    }

    /// The thread of what comes next, unless another is named.
    pub(super) fn thread(&self) -> Option<u32> {
        self.thread
    }

    /// What comes from now on happens in this thread.
    #[inline(always)]
    pub(super) fn expect(&mut self, thread: u32) {
        if self.thread != Some(thread) {
            self.change_thread(thread);
        }
    }

    /// The same, if there is room to say so.
    #[inline(always)]
    pub(super) fn expect_quickly(&mut self, thread: u32) -> bool {
        if self.thread != Some(thread) {
            let Some(word) = self.words.get_mut(self.used) else { return false };
            *word = THREAD | u64::from(thread);
            self.used += 1;
            self.thread = Some(thread);
        }
        true
    }

    #[cold]
    #[inline(never)]
    fn change_thread(&mut self, thread: u32) {
        self.thread = Some(thread);
        self.write(THREAD | u64::from(thread), &[]);
    }

    #[inline(always)]
    fn write(&mut self, first: u64, rest: &[i64]) {
        let end = self.used + 1 + rest.len();
        if end > self.words.len() {
            self.grow(end);
        }
        if let Some([to, others @ ..]) = self.words.get_mut(self.used..end) {
            *to = first;
            few::copy(others, rest, |word| word as u64);
            self.used = end;
        }
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self, end: usize) {
        self.words.resize((2 * end).max(1024), 0);
    }

    #[inline(always)]
    pub(super) fn push_integers(&mut self, symbol: SymbolId, params: &[i64], thread: u32) {
        self.expect(thread);
        self.events += 1;
        self.write(head(symbol, params), params);
    }

    /// To add several events at once; none is there before the end.
    pub(super) fn draft(&mut self) -> Draft<'_> {
        Draft { used: self.used, thread: self.thread, events: self.events, quick: self.quick, tape: self }
    }

    /// Writes an event after the last one, in the thread that is expected, without adding it. False if there is no room.
    #[inline(always)]
    pub(super) fn prepare(&mut self, symbol: SymbolId, params: &[i64]) -> bool {
        let Some([first, others @ ..]) = self.words.get_mut(self.used..self.used + 1 + params.len()) else {
            return false;
        };
        *first = head(symbol, params);
        few::copy(others, params, |param| param as u64);
        true
    }

    /// Adds the one that was prepared, which has so many integers, if it was waited for, and whether anything is known of it. If
    /// a transition was taken, it is a [quick](Tape::take_quick) one.
    #[inline(always)]
    pub(super) fn add_if(&mut self, stepped: Stepped, integers: usize) -> bool {
        if stepped == Stepped::Taken {
            self.used += 1 + integers;
            self.quick += 1;
            return true;
        }
        if stepped == Stepped::Stayed {
            self.used += 1 + integers;
            self.events += 1;
        }
        stepped != Stepped::Unknown
    }

    pub(super) fn push(&mut self, event: &Event<'_>, stamp: Stamp, thread: u32) {
        self.expect(thread);
        self.events += 1;
        self.write(IN_BATCH, &[]);
        self.batch.push_copy(event, stamp);
    }

    pub(super) fn clear(&mut self) {
        self.batch.clear();
        (self.used, self.thread, self.events, self.quick) = (0, None, 0, 0);
    }

    /// Adds the events to `events`, and their threads to `threads`.
    pub(super) fn play(&self, events: &mut Batch, threads: &mut Vec<u32>) {
        let (mut words, mut next, mut thread) = (&self.words[..self.used], 0, 0);
        let mut params = Vec::new();
        while let Some((word, rest)) = words.split_first() {
            words = rest;
            if word & THREAD != 0 {
                thread = *word as u32;
                continue;
            }
            threads.push(thread);
            if word & IN_BATCH != 0 {
                events.push_copy(&self.batch.event(next), self.batch.stamp(next));
                next += 1;
                continue;
            }
            let count = integers(*word).min(words.len());
            params.clear();
            params.extend(words[..count].iter().map(|param| Value::int(*param as i64)));
            words = &words[count..];
            events.push(SymbolId(*word as u32), &params, Stamp { time: f64::NAN, line: 0 });
        }
    }
}
