//! Ring buffer of events in memory that target and debugger share.
//!
//! The ring consists of slots of eight words. A writer reserves as many slots as its event needs by one increment of
//! a counter, fills them, and stores the header of the first slot last: from then on the event is visible. Writers
//! never wait for each other. So a thread that is stopped or dies in the middle does not keep others from writing,
//! and all complete events are found after the target's death. A header names the round in which it was written, so
//! slots need not be cleared.
//!
//! ```text
//! word 0  the round, how many slots, how many parameters, and what they are
//! word 1  the event, and the thread
//! word 2  the time in nanoseconds, or NO_TIME
//! word 3  parameters: a word each if all are integers; else two words each, then the length of their text, and the text
//! ```
//!
//! A continuation slot has a header too, and seven words of the event.

use crate::system;
use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
use core::sync::atomic::{AtomicU32, AtomicU64};
use invigil_expr::value::Value;
use invigil_monitor::event::EventId;

/// Time of an event that has none.
pub const NO_TIME: u64 = u64::MAX;

pub(crate) const SLOT_WORDS: usize = 8;
/// Words of payload in the first slot of an event, and in each further one.
pub(crate) const FIRST_PAYLOAD: usize = SLOT_WORDS - 3;
pub(crate) const MORE_PAYLOAD: usize = SLOT_WORDS - 1;

/// Kinds of slots: an event with integer parameters, one with other values, a continuation.
pub(crate) const INTEGERS: u8 = 1;
pub(crate) const VALUES: u8 = 2;
pub(crate) const MORE: u8 = 3;

/// Interval in nanoseconds at which a waiting thread checks whether it must still wait.
const RECHECK_NANOS: u64 = 10_000_000;

/// Words that different sides write are on cache lines of their own, so that they do not slow each other down.
#[repr(C, align(64))]
struct CacheLine<T>(T);

#[repr(C)]
struct RingHeader {
    /// Number of slots ever reserved.
    written: CacheLine<AtomicU64>,
    /// Number of slots ever read.
    read: CacheLine<AtomicU64>,
    state: CacheLine<RingState>,
}

#[repr(C)]
struct RingState {
    /// Number of lost events.
    lost: AtomicU64,
    /// Nonzero if events are lost when the ring is full; otherwise their threads wait.
    lossy: AtomicU32,
    /// Nonzero if the reader has stopped.
    closed: AtomicU32,
    /// Nonzero if a thread waits for free slots.
    waiting: AtomicU32,
    /// Number of times that waiting threads were woken; the futex they sleep on.
    wake_count: AtomicU32,
    /// Nonzero if the reader sleeps.
    sleeping: AtomicU32,
}

/// Handle to a ring. It does not own the memory.
#[derive(Clone, Copy, Debug)]
pub struct Ring {
    header: *const RingHeader,
    slots: *const [AtomicU64; SLOT_WORDS],
    /// Number of slots, as a power of two.
    bits: u32,
}

// SAFETY: everything reachable through it is atomic.
unsafe impl Send for Ring {}
// SAFETY: as above.
unsafe impl Sync for Ring {}

/// An event without its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventHeader {
    /// Its id.
    pub event: EventId,
    /// The thread.
    pub thread: u32,
    /// Nanoseconds since the start of the target, or [`NO_TIME`].
    pub time: u64,
}

/// Outcome of writing an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PushOutcome {
    /// The event is in the ring.
    Done,
    /// The ring was full, or closed.
    Lost,
    /// The ring was full, and the thread may not wait.
    WouldBlock,
}

/// Encodes the header of a slot.
pub(crate) fn slot_header(round: u32, slots: u16, count: u8, kind: u8) -> u64 {
    u64::from(round) << 32 | u64::from(slots) << 16 | u64::from(count) << 8 | u64::from(kind)
}

impl Ring {
    /// Smallest ring, as a power of two of slots: the longest event fits.
    pub const MIN_BITS: u32 = 10;
    /// Largest ring.
    pub const MAX_BITS: u32 = 26;

    /// Size of a slot in bytes.
    pub const SLOT_BYTES: u64 = size_of::<[AtomicU64; SLOT_WORDS]>() as u64;

    /// Size in bytes of a ring with `1 << bits` slots.
    pub const fn bytes(bits: u32) -> usize {
        size_of::<RingHeader>() + (size_of::<[AtomicU64; SLOT_WORDS]>() << bits)
    }

