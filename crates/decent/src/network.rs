//! Monitors that are placed and refer to each other: what a decentralized specification becomes, and what a formula becomes
//! when it is split.

use crate::automaton::Automaton;
use crate::memory::Atom;
use crate::system::{ComponentId, MonitorId};
use serde::{Deserialize, Serialize};

/// One monitor of a network. [`Atom::Verdict`] in its labels refers to others, by their places.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// What people call it.
    pub name: String,
    /// Where it runs. Its labels speak of nothing else that is observed.
    pub at: ComponentId,
    /// What it runs.
    pub automaton: Automaton,
}

/// Monitors that refer to each other. The verdict of the root is that of the whole.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Network {
    /// The monitors.
    pub parts: Vec<Part>,
    /// The one that counts.
    pub root: MonitorId,
}

impl Network {
    /// A monitor.
    pub fn part(&self, id: MonitorId) -> &Part {
        &self.parts[id.index()]
    }

    /// The monitors that this one refers to, sorted.
    pub fn references(&self, id: MonitorId) -> Vec<MonitorId> {
        let verdict = |atom| match atom {
            Atom::Verdict(other) => Some(other),
            Atom::Observed(_) => None,
        };
        self.part(id).automaton.atoms().into_iter().filter_map(verdict).collect()
    }

    /// How many verdicts go from one component to another for each instant: one for each reference.
    pub fn messages(&self) -> u32 {
        let crossing = |at: usize| {
            let here = self.parts[at].at;
            let references = self.references(MonitorId(at as u32));
            references.into_iter().filter(|other| self.part(*other).at != here).count() as u32
        };
        (0..self.parts.len()).map(crossing).sum()
    }
}
