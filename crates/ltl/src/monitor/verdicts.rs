//! What a monitor can still find out.

use crate::label::Labels;
use crate::moore::{Moore, Truth};
use crate::word::Letter;
use std::fmt;

/// Which verdicts a monitor can come to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Monitorability {
    /// Some prefix shows that the formula does not hold.
    pub can_fail: bool,
    /// Some prefix shows that it holds.
    pub can_succeed: bool,
    /// One of the shortest prefixes after which no verdict can come any more, whatever follows. None if there
    /// is no such prefix: then the formula is monitorable.
    pub blind_after: Option<Vec<Letter>>,
}

/// Which verdicts a monitor can come to.
pub fn monitorability(monitor: &Moore<Truth>, labels: &Labels) -> Monitorability {
    let decided = monitor.can_reach(|_, output| output != Truth::Unknown);
    Monitorability {
        can_fail: monitor.outputs.contains(&Truth::False),
        can_succeed: monitor.outputs.contains(&Truth::True),
        blind_after: monitor.shortest(labels, |state, _| !decided[state as usize]),
    }
}

impl Monitorability {
    /// Whether from every prefix on a verdict is still possible.
    pub fn is_monitorable(&self) -> bool {
        self.blind_after.is_none()
    }

    /// Whether a verdict is possible after every prefix, and it is that the formula does not hold.
    pub fn is_safety_monitorable(&self) -> bool {
        self.is_monitorable() && !self.can_succeed
    }

    /// Whether a verdict is possible after every prefix, and it is that the formula holds.
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
            (false, false) => "no prefix can show whether it holds: that depends on what happens for ever",
        };
        match &self.blind_after {
            None => write!(f, "monitorable: {verdicts}, and after every prefix this is still possible"),
            Some(prefix) if prefix.is_empty() => write!(f, "not monitorable: {verdicts}"),
            Some(prefix) => {
                let count = prefix.len();
                let letters = if count == 1 { "letter" } else { "letters" };
                write!(f, "not monitorable: {verdicts}; after {count} {letters} it may be too late for that")
            }
        }
    }
}
