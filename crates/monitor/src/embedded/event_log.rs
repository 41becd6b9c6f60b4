//! Compact log of recent events.

use crate::event::{Event, EventBatch, EventId, EventMeta};
use crate::int_table::TableStep;
use crate::short_copy;
use alloc::vec::Vec;
use invigil_expr::value::Value;

/// Marks an event that is stored in the batch.
const IN_BATCH: u64 = 1 << 63;
/// Marks a change of thread; the lower half is the thread id.
const THREAD: u64 = 1 << 62;
/// Shift of the number of parameter words, above the event id.
const PARAMS: u32 = 32;

/// Events in order. An event with integer parameters takes one word, and one per parameter.
#[derive(Clone, Debug, Default)]
pub(super) struct EventLog {
    /// The words; the first `used` are valid.
    words: Vec<u64>,
    used: usize,
    batch: EventBatch,
    thread: Option<u32>,
    /// The number of events, without `fast`.
    events: usize,
    fast: usize,
}

/// Events that are appended on [`commit`](PendingEvents::commit).
pub(super) struct PendingEvents<'a> {
    log: &'a mut EventLog,
    used: usize,
    thread: Option<u32>,
    events: usize,
    fast: usize,
}

impl PendingEvents<'_> {
    /// Writes an event with a given [first word](first_word). It counts as [fast](EventLog::take_fast_count) if
    /// a transition was taken.
    pub(super) fn put(
        &mut self,
        thread: u32,
        first: u64,
        param_words: impl ExactSizeIterator<Item = u64>,
        taken: bool,
    ) {
        let end = self.used + 2 + param_words.len();
        if end > self.log.words.len() {
            self.log.grow(end);
        }
        if self.thread != Some(thread) {
            self.thread = Some(thread);
            self.write(THREAD | u64::from(thread));
        }
        self.write(first);
        param_words.for_each(|word| self.write(word));
        self.fast += usize::from(taken);
        self.events += usize::from(!taken);
    }

    fn write(&mut self, word: u64) {
        if let Some(to) = self.log.words.get_mut(self.used) {
            *to = word;
            self.used += 1;
        }
    }

    /// Appends the pending events.
    pub(super) fn commit(self) {
        let PendingEvents { log, used, thread, events, fast } = self;
        (log.used, log.thread, log.events, log.fast) = (used, thread, events, fast);
    }
}

/// The first word of an event with integer parameters.
#[inline(always)]
pub(super) fn first_word(event_id: EventId, params: &[i64]) -> u64 {
    u64::from(event_id.0) | (params.len() as u64) << PARAMS
}

/// The number of words after the first word.
pub(super) fn param_words(first: u64) -> usize {
    (first >> PARAMS) as usize
}

impl EventLog {
    /// The number of events.
    #[inline(always)]
    pub(super) fn len(&self) -> usize {
        self.events + self.fast
    }

    /// Resets and returns the number of events on the fast path that took a transition.
    pub(super) fn take_fast_count(&mut self) -> usize {
        self.events += self.fast;
        core::mem::take(&mut self.fast)
    }

    /// The current thread.
    pub(super) fn thread(&self) -> Option<u32> {
        self.thread
    }

    /// Sets the thread of the following events.
    #[inline(always)]
    pub(super) fn set_thread(&mut self, thread: u32) {
        if self.thread != Some(thread) {
            self.change_thread(thread);
        }
    }

    /// Like [`set_thread`](EventLog::set_thread), but fails instead of allocating.
    #[inline(always)]
    pub(super) fn try_set_thread(&mut self, thread: u32) -> bool {
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
            short_copy::copy(others, rest, |word| word as u64);
            self.used = end;
        }
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self, end: usize) {
        self.words.resize((2 * end).max(1024), 0);
    }

    #[inline(always)]
    pub(super) fn push_integers(&mut self, event_id: EventId, params: &[i64], thread: u32) {
        self.set_thread(thread);
        self.events += 1;
        self.write(first_word(event_id, params), params);
    }

    /// Starts an atomic append of several events.
    pub(super) fn draft(&mut self) -> PendingEvents<'_> {
        PendingEvents {
            used: self.used,
            thread: self.thread,
            events: self.events,
            fast: self.fast,
            log: self,
        }
    }

    /// Writes an event behind the last one without appending it. Returns false if there is no space.
    #[inline(always)]
    pub(super) fn prepare(&mut self, event_id: EventId, params: &[i64]) -> bool {
        let Some([first, others @ ..]) = self.words.get_mut(self.used..self.used + 1 + params.len()) else {
            return false;
        };
        *first = first_word(event_id, params);
        short_copy::copy(others, params, |param| param as u64);
        true
    }

    /// Appends the prepared event unless the step was `Unknown` or the event was not needed. Returns whether
    /// the step is known.
    ///
    /// It counts as [fast](EventLog::take_fast_count) if a transition was taken.
    #[inline(always)]
    pub(super) fn commit_prepared(&mut self, stepped: TableStep, integers: usize) -> bool {
        if stepped == TableStep::Taken {
            self.used += 1 + integers;
            self.fast += 1;
            return true;
        }
        if stepped == TableStep::Stayed {
            self.used += 1 + integers;
            self.events += 1;
        }
        stepped != TableStep::Unknown
    }

    pub(super) fn push(&mut self, event: &Event<'_>, meta: EventMeta, thread: u32) {
        self.set_thread(thread);
        self.events += 1;
        self.write(IN_BATCH, &[]);
        self.batch.push_copy(event, meta);
    }

    pub(super) fn clear(&mut self) {
        self.batch.clear();
        (self.used, self.thread, self.events, self.fast) = (0, None, 0, 0);
    }

    /// Appends the logged events to `events`, and their threads to `threads`.
    pub(super) fn decode_into(&self, events: &mut EventBatch, threads: &mut Vec<u32>) {
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
                events.push_copy(&self.batch.event(next), self.batch.meta(next));
                next += 1;
                continue;
            }
            let count = param_words(*word).min(words.len());
            params.clear();
            params.extend(words[..count].iter().map(|param| Value::int(*param as i64)));
            words = &words[count..];
            events.push(EventId(*word as u32), &params, EventMeta { time: f64::NAN, line: 0 });
        }
    }
}
