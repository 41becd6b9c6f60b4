//! A monitor with callbacks, checkpoints and an inspection interface.
//!
//! An [`InteractiveMonitor`] is an automaton with its state and registered callbacks. It implements all
//! operations of the monitor interface of Verde [Jakse 2017, appendix B]; each method names its operation. Two
//! operations have no method: functions are compiled into the property (`set_globals`), and callbacks return a
//! [`Request`] (`debugger_shell`, `stop_execution`).
//!
//! ```
//! use invigil_monitor::automaton::{Automaton, BranchEffect, AutomatonDef, State, Transition};
//! use invigil_monitor::event::{EventCatalog, Event, EventKind};
//! use invigil_monitor::verdict::Verdict;
//! use invigil_monitor::interactive::{Request, InteractiveMonitor};
//! use std::sync::Arc;
//!
//! let mut catalog = EventCatalog::default();
//! let crash = catalog.declare("crash", EventKind::Before);
//! let state = |name: &str, verdict| State {
//!     name: name.into(), verdict, is_final: false, action: None, at_end: Default::default(),
//!     span: Default::default(),
//! };
//! let automaton = Automaton::new(AutomatonDef {
//!     states: vec![state("init", Verdict::Accepting), state("sink", Verdict::NonAccepting)],
//!     transitions: vec![Transition {
//!         from: 0, event: crash, guard: None, success: Some(BranchEffect { target: Some(1), ..BranchEffect::default() }),
//!         failure: None, reads: vec![], condition: None, span: Default::default(),
//!     }],
//!     ..AutomatonDef::default()
//! });
//!
//! let mut monitor = InteractiveMonitor::new(Arc::new(automaton));
//! monitor.on_event_applied(|_, verdict| match verdict {
//!     Verdict::NonAccepting => Request::Suspend,
//!     _ => Request::Continue,
//! });
//! let before = monitor.checkpoint();
//! let applied = monitor.apply(&Event { id: crash, params: &[], text: "" });
//! assert_eq!((applied.verdict, applied.request), (Some(Verdict::NonAccepting), Request::Suspend));
//! assert_eq!(monitor.to_string(), "  Slice 1: sink (from init) non-accepting\n");
//! monitor.restore(before).unwrap();
//! assert_eq!(monitor.current_states().collect::<Vec<_>>(), ["init"]);
//! ```

mod callback;
mod console;
mod control;
mod edit;
mod error;
mod registration;

pub use callback::{CallbackContext, CallbackId, Change, Request};
pub use control::CheckpointId;
pub use edit::UserValue;
pub use error::MonitorError;

use crate::automaton::{Automaton, StateId};
use crate::event::{Event, EventSet};
use crate::slices::{SliceId, SliceTable};
use crate::step::{Monitor, Scratch};
use crate::verdict::{MonitorFault, Verdict};
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use callback::{CallbackObserver, Callbacks, ChangeLog};
use invigil_expr::value::Value;

/// Result of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ApplyResult {
    /// The worst verdict of the affected slices. `None` if the event was not delivered: the monitor is
    /// suspended, no slice has a transition on it, or a parameter is missing.
    pub verdict: Option<Verdict>,
    /// Whether a slice took a transition.
    pub handled: bool,
    /// Index of a missing parameter that the property needs; the event was skipped.
    pub missing: Option<usize>,
    /// Index of a missing parameter that a guard reads; the guard evaluated to false.
    pub missing_in_guard: Option<usize>,
    /// The request of the callbacks.
    pub request: Request,
}

/// State of a property, and the changes on the last event.
#[derive(Clone, Debug)]
struct MonitorState {
    slices: SliceTable,
    log: ChangeLog,
}

/// Version of the needed events: if it is unchanged, so is [`InteractiveMonitor::needed_events`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NeededEventsVersion {
    version: u32,
    /// Whether the monitor is neither suspended nor ended by a fault.
    is_active: bool,
    has_unhandled: bool,
}

/// A property with its state and callbacks; see the module.
pub struct InteractiveMonitor {
    automaton: Arc<Automaton>,
    state: MonitorState,
    scratch: Scratch,
    callbacks: Callbacks,
    checkpoints: BTreeMap<CheckpointId, MonitorState>,
    /// The number of the next checkpoint.
    next_checkpoint: u32,
    printed: Vec<String>,
    commands: Vec<String>,
    is_quiet: bool,
    is_stepping: bool,
    is_suspended: bool,
}

