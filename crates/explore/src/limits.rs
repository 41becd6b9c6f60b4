//! Limits and progress of a search.

use std::time::{Duration, Instant};

/// Resource limits of a search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Maximum number of configurations.
    pub states: Option<u64>,
    /// Maximum number of bytes for configurations and their bookkeeping.
    pub memory: Option<u64>,
    /// Maximum duration.
    pub time: Option<Duration>,
    /// Maximum number of steps from the initial configurations.
    pub depth: Option<u64>,
}

/// Why a search ended before it had explored everything.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Incomplete {
    /// The limit on configurations was exceeded.
    States,
    /// The limit on memory was exceeded, or the system has no more memory.
    Memory,
    /// The time limit was exceeded.
    Time,
    /// Some configurations are deeper than the limit.
    Depth,
    /// The listener stopped the search.
    Stopped,
    /// The requested number of findings was reached.
    Found,
    /// The subject failed: [`StateSpace::failure`](crate::StateSpace::failure) has the reason.
    Failed,
}

/// Statistics of a search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Number of configurations.
    pub states: u64,
    /// Number of transitions between them.
    pub transitions: u64,
    /// Number of configurations without successors.
    pub deadlocks: u64,
    /// Number of actions that raised a fault.
    pub faults: u64,
    /// Maximum number of steps from the start; in a breadth-first search, the number of levels minus one.
    pub depth: u64,
    /// Number of configurations that were visited but not yet expanded.
    pub waiting: u64,
    /// Bytes for configurations and their bookkeeping.
    pub memory: u64,
}

/// Receives the progress of a search periodically, and may stop it.
pub trait ProgressListener: Sync {
    /// Reports the current statistics. Called by any thread, after at most about 4,096 expanded configurations.
    fn progress(&self, totals: &Totals);

    /// Whether the search must stop.
    fn is_stopped(&self) -> bool;
}

/// No-op listener that never stops a search.
impl ProgressListener for () {
    fn progress(&self, _: &Totals) {}

    fn is_stopped(&self) -> bool {
        false
    }
}

impl Limits {
    /// The limits that remain for a search if the first of several searches started at `start`.
    ///
    /// ```
    /// use invigil_explore::Limits;
    /// use std::time::{Duration, Instant};
    /// let limits = Limits { time: Some(Duration::from_secs(60)), ..Limits::default() };
    /// assert!(limits.remaining(Instant::now()).time < limits.time);
    /// ```
    pub fn remaining(&self, start: Instant) -> Limits {
        Limits { time: self.time.map(|time| time.saturating_sub(start.elapsed())), ..*self }
    }

    /// The limit that a search with these totals exceeds, if any. The search started at `start`.
    pub fn exceeded(&self, totals: &Totals, start: Instant) -> Option<Incomplete> {
        if self.states.is_some_and(|max| totals.states > max) {
            Some(Incomplete::States)
        } else if self.memory.is_some_and(|max| totals.memory > max) {
            Some(Incomplete::Memory)
        } else if self.time.is_some_and(|max| start.elapsed() > max) {
            Some(Incomplete::Time)
        } else {
            None
        }
    }
}
