//! CPU affinity of the debugger and of the threads it alternates with.
//!
//! When the debugger and a thread of the target alternate, both are four times as fast on one CPU as on two. But a
//! target must not stay pinned to one CPU. So a thread is pinned to the debugger's CPU once it stops at short
//! intervals, and unpinned when it no longer does.

use crate::sys::{self, Tid};
use rustc_hash::FxHashMap;
use std::time::{Duration, Instant};

/// Stops at shorter intervals than this count as alternating.
const FREQUENT: Duration = Duration::from_micros(300);
/// Number of consecutive frequent stops that pins the thread.
const PIN_AFTER: u32 = 16;
/// Number of consecutive infrequent stops that unpins it. A single one says little: the thread may have waited for a
/// CPU.
const UNPIN_AFTER: u32 = 4;

struct SwitchStats {
    /// Time of its last stop.
    last: Instant,
    /// Number of consecutive frequent stops.
    frequent: u32,
    /// Number of consecutive infrequent stops.
    infrequent: u32,
    /// The thread's own CPU set, while it is pinned.
    pinned_from: Option<libc::cpu_set_t>,
}

/// Pins the debugger and the threads it alternates with to one CPU.
#[derive(Default)]
pub(crate) struct CpuAffinity {
    threads: FxHashMap<Tid, SwitchStats>,
    /// CPU set of the debugger before it pinned itself, and the CPU it is pinned to.
    own: Option<(libc::cpu_set_t, libc::cpu_set_t)>,
}

impl CpuAffinity {
    /// Records that a thread stopped for an event.
    pub(crate) fn on_stop(&mut self, tid: Tid, now: Instant) {
        let stats = self.threads.entry(tid).or_insert(SwitchStats {
            last: now,
            frequent: 0,
            infrequent: 0,
            pinned_from: None,
        });
        let is_soon = now.duration_since(std::mem::replace(&mut stats.last, now)) < FREQUENT;
        if is_soon {
            stats.frequent += 1;
            stats.infrequent = 0;
            if stats.frequent == PIN_AFTER && stats.pinned_from.is_none() {
                self.pin(tid);
            }
        } else {
            stats.frequent = 0;
            stats.infrequent += 1;
            if stats.pinned_from.is_some() && stats.infrequent == UNPIN_AFTER {
                self.unpin(tid);
            }
        }
    }

    fn pin(&mut self, tid: Tid) {
        let Ok(before) = sys::affinity(tid) else { return };
        if self.own.is_none() {
            let this_cpu = sys::this_processor();
            if let Ok(original) = sys::affinity(0)
                && sys::set_affinity(0, &this_cpu).is_ok()
            {
                self.own = Some((original, this_cpu));
            }
        }
        let Some((_, this_cpu)) = &self.own else { return };
        if sys::set_affinity(tid, this_cpu).is_ok()
            && let Some(stats) = self.threads.get_mut(&tid)
        {
            stats.pinned_from = Some(before);
        }
    }

    fn unpin(&mut self, tid: Tid) {
        let Some(stats) = self.threads.get_mut(&tid) else { return };
        if let Some(before) = stats.pinned_from.take() {
            // The thread may have exited.
            let _ = sys::set_affinity(tid, &before);
        }
        (stats.frequent, stats.infrequent) = (0, 0);
    }

    /// Unpins a new thread or process: it has inherited the pinning, but did not choose it.
    pub(crate) fn on_inherit(&mut self, tid: Tid) {
        let pinned_from = self.threads.values().find_map(|stats| stats.pinned_from);
        if let (Some(before), Some((_, this_cpu))) = (pinned_from, &self.own)
            && sys::affinity(tid).is_ok_and(|now| now == *this_cpu)
        {
            let _ = sys::set_affinity(tid, &before);
        }
    }

    /// Unpins all threads and the debugger.
    pub(crate) fn unpin_all(&mut self) {
        for tid in self.threads.keys().copied().collect::<Vec<_>>() {
            self.unpin(tid);
        }
        self.threads.clear();
        if let Some((original, _)) = self.own.take() {
            let _ = sys::set_affinity(0, &original);
        }
    }
}
