//! What came of checking a trace.

use crate::finding::{Finding, Happening};
use invigil_monitor::verdict::{Failure, Verdict};
use invigil_trace::{End, Place, Problem, Summary};

/// Events that were skipped because they lack a parameter that a property reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    /// The event.
    pub event: String,
    /// The parameter, as the property calls it.
    pub param: String,
    /// The fields of the trace that could give it, the usual one first.
    pub fields: Vec<String>,
    /// How many events lacked it.
    pub count: u64,
    /// The first of them: its line, and the position of its file.
    pub first: Place,
}

/// How one property fared.
#[derive(Clone, Debug, Default)]
pub struct PropertyOutcome {
    /// The property's name.
    pub name: String,
    /// How many transitions were taken, over all slices.
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
    /// Where the check stopped, if it was told to do so at the first violation. Then `trace` counts more than
    /// was checked: it is read in blocks.
    pub stop: Option<Stop>,
    /// Whether an event that lacks a parameter is an error.
    pub strict: bool,
    /// The names of the inputs, for places.
    pub inputs: Vec<String>,
}

/// Lines that could not be read as they stand. Of a check that stopped these are the ones before it in the
/// same input, as far as they are told.
#[derive(Clone, Debug)]
pub struct Mistakes<'a> {
    /// How many lines were skipped.
    pub skipped: u64,
    /// How many lines were read without a value that does not fit.
    pub partial: u64,
    /// The first of both.
    pub told: Vec<&'a Problem>,
}

impl Mistakes<'_> {
    /// How many lines there are.
    pub fn count(&self) -> u64 {
        self.skipped + self.partial
    }
}

/// Where a check stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stop {
    /// The number of the event, counted from one.
    pub event: u64,
    /// Where it was recorded.
    pub place: Place,
}

impl Outcome {
    /// How many violations there were, told or not.
    pub fn violations(&self) -> u64 {
        self.properties.iter().map(|property| property.violations).sum()
    }

    /// Whether something kept the answer from being complete: the trace could not be read to its end, a
    /// property failed, or, in strict mode, an event lacked a parameter.
    pub fn is_incomplete(&self) -> bool {
        matches!(self.trace.end, End::Failed(_))
            || self.properties.iter().any(|property| property.failure.is_some())
            || (self.strict && self.lacking() > 0)
    }

    /// How many events a property skipped because they lack a parameter.
    pub fn lacking(&self) -> u64 {
        let missing = self.properties.iter().flat_map(|property| &property.missing);
        missing.map(|missing| missing.count).sum()
    }

    /// How many events were checked.
    pub fn events(&self) -> u64 {
        self.stop.map_or(self.trace.events, |stop| stop.event)
    }

    /// What was wrong with lines, among those that were checked.
    pub fn mistakes(&self) -> Mistakes<'_> {
        let problems = &self.trace.problems;
        let told = problems.first().iter();
        let Some(Stop { place, .. }) = self.stop else {
            let partial = problems.count() - problems.skipped();
            return Mistakes { skipped: problems.skipped(), partial, told: told.collect() };
        };
        let came_before = |at: &&Problem| at.place.input == place.input && at.place.line <= place.line;
        let told: Vec<&Problem> = told.filter(came_before).collect();
        let skipped = told.iter().filter(|problem| problem.skipped).count();
        Mistakes { skipped: skipped as u64, partial: (told.len() - skipped) as u64, told }
    }
}
