//! Results of searches.

use crate::limits::{Incomplete, Totals};
use crate::path::Path;

/// The result of a search.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchResult {
    /// Statistics of the search.
    pub totals: Totals,
    /// The number of steps that are [`BAD`](crate::BAD), initial configurations included.
    pub bad: u64,
    /// Why the search is incomplete. If none and the certainty is exact, everything was explored.
    pub incomplete: Option<Incomplete>,
    /// The findings in the order of discovery, at most one for each configuration and kind.
    pub findings: Vec<Finding>,
    /// How reliable the totals are. Findings are always exact.
    pub certainty: Certainty,
}

impl SearchResult {
    /// Whether every configuration was certainly explored.
    pub fn is_exhaustive(&self) -> bool {
        self.incomplete.is_none() && self.certainty == Certainty::Exact
    }
}

/// A deadlock, fault or bad configuration, and a path to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The kind.
    pub kind: FindingKind,
    /// An execution that shows it. Its last configuration is the deadlock, the bad configuration, or the one in which
    /// an [action raises a fault](Path::fault). It has no configurations if the initialization raises the fault.
    pub path: Path,
}

/// The kinds of findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FindingKind {
    /// A configuration without successors.
    Deadlock,
    /// An action that raises a fault.
    Fault,
    /// A configuration or step that violates a predicate.
    Bad,
}

/// Reliability of the totals of a search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Certainty {
    /// Each configuration was stored completely: the counts are exact.
    Exact,
    /// Configurations were compared by parts of their hashes, so different ones may have been taken for the same.
    Estimated {
        /// The expected number of configurations that were wrongly taken as visited. Configurations reachable only
        /// through them are missed as well, but not included in this number.
        missed: f64,
        /// The estimated fraction of visited configurations: an upper bound on the average.
        coverage: f64,
    },
    /// The union of several such searches, each with other hash functions.
    United {
        /// Number of searches.
        runs: u64,
        /// Estimated number of different configurations that all searches visited, usually within two percent.
        states: f64,
        /// The fraction of the last search's configurations that no earlier search had visited. If it is not near zero,
        /// many configurations remain unvisited.
        new_share: f64,
    },
    /// Random executions without storage: configurations may be counted several times.
    Sampled,
}
