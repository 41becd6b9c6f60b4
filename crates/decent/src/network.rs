//! Networks of monitors that are placed on components and refer to each other.

use crate::automaton::Automaton;
use crate::memory::Atom;
use crate::system::{ComponentId, MonitorId};
use serde::{Deserialize, Serialize};

/// One monitor of a network. [`Atom::Verdict`] in its labels refers to other monitors by index.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlacedAutomaton {
    /// Name for messages.
    pub name: String,
    /// Component on which it runs. Its labels contain only propositions of this component.
    pub at: ComponentId,
    /// Its automaton.
    pub automaton: Automaton,
}

/// Monitors that refer to each other: a compiled decentralized specification, or a formula split into parts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Network {
    /// The monitors.
    pub monitors: Vec<PlacedAutomaton>,
    /// The monitor whose verdict is the verdict of the network.
    pub root: MonitorId,
}

impl Network {
    /// Returns a monitor.
    pub fn monitor(&self, id: MonitorId) -> &PlacedAutomaton {
        &self.monitors[id.index()]
    }

    /// Returns the monitors that a monitor refers to, sorted.
    pub fn references(&self, id: MonitorId) -> Vec<MonitorId> {
        let verdict = |atom| match atom {
            Atom::Verdict(other) => Some(other),
            Atom::Observed(_) => None,
        };
        self.monitor(id).automaton.atoms().into_iter().filter_map(verdict).collect()
    }

    /// Returns the number of references between monitors on different components: the number of verdicts sent per
    /// instant.
    pub fn messages_per_instant(&self) -> u32 {
        let crossing = |at: usize| {
            let here = self.monitors[at].at;
            let references = self.references(MonitorId(at as u32));
            references.into_iter().filter(|other| self.monitor(*other).at != here).count() as u32
        };
        (0..self.monitors.len()).map(crossing).sum()
    }
}
