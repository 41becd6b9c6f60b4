//! What is told of a run when nobody is there: text for people, JSON for programs.

mod json;
mod text;

use crate::workshop::{Loaded, Role};
use invigil_check::PropertyOutcome;
use invigil_session::ReportedFrame;
use invigil_session::subject::Ending;

/// A run, and what is needed to tell it.
pub struct Told<'a> {
    /// What the session has to tell.
    pub report: &'a invigil_session::Report,
    /// The files that it was made of.
    pub loaded: &'a Loaded,
    /// A signal that did harm, and where.
    pub crash: Option<&'a Crash>,
    /// Why the run was not followed to the program's end, in words, if it was not.
    pub cut_short: Option<&'a str>,
    /// What kept the answer from being complete, as it is shown.
    pub errors: &'a [String],
}

/// A signal that did harm.
#[derive(Clone, Debug, PartialEq)]
pub struct Crash {
    /// Its name.
    pub signal: String,
    /// What it was about.
    pub detail: String,
    /// The thread that got it.
    pub thread: u32,
    /// Where the program stood.
    pub stack: Vec<ReportedFrame>,
}

impl Told<'_> {
    /// How many violations there were, told or not.
    pub fn violations(&self) -> u64 {
        self.report.properties.iter().map(|property| property.violations).sum()
    }

    /// The properties, and the actions of scripts, which are followed as properties are but cannot be violated.
    fn parted(&self) -> (Vec<PropertyOutcome>, Vec<&PropertyOutcome>) {
        let (mut properties, mut actions) = (Vec::new(), Vec::new());
        for (outcome, automaton) in self.report.properties.iter().zip(&self.loaded.automata) {
            match self.loaded.role(automaton) {
                Role::Property => properties.push(outcome.clone()),
                Role::Action => actions.push(outcome),
                Role::Printer => {}
            }
        }
        (properties, actions)
    }

    /// Whether the properties saw the program to its end.
    pub fn is_complete(&self) -> bool {
        let ended = matches!(self.report.ending, Some(Ending::Exited(_) | Ending::Killed { .. }));
        let failed = self.report.properties.iter().any(|property| property.failure.is_some());
        ended && self.cut_short.is_none() && self.errors.is_empty() && !failed
    }
}
