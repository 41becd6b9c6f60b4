//! What can go wrong while a block runs, and the budget that keeps it from running for ever.

use crate::diag::Span;
use alloc::boxed::Box;
use alloc::string::String;
use core::fmt;

/// The family a fault belongs to; `except` names them as Python does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// An operation on values it is not made for (`TypeError`).
    Type,
    /// A value out of an operation's domain (`ValueError`).
    Value,
    /// A key that a dict or set does not hold (`KeyError`).
    Key,
    /// A position outside a list, tuple or string (`IndexError`).
    Index,
    /// Division by zero (`ZeroDivisionError`).
    ZeroDivision,
    /// An integer that needs more than 64 bits (`OverflowError`).
    Overflow,
    /// A variable read before anything was assigned to it (`NameError`).
    Unset,
    /// A failed `assert` (`AssertionError`).
    Assertion,
    /// The block ran for too long or built too much. No `except` catches it.
    Limit,
}

impl FaultKind {
    /// The kinds that `except` can name, with their Python names.
    pub const NAMES: [(FaultKind, &'static str); 8] = [
        (FaultKind::Type, "TypeError"),
        (FaultKind::Value, "ValueError"),
        (FaultKind::Key, "KeyError"),
        (FaultKind::Index, "IndexError"),
        (FaultKind::ZeroDivision, "ZeroDivisionError"),
        (FaultKind::Overflow, "OverflowError"),
        (FaultKind::Unset, "NameError"),
        (FaultKind::Assertion, "AssertionError"),
    ];

    pub(crate) const fn bit(self) -> u16 {
        1 << self as u16
    }

    /// Every kind that `except` without a name catches.
    #[cfg(feature = "compile")]
    pub(crate) const CATCHABLE: u16 = FaultKind::Limit.bit() - 1;
}

/// An error in a running block: what happened, in words, and where in the user's file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The family.
    pub kind: FaultKind,
    /// What happened.
    pub message: String,
    /// The expression or statement at fault.
    pub span: Option<Span>,
}

impl Fault {
    /// A fault whose place is not known yet: the machine adds it.
    pub fn new(kind: FaultKind, message: impl Into<String>) -> Box<Fault> {
        Box::new(Fault { kind, message: message.into(), span: None })
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl core::error::Error for Fault {}

/// The outcome of anything a block does.
pub type Run<T> = Result<T, Box<Fault>>;

/// How much work a block may still do. Loops, calls and work on large values spend it, so that every block
/// ends, and ends soon.
#[derive(Clone, Debug)]
pub struct Budget {
    left: u64,
}

impl Budget {
    /// What one block may do by default: some milliseconds of work.
    pub const DEFAULT: u64 = 1_000_000;

    /// A budget of `work` units.
    ///
    /// ```
    /// use invigil_expr::fault::Budget;
    /// let mut budget = Budget::new(10);
    /// assert!(budget.spend(7).is_ok() && budget.spend(7).is_err());
    /// ```
    pub fn new(work: u64) -> Budget {
        Budget { left: work }
    }

    /// Takes `work` units, or faults when there are not as many.
    #[inline]
    pub fn spend(&mut self, work: u64) -> Run<()> {
        match self.left.checked_sub(work) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => Err(exhausted()),
        }
    }
}

#[cold]
fn exhausted() -> Box<Fault> {
    Fault::new(FaultKind::Limit, "this block does not end: it was stopped after a million steps")
}
