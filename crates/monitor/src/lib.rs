#![no_std]
#![deny(unsafe_code)]
//! Events, verdicts, property automata and parametric slicing.

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod automaton;
pub mod decision;
mod ending;
pub mod event;
mod few;
mod index;
pub mod inside;
pub mod mac;
pub mod observer;
mod prefetch;
pub mod property;
mod quick;
mod records;
pub mod slices;
mod step;
mod swift;
pub mod verdict;
pub mod watch;

pub use step::{Monitor, Scratch};
