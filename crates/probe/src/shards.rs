//! Per-thread shards of the slice table: threads that work on different objects step in parallel.
//!
//! The property is protected by one lock. If each slice is used by one thread only, threads wait for each other
//! needlessly. When that happens often, the property is split into [shards](invigil_monitor::embedded), and each thread
//! locks only its own. A thread whose event needs more takes the lock of the property, then all shards. If that happens
//! too often, the shards are closed for good.

use crate::capture::GeneralRegisters;
use crate::control::INVIGIL_CONTROL;
use crate::integer_event::{EventSink, IntegerEvent};
use crate::lock::{Lock, LockGuard, MAX_NAPS};
use crate::threads;
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::arch::x86_64::{_mm_lfence, _rdtsc};
use core::ptr;
use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
use core::sync::atomic::{AtomicPtr, AtomicU32};
use invigil_monitor::embedded::{EmbeddedMonitors, ExternalEngine, SHARD_COUNT, Shard};
use invigil_monitor::event::EventId;

/// On cache lines of its own, so that threads do not slow each other down.
#[repr(align(128))]
struct CacheAligned(Lock<Shard>);

static SHARDS_TABLE: [CacheAligned; SHARD_COUNT] =
    [const { CacheAligned(Lock::new(Shard::new())) }; SHARD_COUNT];

/// Data that is read without a lock while shards are open. It changes only while the target is stopped and no thread
/// is in the library.
static INDEX: AtomicPtr<ShardIndex> = AtomicPtr::new(ptr::null_mut());

/// The same after the shards were closed; kept because other threads may still read it.
static RETIRED_INDEX: AtomicPtr<ShardIndex> = AtomicPtr::new(ptr::null_mut());

struct ShardIndex {
    /// For each site, its event if that can take the fast path.
    sites: Vec<Option<IntegerEvent>>,
    /// For each event, the position of the slice parameter among its parameters.
    keys: Vec<Option<u16>>,
}

/// Nonzero while a thread is taking all shards. Other threads then leave their shard alone: they would come back to
/// it so soon that the taker would starve.
static TAKING_ALL: AtomicU32 = AtomicU32::new(0);

/// How often a thread found the property locked. Whether to open shards is decided once.
static CONTENTION: AtomicU32 = AtomicU32::new(0);
/// Shards are opened after so many contended locks.
const CONTENTION_LIMIT: u32 = 100;
/// The decision was made.
const DECIDED: u32 = u32::MAX;

/// Counts a contended lock of the property.
#[cold]
pub(crate) fn note_contention() {
    let _ = CONTENTION.fetch_update(Relaxed, Relaxed, |count| (count < CONTENTION_LIMIT).then(|| count + 1));
}

/// Whether shards should be opened.
pub(crate) fn is_contended() -> bool {
    CONTENTION.load(Relaxed) == CONTENTION_LIMIT
}

/// Whether shards are open, or may be opened at any moment.
#[inline(always)]
pub(crate) fn are_open() -> bool {
    !INDEX.load(Relaxed).is_null()
}

/// Fast path of an event in the shard of its thread. Returns whether the event was processed; otherwise nothing was
/// done. `None` if no shards are open.
#[inline(always)]
pub(crate) fn fast_hit(general: &GeneralRegisters, site: u32) -> Option<bool> {
    // SAFETY: the pointer came from a box that is not freed while threads are in the library.
    let index = unsafe { INDEX.load(Acquire).as_ref() }?;
    let Some(Some(integer_event)) = index.sites.get(site as usize) else { return Some(false) };
    if TAKING_ALL.load(Relaxed) != 0 {
        return Some(false);
    }
    let thread = threads::id(threads::base());
    Some(integer_event.deliver(general, thread, ShardSink { keys: &index.keys, thread }))
}

/// Steps the monitors in one shard.
struct ShardSink<'a> {
    keys: &'a [Option<u16>],
    thread: u32,
}

impl EventSink for ShardSink<'_> {
    #[inline(always)]
    fn accept<const N: usize>(self, event: EventId, numbers: [i64; N]) -> bool {
        let Some(Some(at)) = self.keys.get(event.0 as usize) else { return false };
        let Some(key) = numbers.get(usize::from(*at)) else { return false };
        let Some(mut shard) = SHARDS_TABLE[self.thread as usize % SHARD_COUNT].0.try_lock() else {
            return false;
        };
        if INVIGIL_CONTROL.frozen.load(Relaxed) != 0 {
            return false;
        }
        // SAFETY: a thread that uses the property itself has taken and closed all shards first.
        unsafe { shard.step(*key, event, &numbers, (self.thread, time_stamp())) }
    }
}

