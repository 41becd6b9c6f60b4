//! What is wrong with a specification.

use crate::system::MonitorId;
use invigil_ltl::TooLarge;
use std::fmt;

/// Something that is wrong with a monitor, in words for the person who wrote it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The monitor, if it is about one.
    pub monitor: Option<MonitorId>,
    /// The name in it that the problem is about, as it is written.
    pub name: Option<String>,
    /// What is wrong.
    pub message: String,
    /// A remedy.
    pub help: Option<String>,
    /// What there would be too much of, if that is all that is wrong.
    pub too_large: Option<TooLarge>,
}

impl Problem {
    /// A problem with a monitor.
    pub fn new(monitor: MonitorId, message: impl Into<String>) -> Problem {
        Problem { monitor: Some(monitor), ..Problem::general(message) }
    }

    pub(super) fn general(message: impl Into<String>) -> Problem {
        Problem { monitor: None, name: None, message: message.into(), help: None, too_large: None }
    }

    pub(super) fn about(mut self, name: impl Into<String>) -> Problem {
        self.name = Some(name.into());
        self
    }

    pub(super) fn too_large(mut self, too_large: TooLarge) -> Problem {
        self.too_large = Some(too_large);
        self
    }

    /// With the remedy.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Problem {
        self.help = Some(help.into());
        self
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        match &self.help {
            Some(help) => write!(f, " ({help})"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Problem {}
