//! Verdicts: outputs of monitors.

use std::fmt;
use std::hash::Hash;

/// Verdict on an infinite word of which a prefix was read (LTL3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Truth {
    /// The formula fails on every continuation.
    False,
    /// Both outcomes are possible.
    Unknown,
    /// The formula holds on every continuation.
    True,
}

/// Verdict on a word of which a prefix was read, with a presumption where nothing is certain (RV-LTL): the value of the
/// formula on the prefix as a finite word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FourValuedTruth {
    /// The formula fails on every continuation.
    False,
    /// Both outcomes are possible; on the finite word read so far, the formula fails.
    PresumablyFalse,
    /// Both outcomes are possible; on the finite word read so far, the formula holds.
    PresumablyTrue,
    /// The formula holds on every continuation.
    True,
}

impl FourValuedTruth {
    /// Combines the verdict on infinite words with the value on the finite word.
    pub fn new(truth: Truth, at_end: bool) -> FourValuedTruth {
        match (truth, at_end) {
            (Truth::False, _) => FourValuedTruth::False,
            (Truth::True, _) => FourValuedTruth::True,
            (Truth::Unknown, false) => FourValuedTruth::PresumablyFalse,
            (Truth::Unknown, true) => FourValuedTruth::PresumablyTrue,
        }
    }
}

/// Output of a monitor.
pub trait Verdict: Copy + Eq + Hash {
    /// Whether no further letter can change the verdict.
    fn is_final(self) -> bool;
}

/// Verdict that is closed under the Boolean connectives.
pub trait LogicalVerdict: Verdict {
    /// Returns the verdict of the negation.
    fn not(self) -> Self;
    /// Returns the verdict of a conjunction.
    fn and(self, other: Self) -> Self;
    /// Returns the verdict of a disjunction.
    fn or(self, other: Self) -> Self;
}

impl Verdict for Truth {
    fn is_final(self) -> bool {
        self != Truth::Unknown
    }
}

impl LogicalVerdict for Truth {
    fn not(self) -> Self {
        match self {
            Truth::False => Truth::True,
            Truth::Unknown => Truth::Unknown,
            Truth::True => Truth::False,
        }
    }

    fn and(self, other: Self) -> Self {
        self.min(other)
    }

    fn or(self, other: Self) -> Self {
        self.max(other)
    }
}

impl Verdict for FourValuedTruth {
    fn is_final(self) -> bool {
        matches!(self, FourValuedTruth::False | FourValuedTruth::True)
    }
}

/// Value on a finite word; every further letter can change it.
impl Verdict for bool {
    fn is_final(self) -> bool {
        false
    }
}

impl LogicalVerdict for bool {
    fn not(self) -> Self {
        !self
    }

    fn and(self, other: Self) -> Self {
        self && other
    }

    fn or(self, other: Self) -> Self {
        self || other
    }
}

impl fmt::Display for Truth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Truth::False => "false",
            Truth::Unknown => "unknown",
            Truth::True => "true",
        })
    }
}

impl fmt::Display for FourValuedTruth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            FourValuedTruth::False => "false",
            FourValuedTruth::PresumablyFalse => "presumably false",
            FourValuedTruth::PresumablyTrue => "presumably true",
            FourValuedTruth::True => "true",
        })
    }
}
