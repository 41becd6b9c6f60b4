//! Words that the tool writes while the program runs.

use core::sync::atomic::{AtomicU32, AtomicU64};

/// The words, in this order.
#[derive(Debug)]
#[repr(C)]
pub struct Words {
    /// Other than zero if nobody steps any more: someone is to react, or the tool wants all threads to stand still.
    pub frozen: AtomicU32,
    /// Counts the threads that have come into being: what is remembered of threads may be of ones that are no more.
    pub born: AtomicU32,
    /// The number of the program's only thread, while it has no other, so that nobody else can come in here.
    pub alone: AtomicU32,
    /// How many processes share the program's memory and are not the program.
    pub foreign: AtomicU32,
    /// The number of the process.
    pub process: AtomicU32,
    /// Memory for what lives in here: where what is left of it begins, and where it ends.
    pub heap: AtomicU64,
    /// See [`heap`](Words::heap).
    pub heap_end: AtomicU64,
}

/// Found by the tool by its name.
#[unsafe(no_mangle)]
pub static INVIGIL_WORDS: Words = Words {
    frozen: AtomicU32::new(0),
    born: AtomicU32::new(1),
    alone: AtomicU32::new(0),
    foreign: AtomicU32::new(0),
    process: AtomicU32::new(0),
    heap: AtomicU64::new(0),
    heap_end: AtomicU64::new(0),
};
