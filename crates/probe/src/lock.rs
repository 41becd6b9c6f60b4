//! A lock that knows nothing of the program's threads.

use crate::system;
use core::cell::UnsafeCell;
use core::hint::spin_loop;
use core::ops::{Deref, DerefMut};
use core::sync::atomic::AtomicU32;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};

const FREE: u32 = 0;
const TAKEN: u32 = 1;

/// How often one looks before going to sleep: a step takes less.
const LOOKS: u32 = 200;
/// How long one sleeps at most, in nanoseconds, before one looks again; see [`Held`].
const NAP: u64 = 1_000_000;

/// How many naps the tool waits for a lock. A step takes less by far.
pub(crate) const PATIENCE: u32 = 50;

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
    /// How many sleep until it is free.
    asleep: AtomicU32,
    inner: UnsafeCell<T>,
}

// SAFETY: what is inside is reached by one thread at a time.
unsafe impl<T: Send> Sync for Lock<T> {}

impl<T> Lock<T> {
    /// A free lock.
    pub const fn new(inner: T) -> Lock<T> {
        Lock { word: AtomicU32::new(FREE), asleep: AtomicU32::new(0), inner: UnsafeCell::new(inner) }
    }

    /// Waits until it is free, and takes it.
    #[inline]
    pub fn lock(&self) -> Held<'_, T> {
        if self.word.compare_exchange(FREE, TAKEN, Acquire, Relaxed).is_err() {
            self.lock_slowly();
        }
        Held { lock: self }
    }

    /// Takes it if it is free.
    #[inline]
    pub fn try_lock(&self) -> Option<Held<'_, T>> {
        let taken = self.word.compare_exchange(FREE, TAKEN, Acquire, Relaxed);
        taken.is_ok().then(|| Held { lock: self })
    }

    /// Takes it if it becomes free within so many naps: whoever has it may be made to stand still by the very one who waits.
    pub fn lock_within(&self, naps: u32) -> Option<Held<'_, T>> {
        for nap in 0..=naps {
            if self.is_got() {
                return Some(Held { lock: self });
            }
            if nap < naps {
                self.nap();
            }
        }
        None
    }

    /// Takes it without asking, which takes a fraction of the time.
    ///
    /// # Safety
    /// There is no other thread that could have it, and none comes into being before it is given back.
    #[inline]
    pub unsafe fn lock_alone(&self) -> Held<'_, T> {
        self.word.store(TAKEN, Relaxed);
        Held { lock: self }
    }

    /// Whoever had it is no more.
    pub fn break_open(&self) {
        self.asleep.store(0, Relaxed);
        self.word.store(FREE, Release);
    }

    #[cold]
    fn lock_slowly(&self) {
        for _ in 0..LOOKS {
            if self.is_got() {
                return;
            }
            spin_loop();
        }
        while !self.is_got() {
            self.nap();
        }
    }

    fn nap(&self) {
        self.asleep.fetch_add(1, Relaxed);
        system::wait(&self.word, TAKEN, NAP);
        self.asleep.fetch_sub(1, Relaxed);
    }

    fn is_got(&self) -> bool {
        self.word.load(Relaxed) == FREE && self.word.compare_exchange(FREE, TAKEN, Acquire, Relaxed).is_ok()
    }
}

/// What is locked, until it is dropped.
///
/// To give it back is a store and no more, which costs next to nothing. So it may be that nobody is seen asleep who is just going to
/// sleep; then that one wakes by itself after a while.
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
        self.lock.word.store(FREE, Release);
        if self.lock.asleep.load(Relaxed) != 0 {
            system::wake(&self.lock.word);
        }
    }
}
