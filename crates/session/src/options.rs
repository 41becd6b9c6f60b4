//! Options of a session.

/// Limits and defaults of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionOptions {
    /// Minimum number of events that the history keeps.
    pub history: usize,
    /// Maximum number of checkpoints. When it is reached, the oldest automatic one is dropped.
    pub max_checkpoints: usize,
    /// Maximum memory of all checkpoints, in bytes. When it is exceeded, automatic ones are dropped.
    pub max_checkpoint_memory: u64,
    /// Whether a checkpoint is taken at the start.
    pub checkpoint_at_start: bool,
    /// If set to N, a checkpoint is taken at the start and then after every N events.
    pub auto_checkpoint: Option<u64>,
    /// Maximum number of violations in the report.
    pub max_violations: usize,
    /// Maximum number of stack frames that are reported for each violation.
    pub max_frames: usize,
}

impl Default for SessionOptions {
    fn default() -> SessionOptions {
        SessionOptions {
            history: 1 << 16,
            max_checkpoints: 64,
            max_checkpoint_memory: 1 << 30,
            checkpoint_at_start: false,
            auto_checkpoint: None,
            max_violations: 10,
            max_frames: 32,
        }
    }
}
