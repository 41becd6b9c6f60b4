//! Faults: run-time errors of actions.

use crate::action::ActionId;
use core::fmt;

/// A run-time error in an action. It leads to a faulted configuration without enabled actions.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Fault {
    /// The action; `None` if the initialisation or a predicate raised the fault.
    pub action: Option<ActionId>,
    /// The reason.
    pub reason: FaultReason,
}

/// Reason of a fault.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum FaultReason {
    /// A value outside of the domain of a variable.
    OutOfRange {
        /// The display name of the variable, with its index.
        place: String,
        /// The value.
        value: i64,
        /// The smallest value of the domain.
        low: i64,
        /// The largest value of the domain.
        high: i64,
    },
    /// An index out of bounds.
    NoElement {
        /// The array.
        array: String,
        /// The index.
        index: i64,
        /// The number of elements.
        length: u32,
    },
    /// Division by 0.
    DivisionByZero,
    /// A shift by less than 0 or more than 63.
    Shift(i64),
    /// A failed assertion of the model.
    Assertion(String),
}

impl fmt::Display for FaultReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FaultReason::OutOfRange { place, value, low, high } => {
                write!(f, "{place} cannot hold {value}: its range is {low} to {high}")
            }
            FaultReason::NoElement { array, index, length } => {
                write!(f, "{array} has no element {index}: there are {length}, numbered from 0")
            }
            FaultReason::DivisionByZero => f.write_str("division by zero"),
            FaultReason::Shift(by) => write!(f, "cannot shift by {by} bits: only 0 to 63 are possible"),
            FaultReason::Assertion(message) => write!(f, "assertion failed: {message}"),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.reason.fmt(f)
    }
}

impl core::error::Error for Fault {}
