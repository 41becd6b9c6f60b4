//! Errors of commands.

use invigil_monitor::interactive::MonitorError;
use invigil_target::{TargetError, Unsupported};
use std::fmt;

/// Why a command failed. Its text is for the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommandError {
    /// The line asks for something that does not exist here: an unknown command, a missing argument, a
    /// slice that the property does not have.
    Request(String),
    /// The target rejects the request, cannot be controlled, or has ended.
    Target(TargetError),
    /// The monitor rejects the request.
    Monitor(MonitorError),
}

impl fmt::Display for CommandError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CommandError::Request(message) => f.write_str(message),
            CommandError::Target(error) => error.fmt(f),
            CommandError::Monitor(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for CommandError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            CommandError::Request(_) => None,
            CommandError::Target(error) => Some(error),
            CommandError::Monitor(error) => Some(error),
        }
    }
}

impl From<String> for CommandError {
    fn from(message: String) -> CommandError {
        CommandError::Request(message)
    }
}

impl From<&str> for CommandError {
    fn from(message: &str) -> CommandError {
        CommandError::Request(message.to_owned())
    }
}

impl From<TargetError> for CommandError {
    fn from(error: TargetError) -> CommandError {
        CommandError::Target(error)
    }
}

impl From<MonitorError> for CommandError {
    fn from(error: MonitorError) -> CommandError {
        CommandError::Monitor(error)
    }
}

impl From<Unsupported> for CommandError {
    fn from(why: Unsupported) -> CommandError {
        CommandError::Target(why.into())
    }
}
