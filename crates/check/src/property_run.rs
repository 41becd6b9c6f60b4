//! Steps one property through the trace, counts, and collects violations.

use crate::driver::CheckListener;
use crate::history::History;
use crate::result::{PropertyResult, SkippedEvents};
use crate::violation::{self, Binding, PathStep, ReportedEvent, Variable, Violation};
use invigil_monitor::automaton::Automaton;
use invigil_monitor::event::{Event, EventCatalog};
use invigil_monitor::observer::{Observer, TransitionTaken};
use invigil_monitor::slices::{SliceId, SliceTable};
use invigil_monitor::verdict::Verdict;
use invigil_monitor::{Monitor, Scratch};
use invigil_trace::{EventBlock, TracePosition};
use std::ops::{ControlFlow, Range};

/// A violation as the observer sees it: the data that cannot be looked up after the step.
struct ObservedViolation {
    binding: Vec<Binding>,
    env: Vec<Variable>,
    taken: TransitionTaken,
}

/// The observer of one property. It is called for every transition, so its hot path only counts.
struct ViolationObserver<'a, L> {
    automaton: &'a Automaton,
    listener: &'a mut L,
    property: usize,
    steps: u64,
    created: u64,
    violations: u64,
    commands: u64,
    unhandled: u64,
    /// Violations at the current event.
    fresh: Vec<ObservedViolation>,
    missing_parameter: Option<usize>,
    /// Number of violations that may still be reported.
    limit: usize,
    /// The recent steps of all slices, if the trace cannot be read again.
    history: Option<&'a mut History>,
}

impl<L: CheckListener> Observer for ViolationObserver<'_, L> {
    #[inline(always)]
    fn wants_output(&self) -> bool {
        self.listener.prints()
    }

    fn print(&mut self, line: &str) {
        self.listener.print(self.property, line);
    }

    fn command(&mut self, command: String) {
        self.commands += 1;
        self.listener.command(self.property, &command);
    }

    fn slice_created(&mut self, slices: &SliceTable, slice: SliceId) {
        if slices.root() != Some(slice) || self.automaton.slice_on.is_empty() {
            self.created += 1;
        }
        if let Some(history) = &mut self.history {
            history.created(slices, slice);
        }
    }

    #[inline(always)]
    fn transition_taken(&mut self, slices: &SliceTable, taken: TransitionTaken) {
        self.steps += 1;
        if let Some(history) = &mut self.history {
            history.taken(slices, taken);
        }
        if self.automaton.is_violation(taken.from, taken.to) {
            self.violated(slices, taken);
        }
    }

    #[inline(always)]
    fn event_unhandled(&mut self, _: &SliceTable, _: SliceId) {
        self.unhandled += 1;
    }

    fn event_skipped(&mut self, parameter: usize) {
        self.missing_parameter = Some(parameter);
    }
}

impl<L: CheckListener> ViolationObserver<'_, L> {
    #[cold]
    fn violated(&mut self, slices: &SliceTable, taken: TransitionTaken) {
        self.violations += 1;
        if self.fresh.len() < self.limit {
            self.fresh.push(ObservedViolation {
                binding: violation::binding(self.automaton, slices, taken.slice),
                env: violation::env(self.automaton, slices, taken.slice),
                taken,
            });
        }
    }
}

/// One property and the state of its check.
pub(crate) struct PropertyRun<'a> {
    property: usize,
    automaton: &'a Automaton,
    catalog: &'a EventCatalog,
    pub(crate) slices: SliceTable,
    scratch: Scratch,
    history: Option<History>,
    outcome: PropertyResult,
}

