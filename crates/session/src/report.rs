//! What there is to tell of a run: how each property fared, and of each violation how it came about and where
//! the program stood.
//!
//! Findings and outcomes are those of recorded traces, so that a violation reads alike wherever it was found.

use crate::checkpoints::JointCheckpoint;
use crate::events::is_violation;
use crate::monitored::Monitored;
use crate::session::{Session, State};
use crate::subject::{Ending, Frame, Variable};
use invigil_check::{Binding, Finding, PropertyOutcome, Shown, binding};
use invigil_expr::value::Value;
use invigil_monitor::observer::Taken;
use invigil_monitor::slices::SliceId;
use invigil_monitor::watch::Change;

/// A violation, and where the program stood.
#[derive(Clone, Debug, PartialEq)]
pub struct Violation {
    /// Which property, which slice, and how it came about. Events have the line of their number as place.
    pub finding: Finding,
    /// The thread in which it happened.
    pub thread: u32,
    /// The stack of that thread, innermost first.
    pub stack: Vec<ReportedFrame>,
    /// Whether a restore has undone it since.
    pub undone: bool,
}

/// A frame of the stack, with its variables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportedFrame {
    /// The frame, with its arguments.
    pub frame: Frame,
    /// Its local variables, as far as they can be told.
    pub locals: Vec<Variable>,
}

/// What there is to tell of a run.
#[derive(Debug)]
pub struct Report {
    /// Per property, in the order they were watched. Steps and violations that a restore has undone count.
    pub properties: Vec<PropertyOutcome>,
    /// The first violations, in the order in which they happened.
    pub violations: Vec<Violation>,
    /// How many events there were.
    pub events: u64,
    /// The checkpoints that there are.
    pub checkpoints: Vec<JointCheckpoint>,
    /// How the program ended; `None` if it is still there, or was ended by us.
    pub ending: Option<Ending>,
    /// Whether the program is no more.
    pub is_over: bool,
}

/// The values of the parameters of a slice that took a transition; `next` is what happened after that.
fn bound(monitored: &Monitored, taken: Taken, next: Option<&Change>) -> Vec<Binding> {
    let watch = &monitored.watch;
    let (automaton, slices) = (watch.automaton(), watch.slices());
    let Some(Change::Forgotten { slice, binding: at }) = next else {
        return binding(automaton, slices, taken.slice);
    };
    if *slice != taken.slice {
        return binding(automaton, slices, taken.slice);
    }
    let values = automaton.slice_on.iter().zip(watch.forgotten(*at));
    let shown = |value: Value| match value.is_inline() {
        true => Shown::new(&slices.values_view(), value),
        false => Shown::unknown(),
    };
    values
        .map(|(name, value)| Binding {
            name: name.clone(),
            value: (!value.is_unset()).then(|| shown(*value)),
        })
        .collect()
}

impl Session {
    /// What there is to tell of the run so far.
    pub fn report(&mut self) -> Report {
        Report {
            properties: (0..self.monitors.len()).map(|property| self.property_outcome(property)).collect(),
            violations: self.violations.clone(),
            events: self.history.count(),
            checkpoints: self.checkpoints(),
            ending: self.ending().cloned(),
            is_over: matches!(self.state, State::Ended(_)),
        }
    }

    fn property_outcome(&self, property: usize) -> PropertyOutcome {
        let monitored = &self.monitors[property];
        let (automaton, slices) = (monitored.watch.automaton(), monitored.watch.slices());
        let mut outcome = PropertyOutcome {
            name: automaton.name.clone(),
            steps: monitored.steps,
            slices: monitored.created,
            violations: monitored.violations,
            failure: monitored.failure.clone(),
            missing: monitored.missing.clone(),
            silent: monitored.silent.clone(),
            commands: monitored.commands,
            ..PropertyOutcome::default()
        };
        let ended = matches!(self.ending(), Some(Ending::Exited(_) | Ending::Killed { .. }));
        let complete = ended && !self.blind;
        outcome.settle(automaton, slices, complete);
        outcome
    }

