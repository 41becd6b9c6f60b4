//! A lock that is nearly free as long as one thread takes it.
//!
//! The lock has an *owner*: a thread that has taken it many times in a row. The owner locks by setting a flag with
//! plain reads and writes. Any other thread first revokes this right: it clears the owner, makes all processors that
//! run this process observe that (`membarrier`), and waits until the owner has released the lock. Because this is
//! expensive, every revocation doubles the streak that a thread needs to become the owner again.

use crate::agent::locked;
use std::cell::UnsafeCell;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering, compiler_fence};
use std::sync::{Mutex, MutexGuard, OnceLock};
use std::thread;

/// The initial length of the streak that makes a thread the owner.
const MIN_STREAK: u32 = 16;
/// The maximum length.
const MAX_STREAK: u32 = 1 << 20;

/// A lock that can be biased towards a thread; see the module. Threads are identified by numbers other than zero.
pub(crate) struct BiasedLock<T> {
    /// The owner; zero if there is none.
    owner: AtomicUsize,
    /// Whether the owner holds the lock.
    is_held: AtomicBool,
    /// Every other thread holds this mutex while it holds the lock.
    bias: Mutex<BiasState>,
    value: UnsafeCell<T>,
}

struct BiasState {
    last: usize,
    times: u32,
    needed: u32,
}

// SAFETY: one thread at a time reaches the value: under the mutex while there is no owner, or as the owner, whose
// release all others wait for.
unsafe impl<T: Send> Sync for BiasedLock<T> {}

impl<T: Default> Default for BiasedLock<T> {
    fn default() -> BiasedLock<T> {
        BiasedLock {
            owner: AtomicUsize::new(0),
            is_held: AtomicBool::new(false),
            bias: Mutex::new(BiasState { last: 0, times: 0, needed: MIN_STREAK }),
            value: UnsafeCell::new(T::default()),
        }
    }
}

impl<T> BiasedLock<T> {
    /// Locks for the owner; `None` for other threads. The caller must not hold the lock.
    #[inline(always)]
    pub(crate) fn try_lock_biased(&self, thread: usize) -> Option<BiasedGuard<'_, T>> {
        if self.owner.load(Ordering::Relaxed) != thread {
            return None;
        }
        self.is_held.store(true, Ordering::Relaxed);
        // A revoking thread's `membarrier` completes the fence on this processor.
        compiler_fence(Ordering::SeqCst);
        let guard = BiasedGuard(self);
        (self.owner.load(Ordering::Relaxed) == thread).then_some(guard)
    }

    /// Locks for any thread, after all others have released the lock. A thread with number zero never becomes the
    /// owner.
    pub(crate) fn lock(&self, thread: usize) -> Guard<'_, T> {
        let mut bias = locked(&self.bias);
        let owner = self.owner.load(Ordering::Relaxed);
        if owner != 0 && owner != thread {
            self.owner.store(0, Ordering::SeqCst);
            synchronize();
            while self.is_held.load(Ordering::Acquire) {
                thread::yield_now();
            }
            bias.needed = bias.needed.saturating_mul(2).min(MAX_STREAK);
        }
        bias.times = if bias.last == thread { bias.times.saturating_add(1) } else { 0 };
        bias.last = thread;
        if thread != 0 && owner != thread && bias.times >= bias.needed && can_synchronize() {
            self.owner.store(thread, Ordering::Relaxed);
        }
        Guard { lock: self, _bias: bias }
    }
}

/// The guard of the owner.
pub(crate) struct BiasedGuard<'a, T>(&'a BiasedLock<T>);

impl<T> Deref for BiasedGuard<'_, T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        // SAFETY: only this thread has its number, and no other holds the lock: one that revokes after the check in
        // `try_lock_biased` sees the flag.
        unsafe { &*self.0.value.get() }
    }
}

impl<T> DerefMut for BiasedGuard<'_, T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as above.
        unsafe { &mut *self.0.value.get() }
    }
}

impl<T> Drop for BiasedGuard<'_, T> {
    #[inline(always)]
    fn drop(&mut self) {
        self.0.is_held.store(false, Ordering::Release);
    }
}

/// The guard of a thread that locked the mutex.
pub(crate) struct Guard<'a, T> {
    lock: &'a BiasedLock<T>,
    _bias: MutexGuard<'a, BiasState>,
}

impl<T> Deref for Guard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: the mutex is held, and the owner has released the lock or is this thread.
        unsafe { &*self.lock.value.get() }
    }
}

impl<T> DerefMut for Guard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as above.
        unsafe { &mut *self.lock.value.get() }
    }
}

fn membarrier(command: libc::c_int) -> bool {
    // SAFETY: this call takes only integers.
    unsafe { libc::syscall(libc::SYS_membarrier, command, 0, 0) == 0 }
}

/// Whether the system supports the barrier. Determined once.
fn can_synchronize() -> bool {
    static CAN: OnceLock<bool> = OnceLock::new();
    *CAN.get_or_init(|| membarrier(libc::MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED))
}

/// Makes all threads of this process observe earlier writes.
fn synchronize() {
    while !membarrier(libc::MEMBARRIER_CMD_PRIVATE_EXPEDITED) {
        thread::yield_now();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Adds one with either kind of lock. Returns whether it was the biased one.
    fn add(lock: &BiasedLock<u64>, thread: usize) -> bool {
        let fast = lock.try_lock_biased(thread).map(|mut value| *value += 1);
        if fast.is_none() {
            *lock.lock(thread) += 1;
        }
        fast.is_some()
    }

    #[test]
    fn single_thread_becomes_owner() {
        let lock = BiasedLock::default();
        let fast = (0..1000).filter(|_| add(&lock, 7)).count();
        assert!(!can_synchronize() || fast == 1000 - MIN_STREAK as usize - 1, "{fast}");
        assert!(lock.try_lock_biased(8).is_none());
        *lock.lock(0) += 1;
        assert!(lock.try_lock_biased(7).is_none());
        assert_eq!(*lock.lock(7), 1001);
    }

    #[test]
    fn contended_lock_excludes_other_threads() {
        let lock = BiasedLock::default();
        // Short streaks, so that the owner changes many times.
        thread::scope(|scope| {
            for thread in 1..=4 {
                let lock = &lock;
                scope.spawn(move || {
                    for _ in 0..200 {
                        for _ in 0..200 {
                            add(lock, thread);
                        }
                        drop(lock.lock(0));
                        thread::yield_now();
                    }
                });
            }
        });
        assert_eq!(*lock.lock(0), 4 * 200 * 200);
    }
}
