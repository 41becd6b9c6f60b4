//! A lock that does not depend on the target's threading library.
//!
//! Hand-written because its holder may be dead: it can be unlocked by force, which `spin` does not support.

use crate::system;
use core::cell::UnsafeCell;
use core::hint::spin_loop;
use core::ops::{Deref, DerefMut};
use core::sync::atomic::AtomicU32;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};

const FREE: u32 = 0;
const TAKEN: u32 = 1;

/// Number of attempts before sleeping. A step of the monitors takes less time than this.
const SPINS: u32 = 200;
/// Longest sleep in nanoseconds before the lock is checked again; see [`LockGuard`].
const NAP_NANOS: u64 = 1_000_000;

/// Number of naps a request of the debugger waits for a lock. A step of the monitors takes far less.
pub(crate) const MAX_NAPS: u32 = 50;

/// A mutual exclusion lock.
///
/// ```
/// # use invigil_probe::lock::Lock;
/// static SUM: Lock<u32> = Lock::new(1);
/// *SUM.lock() += 1;
/// assert_eq!(*SUM.lock(), 2);
/// ```
#[derive(Debug)]
pub struct Lock<T> {
    state: AtomicU32,
    /// Number of threads that sleep until it is free.
    sleepers: AtomicU32,
    inner: UnsafeCell<T>,
}

// SAFETY: one thread at a time reaches the contents.
unsafe impl<T: Send> Sync for Lock<T> {}

impl<T> Lock<T> {
    /// Creates a free lock.
    pub const fn new(inner: T) -> Lock<T> {
        Lock { state: AtomicU32::new(FREE), sleepers: AtomicU32::new(0), inner: UnsafeCell::new(inner) }
    }

    /// Waits until the lock is free and takes it.
    #[inline]
    pub fn lock(&self) -> LockGuard<'_, T> {
        if self.state.compare_exchange(FREE, TAKEN, Acquire, Relaxed).is_err() {
            self.lock_slow();
        }
        LockGuard { lock: self }
    }

    /// Takes the lock if it is free.
    #[inline]
    pub fn try_lock(&self) -> Option<LockGuard<'_, T>> {
        let taken = self.state.compare_exchange(FREE, TAKEN, Acquire, Relaxed);
        taken.is_ok().then(|| LockGuard { lock: self })
    }

    /// Takes the lock if it becomes free within `max_naps` naps. Needed because the thread that holds it may have
    /// been stopped by the waiting side.
    pub fn lock_within(&self, max_naps: u32) -> Option<LockGuard<'_, T>> {
        for nap in 0..=max_naps {
            if self.try_acquire() {
                return Some(LockGuard { lock: self });
            }
            if nap < max_naps {
                self.nap();
            }
        }
        None
    }

    /// Takes the lock without an atomic operation, which is several times faster.
    ///
    /// # Safety
    /// No other thread can hold the lock, and none is created before it is released.
    #[inline]
    pub unsafe fn lock_single_threaded(&self) -> LockGuard<'_, T> {
        self.state.store(TAKEN, Relaxed);
        LockGuard { lock: self }
    }

    /// Unlocks the lock of a thread that no longer exists.
    pub fn force_unlock(&self) {
        self.sleepers.store(0, Relaxed);
        self.state.store(FREE, Release);
    }

    #[cold]
    fn lock_slow(&self) {
        for _ in 0..SPINS {
            if self.try_acquire() {
                return;
            }
            spin_loop();
        }
        while !self.try_acquire() {
            self.nap();
        }
    }

    fn nap(&self) {
        self.sleepers.fetch_add(1, Relaxed);
        system::futex_wait(&self.state, TAKEN, NAP_NANOS);
        self.sleepers.fetch_sub(1, Relaxed);
    }

    fn try_acquire(&self) -> bool {
        self.state.load(Relaxed) == FREE && self.state.compare_exchange(FREE, TAKEN, Acquire, Relaxed).is_ok()
    }
}

/// Guard of a locked value; unlocks when dropped.
///
/// Unlocking is a plain store, which costs next to nothing. So it may miss a thread that is just going to sleep; that
/// thread wakes up by itself after at most `NAP_NANOS`.
#[derive(Debug)]
pub struct LockGuard<'a, T> {
    lock: &'a Lock<T>,
}

impl<T> Deref for LockGuard<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: this thread holds the lock.
        unsafe { &*self.lock.inner.get() }
    }
}

impl<T> DerefMut for LockGuard<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: this thread holds the lock.
        unsafe { &mut *self.lock.inner.get() }
    }
}

impl<T> Drop for LockGuard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        self.lock.state.store(FREE, Release);
        if self.lock.sleepers.load(Relaxed) != 0 {
            system::futex_wake(&self.lock.state);
        }
    }
}
