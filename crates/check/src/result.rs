//! The result of a check.

use crate::supplied::NeverSupplied;
use crate::violation::{ReportedEvent, Violation};
use invigil_monitor::automaton::{Automaton, EndVerdict};
use invigil_monitor::slices::SliceTable;
use invigil_monitor::verdict::{MonitorFault, Verdict};
use invigil_trace::{LineError, ReadEnd, ReadSummary, TracePosition};

/// Events skipped because a parameter that a property reads is missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkippedEvents {
    /// The event.
    pub event: String,
    /// The parameter, by the property's name for it.
    pub param: String,
    /// The trace fields that can supply it, in order of preference.
    pub fields: Vec<String>,
    /// Number of skipped events.
    pub count: u64,
    /// Position of the first one.
    pub first: TracePosition,
}

/// The result of one property.
#[derive(Clone, Debug, Default)]
pub struct PropertyResult {
    /// The property's name.
    pub name: String,
    /// Number of transitions taken, over all slices.
    pub steps: u64,
    /// Number of slices created, without the root of a sliced property.
    pub slices: u64,
    /// Number of slices at the end, without the root of a sliced property.
    pub live: u64,
    /// Number of violations.
    pub violations: u64,
    /// Number of slices per state at the end. States without slices are omitted.
    pub states: Vec<(String, Verdict, u64)>,
    /// The fault that ended the monitor, and its event.
    pub failure: Option<(MonitorFault, Option<ReportedEvent>)>,
    /// For an undecided property: whether it would hold if the trace ended here.
    pub presumably: Option<bool>,
    /// Events that were skipped.
    pub skipped: Vec<SkippedEvents>,
    /// Parameters that no event supplied and that are therefore treated as false.
    pub never_supplied: Vec<NeverSupplied>,
    /// Number of events that were evaluated without a transition.
    pub unhandled: u64,
    /// Whether the property is a sliced formula without slices, so that it has no verdict.
    pub has_no_verdict: bool,
    /// Events that a formula names and that do not occur in the trace, although other events do.
    pub absent: Vec<String>,
    /// Number of calls of `debugger(command)`. A check ignores them.
    pub commands: u64,
}

impl PropertyResult {
    /// Records the states of the slices at the end. If the trace is complete, its end may decide the verdict.
    pub fn settle(&mut self, automaton: &Automaton, slices: &SliceTable, complete: bool) {
        // The root of a sliced property is not counted as a slice.
        let root = slices.root().filter(|_| !automaton.slice_on.is_empty()).map(|root| slices.state(root));
        self.live = slices.len() as u64 - u64::from(root.is_some());
        for (at, state) in (0..).zip(&automaton.states) {
            let count = u64::from(slices.count(at)) + slices.collected(at) - u64::from(root == Some(at));
            if count == 0 {
                continue;
            }
            let verdict = match state.at_end {
                EndVerdict::Decided(true) if complete => Verdict::Accepting,
                EndVerdict::Decided(false) if complete => Verdict::NonAccepting,
                _ => state.verdict,
            };
            if let EndVerdict::Presumably(holds) = state.at_end {
                self.presumably = Some(holds && self.presumably.unwrap_or(true));
            }
            self.states.push((state.name.clone(), verdict, count));
        }
        if let (true, Some(root), true) = (automaton.formula.is_some(), root, self.states.is_empty()) {
            let root = &automaton.states[usize::from(root)];
            // An instance in its initial state need not exist as a slice.
            let all_events_evaluated = self.skipped.is_empty();
            let holds = root.verdict == Verdict::Accepting
                || root.at_end == EndVerdict::Decided(true) && complete && all_events_evaluated;
            self.has_no_verdict = !holds;
            if root.at_end == EndVerdict::Presumably(true) && all_events_evaluated {
                self.presumably = Some(true);
            }
        }
        // A presumption applies to undecided properties only.
        self.presumably = self.presumably.filter(|_| self.verdict() == Verdict::Undecided);
    }

    /// The verdict on the whole trace: the worst of all slices.
    pub fn verdict(&self) -> Verdict {
        if self.failure.is_some() {
            Verdict::Error
        } else if self.violations > 0 {
            Verdict::NonAccepting
        } else {
            let without_slices = if self.has_no_verdict { Verdict::Undecided } else { Verdict::Accepting };
            self.states.iter().map(|(_, verdict, _)| *verdict).max().unwrap_or(without_slices)
        }
    }
}

/// The result of checking a trace against properties.
#[derive(Debug)]
pub struct CheckResult {
    /// The properties, in the order given.
    pub properties: Vec<PropertyResult>,
    /// The first violations, in the order of the trace.
    pub violations: Vec<Violation>,
    /// Statistics of the trace.
    pub trace: ReadSummary,
    /// Where the check stopped, if it stops at the first violation. Then `trace` counts more than was checked,
    /// because it is read in blocks.
    pub stop: Option<StoppedAt>,
    /// Whether a missing parameter is an error.
    pub strict: bool,
    /// The names of the inputs, for positions.
    pub inputs: Vec<String>,
}

/// Malformed lines among the checked ones. For a check that stopped early, those before the stop in the same input,
/// as far as they are stored.
#[derive(Clone, Debug)]
pub struct MalformedLines<'a> {
    /// Number of skipped lines.
    pub skipped: u64,
    /// Number of lines read without a value of the wrong type.
    pub partial: u64,
    /// The first of both.
    pub first: Vec<&'a LineError>,
}

impl MalformedLines<'_> {
    /// Number of both.
    pub fn count(&self) -> u64 {
        self.skipped + self.partial
    }
}

/// Where a check stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoppedAt {
    /// The number of the event, counted from 1.
    pub event: u64,
    /// Its position in the trace.
    pub position: TracePosition,
}

impl CheckResult {
    /// Number of violations, including those not reported in full.
    pub fn violation_count(&self) -> u64 {
        self.properties.iter().map(|property| property.violations).sum()
    }

    /// Whether the result is incomplete: the trace could not be read to its end, a property failed, or, in strict mode,
    /// a parameter was missing.
    pub fn is_incomplete(&self) -> bool {
        matches!(self.trace.end, ReadEnd::Failed(_))
            || self.properties.iter().any(|property| property.failure.is_some())
            || (self.strict && self.skipped_events() > 0)
    }

    /// Number of events that properties skipped because of a missing parameter.
    pub fn skipped_events(&self) -> u64 {
        let skipped = self.properties.iter().flat_map(|property| &property.skipped);
        skipped.map(|skipped| skipped.count).sum()
    }

    /// Number of checked events.
    pub fn events(&self) -> u64 {
        self.stop.map_or(self.trace.events, |stop| stop.event)
    }

    /// The malformed lines among the checked ones.
    pub fn malformed_lines(&self) -> MalformedLines<'_> {
        let line_errors = &self.trace.line_errors;
        let first = line_errors.first().iter();
        let Some(StoppedAt { position, .. }) = self.stop else {
            let partial = line_errors.count() - line_errors.skipped();
            return MalformedLines { skipped: line_errors.skipped(), partial, first: first.collect() };
        };
        let is_before_stop = |error: &&LineError| {
            error.position.input == position.input && error.position.line <= position.line
        };
        let first: Vec<&LineError> = first.filter(is_before_stop).collect();
        let skipped = first.iter().filter(|error| error.skipped).count();
        MalformedLines { skipped: skipped as u64, partial: (first.len() - skipped) as u64, first }
    }
}
