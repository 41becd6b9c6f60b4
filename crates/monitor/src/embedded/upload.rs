//! What a debugger sends in order to embed monitors, and how a host receives it.

use super::EmbeddedMonitor;
use crate::automaton::{Automaton, AutomatonDef};
use crate::mac::ScriptState;
use crate::slices::SliceTable;
use alloc::sync::Arc;
use alloc::vec::Vec;

/// The automata that a host has.
///
/// Both sides keep one: automata are sent only when they change, states before each resume.
#[derive(Clone, Debug, Default)]
pub struct LoadedAutomata(Vec<Arc<Automaton>>);

impl LoadedAutomata {
    /// None.
    pub const fn new() -> LoadedAutomata {
        LoadedAutomata(Vec::new())
    }

    /// Compiles the automata that the debugger sent.
    pub fn compile(definitions: impl IntoIterator<Item = AutomatonDef>) -> LoadedAutomata {
        LoadedAutomata(definitions.into_iter().map(|def| Arc::new(Automaton::new(def))).collect())
    }

    /// Those of the monitors, which the debugger has sent.
    pub fn of(monitors: &[EmbeddedMonitor]) -> LoadedAutomata {
        LoadedAutomata(monitors.iter().map(|monitor| Arc::clone(&monitor.automaton)).collect())
    }

    /// The automata, in the order of the properties.
    pub fn as_slice(&self) -> &[Arc<Automaton>] {
        &self.0
    }

    /// Whether these are the automata of the monitors.
    pub fn are_of(&self, monitors: &[EmbeddedMonitor]) -> bool {
        self.0.len() == monitors.len()
            && self.0.iter().zip(monitors).all(|(loaded, monitor)| Arc::ptr_eq(loaded, &monitor.automaton))
    }
}

/// The state of monitors and scripts that are to be embedded.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct MonitorUpload {
    /// The encoded state of each property.
    states: Vec<Vec<u8>>,
    /// See [`EmbeddedMonitor::reactions`].
    reactions: Vec<Vec<u8>>,
    /// The state of each pair of scripts that is embedded with the monitors.
    pub scripts: Vec<ScriptState>,
}

impl MonitorUpload {
    /// Encodes monitors and the state of their scripts.
    pub fn new(monitors: &[EmbeddedMonitor], scripts: &[ScriptState]) -> MonitorUpload {
        MonitorUpload {
            states: monitors.iter().map(|monitor| monitor.slices.save()).collect(),
            reactions: monitors.iter().map(|monitor| monitor.reactions.clone()).collect(),
            scripts: scripts.to_vec(),
        }
    }

    /// The monitors, over these automata. `None` if the upload, which comes from another process, is malformed.
    pub fn monitors(self, automata: &LoadedAutomata) -> Option<Vec<EmbeddedMonitor>> {
        let counts = [self.states.len(), self.reactions.len()];
        if counts != [automata.0.len(); 2] {
            return None;
        }
        let parts = automata.0.iter().zip(&self.states).zip(self.reactions);
        let monitors = parts.map(|((automaton, state), reactions)| {
            let slices = SliceTable::load(automaton, state)?;
            Some(EmbeddedMonitor { automaton: Arc::clone(automaton), slices, reactions })
        });
        monitors.collect()
    }
}