impl<'a> PropertyRun<'a> {
    /// Starts a property. `keeps_history` is set for traces that cannot be read a second time.
    pub(crate) fn start<L: CheckListener>(
        property: usize,
        automaton: &'a Automaton,
        catalog: &'a EventCatalog,
        keeps_history: bool,
        listener: &mut L,
        violations: &mut Vec<Violation>,
    ) -> PropertyRun<'a> {
        let mut scratch = Scratch::default();
        let mut history = keeps_history.then(|| History::new(automaton));
        let mut observer = ViolationObserver::new(property, automaton, listener, 0, history.as_mut());
        let slices = automaton.start(&mut scratch, &mut observer);
        let (created, commands) = (observer.created, observer.commands);
        let mut run = PropertyRun {
            property,
            automaton,
            catalog,
            slices,
            scratch,
            history,
            outcome: PropertyResult {
                name: automaton.name.clone(),
                slices: created,
                commands,
                ..PropertyResult::default()
            },
        };
        run.check_start(violations);
        run
    }

    /// Reports a violation if the initial state is non-accepting.
    fn check_start(&mut self, violations: &mut Vec<Violation>) {
        let initial = &self.automaton.states[usize::from(self.automaton.initial)];
        let Some(root) = self.slices.root() else { return };
        if initial.verdict == Verdict::NonAccepting && self.slices.fault().is_none() {
            self.outcome.violations += 1;
            violations.push(Violation {
                property: self.property,
                slice: violation::binding(self.automaton, &self.slices, root),
                event: None,
                at_end: false,
                reason: None,
                from: initial.name.clone(),
                to: initial.name.clone(),
                path: vec![PathStep {
                    event: None,
                    branch: None,
                    state: initial.name.clone(),
                    verdict: initial.verdict,
                    env: violation::env(self.automaton, &self.slices, root),
                }],
                omitted: Some(0),
            });
        }
    }

    /// Steps through some events of a block and returns the position after the last one. It stops after an event with
    /// violations to report, so that the caller can decide whether to continue. `before` is the number of events
    /// before the block.
    pub(crate) fn follow<L: CheckListener>(
        &mut self,
        block: &EventBlock,
        range: Range<usize>,
        before: u64,
        limit: usize,
        listener: &mut L,
        violations: &mut Vec<Violation>,
    ) -> usize {
        let (automaton, catalog, property) = (self.automaton, self.catalog, self.property);
        let batch = &block.batch;
        let outcome = &mut self.outcome;
        let mut observer =
            ViolationObserver::new(property, automaton, listener, limit, self.history.as_mut());
        let at = automaton.run(
            &mut self.slices,
            &mut self.scratch,
            batch,
            range,
            &mut observer,
            |observer, slices, at, verdict| {
                if observer.is_quiet() && verdict != Some(Verdict::Error) {
                    return ControlFlow::Continue(());
                }
                let (event, index) = (batch.event(at), before + block.record_number(at));
                let (time, position) = (batch.meta(at).time, block.position(at));
                if let Some(history) = &mut observer.history {
                    history.settle(&event, index, time, position);
                    if observer.fresh.is_empty()
                        && observer.missing_parameter.is_none()
                        && verdict != Some(Verdict::Error)
                    {
                        return ControlFlow::Continue(());
                    }
                }
                let reported_event = violation::reported_event(catalog, &event, index, time, position);
                if let Some(parameter) = observer.missing_parameter.take() {
                    outcome.count_skipped_event(catalog, &event, parameter, position);
                }
                if let Some(failure) = slices.fault() {
                    outcome.failure = Some((failure.clone(), Some(reported_event)));
                    return ControlFlow::Break(());
                }
                let observed = std::mem::take(&mut observer.fresh);
                for violation in &observed {
                    let (path, omitted) = match &observer.history {
                        Some(history) => history.path(automaton, catalog, slices, violation.taken.slice),
                        None => (Vec::new(), None),
                    };
                    violations.push(report(property, automaton, violation, &reported_event, path, omitted));
                }
                if observed.is_empty() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            },
        );
        outcome.commands += observer.commands;
        outcome.steps += observer.steps;
        outcome.slices += observer.created;
        outcome.violations += observer.violations;
        outcome.unhandled += observer.unhandled;
        at
    }

    /// Number of violations.
    pub(crate) fn violation_count(&self) -> u64 {
        self.outcome.violations
    }

    /// Whether a fault has ended the monitor.
    pub(crate) fn failed(&self) -> bool {
        self.slices.fault().is_some()
    }

    /// Ends a complete trace, which may violate the property. At most `limit` violations are reported.
    pub(crate) fn end(&mut self, limit: usize, violations: &mut Vec<Violation>) {
        if self.failed() {
            return;
        }
        let (automaton, slices) = (self.automaton, &self.slices);
        let mut reported = 0;
        for slice in automaton.violated_at_end(slices) {
            self.outcome.violations += 1;
            if reported == limit {
                continue;
            }
            reported += 1;
            let (path, omitted) = match &self.history {
                Some(history) => history.path(automaton, self.catalog, slices, slice),
                None => (Vec::new(), None),
            };
            let state = automaton.state_name(slices.state(slice));
            violations.push(Violation {
                property: self.property,
                slice: violation::binding(automaton, slices, slice),
                event: None,
                at_end: true,
                reason: None,
                from: state.to_owned(),
                to: state.to_owned(),
                path,
                omitted,
            });
        }
    }

    /// The result of the property. `complete` is whether the trace was read to its end.
    pub(crate) fn finish(mut self, complete: bool) -> PropertyResult {
        if let (Some(failure), None) = (self.slices.fault(), &self.outcome.failure) {
            self.outcome.failure = Some((failure.clone(), None));
        }
        self.outcome.settle(self.automaton, &self.slices, complete);
        self.outcome
    }
}

