//! Control block: memory that the debugger writes while the target runs.

use core::sync::atomic::{AtomicU32, AtomicU64};

/// Shared flags and counters. The debugger addresses the fields by their offsets.
#[derive(Debug)]
#[repr(C)]
pub struct ControlBlock {
    /// Nonzero while no monitor may step: a reaction is due, or the debugger is stopping all threads.
    pub frozen: AtomicU32,
    /// Number of threads created so far. A change invalidates cached thread ids, which may belong to threads that
    /// have exited.
    pub threads_created: AtomicU32,
    /// Id of the target's only thread, or 0. While it is set, no other thread can enter the library, so locks need no
    /// atomic operation.
    pub single_thread: AtomicU32,
    /// Number of other processes that share the target's memory (`vfork`, `CLONE_VM`).
    pub foreign_processes: AtomicU32,
    /// Id of the target's process.
    pub process: AtomicU32,
    /// Start time of the target, in nanoseconds of the monotonic clock.
    pub start_time: AtomicU64,
    /// Start of the unused part of the heap.
    pub heap: AtomicU64,
    /// End of the heap; see [`heap`](ControlBlock::heap).
    pub heap_end: AtomicU64,
}

/// The debugger finds the control block by this symbol name.
#[unsafe(no_mangle)]
pub static INVIGIL_CONTROL: ControlBlock = ControlBlock {
    frozen: AtomicU32::new(0),
    threads_created: AtomicU32::new(1),
    single_thread: AtomicU32::new(0),
    foreign_processes: AtomicU32::new(0),
    process: AtomicU32::new(0),
    start_time: AtomicU64::new(0),
    heap: AtomicU64::new(0),
    heap_end: AtomicU64::new(0),
};
