//! Ids of threads, without a lock and usually without a system call.

use crate::control::INVIGIL_CONTROL;
use crate::system;
use core::arch::asm;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use core::sync::atomic::{AtomicU32, AtomicU64};

/// Number of cached threads, as a power of two.
const CACHE_BITS: u32 = 6;
/// Thread ids are smaller than this power of two.
const ID_BITS: u32 = 22;
/// The thread-local memory of a thread is aligned to this power of two, in the lower half of the address space.
const ALIGN_BITS: u32 = 4;
const ADDRESS_BITS: u32 = 47;

/// Address of the thread-local memory, which identifies the calling thread.
#[inline]
pub fn base() -> u64 {
    let base: u64;
    // SAFETY: the debugger checks that the kernel allows this instruction before it places a probe.
    unsafe { asm!("rdfsbase {}", out(reg) base, options(nomem, nostack, preserves_flags)) };
    base
}

static CACHE: ThreadIdCache = ThreadIdCache::new();

/// Id of the calling thread, whose thread-local memory is at [`base`].
#[inline]
pub fn id(base: u64) -> u32 {
    CACHE.lookup(base)
}

/// Ids of recently seen threads. A word holds the id of a thread and most bits of its base address; the index of the
/// word gives the other bits.
#[derive(Debug)]
struct ThreadIdCache {
    entries: [AtomicU64; 1 << CACHE_BITS],
    threads_created: AtomicU32,
}

impl ThreadIdCache {
    /// Creates an empty cache.
    const fn new() -> ThreadIdCache {
        ThreadIdCache {
            entries: [const { AtomicU64::new(0) }; 1 << CACHE_BITS],
            threads_created: AtomicU32::new(0),
        }
    }

    #[inline]
    fn lookup(&self, base: u64) -> u32 {
        let threads_created = INVIGIL_CONTROL.threads_created.load(Relaxed);
        if threads_created != self.threads_created.load(Acquire) {
            // The memory of a thread that has exited may belong to another one now.
            self.entries.iter().for_each(|word| word.store(0, Relaxed));
            self.threads_created.store(threads_created, Release);
        }
        let upper = base >> (ALIGN_BITS + CACHE_BITS);
        let slot = (base >> ALIGN_BITS ^ upper ^ upper >> CACHE_BITS ^ upper >> (2 * CACHE_BITS))
            & ((1 << CACHE_BITS) - 1);
        let word = self.entries[slot as usize].load(Relaxed);
        if word >> ID_BITS == upper && word != 0 {
            return word as u32 & ((1 << ID_BITS) - 1);
        }
        let id = system::thread_id();
        if base.is_multiple_of(1 << ALIGN_BITS) && base >> ADDRESS_BITS == 0 && id >> ID_BITS == 0 {
            self.entries[slot as usize].store(upper << ID_BITS | u64::from(id), Relaxed);
        }
        id
    }
}
