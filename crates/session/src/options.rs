//! What can be chosen about a session.

/// The limits and habits of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// How many events are remembered, at least.
    pub history: usize,
    /// How many checkpoints there may be. Where there is no room the oldest automatic one is dropped.
    pub max_checkpoints: usize,
    /// How much memory checkpoints may take, in bytes; the same holds.
    pub max_checkpoint_memory: u64,
    /// Whether a checkpoint is taken at the start.
    pub checkpoint_at_start: bool,
    /// A checkpoint is taken at the start and then every so many events, if this is set.
    pub auto_checkpoint: Option<u64>,
    /// How many violations are told in the report.
    pub violations: usize,
    /// How many frames of the stack are told of each.
    pub frames: usize,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            history: 1 << 16,
            max_checkpoints: 64,
            max_checkpoint_memory: 1 << 30,
            checkpoint_at_start: false,
            auto_checkpoint: None,
            violations: 10,
            frames: 32,
        }
    }
}