    /// Notes the violations of a run that has come to its end.
    pub(crate) fn note_end(&mut self) {
        for property in 0..self.monitors.len() {
            let watch = &self.monitors[property].watch;
            let (automaton, slices) = (watch.automaton(), watch.slices());
            let (violated, forgotten): (Vec<SliceId>, u64) = match watch.failure() {
                None => (automaton.violated_at_end(slices).collect(), automaton.forgotten_at_end(slices)),
                Some(_) => (Vec::new(), 0),
            };
            self.monitors[property].violations += violated.len() as u64 + forgotten;
            for slice in violated {
                if self.violations.len() == self.options.violations {
                    break;
                }
                let watch = &self.monitors[property].watch;
                let (automaton, slices) = (watch.automaton(), watch.slices());
                let state = automaton.state_name(slices.state(slice)).to_owned();
                let (path, untold) = self.path(property, slice);
                let finding = Finding {
                    property,
                    slice: binding(automaton, slices, slice),
                    event: None,
                    at_end: true,
                    why: None,
                    from: state.clone(),
                    to: state,
                    path,
                    untold,
                };
                // There is no stack any more.
                let thread = self.subject.current_thread();
                self.violations.push(Violation { finding, thread, stack: Vec::new(), undone: false });
            }
        }
    }

    /// Notes the violations of the event at hand.
    #[cold]
    pub(crate) fn note_violations(&mut self, number: u64) {
        for property in 0..self.monitors.len() {
            let monitored = &mut self.monitors[property];
            let changes = monitored.watch.changes();
            let fresh: Vec<(Taken, Vec<Binding>)> = changes
                .iter()
                .enumerate()
                .filter_map(|(at, change)| match change {
                    Change::Taken(taken) if is_violation(monitored, *taken) => {
                        Some((*taken, bound(monitored, *taken, changes.get(at + 1))))
                    }
                    _ => None,
                })
                .collect();
            monitored.violations += fresh.len() as u64;
            for (taken, slice) in fresh {
                if self.violations.len() < self.options.violations {
                    let finding = self.finding(property, number, taken, slice);
                    self.tell(finding);
                }
            }
        }
    }

    /// Notes that a property is violated before anything has happened.
    #[cold]
    pub(crate) fn violated_at_start(&mut self, property: usize, root: SliceId) {
        self.monitors[property].violations += 1;
        if self.violations.len() >= self.options.violations {
            return;
        }
        let watch = &self.monitors[property].watch;
        let origin = self.origins[property].clone();
        let finding = Finding {
            property,
            slice: binding(watch.automaton(), watch.slices(), root),
            event: None,
            at_end: false,
            why: None,
            from: origin.state.clone(),
            to: origin.state.clone(),
            path: vec![origin],
            untold: Some(0),
        };
        self.tell(finding);
    }

    fn finding(&self, property: usize, number: u64, taken: Taken, slice: Vec<Binding>) -> Finding {
        let automaton = self.monitors[property].watch.automaton();
        let (path, untold) = self.path(property, taken.slice);
        Finding {
            property,
            slice,
            event: self.events(number..=number).pop().map(|past| past.event),
            at_end: false,
            why: automaton.transitions.get(taken.transition).and_then(|taken| taken.condition.clone()),
            from: automaton.state_name(taken.from).to_owned(),
            to: automaton.state_name(taken.to).to_owned(),
            path,
            untold,
        }
    }

    fn tell(&mut self, finding: Finding) {
        let (thread, stack) = (self.subject.current_thread(), self.stack());
        self.violations.push(Violation { finding, thread, stack, undone: false });
    }

    /// The stack of the thread that stopped, with arguments and local variables. What cannot be told is left
    /// out.
    pub fn stack(&mut self) -> Vec<ReportedFrame> {
        let selected = self.subject.selected_frame();
        let mut stack = Vec::new();
        for (depth, frame) in
            self.subject.frames(self.options.frames).unwrap_or_default().into_iter().enumerate()
        {
            let locals = match self.subject.select_frame(depth) {
                Ok(()) => self.subject.locals().unwrap_or_default(),
                Err(_) => Vec::new(),
            };
            stack.push(ReportedFrame { frame, locals });
        }
        // The frame was selected before, so it can be again.
        let _ = self.subject.select_frame(selected);
        stack
    }
}
