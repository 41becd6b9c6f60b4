//! A lock that costs next to nothing as long as one thread takes it.
//!
//! It has a *regular*, a thread that has taken it many times in a row. The regular enters by noting that it is in, with plain
//! reads and writes. Any other thread first takes that right away: it says so, has the system make all processors that run
//! this process see it (`membarrier`), and waits until the regular is out. That is dear, so each time it takes longer
//! until a thread becomes the regular again.

use crate::agent::locked;
use std::cell::UnsafeCell;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering, compiler_fence};
use std::sync::{Mutex, MutexGuard, OnceLock};
use std::thread;

/// So often must a thread come in a row, at first.
const FEW: u32 = 16;
/// And so often at most.
const MANY: u32 = 1 << 20;

/// A lock that a thread can be the regular of; see the module. Threads are told apart by numbers other than zero.
pub(crate) struct Gate<T> {
    /// Who the regular is; zero if nobody is.
    regular: AtomicUsize,
    /// Whether the regular is in.
    is_in: AtomicBool,
    /// Everybody else takes this.
    habit: Mutex<Habit>,
    value: UnsafeCell<T>,
}

struct Habit {
    last: usize,
    times: u32,
    needed: u32,
}

// SAFETY: the value is reached by one thread at a time: under the mutex while there is no regular, or by the regular, whom
// everybody else waits for.
unsafe impl<T: Send> Sync for Gate<T> {}

impl<T: Default> Default for Gate<T> {
    fn default() -> Gate<T> {
        Gate {
            regular: AtomicUsize::new(0),
            is_in: AtomicBool::new(false),
            habit: Mutex::new(Habit { last: 0, times: 0, needed: FEW }),
            value: UnsafeCell::new(T::default()),
        }
    }
}

impl<T> Gate<T> {
    /// Lets the regular in; nothing for other threads. It must not be in already.
    #[inline(always)]
    pub(crate) fn enter_at_once(&self, who: usize) -> Option<Entered<'_, T>> {
        if self.regular.load(Ordering::Relaxed) != who {
            return None;
        }
        self.is_in.store(true, Ordering::Relaxed);
        // Whoever takes the right away makes this processor do the rest of a fence.
        compiler_fence(Ordering::SeqCst);
        let entered = Entered(self);
        (self.regular.load(Ordering::Relaxed) == who).then_some(entered)
    }

    /// Lets any thread in, once all others are out. One whose number is zero never becomes the regular.
    pub(crate) fn enter(&self, who: usize) -> Pass<'_, T> {
        let mut habit = locked(&self.habit);
        let regular = self.regular.load(Ordering::Relaxed);
        if regular != 0 && regular != who {
            self.regular.store(0, Ordering::SeqCst);
            synchronize();
            while self.is_in.load(Ordering::Acquire) {
                thread::yield_now();
            }
            habit.needed = habit.needed.saturating_mul(2).min(MANY);
        }
        habit.times = if habit.last == who { habit.times.saturating_add(1) } else { 0 };
        habit.last = who;
        if who != 0 && regular != who && habit.times >= habit.needed && can_synchronize() {
            self.regular.store(who, Ordering::Relaxed);
        }
        Pass { gate: self, _habit: habit }
    }
}

/// The right to be in, for the regular.
pub(crate) struct Entered<'a, T>(&'a Gate<T>);

impl<T> Deref for Entered<'_, T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        // SAFETY: only this thread has its number, and nobody else is in: who comes after `enter_at_once` has looked sees its note.
        unsafe { &*self.0.value.get() }
    }
}

impl<T> DerefMut for Entered<'_, T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as above.
        unsafe { &mut *self.0.value.get() }
    }
}

impl<T> Drop for Entered<'_, T> {
    #[inline(always)]
    fn drop(&mut self) {
        self.0.is_in.store(false, Ordering::Release);
    }
}

/// The right to be in, for a thread that came by the usual way.
pub(crate) struct Pass<'a, T> {
    gate: &'a Gate<T>,
    _habit: MutexGuard<'a, Habit>,
}

impl<T> Deref for Pass<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: the mutex is held, and the regular is out, or is this thread.
        unsafe { &*self.gate.value.get() }
    }
}

impl<T> DerefMut for Pass<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as above.
        unsafe { &mut *self.gate.value.get() }
    }
}

fn membarrier(command: libc::c_int) -> bool {
    // SAFETY: this call takes numbers only.
    unsafe { libc::syscall(libc::SYS_membarrier, command, 0, 0) == 0 }
}

/// Whether the system can make all threads of this process see what happened; asked once.
fn can_synchronize() -> bool {
    static CAN: OnceLock<bool> = OnceLock::new();
    *CAN.get_or_init(|| membarrier(libc::MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED))
}

/// Makes them.
fn synchronize() {
    while !membarrier(libc::MEMBARRIER_CMD_PRIVATE_EXPEDITED) {
        thread::yield_now();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Adds one, by either way.
    fn add(gate: &Gate<u64>, who: usize) -> bool {
        let quick = gate.enter_at_once(who).map(|mut value| *value += 1);
        if quick.is_none() {
            *gate.enter(who) += 1;
        }
        quick.is_some()
    }

    #[test]
    fn one_thread_becomes_the_regular() {
        let gate = Gate::default();
        let quick = (0..1000).filter(|_| add(&gate, 7)).count();
        assert!(!can_synchronize() || quick == 1000 - FEW as usize - 1, "{quick}");
        assert!(gate.enter_at_once(8).is_none());
        *gate.enter(0) += 1;
        assert!(gate.enter_at_once(7).is_none());
        assert_eq!(*gate.enter(7), 1001);
    }

    #[test]
    fn one_thread_at_a_time() {
        let gate = Gate::default();
        // Short turns, so that the right goes from one to another many times.
        thread::scope(|scope| {
            for who in 1..=4 {
                let gate = &gate;
                scope.spawn(move || {
                    for _ in 0..200 {
                        for _ in 0..200 {
                            add(gate, who);
                        }
                        drop(gate.enter(0));
                        thread::yield_now();
                    }
                });
            }
        });
        assert_eq!(*gate.enter(0), 4 * 200 * 200);
    }
}
