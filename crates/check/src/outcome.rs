//! What came of checking a trace.

use crate::finding::{Finding, Happening};
use crate::silent::Silent;
use invigil_monitor::automaton::{AtEnd, Automaton};
use invigil_monitor::slices::Slices;
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
    /// Whether the property holds as things stand at the end, where that is not decided.
    pub presumably: Option<bool>,
    /// Events that were skipped.
    pub missing: Vec<Missing>,
    /// What the run never told, and so counts as false.
    pub silent: Vec<Silent>,
    /// How many events were looked at, and led to no transition.
    pub looked_at: u64,
    /// Whether it is a sliced formula without an instance, so that there is nothing to say of it.
    pub is_unseen: bool,
    /// The events that a formula names, and that are not in the run though others are.
    pub absent: Vec<String>,
    /// Commands for a debugger that its blocks gave; there is none to take them.
    pub commands: u64,
}

impl PropertyOutcome {
    /// Says where the slices are at the end. If the run is complete, its end may decide.
    pub fn settle(&mut self, automaton: &Automaton, slices: &Slices, complete: bool) {
        // Of a sliced property the root is not one of the slices that are told.
        let root = slices.root().filter(|_| !automaton.slice_on.is_empty()).map(|root| slices.state(root));
        self.live = slices.len() as u64 - u64::from(root.is_some());
        for (at, state) in (0..).zip(&automaton.states) {
            let count = u64::from(slices.count(at)) + slices.resting(at) - u64::from(root == Some(at));
            if count == 0 {
                continue;
            }
            let verdict = match state.at_end {
                AtEnd::Decided(true) if complete => Verdict::Accepting,
                AtEnd::Decided(false) if complete => Verdict::NonAccepting,
                _ => state.verdict,
            };
            if let AtEnd::Presumably(holds) = state.at_end {
                self.presumably = Some(holds && self.presumably.unwrap_or(true));
            }
            self.states.push((state.name.clone(), verdict, count));
        }
        if let (true, Some(root), true) = (automaton.formula.is_some(), root, self.states.is_empty()) {
            let root = &automaton.states[usize::from(root)];
            // An instance that still is as it began need not be among the slices.
            let may_be_there = self.missing.is_empty();
            let holds = root.verdict == Verdict::Accepting
                || root.at_end == AtEnd::Decided(true) && complete && may_be_there;
            self.is_unseen = !holds;
            if root.at_end == AtEnd::Presumably(true) && may_be_there {
                self.presumably = Some(true);
            }
        }
        // A slice that is decided says nothing of the others; nor do they of a violation.
        self.presumably = self.presumably.filter(|_| self.verdict() == Verdict::Undecided);
    }

    /// The verdict on the whole trace: the worst that there was.
    pub fn verdict(&self) -> Verdict {
        if self.failure.is_some() {
            Verdict::Error
        } else if self.violations > 0 {
            Verdict::NonAccepting
        } else {
            let nothing = if self.is_unseen { Verdict::Undecided } else { Verdict::Accepting };
            self.states.iter().map(|(_, verdict, _)| *verdict).max().unwrap_or(nothing)
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
