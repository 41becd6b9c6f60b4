//! The report of a run: the result of each property and the details of each violation.
//!
//! Violations and results have the same types as for recorded traces, so that reports of live and recorded runs
//! look alike.

use crate::attached_monitor::AttachedMonitor;
use crate::checkpoint_tree::CheckpointInfo;
use crate::session::{Session, State};
use invigil_check::{Binding, PropertyResult, RenderedValue, Violation, binding};
use invigil_expr::value::Value;
use invigil_monitor::interactive::Change;
use invigil_monitor::observer::TransitionTaken;
use invigil_monitor::slices::SliceId;
use invigil_target::{Frame, Termination, Variable};

/// A violation in a live program, with the call stack at that event.
#[derive(Clone, Debug, PartialEq)]
pub struct LiveViolation {
    /// The property, the slice and the path that led to the violation. `position.line` of an event is the event
    /// number.
    pub violation: Violation,
    /// The thread of the event; at the start or end of a run, the current thread.
    pub thread: u32,
    /// The stack of that thread, innermost frame first.
    pub stack: Vec<ReportedFrame>,
    /// Whether a restore has undone the violation since.
    pub undone: bool,
}

/// A frame of the stack with its variables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportedFrame {
    /// The frame, with its arguments.
    pub frame: Frame,
    /// The local variables that could be read.
    pub locals: Vec<Variable>,
}

/// The result of a session.
#[derive(Debug)]
pub struct SessionReport {
    /// The result of each property, in their order. Steps and violations that a restore has undone are included.
    pub properties: Vec<PropertyResult>,
    /// The first violations, in the order in which they occurred.
    pub violations: Vec<LiveViolation>,
    /// The number of events.
    pub events: u64,
    /// The checkpoints that exist.
    pub checkpoints: Vec<CheckpointInfo>,
    /// How the target ended; `None` if it is running or was killed by the debugger.
    pub termination: Option<Termination>,
    /// Whether the target has ended.
    pub has_ended: bool,
}

/// The binding of a slice that took a transition. `next` is the change after it, which may be that the slice was
/// dropped.
fn slice_binding(attached: &AttachedMonitor, taken: TransitionTaken, next: Option<&Change>) -> Vec<Binding> {
    let monitor = &attached.monitor;
    let (automaton, slices) = (monitor.automaton(), monitor.slices());
    let Some(Change::Dropped { slice, binding: at }) = next else {
        return binding(automaton, slices, taken.slice);
    };
    if *slice != taken.slice {
        return binding(automaton, slices, taken.slice);
    }
    let values = automaton.slice_on.iter().zip(monitor.forgotten(*at));
    let shown = |value: Value| match value.is_inline() {
        true => RenderedValue::new(&slices.values_view(), value),
        false => RenderedValue::unknown(),
    };
    values
        .map(|(name, value)| Binding {
            name: name.clone(),
            value: (!value.is_unset()).then(|| shown(*value)),
        })
        .collect()
}

impl Session {
    /// The report of the run so far.
    pub fn report(&mut self) -> SessionReport {
        SessionReport {
            properties: (0..self.monitors.len()).map(|property| self.property_result(property)).collect(),
            violations: self.violations.clone(),
            events: self.history.count(),
            checkpoints: self.checkpoints(),
            termination: self.termination().cloned(),
            has_ended: matches!(self.state, State::Ended(_)),
        }
    }

    fn property_result(&self, property: usize) -> PropertyResult {
        let attached = &self.monitors[property];
        let (automaton, slices) = (attached.monitor.automaton(), attached.monitor.slices());
        let mut result = PropertyResult {
            name: automaton.name.clone(),
            steps: attached.steps,
            slices: attached.created,
            violations: attached.violations,
            failure: attached.failure.clone(),
            skipped: attached.skipped.clone(),
            never_supplied: attached.never_supplied.clone(),
            commands: attached.commands,
            ..PropertyResult::default()
        };
        let ended = matches!(self.termination(), Some(Termination::Exited(_) | Termination::Killed { .. }));
        let complete = ended && !self.monitors_lost;
        result.settle(automaton, slices, complete);
        result
    }

