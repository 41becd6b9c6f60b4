#![no_std]
//! Events, verdicts, property automata and parametric slicing.

extern crate alloc;

pub mod event;
