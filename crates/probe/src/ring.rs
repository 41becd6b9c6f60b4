//! Events on their way from the program to the tool: a ring in memory that both have.
//!
//! The ring is made of slots of eight words. Whoever has an event takes as many slots as it needs, by one step of a counter, fills
//! them, and puts the head of the first one last: from then on the event is there. Nobody ever waits for another thread of
//! the program, so a thread that is stopped in the middle, or dies there, keeps no other from telling its events, and those
//! that were told are all found after the program's death. A head says in which round it was written, so that nothing has to be
//! cleared.
//!
//! ```text
//! word 0  the round, how many slots, how many parameters, and what they are
//! word 1  the event, and the thread
//! word 2  the time in nanoseconds, or NO_TIME
//! word 3  parameters: a word each if all are integers; else two words each, then the length of their text, and the text
//! ```
//!
//! A slot that goes on with an event has a head, too, and seven words of it.

use crate::system;
use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
use core::sync::atomic::{AtomicU32, AtomicU64};
use invigil_expr::value::Value;
use invigil_monitor::event::SymbolId;

/// The time of an event that has none.
pub const NO_TIME: u64 = u64::MAX;

pub(crate) const SLOT: usize = 8;
/// So many words of an event's parameters lie in its first slot, and in each further one.
pub(crate) const FIRST: usize = SLOT - 3;
pub(crate) const FURTHER: usize = SLOT - 1;

/// What a slot holds: an event whose parameters are integers, one with other values, or more of one.
pub(crate) const INTEGERS: u8 = 1;
pub(crate) const VALUES: u8 = 2;
pub(crate) const MORE: u8 = 3;

/// A thread that waits looks this often, in nanoseconds, whether it is still to wait.
const PATIENCE: u64 = 10_000_000;

/// Words that different sides write are apart from each other, so that they do not slow each other down.
#[repr(C, align(64))]
struct Apart<T>(T);

#[repr(C)]
struct Head {
    /// How many slots were ever taken.
    written: Apart<AtomicU64>,
    /// How many of them were read.
    read: Apart<AtomicU64>,
    state: Apart<State>,
}

#[repr(C)]
struct State {
    /// How many events were lost.
    lost: AtomicU64,
    /// Other than zero if an event is lost for which there is no room; else its thread waits.
    lossy: AtomicU32,
    /// Other than zero if nobody reads any more.
    closed: AtomicU32,
    /// Other than zero if someone waits for room.
    waiting: AtomicU32,
    /// Counts how often there was room again for those who wait.
    turn: AtomicU32,
    /// Other than zero if the reader sleeps.
    sleeping: AtomicU32,
}

/// A ring of slots. It does not own the memory.
#[derive(Clone, Copy, Debug)]
pub struct Ring {
    head: *const Head,
    slots: *const [AtomicU64; SLOT],
    /// How many there are, as a power of two.
    bits: u32,
}

// SAFETY: all that is reached through it is atomic.
unsafe impl Send for Ring {}
// SAFETY: as above.
unsafe impl Sync for Ring {}

/// An event, but for its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Which.
    pub symbol: SymbolId,
    /// The thread.
    pub thread: u32,
    /// Nanoseconds since the begin, or [`NO_TIME`].
    pub time: u64,
}

/// What became of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pushed {
    /// It is in the ring.
    Done,
    /// There was no room for it.
    Lost,
    /// There was no room for it, and its thread may not wait.
    Refused,
}

/// The head of a slot.
pub(crate) fn head(round: u32, slots: u16, count: u8, kind: u8) -> u64 {
    u64::from(round) << 32 | u64::from(slots) << 16 | u64::from(count) << 8 | u64::from(kind)
}

impl Ring {
    /// The smallest ring, as a power of two of slots: the longest event fits.
    pub const SMALLEST: u32 = 10;
    /// The largest.
    pub const LARGEST: u32 = 26;

    /// How much memory a slot takes.
    pub const SLOT_BYTES: u64 = size_of::<[AtomicU64; SLOT]>() as u64;

