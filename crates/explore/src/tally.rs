//! What several threads have seen together, and whether they must end.

use crate::limits::{Incomplete, Limits, Pulse, Totals};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Instant;

/// Configurations between two beats of the pulse, for each thread.
const BEAT: u64 = 4096;

/// The counts of all threads.
pub(crate) struct Tally<'a, P> {
    limits: &'a Limits,
    pulse: &'a P,
    since: Instant,
    states: AtomicU64,
    transitions: AtomicU64,
    deadlocks: AtomicU64,
    faults: AtomicU64,
    bad: AtomicU64,
    expanded: AtomicU64,
    memory: AtomicU64,
    depth: AtomicU64,
    halted: OnceLock<Incomplete>,
}

/// What one thread has seen since it last told.
#[derive(Clone, Copy, Default)]
pub(crate) struct Counts {
    pub(crate) states: u64,
    pub(crate) transitions: u64,
    pub(crate) deadlocks: u64,
    pub(crate) faults: u64,
    pub(crate) bad: u64,
    /// Configurations whose successors were computed.
    pub(crate) expanded: u64,
    /// The bytes that this thread holds now.
    pub(crate) memory: u64,
    /// The bytes that it has told.
    told: u64,
    /// Configurations since the last beat.
    quiet: u64,
}

impl<'a, P: Pulse> Tally<'a, P> {
    pub(crate) fn new(limits: &'a Limits, pulse: &'a P) -> Tally<'a, P> {
        let zero = || AtomicU64::new(0);
        Tally {
            limits,
            pulse,
            since: Instant::now(),
            states: zero(),
            transitions: zero(),
            deadlocks: zero(),
            faults: zero(),
            bad: zero(),
            expanded: zero(),
            memory: zero(),
            depth: zero(),
            halted: OnceLock::new(),
        }
    }

    /// Adds what a thread has seen, and ends all of them if that is enough.
    pub(crate) fn tell(&self, counts: &mut Counts) {
        self.states.fetch_add(counts.states, Relaxed);
        self.transitions.fetch_add(counts.transitions, Relaxed);
        self.expanded.fetch_add(counts.expanded, Relaxed);
        // The sum is right although a part may shrink: additions wrap.
        self.memory.fetch_add(counts.memory.wrapping_sub(counts.told), Relaxed);
        for (all, new) in
            [(&self.deadlocks, counts.deadlocks), (&self.faults, counts.faults), (&self.bad, counts.bad)]
        {
            if new > 0 {
                all.fetch_add(new, Relaxed);
            }
        }
        let quiet = counts.quiet + counts.expanded;
        *counts = Counts { memory: counts.memory, told: counts.memory, quiet, ..Counts::default() };
        let totals = self.totals();
        if self.pulse.is_stopped() {
            self.halt(Incomplete::Stopped);
        } else if let Some(reason) = self.limits.exceeded(&totals, self.since) {
            self.halt(reason);
        }
        if quiet >= BEAT {
            counts.quiet = 0;
            self.pulse.beat(&totals);
        }
    }

    /// Ends all threads. The first reason is the one that is told.
    pub(crate) fn halt(&self, reason: Incomplete) {
        let _ = self.halted.set(reason);
    }

    pub(crate) fn halted(&self) -> Option<Incomplete> {
        self.halted.get().copied()
    }

    /// Some thread got that deep.
    pub(crate) fn reach(&self, depth: u64) {
        self.depth.fetch_max(depth, Relaxed);
    }

    pub(crate) fn bad(&self) -> u64 {
        self.bad.load(Relaxed)
    }

    pub(crate) fn totals(&self) -> Totals {
        let states = self.states.load(Relaxed);
        Totals {
            states,
            transitions: self.transitions.load(Relaxed),
            deadlocks: self.deadlocks.load(Relaxed),
            faults: self.faults.load(Relaxed),
            depth: self.depth.load(Relaxed),
            waiting: states.saturating_sub(self.expanded.load(Relaxed)),
            memory: self.memory.load(Relaxed),
        }
    }
}
