//! The report of a batch run: text for people, JSON for programs.

mod json;
mod text;

use crate::session_factory::{AutomatonRole, LoadedFiles};
use invigil_check::PropertyResult;
use invigil_session::ReportedFrame;
use invigil_target::Termination;

/// The report of a run, with everything that rendering needs.
pub struct RunReport<'a> {
    /// The result of the session.
    pub report: &'a invigil_session::SessionReport,
    /// The compiled files of the session.
    pub loaded: &'a LoadedFiles,
    /// The fatal signal, if any.
    pub crash: Option<&'a Crash>,
    /// Sentence that says why monitoring stopped before the end of the program.
    pub early_end_reason: Option<&'a str>,
    /// Rendered errors that make the result incomplete.
    pub errors: &'a [String],
}

/// A fatal signal.
#[derive(Clone, Debug, PartialEq)]
pub struct Crash {
    /// Its name.
    pub signal: String,
    /// Details, such as the faulting address.
    pub detail: String,
    /// The thread that received it.
    pub thread: u32,
    /// The call stack of that thread.
    pub stack: Vec<ReportedFrame>,
}

impl RunReport<'_> {
    /// Number of violations, including those beyond the limit.
    pub fn violation_count(&self) -> u64 {
        self.report.properties.iter().map(|property| property.violations).sum()
    }

    /// Separates properties from the actions of scripts, which are monitored like properties but cannot be violated.
    fn properties_and_actions(&self) -> (Vec<PropertyResult>, Vec<&PropertyResult>) {
        let (mut properties, mut actions) = (Vec::new(), Vec::new());
        for (result, automaton) in self.report.properties.iter().zip(&self.loaded.automata) {
            match self.loaded.role(automaton) {
                AutomatonRole::Property => properties.push(result.clone()),
                AutomatonRole::Action => actions.push(result),
                AutomatonRole::PrintStatement => {}
            }
        }
        (properties, actions)
    }

    /// Whether the properties were monitored up to the end of the program.
    pub fn is_complete(&self) -> bool {
        let ended =
            matches!(self.report.termination, Some(Termination::Exited(_) | Termination::Killed { .. }));
        let failed = self.report.properties.iter().any(|property| property.failure.is_some());
        ended && self.early_end_reason.is_none() && self.errors.is_empty() && !failed
    }
}
