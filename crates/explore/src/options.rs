//! Options of a search.

use crate::limits::Limits;

/// Options of a search: limits, and the findings to report.
///
/// ```
/// use invigil_explore::{SearchOptions, FindingKinds};
///
/// // All deadlocks, on two threads.
/// let kinds = FindingKinds { bad: false, faults: false, ..FindingKinds::default() };
/// let options = SearchOptions { threads: 2, kinds, max_findings: usize::MAX, ..SearchOptions::default() };
/// assert!(options.kinds.deadlocks && !options.exhaustive);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SearchOptions {
    /// Number of threads, for searches that support several.
    pub threads: usize,
    /// Resource limits.
    pub limits: Limits,
    /// The kinds of findings to report.
    pub kinds: FindingKinds,
    /// Maximum number of findings. The search ends when it has found this many, unless it is `exhaustive`.
    pub max_findings: usize,
    /// Whether the search continues after `max_findings` in order to count everything.
    pub exhaustive: bool,
}

impl Default for SearchOptions {
    /// One thread, no limits, and at most one finding of any kind.
    fn default() -> SearchOptions {
        SearchOptions {
            threads: 1,
            limits: Limits::default(),
            kinds: FindingKinds::default(),
            max_findings: 1,
            exhaustive: false,
        }
    }
}

/// The kinds of findings that a search reports. All kinds are counted in any case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FindingKinds {
    /// Configurations without successors.
    pub deadlocks: bool,
    /// Configurations or steps that are [`BAD`](crate::BAD).
    pub bad: bool,
    /// Actions that raise a fault.
    pub faults: bool,
}

impl Default for FindingKinds {
    /// All kinds.
    fn default() -> FindingKinds {
        FindingKinds { deadlocks: true, bad: true, faults: true }
    }
}