/// Reads the time-stamp counter. The fence completes earlier loads first, so the order of time stamps agrees with the
/// order of events in the target.
#[inline(always)]
fn time_stamp() -> u64 {
    // SAFETY: every x86-64 processor has both instructions.
    unsafe {
        _mm_lfence();
        _rdtsc()
    }
}

/// All shards, for a thread that uses the property itself.
pub(crate) struct AllShards([LockGuard<'static, Shard>; SHARD_COUNT]);

/// Takes and closes all shards, if they are open. The caller holds the lock of the property.
pub(crate) fn take_all(monitors: Option<&mut EmbeddedMonitors>) -> Option<AllShards> {
    if !are_open() {
        return None;
    }
    TAKING_ALL.store(1, Relaxed);
    let taken = core::array::from_fn(|shard| SHARDS_TABLE[shard].0.lock());
    TAKING_ALL.store(0, Relaxed);
    Some(AllShards::close(taken, monitors))
}

/// The same with a limit on the waiting time; `Err` if a thread holds a shard for longer.
fn take_all_within(max_naps: u32, monitors: Option<&mut EmbeddedMonitors>) -> Result<Option<AllShards>, ()> {
    if !are_open() {
        return Ok(None);
    }
    TAKING_ALL.store(1, Relaxed);
    // Shards taken so far are released when this is dropped.
    let taken: Vec<_> = SHARDS_TABLE.iter().map_while(|shard| shard.0.lock_within(max_naps)).collect();
    TAKING_ALL.store(0, Relaxed);
    let taken = taken.try_into().map_err(|_| ())?;
    Ok(Some(AllShards::close(taken, monitors)))
}

impl AllShards {
    fn close(
        mut all: [LockGuard<'static, Shard>; SHARD_COUNT],
        monitors: Option<&mut EmbeddedMonitors>,
    ) -> AllShards {
        if let Some(monitors) = monitors {
            monitors.close_shards(all.iter_mut().map(|shard| &mut **shard));
        }
        AllShards(all)
    }

    /// Opens the shards again, if they are worth it.
    pub(crate) fn release(mut self, monitors: Option<&mut EmbeddedMonitors>) {
        if let Some(monitors) = monitors
            && !monitors.open_shards(self.0.iter_mut().map(|shard| &mut **shard))
        {
            // Other threads may still read it.
            RETIRED_INDEX.store(INDEX.swap(ptr::null_mut(), AcqRel), Release);
        }
    }
}

/// Opens shards, if the property supports them. `sites` gives the fast-path event of each site.
pub(crate) fn open(monitors: &mut EmbeddedMonitors, sites: impl Iterator<Item = Option<IntegerEvent>>) {
    CONTENTION.store(DECIDED, Relaxed);
    let Some(keys) = monitors.shard_keys() else { return };
    let mut all: [LockGuard<'static, Shard>; SHARD_COUNT] =
        core::array::from_fn(|shard| SHARDS_TABLE[shard].0.lock());
    if !monitors.open_shards(all.iter_mut().map(|shard| &mut **shard)) {
        return;
    }
    INDEX.store(Box::into_raw(Box::new(ShardIndex { sites: sites.collect(), keys })), Release);
}

/// Closes the shards for good. The target is stopped, no other thread is in the library, and the monitors are
/// uploaded again before they are used.
fn discard() {
    CONTENTION.store(0, Relaxed);
    for pointer in [&INDEX, &RETIRED_INDEX] {
        let before = pointer.swap(ptr::null_mut(), AcqRel);
        if !before.is_null() {
            // SAFETY: the pointer came from a box and is no longer reachable.
            drop(unsafe { Box::from_raw(before) });
        }
    }
}

/// The shards, as an engine outside of the host: they are open between requests of the debugger.
#[derive(Default)]
pub(crate) struct ShardEngine {
    /// The shards, while a request uses the monitors.
    taken: Option<AllShards>,
}

impl ExternalEngine for ShardEngine {
    fn write_back(&mut self, monitors: Option<&mut EmbeddedMonitors>) -> bool {
        match take_all_within(MAX_NAPS, monitors) {
            Ok(taken) => {
                self.taken = taken;
                true
            }
            Err(()) => false,
        }
    }

    fn restart(&mut self, monitors: Option<&mut EmbeddedMonitors>, is_frozen: bool) {
        if is_frozen {
            // Before another thread can step in its shard.
            INVIGIL_CONTROL.frozen.store(1, SeqCst);
        }
        if let Some(shards) = self.taken.take() {
            shards.release(monitors);
        }
    }

    fn discard(&mut self, monitors: Option<&mut EmbeddedMonitors>) {
        drop(take_all(monitors));
        discard();
    }
}

/// Unlocks all shards: the threads that held one no longer exist.
pub(crate) fn force_unlock() {
    TAKING_ALL.store(0, Relaxed);
    SHARDS_TABLE.iter().for_each(|shard| shard.0.force_unlock());
}
