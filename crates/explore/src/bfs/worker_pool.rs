//! A pool of threads that repeatedly work in rounds.
//!
//! A level of a search may take only a tenth of a millisecond. Starting or waking a thread takes longer, so idle
//! threads spin for a while before they sleep.

use std::hint::spin_loop;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicU64, AtomicUsize};
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread::{self, Scope};

/// The number of checks before the thread yields between checks, and before it sleeps.
const SPINS: u32 = 4096;
const SPINS_AND_YIELDS: u32 = SPINS + 256;

/// The value of `rounds` that ends the threads.
const SHUTDOWN: u64 = u64::MAX;

/// Synchronization of the rounds of a pool.
#[derive(Default)]
pub(super) struct WorkerPool {
    /// The number of started rounds, or [`SHUTDOWN`].
    rounds: AtomicU64,
    /// The number of threads that are still working.
    busy: AtomicUsize,
    /// Held by threads that are about to sleep.
    sleep_lock: Mutex<()>,
    changed: Condvar,
}

impl WorkerPool {
    /// Starts one thread per share, each of which calls `work` on its share in every round.
    pub(super) fn start<'scope, 'env, T: Send + 'scope>(
        &'env self,
        scope: &'scope Scope<'scope, 'env>,
        shares: impl IntoIterator<Item = T>,
        work: impl Fn(&mut T) + Copy + Send + 'scope,
    ) {
        let start_round = self.rounds.load(Relaxed);
        for mut share in shares {
            scope.spawn(move || {
                let mut completed = start_round;
                loop {
                    self.wait(|| self.rounds.load(Acquire) != completed);
                    if self.rounds.load(Relaxed) == SHUTDOWN {
                        return;
                    }
                    completed += 1;
                    // The guard ends the round for this thread even if `work` panics.
                    let _guard = RoundGuard(self);
                    work(&mut share);
                }
            });
        }
    }

    /// Starts a round on all `threads` threads and runs `own_work` on this one. Returns when all are done.
    pub(super) fn run_round(&self, threads: usize, own_work: impl FnOnce()) {
        self.busy.store(threads, Relaxed);
        self.rounds.fetch_add(1, Release);
        self.wake_all();
        own_work();
        self.wait(|| self.busy.load(Acquire) == 0);
    }

    /// Waits for a condition: first by spinning, then asleep until [`wake_all`](WorkerPool::wake_all).
    fn wait(&self, is_done: impl Fn() -> bool) {
        for attempt in 0..SPINS_AND_YIELDS {
            if is_done() {
                return;
            }
            if attempt < SPINS { spin_loop() } else { thread::yield_now() }
        }
        let mut asleep = self.sleep_lock.lock().unwrap_or_else(PoisonError::into_inner);
        while !is_done() {
            asleep = self.changed.wait(asleep).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Wakes all sleeping threads, so that they check their condition.
    fn wake_all(&self) {
        // A thread between its last check and its sleep holds the lock.
        drop(self.sleep_lock.lock().unwrap_or_else(PoisonError::into_inner));
        self.changed.notify_all();
    }
}

/// Ends the threads of a pool when dropped, also during a panic.
pub(super) struct PoolShutdown<'a>(pub(super) &'a WorkerPool);

impl Drop for PoolShutdown<'_> {
    fn drop(&mut self) {
        self.0.rounds.store(SHUTDOWN, Release);
        self.0.wake_all();
    }
}

/// Ends a round for one thread when dropped.
struct RoundGuard<'a>(&'a WorkerPool);

impl Drop for RoundGuard<'_> {
    fn drop(&mut self) {
        if self.0.busy.fetch_sub(1, Release) == 1 {
            self.0.wake_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn worker_pool_runs_all_threads_in_every_round() {
        let (pool, sum) = (WorkerPool::default(), AtomicU64::new(0));
        thread::scope(|scope| {
            let _shutdown = PoolShutdown(&pool);
            pool.start(scope, [10, 100], |share| {
                sum.fetch_add(*share, Relaxed);
            });
            for round in 1..=1000 {
                // Long enough for the threads to fall asleep sometimes.
                if round % 200 == 0 {
                    thread::sleep(Duration::from_millis(3));
                }
                pool.run_round(2, || {
                    sum.fetch_add(1, Relaxed);
                });
                assert_eq!(sum.load(Relaxed), 111 * round);
            }
        });
    }

    #[test]
    fn panic_of_worker_does_not_block_pool() {
        for panicking in 0..3 {
            let result = std::panic::catch_unwind(|| {
                let pool = WorkerPool::default();
                thread::scope(|scope| {
                    let _shutdown = PoolShutdown(&pool);
                    pool.start(scope, [1, 2], move |share| assert_ne!(*share, panicking));
                    pool.run_round(2, || assert_ne!(panicking, 0));
                });
            });
            assert!(result.is_err());
        }
    }
}
