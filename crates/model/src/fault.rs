//! What can go wrong inside an action.

use crate::action::ActionId;
use core::fmt;

/// An action that goes wrong. It leads to a broken configuration, in which nothing can happen.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Fault {
    /// Which action; none if the model cannot even start, or a predicate goes wrong.
    pub action: Option<ActionId>,
    /// What is wrong with it.
    pub reason: Reason,
}

/// Why an action goes wrong.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Reason {
    /// A value that a variable cannot hold.
    OutOfRange {
        /// The variable, as people read it, with its index.
        place: String,
        /// The value.
        value: i64,
        /// The smallest value it can hold.
        low: i64,
        /// The largest value it can hold.
        high: i64,
    },
    /// There is no such element.
    NoElement {
        /// The array.
        array: String,
        /// The index.
        index: i64,
        /// How many elements there are.
        length: u32,
    },
    /// Something was divided by 0.
    DivisionByZero,
    /// Bits were moved by less than 0 or more than 63.
    Shift(i64),
    /// An assertion of the model is false.
    Assertion(String),
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::OutOfRange { place, value, low, high } => {
                write!(f, "{place} cannot hold {value}: its range is {low} to {high}")
            }
            Reason::NoElement { array, index, length } => {
                write!(f, "{array} has no element {index}: there are {length}, numbered from 0")
            }
            Reason::DivisionByZero => f.write_str("division by zero"),
            Reason::Shift(by) => write!(f, "bits cannot be moved by {by}: from 0 to 63 only"),
            Reason::Assertion(message) => write!(f, "assertion failed: {message}"),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.reason.fmt(f)
    }
}

impl core::error::Error for Fault {}