    /// Creates a handle to a ring with `1 << bits` slots. The memory must be zeroed before its first use.
    ///
    /// # Safety
    /// `at` is a multiple of 64 and points to [`Ring::bytes`] bytes that stay valid while the handle or a copy of it
    /// is used. The memory is accessed through rings only.
    pub const unsafe fn new(at: *const u8, bits: u32) -> Ring {
        // SAFETY: the header is within the memory, by the contract.
        let slots = unsafe { at.add(size_of::<RingHeader>()).cast() };
        Ring { header: at.cast(), slots, bits }
    }

    #[inline]
    fn header(&self) -> &RingHeader {
        // SAFETY: by the contract of `new`.
        unsafe { &*self.header }
    }

    /// Number of slots.
    #[inline]
    pub(crate) fn count(&self) -> u64 {
        1 << self.bits
    }

    #[inline]
    pub(crate) fn slot(&self, at: u64) -> &[AtomicU64; SLOT_WORDS] {
        // SAFETY: by the contract of `new`; the index is that of a slot.
        unsafe { &*self.slots.add((at & (self.count() - 1)) as usize) }
    }

    /// Round in which a slot is written. Rounds start at 1, so a new ring holds no events.
    #[inline]
    pub(crate) fn round(&self, at: u64) -> u32 {
        (at >> self.bits) as u32 + 1
    }

    /// Sets whether events are lost when the ring is full.
    pub fn set_lossy(&self, lossy: bool) {
        self.header().state.0.lossy.store(lossy.into(), SeqCst);
    }

    /// Stops reading: waiting threads continue, and events that find no room are dropped.
    pub fn close(&self) {
        self.header().state.0.closed.store(1, SeqCst);
        self.wake_waiters();
    }

    /// Number of lost events.
    pub fn lost(&self) -> u64 {
        self.header().state.0.lost.load(Relaxed)
    }

    /// Number of slots ever reserved.
    pub(crate) fn written(&self) -> u64 {
        self.header().written.0.load(Acquire)
    }

    /// Wakes the threads that wait for free slots.
    fn wake_waiters(&self) {
        let state = &self.header().state.0;
        if state.waiting.swap(0, SeqCst) != 0 {
            state.wake_count.fetch_add(1, SeqCst);
            system::futex_wake_all(&state.wake_count);
        }
    }

    /// Publishes how many slots were read.
    pub(crate) fn set_read(&self, at: u64) {
        self.header().read.0.store(at, SeqCst);
        self.wake_waiters();
    }

    /// Puts the reader to sleep for so many nanoseconds, until a quarter of the ring was written, or until a thread
    /// waits.
    pub(crate) fn sleep(&self, nanoseconds: u64) {
        let state = &self.header().state.0;
        state.sleeping.store(1, SeqCst);
        if state.waiting.load(SeqCst) == 0 {
            system::futex_wait(&state.sleeping, 1, nanoseconds);
        }
        state.sleeping.store(0, SeqCst);
    }

    #[cold]
    fn wake_reader(&self) {
        let state = &self.header().state.0;
        if state.sleeping.swap(0, SeqCst) != 0 {
            system::futex_wake_all(&state.sleeping);
        }
    }

    /// Reserves slots, if so many are free.
    #[inline]
    pub(crate) fn try_take(&self, slots: u64) -> Option<u64> {
        let header = self.header();
        let mut at = header.written.0.load(Relaxed);
        loop {
            if (at + slots).saturating_sub(header.read.0.load(Acquire)) > self.count() {
                return None;
            }
            match header.written.0.compare_exchange_weak(at, at + slots, AcqRel, Relaxed) {
                Ok(_) => break,
                Err(now) => at = now,
            }
        }
        let quarter = self.count() / 4;
        if at & (quarter - 1) < slots && header.state.0.sleeping.load(Relaxed) != 0 {
            self.wake_reader();
        }
        Some(at)
    }