    /// How much memory a ring of so many slots takes, as a power of two.
    pub const fn bytes(bits: u32) -> usize {
        size_of::<Head>() + (size_of::<[AtomicU64; SLOT]>() << bits)
    }

    /// A ring of so many slots, as a power of two. The memory is zero at first.
    ///
    /// # Safety
    /// At `at`, a multiple of 64, there is memory of [`Ring::bytes`] as long as the ring or a copy of it is used, and nothing
    /// else reaches it but rings.
    pub const unsafe fn new(at: *const u8, bits: u32) -> Ring {
        // SAFETY: the head lies within the memory, by the contract.
        let slots = unsafe { at.add(size_of::<Head>()).cast() };
        Ring { head: at.cast(), slots, bits }
    }

    #[inline]
    fn words(&self) -> &Head {
        // SAFETY: by the contract of `new`.
        unsafe { &*self.head }
    }

    /// How many slots there are.
    #[inline]
    pub(crate) fn count(&self) -> u64 {
        1 << self.bits
    }

    #[inline]
    pub(crate) fn slot(&self, at: u64) -> &[AtomicU64; SLOT] {
        // SAFETY: by the contract of `new`; the number is one of a slot.
        unsafe { &*self.slots.add((at & (self.count() - 1)) as usize) }
    }

    /// The round in which a slot is written; a new ring is in none.
    #[inline]
    pub(crate) fn round(&self, at: u64) -> u32 {
        (at >> self.bits) as u32 + 1
    }

    /// Says whether events are lost for which there is no room.
    pub fn set_lossy(&self, lossy: bool) {
        self.words().state.0.lossy.store(lossy.into(), SeqCst);
    }

    /// Nobody reads any more: those who wait go on, and what finds no room is gone.
    pub fn close(&self) {
        self.words().state.0.closed.store(1, SeqCst);
        self.let_on();
    }

    /// How many events were lost.
    pub fn lost(&self) -> u64 {
        self.words().state.0.lost.load(Relaxed)
    }

    /// How many slots were ever taken.
    pub(crate) fn written(&self) -> u64 {
        self.words().written.0.load(Acquire)
    }

    /// Those who wait for room look again.
    fn let_on(&self) {
        let state = &self.words().state.0;
        if state.waiting.swap(0, SeqCst) != 0 {
            state.turn.fetch_add(1, SeqCst);
            system::wake_all(&state.turn);
        }
    }

    /// The reader has read so many slots.
    pub(crate) fn set_read(&self, at: u64) {
        self.words().read.0.store(at, SeqCst);
        self.let_on();
    }

    /// The reader sleeps for so many nanoseconds, or until a quarter of the ring was written, or someone waits.
    pub(crate) fn sleep(&self, nanoseconds: u64) {
        let state = &self.words().state.0;
        state.sleeping.store(1, SeqCst);
        if state.waiting.load(SeqCst) == 0 {
            system::wait(&state.sleeping, 1, nanoseconds);
        }
        state.sleeping.store(0, SeqCst);
    }

    #[cold]
    fn wake_reader(&self) {
        let state = &self.words().state.0;
        if state.sleeping.swap(0, SeqCst) != 0 {
            system::wake_all(&state.sleeping);
        }
    }

    /// Takes slots, if there are so many.
    #[inline]
    pub(crate) fn try_take(&self, slots: u64) -> Option<u64> {
        let words = self.words();
        let mut at = words.written.0.load(Relaxed);
        loop {
            if (at + slots).saturating_sub(words.read.0.load(Acquire)) > self.count() {
                return None;
            }
            match words.written.0.compare_exchange_weak(at, at + slots, AcqRel, Relaxed) {
                Ok(_) => break,
                Err(now) => at = now,
            }
        }
        let quarter = self.count() / 4;
        if at & (quarter - 1) < slots && words.state.0.sleeping.load(Relaxed) != 0 {
            self.wake_reader();
        }
        Some(at)
    }

