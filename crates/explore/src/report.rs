//! What a search has found.

use crate::limits::{Incomplete, Totals};
use crate::path::Path;

/// What came of a search.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// What was seen.
    pub totals: Totals,
    /// The number of steps that are [`BAD`](crate::BAD), initial configurations included.
    pub bad: u64,
    /// Why not everything was seen. With none, and if the search is certain, everything was.
    pub incomplete: Option<Incomplete>,
    /// What was wanted, in the order in which it was found: at most one for each configuration and kind.
    pub found: Vec<Found>,
    /// How far the totals can be trusted. What was found is always exact.
    pub certainty: Certainty,
}

impl Report {
    /// Whether every configuration was seen for certain.
    pub fn is_whole(&self) -> bool {
        self.incomplete.is_none() && self.certainty == Certainty::Exact
    }
}

/// Something found, and how to get there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// What it is.
    pub what: What,
    /// An execution that shows it: the last configuration is the deadlock, the bad one, or that in which
    /// [an action goes wrong](Path::fault). Where the very beginning goes wrong, it has no configurations.
    pub path: Path,
}

/// What can be found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum What {
    /// A configuration without successors.
    Deadlock,
    /// An action that goes wrong.
    Fault,
    /// A configuration, or a step, that must not be.
    Bad,
}

/// How far the totals of a search can be trusted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Certainty {
    /// Each configuration was stored whole: the counts are exact.
    Exact,
    /// Configurations were told apart by parts of their hashes, so some may have been taken for others.
    Estimated {
        /// The expected number of configurations that were wrongly taken for seen. What can be reached through those
        /// only is missing, too, and is not in this number.
        missed: f64,
        /// The part of the configurations that was seen, as far as can be told: an upper bound on the average.
        coverage: f64,
    },
    /// Several such searches were made, each with other hashes.
    United {
        /// How many.
        runs: u64,
        /// How many different configurations all of them saw together: an estimate, mostly within two percent.
        states: f64,
        /// The part of what the last one saw that none before it had seen. If that is not near zero, there is more.
        fresh: f64,
    },
    /// Some executions were tried; nothing was stored, so configurations may be counted several times.
    Sampled,
}