    /// Reserves slots as soon as they are free. `Err` is the outcome of the event otherwise.
    #[cold]
    fn take_slow(&self, slots: u64, may_not_wait: &dyn Fn() -> bool) -> Result<u64, PushOutcome> {
        let state = &self.header().state.0;
        if slots > self.count() || state.lossy.load(Relaxed) != 0 {
            state.lost.fetch_add(1, Relaxed);
            return Err(PushOutcome::Lost);
        }
        loop {
            let wake_count = state.wake_count.load(SeqCst);
            state.waiting.store(1, SeqCst);
            if let Some(at) = self.try_take(slots) {
                return Ok(at);
            }
            if state.closed.load(SeqCst) != 0 {
                return Err(PushOutcome::Lost);
            }
            if may_not_wait() {
                return Err(PushOutcome::WouldBlock);
            }
            self.wake_reader();
            system::futex_wait(&state.wake_count, wake_count, RECHECK_NANOS);
        }
    }

    /// Writes an event whose parameters take `length` words.
    #[inline]
    fn put(
        &self,
        event: &EventHeader,
        kind: (u8, usize),
        (length, words): (usize, impl Iterator<Item = u64>),
        may_not_wait: &dyn Fn() -> bool,
    ) -> PushOutcome {
        let slots = 1 + length.saturating_sub(FIRST_PAYLOAD).div_ceil(MORE_PAYLOAD) as u64;
        let at = match self.try_take(slots) {
            Some(at) => at,
            None => match self.take_slow(slots, may_not_wait) {
                Ok(at) => at,
                Err(pushed) => return pushed,
            },
        };
        self.fill((at, slots), event, kind, words);
        PushOutcome::Done
    }

    /// Writes an event into reserved slots.
    #[inline(always)]
    fn fill(
        &self,
        (at, slots): (u64, u64),
        event: &EventHeader,
        (kind, count): (u8, usize),
        words: impl Iterator<Item = u64>,
    ) {
        let first = self.slot(at);
        first[1].store(u64::from(event.event.0) | u64::from(event.thread) << 32, Relaxed);
        first[2].store(event.time, Relaxed);
        let (mut slot, mut position, mut number) = (first, SLOT_WORDS - FIRST_PAYLOAD, at);
        for word in words {
            if position == SLOT_WORDS {
                number += 1;
                slot = self.slot(number);
                slot[0].store(slot_header(self.round(number), 0, 0, MORE), Relaxed);
                position = SLOT_WORDS - MORE_PAYLOAD;
            }
            slot[position].store(word, Relaxed);
            position += 1;
        }
        first[0].store(slot_header(self.round(at), slots as u16, count as u8, kind), Release);
    }

    /// Writes an event with a few integers that fits into one slot, if one is free.
    #[inline(always)]
    pub(crate) fn try_push_few(&self, event: &EventHeader, numbers: &[i64]) -> bool {
        if numbers.len() > FIRST_PAYLOAD {
            return false;
        }
        let Some(at) = self.try_take(1) else { return false };
        self.fill((at, 1), event, (INTEGERS, numbers.len()), numbers.iter().map(|number| *number as u64));
        true
    }

    /// Writes an event with integer parameters. While the ring is full, `may_not_wait` is called repeatedly: it
    /// returns whether the thread must give up.
    #[inline]
    pub fn push_ints(
        &self,
        event: &EventHeader,
        numbers: &[i64],
        may_not_wait: &dyn Fn() -> bool,
    ) -> PushOutcome {
        let words = numbers.iter().map(|number| *number as u64);
        self.put(event, (INTEGERS, numbers.len()), (numbers.len(), words), may_not_wait)
    }

    /// Writes any event. Long texts of its parameters are in `text`.
    pub fn push(
        &self,
        event: &EventHeader,
        values: &[Value],
        text: &str,
        may_not_wait: &dyn Fn() -> bool,
    ) -> PushOutcome {
        let pairs = values.iter().flat_map(|value| <[u64; 2]>::from(value.bits()));
        let parts = text.as_bytes().chunks(8).map(|part| {
            let mut word = [0; 8];
            word[..part.len()].copy_from_slice(part);
            u64::from_le_bytes(word)
        });
        let words = pairs.chain([text.len() as u64]).chain(parts);
        let length = values.len() * 2 + 1 + text.len().div_ceil(8);
        if values.len() > usize::from(u8::MAX) || length > usize::from(u16::MAX) {
            self.header().state.0.lost.fetch_add(1, Relaxed);
            return PushOutcome::Lost;
        }
        self.put(event, (VALUES, values.len()), (length, words), may_not_wait)
    }
}
