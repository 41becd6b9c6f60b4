//! Faults of running blocks, and the budget that bounds their run time.

use crate::diag::Span;
use alloc::boxed::Box;
use alloc::string::String;
use core::fmt;

/// Kind of a fault; `except` uses the names of Python.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// An operation on values of the wrong type (`TypeError`).
    Type,
    /// A value outside the domain of an operation (`ValueError`).
    Value,
    /// A missing key of a dict or element of a set (`KeyError`).
    Key,
    /// An index outside a list, tuple or string (`IndexError`).
    Index,
    /// Division by zero (`ZeroDivisionError`).
    ZeroDivision,
    /// An integer that does not fit 64 bits (`OverflowError`).
    Overflow,
    /// A variable that is read before it is assigned (`NameError`).
    Unset,
    /// A failed `assert` (`AssertionError`).
    Assertion,
    /// The block exceeded its budget or the memory limit. No `except` catches it.
    Limit,
}

impl FaultKind {
    /// The kinds with a name for `except`.
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

    /// The kinds that a bare `except` catches, as bits.
    #[cfg(feature = "compile")]
    pub(crate) const CATCHABLE: u16 = FaultKind::Limit.bit() - 1;
}

/// An error in a running block: kind, message and position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The kind.
    pub kind: FaultKind,
    /// The message.
    pub message: String,
    /// The position of the expression or statement.
    pub span: Option<Span>,
}

impl Fault {
    /// A fault without a position; the machine adds it.
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

/// Result of an operation of a block.
pub type EvalResult<T> = Result<T, Box<Fault>>;

/// Remaining work of a block.
///
/// Loops, calls and operations on large values spend it, so that every block terminates.
#[derive(Clone, Debug)]
pub struct Budget {
    left: u64,
}

impl Budget {
    /// The default: a few milliseconds of work.
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

    /// Spends `work` units. Faults if fewer are left.
    #[inline]
    pub fn spend(&mut self, work: u64) -> EvalResult<()> {
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
    Fault::new(FaultKind::Limit, "this block was stopped after a million steps: make sure that its loops end")
}
