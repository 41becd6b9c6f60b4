//! Threads that do something together, again and again.
//!
//! A level of a search may be over in a tenth of a millisecond. To start a thread takes longer, and so does waking one that
//! sleeps, so those that wait look for the next round for a while before they go to sleep.

use std::hint::spin_loop;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicU64, AtomicUsize};
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread::{self, Scope};

/// How often one looks before others get the processor in between, and before one goes to sleep.
const LOOKS: u32 = 4096;
const PATIENCE: u32 = LOOKS + 256;

/// The round after the last.
const OVER: u64 = u64::MAX;

/// Where threads meet.
#[derive(Default)]
pub(super) struct Crew {
    /// The rounds that began, or [`OVER`].
    round: AtomicU64,
    /// How many threads are still at work.
    busy: AtomicUsize,
    asleep: Mutex<()>,
    changed: Condvar,
}

impl Crew {
    /// Starts threads, each of which does `work` with its own share in every round.
    pub(super) fn start<'scope, 'env, T: Send + 'scope>(
        &'env self,
        scope: &'scope Scope<'scope, 'env>,
        shares: impl IntoIterator<Item = T>,
        work: impl Fn(&mut T) + Copy + Send + 'scope,
    ) {
        let begun = self.round.load(Relaxed);
        for mut share in shares {
            scope.spawn(move || {
                let mut done = begun;
                loop {
                    self.wait(|| self.round.load(Acquire) != done);
                    if self.round.load(Relaxed) == OVER {
                        return;
                    }
                    done += 1;
                    // Also if the work panics, nobody waits for it.
                    let _leaving = Leaving(self);
                    work(&mut share);
                }
            });
        }
    }

    /// A round of so many threads begins: all that there are. Ends when `own` work, and that of the others, is done.
    pub(super) fn round(&self, threads: usize, own: impl FnOnce()) {
        self.busy.store(threads, Relaxed);
        self.round.fetch_add(1, Release);
        self.tell();
        own();
        self.wait(|| self.busy.load(Acquire) == 0);
    }

    /// Looks until something is so, in the end by sleeping until [`tell`](Crew::tell).
    fn wait(&self, is_so: impl Fn() -> bool) {
        for look in 0..PATIENCE {
            if is_so() {
                return;
            }
            if look < LOOKS { spin_loop() } else { thread::yield_now() }
        }
        let mut asleep = self.asleep.lock().unwrap_or_else(PoisonError::into_inner);
        while !is_so() {
            asleep = self.changed.wait(asleep).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Something that others wait for has changed.
    fn tell(&self) {
        // Who has looked and not gone to sleep yet holds the lock.
        drop(self.asleep.lock().unwrap_or_else(PoisonError::into_inner));
        self.changed.notify_all();
    }
}

/// Sends the threads of a crew home when it is dropped, also in a panic.
pub(super) struct Ending<'a>(pub(super) &'a Crew);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.0.round.store(OVER, Release);
        self.0.tell();
    }
}

struct Leaving<'a>(&'a Crew);

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        if self.0.busy.fetch_sub(1, Release) == 1 {
            self.0.tell();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn all_take_part_in_every_round() {
        let (crew, sum) = (Crew::default(), AtomicU64::new(0));
        thread::scope(|scope| {
            let _ending = Ending(&crew);
            crew.start(scope, [10, 100], |share| {
                sum.fetch_add(*share, Relaxed);
            });
            for round in 1..=1000 {
                // Long enough to fall asleep, now and then.
                if round % 200 == 0 {
                    thread::sleep(Duration::from_millis(3));
                }
                crew.round(2, || {
                    sum.fetch_add(1, Relaxed);
                });
                assert_eq!(sum.load(Relaxed), 111 * round);
            }
        });
    }

    #[test]
    fn a_panic_keeps_nobody_waiting() {
        for who in 0..3 {
            let ended = std::panic::catch_unwind(|| {
                let crew = Crew::default();
                thread::scope(|scope| {
                    let _ending = Ending(&crew);
                    crew.start(scope, [1, 2], move |share| assert_ne!(*share, who));
                    crew.round(2, || assert_ne!(who, 0));
                });
            });
            assert!(ended.is_err());
        }
    }
}
