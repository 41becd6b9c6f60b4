//! What came of checking a trace.

use crate::finding::{Finding, Happening};
use invigil_monitor::verdict::{Failure, Verdict};
use invigil_trace::{End, Summary};

/// Events that were skipped because they lack a parameter that a property reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    /// The event.
    pub event: String,
    /// The parameter.
    pub param: String,
    /// How many events lacked it.
    pub count: u64,
    /// The first of them: its line, and the position of its file.
    pub first: invigil_trace::Place,
}

/// How one property fared.
#[derive(Clone, Debug, Default)]
pub struct PropertyOutcome {
    /// The property's name.
    pub name: String,
    /// How many events some slice took a transition on.
    pub steps: u64,
    /// How many slices came into being, the root of a sliced property left out.
    pub slices: u64,
    /// How many slices there are at the end, the same left out.
    pub live: u64,
    /// How often a slice entered a non-accepting state.
    pub violations: u64,
    /// At the end, how many slices are in each state (states with none are left out).
    pub states: Vec<(String, Verdict, u64)>,
    /// The error in a block that ended the monitor, and the event at which it did.
    pub failure: Option<(Failure, Option<Happening>)>,
    /// Events that were skipped.
    pub missing: Vec<Missing>,
    /// Commands for a debugger that its blocks gave; there is none to take them.
    pub commands: u64,
}

impl PropertyOutcome {
    /// The verdict on the whole trace: the worst that there was.
    pub fn verdict(&self) -> Verdict {
        if self.failure.is_some() {
            Verdict::Error
        } else if self.violations > 0 {
            Verdict::NonAccepting
        } else {
            self.states.iter().map(|(_, verdict, _)| *verdict).max().unwrap_or(Verdict::Accepting)
        }
    }
}

/// What came of checking a trace.
#[derive(Debug)]
pub struct Outcome {
    /// Per property, in the order given.
    pub properties: Vec<PropertyOutcome>,
    /// The first violations, in the order of the trace.
    pub findings: Vec<Finding>,
    /// What was read.
    pub trace: Summary,
    /// The names of the inputs, for places.
    pub inputs: Vec<String>,
}

impl Outcome {
    /// How many violations there were, told or not.
    pub fn violations(&self) -> u64 {
        self.properties.iter().map(|property| property.violations).sum()
    }

    /// Whether something kept the answer from being complete: the trace could not be read to its end, or a
    /// property failed.
    pub fn is_incomplete(&self) -> bool {
        matches!(self.trace.end, End::Failed(_)) || self.properties.iter().any(|p| p.failure.is_some())
    }
}
