//! Statistics of all threads of a search, and the decision to stop them.

use crate::limits::{Incomplete, Limits, ProgressListener, Totals};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Instant;

/// Number of expanded configurations between two progress reports, per thread.
const PROGRESS_INTERVAL: u64 = 4096;

/// Sums over all threads of a search, and the reason why they stop.
pub(crate) struct SearchCounters<'a, P> {
    limits: &'a Limits,
    listener: &'a P,
    start: Instant,
    states: AtomicU64,
    transitions: AtomicU64,
    deadlocks: AtomicU64,
    faults: AtomicU64,
    bad: AtomicU64,
    expanded: AtomicU64,
    memory: AtomicU64,
    depth: AtomicU64,
    halt_reason: OnceLock<Incomplete>,
}

/// The counts of one thread since it last added them to [`SearchCounters`].
#[derive(Clone, Copy, Default)]
pub(crate) struct ThreadCounts {
    pub(crate) states: u64,
    pub(crate) transitions: u64,
    pub(crate) deadlocks: u64,
    pub(crate) faults: u64,
    pub(crate) bad: u64,
    /// Configurations whose successors were computed.
    pub(crate) expanded: u64,
    /// The bytes that this thread uses now.
    pub(crate) memory: u64,
    /// The bytes that were added last.
    reported_memory: u64,
    /// Configurations since the last progress report.
    since_progress: u64,
}

impl<'a, P: ProgressListener> SearchCounters<'a, P> {
    pub(crate) fn new(limits: &'a Limits, listener: &'a P) -> SearchCounters<'a, P> {
        let zero = || AtomicU64::new(0);
        SearchCounters {
            limits,
            listener,
            start: Instant::now(),
            states: zero(),
            transitions: zero(),
            deadlocks: zero(),
            faults: zero(),
            bad: zero(),
            expanded: zero(),
            memory: zero(),
            depth: zero(),
            halt_reason: OnceLock::new(),
        }
    }

    /// Adds the counts of a thread, and stops all threads if a limit is exceeded.
    pub(crate) fn add(&self, counts: &mut ThreadCounts) {
        self.states.fetch_add(counts.states, Relaxed);
        self.transitions.fetch_add(counts.transitions, Relaxed);
        self.expanded.fetch_add(counts.expanded, Relaxed);
        // The sum stays correct when a thread's part shrinks, because additions wrap.
        self.memory.fetch_add(counts.memory.wrapping_sub(counts.reported_memory), Relaxed);
        for (sum, new) in
            [(&self.deadlocks, counts.deadlocks), (&self.faults, counts.faults), (&self.bad, counts.bad)]
        {
            if new > 0 {
                sum.fetch_add(new, Relaxed);
            }
        }
        let since_progress = counts.since_progress + counts.expanded;
        *counts = ThreadCounts {
            memory: counts.memory,
            reported_memory: counts.memory,
            since_progress,
            ..ThreadCounts::default()
        };
        let totals = self.totals();
        if self.listener.is_stopped() {
            self.halt(Incomplete::Stopped);
        } else if let Some(reason) = self.limits.exceeded(&totals, self.start) {
            self.halt(reason);
        }
        if since_progress >= PROGRESS_INTERVAL {
            counts.since_progress = 0;
            self.listener.progress(&totals);
        }
    }

    /// Stops all threads. The first reason is kept.
    pub(crate) fn halt(&self, reason: Incomplete) {
        let _ = self.halt_reason.set(reason);
    }

    /// Why the threads stop, if they do.
    pub(crate) fn halt_reason(&self) -> Option<Incomplete> {
        self.halt_reason.get().copied()
    }

    /// Records that a thread reached this depth.
    pub(crate) fn reached_depth(&self, depth: u64) {
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