impl<'a, L: CheckListener> ViolationObserver<'a, L> {
    fn new(
        property: usize,
        automaton: &'a Automaton,
        listener: &'a mut L,
        limit: usize,
        history: Option<&'a mut History>,
    ) -> ViolationObserver<'a, L> {
        ViolationObserver {
            automaton,
            listener,
            property,
            steps: 0,
            created: 0,
            violations: 0,
            commands: 0,
            unhandled: 0,
            fresh: Vec::new(),
            missing_parameter: None,
            limit,
            history,
        }
    }

    #[inline(always)]
    fn is_quiet(&self) -> bool {
        self.fresh.is_empty() && self.missing_parameter.is_none() && self.history.is_none()
    }
}

impl PropertyResult {
    #[cold]
    fn count_skipped_event(
        &mut self,
        catalog: &EventCatalog,
        event: &Event<'_>,
        parameter: usize,
        position: TracePosition,
    ) {
        let Some(decl) = catalog.get(event.id) else { return };
        let Some(source) = decl.params.get(parameter) else { return };
        let (event, param) = (decl.to_string(), source.name.clone());
        match self.skipped.iter_mut().find(|skipped| skipped.event == event && skipped.param == param) {
            Some(skipped) => skipped.count += 1,
            None => self.skipped.push(SkippedEvents {
                event,
                param,
                fields: source.fields(),
                count: 1,
                first: position,
            }),
        }
    }
}

fn report(
    property: usize,
    automaton: &Automaton,
    violation: &ObservedViolation,
    event: &ReportedEvent,
    mut path: Vec<PathStep>,
    omitted: Option<u64>,
) -> Violation {
    let ObservedViolation { binding, env, taken } = violation;
    let last = PathStep {
        event: Some(event.clone()),
        branch: Some(taken.branch),
        state: automaton.state_name(taken.to).into(),
        verdict: Verdict::NonAccepting,
        env: env.clone(),
    };
    // The last step of the history is this one, without values in the event's text.
    path.pop();
    path.push(last);
    Violation {
        property,
        slice: binding.clone(),
        event: Some(event.clone()),
        at_end: false,
        reason: automaton.transitions.get(taken.transition).and_then(|taken| taken.condition.clone()),
        from: automaton.state_name(taken.from).into(),
        to: automaton.state_name(taken.to).into(),
        path,
        omitted,
    }
}
