//! Diagnostics about specifications.

use crate::system::MonitorId;
use invigil_ltl::TooLarge;
use std::fmt;

/// Error in a monitor or in the whole specification.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpecDiagnostic {
    /// The monitor, if the error concerns one.
    pub monitor: Option<MonitorId>,
    /// The name in its body that the error concerns, as written.
    pub name: Option<String>,
    /// The error.
    pub message: String,
    /// The remedy.
    pub help: Option<String>,
    /// The exceeded limit, if this is the only error.
    pub too_large: Option<TooLarge>,
}

impl SpecDiagnostic {
    /// Creates a diagnostic about a monitor.
    pub fn new(monitor: MonitorId, message: impl Into<String>) -> SpecDiagnostic {
        SpecDiagnostic { monitor: Some(monitor), ..SpecDiagnostic::general(message) }
    }

    pub(super) fn general(message: impl Into<String>) -> SpecDiagnostic {
        SpecDiagnostic { monitor: None, name: None, message: message.into(), help: None, too_large: None }
    }

    pub(super) fn about(mut self, name: impl Into<String>) -> SpecDiagnostic {
        self.name = Some(name.into());
        self
    }

    pub(super) fn too_large(mut self, too_large: TooLarge) -> SpecDiagnostic {
        self.too_large = Some(too_large);
        self
    }

    /// Adds the remedy.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> SpecDiagnostic {
        self.help = Some(help.into());
        self
    }
}

impl fmt::Display for SpecDiagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        match &self.help {
            Some(help) => write!(f, " ({help})"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for SpecDiagnostic {}
