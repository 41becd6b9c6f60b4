//! Errors of operations on a target.

use std::fmt;

/// Error of an operation on a target, with a message for the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TargetError {
    /// The request is invalid here: an unknown name, for example, or an expression that cannot be evaluated.
    Request(String),
    /// The target has ended in this way.
    Ended(Termination),
    /// The target could not be started, run or controlled.
    Control(String),
}

impl fmt::Display for TargetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TargetError::Request(message) | TargetError::Control(message) => f.write_str(message),
            TargetError::Ended(ending) => write!(f, "the program has ended: {ending}"),
        }
    }
}

impl std::error::Error for TargetError {}

/// Result of an operation on a target.
pub type TargetResult<T = ()> = Result<T, TargetError>;

/// How a target ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Termination {
    /// It exited with this status.
    Exited(i32),
    /// A signal killed it.
    Killed {
        /// The signal's name, such as `SIGSEGV`.
        signal: String,
        /// Whether it dumped core.
        core: bool,
    },
    /// The debugger detached; the program keeps running.
    Detached,
}

impl fmt::Display for Termination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Termination::Exited(status) => write!(f, "it exited with status {status}"),
            Termination::Killed { signal, core: false } => write!(f, "it was killed by {signal}"),
            Termination::Killed { signal, core: true } => {
                write!(f, "it was killed by {signal} (core dumped)")
            }
            Termination::Detached => f.write_str("it was detached"),
        }
    }
}

/// The reason why a kind of target lacks an optional role such as [`Checkpoints`](crate::Checkpoints), as text for the
/// user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unsupported(pub &'static str);

impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl std::error::Error for Unsupported {}

impl From<Unsupported> for TargetError {
    fn from(why: Unsupported) -> TargetError {
        TargetError::Request(why.0.to_owned())
    }
}