impl InteractiveMonitor {
    /// Starts a property.
    pub fn new(automaton: Arc<Automaton>) -> InteractiveMonitor {
        let mut observer = CallbackObserver::new(None, false, ChangeLog::default());
        let mut scratch = Scratch::default();
        let slices = automaton.start(&mut scratch, &mut observer);
        let (printed, commands) = (observer.printed, observer.commands);
        InteractiveMonitor {
            automaton,
            state: MonitorState { slices, log: ChangeLog::default() },
            scratch,
            callbacks: Callbacks::default(),
            checkpoints: BTreeMap::new(),
            next_checkpoint: 1,
            printed,
            commands,
            is_quiet: false,
            is_stepping: false,
            is_suspended: false,
        }
    }

    /// Steps on an event and calls the registered callbacks.
    ///
    /// An event on which no slice has a transition is not delivered: a live program would not report it.
    pub fn apply(&mut self, event: &Event<'_>) -> ApplyResult {
        self.printed.clear();
        self.commands.clear();
        self.state.log.clear_changes();
        let mut applied = ApplyResult {
            verdict: None,
            handled: false,
            missing: None,
            missing_in_guard: None,
            request: Request::Continue,
        };
        if self.is_suspended || self.fault().is_some() {
            return applied;
        }
        let automaton = Arc::clone(&self.automaton);
        let InteractiveMonitor { state, scratch, callbacks, .. } = self;
        let observer_callbacks = Some((&*automaton, event, &mut *callbacks));
        let delivered = automaton.needs_event(&state.slices, event.id);
        let mut observer =
            CallbackObserver::new(observer_callbacks, self.is_quiet, core::mem::take(&mut state.log));
        if delivered {
            observer.log.previous_states.clear();
            applied.verdict = automaton.step(&mut state.slices, scratch, event, &mut observer);
        }
        let CallbackObserver {
            printed,
            commands,
            request,
            taken,
            changed,
            unhandled,
            missing,
            missing_in_guard,
            log,
            ..
        } = observer;
        applied.missing_in_guard = missing_in_guard;
        state.log = log;
        (self.printed, self.commands) = (printed, commands);
        (applied.request, applied.handled, applied.missing) = (request, taken, missing);
        if missing.is_some() && !taken {
            applied.verdict = None;
        }
        let context = CallbackContext { automaton: &automaton, slices: &state.slices, event };
        let is_event_of_property = || automaton.events().any(|event_id| event_id == event.id);
        if callbacks.has_unhandled() && !taken && !unhandled && missing.is_none() && is_event_of_property() {
            applied.request = applied.request.max(callbacks.unhandled(&context, None));
        }
        if changed {
            applied.request = applied.request.max(callbacks.state_changed(&context));
        }
        if let Some(verdict) = applied.verdict {
            applied.request = applied.request.max(callbacks.event_applied(&context, verdict));
            if self.is_stepping {
                applied.request = applied.request.max(Request::Suspend);
            }
        }
        self.is_suspended = applied.request == Request::Stop;
        applied
    }

    /// The events that the property needs now; none while it is suspended.
    ///
    /// With a callback for [unhandled events](InteractiveMonitor::set_unhandled), all events of the property
    /// are needed.
    pub fn needed_events(&self) -> EventSet {
        let mut needs = EventSet::default();
        self.add_needed_events(&mut needs);
        needs
    }

    /// Adds the needed events to a set.
    pub fn add_needed_events(&self, needs: &mut EventSet) {
        if self.is_suspended || self.fault().is_some() {
            return;
        }
        self.slices().add_needed_events(needs);
        if self.callbacks.has_unhandled() {
            self.automaton.events().for_each(|event_id| needs.insert(event_id));
        }
    }

    /// The version of the [needed events](InteractiveMonitor::needed_events). Restoring a checkpoint does not
    /// count as an event.
    pub fn needs_version(&self) -> NeededEventsVersion {
        NeededEventsVersion {
            version: self.slices().needs_version(),
            is_active: !self.is_suspended && self.fault().is_none(),
            has_unhandled: self.callbacks.has_unhandled(),
        }
    }

