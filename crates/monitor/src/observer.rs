//! Notifications from inside a monitor.

use crate::automaton::{Branch, StateId};
use crate::slices::{SliceId, SliceTable};
use alloc::string::String;

/// A transition that a slice took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TransitionTaken {
    /// The slice.
    pub slice: SliceId,
    /// The transition, by index in [`AutomatonDef::transitions`](crate::automaton::AutomatonDef::transitions).
    pub transition: usize,
    /// The branch.
    pub branch: Branch,
    /// The source state.
    pub from: StateId,
    /// The target state; equal to `from` for a self-loop.
    pub to: StateId,
}

/// Receives notifications from a monitor while it processes an event.
///
/// All methods have empty defaults, and monitors are compiled for each observer: unused notifications cost
/// nothing.
pub trait Observer {
    /// Whether [`print`](Observer::print) has an effect.
    fn wants_output(&self) -> bool {
        false
    }

    /// A block printed a line.
    fn print(&mut self, line: &str) {
        let _ = line;
    }

    /// A block called `debugger(command)`.
    fn command(&mut self, command: String) {
        let _ = command;
    }

    /// A slice was created.
    fn slice_created(&mut self, slices: &SliceTable, slice: SliceId) {
        let _ = (slices, slice);
    }

    /// A slice took a transition; `slices` is the state after it.
    fn transition_taken(&mut self, slices: &SliceTable, taken: TransitionTaken) {
        let _ = (slices, taken);
    }

    /// A slice entered a final state and is about to be dropped.
    fn slice_dropped(&mut self, slices: &SliceTable, slice: SliceId) {
        let _ = (slices, slice);
    }

    /// An event reached a slice that took no transition.
    fn event_unhandled(&mut self, slices: &SliceTable, slice: SliceId) {
        let _ = (slices, slice);
    }

    /// The event lacks the parameter at this index, which a guard reads; the guard evaluated to false.
    fn guard_parameter_missing(&mut self, parameter: usize) {
        let _ = parameter;
    }

    /// The event lacks the parameter at this index, which the property needs; the event was skipped.
    fn event_skipped(&mut self, parameter: usize) {
        let _ = parameter;
    }
}

/// An observer that ignores all notifications.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoopObserver;

impl Observer for NoopObserver {}
