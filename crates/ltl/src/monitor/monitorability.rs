//! Monitorability: the verdicts that a monitor can reach.

use crate::label::Labels;
use crate::moore::{Moore, Truth};
use crate::word::Letter;
use std::fmt;

/// Reachable verdicts of a monitor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Monitorability {
    /// The formula has a bad prefix.
    pub can_fail: bool,
    /// The formula has a good prefix.
    pub can_succeed: bool,
    /// Shortest ugly prefix: after it, no verdict is reachable. `None` if the formula is monitorable.
    pub ugly_prefix: Option<Vec<Letter>>,
}

/// Computes the reachable verdicts of a monitor.
pub fn monitorability(monitor: &Moore<Truth>, labels: &Labels) -> Monitorability {
    let decided = monitor.can_reach(|_, output| output != Truth::Unknown);
    Monitorability {
        can_fail: monitor.outputs.contains(&Truth::False),
        can_succeed: monitor.outputs.contains(&Truth::True),
        ugly_prefix: monitor.shortest_word(labels, |state, _| !decided[state as usize]),
    }
}

impl Monitorability {
    /// Whether a verdict is reachable after every prefix.
    pub fn is_monitorable(&self) -> bool {
        self.ugly_prefix.is_none()
    }

    /// Whether `false` is reachable after every prefix, and `true` never.
    pub fn is_safety_monitorable(&self) -> bool {
        self.is_monitorable() && !self.can_succeed
    }

    /// Whether `true` is reachable after every prefix, and `false` never.
    pub fn is_cosafety_monitorable(&self) -> bool {
        self.is_monitorable() && !self.can_fail
    }
}

impl fmt::Display for Monitorability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verdicts = match (self.can_fail, self.can_succeed) {
            (true, true) => "a prefix can show that it holds, or that it does not",
            (true, false) => "a prefix can show that it does not hold, but never that it holds",
            (false, true) => "a prefix can show that it holds, but never that it does not",
            (false, false) => "no prefix can show whether it holds: that depends on the infinite behaviour",
        };
        match &self.ugly_prefix {
            None => write!(
                f,
                "monitorable: {verdicts}; after every prefix, a verdict of that kind is still possible"
            ),
            Some(prefix) if prefix.is_empty() => write!(f, "not monitorable: {verdicts}"),
            Some(prefix) => {
                let count = prefix.len();
                let letters = if count == 1 { "letter" } else { "letters" };
                write!(f, "not monitorable: {verdicts}; after {count} {letters} it may be too late for that")
            }
        }
    }
}