    /// Whether single events are observed: by a callback, or by a user who steps.
    pub fn is_observed(&self) -> bool {
        self.is_stepping || self.is_suspended || !self.callbacks.is_empty()
    }

    /// Replaces the state, for instance by that of an embedded monitor.
    pub fn replace_slices(&mut self, slices: SliceTable) {
        self.state = MonitorState { slices, log: ChangeLog::default() };
    }

    /// The changes of slices on the last event, in order.
    pub fn changes(&self) -> &[Change] {
        &self.state.log.changes
    }

    /// The binding of a slice that was [dropped](Change::Dropped) on the last event; `binding` is the index in that
    /// change. Long strings in it are no longer readable.
    pub fn forgotten(&self, binding: usize) -> &[Value] {
        let keys = self.automaton.slice_on.len();
        self.state.log.dropped_bindings.get(binding..binding + keys).unwrap_or(&[])
    }

    /// The property.
    pub fn automaton(&self) -> &Arc<Automaton> {
        &self.automaton
    }

    /// The names of all states (`get_states`).
    pub fn states(&self) -> impl Iterator<Item = &str> {
        self.automaton.states.iter().map(|state| state.name.as_str())
    }

    /// The names of the states with at least one slice, in the order of definition (`get_current_states`).
    pub fn current_states(&self) -> impl Iterator<Item = &str> {
        current_states(&self.automaton, self.slices()).map(|state| self.automaton.state_name(state))
    }

    /// The slices, with their states, bindings and environments (`get_slices`).
    pub fn slices(&self) -> &SliceTable {
        &self.state.slices
    }

    /// All slices with their values for the slice parameters; unset if not bound (`get_slice_bindings`).
    pub fn slice_bindings(&self) -> impl Iterator<Item = (SliceId, &[Value])> {
        self.slices().iter().map(|slice| (slice, self.slices().binding(slice)))
    }

    /// The variables of a slice that have a value (`get_env`).
    ///
    /// # Errors
    /// If there is no such slice.
    pub fn env(&self, slice: SliceId) -> Result<impl Iterator<Item = (&str, Value)>, MonitorError> {
        self.check_slice(slice)?;
        let values = self.env_keys().iter().zip(self.slices().env(slice));
        Ok(values.filter(|(_, value)| !value.is_unset()).map(|(name, value)| (name.as_str(), *value)))
    }

    /// The names of the variables, equal in all slices (`get_env_keys`).
    pub fn env_keys(&self) -> &[String] {
        &self.automaton.env
    }

    /// The value of a variable (`get_env_value`); [`SliceTable::show`] converts it to text.
    ///
    /// # Errors
    /// If there is no such slice or variable, or it has no value.
    pub fn env_value(&self, slice: SliceId, key: &str) -> Result<Value, MonitorError> {
        self.check_slice(slice)?;
        let value = self.slices().env(slice)[self.variable(key)?];
        if value.is_unset() { Err(MonitorError::NoValue(key.into())) } else { Ok(value) }
    }

    /// The fault that ended the property, if one did.
    pub fn fault(&self) -> Option<&MonitorFault> {
        self.slices().fault()
    }

    /// The lines that blocks printed on the last event or at the start.
    pub fn printed(&self) -> &[String] {
        &self.printed
    }

    /// The commands that blocks passed to `debugger(command)` on the last event or at the start.
    pub fn commands(&self) -> &[String] {
        &self.commands
    }

    fn check_slice(&self, slice: SliceId) -> Result<(), MonitorError> {
        if self.slices().contains(slice) { Ok(()) } else { Err(MonitorError::NoSlice(slice)) }
    }

    fn variable(&self, key: &str) -> Result<usize, MonitorError> {
        let keys = self.env_keys();
        keys.iter().position(|known| known == key).ok_or_else(|| MonitorError::no_variable(key, keys))
    }
}

/// The states with at least one slice.
fn current_states(automaton: &Automaton, slices: &SliceTable) -> impl Iterator<Item = StateId> {
    (0..automaton.states.len() as StateId).filter(|state| slices.count(*state) > 0)
}
