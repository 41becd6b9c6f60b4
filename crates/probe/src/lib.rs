//! What is put into a native program so that its monitors step there.
//!
//! A probe is a jump, over the first instructions of a function or before a `ret`, to a few instructions of its own (a
//! *trampoline*, made by the tool) that call [`entry`]. There the registers are put aside, what the event carries is read
//! ([`capture`]), the monitors step ([`agent`]), and the program goes on. Only when someone is to react, the thread runs into a
//! trap, with all its registers as they were at the event.
//!
//! What is only to be recorded goes through a [`ring`] to the tool instead, and no monitor steps.
//!
//! This library is not loaded by the program's loader but mapped by the tool, which binds the few names that it needs from
//! outside ([`memory`]). It lies in memory that the tool has, too, so that what the monitors came to is not lost when
//! the program dies or becomes another. It uses nothing of the program's, neither its allocator nor its locks nor its thread-local storage, and
//! a program may have probes in `malloc`, in signal handlers and before `main`. It makes system calls itself ([`system`]).
//!
//! The tool keeps signals away from threads that are in here: it sees every signal before the program does, and has such a
//! thread come out first. So nothing in here can be interrupted by code of the program.

#![no_std]

extern crate alloc;
// For what a panic does: it runs into a trap, as nothing else is bound.
extern crate std;

#[cfg(target_feature = "avx")]
compile_error!(
    "a program's AVX registers would be changed by probes: build without `-C target-feature=+avx` or `target-cpu`"
);

pub mod agent;
pub mod calls;
pub mod capture;
pub mod entry;
pub mod guarded;
mod lanes;
pub mod lock;
pub mod memory;
pub mod message;
pub mod reader;
mod recording;
pub mod ring;
mod room;
mod short;
pub mod system;
pub mod tails;
pub mod threads;
pub mod words;
