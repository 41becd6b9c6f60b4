//! How large things may become.

use std::fmt;

/// Limits on what a question about a formula may cost. They bound memory, and time with it.
///
/// ```
/// let budget = invigil_ltl::Budget { states: 100, ..Default::default() };
/// assert!(budget.formulae > budget.states);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Distinct subformulae, those that rewriting makes included.
    pub formulae: usize,
    /// States of one automaton.
    pub states: usize,
    /// Edges of one automaton.
    pub edges: usize,
    /// Nodes of all decision diagrams together, about twenty bytes each.
    pub nodes: usize,
    /// Variables of decision diagrams: atoms, and what algorithms add. It bounds how deep diagrams are.
    pub variables: usize,
    /// Seconds that all questions to one [`Logic`](crate::Logic) may take. Without it the answer depends on
    /// nothing but the question.
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

/// What there is too much of when a question takes too long.
pub(crate) const SECONDS: &str = "seconds";

/// Something outgrew its [`Budget`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLarge {
    /// What there would be too many of.
    pub what: &'static str,
    /// How many are allowed.
    pub limit: usize,
}

impl TooLarge {
    /// Whether it is time that ran out, and not room.
    pub fn is_time(&self) -> bool {
        self.what == SECONDS
    }
}

impl Budget {
    /// Whether that many of something are allowed.
    ///
    /// # Errors
    /// If not.
    pub(crate) fn allows(what: &'static str, count: usize, limit: usize) -> Result<(), TooLarge> {
        if count <= limit { Ok(()) } else { Err(TooLarge { what, limit }) }
    }
}

impl fmt::Display for TooLarge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.what {
            SECONDS => write!(f, "it takes longer than {} {SECONDS}", self.limit),
            what => write!(f, "too large: more than {} {what}", self.limit),
        }
    }
}

impl std::error::Error for TooLarge {}
