//! Verdicts of monitors.

use alloc::string::String;
use core::fmt;
use invigil_expr::diag::Span;

/// Verdict of a monitor on a slice after an event. Greater verdicts are worse.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Verdict {
    /// The state is accepting.
    Accepting,
    /// The state is neither accepting nor non-accepting.
    Undecided,
    /// The state is non-accepting: the property is violated.
    NonAccepting,
    /// A block raised a fault; the monitor has ended.
    Error,
}

impl Verdict {
    /// The word in reports.
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

/// The fault that ended a monitor with [`Verdict::Error`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct MonitorFault {
    /// The message.
    pub message: String,
    /// The position in the property.
    pub span: Option<Span>,
}
