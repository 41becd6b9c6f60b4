//! Native programs under control.

// Process checkpoints without the tracer.
mod process_checkpoint;
// The target on real programs, by traps.
mod live;
// Probes against traps.
mod probes;
// Verdicts of a live run, the same run in memory, and its recording.
mod verdict_matrix;
