//! Shared object of `invigil-probe`.
//!
//! `invigil-native` maps it into native programs and carries it inside the command: see its build script.

#![no_std]

// Its exported symbols are all that this crate consists of.
extern crate invigil_probe as _;
