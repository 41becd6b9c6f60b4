//! Limits on time and memory.

use std::fmt;

/// Limits on the constructions for a formula. They bound memory, and thereby time.
///
/// ```
/// let budget = invigil_ltl::Budget { states: 100, ..Default::default() };
/// assert!(budget.formulae > budget.states);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Distinct subformulae, including those that rewriting creates.
    pub formulae: usize,
    /// States of an automaton.
    pub states: usize,
    /// Edges of an automaton.
    pub edges: usize,
    /// Nodes of all decision diagrams together, of about twenty bytes each.
    pub nodes: usize,
    /// Variables of decision diagrams: atoms, and helpers of the algorithms. Bounds the depth of diagrams.
    pub variables: usize,
    /// Seconds from the creation of a [`Logic`](crate::Logic) for all its operations. Without this limit, results are
    /// deterministic.
    pub seconds: Option<u32>,
}

impl Default for Budget {
    fn default() -> Self {
        Budget {
            formulae: 1 << 18,
            states: 1 << 14,
            edges: 1 << 16,
            nodes: 1 << 21,
            variables: 1 << 11,
            seconds: None,
        }
    }
}

/// [`TooLarge::resource`] if the time limit is exceeded.
pub(crate) const SECONDS: &str = "seconds";

/// Error: a construction exceeded its [`Budget`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLarge {
    /// Limited resource, in the plural.
    pub resource: &'static str,
    /// Limit.
    pub limit: usize,
}

impl TooLarge {
    /// Whether the time limit was exceeded, in contrast to a limit on sizes.
    pub fn is_time(&self) -> bool {
        self.resource == SECONDS
    }
}

impl Budget {
    /// Checks a count against a limit.
    ///
    /// # Errors
    /// Fails if the count exceeds the limit.
    pub(crate) fn check(resource: &'static str, count: usize, limit: usize) -> Result<(), TooLarge> {
        if count <= limit { Ok(()) } else { Err(TooLarge { resource, limit }) }
    }
}

impl fmt::Display for TooLarge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.resource {
            SECONDS => write!(f, "it takes longer than {} {SECONDS}", self.limit),
            resource => write!(f, "too large: more than {} {resource}", self.limit),
        }
    }
}

impl std::error::Error for TooLarge {}
