//! A monitor that has the whole automaton, and what it knows of its run.

use super::{Names, Outbox};
use crate::automaton::Machine;
use crate::encoding::Encoding;
use crate::memory::{Atom, Memory};
use crate::system::Instant;
use serde::{Deserialize, Serialize};

/// The automaton, the history of its run, and what was observed since it was last looked at.
#[derive(Clone, Serialize, Deserialize)]
#[serde(bound = "E: Encoding")]
pub(super) struct Centre<E> {
    pub(super) machine: Machine,
    pub(super) history: E,
    pub(super) memory: Memory,
    /// The last instant of which something was observed.
    latest: Instant,
}

impl<E: Encoding> Centre<E> {
    pub(super) fn new(machine: Machine) -> Centre<E> {
        Centre { history: E::new(&machine, 0), machine, memory: Memory::default(), latest: 0 }
    }

    /// Time has come to an instant at which something could be observed.
    pub(super) fn reach(&mut self, at: Instant) {
        self.latest = self.latest.max(at);
    }

    /// Notes what was observed, unless it no longer matters.
    pub(super) fn observe(&mut self, at: Instant, atom: Atom, value: bool) {
        if at > self.history.start() {
            self.memory.learn(at, atom, value);
        }
    }

    /// Draws conclusions from what was observed, and from what others know. It is round `now`.
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

    /// The size of a history in a message.
    pub(super) fn size(&self, history: &E, names: &Names) -> usize {
        size(history, &self.machine, names)
    }

    /// How many values and instants there are.
    pub(super) fn kept(&self) -> usize {
        self.memory.len() + (self.history.end() - self.history.start()) as usize
    }
}

/// The size of a history in a message.
pub(super) fn size<E: Encoding>(history: &E, machine: &Machine, names: &Names) -> usize {
    history.size(machine, &|atom| match atom {
        Atom::Observed(known) => names.length(known),
        Atom::Verdict(_) => 4,
    })
}
