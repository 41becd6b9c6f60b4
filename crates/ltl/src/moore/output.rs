//! What the states of monitors say.

use std::fmt;
use std::hash::Hash;

/// What is known of an infinite word of which a prefix was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Truth {
    /// However it goes on, it does not hold.
    False,
    /// It can still go both ways.
    Unknown,
    /// However it goes on, it holds.
    True,
}

/// What is known of an infinite word of which a prefix was seen, with a guess where nothing is certain: what
/// the formula says if the word ends here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Four {
    /// However it goes on, it does not hold.
    False,
    /// It can still go both ways; if it ends here, it does not hold.
    PresumablyFalse,
    /// It can still go both ways; if it ends here, it holds.
    PresumablyTrue,
    /// However it goes on, it holds.
    True,
}

impl Four {
    /// What is certain, and if nothing is, what holds at the end.
    pub fn of(truth: Truth, at_the_end: bool) -> Four {
        match (truth, at_the_end) {
            (Truth::False, _) => Four::False,
            (Truth::True, _) => Four::True,
            (Truth::Unknown, false) => Four::PresumablyFalse,
            (Truth::Unknown, true) => Four::PresumablyTrue,
        }
    }
}

/// Something that a monitor says.
pub trait Verdict: Copy + Eq + Hash {
    /// Whether nothing that follows can change it.
    fn is_final(self) -> bool;
}

/// Verdicts that the connectives work on.
pub trait Logical: Verdict {
    /// Of the negation.
    fn not(self) -> Self;
    /// Of a conjunction.
    fn and(self, other: Self) -> Self;
    /// Of a disjunction.
    fn or(self, other: Self) -> Self;
}

impl Verdict for Truth {
    fn is_final(self) -> bool {
        self != Truth::Unknown
    }
}

impl Logical for Truth {
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

impl Verdict for Four {
    fn is_final(self) -> bool {
        matches!(self, Four::False | Four::True)
    }
}

/// On finite words every letter counts.
impl Verdict for bool {
    fn is_final(self) -> bool {
        false
    }
}

impl Logical for bool {
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

impl fmt::Display for Four {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Four::False => "false",
            Four::PresumablyFalse => "presumably false",
            Four::PresumablyTrue => "presumably true",
            Four::True => "true",
        })
    }
}
