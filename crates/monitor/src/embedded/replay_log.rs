//! The replay log: what a debugger needs in order to reproduce what embedded monitors did.

use super::{EmbeddedMonitor, EvictedCounts, LoadedAutomata};
use crate::event::EventBatch;
use crate::mac::ScriptState;
use crate::slices::SliceTable;
use alloc::vec;
use alloc::vec::Vec;

/// Replay log of the embedded monitors: the state before the oldest logged event, the logged events, and counts for
/// the evicted ones.
///
/// `S` is the state of a property: [`SliceTable`], or its bytes in a log that crosses the boundary between processes.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ReplayLog<S = SliceTable> {
    /// The number of evicted events since the monitors were uploaded, including derived ones.
    pub evicted_events: u64,
    /// The counts of the evicted events, per property.
    pub evicted: Vec<EvictedCounts>,
    /// The state of each property before the first logged event.
    pub base: Vec<S>,
    /// The state of each pair of scripts before the first logged event.
    pub scripts: Vec<ScriptState>,
    /// The logged events. Derived events are not included.
    pub events: EventBatch,
    /// The thread of each event.
    pub threads: Vec<u32>,
    /// The number of events at the end to which a reaction is due. They are not replayed but delivered.
    pub due: u32,
    /// The dead objects whose slices were collected since the base state.
    pub dead_objects: Vec<i64>,
}

/// An encoded replay log.
pub type EncodedReplayLog = ReplayLog<Vec<u8>>;

impl<S> ReplayLog<S> {
    fn with_base<T>(self, base: Vec<T>) -> ReplayLog<T> {
        ReplayLog {
            evicted_events: self.evicted_events,
            evicted: self.evicted,
            base,
            scripts: self.scripts,
            events: self.events,
            threads: self.threads,
            due: self.due,
            dead_objects: self.dead_objects,
        }
    }

    /// The events to which a reaction is due, with the thread in which they occurred; `None` if there are none.
    pub fn due_events(&self) -> Option<(EventBatch, u32)> {
        let first = self.first_due();
        let thread = *self.threads.get(first)?;
        let mut due = EventBatch::default();
        (first..self.events.len()).for_each(|at| due.push_copy(&self.events.event(at), self.events.meta(at)));
        Some((due, thread))
    }

    /// Removes the events to which a reaction is due.
    pub fn remove_due_events(&mut self) {
        let first = self.first_due();
        self.events.truncate(first);
        self.threads.truncate(first);
        self.due = 0;
    }

    fn first_due(&self) -> usize {
        self.events.len().saturating_sub(self.due as usize)
    }
}

impl ReplayLog {
    /// The log of monitors that have not stepped.
    pub fn empty(monitors: &[EmbeddedMonitor], scripts: &[ScriptState]) -> ReplayLog {
        ReplayLog {
            evicted_events: 0,
            evicted: vec![EvictedCounts::default(); monitors.len()],
            base: monitors.iter().map(|monitor| monitor.slices.clone()).collect(),
            scripts: scripts.to_vec(),
            events: EventBatch::default(),
            threads: Vec::new(),
            due: 0,
            dead_objects: Vec::new(),
        }
    }

    /// Encodes the states.
    pub fn encode(self) -> EncodedReplayLog {
        let base = self.base.iter().map(SliceTable::save).collect();
        self.with_base(base)
    }
}

impl EncodedReplayLog {
    /// Decodes the states of these properties. `None` if the log, which may come from another process, is malformed.
    pub fn decode(self, automata: &LoadedAutomata) -> Option<ReplayLog> {
        let automata = automata.as_slice();
        let counts = [self.base.len(), self.evicted.len()];
        let is_sound = counts == [automata.len(); 2]
            && self.threads.len() == self.events.len()
            && self.due as usize <= self.events.len()
            && self.events.is_sound();
        if !is_sound {
            return None;
        }
        let base =
            automata.iter().zip(&self.base).map(|(automaton, state)| SliceTable::load(automaton, state));
        let base = base.collect::<Option<Vec<_>>>()?;
        Some(self.with_base(base))
    }
}
