//! Following on, pausing, starting again, and going back.

use super::callback::{Hearing, Trail};
use super::{Mistake, Standing, Watch};
use crate::slices::Gone;
use crate::step::Monitor;
use alloc::vec::Vec;

/// A saved state of a [`Watch`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CheckpointId(pub u32);

impl Watch {
    /// Whether the lines that blocks print are dropped (`set_quiet`).
    pub fn set_quiet(&mut self, quiet: bool) {
        self.is_quiet = quiet;
    }

    /// Whether every event that is delivered asks for the [prompt](super::Request::Shell) (`step_by_step`).
    pub fn step_by_step(&mut self, on: bool) {
        self.is_stepping = on;
    }

    /// Stops following: no event is needed, and none is delivered.
    pub fn suspend(&mut self) {
        self.is_suspended = true;
    }

    /// Follows on from where it was suspended.
    pub fn resume(&mut self) {
        self.is_suspended = false;
    }

    /// Whether events are ignored.
    pub fn is_suspended(&self) -> bool {
        self.is_suspended
    }

    /// Starts the property again. Callbacks, checkpoints and settings stay.
    pub fn reset(&mut self) {
        let mut hearing = Hearing::new(None, self.is_quiet, Trail::default());
        let slices = self.automaton.start(&mut self.scratch, &mut hearing);
        (self.printed, self.commands) = (hearing.printed, hearing.commands);
        self.standing = Standing { slices, trail: Trail::default() };
    }

    /// [Forgets](crate::automaton::Automaton::forget_gone) slices of objects that are no more, unless someone follows the property
    /// event by event.
    pub fn forget_gone(&mut self, gone: &Gone, concern: &[u8]) {
        if !self.has_company() {
            self.automaton.forget_gone(&mut self.standing.slices, gone, concern, &mut Vec::new());
        }
    }

    /// Saves where the property stands.
    pub fn checkpoint(&mut self) -> CheckpointId {
        let id = CheckpointId(self.next_checkpoint);
        self.next_checkpoint += 1;
        self.checkpoints.insert(id, self.standing.clone());
        id
    }

    /// Goes back to where the property stood. The checkpoint can be used again; callbacks and settings stay.
    ///
    /// # Errors
    /// If there is no such checkpoint.
    pub fn restore(&mut self, id: CheckpointId) -> Result<(), Mistake> {
        self.standing = self.checkpoints.get(&id).ok_or(Mistake::NoCheckpoint(id))?.clone();
        Ok(())
    }

    /// Forgets a checkpoint.
    ///
    /// # Errors
    /// If there is no such checkpoint.
    pub fn drop_checkpoint(&mut self, id: CheckpointId) -> Result<(), Mistake> {
        self.checkpoints.remove(&id).map(drop).ok_or(Mistake::NoCheckpoint(id))
    }

    /// The checkpoints there are.
    pub fn checkpoints(&self) -> impl Iterator<Item = CheckpointId> {
        self.checkpoints.keys().copied()
    }
}
