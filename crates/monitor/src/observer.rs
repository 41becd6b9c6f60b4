//! Who is told what happens inside a monitor.

use crate::automaton::{Branch, StateId};
use crate::slices::{SliceId, Slices};
use alloc::string::String;

/// A transition that a slice took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Taken {
    /// The slice.
    pub slice: SliceId,
    /// The transition, by its position in [`Parts::transitions`](crate::automaton::Parts::transitions).
    pub transition: usize,
    /// Which end of it.
    pub branch: Branch,
    /// The state that was left.
    pub from: StateId,
    /// The state that was entered; the same for a self-loop.
    pub to: StateId,
}

/// Told of everything that a monitor does, as it does it. Every method has an empty default, and monitors
/// are compiled for each observer: what is not listened to costs nothing.
pub trait Observer {
    /// Whether [`print`](Observer::print) does anything.
    fn printing(&self) -> bool {
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

    /// A slice came into being.
    fn created(&mut self, slices: &Slices, slice: SliceId) {
        let _ = (slices, slice);
    }

    /// A slice took a transition; `slices` shows it as it is now.
    fn taken(&mut self, slices: &Slices, taken: Taken) {
        let _ = (slices, taken);
    }

    /// A slice entered a final state and is about to be forgotten.
    fn forgotten(&mut self, slices: &Slices, slice: SliceId) {
        let _ = (slices, slice);
    }

    /// An event reached a slice, and no transition was taken.
    fn unhandled(&mut self, slices: &Slices, slice: SliceId) {
        let _ = (slices, slice);
    }

    /// The event lacks the parameter at this position, which a question reads: the answer was no.
    fn absent(&mut self, parameter: usize) {
        let _ = parameter;
    }

    /// The event lacks the parameter at this position, which the property reads: it was skipped.
    fn incomplete(&mut self, parameter: usize) {
        let _ = parameter;
    }
}

/// Listens to nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unobserved;

impl Observer for Unobserved {}
