//! Checkpoints on their own: C programs under a small launcher.

// System calls inside a stopped thread.
mod injected_syscalls;
// Helpers.
mod launcher;
// What a checkpoint cannot restore, and cleanup.
mod limits;
// Programs with one thread.
mod single_thread;
// Programs with several threads.
mod threads;
// Durations by size and thread count; ignored by default.
mod timing;
