//! Garbage collection of slices in embedded monitors.

use super::EmbeddedMonitors;
use crate::slices::DeadObjects;

impl EmbeddedMonitors {
    /// The number of slices of all properties.
    pub fn slice_count(&self) -> usize {
        self.monitors.iter().map(|monitor| monitor.slices.len()).sum()
    }

    /// [Collects](crate::automaton::Automaton::collect_slices) slices of dead objects.
    ///
    /// The base state of the log still has these slices; the log lists the objects, so that a replay collects
    /// them too.
    pub fn collect_slices(&mut self, dead_objects: &DeadObjects) {
        for monitor in &mut self.monitors {
            monitor.automaton.collect_slices(
                &mut monitor.slices,
                dead_objects,
                &monitor.reactions,
                &mut self.newer.dead_objects,
            );
        }
    }
}