    /// Adds the violations of properties that are not satisfied at the end of the run.
    pub(crate) fn record_violations_at_end(&mut self) {
        for property in 0..self.monitors.len() {
            let monitor = &self.monitors[property].monitor;
            let (automaton, slices) = (monitor.automaton(), monitor.slices());
            let (violated, forgotten): (Vec<SliceId>, u64) = match monitor.fault() {
                None => {
                    (automaton.violated_at_end(slices).collect(), automaton.collected_violated_at_end(slices))
                }
                Some(_) => (Vec::new(), 0),
            };
            self.monitors[property].violations += violated.len() as u64 + forgotten;
            for slice in violated {
                if self.violations.len() == self.options.max_violations {
                    break;
                }
                let monitor = &self.monitors[property].monitor;
                let (automaton, slices) = (monitor.automaton(), monitor.slices());
                let state = automaton.state_name(slices.state(slice)).to_owned();
                let (path, omitted) = self.path(property, slice);
                let violation = Violation {
                    property,
                    slice: binding(automaton, slices, slice),
                    event: None,
                    at_end: true,
                    reason: None,
                    from: state.clone(),
                    to: state,
                    path,
                    omitted,
                };
                // The target has ended, so there is no stack.
                let thread = self.target.current_thread();
                self.violations.push(LiveViolation { violation, thread, stack: Vec::new(), undone: false });
            }
        }
    }

    /// Adds the violations of the current event.
    #[cold]
    pub(crate) fn record_violations(&mut self, number: u64) {
        for property in 0..self.monitors.len() {
            let attached = &mut self.monitors[property];
            let changes = attached.monitor.changes();
            let new: Vec<(TransitionTaken, Vec<Binding>)> = changes
                .iter()
                .enumerate()
                .filter_map(|(at, change)| match change {
                    Change::Taken(taken)
                        if attached.monitor.automaton().is_violation(taken.from, taken.to) =>
                    {
                        Some((*taken, slice_binding(attached, *taken, changes.get(at + 1))))
                    }
                    _ => None,
                })
                .collect();
            attached.violations += new.len() as u64;
            for (taken, slice) in new {
                if self.violations.len() < self.options.max_violations {
                    let violation = self.violation_of(property, number, taken, slice);
                    self.add_violation(violation);
                }
            }
        }
    }

    /// Adds a violation of a property whose initial state is non-accepting.
    #[cold]
    pub(crate) fn violated_at_start(&mut self, property: usize, root: SliceId) {
        self.monitors[property].violations += 1;
        if self.violations.len() >= self.options.max_violations {
            return;
        }
        let monitor = &self.monitors[property].monitor;
        let initial = self.initial_steps[property].clone();
        let violation = Violation {
            property,
            slice: binding(monitor.automaton(), monitor.slices(), root),
            event: None,
            at_end: false,
            reason: None,
            from: initial.state.clone(),
            to: initial.state.clone(),
            path: vec![initial],
            omitted: Some(0),
        };
        self.add_violation(violation);
    }

    fn violation_of(
        &self,
        property: usize,
        number: u64,
        taken: TransitionTaken,
        slice: Vec<Binding>,
    ) -> Violation {
        let automaton = self.monitors[property].monitor.automaton();
        let (path, omitted) = self.path(property, taken.slice);
        Violation {
            property,
            slice,
            event: self.events(number..=number).pop().map(|past| past.event),
            at_end: false,
            reason: automaton.transitions.get(taken.transition).and_then(|taken| taken.condition.clone()),
            from: automaton.state_name(taken.from).to_owned(),
            to: automaton.state_name(taken.to).to_owned(),
            path,
            omitted,
        }
    }

    fn add_violation(&mut self, violation: Violation) {
        let (thread, stack) = (self.target.current_thread(), self.stack());
        self.violations.push(LiveViolation { violation, thread, stack, undone: false });
    }

    /// The stack of the thread that stopped, with arguments and local variables. Values that cannot be read are left
    /// out.
    pub fn stack(&mut self) -> Vec<ReportedFrame> {
        let selected = self.target.selected_frame();
        let mut stack = Vec::new();
        for (depth, frame) in
            self.target.frames(self.options.max_frames).unwrap_or_default().into_iter().enumerate()
        {
            let locals = match self.target.select_frame(depth) {
                Ok(()) => self.target.locals().unwrap_or_default(),
                Err(_) => Vec::new(),
            };
            stack.push(ReportedFrame { frame, locals });
        }
        // The frame was selected before, so selecting it again cannot fail.
        let _ = self.target.select_frame(selected);
        stack
    }
}
