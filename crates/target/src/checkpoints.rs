//! Checkpoints of a target.

use crate::error::TargetResult;

/// Number of a target's checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CheckpointId(pub u32);

/// State of a checkpoint of a target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    /// Its number.
    pub id: CheckpointId,
    /// Memory that exists for this checkpoint alone, in bytes, at present. For a checkpoint that has just been taken,
    /// an upper bound of what it may grow to.
    pub memory: u64,
    /// Messages about state that a restore cannot bring back, such as files open for writing and sockets. May be
    /// empty in the result of [`Checkpoints::take_checkpoint`].
    pub limitations: Vec<String>,
}

/// Checkpoints of a target.
pub trait Checkpoints {
    /// Takes a checkpoint of the target.
    fn take_checkpoint(&mut self) -> TargetResult<Checkpoint>;

    /// Restores a checkpoint, including the instrumentation for the monitors. The checkpoint is kept.
    fn restore_checkpoint(&mut self, id: CheckpointId) -> TargetResult;

    /// Drops a checkpoint.
    fn drop_checkpoint(&mut self, id: CheckpointId) -> TargetResult;

    /// The checkpoints that exist.
    fn list_checkpoints(&mut self) -> Vec<Checkpoint>;
}
