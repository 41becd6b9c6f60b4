//! What a search is to do.

use crate::limits::Limits;

/// What a search looks for, and how much it may take.
///
/// ```
/// use invigil_explore::{Search, Wanted};
///
/// // All deadlocks there are, on two threads.
/// let wanted = Wanted { bad: false, faults: false, ..Wanted::default() };
/// let search = Search { threads: 2, wanted, most: usize::MAX, ..Search::default() };
/// assert!(search.wanted.deadlocks && !search.whole);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Search {
    /// The number of threads, for searches that can use several.
    pub threads: usize,
    /// How much it may take.
    pub limits: Limits,
    /// What is told.
    pub wanted: Wanted,
    /// How many are told at most. The search ends when it has found as many.
    pub most: usize,
    /// Whether it goes on nevertheless, to count everything.
    pub whole: bool,
}

impl Default for Search {
    /// One thread, no limits, up to the first thing of any kind.
    fn default() -> Search {
        Search { threads: 1, limits: Limits::default(), wanted: Wanted::default(), most: 1, whole: false }
    }
}

/// What a search tells of. All of it is counted anyway.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// Configurations without successors.
    pub deadlocks: bool,
    /// Configurations, or steps, that are [`BAD`](crate::BAD).
    pub bad: bool,
    /// Actions that go wrong.
    pub faults: bool,
}

impl Default for Wanted {
    /// All.
    fn default() -> Wanted {
        Wanted { deadlocks: true, bad: true, faults: true }
    }
}
