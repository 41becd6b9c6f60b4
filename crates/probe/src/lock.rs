//! A lock that knows nothing of the program's threads.

use crate::system;
use core::cell::UnsafeCell;
use core::hint::spin_loop;
use core::ops::{Deref, DerefMut};
use core::sync::atomic::AtomicU32;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};

const FREE: u32 = 0;
const TAKEN: u32 = 1;
/// Somebody may sleep until it is free.
const AWAITED: u32 = 2;

/// How often one looks before going to sleep: a step takes less.
const LOOKS: u32 = 200;

/// Something that one thread has at a time.
///
/// ```
/// # use invigil_probe::lock::Lock;
/// static SUM: Lock<u32> = Lock::new(1);
/// *SUM.lock() += 1;
/// assert_eq!(*SUM.lock(), 2);
/// ```
#[derive(Debug)]
pub struct Lock<T> {
    word: AtomicU32,
    inner: UnsafeCell<T>,
}

// SAFETY: what is inside is reached by one thread at a time.
unsafe impl<T: Send> Sync for Lock<T> {}

impl<T> Lock<T> {
    /// A free lock.
    pub const fn new(inner: T) -> Lock<T> {
        Lock { word: AtomicU32::new(FREE), inner: UnsafeCell::new(inner) }
    }

    /// Waits until it is free, and takes it.
    #[inline]
    pub fn lock(&self) -> Held<'_, T> {
        if self.word.compare_exchange(FREE, TAKEN, Acquire, Relaxed).is_err() {
            self.lock_slowly();
        }
        Held { lock: self }
    }

    /// Whoever had it is no more.
    pub fn break_open(&self) {
        self.word.store(FREE, Release);
    }

    #[cold]
    fn lock_slowly(&self) {
        for _ in 0..LOOKS {
            if self.word.load(Relaxed) == FREE
                && self.word.compare_exchange(FREE, TAKEN, Acquire, Relaxed).is_ok()
            {
                return;
            }
            spin_loop();
        }
        while self.word.swap(AWAITED, Acquire) != FREE {
            system::wait(&self.word, AWAITED);
        }
    }
}

/// What is locked, until it is dropped.
#[derive(Debug)]
pub struct Held<'a, T> {
    lock: &'a Lock<T>,
}

impl<T> Deref for Held<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: this thread has the lock.
        unsafe { &*self.lock.inner.get() }
    }
}

impl<T> DerefMut for Held<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: this thread has the lock.
        unsafe { &mut *self.lock.inner.get() }
    }
}

impl<T> Drop for Held<'_, T> {
    #[inline]
    fn drop(&mut self) {
        if self.lock.word.swap(FREE, Release) == AWAITED {
            system::wake(&self.lock.word);
        }
    }
}
