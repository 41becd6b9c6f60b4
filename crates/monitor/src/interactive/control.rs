//! Suspending, resetting and restoring a monitor.

use super::callback::{CallbackObserver, ChangeLog};
use super::{InteractiveMonitor, MonitorError, MonitorState};
use crate::slices::DeadObjects;
use crate::step::Monitor;
use alloc::vec::Vec;

/// Id of a saved state of an [`InteractiveMonitor`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CheckpointId(pub u32);

impl InteractiveMonitor {
    /// Sets whether the lines that blocks print are dropped (`set_quiet`).
    pub fn set_quiet(&mut self, quiet: bool) {
        self.is_quiet = quiet;
    }

    /// Sets whether each delivered event requests the [prompt](super::Request::Suspend) (`step_by_step`).
    pub fn step_by_step(&mut self, on: bool) {
        self.is_stepping = on;
    }

    /// Suspends the monitor: no event is needed, and none is delivered.
    pub fn suspend(&mut self) {
        self.is_suspended = true;
    }

    /// Resumes the monitor.
    pub fn resume(&mut self) {
        self.is_suspended = false;
    }

    /// Whether events are ignored.
    pub fn is_suspended(&self) -> bool {
        self.is_suspended
    }

    /// Restarts the property. Callbacks, checkpoints and settings are kept.
    pub fn reset(&mut self) {
        let mut observer = CallbackObserver::new(None, self.is_quiet, ChangeLog::default());
        let slices = self.automaton.start(&mut self.scratch, &mut observer);
        (self.printed, self.commands) = (observer.printed, observer.commands);
        self.state = MonitorState { slices, log: ChangeLog::default() };
    }

    /// [Collects](crate::automaton::Automaton::collect_slices) slices of dead objects, unless the monitor [is
    /// observed](InteractiveMonitor::is_observed).
    pub fn collect_slices(&mut self, dead_objects: &DeadObjects, reactions: &[u8]) {
        if !self.is_observed() {
            self.automaton.collect_slices(&mut self.state.slices, dead_objects, reactions, &mut Vec::new());
        }
    }

    /// Saves the state.
    pub fn checkpoint(&mut self) -> CheckpointId {
        let id = CheckpointId(self.next_checkpoint);
        self.next_checkpoint += 1;
        self.checkpoints.insert(id, self.state.clone());
        id
    }

    /// Restores a saved state. The checkpoint is kept, as are callbacks and settings.
    ///
    /// # Errors
    /// If there is no such checkpoint.
    pub fn restore(&mut self, id: CheckpointId) -> Result<(), MonitorError> {
        self.state = self.checkpoints.get(&id).ok_or(MonitorError::NoCheckpoint(id))?.clone();
        Ok(())
    }

    /// Deletes a checkpoint.
    ///
    /// # Errors
    /// If there is no such checkpoint.
    pub fn drop_checkpoint(&mut self, id: CheckpointId) -> Result<(), MonitorError> {
        self.checkpoints.remove(&id).map(drop).ok_or(MonitorError::NoCheckpoint(id))
    }

    /// The checkpoints.
    pub fn checkpoints(&self) -> impl Iterator<Item = CheckpointId> {
        self.checkpoints.keys().copied()
    }
}
