//! What a monitor says.

use alloc::string::String;
use core::fmt;
use invigil_expr::diag::Span;

/// The opinion of a monitor, after an event, on one slice of the execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Verdict {
    /// The property's state is accepting.
    Accepting,
    /// The property's state is neither.
    Undecided,
    /// The property's state is non-accepting: it is violated.
    NonAccepting,
    /// A block of the property failed; the monitor has ended.
    Error,
}

impl Verdict {
    /// The word for it in reports.
    pub fn word(self) -> &'static str {
        match self {
            Verdict::Accepting => "accepting",
            Verdict::Undecided => "undecided",
            Verdict::NonAccepting => "non-accepting",
            Verdict::Error => "error",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// Why a monitor ended with [`Verdict::Error`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Failure {
    /// What happened.
    pub message: String,
    /// Where in the property.
    pub span: Option<Span>,
}
