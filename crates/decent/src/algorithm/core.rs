//! Core of the monitors that run the whole automaton: orchestration, abridged orchestration and broadcast.

use super::{NameLengths, Outbox};
use crate::automaton::Machine;
use crate::encoding::Encoding;
use crate::memory::{Atom, Memory};
use crate::system::Instant;
use serde::{Deserialize, Serialize};

/// Automaton, history of its run, and the observations that are not yet in the history.
#[derive(Clone, Serialize, Deserialize)]
#[serde(bound = "E: Encoding")]
pub(super) struct MonitorCore<E> {
    pub(super) machine: Machine,
    pub(super) history: E,
    pub(super) memory: Memory,
    /// Last instant with observations.
    latest: Instant,
}

impl<E: Encoding> MonitorCore<E> {
    pub(super) fn new(machine: Machine) -> MonitorCore<E> {
        MonitorCore { history: E::new(&machine, 0), machine, memory: Memory::default(), latest: 0 }
    }

    /// Extends the period with observations to instant `at`.
    pub(super) fn reach(&mut self, at: Instant) {
        self.latest = self.latest.max(at);
    }

    /// Stores an observation, unless it no longer matters.
    pub(super) fn observe(&mut self, at: Instant, atom: Atom, value: bool) {
        if at > self.history.start() {
            self.memory.learn(at, atom, value);
        }
    }

    /// Incorporates observations and the histories of other monitors in round `now`, and reports the verdict if there
    /// is one.
    pub(super) fn conclude<M>(&mut self, now: Instant, others: &[E], out: &mut Outbox<M>) {
        let known = self.history.start();
        self.history.extend(&self.machine, self.latest);
        for other in others {
            self.history.merge(&self.machine, other, &mut out.work);
        }
        self.history.learn(&self.machine, &self.memory, &mut out.work);
        if let Some(found) = self.history.resolved() {
            out.delays.add_all(known, found.at, now);
        }
        match self.history.verdict() {
            Some(found) => out.verdict = Some(found),
            None => {
                self.history.drop_resolved();
            }
        }
    }

    /// Returns the size of a history in a message.
    pub(super) fn size(&self, history: &E, names: &NameLengths) -> usize {
        size(history, &self.machine, names)
    }

    /// Returns the number of stored values and instants.
    pub(super) fn stored_values(&self) -> usize {
        self.memory.len() + (self.history.end() - self.history.start()) as usize
    }
}

/// Returns the size of a history in a message.
pub(super) fn size<E: Encoding>(history: &E, machine: &Machine, names: &NameLengths) -> usize {
    history.size(machine, &|atom| match atom {
        Atom::Observed(known) => names.length(known),
        Atom::Verdict(_) => 4,
    })
}