    /// Takes slots when there is room; what becomes of the event if there is none.
    #[cold]
    fn take_later(&self, slots: u64, refuses: &dyn Fn() -> bool) -> Result<u64, Pushed> {
        let state = &self.words().state.0;
        if slots > self.count() || state.lossy.load(Relaxed) != 0 {
            state.lost.fetch_add(1, Relaxed);
            return Err(Pushed::Lost);
        }
        loop {
            let turn = state.turn.load(SeqCst);
            state.waiting.store(1, SeqCst);
            if let Some(at) = self.try_take(slots) {
                return Ok(at);
            }
            if state.closed.load(SeqCst) != 0 {
                return Err(Pushed::Lost);
            }
            if refuses() {
                return Err(Pushed::Refused);
            }
            self.wake_reader();
            system::wait(&state.turn, turn, PATIENCE);
        }
    }

    /// Puts an event into the ring. `words` is how many words its parameters take.
    #[inline]
    fn put(
        &self,
        entry: &Entry,
        what: (u8, usize),
        (length, words): (usize, impl Iterator<Item = u64>),
        refuses: &dyn Fn() -> bool,
    ) -> Pushed {
        let slots = 1 + length.saturating_sub(FIRST).div_ceil(FURTHER) as u64;
        let at = match self.try_take(slots) {
            Some(at) => at,
            None => match self.take_later(slots, refuses) {
                Ok(at) => at,
                Err(pushed) => return pushed,
            },
        };
        self.fill((at, slots), entry, what, words);
        Pushed::Done
    }

    /// Writes an event into slots that were taken.
    #[inline(always)]
    fn fill(
        &self,
        (at, slots): (u64, u64),
        entry: &Entry,
        (kind, count): (u8, usize),
        words: impl Iterator<Item = u64>,
    ) {
        let first = self.slot(at);
        first[1].store(u64::from(entry.symbol.0) | u64::from(entry.thread) << 32, Relaxed);
        first[2].store(entry.time, Relaxed);
        let (mut slot, mut position, mut number) = (first, SLOT - FIRST, at);
        for word in words {
            if position == SLOT {
                number += 1;
                slot = self.slot(number);
                slot[0].store(head(self.round(number), 0, 0, MORE), Relaxed);
                position = SLOT - FURTHER;
            }
            slot[position].store(word, Relaxed);
            position += 1;
        }
        first[0].store(head(self.round(at), slots as u16, count as u8, kind), Release);
    }

    /// An event with a few integers, which fit into one slot, if there is room for it now.
    #[inline(always)]
    pub(crate) fn try_push_few(&self, entry: &Entry, numbers: &[i64]) -> bool {
        if numbers.len() > FIRST {
            return false;
        }
        let Some(at) = self.try_take(1) else { return false };
        self.fill((at, 1), entry, (INTEGERS, numbers.len()), numbers.iter().map(|number| *number as u64));
        true
    }

    /// An event whose parameters are integers. When there is no room, `refuses` is asked again and again whether the thread
    /// may not wait.
    #[inline]
    pub fn push_integers(&self, entry: &Entry, numbers: &[i64], refuses: &dyn Fn() -> bool) -> Pushed {
        let words = numbers.iter().map(|number| *number as u64);
        self.put(entry, (INTEGERS, numbers.len()), (numbers.len(), words), refuses)
    }

    /// Any event; texts of its parameters lie in `text`.
    pub fn push(&self, entry: &Entry, values: &[Value], text: &str, refuses: &dyn Fn() -> bool) -> Pushed {
        let pairs = values.iter().flat_map(|value| <[u64; 2]>::from(value.bits()));
        let parts = text.as_bytes().chunks(8).map(|part| {
            let mut word = [0; 8];
            word[..part.len()].copy_from_slice(part);
            u64::from_le_bytes(word)
        });
        let words = pairs.chain([text.len() as u64]).chain(parts);
        let length = values.len() * 2 + 1 + text.len().div_ceil(8);
        if values.len() > usize::from(u8::MAX) || length > usize::from(u16::MAX) {
            self.words().state.0.lost.fetch_add(1, Relaxed);
            return Pushed::Lost;
        }
        self.put(entry, (VALUES, values.len()), (length, words), refuses)
    }
}
